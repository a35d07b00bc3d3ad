"""Turns the ways in which libraries report a lack of memory into `OutOfMemoryError`.

A lack of descriptors becomes `FileError`: modules that are imported late are files too. A panic of
a library in Rust becomes `InternalError`.
"""

from __future__ import annotations

import errno
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ._versions import loaded_versions
from .errors import EntasisError, FileError, InternalError, MissingLibraryError, OutOfMemoryError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_P = ParamSpec("_P")
_R = TypeVar("_R")

# Messages of the system's loader if a library gets no memory, and of CPython if a thread gets none.
_WORDS = ("cannot allocate memory", "failed to map segment", "can't start new thread")
# How the Rust code reports that CPython had no memory for an object.
_NO_OBJECT = ("PyObject pointer is null", "Python API call failed")
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
_ADVICE = "free some memory, or read or write fewer columns or rows at once"


def is_refused(error: BaseException | None) -> bool:
    """Whether an error says that the system refused memory, or addresses for a library."""
    if isinstance(error, MissingLibraryError):
        return is_refused(error.__cause__)
    if isinstance(error, EntasisError):
        return False
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if type(error).__name__ == "PanicException":
        return str(error) in _NO_OBJECT
    text = str(error).lower()
    return isinstance(error, (ImportError, RuntimeError)) and any(words in text for words in _WORDS)


class _Reported:
    """Raises `OutOfMemoryError` when memory runs out in the code inside, whichever error that code
    raises.

    Raises `FileError` when descriptors run out, and `InternalError` after a panic of Rust.

    Use it as a context manager, or as a decorator of private functions.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and is_refused(error):
            said = str(error) or "the system refused it"
            raise OutOfMemoryError(f"out of memory: {said}; {_ADVICE}") from error
        if isinstance(error, OSError) and error.errno in _NO_DESCRIPTOR and not isinstance(error, EntasisError):
            advice = "close some files, or raise the limit of open files (ulimit -n)"
            refused = FileError(f"{error.strerror}: '{error.filename}'; {advice}")
            refused.errno, refused.filename = error.errno, error.filename
            raise refused from error
        if kind is not None and kind.__name__ == "PanicException":
            # `except Exception` does not catch panics of Rust.
            raise InternalError(f"a library gave up ({error}): please report it with {loaded_versions()}") from error

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self:
                return function(*args, **kwargs)

        return guarded


reported = _Reported()
