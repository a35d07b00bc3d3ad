"""Options that many functions take."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from entasis._typing import Limits

# The compression of new files, from 0 (raw) to 100 (smallest).
DEFAULT_COMPRESSION = 50
# More threads than any machine has.
_MOST_THREADS = 1 << 20
# The bytes of a key.
_KEY_LEN = 32
# The largest limit.
_MOST = 2**64 - 1


def threads(n: int | None) -> int | None:
    """Check a number of threads. None means one per processor."""
    if n is None:
        return None
    found = integer(n)
    if found is None or found < 1:
        raise ArgumentError(f"threads={shown(n)}: a positive integer, or None for as many as there are processors")
    return min(found, _MOST_THREADS)


def integer(n: Any) -> int | None:
    """Convert an integer of Python or NumPy. Returns None for booleans and all other types."""
    if isinstance(n, bool):
        return None
    try:
        return operator.index(n)
    except TypeError:
        return None


def integer_between(name: str, value: Any, meaning: str, low: int, high: int | None) -> int:
    """Check an integer from `low` to `high`."""
    n = integer(value)
    if n is None or n < low or (high is not None and n > high):
        raise ArgumentError(f"{name}={shown(value)}: {meaning}")
    return n


def edition(number: int) -> int:
    """Check the number of an edition. The core checks that it is known."""
    return integer_between("edition", number, "the number of an edition, or None for the newest", 0, 255)


def keep(generations: Any) -> tuple[int, int]:
    """Check how many generations to keep: the code of a unit in the format, and a number."""
    n = integer(generations)
    if n is not None and 0 < n <= _MOST:
        return 1, n
    days, seconds, microseconds = (getattr(generations, unit, None) for unit in ("days", "seconds", "microseconds"))
    if isinstance(days, int) and isinstance(seconds, int) and isinstance(microseconds, int):
        nanoseconds = ((days * 86_400 + seconds) * 1_000_000 + microseconds) * 1_000
        if 0 < nanoseconds <= _MOST:
            return 2, nanoseconds
    raise ArgumentError(f"keep={shown(generations)}: a number of earlier generations, 1 or more, or a timedelta")


def limits(found: Limits | None) -> dict[str, int] | None:
    """Check limits. The core checks their names when it opens the file."""
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise ArgumentError(f"limits={shown(found)}: a dict of integers, such as {{'n_columns': 1_000}}")
    checked = {}
    for name, value in found.items():
        n = integer(value)
        if not isinstance(name, str) or n is None or n < 0:
            raise ArgumentError(f"limits={{{shown(name)}: {shown(value)}}}: names of limits with integers, 0 or more")
        checked[name] = min(n, _MOST)
    return checked


def number(n: Any) -> int:
    """Check a number of rows."""
    found = integer(n)
    if found is None:
        raise ArgumentError(f"n={shown(n)}: an integer")
    return found


def wait(seconds: float) -> float:
    """Check how many seconds to wait for another writer."""
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds >= 0:
        return float(seconds)
    raise ArgumentError(f"wait={shown(seconds)}: a number of seconds, 0 or more")


def shown(value: Any, most: int = 60) -> str:
    """A value for an error message: a scalar cut after `most` characters, else the type.

    Bytes that may be a key are not shown.
    """
    if isinstance(value, bytes) and len(value) == _KEY_LEN:
        return f"{_KEY_LEN} bytes"
    if not isinstance(value, (str, bytes, bool, int, float, complex, tuple, slice)) and value is not None:
        kind = type(value)
        if getattr(value, "ndim", None) == 0 and hasattr(value, "dtype"):
            return f"an array of 0 dimensions ({value.dtype})"
        # Shows labels such as timestamps. For a value with parts, shows the type.
        if not hasattr(value, "__len__") and not hasattr(value, "__next__") and not hasattr(value, "__getitem__"):
            return _cut(value, most)
        module = kind.__module__
        name = kind.__name__ if module == "builtins" else f"{module.partition('.')[0]} {kind.__name__}"
        return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"
    return _cut(value, most)


def close_to(label: Any, known: Iterable[Any], most: int = 10_000) -> str:
    """A hint for an error about a missing label: similar labels among the first `most`."""
    from difflib import get_close_matches

    by_text: dict[str, Any] = {}
    for other in islice(known, most):
        by_text.setdefault(str(other), other)
    text = str(label)
    close = [other for other in by_text if other.casefold() == text.casefold()]
    close += [other for other in get_close_matches(text, by_text, n=3) if other not in close]
    return f"; close to it: {', '.join(shown(by_text[text]) for text in close[:3])}" if close else ""


def _cut(value: Any, most: int) -> str:
    if isinstance(value, (str, bytes)):
        value = value[: most + 1]
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Python refuses to print integers of very many digits.
        return f"a {type(value).__name__}"
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= most else text[: most - 3] + "..."


def durable(durable: bool | None) -> bool | None:
    """Check whether a file is forced to the disk."""
    if durable is None or isinstance(durable, bool):
        return durable
    raise ArgumentError(f"durable={shown(durable)}: True, False, or None for when it replaces one")


def on_refused(choice: str) -> None:
    """Check the option for columns whose type a library lacks."""
    if choice not in ("error", "skip"):
        raise ArgumentError(f"on_unsupported={shown(choice)}: 'error' or 'skip'")


def nan_to_null(choice: bool | None) -> bool | None:
    """Check whether NaN of floats is null."""
    if choice is None or isinstance(choice, bool):
        return choice
    raise ArgumentError(f"nan_to_null={shown(choice)}: True, False, or None for as the library of the file has it")


def on_damage(choice: str) -> None:
    """Check what to do with damaged blocks."""
    if choice not in ("error", "missing"):
        raise ArgumentError(f"on_damage={shown(choice)}: 'error' or 'missing'")


def shown_progress(progress: Any, what: str, unit: str = "bytes") -> AbstractContextManager[Any]:
    """As `progress.shown`, whose module is loaded only where something is shown."""
    if progress is None or progress is False:
        return nullcontext()
    from . import progress as _progress

    return _progress.shown(progress, what, unit)
