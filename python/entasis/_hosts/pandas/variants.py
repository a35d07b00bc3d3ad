"""Host variants of pandas: codes for dtypes that share a physical type (section 6 of the format)."""

NUMPY, MASKED, STR_ARROW, STR_PYTHON, STRING_ARROW, STRING_PYTHON, OBJECT, BIG, CLONGDOUBLE, INTERVAL = range(10)
SPARSE, ZONEINFO = 10, 11
# This and all above: a dtype that pandas keeps as Arrow's.
ARROW = 16
# Logical types that pandas has as dtypes of Arrow alone.
ARROW_ALONE = ("time", "decimal", "interval", "uuid", "json", "extension")
