"""The modules of PySpark that are used, all of them public."""

from __future__ import annotations

from typing import Any

from .installed import required

# The first version with data sources in Python that write batches of Arrow.
_LEAST = (4, 0)
_PACKAGE = "pyspark"

pyspark: Any = required("pyspark", _PACKAGE, _LEAST)
datasource: Any = required("pyspark.sql.datasource", _PACKAGE, _LEAST)
types: Any = required("pyspark.sql.types", _PACKAGE, _LEAST)
