"""The dtypes of NumPy: what they hold, and wider ones."""

from __future__ import annotations

from typing import Any

from . import exact
from .host_types import Types


class NumpyTypes(Types):
    """The dtypes of NumPy."""

    def type_of(self, column: Any) -> Any:
        """The dtype of an array."""
        return column.dtype

    def is_same(self, old: Any, new: Any) -> bool:
        """Whether two dtypes are equal."""
        return bool(old == new)

    def is_empty(self, column: Any) -> bool:
        """Whether an array has no rows, or only NaN, NaT or None."""
        if column.dtype.kind in "fcmM":
            return bool((column != column).all())
        return not len(column) or (column.dtype.kind == "O" and all(value is None for value in column.flat))

    def is_untyped(self, dtype: Any) -> bool:
        """Whether a dtype says nothing about values."""
        return bool(dtype.kind == "O")

    def missing(self, dtype: Any, like: Any) -> Any:
        """An array of NaN, NaT or None."""
        import numpy as np

        if dtype.kind == "O":
            return np.full(like.shape, None, dtype)
        if dtype.kind not in "fcmM":
            return None if len(like) else np.empty(like.shape, dtype)
        return np.full(like.shape, np.nan if dtype.kind in "fc" else np.array("NaT", dtype), dtype)

    def convert(self, column: Any, dtype: Any) -> Any:
        """An array of another dtype with the same values."""
        return exact.convert(column, dtype)

    def wider(self, old: Any, column: Any) -> Any:
        """The dtype of `numpy.concatenate`."""
        return wider(old, column.dtype)


def wider(old: Any, new: Any) -> Any:
    """The dtype of `numpy.concatenate`. None for dtypes of different kinds."""
    import numpy as np

    are_numbers = old.kind in "iufc" and new.kind in "iufc"
    if not are_numbers and not (old.kind == new.kind and old.kind in "SUmM"):
        return None
    try:
        return np.promote_types(old, new)
    except TypeError:
        return None


TYPES = NumpyTypes()
