"""Look-up of rows by label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import integer, shown
from entasis._libraries import registry as _hosts
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from entasis._entasis import Handle


# Errors of pandas for unsupported keys. An empty string as a time span causes AttributeError.
_REFUSED = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def _are_labels(labels: Any, key: Any) -> bool:
    """Whether a list that holds booleans is a list of labels rather than a mask."""
    if not isinstance(key, list) or all(type(part).__name__ in ("bool", "bool_") for part in key):
        return False
    return labels.dtype == object and any(isinstance(label, bool) for label in labels)


def index(handle: Handle, host: dict[str, Any], rows: Any = None) -> Any:
    """Read the labels of all or some rows as an index of pandas."""
    return _hosts.reader("pandas", None).row_labels(handle, host, rows)


def positions(labels: Any, key: Any, has_index: Any, noun: str) -> _rows.Resolved:
    """Look up a key of `loc` among labels as pandas does.

    Returns None for all, a range, or an array of int64.

    Raises
    ------
    KeyError
        pandas finds no such label.
    ArgumentError
        pandas can't look for such a key.
    """
    import numpy as np
    import pandas as pd

    if isinstance(key, slice) and key == slice(None):
        return None
    if callable(key):
        raise ArgumentError(f"f.loc takes labels, not {shown(key)}")
    is_scalar = getattr(key, "ndim", None) == 0
    if not is_scalar and _rows.is_mask(key) and not _are_labels(labels, key):
        return _rows.resolve(list(key) if isinstance(key, tuple) else key, len(labels), has_index, noun)
    if type(key).__module__.partition(".")[0] in ("polars", "pyarrow"):
        key = key.to_list() if hasattr(key, "to_list") else key.to_pylist()
    try:
        if type(labels) is pd.RangeIndex and isinstance(key, slice):
            return range(len(labels))[labels.slice_indexer(key.start, key.stop, key.step)]
        if type(labels) is pd.RangeIndex and type(key) is int:
            return range(len(labels))[integer(labels.get_loc(key)) :][:1]
        numbers = pd.Series(np.arange(len(labels), dtype=np.int64), index=labels)
        is_label = isinstance(key, tuple) and labels.nlevels == 1
        found = labels.get_loc(key) if is_label else numbers.loc[key]
    except KeyError:
        raise
    except (*_REFUSED, pd.errors.InvalidIndexError) as error:
        raise ArgumentError(f"f.loc can't find {noun}s by {shown(key)}: {type(error).__name__}: {error}") from error
    number = integer(found)
    if number is not None:
        return range(number, number + 1)
    if is_label:
        found = numbers.iloc[found]
    array = np.asarray(found, np.int64)
    if len(array) and array[-1] - array[0] == len(array) - 1 and bool((np.diff(array) == 1).all()):
        return range(int(array[0]), int(array[-1]) + 1)
    return array
