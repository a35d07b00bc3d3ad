"""Conversion of open files to NumPy arrays, for `np.asarray`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns.fields import are_among
from entasis._columns.levels import RANGE
from entasis._hosts.numpy.read import read_columns

from .read import read

if TYPE_CHECKING:
    from .view import View


def of_columns(view: View, dtype: Any, copy: bool | None) -> Any:
    """Read columns as an array of two axes, or a label's column as an array of one axis.

    A series has one axis too. The index is left out.
    """
    import numpy as np

    if copy is False:
        raise ValueError("a File has no array in memory, so copy=False is not possible")
    numbers = list(range(view.n_columns)) if view.columns is None else view.columns
    if not numbers:
        raise TypeError("a File without columns has no values: select some")
    _check_dtypes(_arrays(view, numbers, range(0)))
    arrays = _arrays(view, numbers, view.rows)
    # Repeated with values, because the width of fixed-width strings depends on the values.
    _check_dtypes(arrays)
    is_one = view.is_one or (view.columns is None and view.table.host.get("class") not in (None, "RecordBatch"))
    return np.asarray(arrays[0] if is_one and len(arrays) == 1 else np.stack(arrays, axis=1), dtype=dtype)


def _arrays(view: View, numbers: list[int], rows: Any) -> list[Any]:
    """The columns as a list, since a dict can't hold columns of equal names."""
    if RANGE in numbers:
        values = view.table.levels.range_values(rows)
        others = iter(_arrays(view, [number for number in numbers if number != RANGE], rows))
        return [values if number == RANGE else next(others) for number in numbers]
    if are_among(numbers):
        return list(read(view.narrow(numbers, rows), "numpy").values())
    return read_columns(view.handle, view.table.host, numbers, rows, None)[1] if numbers else []


def _check_dtypes(arrays: list[Any]) -> None:
    kinds = sorted({" of ".join(map(str, (array.dtype, *array.shape[1:]))) for array in arrays})
    if len(kinds) > 1:
        shown = ", ".join(kinds[:5])
        raise TypeError(
            f"a File becomes an array if its columns have one dtype, not {shown}: select some, or use to_numpy()"
        )
