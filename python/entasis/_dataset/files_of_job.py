"""Writes the files of a job: parts of frames, into a folder for each combination of keys."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._grow import hosts as _hosts_of
from entasis._grow.earlier import Earlier
from entasis._grow.fitting import Options
from entasis._grow.writer import Writer
from entasis._open import open_value
from entasis._write import write_whole
from entasis.errors import ArgumentError, ColumnNotFoundError

from .part import FileFacts, facts
from .partition import parts
from .paths import check_links

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from entasis._entasis import Destination
    from entasis._grow.rules import Rules
    from entasis._stores.listing import Folder

# The most files that are open at a time.
_MOST = 256
# The most bytes of rows that wait in all open files. At least a block of rows waits in each.
_COLLECTED = 256 << 20

_NAME = re.compile(r"part-[0-9a-f]{16}-[0-9]{5,}\.entasis")

_Texts = tuple[str | None, ...]


def is_of_job(path: str) -> bool:
    """Whether a path is that of a file that a job writes."""
    return _NAME.fullmatch(path.rpartition("/")[2]) is not None


def _force(folder: str) -> None:
    """Force the names in a folder to the disk, where the system can."""
    if os.name != "posix":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _counts(frame: Any, *, from_zero: bool) -> bool:
    """Whether the index of a frame only counts its rows, from 0 or from any number on."""
    root = type(frame).__module__.partition(".")[0]
    if root not in ("pandas", "static_frame") or not len(frame.index):
        return True
    if root == "pandas":
        import pandas as pd

        if type(frame.index) is pd.RangeIndex:
            return frame.index.step == 1 and (frame.index.start == 0 or not from_zero)
        return not from_zero and frame.index.equals(pd.RangeIndex(len(frame.index)))
    labels = frame.index.values
    if frame.index.depth != 1 or labels.dtype.kind != "i" or (from_zero and labels[0] != 0):
        return False
    return bool((labels == range(labels[0], labels[0] + len(labels))).all())


class Job:
    """The files that a job writes. They are not part of the table before a manifest names them.

    Attributes
    ----------
    name
        The random name of the job, which is part of the names of its files.
    types
        The types of the keys, as far as they are known.
    store
        The folder on a store to which files are sent when they are written; None on the disk.
    columns
        The names and types of the columns of the first file that was ended; None before.
    prefix
        Digits before the number of a file in its name, by which tasks of a job have other names.
    names_keys
        Whether the paths of files have the values of keys.
    secret
        What encrypts the files; None for plain ones.
    """

    def __init__(
        self,
        folder: str,
        name: str,
        keys: Sequence[str],
        types: dict[str, str],
        to: Destination,
        rows: int | None,
        store: Folder | None = None,
        prefix: str = "",
        *,
        names_keys: bool = True,
    ) -> None:
        self.prefix, self.names_keys, self.secret = prefix, names_keys, to["secret"]
        self.columns: list[tuple[str, str]] | None = None
        self.folder, self.name, self.keys, self.types, self.store = folder, name, list(keys), types, store
        self._to, self._rows_per_file = to, rows
        # Open files by their keys, the one that was used last at the end: a writer, its relative
        # path, and its number of rows.
        self._open: dict[_Texts, tuple[Writer, str, int]] = {}
        self._done: list[str] = []
        self._facts: list[FileFacts] = []
        self._n_files = 0
        self._made: list[str] = []
        self._proto: Any = None
        self._rules: Rules | None = None
        # Keys whose values were all missing in the table, or in the first frame. Their columns have
        # no type that others must fit.
        self._free: list[str] = []
        # Whether the labels of rows are their numbers, which begin with 0 in each file. None before
        # the first row.
        self._is_counted: bool | None = None

    def declare(self, head: Any, host: str, free: list[str], *, is_counted: bool) -> None:
        """Set the columns, with the keys, that all rows have to fit. Keys in `free` have no type."""
        self._rules, self._free = _hosts_of.rules(host), free
        self._is_counted = is_counted
        self._proto = self._without_free(head)

    def add(self, frame: Any) -> int:
        """Write the rows of a frame, and return their number."""
        root = "numpy" if type(frame) is dict else type(frame).__module__.partition(".")[0]
        if self._rules is None:
            self._rules = _hosts_of.rules(root)
        rules = self._rules
        whole = rules.collect(frame)
        frame = self._without_free(whole)
        is_first = self._proto is None
        if is_first:
            self._proto = rules.head(frame)
        else:
            declared = Options(False, False, Earlier(rules, lambda: None, [], 1), True)
            fitted = rules.fit(self._proto, frame, declared)
            if fitted.changes:
                raise ArgumentError("the types of the columns differ from those of the rows before: convert them")
            frame = fitted.part
            self._proto = rules.known(self._proto, frame)
        if self._is_counted is None and rules.length(whole):
            self._is_counted = _counts(whole, from_zero=True)
        if self._is_counted and not _counts(whole, from_zero=False):
            # A file has labels that count rows, or labels that are stored. From here on they are.
            for texts in list(self._open):
                self._end(texts)
            self._is_counted = False
        if not self.keys:
            self._put((), frame)
            return rules.length(frame)
        columns = {key: rules.column(whole, rules.labels(whole).index(key)) for key in self._free}
        for texts, types, part in parts(frame, rules, self.keys, columns):
            for key, kind in zip(self.keys, types, strict=True):
                if kind is not None and self.types.setdefault(key, kind) != kind:
                    raise ArgumentError(
                        f"the key {key!r} has values of types {self.types[key]} and {kind}: convert them"
                    )
            self._put(texts, part)
        if is_first:
            self._free = [key for key in self.keys if key not in self.types]
            self._proto = self._without_free(self._proto)
        return rules.length(frame)

    def _without_free(self, frame: Any) -> Any:
        """The columns of a frame whose types are set."""
        if not self._free:
            return frame
        assert self._rules is not None, "only a declaration leaves types open"
        labels = self._rules.labels(frame)
        for key in self._free:
            if key not in labels:
                raise ColumnNotFoundError(f"the rows have no column {shown(key)}, a key of the table")
        return self._rules.take(frame, [i for i, label in enumerate(labels) if label not in self._free])

    def _put(self, texts: _Texts, part: Any) -> None:
        assert self._rules is not None, "a frame was added"
        n, start = self._rules.length(part), 0
        while True:
            writer, path, before = self._open.pop(texts) if texts in self._open else self._begun(texts)
            most = n - start if self._rows_per_file is None else min(n - start, self._rows_per_file - before)
            rows = part if start == 0 and most == n else self._rules.rows(part, start, start + most)
            writer._collects = min(writer._collects, _COLLECTED // (len(self._open) + 1))
            writer.write(self._counted(rows, before) if self._is_counted else rows)
            start += most
            self._open[texts] = writer, path, before + most
            if self._rows_per_file is not None and before + most >= self._rows_per_file:
                self._end(texts)
            if start >= n:
                return

    def _counted(self, part: Any, start: int) -> Any:
        """Rows for a file that has `start` rows, with an index that counts on."""
        assert self._rules is not None, "a frame was added"
        if self._rules.HOST == "pandas":
            import pandas as pd

            return part.set_axis(pd.RangeIndex(start, start + len(part), name=part.index.name))
        if self._rules.HOST == "static_frame":
            import static_frame as sf

            return part.relabel(sf.IndexAutoFactory)
        return part

    def _begun(self, texts: _Texts) -> tuple[Writer, str, int]:
        """A new file."""
        if len(self._open) >= _MOST:
            self._end(next(iter(self._open)))
        pairs = zip(self.keys, texts, strict=True) if self.names_keys else ()
        names = [_entasis.folder_name(key, text) for key, text in pairs]
        path = self._next("/".join(names))
        whole = self._path(path)
        check_links(self.folder, os.path.dirname(whole))
        self._make(os.path.dirname(whole))
        return Writer({**self._to, "path": whole}, None, False), path, 0

    def _make(self, folder: str) -> None:
        """Make a folder, and keep in mind which ones were made."""
        lacking = []
        while not os.path.isdir(folder):
            lacking.append(folder)
            folder = os.path.dirname(folder) or "."
        for each in reversed(lacking):
            os.makedirs(each, exist_ok=True)
            self._made.append(each)
            if self._to["durable"]:
                _force(os.path.dirname(each) or ".")

    def _end(self, texts: _Texts) -> None:
        writer, path, _ = self._open.pop(texts)
        writer.close()
        if self.columns is None:
            file: Any = open_value(self._path(path), self.secret)
            self.columns = list(zip(*file._view.schema(), strict=True))
        self._facts.append(self._sent(path, texts))

    def whole(self, frame: Any, folder: str, texts: _Texts, show: Callable[[int, int | None], Any] | None) -> FileFacts:
        """Write a frame, as it is, to a file in a folder with `/`, and return the facts of the file.

        `show` is called with the values that were written, and with all.
        """
        path = self._next(folder)
        self._make(os.path.dirname(self._path(path)))
        write_whole(frame, {**self._to, "path": self._path(path), "progress": show}, None, "error")
        return self._sent(path, texts)

    def _sent(self, path: str, texts: _Texts) -> FileFacts:
        """The facts of a file that was written, which is sent to the store if there is one."""
        self._done.append(path)
        found = facts(self.folder, path, texts, self.secret)
        if self.store is not None:
            self.store.put(path, Path(self._path(path)))
            os.remove(self._path(path))
        return found

    def _next(self, folder: str) -> str:
        """The path of the next file in a folder with `/`."""
        name = f"part-{self.name}-{self.prefix}{self._n_files:05}.entasis"
        self._n_files += 1
        return f"{folder}/{name}" if folder else name

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, *path.split("/"))

    def finish(self) -> list[FileFacts]:
        """End all files, and return their facts in the order of their paths."""
        for texts in list(self._open):
            self._end(texts)
        return sorted(self._facts, key=lambda part: part.path)

    def abort(self) -> None:
        """Remove all files of the job."""
        for writer, _, _ in self._open.values():
            writer.abort()
        self._open = {}
        for path in self._done:
            with suppress(OSError):
                if self.store is not None:
                    self.store.delete(path)
                else:
                    os.remove(self._path(path))
        # Folders that the job made, if nothing else is in them.
        for folder in reversed(self._made):
            with suppress(OSError):
                os.rmdir(folder)
