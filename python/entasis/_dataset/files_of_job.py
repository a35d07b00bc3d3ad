"""Writes the files of a job: parts of frames, into a folder for each combination of keys."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._grow import hosts as _hosts_of
from entasis._grow.earlier import Earlier
from entasis._grow.fitting import Options
from entasis._grow.writer import Writer
from entasis.errors import ArgumentError

from .part import FileFacts, facts
from .partition import parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entasis._entasis import Destination
    from entasis._grow.rules import Rules

# The most files that are open at a time.
_MOST = 256

_NAME = re.compile(r"part-[0-9a-f]{16}-\d{5,}\.entasis")

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


class Job:
    """The files that a job writes. They are not part of the table before a manifest names them.

    Attributes
    ----------
    name
        The random name of the job, which is part of the names of its files.
    types
        The types of the keys, as far as they are known.
    """

    def __init__(
        self, folder: str, name: str, keys: Sequence[str], types: dict[str, str], to: Destination, rows: int | None
    ) -> None:
        self.folder, self.name, self.keys, self.types = folder, name, list(keys), types
        self._to, self._rows_per_file = to, rows
        # Open files by their keys, the one that was used last at the end: a writer, its relative
        # path, and its number of rows.
        self._open: dict[_Texts, tuple[Writer, str, int]] = {}
        self._done: list[tuple[str, _Texts]] = []
        self._n_files = 0
        self._made: list[str] = []
        self._proto: Any = None
        self._rules: Rules | None = None

    def declare(self, head: Any, host: str) -> None:
        """Set the columns, with the keys, that all rows have to fit."""
        self._rules = _hosts_of.rules(host)
        self._proto = head

    def add(self, frame: Any) -> int:
        """Write the rows of a frame, and return their number."""
        root = "numpy" if type(frame) is dict else type(frame).__module__.partition(".")[0]
        if self._rules is None:
            self._rules = _hosts_of.rules(root)
        rules = self._rules
        frame = rules.collect(frame)
        if self._proto is None:
            self._proto = rules.head(frame)
        else:
            declared = Options(False, False, Earlier(rules, lambda: None, [], 1), True)
            fitted = rules.fit(self._proto, frame, declared)
            if fitted.changes:
                raise ArgumentError("the types of the columns differ from those of the rows before: convert them")
            frame = fitted.part
            self._proto = rules.known(self._proto, frame)
        if not self.keys:
            self._put((), frame)
            return rules.length(frame)
        for texts, types, part in parts(frame, rules, self.keys):
            for key, kind in zip(self.keys, types, strict=True):
                if kind is not None and self.types.setdefault(key, kind) != kind:
                    raise ArgumentError(
                        f"the key {key!r} has values of types {self.types[key]} and {kind}: convert them"
                    )
            self._put(texts, part)
        return rules.length(frame)

    def _put(self, texts: _Texts, part: Any) -> None:
        assert self._rules is not None, "a frame was added"
        n, start = self._rules.length(part), 0
        while True:
            writer, path, before = self._open.pop(texts) if texts in self._open else self._begun(texts)
            most = n - start if self._rows_per_file is None else min(n - start, self._rows_per_file - before)
            whole = start == 0 and most == n
            writer.write(part if whole else self._of_own_index(self._rules.rows(part, start, start + most)))
            start += most
            self._open[texts] = writer, path, before + most
            if self._rows_per_file is not None and before + most >= self._rows_per_file:
                self._end(texts)
            if start >= n:
                return

    def _of_own_index(self, part: Any) -> Any:
        """Rows whose index counts from 0, if it only counts rows."""
        assert self._rules is not None, "a frame was added"
        if self._rules.HOST == "pandas":
            import pandas as pd

            return part.reset_index(drop=True) if type(part.index) is pd.RangeIndex else part
        return part

    def _begun(self, texts: _Texts) -> tuple[Writer, str, int]:
        """A new file."""
        if len(self._open) >= _MOST:
            self._end(next(iter(self._open)))
        names = [_entasis.folder_name(key, text) for key, text in zip(self.keys, texts, strict=True)]
        path = self._next("/".join(names))
        whole = self._path(path)
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
        self._done.append((path, texts))

    def whole(self, frame: Any, folder: str, texts: _Texts) -> FileFacts:
        """Write a frame, as it is, to a file in a folder with `/`, and return the facts of the file."""
        path = self._next(folder)
        with Writer({**self._to, "path": self._path(path)}, None, False) as writer:
            writer.write(frame)
        self._done.append((path, texts))
        return facts(self.folder, path, texts)

    def _next(self, folder: str) -> str:
        """The path of the next file in a folder with `/`."""
        name = f"part-{self.name}-{self._n_files:05}.entasis"
        self._n_files += 1
        return f"{folder}/{name}" if folder else name

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, *path.split("/"))

    def finish(self) -> list[FileFacts]:
        """End all files, and return their facts in the order of their paths."""
        for texts in list(self._open):
            self._end(texts)
        return sorted((facts(self.folder, path, texts) for path, texts in self._done), key=lambda part: part.path)

    def abort(self) -> None:
        """Remove all files of the job."""
        for writer, _, _ in self._open.values():
            writer.abort()
        self._open = {}
        for path, _ in self._done:
            with suppress(OSError):
                os.remove(self._path(path))
        # Folders that the job made, if nothing else is in them.
        for folder in reversed(self._made):
            with suppress(OSError):
                os.rmdir(folder)
