"""The libraries that read and write other formats, and their errors."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from entasis._memory import is_refused
from entasis.errors import CorruptFileError, EntasisError, FileError, MissingLibraryError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = ("pyarrow", "polars", "pandas", "static_frame")


def load(name: str) -> Any:
    """A module of a library; None if it can't be imported."""
    try:
        return import_module(name)
    except ImportError as error:
        if is_refused(error):
            raise
        return None


def need(what: str, *names: str) -> Any:
    """The first of some modules that can be imported."""
    for name in names:
        found = load(name)
        if found is not None:
            return found
    packages = [name.partition(".")[0] for name in names]
    raise MissingLibraryError(f"{what} needs {' or '.join(packages)}: pip install {packages[0]}")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Reports errors of libraries about a file as damage of it."""
    try:
        yield
    except EntasisError:
        raise
    except Exception as error:
        if is_refused(error) or isinstance(error, ImportError):
            raise
        wrapped = _wrapped(error, path, "read")
        wrapped.file = path
        raise wrapped from error


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Reports errors of the system about a file that is written."""
    try:
        yield
    except EntasisError:
        raise
    except Exception as error:
        if is_refused(error) or isinstance(error, ImportError):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(f"{path} can't be written: {error}") from error
        # Types that a library refuses only when it meets values of them.
        raise UnsupportedTypeError(f"the target can't hold it: {said(error)}") from error


def _wrapped(error: Exception, path: str, verb: str) -> EntasisError:
    if isinstance(error, OSError) and error.errno is not None:
        return FileError(f"{path} can't be {verb}: {error}")
    return CorruptFileError(f"{path} can't be {verb}: {said(error)}")


def said(error: BaseException) -> str:
    """The first line of an error of a library."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
