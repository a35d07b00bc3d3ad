"""Host variants of NumPy and StaticFrame: codes for dtypes that share a physical type (section 6 of the format)."""

# One of these, and a bit for bytes that are not in the order of the machine.
DTYPE, FIXED, OBJECT, UNITS, RECORD, CLONGDOUBLE, STRING = 0, 1, 2, 3, 4, 5, 6
BIG = 8
