"""Options that many functions take."""

from __future__ import annotations

import operator
from typing import Any, Literal

from entasis.errors import ArgumentError

# What to do with columns that the library which reads them has nothing for.
OnRefused = Literal["error", "skip"]

# No machine has as many.
_MOST_THREADS = 1 << 20


def threads(n: int | None) -> int | None:
    """A number of threads, checked; None for as many as there are processors."""
    if n is None:
        return None
    found = integer(n)
    if found is None or found < 1:
        raise ArgumentError(f"threads={n!r}: a positive integer, or None for as many as there are processors")
    return min(found, _MOST_THREADS)


def integer(n: Any) -> int | None:
    """An integer of Python or NumPy; None for what is no number, and for booleans."""
    if isinstance(n, bool):
        return None
    try:
        return operator.index(n)
    except TypeError:
        return None


def number(n: Any) -> int:
    """A number of rows, checked."""
    found = integer(n)
    if found is None:
        raise ArgumentError(f"n={shown(n)}: an integer")
    return found


def wait(seconds: float) -> float:
    """How long to wait for another writer, checked."""
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds >= 0:
        return float(seconds)
    raise ArgumentError(f"wait={seconds!r}: a number of seconds, 0 or more")


def shown(value: Any, most: int = 60) -> str:
    """A value in an error: scalars as they are, cut after `most` characters; others by their type."""
    if not isinstance(value, (str, bytes, bool, int, float, complex, tuple, slice)) and value is not None:
        kind = type(value)
        if getattr(value, "ndim", None) == 0 and hasattr(value, "dtype"):
            return f"an array of 0 dimensions ({value.dtype})"
        # Labels such as timestamps are told; what has parts by its type alone.
        if not hasattr(value, "__len__") and not hasattr(value, "__next__") and not hasattr(value, "__getitem__"):
            return _cut(value, most)
        module = kind.__module__
        name = kind.__name__ if module == "builtins" else f"{module.partition('.')[0]} {kind.__name__}"
        return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"
    return _cut(value, most)


def _cut(value: Any, most: int) -> str:
    if isinstance(value, (str, bytes)):
        value = value[: most + 1]
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Integers of more digits than Python prints.
        return f"a {type(value).__name__}"
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= most else text[: most - 3] + "..."


def durable(durable: bool | None) -> bool | None:
    """Whether a file is forced to the disk, checked."""
    if durable is None or isinstance(durable, bool):
        return durable
    raise ArgumentError(f"durable={durable!r}: True, False, or None for when it replaces one")


def on_refused(choice: str) -> None:
    """Checks what to do with columns that a library has nothing for."""
    if choice not in ("error", "skip"):
        raise ArgumentError(f"on_unsupported={choice!r}: 'error' or 'skip'")
