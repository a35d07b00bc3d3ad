"""Data frames inside trees of R, stored as lists with attributes, as frames of pandas."""

from __future__ import annotations

import datetime
from typing import Any

from entasis._record import Record


def frame_of(columns: list[Any], attributes: dict[str, Any]) -> Any:
    """Convert a data frame. None if pandas lacks one of its columns or attributes."""
    # Drops the terms of a model, as reading a file of a table does.
    if attributes.get("class") != "data.frame" or set(attributes) - {"terms"} != {
        "names",
        "class",
        "row.names",
    }:
        return None
    names, labels = _strings(attributes["names"]), _labels(attributes["row.names"])
    if names is None or len(names) != len(columns) or labels is None:
        return None
    import pandas as pd

    n, index = labels
    found = [_column(column, n) for column in columns]
    if any(column is None for column in found):
        return None
    frame = pd.DataFrame(dict(enumerate(found)), index=pd.RangeIndex(n))
    frame.columns = pd.Index(names, dtype="str")
    if index is not None:
        frame.index = index
    return frame


def _strings(value: Any) -> list[str] | None:
    """A character vector as a list; None if a string is missing."""
    values = [value] if type(value) is str else value.tolist() if hasattr(value, "tolist") else None
    return values if values is not None and all(type(one) is str for one in values) else None


def _labels(value: Any) -> tuple[int, Any] | None:
    """The number of rows, and their labels; None for 1, 2, 3 ..., stored as NA and a count."""
    import numpy as np
    import pandas as pd

    if isinstance(value, np.ma.MaskedArray):
        if value.shape != (2,) or value.mask.tolist() != [True, False]:
            return None
        return abs(int(value[1])), None
    if type(value) is int:
        value = np.array([value], np.int32)
    if isinstance(value, np.ndarray) and value.dtype == np.int32 and value.ndim == 1:
        return len(value), pd.Index(value)
    texts = _strings(value)
    return None if texts is None else (len(texts), pd.Index(texts, dtype="str"))


def _column(value: Any, n: int) -> Any:
    """Convert a column as in a file of a table.

    None if pandas lacks the type, or the length is wrong.
    """
    import numpy as np
    import pandas as pd

    if type(value) is Record:
        return _special(value, n)
    if isinstance(value, pd.Categorical):
        return value if len(value) == n else None
    if type(value) is datetime.date or (isinstance(value, np.datetime64) and value.dtype == "M8[D]"):
        value = np.array([value], "M8[D]")
    if isinstance(value, np.ndarray) and value.dtype == "M8[D]" and value.shape == (n,):
        return value.astype("M8[s]")
    if isinstance(value, np.ndarray) and value.dtype.kind in "mM":
        # The zone is lost here, while a table's column would keep it.
        return None
    if type(value) is int and not -(2**31) < value < 2**31:
        value = np.array([value], "i8")
    if type(value) in (bool, int, float, str):
        value = np.array([value], {bool: "?", int: "i4", float: "f8", str: "O"}[type(value)])
    if not isinstance(value, np.ndarray) or value.shape != (n,):
        return None
    if isinstance(value, np.ma.MaskedArray):
        of = pd.arrays.BooleanArray if value.dtype.kind == "b" else pd.arrays.IntegerArray
        return of(np.array(value.data), np.array(np.ma.getmaskarray(value)))
    return pd.array(value, dtype="str") if value.dtype.kind == "O" else value


def _special(value: Record, n: int) -> Any:
    """Convert a factor, or dates that are whole days."""
    import numpy as np
    import pandas as pd

    fields = value.fields
    attributes = fields.get("attributes")
    if fields.get("s4") or type(attributes) is not dict or value.name != "r.vector":
        return None
    values = fields["value"]
    if type(values) in (int, float):
        values = np.array([values], "i4" if type(values) is int else "f8")
    if not isinstance(values, np.ndarray) or values.shape != (n,):
        return None
    kind = attributes.get("class")
    kind = kind.tolist() if isinstance(kind, np.ndarray) else kind
    if (
        kind in ("factor", ["ordered", "factor"])
        and set(attributes) == {"levels", "class"}
        and values.dtype.kind == "i"
    ):
        levels = _strings(attributes["levels"])
        codes = np.ma.filled(values, 0) - 1
        if (
            levels is None
            or len(set(levels)) != len(levels)
            or (n and not -1 <= codes.min() <= codes.max() < len(levels))
        ):
            return None
        return pd.Categorical.from_codes(codes, pd.Index(levels, dtype="str"), ordered=kind != "factor")
    if kind == "Date" and set(attributes) == {"class"} and values.dtype == np.float64:
        days = np.where(np.isnan(values), 0, values)
        if np.abs(days).max(initial=0) < 2**31 and (days == np.trunc(days)).all():
            times = days.astype("M8[D]").astype("M8[s]")
            times[np.isnan(values)] = np.datetime64("NaT", "s")
            return times
    return None
