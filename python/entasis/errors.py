"""The exceptions. All are `EntasisError`, and most also derive from a matching builtin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._damage import Damage

# The longest message and quoted text, and the lengths of the begin and end that remain of a longer
# message.
_LONGEST, _QUOTED = 400, 120
_BEGIN, _END = 170, 120
# PyTorch raises a worker's error again, with the traceback as the message.
_OF_WORKER = re.compile(r"Caught \w+ in (DataLoader worker process \d+)\.\n.*\n[\w.]+: ([^\n]*)\n?", re.S)
_QUOTES = re.compile(rf"(['\"])([^'\"]{{{_QUOTED + 1},}})\1")


def escaped(text: str) -> str:
    """Escape the characters that a terminal acts on or does not show."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def printable(message: str) -> str:
    """Escape control characters of a message, and shorten long messages and quotations."""
    if len(message) <= _QUOTED and message.isprintable():
        return message
    # Cut before escaping. A character escapes to at most ten, so every shown part remains.
    message = escaped(_cut(message, 20 * _LONGEST, 10 * _LONGEST, 10 * _LONGEST))
    message = _QUOTES.sub(lambda found: f"{found[1]}{_cut(found[2], _QUOTED, 70, 40)}{found[1]}", message)
    return _cut(message, _LONGEST, _BEGIN, _END)


def _cut(text: str, longest: int, begin: int, end: int) -> str:
    return text if len(text) <= longest else f"{text[:begin]} ... {text[-end:]}"


class EntasisError(Exception):
    """The base class of all exceptions of this package.

    Messages shorten long names, paths and values. The attributes are complete.

    Attributes
    ----------
    file, column
        The path of the file and the name of the column, if known.
    block, page
        The number of the block within the column, and of the page within the block, if known.
    offset
        The offset in the file, in bytes, if known.

    Examples
    --------
    >>> try:
    ...     en.read("nothing.entasis")
    ... except en.EntasisError as error:
    ...     print(type(error).__name__, isinstance(error, FileNotFoundError))
    MissingFileError True
    """

    file: str | None = None
    column: str | None = None
    block: int | None = None
    page: int | None = None
    offset: int | None = None

    def __init__(self, message: str = "", *more: Any) -> None:
        text = str(message)
        found = _OF_WORKER.fullmatch(text)
        super().__init__(printable(f"{found[2]} (in {found[1]})" if found else text), *more)
        if found:
            self.add_note(text)

    def __str__(self) -> str:
        # KeyError would quote the message, and OSError would add the number of the error.
        return str(self.args[0]) if self.args else ""


class FileError(EntasisError, OSError):
    """The operating system refused to read or write."""


class BusyError(FileError, BlockingIOError):
    """Another writer did not finish within the time to wait."""


class MissingFileError(FileError, FileNotFoundError):
    """The file, or the directory for it, does not exist."""


class ExistingFileError(FileError, FileExistsError):
    """The file exists, and `overwrite=False` forbids to replace it."""


class ConflictError(FileError):
    """Another job changed a data set meanwhile, and this change would lose its rows."""


class DirectoryError(FileError, IsADirectoryError):
    """The path is a directory."""


class NotADirectoryFileError(FileError, NotADirectoryError):
    """A parent in the path is not a directory."""


class FilePermissionError(FileError, PermissionError):
    """The file or its directory may not be read or written."""


class NotEntasisError(EntasisError, ValueError):
    """The file is not an Entasis file."""


class NewerVersionError(EntasisError, ValueError):
    """The file needs a newer version of this package."""


class CorruptFileError(EntasisError, ValueError):
    """The file is damaged: it was truncated, or some bytes changed.

    Attributes
    ----------
    damages
        The first 100 damaged places as a list of `Damage`, if `verify` found the damage. Other
        functions report the first damage that they meet, and leave the list empty.
    n_damages
        How many damaged places `verify` found.
    n_columns, n_sound_columns
        How many columns the file has, with labels and parts of nested columns, and how many of
        them are sound. Zero if another function found the damage.
    generations
        The numbers of the damaged generations, ascending, if `verify` found the damage, or if the
        current generation can't be opened. The message says whether the newest one is sound.
    """

    damages: Sequence[Damage] = ()
    n_damages: int = 0
    n_columns: int = 0
    n_sound_columns: int = 0
    generations: tuple[int, ...] = ()


class DamageWarning(UserWarning):
    """Values of damaged blocks became missing, or an earlier generation was read.

    Reading with `on_damage="missing"` gives this warning, and so does `generation=` if the current
    generation can't be opened.

    Attributes
    ----------
    damages
        The first 100 damaged places of the file, as a list of `Damage`.
    n_damages
        How many damaged places the file has.
    """

    damages: Sequence[Damage] = ()
    n_damages: int = 0

    def __init__(self, message: str, damages: Sequence[Damage] = (), n_damages: int = 0) -> None:
        super().__init__(message)
        self.damages, self.n_damages = damages, n_damages


class WrongKeyError(EntasisError, ValueError):
    """An encrypted file was opened without a key or password, or with one that does not open it."""


class TamperedError(EntasisError, ValueError):
    """An encrypted file was changed by someone without its key. None of the changed bytes is read."""


class UnsupportedTypeError(EntasisError, TypeError):
    """A type or value can't be stored exactly, or the target library lacks it."""


class NotMappableError(EntasisError, ValueError):
    """With `memory_map=True`, a column, an array or the selected rows can't be a view of the file.

    Pass `memory_map="auto"`, which reads these, choose other columns or consecutive rows, or write
    the file with `compression=0`.
    """


class ColumnNotFoundError(EntasisError, KeyError):
    """No column has this label or position."""


class ColumnsOutOfRangeError(ColumnNotFoundError, IndexError):
    """A position of a column is out of range."""


class RowNotFoundError(EntasisError, KeyError):
    """No row has this label."""


class ClosedFileError(EntasisError, ValueError):
    """A closed file was used."""


class DuplicateColumnError(EntasisError, ValueError):
    """Several columns have a name that has to be unique here."""


class RowsOutOfRangeError(EntasisError, IndexError):
    """A position of a row is out of range."""


class ArgumentError(EntasisError, ValueError):
    """An argument has a wrong value or type."""


class ProblemError(ArgumentError):
    """A text has places that do not fit: rows of other lengths, values of other types, other bytes.

    Attributes
    ----------
    problems
        The places: row, line, byte, column, text, what was expected. The first 100,000 are kept,
        and `problems.n` counts all up to the part of the text that ended the reading.
    """

    problems: Any


class ProblemWarning(UserWarning):
    """Places of a text did not fit, and were made missing or left out.

    Attributes
    ----------
    problems
        The places, as for `ProblemError`.
    """

    def __init__(self, message: str, problems: Any = None) -> None:
        super().__init__(message)
        self.problems = problems


class CsvWarning(UserWarning):
    """Something about a text was decided that may not be meant, such as its encoding."""


class ConversionError(EntasisError, ValueError):
    """A conversion with `strict=True` would lose something, or `verify=True` found a difference.

    Attributes
    ----------
    losses
        What the target can't hold: pairs of a column, None for the whole table, and the reason.
    """

    losses: Sequence[tuple[Any, str]] = ()

    def __init__(self, message: str = "", *more: Any, losses: Sequence[tuple[Any, str]] = ()) -> None:
        super().__init__(message, *more)
        self.losses = list(losses)


class ConversionWarning(UserWarning):
    """The target of a conversion can't hold everything that the source has.

    Attributes
    ----------
    losses
        Pairs of a column, None for the whole table, and the reason.
    """

    def __init__(self, message: str, losses: Sequence[tuple[Any, str]] = ()) -> None:
        super().__init__(message)
        self.losses = list(losses)


class NotAFrameError(EntasisError, AttributeError):
    """A method of frames was used on another value."""


class LimitError(EntasisError, ValueError):
    """The file exceeds a limit of the reader."""


class OutOfMemoryError(EntasisError, MemoryError):
    """The system refused memory. The message says how much was asked for.

    Free some memory, or read or write fewer columns or rows at once.
    """


class InternalError(EntasisError, RuntimeError):
    """A defect of this package, or a library with an unknown interface.

    The message has all versions.
    """


class MissingLibraryError(EntasisError, ImportError):
    """A needed library is not installed."""


# Written out, because type checkers do not evaluate a comprehension.
__all__ = [
    "ArgumentError",
    "BusyError",
    "ClosedFileError",
    "ColumnNotFoundError",
    "ColumnsOutOfRangeError",
    "ConflictError",
    "ConversionError",
    "ConversionWarning",
    "CorruptFileError",
    "CsvWarning",
    "DamageWarning",
    "DirectoryError",
    "DuplicateColumnError",
    "EntasisError",
    "ExistingFileError",
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
    "OutOfMemoryError",
    "ProblemError",
    "ProblemWarning",
    "RowNotFoundError",
    "RowsOutOfRangeError",
    "TamperedError",
    "UnsupportedTypeError",
    "WrongKeyError",
]
