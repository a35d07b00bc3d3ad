"""Errors and warnings in the words of the command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from entasis._arguments.options import shown
from entasis.errors import ConversionError, ConversionWarning, EntasisError

if TYPE_CHECKING:
    import warnings
    from collections.abc import Sequence

    from entasis._convert.left_out import Loss

# Parameters with other names than their options.
_RENAMED = {"source_format": "from", "target_format": "to", "filter": "where", "dtypes": "type"}
_NAMES = (
    "source_format", "target_format", "filter", "dtypes", "columns", "rows", "compression", "functions", "verify",
    "strict", "threads", "wait", "drop", "spec", "sep", "quote", "escape", "header", "names", "na", "decimal",
    "thousands", "dates", "encoding", "comment", "skip", "fill", "on_error", "strings", "id", "max_field", "key",
    "tolerance", "limit",
)  # fmt: skip
_PARAMETER = re.compile(rf"(?<![\w.])({'|'.join(_NAMES)})=(?=(\S?))")
# Keys are not among the words of a command, and no option asks for plain files.
_KEY_FALSE = re.compile(r",? or key=False[^,;:.]*")
_KEYS = re.compile(r"key= or password=|key=(?= *$|[;,.])|password=(?= *$|[;,.])")
# The most columns that a line names.
_SHOWN = 5
# Categories that are for developers.
_HIDDEN = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


def of_error(error: Exception) -> str:
    """The message of an error."""
    if isinstance(error, ConversionError) and is_strict(error):
        return "nothing was written, because something would be lost"
    if isinstance(error, EntasisError):
        return options(str(error))
    if isinstance(error, MemoryError):
        return "the system refused memory"
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def options(message: str) -> str:
    """Name options of the command, where a message names parameters of Python."""

    def option(found: re.Match[str]) -> str:
        name = _RENAMED.get(found[1], found[1]).replace("_", "-")
        return f"--{name} " if found[2] else f"--{name}"

    message = _KEYS.sub("--key-file FILE or --password-file FILE", _KEY_FALSE.sub("", message))
    return _PARAMETER.sub(option, message)


def is_closed_pipe(error: BaseException) -> bool:
    """Whether the reader of the standard output closed it."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, BrokenPipeError):
            return True
        found = found.__cause__ or found.__context__
    return False


def is_strict(error: ConversionError) -> bool:
    """Whether an error is about losses, and not about a difference that was found afterwards."""
    return "can't hold everything" in str(error)


def of_losses(error: Exception, output: str | None) -> list[str]:
    """The losses that a strict conversion refused."""
    if isinstance(error, ConversionError) and is_strict(error):
        return _losses(error.losses, output)
    return []


def of_warnings(caught: Sequence[warnings.WarningMessage], output: str | None) -> list[str]:
    """Warnings as lines."""
    found: list[str] = []
    for one in caught:
        if isinstance(one.message, ConversionWarning):
            found += _losses(one.message.losses, output)
        elif not issubclass(one.category, _HIDDEN):
            text = str(one.message).partition(". Pass problems=True")[0]
            found.append(options(text.strip().partition("\n")[0]))
    return list(dict.fromkeys(found))


def _losses(losses: Sequence[Loss], output: str | None) -> list[str]:
    """A line for each reason, with the columns that it holds for."""
    columns: dict[str, list[str]] = {}
    for column, reason in losses:
        columns.setdefault(reason, []).extend([] if column is None else [shown(column)])
    target = "the standard output" if output is None else output
    return [f"{target}: {_of_columns(names)}{reason}" for reason, names in columns.items()]


def _of_columns(names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"column{'' if len(names) == 1 else 's'} {', '.join(names[:_SHOWN])}{more}: "
