"""Series, indexes and arrays of pandas, written as frames with one column or none."""

from __future__ import annotations

from typing import Any

from entasis._columns.labels import decode_label
from entasis._columns.text import is_text
from entasis.errors import UnsupportedTypeError


def is_table(value: Any) -> bool:
    """Whether a value is written as a table. Scalars are not."""
    import pandas as pd

    return isinstance(value, (pd.DataFrame, pd.Series, pd.Index, pd.api.extensions.ExtensionArray))


def as_frame(value: Any) -> tuple[Any, dict[str, Any]]:
    """A frame of a value, and the entry of the host map that records its class."""
    import pandas as pd

    kind = type(value)
    if kind is pd.Series:
        frame = _one_column(value)
        frame.attrs = value.attrs
        frame.flags.allows_duplicate_labels = value.flags.allows_duplicate_labels
        return frame, {"class": "Series", "name": value.name}
    if isinstance(value, pd.Index):
        return pd.DataFrame(index=value), {"class": "Index"}
    if isinstance(value, pd.api.extensions.ExtensionArray):
        if type(value).__name__ in ("NumpyExtensionArray", "PandasArray"):
            raise UnsupportedTypeError(f"a pandas {kind.__name__} can't be kept; its array of NumPy can")
        # The dtype determines the class of the array.
        return _one_column(pd.Series(value, copy=False)), {"class": "array"}
    raise UnsupportedTypeError(f"a pandas {kind.__name__} can't be kept")


def _one_column(series: Any) -> Any:
    name = series.name if type(series.name) is str and is_text(series.name) else ""
    return series.to_frame(name)


def restore(frame: Any, host: dict[str, Any]) -> Any:
    """Convert a frame to the series, index or array that was written."""
    kind = host["class"]
    if kind == "Index":
        return frame.index
    if frame.shape[1] != 1:
        return frame
    series = frame.iloc[:, 0]
    if kind == "array":
        return series.array
    if kind != "Series":
        raise ValueError(f"a class {kind!r} is not known")
    series.name = decode_label(host["name"])
    series.attrs = frame.attrs
    series.flags.allows_duplicate_labels = frame.flags.allows_duplicate_labels
    return series
