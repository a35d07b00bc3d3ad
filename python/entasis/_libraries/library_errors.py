"""Errors of libraries that convert columns: they are reported with the column that causes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._memory import is_refused
from entasis.errors import EntasisError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from entasis._entasis import Handle

_LIBRARIES = {"pandas": "pandas", "polars": "Polars", "pyarrow": "pyarrow", "static_frame": "StaticFrame"}


def read(reader: Any, handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: Any) -> Any:
    """Read columns by the module of a library. Its errors name the column."""
    try:
        return reader.read(handle, host, columns, rows, threads)
    except BaseException as error:
        if library_of(error) is None:
            raise

        def one(column: int) -> tuple[str, Callable[[], Any]]:
            name = handle.columns([column])[0].name
            return name, lambda: reader.read(handle, host, [column], rows, threads)

        every = range(handle.n_columns) if columns is None else columns
        raise of_column(error, map(one, every)) from error


def of_column(error: BaseException, columns: Iterable[tuple[Any, Callable[[], Any]]]) -> UnsupportedTypeError:
    """The error with the first column that causes one by itself.

    Parameters
    ----------
    error
        The error for all columns.
    columns
        The label of each column, and a function that converts this column alone.
    """
    for label, convert in columns:
        try:
            convert()
        except UnsupportedTypeError as of_one:
            return of_one
        except BaseException as of_one:
            if library_of(of_one) is None:
                raise
            return UnsupportedTypeError(f"column {label!r}: {_said(of_one)}")
    return UnsupportedTypeError(f"the columns together: {_said(error)}")


def library_of(error: BaseException) -> str | None:
    """The library that raised an error; None for other errors, and where memory ran out.

    A panic of Polars is a `BaseException` alone. Libraries also raise builtin exceptions.
    """
    if isinstance(error, (EntasisError, ImportError, OSError)) or is_refused(error):
        return None
    if type(error).__name__ == "PanicException":
        return "Polars"
    if not isinstance(error, Exception):
        return None
    found = _LIBRARIES.get(type(error).__module__.partition(".")[0])
    trace = error.__traceback__
    while found is None and trace is not None:
        if trace.tb_next is None:
            found = _LIBRARIES.get(trace.tb_frame.f_globals.get("__name__", "").partition(".")[0])
        trace = trace.tb_next
    return found


def _said(error: BaseException) -> str:
    return f"{library_of(error)} can't convert it ({type(error).__name__}: {error})"
