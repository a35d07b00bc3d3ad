"""Open files of trees, and parts of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from entasis._arguments import rows as _rows
from entasis._arguments.options import close_to, integer, on_refused, shown
from entasis._arguments.options import threads as _threads
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._file.file import File
from entasis._host_map import interpretation
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._values.cells import Cells, as_objects, metadata
from entasis._view.table import Closed, Frame
from entasis.errors import (
    ArgumentError,
    ColumnNotFoundError,
    CorruptFileError,
    NotAFrameError,
    RowsOutOfRangeError,
    escaped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import Columns, OnDamage, OnRefused, Rows, Types

    from .array_view import View

_SEQUENCES = ("list", "tuple", "set", "frozenset")
_WITH_KEYS = ("dict", "Bus")
# A dict of more keys gets no hint of keys close to a missing one.
_KEYS_FOR_HINTS = 1_000


class _OfFrames:
    """A member of `File` that only frames have.

    It raises `AttributeError`, so that `hasattr` is False.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tree: Tree | None, owner: type) -> _OfFrames:
        if tree is None:
            return self
        raise NotAFrameError(
            f"{tree._named()} is {a(tree.kind)}, and {self._name} is for frames; tree() shows the parts of the value"
        )


class Tree(File):
    """A value of an open file that is not a frame, or a part of such a value.

    Nothing is read until `read` is called.

    `t["key"]` is a part of a dict. `t[3]` is a part of a list, tuple or object, and `t[10:20]` and
    `t[[3, 1]]` are items of a list. An array accepts the same keys as a NumPy array, with results
    of the same shape, and `read` reads only the needed values. A frame inside a tree is a `File`.

    A look-up in a dict of more than 4,096 strings or integers reads a few pages of an index. In
    other dicts the first look-up reads all keys. No look-up reads values.

    Attributes
    ----------
    path : str
        The path of the file, or "<bytes>" for a file in memory.

    Examples
    --------
    >>> en.write({"run": 7, "scores": np.arange(6).reshape(2, 3)}, "run.entasis")
    >>> t = en.open("run.entasis")
    >>> t.keys(), t["scores"].shape
    (['run', 'scores'], (2, 3))
    >>> t["scores"][:, 1].read()
    array([1, 4])
    """

    # `_rows`, of `File`, selects items of a list, or is the `View` of an array; None for all.
    __slots__ = ("_cells", "_info", "_keys", "_where")

    if not TYPE_CHECKING:
        columns = _OfFrames()
        dtypes = _OfFrames()
        head = _OfFrames()
        iloc = _OfFrames()
        loc = _OfFrames()
        n_rows = _OfFrames()
        n_columns = _OfFrames()
        column_names = _OfFrames()
        sample = _OfFrames()
        filter = _OfFrames()
        scan = _OfFrames()
        batches = _OfFrames()
        lazy = _OfFrames()
        to_dataset = _OfFrames()
        search = _OfFrames()
        stats = _OfFrames()
        count = _OfFrames()
        schema = _OfFrames()
        select = _OfFrames()
        tail = _OfFrames()
        written_by = _OfFrames()
        to_pandas = _OfFrames()
        to_polars = _OfFrames()
        to_pyarrow = _OfFrames()
        to_numpy = _OfFrames()
        to_static_frame = _OfFrames()
        __arrow_c_stream__ = _OfFrames()
        __arrow_c_schema__ = _OfFrames()

    def __init__(self, cells: Cells, number: int, where: str = "", rows: Any = None) -> None:
        self._cells, self._where, self._rows = cells, where, rows
        self.path = cells.path
        self._info = _describe_cell(cells, number)
        self._keys: dict[Any, int] | None = None

    @property
    def kind(self) -> str:
        """The kind of the value: "dict", "list", "array", "float" ..."""
        return str(self._info["kind"])

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The lengths of the axes of an array.

        Other values have one axis if they have parts, else none.
        """
        if "shape" in self._info:
            return tuple(self._info["shape"]) if self._rows is None else self._shown().shape
        return (len(self),) if self._rows is not None or "count" in self._info else ()

    def __len__(self) -> int:
        if "shape" in self._info and self.shape:
            return self.shape[0]
        if self._rows is not None and "shape" not in self._info:
            return len(self._rows)
        if "count" not in self._info or "shape" in self._info:
            raise TypeError(f"{self._named()} ({self.kind}) has no length")
        return int(self._info["count"])

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.keys()) if self.kind in _WITH_KEYS else (self[i] for i in range(len(self)))

    def __contains__(self, key: object) -> bool:
        return self._place(key) is not None if self.kind in _WITH_KEYS else key in self.read()

    def keys(self) -> list[Any]:
        """Return the keys of a dict, the names of the fields of a record, or the labels of a Bus."""
        return list(self._places())

    def _place(self, key: Any) -> int | None:
        """The position of a key; None if it is missing."""
        if self._keys is None and self.kind == "dict" and type(key) in (str, int):
            is_indexed, place = self._cells.reader.find(self._info["number"], key)
            if is_indexed:
                return place
        places = self._places()
        try:
            return places.get(key)
        except TypeError as error:
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: its parts have keys, not {key!r}") from error

    def _places(self) -> dict[Any, int]:
        if self._keys is None:
            if self.kind == "dict":
                keys = self._cells.keys(self._info["number"])
                with interpretation():
                    # A damaged file may have unhashable keys.
                    self._keys = {key: i for i, key in enumerate(keys)}
            elif self.kind == "Bus":
                self._keys = _labels_of_bus(self._cells.read(self._info["labels"]), len(self))
            elif self._record() is not None:
                self._keys = {name: 4 + i for i, name in enumerate(self._record() or ())}
            else:
                raise ArgumentError(
                    f"{self._named()} is {a(self._kind_of_object())}, which has no keys: read() gives it back whole"
                )
        return self._keys

    def _kind_of_object(self) -> str:
        """The name of an object of another library, or the kind of a value."""
        if self.kind != "object" or not len(self):
            return self.kind
        (name,) = self._cells.children(self._info["number"], 0, 1)
        return f"{name} object" if type(name) is str else self.kind

    def _record(self) -> tuple[str, ...] | None:
        """The names of the fields of a record; None for other objects."""
        if self.kind != "object" or len(self) < 4:
            return None
        head = self._cells.children(self._info["number"], 0, 4)
        return head[3] if head[0] == "record" and type(head[3]) is tuple else None

    def _named(self) -> str:
        return f"value{self._where}"

    def _close_to(self, key: Any) -> str:
        """A hint for the error about a missing key."""
        if isinstance(key, slice):
            return f": {a(self.kind)} has no rows, select them in its parts"
        if self._record() == ("value",):
            # The result of `encode=` of a registered class.
            inside = self["value"]
            if isinstance(inside, Tree) and inside.kind in _WITH_KEYS and key in inside:
                return f": it is inside of what encode= returned, ['value'][{shown(key)}]"
        # The keys of a large dict are not read for a hint.
        return close_to(key, self._places()) if len(self) <= _KEYS_FOR_HINTS else ""

    def __getitem__(self, key: Any) -> File:
        if self.kind in ("dict", "object", "Bus"):
            place = self._place(key)
            if place is None:
                raise ColumnNotFoundError(f"{self._named()} has no key {shown(key)}{self._close_to(key)}")
            return self._part(place, f"[{key!r}]")
        if self.kind not in (*_SEQUENCES, "array", "array of objects"):
            raise ArgumentError(f"{self._named()} is {a(self.kind)}, which has no parts")
        if "shape" in self._info:
            return self._indexed(key)
        if isinstance(key, tuple):
            raise ArgumentError(f"{self._named()} is {a(self.kind)}, which has one axis; take its items with a list")
        rows = _rows.compose(self._rows, _rows.resolve(key, len(self), holder=self.kind))
        if integer(key) is not None:
            return self._part(rows[0], f"[{rows[0]}]")
        return Tree._at(self._cells, self._where, self._info, rows)

    def _shown(self) -> View:
        """The selected part of an array."""
        if self._rows is not None:
            return cast("View", self._rows)
        from .array_view import View, strides

        shape = tuple(self._info["shape"])
        return View(shape, strides(shape, bool(self._info.get("fortran"))))

    def _indexed(self, key: Any) -> Tree:
        """Select a part of an array as NumPy does."""
        try:
            view = self._shown()[key]
        except IndexError as error:
            raise RowsOutOfRangeError(f"{self._named()}: {error}") from None
        return Tree._at(self._cells, self._where, self._info, view)

    def _part(self, position: int, step: str) -> File:
        info = self._info
        if "rows" in info:
            return Tree._at(self._cells, self._where + step, _row(info, position))
        number = info["parts"][position] if "parts" in info else info["first"] + position
        return part(self._cells, number, self._where + step)

    @classmethod
    def _at(cls, cells: Cells, where: str, info: dict[str, Any], rows: Any = None) -> Tree:
        found = object.__new__(cls)
        found._cells, found._info, found._keys, found.path = cells, info, None, cells.path
        found._where, found._rows = where, rows
        return found

    def read(
        self,
        *,
        columns: Columns | None = None,
        rows: Rows | None = None,
        filter: Filter | None = None,
        to: Host | None = None,
        threads: int | None = None,
        index: bool = True,
        types: Types | None = None,
        nan_to_null: bool | None = None,
        on_unsupported: OnRefused = "error",
        on_damage: OnDamage = "error",
    ) -> Any:
        """Read the value, or some rows of an array, or some items of a list.

        Parameters
        ----------
        columns
            Positions on the second axis of an array, in the forms of `rows`. Only these are read if
            the array is in Fortran order. With `to=`, a key or a list of keys of the dicts.
        rows
            Positions on the first axis of an array, or of items in a list; as for `entasis.read`.
        threads
            The number of threads. None means one per processor.
        types
            Classes to use instead of `Record`; by default those of `entasis.open`.
        to
            "pandas", "polars", "pyarrow", "numpy" or "static_frame" to get a list of dicts with
            equal keys as a frame, with a column for each key. The library chooses its type as for a
            list of the values, and no value changes: where the library would turn True into 1, the
            column has objects, or there is an `UnsupportedTypeError`.
        filter, index, nan_to_null, on_unsupported, on_damage
            For frames only.

        Returns
        -------
        Any
            The value.

        Raises
        ------
        ArgumentError
            The value has no such axis, or an option is for frames only. With `to=`, the value is
            not a list of dicts with equal keys.
        RowsOutOfRangeError
            A position is out of range.
        CorruptFileError
            A part of the file that was read is damaged.

        Examples
        --------
        >>> en.write({"names": ["a", "b", "c"]}, "names.entasis")
        >>> en.open("names.entasis")["names"].read(rows=[2, 0])
        ['c', 'a']
        """
        on_refused(on_unsupported)
        if filter is not None:
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: filter= is for frames")
        if not index:
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: index=False is for frames")
        if nan_to_null is not None:
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: nan_to_null= is for frames")
        if on_damage != "error":
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: on_damage= is for frames, and for entasis.read")
        threads = _threads(threads)
        cells = self._cells
        if types is not None:
            from entasis._values import classes as _classes

            cells = Cells(cells.handle.with_classes(_classes.by_name(types)), cells.path, cells.reader)
        if to is not None:
            return Tree._at(cells, self._where, self._info, self._rows)._frame_of_dicts(columns, rows, to, threads)
        if rows is not None and not self.shape:
            raise ArgumentError(f"{self._named()} ({self.kind}) has no rows")
        if rows is not None and self.kind not in (*_SEQUENCES, "array", "array of objects"):
            raise ArgumentError(f"{self._named()} is a {self.kind}: only arrays and lists have rows")
        try:
            if "shape" in self._info:
                found = self._read_array(cells, columns, rows, threads)
            else:
                found = self._read_part(cells, columns, rows, threads)
            if _dtype_metadata.KEY not in self._info:
                return found
            metadata = cells.read(self._info[_dtype_metadata.KEY], threads)
            with interpretation():
                return _dtype_metadata.restore(found, metadata)
        except CorruptFileError as error:
            error.file = error.file or self.path
            raise

    def column(self, key: Any, *, threads: int | None = None) -> list[Any]:
        """Read the values that the dicts of a list have for a key.

        Other keys are not read, if the dicts have the same keys in the same order, all strings, and
        their values are scalars: such a list is stored by keys. Others are read whole.

        Parameters
        ----------
        key
            A key that all dicts have.
        threads
            The number of threads. None means one per processor.

        Returns
        -------
        list
            A value for each dict, or for each selected one in a part of a list.

        Raises
        ------
        ColumnNotFoundError
            The dicts have no such key.
        ArgumentError
            The value is not a list of dicts, or some dicts have different keys.

        Examples
        --------
        >>> en.write([{"city": "Oslo", "n": 3}, {"city": "Rome", "n": 5}], "cities.entasis")
        >>> t = en.open("cities.entasis")
        >>> t.column("city"), t[1:].column("n")
        (['Oslo', 'Rome'], [5])
        >>> t.read(to="pandas")
           city  n
        0  Oslo  3
        1  Rome  5
        """
        from . import records as _records

        found = self._checked(lambda: _records.columns_of(self, [key], self._rows, _threads(threads)))
        return found[key]

    def _frame_of_dicts(self, columns: Columns | None, rows: Any, to: Host, threads: int | None) -> Any:
        """Read a list of dicts as a frame."""
        from . import records as _records

        _hosts.reader(to, None)
        keys = _records.listed(columns)
        if self.kind not in ("list", "tuple"):
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: to= is for frames and for lists of dicts")
        if rows is not None:
            rows = _rows.resolve(rows, len(self), holder=self.kind)
        chosen = self._rows if rows is None else _rows.compose(self._rows, rows)
        found = self._checked(lambda: _records.columns_of(self, keys, chosen, threads))
        return _records.frame(self, found, _rows.count(chosen, int(self._info["count"])), to)

    def _checked(self, read: Callable[[], dict[Any, list[Any]]]) -> dict[Any, list[Any]]:
        """Read, and name the file in errors about damage."""
        try:
            return read()
        except CorruptFileError as error:
            error.file = error.file or self.path
            raise

    @reported
    def _read_part(self, cells: Cells, columns: Any, rows: Any, threads: int | None) -> Any:
        """Read a value that is not an array, or items of a list."""
        if columns is not None:
            raise ArgumentError(f"{self._named()}: only frames and arrays with two or more axes have columns")
        rows = (
            self._rows if rows is None else _rows.compose(self._rows, _rows.resolve(rows, len(self), holder=self.kind))
        )
        number = self._info["number"]
        if "row" in self._info:
            row = self._info["row"]
            (whole,) = cells.children(number, row, row + 1, threads)
            return whole if rows is None else tuple(whole[int(i)] for i in rows)
        if rows is None:
            return cells.read(number, threads)
        found = cells.children_at(number, rows, threads)
        with interpretation():
            return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[self.kind](found)

    @reported
    def _read_array(self, cells: Cells, columns: Any, rows: Any, threads: int | None) -> Any:
        """Read the selected part of an array."""
        info, number = self._info, self._info["number"]
        if self._rows is None and rows is None and columns is None:
            return cells.read(number, threads)
        view = self._shown()
        if columns is not None and len(view.shape) < 2:
            raise ArgumentError(f"{self._named()}: only frames and arrays with two or more axes have columns")
        if rows is not None:
            view = view[_places(rows, view.shape[0])]
        if columns is not None:
            view = view[:, _places(columns, view.shape[1])]
        if self.kind == "array of objects":
            return view.read(
                lambda start, stop: as_objects(cells.children(number, start, stop, threads)),
                lambda places: as_objects(cells.children_at(number, places, threads)),
            )
        n = math.prod(info["shape"])
        if info["start"] + n > info["stop"]:
            raise CorruptFileError("an array has fewer values than its shape requires")
        maker, column, first = cells.maker(threads), info["column"], info["start"]
        with interpretation():
            return view.read(
                lambda start, stop: maker.pool(column, first + start, first + stop),
                lambda places: maker.pool_at(column, first + places),
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.asarray(self.read(), dtype=dtype)

    @property
    def metadata(self) -> Any:
        """The value that was written as `metadata=`; None without any."""
        return metadata(self._cells.handle, self.path)

    def close(self) -> None:
        """Close the file, as `with` does.

        Earlier parts of it, and values that were read, stay valid.
        """
        self._cells, self._keys = cast("Cells", Closed(self.path)), None

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return isinstance(self._cells, Closed)

    def __copy__(self) -> Tree:
        return Tree._at(self._cells, self._where, self._info, self._rows)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tree:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        from entasis._view import reopen as _reopen

        cells = self._cells
        frame = Frame(cells.handle, self.path, content=cells.content)
        return _reopened, (_reopen.source(frame), self._where, self._info, self._rows)

    def _ipython_key_completions_(self) -> list[str]:
        has_keys = self.kind in _WITH_KEYS or self._record() is not None
        return [key for key in self.keys() if isinstance(key, str)] if has_keys else []

    def _repr_html_(self) -> str:
        from entasis._file import html as _html

        return _html.tree(self)

    def tree(self, *, depth: int = 3, most: int = 20) -> str:
        """Return an outline of the value: a line for each part, with kinds, shapes and sizes.

        Parameters
        ----------
        depth
            How many levels of parts to show.
        most
            How many parts of a value to show.

        Examples
        --------
        >>> en.write({"run": 7, "scores": np.arange(3)}, "run.entasis")
        >>> print(en.open("run.entasis").tree())
        value: dict, 2
          'run': int = 7
          'scores': array of i64, 3
        """
        with interpretation():
            return "\n".join(self._outline(self._where or "value", 0, depth, most))

    def _outlines_of_parts(self, name: str, level: int, depth: int, most: int) -> list[str]:
        named = self.kind in _WITH_KEYS or (self.kind == "object" and self._record() is not None)
        if not named and self.kind not in ("list", "tuple"):
            return []
        lines = []
        steps = self.keys() if named else range(len(self))
        for step in steps[:most]:
            shown = repr(step) if named else f"[{step}]"
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            lines += self[step]._outline(shown, level + 1, depth, most)
        if len(steps) > most:
            lines.append(f"{'  ' * (level + 1)}... {len(steps) - most:,} more")
        return lines

    def _summary(self) -> str:
        kind, info = self.kind, self._info
        if kind in ("array", "array of objects"):
            shape = " x ".join(f"{n:,}" for n in self.shape) or "no axes"
            if kind == "array":
                (column,) = self._cells.handle.whole().columns([info["column"]])
                return f"array of {column.type_name}, {shape}"
            return f"{kind}, {shape}"
        if kind in (*_WITH_KEYS, *_SEQUENCES):
            return f"{kind}, {len(self):,}"
        if kind in ("bytes", "bytearray"):
            return f"{kind}, {info['len']:,}"
        if kind == "object":
            head = self._cells.children(info["number"], 0, min(3, len(self)))
            return f"{head[1]} {head[2]}" if head[0] == "record" else str(head[0])
        shown = repr(self.read())
        return f"{kind} = {shown if len(shown) <= 60 else shown[:57] + '...'}"

    def __repr__(self) -> str:
        if self.closed:
            return f"<entasis.Tree '{self.path}', closed>"
        head = f"<entasis.Tree '{self.path}'{': ' + self._named() if self._where else ''}>"
        return "\n".join(map(escaped, [head, *self._outline(self._named(), 0, 2, 10)]))


def _describe_cell(cells: Cells, number: int) -> dict[str, Any]:
    """Describe a cell.

    An array whose dtype has metadata is described as an array, with the cell of these, and a Bus as
    its frames, with the cell of their labels.
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
    """The places of the frames of a Bus, by their labels."""
    with interpretation():
        labels = [_label(label) for label in index]
        if len(labels) != n:
            raise CorruptFileError(f"a Bus has {len(labels)} labels and {n} frames")
        return {label: i for i, label in enumerate(labels)}


def _label(label: Any) -> Any:
    """A label of StaticFrame as a key: a tuple for a hierarchy, and no scalar of NumPy but a time."""
    import numpy as np

    if isinstance(label, (tuple, np.ndarray)):
        return tuple(map(_label, label))
    return label.item() if isinstance(label, np.generic) and label.dtype.kind not in "mM" else label


def a(kind: str) -> str:
    """The name of a kind with an article, for messages."""
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _places(rows: Any, n: int) -> Any:
    """Resolve `rows=` or `columns=` on an axis of an array to a slice or an array of places."""
    found = _rows.resolve(rows, n, holder="array")
    if found is None:
        return slice(None)
    return _rows.as_slice(found) if isinstance(found, range) else found


def _row(info: dict[str, Any], row: int) -> dict[str, Any]:
    """Describe a row of a list of rows."""
    parts = [first + row for first in info["lists"]]
    return {"kind": info["rows"], "number": info["number"], "row": row, "count": len(parts), "parts": parts}


def part(cells: Cells, number: int, where: str) -> File:
    """Return a part of a file: a `File` for a frame, else a `Tree`."""
    found = Tree(cells, number, where)
    if found.kind != "table":
        return found
    number = found._info["int"]
    handle = cells.handle.table(number)
    return File._of(Frame(handle, cells.path, table=number, content=cells.content))


def root(frame: Frame) -> File:
    """Return the value of a file that is not a table."""
    cells = Cells(frame.handle, frame.path)
    cells.content = frame.content
    number, _ = cells.reader.roots()
    if number is None:
        raise CorruptFileError("the file has no value")
    return part(cells, number, "")


def _reopened(source: Any, where: str, info: dict[str, Any], rows: Any) -> Tree:
    """Open the file of a pickle, and return the part."""
    from entasis._view import reopen as _reopen

    frame = _reopen.frame(source)
    cells = Cells(frame.handle, frame.path)
    cells.content = frame.content
    return Tree._at(cells, where, info, rows)
