"""Types of columns of a text, from the names and dtypes of the libraries."""

from __future__ import annotations

import re
from typing import Any

_NAMES = {
    "bool": "bool",
    "boolean": "bool",
    "str": "string",
    "string": "string",
    "object": "string",
    "utf8": "string",
    "large_string": "string",
    "string_view": "string",
    "int": "int64",
    "float": "float64",
    "double": "float64",
    "float32": "float32",
    "float64": "float64",
    "category": "categorical",
    "categorical": "categorical",
    "date": "date",
    "date32": "date",
    "date32[day]": "date",
    "null": "null",
    "datetime": "datetime[us]",
    "datetime[us]": "datetime[us]",
}
_UNITS = ("s", "ms", "us", "ns")
# As pyarrow, Polars and this package write them.
_DECIMAL = re.compile(r"decimal(?:128)?\((?:precision=)?(\d+), *(?:scale=)?(\d+)\)")


def type_name(column: str, dtype: Any) -> str:
    """The core's name of a type, given by its name, a class, or a dtype of a library.

    Names that are not known are returned unchanged: the core refuses them.
    """
    if isinstance(dtype, type) and dtype.__module__ == "builtins":
        return _NAMES.get(dtype.__name__, dtype.__name__)
    if isinstance(dtype, type) and dtype.__module__ == "datetime":
        return {"date": "date", "datetime": "datetime[us]"}.get(dtype.__name__, dtype.__name__)
    name = (dtype if isinstance(dtype, str) else _text(dtype)).strip().lower().removesuffix("[pyarrow]")
    decimal = _DECIMAL.fullmatch(name)
    if decimal is not None:
        return f"decimal({decimal[1]}, {decimal[2]})"
    if name == "category" and getattr(dtype, "categories", None) is not None:
        return "category with categories of its own"
    if name.startswith(("dictionary<values=string", "dictionary<values=large_string")) and "ordered=0" in name:
        return "categorical"
    for unit in _UNITS:
        if name in (f"datetime64[{unit}]", f"timestamp[{unit}]", f"datetime[{unit}]"):
            return f"datetime[{unit}]"
        if name.replace(" ", "") in (
            f"datetime64[{unit},utc]",
            f"timestamp[{unit},tz=utc]",
            f"datetime[{unit},utc]",
        ):
            return f"datetime[{unit}, UTC]"
    return _NAMES.get(name, name)


def _text(dtype: Any) -> str:
    root = type(dtype).__module__.partition(".")[0]
    if root == "polars" or (isinstance(dtype, type) and dtype.__module__.partition(".")[0] == "polars"):
        unit, zone = getattr(dtype, "time_unit", None), getattr(dtype, "time_zone", None)
        if unit is not None and "Datetime" in str(dtype):
            return f"datetime[{unit}, {zone}]" if zone else f"datetime[{unit}]"
        return str(dtype)
    if isinstance(dtype, type) and dtype.__module__.partition(".")[0] == "numpy":
        return dtype.__name__
    return str(dtype)
