"""The host map of a table: its values in cells, and errors that its content causes."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ._versions import loaded_versions
from .errors import CorruptFileError, EntasisError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Protocol

    class _Cells(Protocol):
        def read(self, number: int, /) -> Any: ...


_P = ParamSpec("_P")
_R = TypeVar("_R")

# Library errors for senseless values, and errors that only a defect of code causes.
_SENSELESS = (ArithmeticError, LookupError, TypeError, ValueError)
_DEFECTS = (AssertionError, AttributeError)


class CellValue:
    """A value that a host map names by its cell. It is read on demand."""

    __slots__ = ("_cells", "_number")

    def __init__(self, cells: _Cells, number: int) -> None:
        self._cells, self._number = cells, number

    def get(self) -> Any:
        """Read the value."""
        return self._cells.read(self._number)


def cell_value(value: Any) -> Any:
    """Read the value of a cell. The host map must have a cell here."""
    if type(value) is not CellValue:
        raise TypeError(f"a {type(value).__name__} instead of a cell")
    return value.get()


class interpretation:
    """Turns errors that senseless content of a host map causes into `CorruptFileError`.

    Checksums do not prove that content makes sense. Use this as a context manager or a decorator
    around code that parses such content, and check types there before you use attributes: an
    `AttributeError` becomes `InternalError`, because a library that lacks an attribute does not
    mean that the file is damaged.
    """

    # Unlike `contextlib.contextmanager` this makes no generator for each call.
    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, EntasisError):
            if isinstance(error, _SENSELESS):
                raise _senseless(error) from error
            if isinstance(error, _DEFECTS):
                raise _defect(error) from error

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except EntasisError:
                raise
            except _SENSELESS as error:
                raise _senseless(error) from error
            except _DEFECTS as error:
                raise _defect(error) from error

        return guarded


class host_calls:
    """Turns a library's errors during a read into `InternalError`: its interface is unknown."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (*_SENSELESS, *_DEFECTS)) and not isinstance(error, EntasisError):
            raise _defect(error) from error


def _senseless(error: BaseException) -> CorruptFileError:
    what = f"{type(error).__name__}: {error}"
    return CorruptFileError(f"the host map of the file is invalid ({what})")


def _defect(error: BaseException) -> InternalError:
    what = f"{type(error).__name__}: {error}"
    return InternalError(f"a defect of Entasis, not of the file: please report it ({what}) with {loaded_versions()}")
