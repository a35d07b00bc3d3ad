"""Host variants of NumPy and StaticFrame: codes for dtypes that share a physical type."""

# A variant is one of these codes, plus a bit for dtypes in the other byte order.
DTYPE, FIXED, OBJECT, UNITS, RECORD, CLONGDOUBLE, STRING = 0, 1, 2, 3, 4, 5, 6
BIG = 8
