"""The exceptions of this package: all are `EntasisError`, and each is also the builtin that fits."""

from __future__ import annotations

import re
from typing import Any

# Characters of a message, of a text that it quotes, and of what is left of a longer one at its begin and at its end.
_LONGEST, _QUOTED = 400, 120
_BEGIN, _END = 170, 120
_QUOTES = re.compile(rf"(['\"])([^'\"]{{{_QUOTED + 1},}})\1")


def printable(message: str) -> str:
    """A message with control characters escaped, and long quoted texts and what is longer still cut in the middle."""
    if len(message) <= _QUOTED and message.isprintable():
        return message
    # Escaping makes ten characters of one at most: nothing beyond these is shown.
    message = _cut(message, 20 * _LONGEST, 10 * _LONGEST, 10 * _LONGEST)
    if not message.isprintable():
        message = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in message)
    message = _QUOTES.sub(lambda found: f"{found[1]}{_cut(found[2], _QUOTED, 70, 40)}{found[1]}", message)
    return _cut(message, _LONGEST, _BEGIN, _END)


def _cut(text: str, longest: int, begin: int, end: int) -> str:
    return text if len(text) <= longest else f"{text[:begin]} ... {text[-end:]}"


class EntasisError(Exception):
    """The root of all exceptions of this package.

    Where known, the attributes say where it happened: `file`, `column`, `block`, `page`, `offset`. They are whole,
    while the message shortens long names, paths and values.
    """

    file: str | None = None
    column: str | None = None
    block: int | None = None
    page: int | None = None
    offset: int | None = None

    def __init__(self, message: str = "", *more: Any) -> None:
        super().__init__(printable(str(message)), *more)

    def __str__(self) -> str:
        # KeyError and OSError show something else than the message.
        return str(self.args[0]) if self.args else ""


class FileError(EntasisError, OSError):
    """The operating system refused to read or write."""


class BusyError(FileError, BlockingIOError):
    """Another writer is at work on the file, and was not done within the time to wait."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file, or no such directory for it."""


class DirectoryError(FileError, IsADirectoryError):
    """The path is a directory."""


class NotADirectoryFileError(FileError, NotADirectoryError):
    """A part of the path is no directory."""


class FilePermissionError(FileError, PermissionError):
    """The file or its directory may not be read or written."""


class NotEntasisError(EntasisError, ValueError):
    """The file is something else."""


class NewerVersionError(EntasisError, ValueError):
    """The file needs a newer version of this package."""


class CorruptFileError(EntasisError, ValueError):
    """The file is damaged: truncated, or bytes of it changed."""


class UnsupportedTypeError(EntasisError, TypeError):
    """A type, or a value beside the columns, that can't be kept exactly yet, or that the target doesn't have."""


class NotMappableError(EntasisError, ValueError):
    """With `memory_map=True` a column, or the rows, can't be a view of the file.

    Choose other columns with `columns=[...]` or neighbouring rows, write the file with `compression=0`, or read it
    without `memory_map`.
    """


class ColumnNotFoundError(EntasisError, KeyError):
    """There is no column of this name or at this position."""


class ColumnsOutOfRangeError(ColumnNotFoundError, IndexError):
    """There is no column at this position."""


class RowNotFoundError(EntasisError, KeyError):
    """There is no row of this label."""


class ClosedFileError(EntasisError, ValueError):
    """The file was closed, and was asked for something."""


class DuplicateColumnError(EntasisError, ValueError):
    """A name stands for several columns where only one will do."""


class RowsOutOfRangeError(EntasisError, IndexError):
    """There are no such rows."""


class ArgumentError(EntasisError, ValueError):
    """An argument makes no sense."""


class NotAFrameError(EntasisError, AttributeError):
    """What was asked for is of frames, and the value is another one."""


class LimitError(EntasisError, MemoryError):
    """A limit of the reader, or the memory, was reached."""


class InternalError(EntasisError, RuntimeError):
    """A defect of this package, or a library whose interface it does not know. The message has the versions."""


class MissingLibraryError(EntasisError, ImportError):
    """A library is needed that is not installed."""


# Written out: type checkers don't run a comprehension.
__all__ = [
    "ArgumentError",
    "BusyError",
    "ClosedFileError",
    "ColumnNotFoundError",
    "ColumnsOutOfRangeError",
    "CorruptFileError",
    "DirectoryError",
    "DuplicateColumnError",
    "EntasisError",
    "FileError",
    "FilePermissionError",
    "InternalError",
    "LimitError",
    "MissingFileError",
    "MissingLibraryError",
    "NewerVersionError",
    "NotADirectoryFileError",
    "NotAFrameError",
    "NotEntasisError",
    "NotMappableError",
    "RowNotFoundError",
    "RowsOutOfRangeError",
    "UnsupportedTypeError",
]
