"""The `metadata` of NumPy dtypes: a user's dict that does not affect values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._host_map import cell_value, host_calls, interpretation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from entasis._entasis import Builder, CellRef

KEY = "dtype_metadata"
# Types whose values are interchangeable if they are equal.
_SIMPLE = (str, bytes, int, bool, type, type(None))
# An error names at most so many columns.
_SHOWN = 3


def of(dtype: Any) -> Any:
    """The metadata of a dtype; None if it has no metadata, and for dtypes of pandas."""
    import numpy as np

    return dtype.metadata if isinstance(dtype, np.dtype) else None


def plain(dtype: Any) -> Any:
    """The dtype without metadata. A dtype with fields is returned unchanged."""
    import numpy as np

    return dtype if dtype.metadata is None or dtype.names is not None else np.dtype(dtype.str)


def add(dtype: Any, metadata: Any) -> Any:
    """Return the dtype with metadata."""
    import numpy as np

    if type(metadata) is not dict:
        raise TypeError("the metadata of a dtype are a map")
    with host_calls():
        return np.dtype(dtype, metadata=metadata)


def restore(value: Any, metadata: Any) -> Any:
    """Return a dtype with metadata, or a view of an array whose dtype has it."""
    import numpy as np

    if isinstance(value, np.dtype):
        return add(value, metadata)
    # pandas keeps durations in an array of its own class, whose dtype is NumPy's.
    if type(value) is not np.ndarray and type(value).__name__ != "TimedeltaArray":
        raise TypeError("what has metadata is a dtype of NumPy, or an array")
    dtype = add(value.dtype, metadata)
    with host_calls():
        return value.view(dtype)


def encode(dtype: Any, what: str, tree: Callable[[Any, str], CellRef]) -> CellRef | None:
    """Record the metadata of the dtype of labels. None if the dtype has no metadata."""
    metadata = of(dtype)
    return None if metadata is None else tree(dict(metadata), f"{what}: the metadata of its dtype")


def labels(array: Any, spec: dict[str, Any]) -> Any:
    """Return the labels of an index in a dtype with the recorded metadata."""
    return restore(array, cell_value(spec[KEY])) if KEY in spec else array


class Collector:
    """Collects the metadata of the columns of a table that is written."""

    def __init__(self) -> None:
        # Keyed by a dtype's address. The dtype is kept alive, so no other dtype gets the address.
        self._dtypes: dict[int, tuple[Any, list[int]]] = {}
        self._found: dict[Any, tuple[dict[Any, Any], list[int]]] = {}

    def add(self, dtype: Any, positions: Iterable[int]) -> None:
        """Add columns whose dtype has metadata."""
        if id(dtype) not in self._dtypes:
            metadata = dict(dtype.metadata)
            # Other values are compared by identity, since equal ones may differ: (1,) == (True,).
            is_simple = all(type(name) is str and type(part) in _SIMPLE for name, part in metadata.items())
            key = tuple((name, type(part), part) for name, part in metadata.items()) if is_simple else id(dtype)
            found = self._found.setdefault(key, (metadata, []))
            self._dtypes[id(dtype)] = (dtype, found[1])
        self._dtypes[id(dtype)][1].extend(positions)

    def encode(self, builder: Builder) -> dict[str, Any]:
        """The entry of the host map: all dicts as one tree, and the columns of each."""
        if not self._found:
            return {}
        maps, columns = zip(*self._found.values(), strict=True)
        names = ", ".join(f"'{builder.name(positions[0])}'" for positions in columns[:_SHOWN])
        more = ", ..." if len(columns) > _SHOWN else ""
        what = f"the metadata of the dtype{'s' * (len(columns) > 1)} of {names}{more}"
        return {KEY: {"maps": builder.tree(list(maps), what), "columns": list(columns)}}


class ColumnMetadata:
    """The recorded metadata of columns. Nothing is read if no column has metadata."""

    @interpretation()
    def __init__(self, host: dict[str, Any], columns: Iterable[int] | None) -> None:
        wanted = None if columns is None else set(columns)
        self._numbers: dict[int, int] = {}
        self._maps: list[Any] = []
        self._dtypes: dict[tuple[int, Any], Any] = {}
        for number, positions in enumerate(host[KEY]["columns"]):
            chosen = positions if wanted is None else wanted.intersection(positions)
            self._numbers.update(dict.fromkeys(chosen, number))
        if self._numbers:
            self._maps = cell_value(host[KEY]["maps"])

    def number(self, column: int) -> int | None:
        """The number of the dict of a column. Columns with the same number may share an array."""
        return self._numbers.get(column)

    def restore(self, array: Any, number: int) -> Any:
        """View an array in a dtype with the dict of this number."""
        key = (number, array.dtype)
        if key not in self._dtypes:
            self._dtypes[key] = restore(array.dtype, self._maps[number])
        return array.view(self._dtypes[key])
