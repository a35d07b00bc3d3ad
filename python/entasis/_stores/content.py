"""Content to write: bytes, or a local file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from entasis.errors import ArgumentError, FileError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    # Bytes, or the path of a local file.
    Content = bytes | bytearray | memoryview | os.PathLike[str]
    Body = memoryview | Path

_Result = TypeVar("_Result")


def body(content: Content) -> tuple[Body, int]:
    """Bytes as a view, or the path of a file, and the number of bytes.

    Raises
    ------
    ArgumentError
        The content is neither contiguous bytes nor `os.PathLike`, or it is a folder.
    MissingFileError, FileError
        The file does not exist, or can't be read.
    """
    if isinstance(content, os.PathLike):
        path = Path(content)
        size = _local(path, lambda: path.stat().st_size)
        if path.is_dir():
            raise ArgumentError(f"{str(path)!r} is a folder; upload its files one by one")
        return path, size
    try:
        view = memoryview(content).cast("B")
    except TypeError:
        kind = type(content).__name__
    else:
        return view, view.nbytes
    raise ArgumentError(f"content is bytes or the path of a file as os.PathLike, not {kind}")


def in_memory(of: Body) -> bytes:
    """The bytes, which a file is read for."""
    return bytes(of) if isinstance(of, memoryview) else _local(of, of.read_bytes)


def _local(path: Path, function: Callable[[], _Result]) -> _Result:
    try:
        return function()
    except FileNotFoundError:
        raise MissingFileError(f"the file to upload does not exist: {str(path)!r}; check the path") from None
    except OSError as error:
        raise FileError(f"the file to upload can't be read ({error.strerror}): {str(path)!r}") from None
