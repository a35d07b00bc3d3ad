"""Objects of other libraries that are read by ranges: stores with paths, and open files."""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

from .address import Address, parse
from .reader import TAIL, Reader, Stat
from .remote import Remote, opened
from .scheme import scheme

if TYPE_CHECKING:
    from collections.abc import Callable


def is_object(value: Any) -> bool:
    """Whether `open_object` takes a value: a pair of a store and a path, or an object with ranges.

    Open files of Python count if they are binary and can seek, and files in memory do not.
    """
    return _adapted(value) is not None


def open_object(value: Any, prefetch: int = TAIL, footer: Any = None) -> Remote:
    """Open an object of another library.

    Parameters
    ----------
    value
        A pair of a store of obstore, a file system of pyarrow or of fsspec, and a path; a file of
        fsspec or pyarrow; an object with the methods `size()` and `read_at(offset, length)`, which
        are called from several threads at the same time; or a binary file that can seek.
    prefetch
        How many bytes at the end are read at once with those at the beginning.
    footer
        The bytes of opening; see `remote.open_address`.

    Raises
    ------
    ArgumentError
        The value is none of these, or a file of text or without a way to seek.
    MissingFileError, FilePermissionError, FileError
        The object does not exist, or can't be read.
    """
    found = _adapted(value)
    if found is None:
        raise ArgumentError(f"a {type(value).__name__} is neither a store with a path nor a binary file that can seek")
    reader, shown = found
    address = Address("object", "", "", _shown(shown))
    remote = Remote(reader, address, None, prefetch)
    if footer is not None:
        remote._is_checked = reader.verifies
    return opened(remote, footer)


def _shown(text: str) -> str:
    """A name without a user, a password and a query string."""
    for begin in (text, text.partition("/")[2]):
        if scheme(begin) in ("http", "https"):
            return parse(begin, is_folder=True).shown
    return text.partition("?")[0]


def _adapted(value: Any) -> tuple[Reader, str] | None:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return _pair(value[0], value[1])
    return _file(value)


def _pair(store: Any, path: str) -> tuple[Reader, str] | None:
    if _is_of(store, "obstore.store", "S3Store", "GCSStore", "AzureStore", "HTTPStore", "LocalStore", "MemoryStore"):
        from ._obstore import ObstoreReader

        return ObstoreReader(store, path), f"{type(store).__name__}/{path}"
    if _is_of(store, "pyarrow.fs", "FileSystem"):
        return ArrowReader(store, path), f"{store.type_name}/{path}"
    if _is_of(store, "fsspec", "AbstractFileSystem"):
        return _of_fsspec(store, path)
    return None


def _file(value: Any) -> tuple[Reader, str] | None:
    if _is_of(value, "fsspec.core", "OpenFile"):
        if value.compression is not None or "b" not in value.mode:
            raise ArgumentError("a file of fsspec is read in binary mode ('rb') and without compression")
        return _of_fsspec(value.fs, value.path)
    if _is_of(value, "fsspec.spec", "AbstractBufferedFile"):
        return _of_fsspec(value.fs, value.path)
    name = f"<{type(value).__name__}>"
    if _is_of(value, "pyarrow", "NativeFile"):
        return FunctionReader(value.size, lambda offset, length: value.read_at(length, offset)), name
    if callable(getattr(value, "read_at", None)) and callable(getattr(value, "size", None)):
        return FunctionReader(value.size, value.read_at), name
    if callable(getattr(value, "read", None)) and callable(getattr(value, "seek", None)):
        if isinstance(value, io.TextIOBase):
            raise ArgumentError(f"a {type(value).__name__} of text; open the file in binary mode ('rb')")
        if not getattr(value, "seekable", lambda: True)():
            raise ArgumentError(f"a {type(value).__name__} can't be read from any place; pass what its read() returns")
        return FileReader(value), name
    return None


def _of_fsspec(system: Any, path: str) -> tuple[Reader, str]:
    from ._fsspec import FsspecReader

    protocol = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
    return FsspecReader(system, path), path if scheme(path) else f"{protocol}://{path.lstrip('/')}"


def _is_of(value: Any, module: str, *names: str) -> bool:
    """Whether a value is of a class of a module, which is not imported for that."""
    found = sys.modules.get(module)
    kinds = tuple(kind for kind in (getattr(found, name, None) for name in names) if isinstance(kind, type))
    return isinstance(value, kinds)


class ArrowReader(Reader):
    """A file of a file system of pyarrow."""

    def __init__(self, system: Any, path: str) -> None:
        super().__init__()
        self._system, self._path = system, path
        self._input: Any = None

    def stat(self) -> Stat:
        self._count()
        info = self._system.get_file_info(self._path)
        if not info.is_file:
            raise FileNotFoundError
        return Stat(info.size, "" if info.mtime_ns is None else str(info.mtime_ns))

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        self._count()
        with self._lock:
            if self._input is None:
                self._input = self._system.open_input_file(self._path)
        return self._input.read_at(end - start, start), None


class FunctionReader(Reader):
    """An object with a function for its size, and one that reads ranges."""

    def __init__(self, size: Callable[[], int], read_at: Callable[[int, int], Any]) -> None:
        super().__init__()
        self._size, self._read_at = size, read_at

    def stat(self) -> Stat:
        return Stat(int(self._size()), "")

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        self._count()
        return self._read_at(start, end - start), None


class FileReader(Reader):
    """A binary file that can seek. One thread reads at a time, as the file has one position."""

    parallel = 1
    is_serial = True

    def __init__(self, file: Any) -> None:
        super().__init__()
        self._file = file
        self._turn = threading.Lock()

    def stat(self) -> Stat:
        with self._turn:
            self._file.seek(0, io.SEEK_END)
            return Stat(self._file.tell(), "")

    def range(self, start: int, end: int, stat: Stat | None) -> tuple[Any, Stat | None]:
        self._count()
        parts = []
        with self._turn:
            self._file.seek(start)
            # Raw files return fewer bytes than were asked for.
            while start < end and (part := self._file.read(end - start)):
                parts.append(part)
                start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts), None
