"""Open files of trees, and parts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from entasis._arguments import rows as _rows
from entasis._arguments.options import close_to, integer, on_refused, shown
from entasis._arguments.options import threads as _threads
from entasis._file.file import File
from entasis._file.opened import Opened
from entasis._host_map import interpretation
from entasis._libraries import registry as _hosts
from entasis._values.cells import Cells, Storing
from entasis._view.table import Closed, OpenTable
from entasis._view.view import View
from entasis.errors import ArgumentError, ColumnNotFoundError, CorruptFileError, NotAFrameError, escaped

from .part import ARRAYS, SEQUENCES, WITH_KEYS, Part, a, describe, describe_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._entasis import Handle
    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import Columns, OnDamage, OnRefused, Rows, Types

# For a dict with more keys than this, an error about a missing key suggests no similar keys.
_KEYS_FOR_HINTS = 1_000


class Tree(Opened):
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

    __slots__ = ("_keys", "_part")

    def __init__(self, cells: Cells, number: int, where: str = "", rows: Any = None) -> None:
        self.path, self._keys = cells.path, cast("dict[Any, int] | None", None)
        self._part = Part(cells, where, describe(cells, number), rows)

    @classmethod
    def _of(cls, part: Part) -> Tree:
        """The tree of a part."""
        found = object.__new__(cls)
        found.path, found._part, found._keys = part.cells.path, part, None
        return found

    def __getattr__(self, name: str) -> Any:
        # An `AttributeError`, so that `hasattr` is False.
        if hasattr(File, name) and (not name.startswith("_") or name.startswith("__arrow_c_")):
            raise NotAFrameError(
                f"{self._named()} is {a(self.kind)}, and {name} is for frames; tree() shows the parts of the value"
            )
        raise AttributeError(f"'Tree' object has no attribute {name!r}")

    @property
    def _handle(self) -> Handle:
        return self._part.cells.handle

    @property
    def footer(self) -> bytes | None:
        """The bytes of opening, as those of files of frames: see `File.footer`."""
        from entasis._file.footer import footer

        return None if self.closed else footer(self._part.cells.content, secret=self._part.cells.secret)

    @property
    def kind(self) -> str:
        """The kind of the value: "dict", "list", "array", "float" ..."""
        return self._part.kind

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes of an array.

        Other values have one axis if they have parts, else no axes.
        """
        return self._part.shape

    def __len__(self) -> int:
        return len(self._part)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys()) if self.kind in WITH_KEYS else (self[i] for i in range(len(self)))

    def __contains__(self, key: object) -> bool:
        return self._position(key) is not None if self.kind in WITH_KEYS else key in self.read()

    def keys(self) -> list[Any]:
        """Return the keys of a dict, the names of the fields of a record, or the labels of a Bus."""
        return list(self._positions())

    def _position(self, key: Any) -> int | None:
        """The position of a key; None if it is missing."""
        if self._keys is None and self.kind == "dict" and type(key) in (str, int):
            is_indexed, position = self._part.cells.reader.find(self._part.info["number"], key)
            if is_indexed:
                return position
        positions = self._positions()
        try:
            return positions.get(key)
        except TypeError as error:
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: its parts have keys, not {key!r}") from error

    def _positions(self) -> dict[Any, int]:
        if self._keys is None:
            self._keys = self._part.keys()
        if self._keys is None:
            raise ArgumentError(
                f"{self._named()} is {a(self._kind_of_object())}, which has no keys: read() gives it back whole"
            )
        return self._keys

    def _kind_of_object(self) -> str:
        """The name of an object of another library, or the kind of a value."""
        if self.kind != "object" or not len(self):
            return self.kind
        (name,) = self._part.children(0, 1)
        return f"{name} object" if type(name) is str else self.kind

    def _named(self) -> str:
        return self._part.named()

    def _close_to(self, key: Any) -> str:
        """A hint for the error about a missing key."""
        if isinstance(key, slice):
            return f": {a(self.kind)} has no rows, select them in its parts"
        if self._part.record() == ("value",):
            # The result of `encode=` of a registered class.
            inside = self["value"]
            if isinstance(inside, Tree) and inside.kind in WITH_KEYS and key in inside:
                return f": it is inside of what encode= returned, ['value'][{shown(key)}]"
        # The keys of a large dict are not read for a hint.
        return close_to(key, self._positions()) if len(self) <= _KEYS_FOR_HINTS else ""

    def __getitem__(self, key: Any) -> Any:
        if self.kind in ("dict", "object", "Bus"):
            position = self._position(key)
            if position is None:
                raise ColumnNotFoundError(f"{self._named()} has no key {shown(key)}{self._close_to(key)}")
            return self._item(position, f"[{key!r}]")
        if self.kind not in (*SEQUENCES, *ARRAYS):
            raise ArgumentError(f"{self._named()} is {a(self.kind)}, which has no parts")
        of = self._part
        if "shape" in of.info:
            return Tree._of(of.indexed(key))
        if isinstance(key, tuple):
            raise ArgumentError(f"{self._named()} is {a(self.kind)}, which has one axis; take its items with a list")
        rows = of.resolved(key)
        if integer(key) is not None:
            return self._item(rows[0], f"[{rows[0]}]")
        return Tree._of(Part(of.cells, of.where, of.info, rows))

    def _item(self, position: int, step: str) -> File | Tree:
        of, info = self._part, self._part.info
        if "rows" in info:
            return Tree._of(Part(of.cells, of.where + step, describe_row(info, position)))
        number = info["parts"][position] if "parts" in info else info["first"] + position
        return part(of.cells, number, of.where + step)

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
            column has objects, or an `UnsupportedTypeError` is raised.
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
        threads, of = _threads(threads), self._part
        if types is not None:
            from entasis._values import classes as _classes

            cells = of.cells
            of = of.with_cells(Cells(cells.handle.with_classes(_classes.by_name(types)), cells.path, cells.reader))
        if to is not None:
            return self._frame_of_dicts(of, columns, rows, to, threads)
        if rows is not None and not self.shape:
            raise ArgumentError(f"{self._named()} ({self.kind}) has no rows")
        if rows is not None and self.kind not in (*SEQUENCES, *ARRAYS):
            raise ArgumentError(f"{self._named()} is a {self.kind}: only arrays and lists have rows")
        return self._checked(lambda: of.read(columns, rows, threads))

    def _to_store(self, to: str | None = None, *, index: bool = True) -> Any:
        if not index:
            return self.read(index=False)
        return self._stored()[0]

    def _stored(self) -> tuple[Any, bool]:
        """The value to store it again, and whether values of other languages are in it."""
        of, storing = self._part, Storing()
        of = of.with_cells(Cells(of.cells.handle, of.cells.path, of.cells.reader, storing))
        return self._checked(lambda: of.read(None, None, None)), storing.has_foreign

    def column(self, key: Any, *, threads: int | None = None) -> list[Any]:
        """Read the values that the dicts of a list have for a key.

        Other keys are not read, if the dicts have the same keys in the same order, all strings, and
        their values are scalars: such a list is stored by keys. Other lists are read whole.

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

        of = self._part
        found = self._checked(lambda: _records.columns_of(of, [key], of.rows, _threads(threads)))
        return found[key]  # type: ignore[no-any-return]

    def _frame_of_dicts(self, of: Part, columns: Columns | None, rows: Any, to: Host, threads: int | None) -> Any:
        """Read a list of dicts as a frame."""
        from . import records as _records

        _hosts.reader(to, None)
        keys = _records.listed(columns)
        if self.kind not in ("list", "tuple"):
            raise ArgumentError(f"{self._named()} is {a(self.kind)}: to= is for frames and for lists of dicts")
        selected = of.resolved(rows)
        found = self._checked(lambda: _records.columns_of(of, keys, selected, threads))
        return _records.frame(self._named(), found, _rows.count(selected, int(of.info["count"])), to)

    def _checked(self, read: Callable[[], Any]) -> Any:
        """Read, and name the file in errors about damage."""
        try:
            return read()
        except CorruptFileError as error:
            error.file = error.file or self.path
            raise

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.asarray(self.read(), dtype=dtype)

    def close(self) -> None:
        """Close the file, as `with` does.

        Earlier parts of it, and values that were read, stay valid.
        """
        of = self._part
        self._part, self._keys = Part(cast("Cells", Closed(self.path)), of.where, of.info, of.rows), None

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return isinstance(self._part.cells, Closed)

    def __copy__(self) -> Tree:
        return Tree._of(self._part)

    def __reduce__(self) -> tuple[Any, ...]:
        from entasis._view import reopen as _reopen

        of = self._part
        table = OpenTable(of.cells.handle, self.path, content=of.cells.content, secret=of.cells.secret)
        return _reopened, (_reopen.source(table), of.where, of.info, of.rows)

    def _ipython_key_completions_(self) -> list[str]:
        has_keys = self.kind in WITH_KEYS or self._part.record() is not None
        return [key for key in self.keys() if isinstance(key, str)] if has_keys else []

    def _repr_html_(self) -> str:
        from entasis._file import html as _html

        return _html.outline(repr(self))

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
            return "\n".join(self._outline(self._part.where or "value", 0, depth, most))

    def _outlines_of_parts(self, name: str, level: int, depth: int, most: int) -> list[str]:
        named = self.kind in WITH_KEYS or (self.kind == "object" and self._part.record() is not None)
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
        return str(self._checked(self._part.summary))

    def __repr__(self) -> str:
        if self.closed:
            return f"<entasis.Tree '{self.path}', closed>"
        head = f"<entasis.Tree '{self.path}'{': ' + self._named() if self._part.where else ''}>"
        return "\n".join(map(escaped, [head, *self._outline(self._named(), 0, 2, 10)]))


# `isinstance(t, File)` is true for every result of `entasis.open`, although a tree and a frame's
# file share only their base class.
File.register(Tree)


def part(cells: Cells, number: int, where: str) -> File | Tree:
    """Return a part of a file: a `File` for a frame, else a `Tree`."""
    info = describe(cells, number)
    if info["kind"] != "table":
        return Tree._of(Part(cells, where, info))
    number = info["int"]
    handle = cells.handle.table(number)
    return File._of(View(OpenTable(handle, cells.path, number=number, content=cells.content, secret=cells.secret)))


def root(table: OpenTable) -> File | Tree:
    """Return the value of a file that is not a table."""
    cells = Cells(table.handle, table.path)
    cells.content, cells.secret = table.content, table.secret
    number, _ = cells.reader.roots()
    if number is None:
        raise CorruptFileError("the file has no value")
    return part(cells, number, "")


def _reopened(source: Any, where: str, info: dict[str, Any], rows: Any) -> Tree:
    """Open the file of a pickle, and return the part."""
    from entasis._view import reopen as _reopen

    table = _reopen.table(source)
    cells = Cells(table.handle, table.path)
    cells.content, cells.secret = table.content, table.secret
    return Tree._of(Part(cells, where, info, rows))
