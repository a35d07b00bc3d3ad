"""Files as one table: opens a file when its rows are needed, and compares its columns."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._file.file import File, is_frame
from entasis._open import open_value
from entasis._view.table import OpenTable
from entasis._view.view import View
from entasis.errors import ArgumentError, CorruptFileError, EntasisError, MissingFileError

from .ahead import OPENED, in_turn
from .part import first_label
from .paths import check_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .files import Files
    from .manifest import Manifest

# The most files that an error lists.
_LISTED = 10
# How many joined tables are kept.
_MOST_JOINED = 4
# How many files are worth joining. More take seconds before the first row.
_FEW, _MANY = 4, 4096


class Table:
    """Files whose rows follow each other. The first file has the columns and their types.

    Attributes
    ----------
    files
        The files.
    manifest
        The manifest, if the folder has one.
    fills
        Whether a column that a file lacks is missing there.
    n_opened
        How often a file was opened.
    """

    __slots__ = (
        "_columns",
        "_counted",
        "_first",
        "_firsts",
        "_joined",
        "_keys",
        "_n_rows",
        "files",
        "fills",
        "manifest",
        "n_opened",
    )

    def __init__(self, files: Files, *, fills: bool, manifest: Manifest | None = None) -> None:
        self.files, self.fills, self.manifest, self.n_opened = files, fills, manifest, 0
        self._n_rows = {} if files.pins is None else {i: pin.n_rows for i, pin in enumerate(files.pins)}
        # The label of the first row of each file that was opened, if labels count its rows.
        self._firsts: dict[int, int | None] = {}
        # The number of files whose labels count rows, as far as known, their rows, and the first
        # file with other labels.
        self._counted: tuple[int, int, int | None] = 0, 0, None
        self._first: View | None = None
        self._keys: File | None = None
        # Files as one, by their numbers.
        self._joined: dict[tuple[int, ...], View | None] = {}
        # The names of the columns of all files with the number of the first file that has each.
        self._columns: dict[str, int] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        files = self.files
        if files.secret is not None:
            from entasis._arguments.secrets import for_pickle

            files = files._replace(secret=for_pickle(files.secret))
        return _reopened, (files, self.fills)

    @property
    def first(self) -> View:
        """The first file."""
        if self._first is None:
            if not self.files.paths:
                raise ArgumentError(f"the data set {shown(self.files.name, 200)} has no files: append rows to it")
            self._first = self.alone(0)
            for name in self.files.keys.names:
                if name in self._first.names():
                    raise ArgumentError(
                        f"the key {shown(name)} is a column of {shown(self.files.paths[0], 200)} too: pass hive=False"
                    )
        return self._first

    @property
    def keys(self) -> File:
        """A table with the keys of each file."""
        if self._keys is None:
            self._keys = self.files.keys.table()
        return self._keys

    def view(self, number: int) -> View:
        """Open a file. Its columns have the names of those of the first one, in any order."""
        first = self.first
        if number == 0:
            return first
        view = self.alone(number)
        if not self.fills and set(view.names()) != set(first.names()):
            raise self._different()
        return view

    def views(self, numbers: Iterable[int], *, slowly: bool = False) -> Iterator[tuple[int, View]]:
        """Open files in their order. On a store the next ones are opened meanwhile.

        With `slowly`, few are opened ahead at first, as the caller may need the first ones alone.
        """
        if self.files.store is None:
            for number in numbers:
                yield number, self.view(number)
            return
        # Files are compared with the first one, which no other thread has to open then.
        self.first  # noqa: B018
        yield from in_turn((partial(self._numbered, number) for number in numbers), OPENED, 1 if slowly else OPENED)

    def _numbered(self, number: int) -> list[tuple[int, View]]:
        return [(number, self.view(number))]

    def n_rows(self, number: int) -> int:
        """The number of rows of a file."""
        if number not in self._n_rows:
            self.view(number)
        return self._n_rows[number]

    def length(self) -> int:
        """The number of all rows. Opens files whose number of rows is unknown."""
        unknown = [number for number in range(len(self.files.paths)) if number not in self._n_rows]
        # Without unknown files not even the first one is opened.
        for _ in self.views(unknown) if unknown else ():
            pass
        return sum(self._n_rows.values())

    def first_rows(self) -> list[int] | None:
        """The number of the first row of each file, and the number of all rows.

        None if a file has to be opened for that.
        """
        n_files = len(self.files.paths)
        if len(self._n_rows) < n_files:
            return None
        return list(accumulate((self._n_rows[number] for number in range(n_files)), initial=0))

    def columns(self) -> dict[str, int]:
        """The names of the columns, without keys, with the number of the first file that has each.

        With `fills` all files are opened.
        """
        if self._columns is None:
            found = dict.fromkeys(self.first.names(), 0)
            others = range(1, len(self.files.paths) if self.fills else 0)
            for number, view in self.views(others):
                for name in view.names():
                    found.setdefault(name, number)
            self._columns = found
        return self._columns

    def joined(self, numbers: Sequence[int]) -> View | None:
        """Some files as one, with the keys as its last columns.

        None for few or very many files, for files on stores, for encrypted ones, and for files
        whose columns have different forms or that are damaged: these are read one by one.
        """
        known = tuple(numbers)
        if not _FEW <= len(known) <= _MANY or self.files.store is not None or self.files.secret is not None:
            return None
        if known not in self._joined:
            while len(self._joined) >= _MOST_JOINED:
                # Another thread may have dropped it.
                self._joined.pop(next(iter(self._joined)), None)
            self._joined[known] = self._join(known)
        return self._joined.get(known)

    def _join(self, numbers: tuple[int, ...]) -> View | None:
        files = self.files.of(numbers)
        pins = files.pins
        states = None if pins is None else [(pin.length, pin.end, pin.generation, pin.n_rows) for pin in pins]
        keys = files.keys.names, files.keys.types, files.keys.texts
        try:
            handle = _entasis.joined_files(files.name, files.paths, states, keys)
        except EntasisError:
            # Reading file by file says which one it is.
            return None
        if handle is None:
            return None
        self.n_opened += len(numbers)
        return View(OpenTable(handle, files.name))

    def alone(self, number: int) -> View:
        """Open a file, without a comparison with the first one."""
        path = self.files.paths[number]
        file = self._pinned(number)
        self.n_opened += 1
        if not is_frame(file):
            raise ArgumentError(f"{shown(path, 200)} holds no table: leave it out")
        pin = None if self.files.pins is None else self.files.pins[number]
        if pin is not None and file.n_rows != pin.n_rows:
            raise self._other(number, f"has {file.n_rows} rows, and the manifest says {pin.n_rows}")
        view: View = file._view
        self._firsts[number] = first_label(view)
        if pin is not None and pin.is_counted not in (None, self._firsts[number] == 0):
            raise self._other(number, "has other labels of rows than the manifest says")
        self._n_rows[number] = file.n_rows
        return view

    def first_label(self, number: int) -> int | None:
        """The label of the first row of a file, if labels count rows in it and in all files before.

        None if they do not. Without a manifest these files were opened, to number their rows.
        """
        i, n, stop = self._counted
        while stop is None and i <= number:
            if self._first_label(i) not in (0, n):
                stop = i
            else:
                i, n = i + 1, n + self.n_rows(i)
        # Other threads find the same.
        self._counted = i, n, stop
        return self._first_label(number) if stop is None or number < stop else None

    def _first_label(self, number: int) -> int | None:
        if self.files.pins is None:
            return self._firsts[number]
        return None if self.files.pins[number].is_counted is False else 0

    def _pinned(self, number: int) -> Any:
        """Open a file in the state that the manifest has."""
        path, pins = self.files.paths[number], self.files.pins
        if pins is None:
            return open_value(self.files.source(number), self.files.secret)
        pin = pins[number]
        if self.files.store is None:
            check_links(self.files.name, path)
        try:
            source = self.files.source(number)
            file: Any = open_value(source, self.files.secret)
        except MissingFileError as error:
            raise MissingFileError(
                f"the manifest of {shown(self.files.name, 200)} names {shown(path, 200)}, which does not exist"
            ) from error
        state = pin.length - len(pin.end), pin.end
        if file._handle.fingerprint() == state:
            return file
        if any(generation[0] == pin.generation for generation in file._handle.generations()):
            # Rows that were appended to the file alone are not in the table.
            earlier = File(source, generation=pin.generation, key=self.files.secret)
            if earlier._handle.fingerprint() == state:
                return earlier
        raise CorruptFileError(
            f"{shown(path, 200)} was changed after the manifest of {shown(self.files.name, 200)} named it, and its "
            "earlier state is gone"
        )

    def _other(self, number: int, said: str) -> CorruptFileError:
        """The error for a file that a manifest describes wrongly."""
        path = self.files.paths[number]
        error = CorruptFileError(f"{shown(path, 200)} {said}: the manifest is damaged or forged")
        error.file = path
        return error

    def _different(self) -> ArgumentError:
        """The error for files whose columns differ from those of the first one. Opens all files."""
        names = self.first.names()
        found = []
        for number, path in enumerate(self.files.paths):
            others = self.alone(number).names()
            lacks = [name for name in names if name not in others]
            more = [name for name in others if name not in names]
            if lacks or more:
                parts = [f"lacks {_listed(lacks)}"] if lacks else []
                found.append(
                    f"{shown(path, 200)} {' and '.join([*parts, f'also has {_listed(more)}'] if more else parts)}"
                )
        rest = f", and {len(found) - _LISTED} other files differ" if len(found) > _LISTED else ""
        return ArgumentError(
            f"files have other columns than {shown(self.files.paths[0], 200)}: {'; '.join(found[:_LISTED])}{rest}. "
            "missing_columns='missing' fills them"
        )


def _reopened(files: Files, fills: bool) -> Table:
    return Table(files, fills=fills)


def _listed(names: list[str]) -> str:
    """A few names for a message."""
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(shown(name) for name in names[:3]) + rest
