"""Parts of trees: their descriptions in the file, and reading them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._host_map import interpretation
from entasis._memory import reported
from entasis._values.cells import as_objects
from entasis.errors import ArgumentError, CorruptFileError, RowsOutOfRangeError

if TYPE_CHECKING:
    from entasis._values.cells import Cells

    from .array_view import ArrayView

SEQUENCES = ("list", "tuple", "set", "frozenset")
ARRAYS = ("array", "array of objects")
WITH_KEYS = ("dict", "Bus")


class Part:
    """A value inside a file, or some of its items or elements.

    Attributes
    ----------
    cells
        The cells of the file.
    where
        The path of the value inside the tree, such as "['a'][3]".
    info
        The description of its cell.
    rows
        The selected items of a list, or the view of an array; None for all.
    """

    __slots__ = ("cells", "info", "rows", "where")

    def __init__(self, cells: Cells, where: str, info: dict[str, Any], rows: Any = None) -> None:
        self.cells, self.where, self.info, self.rows = cells, where, info, rows

    def named(self) -> str:
        """The name of the value in errors."""
        return f"value{self.where}"

    @property
    def kind(self) -> str:
        """The kind of the value: "dict", "list", "array", "float" ..."""
        return str(self.info["kind"])

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes of an array.

        Other values have one axis if they have parts, else no axes.
        """
        if "shape" in self.info:
            return tuple(self.info["shape"]) if self.rows is None else self.view().shape
        return (len(self),) if self.rows is not None or "count" in self.info else ()

    def __len__(self) -> int:
        if "shape" in self.info and self.shape:
            return self.shape[0]
        if self.rows is not None and "shape" not in self.info:
            return len(self.rows)
        if "count" not in self.info or "shape" in self.info:
            raise TypeError(f"{self.named()} ({self.kind}) has no length")
        return int(self.info["count"])

    def view(self) -> ArrayView:
        """The selected elements of an array."""
        if self.rows is not None:
            return cast("ArrayView", self.rows)
        from .array_view import ArrayView, strides

        shape = tuple(self.info["shape"])
        return ArrayView(shape, strides(shape, bool(self.info.get("fortran"))))

    def indexed(self, key: Any) -> Part:
        """Some elements of an array, by the rules of NumPy."""
        try:
            view = self.view()[key]
        except IndexError as error:
            raise RowsOutOfRangeError(f"{self.named()}: {error}") from None
        return Part(self.cells, self.where, self.info, view)

    def resolved(self, rows: Any) -> Any:
        """The selection of `rows` among the selected items of a list, resolved.

        With None, all selected items stay selected.
        """
        if rows is None:
            return self.rows
        return _rows.compose(self.rows, _rows.resolve(rows, len(self), holder=self.kind))

    def children(self, start: int, stop: int) -> Any:
        """The values of the parts from `start` up to, but not including, `stop`."""
        return self.cells.children(self.info["number"], start, stop)

    def record(self) -> tuple[str, ...] | None:
        """The names of the fields of a record; None for other objects."""
        if self.kind != "object" or len(self) < 4:
            return None
        head = self.children(0, 4)
        return head[3] if head[0] == "record" and type(head[3]) is tuple else None

    def keys(self) -> dict[Any, int] | None:
        """The keys of the parts, with their positions; None for a value whose parts have no keys."""
        if self.kind == "dict":
            keys = self.cells.keys(self.info["number"])
            with interpretation():
                # A damaged file may have unhashable keys.
                return {key: i for i, key in enumerate(keys)}
        if self.kind == "Bus":
            return _labels_of_bus(self.cells.read(self.info["labels"]), len(self))
        fields = self.record()
        return None if fields is None else {name: 4 + i for i, name in enumerate(fields)}

    def with_cells(self, cells: Cells) -> Part:
        """The same part in another reader of the file's cells."""
        return Part(cells, self.where, self.info, self.rows)

    def read(self, columns: Any, rows: Any, threads: int | None) -> Any:
        """Read the value, or some rows and columns of an array, or some items of a list."""
        if "shape" in self.info:
            found = self._read_array(columns, rows, threads)
        else:
            found = self._read_items(columns, rows, threads)
        if _dtype_metadata.KEY not in self.info:
            return found
        metadata = self.cells.read(self.info[_dtype_metadata.KEY], threads)
        with interpretation():
            return _dtype_metadata.restore(found, metadata)

    @reported
    def _read_items(self, columns: Any, rows: Any, threads: int | None) -> Any:
        """Read a value that is not an array, or items of a list."""
        if columns is not None:
            raise ArgumentError(f"{self.named()}: only frames and arrays with two or more axes have columns")
        rows, cells, number = self.resolved(rows), self.cells, self.info["number"]
        if "row" in self.info:
            row = self.info["row"]
            (whole,) = cells.children(number, row, row + 1, threads)
            return whole if rows is None else tuple(whole[int(i)] for i in rows)
        if rows is None:
            return cells.read(number, threads)
        found = cells.children_at(number, rows, threads)
        with interpretation():
            return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[self.kind](found)

    @reported
    def _read_array(self, columns: Any, rows: Any, threads: int | None) -> Any:
        """Read the selected part of an array."""
        cells, info, number = self.cells, self.info, self.info["number"]
        if self.rows is None and rows is None and columns is None:
            return cells.read(number, threads)
        view = self.view()
        if columns is not None and len(view.shape) < 2:
            raise ArgumentError(f"{self.named()}: only frames and arrays with two or more axes have columns")
        if rows is not None:
            view = view[_items(rows, view.shape[0])]
        if columns is not None:
            view = view[:, _items(columns, view.shape[1])]
        if self.kind == "array of objects":
            return view.read(
                lambda start, stop: as_objects(cells.children(number, start, stop, threads)),
                lambda positions: as_objects(cells.children_at(number, positions, threads)),
            )
        n = math.prod(info["shape"])
        if info["start"] + n > info["stop"]:
            raise CorruptFileError("an array has fewer values than its shape requires")
        maker, column, first = cells.maker(threads), info["column"], info["start"]
        with interpretation():
            return view.read(
                lambda start, stop: maker.pool(column, first + start, first + stop),
                lambda positions: maker.pool_at(column, first + positions),
            )

    def summary(self) -> str:
        """The kind and size of the value, or a scalar itself."""
        kind, info = self.kind, self.info
        if kind in ARRAYS:
            shape = " x ".join(f"{n:,}" for n in self.shape) or "no axes"
            if kind == "array":
                (column,) = self.cells.handle.whole().columns([info["column"]])
                return f"array of {column.type_name}, {shape}"
            return f"{kind}, {shape}"
        if kind in (*WITH_KEYS, *SEQUENCES):
            return f"{kind}, {len(self):,}"
        if kind in ("bytes", "bytearray"):
            return f"{kind}, {info['len']:,}"
        if kind == "object":
            head = self.children(0, min(3, len(self)))
            return f"{head[1]} {head[2]}" if head[0] == "record" else str(head[0])
        shown = repr(self.read(None, None, None))
        return f"{kind} = {shown if len(shown) <= 60 else shown[:57] + '...'}"


def describe(cells: Cells, number: int) -> dict[str, Any]:
    """Describe a cell.

    An array whose dtype has metadata is described as an array, with the cell of the metadata. A Bus
    is described as its frames, with the cell of their labels.
    """
    info: dict[str, Any] = cells.reader.describe(number)
    if info["kind"] != "object" or info.get("count") not in (3, 4) or "parts" in info:
        return info
    if info["count"] == 4:
        if cells.children(info["number"], 0, 1) != ["static_frame.Bus"]:
            return info
        frames: dict[str, Any] = cells.reader.describe(info["first"] + 2)
        is_plain = frames["kind"] == "list" and "first" in frames and "rows" not in frames
        labels = {"kind": "Bus", "number": info["number"], "labels": info["first"] + 1}
        return frames | labels if is_plain else info
    if cells.children(info["number"], 0, 1) != ["numpy.metadata"]:
        return info
    of: dict[str, Any] = cells.reader.describe(info["first"] + 1)
    is_array = of["kind"] in ("array", "array of objects")
    return of | {_dtype_metadata.KEY: info["first"] + 2} if is_array else info


def _labels_of_bus(index: Any, n: int) -> dict[Any, int]:
    """The positions of the frames of a Bus, by their labels."""
    with interpretation():
        labels = [_label(label) for label in index]
        if len(labels) != n:
            raise CorruptFileError(f"a Bus has {len(labels)} labels and {n} frames")
        return {label: i for i, label in enumerate(labels)}


def _label(label: Any) -> Any:
    """A label of StaticFrame as a key: a tuple for a hierarchy, else a scalar of Python or a time."""
    import numpy as np

    if isinstance(label, (tuple, np.ndarray)):
        return tuple(map(_label, label))
    return label.item() if isinstance(label, np.generic) and label.dtype.kind not in "mM" else label


def a(kind: str) -> str:
    """The name of a kind with an article, for messages."""
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _items(rows: Any, n: int) -> Any:
    """Resolve `rows=` or `columns=` on an axis of an array to a slice or an array of indices."""
    found = _rows.resolve(rows, n, holder="array")
    if found is None:
        return slice(None)
    return _rows.as_slice(found) if isinstance(found, range) else found


def describe_row(info: dict[str, Any], row: int) -> dict[str, Any]:
    """Describe a row of a list of rows."""
    parts = [first + row for first in info["lists"]]
    return {"kind": info["rows"], "number": info["number"], "row": row, "count": len(parts), "parts": parts}
