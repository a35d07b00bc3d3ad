"""The libraries that read and write other formats, and their errors."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from entasis._memory import is_refused
from entasis.errors import CorruptFileError, EntasisError, FileError, MissingLibraryError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

# The way to an encrypted Parquet file.
DECRYPTING = "read it with pyarrow.parquet and its decryption_properties="


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
    except Exception as error:
        if _passes(error):
            raise
        damaged = CorruptFileError(f"{path} can't be read: {said(error)}")
        found = _of_system(error, path, "read") or _encrypted(error, path) or damaged
        found.file = path
        raise found from error


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Reports errors of the system about a file that is written."""
    try:
        yield
    except Exception as error:
        if _passes(error):
            raise
        # Types that a library refuses only when it meets values of them.
        refused = UnsupportedTypeError(f"the target can't hold it: {said(error)}")
        raise _of_system(error, path, "written") or refused from error


def _passes(error: Exception) -> bool:
    """Whether an error is not about the file, or is reported already."""
    return isinstance(error, (EntasisError, ImportError)) or is_refused(error)


def _of_system(error: Exception, path: str, verb: str) -> FileError | None:
    """An error of the operating system about a file; None for other errors."""
    if isinstance(error, OSError) and error.errno is not None:
        return FileError(f"{path} can't be {verb}: {error}")
    return None


def _encrypted(error: Exception, path: str) -> UnsupportedTypeError | None:
    """The error of a Parquet file with encrypted columns and a readable footer; None for others."""
    if "decrypt" not in str(error).lower():
        return None
    return UnsupportedTypeError(f"{path} is an encrypted Parquet file: {DECRYPTING}")


def said(error: BaseException) -> str:
    """The first line of an error of a library."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
