"""A table of an open file: what all its views share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from entasis import _entasis
from entasis._arguments import rows as _rows
from entasis._arguments import sources as _sources
from entasis._arguments.options import shown
from entasis._columns.levels import Levels
from entasis.errors import ArgumentError, ClosedFileError, DamageWarning, NotEntasisError, printable

from . import column_labels as _column_labels

if TYPE_CHECKING:
    from entasis._arguments.secrets import Secret
    from entasis._damage import Damage
    from entasis._stores.remote import Remote
    from entasis._typing import MemoryMap, Types

    from .column_labels import Labels
    from .fst import FstHandle


class OpenTable:
    """A table of an open file, with its host map and labels, which are read on first use."""

    __slots__ = (
        "_host",
        "_index",
        "_labels",
        "_levels",
        "content",
        "generation",
        "handle",
        "limits",
        "memory_map",
        "number",
        "parts",
        "path",
        "secret",
        "sorted",
        "sorted_labels",
    )

    def __init__(
        self,
        handle: _entasis.Handle,
        path: str,
        *,
        number: int | None = None,
        content: bytes | Remote | None = None,
        limits: dict[str, int] | None = None,
        generation: int | None = None,
        secret: Secret | None = None,
    ) -> None:
        self.handle, self.path = handle, path
        # The number of the requested generation; None for the current one.
        self.generation = generation
        # For pickles: the `number` of the table in a tree, and the `content` of a file in memory or
        # the object on a store.
        self.memory_map: MemoryMap = getattr(handle, "memory_map", False)
        self.number, self.content, self.limits = number, content, limits
        # The secret that opened an encrypted file. Pickles hold functions alone.
        self.secret = secret
        # The handle of a table whose parts are decoded alone; None for files of Entasis.
        self.parts: FstHandle | None = getattr(handle, "parts", None)
        self._host: dict[str, Any] | None = None
        self._labels: Labels | None = None
        self._levels: Levels | None = None
        self._index: Any = None
        # Whether columns are in ascending order, by their numbers.
        self.sorted: dict[int, bool] = {}
        # The labels of a sorted index; False without one, and None before the first look-up.
        self.sorted_labels: Any = None

    def with_nan_to_null(self, nan_to_null: bool | None) -> OpenTable:
        """The same table with another rule for NaN. Both share the data read so far."""
        return self._sharing(self.handle.with_nan_to_null(nan_to_null))

    def narrowed(self, decimals: bool) -> OpenTable:
        """The same table with narrow types for Arrow: of strings that repeat, and of decimals."""
        return self._sharing(self.handle.narrowed(decimals))

    def _sharing(self, handle: _entasis.Handle) -> OpenTable:
        found = self.with_handle(handle)
        for name in OpenTable.__slots__:
            if name not in ("handle", "parts"):
                setattr(found, name, getattr(self, name))
        return found

    def with_handle(self, handle: _entasis.Handle) -> OpenTable:
        """This table in another handle of the file, without cached data."""
        return OpenTable(
            handle, self.path, number=self.number, content=self.content, limits=self.limits, secret=self.secret
        )

    @property
    def host(self) -> dict[str, Any]:
        """The host map."""
        if self._host is None:
            found = self.handle.host()
            self._host = found if isinstance(found, dict) else {}
            if self.handle.has_cells:
                from entasis._values.cells import bind

                self._host = bind(self._host, self.handle, self.path)
        return self._host

    @property
    def labels(self) -> Labels:
        """The labels of the columns."""
        if self._labels is None:
            self._labels = _column_labels.of(self.handle, self.host)
        return self._labels

    @property
    def levels(self) -> Levels:
        """The levels of the index."""
        if self._levels is None:
            self._levels = Levels(self.handle, self.host)
        return self._levels

    @property
    def has_index_in_memory(self) -> bool:
        """Whether the labels of all rows were read."""
        return self._index is not None

    def index(self, rows: Any) -> Any:
        """The labels of these rows as an index of pandas."""
        if self._index is None:
            # Loaded on demand: most reads look up no row by its label.
            from . import row_labels as _row_labels

            self._index = _row_labels.index(self.handle, self.host)
        return _rows.at(self._index, rows)


class Closed:
    """Replaces the handle of a closed file. Every use raises `ClosedFileError`."""

    memory_map = False
    parts = None

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ClosedFileError(f"the file is closed: open it again (file {self._path!r})")


def opened(
    source: str | bytes | Remote,
    *,
    memory_map: MemoryMap,
    types: Types | None,
    limits: dict[str, int] | None,
    generation: int | None = None,
    whole: bool = False,
    secret: Secret | None = None,
) -> OpenTable:
    """Open the file at a path, in memory or on a store.

    The table of a file of another value has no columns.

    With `whole` or a generation, a file whose current generation can't be opened is opened at its
    newest whole one. `secret` opens an encrypted file.
    """
    if memory_map not in (False, True, "auto"):
        raise ArgumentError(f"memory_map={shown(memory_map)}: True, False or 'auto'")
    if generation is not None and memory_map:
        raise ArgumentError("memory_map maps the current generation: leave out one of generation and memory_map")
    content = None if isinstance(source, str) else source
    opens = None if secret is None else _known(secret)
    if memory_map:
        if not isinstance(source, str):
            raise ArgumentError("memory_map maps a file on the disk: pass its path, or leave memory_map out")
        from . import mapped as _map

        handle, lost = cast("_entasis.Handle", _map.MappedHandle.opened(source, limits, memory_map, opens)), None
    else:
        is_whole = whole or generation is not None
        fst = _of_fst(source, limits) if isinstance(source, str) and not is_whole else None
        handle = _entasis.Handle(source, limits, is_whole, opens) if fst is None else cast("_entasis.Handle", fst)
        if opens is not None and isinstance(source, str):
            _check_format(source)
        lost = handle.lost()
        if generation is not None:
            handle = handle.at_generation(generation)
    classes = _by_name(types)
    if classes:
        handle = handle.with_classes(classes)
    path = source if isinstance(source, str) else getattr(source, "name", _sources.IN_MEMORY)
    if lost is not None:
        # A copy of the file in another process opens the same generation.
        generation = handle.generation
        _warn_of(lost, path, generation)
    return OpenTable(handle, path, content=content, limits=limits, generation=generation, secret=secret)


def _known(secret: Secret) -> _entasis.Key | _entasis.Password | None:
    """The key or password of an encrypted file."""
    from entasis._arguments.secrets import known

    return known(secret)


def _check_format(path: str) -> None:
    """Refuse a key for a file of another format, which opens without one."""
    from entasis._arguments.secrets import is_encrypted

    try:
        is_encrypted(path)
    except NotEntasisError as error:
        message = "key= and password= are for encrypted Entasis files, and the file has another format"
        raise ArgumentError(message) from error


def _of_fst(path: str, limits: dict[str, int] | None) -> FstHandle | None:
    """The handle of a table of fst; None for other files."""
    if not path.lower().endswith(".fst"):
        # Those of other names are found once they can't be opened as files of Entasis.
        return None
    from . import fst as _fst

    return _fst.FstHandle.opened(path, limits)


def _by_name(types: Types | None) -> dict[str, type]:
    if not types:
        return {}
    from entasis._values import classes as _classes

    return _classes.by_name(types)


def _warn_of(lost: Damage, path: str, generation: int) -> None:
    """Warn that the current generation is damaged and another one was opened."""
    which = "the newest generation" if lost.generation is None else f"generation {lost.generation}"
    message = f"{which} of {path!r} is damaged, and generation {generation} was opened: {lost.message}"
    import warnings

    # The warning names the caller of `open` or `read`.
    warnings.warn(DamageWarning(printable(message), [lost], 1), stacklevel=5)


def closed(path: str) -> Any:
    """The table of a closed file."""
    return OpenTable(cast("_entasis.Handle", Closed(path)), path)
