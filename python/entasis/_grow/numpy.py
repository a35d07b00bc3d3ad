"""Rows of dicts of NumPy arrays, and of arrays along their first axis."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import check_length, check_lists, check_names, no_missing, positions, refused, unreadable
from .rules import Rules

_UNITS = ("s", "ms", "us", "ns")


class NumpyRules(Rules):
    """The rules of NumPy."""

    IS_COPIED = True

    def collect(self, value: Any) -> Any:
        """The value as an array or a dict of arrays."""
        import numpy as np

        if isinstance(value, np.ndarray):
            return _unmasked("the value", value)
        if isinstance(value, dict):
            check_lists(value)
            return {name: _unmasked(f"column {shown(name)}", np.asanyarray(array)) for name, array in value.items()}
        if hasattr(value, "columns") and hasattr(value, "__getitem__"):
            return {str(name): np.asarray(value[name]) for name in value.columns}
        raise unreadable(value, "arrays", "an array or a dict of arrays")

    def head(self, value: Any) -> Any:
        """No rows of a value."""
        return {name: array[:0] for name, array in value.items()} if isinstance(value, dict) else value[:0]

    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""
        return list(value) if isinstance(value, dict) else [None]

    def fit(self, old: Any, new: Any, fill: bool) -> tuple[Any, dict[Any, Any]]:
        """The rows to append with the file's types, and wider types that the file's arrays need."""
        if isinstance(old, dict) != isinstance(new, dict):
            wanted = "a dict of arrays" if isinstance(old, dict) else "an array"
            raise ArgumentError(f"{shown(new)} can't be appended to this file: pass {wanted}")
        if not isinstance(old, dict):
            if old.ndim == 0 or old.ndim != new.ndim or old.shape[1:] != new.shape[1:]:
                raise ArgumentError(f"rows of shape {new.shape[1:]} can't be appended to an array of shape {old.shape}")
            dtype = common(old.dtype, new.dtype)
            if dtype is None:
                raise refused("the array", old.dtype, new.dtype)
            return widened("array", new, dtype), {} if dtype == old.dtype else {None: dtype}
        found = positions(list(old), list(new), fill)
        part, grown = {}, {}
        names = list(new)
        n = min(map(len, new.values()), default=0)
        for (name, array), position in zip(old.items(), found, strict=True):
            if position is None:
                part[name] = missing(f"column {shown(name)}", array.dtype, n)
                continue
            rows = new[names[position]]
            dtype = common(array.dtype, rows.dtype)
            if dtype is None:
                raise refused(f"column {shown(name)}", array.dtype, rows.dtype)
            if dtype != array.dtype:
                grown[name] = dtype
            part[name] = widened(name, rows, dtype)
        return part, grown

    def grow(self, old: Any, grown: dict[Any, Any]) -> Any:
        """A value of the file with wider types."""
        if isinstance(old, dict):
            return {name: widened(name, array, grown.get(name, array.dtype)) for name, array in old.items()}
        return widened("array", old, grown.get(None, old.dtype))

    def concat(self, old: Any, new: Any) -> Any:
        """The value of the file after the append."""
        import numpy as np

        if isinstance(old, dict):
            return {name: np.concatenate([array, new[name]]) for name, array in old.items()}
        return np.concatenate([old, new])

    def columns(self, value: Any, file: Any) -> Any:
        """New arrays of a file, which must be as long as the file's arrays."""
        import numpy as np

        found = self.collect(value)
        if not isinstance(found, dict):
            raise ArgumentError("an array has no name: pass a dict of arrays")
        for name, array in found.items():
            if np.ndim(array) != 1:
                raise ArgumentError(f"array {name!r} has {np.ndim(array)} axes, and a column has one")
            check_length(len(array), file.n_rows)
        check_names(list(found))
        return found

    def nothing(self) -> Any:
        """No arrays."""
        return {}

    def joined_labels(self, old: Any, new: Any, sources: list[tuple[bool, int]]) -> list[str]:
        """The names of arrays of the file and of new ones."""
        of_old, of_new = list(old), list(new or ())
        return [(of_new if is_new else of_old)[position] for is_new, position in sources]

    def with_columns(self, old: Any, new: Any, sources: list[tuple[bool, int]], labels: list[str]) -> Any:
        """The dict with arrays of the file and new ones."""
        of_old, of_new = list(old.values()), list((new or {}).values())
        return {
            label: (of_new if is_new else of_old)[position]
            for (is_new, position), label in zip(sources, labels, strict=True)
        }

    def rows(self, value: Any, start: int, stop: int) -> Any:
        """Some rows of a value."""
        if isinstance(value, dict):
            return {name: array[start:stop] for name, array in value.items()}
        return value[start:stop]

    def joined(self, parts: list[Any]) -> Any:
        """Parts that follow each other, as one."""
        import numpy as np

        if isinstance(parts[0], dict):
            return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return np.concatenate(parts)

    def size(self, value: Any) -> int:
        """Bytes of a value."""
        return sum(array.nbytes for array in value.values()) if isinstance(value, dict) else int(value.nbytes)

    def own(self, value: Any) -> Any:
        """A copy of a value."""
        return {name: array.copy() for name, array in value.items()} if isinstance(value, dict) else value.copy()


def _unmasked(what: str, array: Any) -> Any:
    """An array as one of NumPy's own class. Refuses masked arrays, since the file has no mask."""
    import numpy as np

    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(f"{what} is a masked array, and the file has no mask: fill it (array.filled)")
    return np.asarray(array)


def missing(what: str, dtype: Any, n: int) -> Any:
    """An array of missing values: NaN, NaT or None."""
    import numpy as np

    if dtype.kind == "O":
        return np.full(n, None, dtype)
    if dtype.kind not in "fcmM":
        raise no_missing(what, dtype)
    return np.full(n, np.nan if dtype.kind in "fc" else np.array("NaT", dtype), dtype)


def widened(label: str, array: Any, dtype: Any) -> Any:
    """An array of a wider type. Times beyond the range of a finer unit are an error."""
    beyond = ArgumentError(f"column {label!r} has times beyond the range of {dtype}: convert it")
    try:
        found = array.astype(dtype, copy=False)
    except OverflowError:
        raise beyond from None
    # Older versions of NumPy convert units without checking the range.
    if dtype.kind in "mM" and dtype != array.dtype and (found.astype(array.dtype).view("i8") != array.view("i8")).any():
        raise beyond
    return found


def common(old: Any, new: Any) -> Any:
    """The dtype that holds the values of both without loss; None if there is none."""
    if old == new:
        return old
    if old.kind == new.kind and old.kind in "iufSU":
        return old if old.itemsize >= new.itemsize else new
    if old.kind == new.kind and old.kind in "mM":
        units = [str(dtype).partition("[")[2].rstrip("]") for dtype in (old, new)]
        if all(unit in _UNITS for unit in units):
            return old if finer(*units) == units[0] else new
    return None


def finer(first: str, second: str) -> Any:
    """The finer one of two units of time."""
    return max(first, second, key=_UNITS.index)


RULES = NumpyRules()
