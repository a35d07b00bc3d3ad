"""An open file, and views of it: nothing is read until it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import _cells, _columns, _display, _entasis, _hosts, _rows, _sources
from ._options import threads as _threads
from .errors import ArgumentError, CorruptFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from ._columns import Columns
    from ._hosts import Host
    from ._rows import Rows
    from ._sources import Source


class File:
    """A file that is open for reading, or some of its columns and rows.

    `f["a"]` and `f[["a", "b"]]` are views of columns, `f[1000:2000]`, `f[7]`, `f[array]` and `f[mask]` views of
    rows, `f[rows, columns]` of both. Views of views count what they see. A view reads when it is told to: `read`,
    `to_pandas`, `to_polars`, `to_pyarrow`, `to_numpy`, `to_static_frame`, or when another library takes it through
    Arrow's stream interface.
    """

    __slots__ = ("_columns", "_handle", "_host", "_rows", "_types", "path")

    path: str

    def __init__(self, path: Source, *, memory_map: bool = False, types: Iterable[type] | None = None) -> None:
        found = _sources.source(path)
        self.path = found if isinstance(found, str) else _sources.IN_MEMORY
        self._handle = _mapped(found) if memory_map else _entasis.Handle(found)
        self._columns: list[int] | None = None
        self._rows: Any = None
        self._host: dict[str, Any] | None = None
        self._types = _codec_classes(types)

    @classmethod
    def _of(cls, handle: _entasis.Handle, path: str, types: dict[str, type]) -> File:
        """A frame inside of a file."""
        file = object.__new__(cls)
        file.path, file._handle, file._types = path, handle, types
        file._columns = file._rows = file._host = None
        return file

    @property
    def metadata(self) -> Any:
        """What was written as `metadata=`; None without any."""
        return _cells.metadata(self._handle, self.path, self._types)

    def tree(self, *, depth: int = 3, most: int = 20) -> str:
        """The value as an outline: a line per part, with kinds, shapes and sizes. A frame shows `most` columns."""
        from . import _tree

        return "\n".join(_tree.outline(self, "value", 0, depth, most))

    def _view(self, columns: list[int] | None, rows: Any) -> File:
        view = object.__new__(File)
        view.path, view._handle, view._host, view._types = self.path, self._handle, self._host, self._types
        view._columns, view._rows = columns, rows
        return view

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return _rows.count(self._rows, self._handle.n_rows)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self._handle.n_columns if self._columns is None else len(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return _columns.names(self._handle, self._columns)

    @property
    def schema(self) -> _display.Schema:
        """Names and types of the columns."""
        return _display.Schema(*_columns.schema(self._handle, self._columns))

    @property
    def written_by(self) -> str | None:
        """The library whose value was written: "pandas", "polars" ..."""
        host = self._host_map().get("host")
        return host if isinstance(host, str) else None

    def _host_map(self) -> dict[str, Any]:
        if self._host is None:
            host = self._handle.host()
            host = host if isinstance(host, dict) else {}
            self._host = _cells.bind(host, self._handle, self.path, self._types) if self._handle.has_cells else host
        return self._host

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def __contains__(self, name: object) -> bool:
        return name in self.column_names

    def __getitem__(self, key: Any) -> File:
        if isinstance(key, tuple):
            if len(key) != 2:
                raise ArgumentError(f"a file has rows and columns, not {len(key)} axes")
            return self.__getitem__(key[0])._select(key[1])
        if isinstance(key, str) or (isinstance(key, list) and key and all(isinstance(k, str) for k in key)):
            return self._select(key)
        return self._view(self._columns, self._compose(key))

    def _select(self, columns: Any) -> File:
        return self._view(self._resolve(columns), self._rows)

    def _resolve(self, columns: Columns | None) -> list[int] | None:
        """Numbers of columns, of those that this view has."""
        if columns is None or self._columns is None:
            return self._columns if columns is None else _columns.resolve(self._handle, columns)
        places = _columns.resolve(_Seen(self._handle, self._columns), columns)  # type: ignore[arg-type]
        return [self._columns[place] for place in places or ()]

    def _compose(self, rows: Rows | None) -> Any:
        if rows is None:
            return self._rows
        return _rows.compose(self._rows, _rows.resolve(rows, self.n_rows))

    def read(
        self,
        *,
        columns: Columns | None = None,
        rows: Rows | None = None,
        to: Host | None = None,
        threads: int | None = None,
    ) -> Any:
        """Read columns and rows; see `entasis.read`."""
        chosen, selected = self._resolve(columns), self._compose(rows)
        host = self._host_map()
        written_by = self.written_by
        reader = _hosts.reader(to, written_by)
        try:
            found = reader.read(self._handle, host, chosen, selected, _threads(threads))
            return _hosts.restore(found, host, written_by, to) if "class" in host else found
        except CorruptFileError as error:
            error.file = error.file or self.path
            raise

    def to_pandas(self) -> Any:
        """Read as a pandas DataFrame."""
        return self.read(to="pandas")

    def to_polars(self) -> Any:
        """Read as a Polars DataFrame."""
        return self.read(to="polars")

    def to_pyarrow(self) -> Any:
        """Read as a pyarrow Table."""
        return self.read(to="pyarrow")

    def to_numpy(self) -> dict[str, Any]:
        """Read as a dict of NumPy arrays."""
        return self.read(to="numpy")  # type: ignore[no-any-return]

    def to_static_frame(self) -> Any:
        """Read as a StaticFrame Frame, or as the Series or Index that was written."""
        return self.read(to="static_frame")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._arrow(self._rows).__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._arrow(range(0)).__arrow_c_schema__()

    def _arrow(self, rows: Any) -> Any:
        from . import _arrow

        own = self.written_by == "pyarrow"
        host = self._host_map()
        metadata = _arrow.has_metadata(host)
        return _arrow.read(self._handle, host, self._columns, rows, None, layout=1, own=own, metadata=metadata)[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Nothing to close by hand: the file goes when its last view does.
        return None

    def __repr__(self) -> str:
        return _display.text(self.path, self.n_rows, self.schema.pairs, self.written_by)

    def _repr_html_(self) -> str:
        return _display.html(self.path, self.n_rows, self.schema.pairs, self.written_by)


def _codec_classes(types: Iterable[type] | None) -> dict[str, type]:
    if not types:
        return {}
    from . import _codecs

    try:
        return _codecs.classes(types)
    except TypeError as error:
        raise ArgumentError(str(error)) from None


def _mapped(source: str | bytes) -> _entasis.Handle:
    from . import _map

    if isinstance(source, bytes):
        raise ArgumentError("memory_map=True maps a file on the disk: pass its path, or leave memory_map out")
    return cast("_entasis.Handle", _map.MappedHandle(source))


class _Seen:
    """The columns of a view, to find one among them."""

    def __init__(self, handle: _entasis.Handle, columns: list[int]) -> None:
        self._names = _columns.names(handle, columns)
        self.n_columns = len(columns)

    def names(self) -> list[str]:
        return self._names

    def find(self, name: str) -> list[int]:
        return [i for i, other in enumerate(self._names) if other == name]
