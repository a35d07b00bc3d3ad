"""Reading of cells: objects of trees, of object columns and of host maps."""

from __future__ import annotations

import gc
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from entasis._entasis import CellRef
from entasis._host_map import CellValue, host_calls, interpretation
from entasis._libraries import registry as _hosts
from entasis.errors import CorruptFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._arguments.secrets import Secret
    from entasis._entasis import CellReader, Handle
    from entasis._stores.remote import Remote

# Frames in a file may be nested up to this depth.
_DEEPEST = 40
_state = threading.local()


class Storing:
    """Marks values as read to be stored again. Says whether values of other languages are in them."""

    def __init__(self) -> None:
        self.has_foreign = False


class Maker:
    """Makes the objects that the native module can't make itself. It calls these methods."""

    def __init__(self, handle: Handle, path: str, threads: int | None, storing: Storing | None) -> None:
        self._handle, self._path, self._threads, self._storing = handle, path, threads, storing
        self._types = handle.classes
        self._whole: Handle | None = None

    def table(self, number: int) -> Any:
        """Read a frame inside a tree."""
        handle, storing = self._handle.table(number), self._storing
        host = bind(handle.host(), handle, self._path, storing)
        if storing is not None:
            storing.has_foreign |= _hosts.is_foreign(host.get("host"))
        with host_calls():
            return _hosts.read_whole(handle, host, self._threads, to_store=storing is not None)

    def pool(self, column: int, start: int, stop: int) -> Any:
        """Read the values of an array."""
        from entasis._columns.pools import read_pool

        if self._whole is None:
            self._whole = self._handle.whole()
        return read_pool(self._whole, column, start, stop, self._threads)

    def pool_at(self, column: int, indices: Any) -> Any:
        """Read the values of a pool at these indices."""
        from entasis._columns.pools import read_pool_at

        if self._whole is None:
            self._whole = self._handle.whole()
        return read_pool_at(self._whole, column, indices, self._threads)

    def objects(self, cells: list[Any], shape: tuple[int, ...]) -> Any:
        """Make an array of objects."""
        return as_objects(cells).reshape(shape)

    def object(self, kind: str, parts: list[Any]) -> Any:
        """Make a value from its parts."""
        from . import codecs as _codecs

        if self._storing is not None:
            self._storing.has_foreign |= kind.startswith("r.")
        try:
            return _codecs.decode_kind(kind, parts, self._types)
        except AttributeError as error:
            # Codecs use only public names of libraries, so the file must have a part of a wrong
            # type.
            raise TypeError(f"parts of {kind}: {error}") from error

    def unit(self, kind: str) -> Any:
        """Make the value of a kind without parts."""
        if kind == "Ellipsis":
            return ...
        import pandas as pd

        return pd.NA if kind == "NA" else pd.NaT


def as_objects(cells: list[Any]) -> Any:
    """An array of objects with one axis."""
    import numpy as np

    return np.fromiter(cells, dtype=object, count=len(cells))


class Cells:
    """The cells of a file."""

    def __init__(
        self, handle: Handle, path: str, reader: CellReader | None = None, storing: Storing | None = None
    ) -> None:
        found = reader or handle.cells()
        if found is None:
            raise CorruptFileError("the file has no cells, and names some")
        self.reader: CellReader = found
        self.handle, self.path, self._storing = handle, path, storing
        # The content of a file in memory, or the object on a store, for pickles.
        self.content: bytes | Remote | None = None
        # The secret that opened an encrypted file, for pickles.
        self.secret: Secret | None = None

    def maker(self, threads: int | None = None) -> Maker:
        """The callbacks for the native module."""
        return Maker(self.handle, self.path, threads, self._storing)

    def read(self, number: int, threads: int | None = None) -> Any:
        """Read the object of a cell."""
        with _making():
            return self.reader.read(number, self.maker(threads), threads)

    def children(self, number: int, start: int, stop: int, threads: int | None = None) -> list[Any]:
        """Read the children `start` to `stop` of a cell."""
        with _making():
            return self.reader.children(number, start, stop, self.maker(threads), threads)

    def children_at(self, number: int, rows: Any, threads: int | None = None) -> list[Any]:
        """Read the children of a cell at the positions `rows`, a range or an array."""
        if isinstance(rows, range) and rows.step == 1:
            return self.children(number, rows.start, rows.stop, threads) if rows else []
        if len(rows) == 0:
            return []
        wanted, of_rows = _ranges(rows)
        with _making():
            found = self.reader.children_at(number, wanted, self.maker(threads), threads)
        return [found[position] for position in of_rows]

    def keys(self, number: int) -> list[Any]:
        """Read the keys of a dict."""
        with _making():
            return self.reader.keys(number, self.maker())


# Ranges of children with a smaller gap between them are read as one.
_NEAR = 256
# At most so many ranges of children are read at once.
_MOST_RANGES = 4096


def _ranges(rows: Any) -> tuple[list[tuple[int, int]], list[int]]:
    """Ranges that contain all rows, and the position of each row in their concatenation."""
    import numpy as np

    rows = np.asarray(rows, np.int64)
    distinct = np.unique(rows)
    gaps = np.diff(distinct)
    least = _NEAR
    if np.count_nonzero(gaps > least) >= _MOST_RANGES:
        least = int(np.partition(gaps, -_MOST_RANGES)[-_MOST_RANGES])
    cuts = np.flatnonzero(gaps > least) + 1
    starts = distinct[np.concatenate(([0], cuts))]
    stops = distinct[np.concatenate((cuts - 1, [len(distinct) - 1]))] + 1
    before = np.cumsum(stops - starts) - (stops - starts)
    number = np.searchsorted(starts, rows, side="right") - 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True)), (rows - starts[number] + before[number]).tolist()


@contextmanager
def _making() -> Iterator[None]:
    """Switch the garbage collector off while objects are made, and limit the nesting of frames."""
    depth = getattr(_state, "depth", 0)
    if depth >= _DEEPEST:
        raise CorruptFileError("frames of the file are nested deeper than they can be")
    _state.depth = depth + 1
    try:
        with without_collection(), interpretation():
            yield
    finally:
        _state.depth = depth


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch the garbage collector off, because it would scan all new objects repeatedly."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def bind(host: Any, handle: Handle, path: str, storing: Storing | None = None) -> dict[str, Any]:
    """Return a host map whose cell references read their values on demand."""
    if not isinstance(host, dict):
        return {}
    cells: list[Cells] = []

    def bound(value: Any) -> Any:
        if type(value) is dict:
            return {key: bound(part) for key, part in value.items()}
        if type(value) is list:
            return [bound(part) for part in value]
        if type(value) is not CellRef:
            return value
        if not cells:
            cells.append(Cells(handle, path, None, storing))
        return CellValue(cells[0], value.number)

    found: dict[str, Any] = bound(host)
    return found


def fill(handle: Handle, entries: list[Any], rows: Any, n_values: int) -> list[Any]:
    """Replace entries of object columns by entries of the kind "objects", with values."""
    for i, (kind, position, column, _, _) in enumerate(entries):
        if kind == "null" and column.logical == "object":
            entries[i] = ("objects", position, column, objects(handle, column, rows, n_values), None)
    return entries


def objects(handle: Handle, column: Any, rows: Any, n_values: int) -> Any:
    """Read rows of an object column."""
    if type(column.detail) is not CellRef:
        raise CorruptFileError(f"column '{column.name}': objects without cells")
    cells, number = Cells(handle, ""), column.detail.number
    return as_objects(cells.children_at(number, range(n_values) if rows is None else rows))


def metadata(handle: Handle, path: str) -> Any:
    """Read the value that was written as `metadata=`; None if the file has no metadata."""
    if handle.cells() is None:
        return None
    cells = Cells(handle, path)
    _, number = cells.reader.roots()
    return None if number is None else cells.read(number)
