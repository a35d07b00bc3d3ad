"""Rows of dicts of NumPy arrays, and of arrays along their first axis."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import check_length, check_lists, check_names, positions, unreadable
from .fitting import Fitted, Options, added, converted, fit, missing
from .numpy_types import TYPES
from .rules import Rules


class NumpyRules(Rules):
    """The rules of NumPy."""

    HOST = "numpy"
    IS_COPIED = True
    types = TYPES

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

    def length(self, value: Any) -> int:
        """The number of rows of a value."""
        return len(next(iter(value.values()), ())) if isinstance(value, dict) else len(value)

    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""
        return list(value) if isinstance(value, dict) else [None]

    def column(self, value: Any, key: int) -> Any:
        """An array of a dict, or the array itself."""
        return list(value.values())[key] if isinstance(value, dict) else value

    def fit(self, old: Any, new: Any, options: Options) -> Fitted:
        """The rows to append with the file's types, and wider types that the file's arrays need."""
        import numpy as np

        if isinstance(old, dict) != isinstance(new, dict):
            wanted = "a dict of arrays" if isinstance(old, dict) else "an array"
            raise ArgumentError(f"{shown(new)} can't be appended to this file: pass {wanted}")
        if not isinstance(old, dict):
            if old.ndim == 0 or old.ndim != new.ndim or old.shape[1:] != new.shape[1:]:
                raise ArgumentError(f"rows of shape {new.shape[1:]} can't be appended to an array of shape {old.shape}")
            part = fit(TYPES, "the array", old.dtype, new, options, 0)
            return Fitted(part, {} if part.dtype == old.dtype else {0: part.dtype})
        found, more = positions(list(old), list(new), options.fill)
        names, arrays = list(new), list(new.values())
        like = arrays[0] if arrays else np.empty(0)
        part, grown = {}, {}
        for i, ((name, array), position) in enumerate(zip(old.items(), found, strict=True)):
            what = f"column {shown(name)}"
            if position is None:
                part[name] = missing(TYPES, what, array.dtype, like, options, i)
            else:
                part[name] = fit(TYPES, what, array.dtype, arrays[position], options, i)
            if part[name].dtype != array.dtype:
                grown[i] = part[name].dtype
        for position in more:
            part[names[position]] = added(TYPES, f"column {shown(names[position])}", arrays[position], options)
        return Fitted(part, grown, len(more))

    def grow(self, value: Any, dtypes: list[Any], part: Any, n: int) -> Any:
        """A value with wider types, and new columns of the rows to append."""
        import numpy as np

        if not isinstance(value, dict):
            return converted(TYPES, "the array", value, dtypes[0])
        found = {
            name: converted(TYPES, f"column {shown(name)}", array, array.dtype if dtype is None else dtype)
            for (name, array), dtype in zip(value.items(), dtypes, strict=True)
        }
        return found | {name: TYPES.missing(array.dtype, np.empty(n)) for name, array in part.items()}

    def take(self, value: Any, positions: list[int]) -> Any:
        """Some columns of a value."""
        items = list(value.items())
        return dict(items[position] for position in positions)

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


RULES = NumpyRules()
