"""Sources and targets of files: paths, bytes in memory, and open files."""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING, Any, Protocol

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    import mmap
    from typing import TypeAlias

    class Readable(Protocol):
        """A binary file that can be read and can seek."""

        def read(self, size: int = ..., /) -> bytes: ...
        def seek(self, offset: int, whence: int = ..., /) -> Any: ...

    class Writable(Protocol):
        """A binary file that can be written to."""

        def write(self, data: bytes, /) -> Any: ...

    Path: TypeAlias = str | os.PathLike[str] | os.PathLike[bytes]
    Source: TypeAlias = Path | bytes | bytearray | memoryview | mmap.mmap | Readable
    Target: TypeAlias = Path | Writable

# Shown instead of a path for a file in memory.
IN_MEMORY = "<bytes>"
_ADDRESS = re.compile(r"(?i)([a-z][a-z0-9+.-]+)://")


def source(value: Source) -> str | bytes:
    """Return the path of a file, or its content.

    An open file on the disk is read through its path. The content of any other open file is read
    into memory.
    """
    kind = type(value)
    if kind is str:
        return path(value)  # type: ignore[arg-type]
    if kind is bytes:
        return value  # type: ignore[return-value]
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, io.BytesIO):
        # Python shares this memory until the BytesIO changes, so this makes no copy.
        return value.getvalue()
    read, seek = getattr(value, "read", None), getattr(value, "seek", None)
    if read is None or hasattr(kind, "__fspath__"):
        return path(value)  # type: ignore[arg-type]
    on_disk = _path_of(value)
    if on_disk is not None:
        return on_disk
    if seek is None or not getattr(value, "seekable", lambda: True)():
        raise ArgumentError(f"a {kind.__name__} can't be read from any place; pass what its read() returns")
    seek(0)
    content = read()
    if isinstance(content, str):
        raise ArgumentError(f"a {kind.__name__} of text; open the file in binary mode ('rb')")
    return bytes(content)


def target(value: Target) -> str | Writable:
    """Return the path of a file to write, or the open file that takes its content."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise ArgumentError("bytes are the content of a file, not a path; to_bytes(value) returns the content")
    if hasattr(value, "write") and not hasattr(type(value), "__fspath__"):
        if isinstance(value, io.TextIOBase):
            raise ArgumentError(f"a {type(value).__name__} takes text; open the file in binary mode ('wb')")
        return value  # type: ignore[return-value]
    return path(value)  # type: ignore[arg-type]


def path_to_change(value: Path) -> str:
    """Return the path of a file that changes in place."""
    found = target(value)
    if not isinstance(found, str):
        raise ArgumentError("a file changes at its path, not as an open file")
    return found


def check_order(function: str, name: str, value: Any, path: Any) -> None:
    """Refuse a path as the value, where a function takes a value and then a path.

    Two paths pass, because a value can be text. Open files get an error of their own.
    """
    is_path = isinstance(path, (str, bytes, os.PathLike)) or hasattr(path, "write")
    if isinstance(value, (str, os.PathLike)) and not is_path:
        raise ArgumentError(f"{function} takes the {name} first: en.{function}({name}, {os.fsdecode(value)!r})")


def path(value: Path) -> str:
    """Return a path as a string, with `~` expanded."""
    try:
        found = os.fspath(value)
    except TypeError:
        several = ": read several files one by one" if isinstance(value, (list, tuple)) else ""
        message = f"a path is str or os.PathLike, not {type(value).__name__}{several}"
        raise ArgumentError(message) from None
    text = found if isinstance(found, str) else os.fsdecode(found)
    if text.startswith("~"):
        text = os.path.expanduser(text)
    elif "://" in text:
        _refuse_address(text)
    return text


def _refuse_address(text: str) -> None:
    scheme = _ADDRESS.match(text)
    if scheme is None or os.path.exists(text):
        return
    what = "an address" if scheme[1].lower() != "file" else "an address of this machine"
    instead = (
        "pass the path alone"
        if scheme[1].lower() == "file"
        else "download it, or open it with fsspec and pass the open file or its bytes"
    )
    raise ArgumentError(f"{text[:200]!r} is {what}, and only paths are read and written yet; {instead}")


def _path_of(file: Any) -> str | None:
    """The path of an open file on the disk. None if the path no longer leads to this file."""
    name = getattr(file, "name", None)
    if not isinstance(name, str) or not isinstance(file, io.BufferedIOBase | io.RawIOBase):
        return None
    try:
        if os.path.samestat(os.fstat(file.fileno()), os.stat(name)):
            return os.path.abspath(name)
    except (OSError, ValueError):
        pass
    return None


def folder(path: Any) -> str | None:
    """The path of a folder; None for anything else."""
    if not isinstance(path, str) and not hasattr(type(path), "__fspath__"):
        return None
    found = os.fspath(path)
    return found if isinstance(found, str) and os.path.isdir(found) else None
