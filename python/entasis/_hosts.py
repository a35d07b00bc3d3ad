"""Which library a value belongs to, and which modules of ours know it. Libraries are imported when they are needed."""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .errors import ArgumentError, CorruptFileError, EntasisError, MissingLibraryError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_P = ParamSpec("_P")
_R = TypeVar("_R")

HOSTS = ("pandas", "polars", "pyarrow", "numpy", "static_frame")

_WRITERS = {
    "pandas": "entasis._pandas_write",
    "polars": "entasis._polars",
    "pyarrow": "entasis._pyarrow",
    "numpy": "entasis._numpy",
    "static_frame": "entasis._static_frame_write",
}
_READERS = _WRITERS | {"pandas": "entasis._pandas_read", "static_frame": "entasis._static_frame_read"}


def of_value(value: Any) -> str:
    """The host of a value that is to be written."""
    if type(value) is dict:
        return "numpy"
    root = type(value).__module__.partition(".")[0]
    if root in ("pandas", "polars", "pyarrow", "static_frame"):
        return root
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    raise UnsupportedTypeError(
        f"a {kind} is not supported yet, only a pandas or Polars DataFrame, a pyarrow Table, a StaticFrame Frame, "
        "Series or Index, or a dict of NumPy arrays"
    )


def writer(host: str) -> Any:
    """The module with `build`."""
    return import_module(_WRITERS[host])


def reader(to: str | None, written_by: str | None) -> Any:
    """The module with `read`, for the host asked for, or else the one that wrote the file."""
    if to is not None and to not in HOSTS:
        raise ArgumentError(f"to={to!r} is not known: one of {', '.join(map(repr, HOSTS))}")
    if to is None:
        known = written_by if written_by in HOSTS else None
        to = known or next(host for host in HOSTS if find_spec(host) is not None)
    try:
        import_module(to)
    except ImportError as error:
        found = [host for host in HOSTS if host != to and find_spec(host) is not None]
        hint = f", or read with to={found[0]!r}" if found else ""
        raise MissingLibraryError(f"{to} is needed and can't be imported ({error}): pip install {to}{hint}") from error
    return import_module(_READERS[to])


class interpretation:
    """Around all that makes something of what a file keeps for its host: checksums don't say that it makes sense.

    It is a context manager and a decorator, as those of `contextlib` are, at a tenth of their cost.
    """

    SENSELESS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, self.SENSELESS) and not isinstance(error, EntasisError):
            raise _senseless(error) from error

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        senseless = self.SENSELESS

        @wraps(function)
        def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except EntasisError:
                raise
            except senseless as error:
                raise _senseless(error) from error

        return guarded


def _senseless(error: BaseException) -> CorruptFileError:
    what = f"{type(error).__name__}: {error}"
    return CorruptFileError(f"what the file keeps for its host makes no sense ({what})")
