"""Host variants of pandas: codes for dtypes that share a physical type."""

NUMPY, MASKED, STR_ARROW, STR_PYTHON, STRING_ARROW, STRING_PYTHON, OBJECT, BIG, CLONGDOUBLE, INTERVAL = range(10)
SPARSE, ZONEINFO = 10, 11
# This variant and all above: an `ArrowDtype`.
ARROW = 16
# Logical types for which pandas has only an `ArrowDtype`.
ARROW_ALONE = ("time", "decimal", "interval", "uuid", "json", "extension")
