"""What users keep beside a dtype of NumPy: its `metadata`, which changes nothing of the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._hosts import interpretation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._entasis import Builder, CellRef

KEY = "dtype_metadata"


def plain(dtype: Any) -> Any:
    """The dtype without metadata, of one without fields."""
    import numpy as np

    return np.dtype(dtype.str)


def add(dtype: Any, metadata: Any) -> Any:
    """The dtype with metadata."""
    import numpy as np

    if type(metadata) is not dict:
        raise TypeError("the metadata of a dtype are a map")
    return np.dtype(dtype, metadata=metadata)


def view(array: Any, metadata: Any) -> Any:
    """The same memory as an array of which the dtype has metadata."""
    return array.view(add(array.dtype, metadata))


def kept(dtype: Any, what: str, tree: Callable[[Any, str], CellRef]) -> CellRef | None:
    """What is kept of a dtype, if it has metadata. Dtypes of pandas have none."""
    metadata = getattr(dtype, "metadata", None)
    return None if metadata is None else tree(dict(metadata), f"{what}: the metadata of its dtype")


def restore(array: Any, spec: dict[str, Any]) -> Any:
    """The labels of an index with what their dtype has beside the type."""
    return view(array, spec[KEY].get()) if KEY in spec else array


class Collector:
    """The metadata of the columns of a table: each once, with the columns that share a dtype."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        # Dtypes are kept, so that no other has the address.
        self._found: dict[int, tuple[Any, CellRef, list[int]]] = {}

    def add(self, dtype: Any, positions: Iterable[int]) -> None:
        """Columns of a dtype that has metadata."""
        positions = list(positions)
        if not positions:
            return
        found = self._found.get(id(dtype))
        if found is None:
            tree = kept(dtype, f"column '{self._builder.name(positions[0])}'", self._builder.tree)
            assert tree is not None, "the dtype has metadata"
            found = self._found[id(dtype)] = (dtype, tree, [])
        found[2].extend(positions)

    def encode(self) -> dict[str, Any]:
        """What the host map keeps."""
        return {KEY: [[tree, positions] for _, tree, positions in self._found.values()]} if self._found else {}


@interpretation()
def by_column(host: dict[str, Any], columns: Iterable[int] | None) -> dict[int, Any]:
    """The metadata of these columns, by their positions in the table; of others they are not read."""
    wanted = None if columns is None else set(columns)
    found: dict[int, Any] = {}
    for tree, positions in host.get(KEY, ()):
        chosen = positions if wanted is None else wanted.intersection(positions)
        if chosen:
            metadata = tree.get()
            found.update((position, metadata) for position in chosen)
    return found
