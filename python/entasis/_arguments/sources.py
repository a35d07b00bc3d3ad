"""Sources and targets of files: paths, bytes in memory, and open files."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from entasis.errors import ArgumentError

if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from entasis._stores.remote import Remote

    class Readable(Protocol):
        """A binary file that can be read and can seek."""

        def read(self, size: int = ..., /) -> bytes: ...
        def seek(self, offset: int, whence: int = ..., /) -> Any: ...

    class Writable(Protocol):
        """A binary file that can be written to."""

        def write(self, data: bytes, /) -> Any: ...

    class Ranged(Protocol):
        """An object whose ranges are read from several threads at the same time."""

        def size(self) -> int: ...
        def read_at(self, offset: int, length: int, /) -> Any: ...

    Path: TypeAlias = str | os.PathLike[str] | os.PathLike[bytes]
    # A pair is a store of obstore, or a file system of pyarrow or fsspec, and a path.
    Source: TypeAlias = Path | bytes | bytearray | memoryview | mmap.mmap | Readable | Ranged | tuple[Any, str] | Remote
    Target: TypeAlias = Path | Writable

# Shown instead of a path for a file in memory.
IN_MEMORY = "<bytes>"
# Bytes of an object that are fetched at a time.
_FETCHED = 8 << 20


def source(value: Source) -> str | bytes:
    """Return the path of a file, or its content.

    An open file on the disk is read through its path. The content of any other open file, and of an
    object on a store, is read into memory.
    """
    found = source_of_ranges(value)
    return found if isinstance(found, (str, bytes)) else bytes(found.read_at(0, found.size))


def source_of_ranges(value: Source) -> str | bytes | Remote:
    """As `source`, but objects on stores stay there, and are read by ranges."""
    kind = type(value)
    if kind is str and "://" not in value:  # type: ignore[operator]
        return path(value)  # type: ignore[arg-type]
    if kind is bytes:
        return value  # type: ignore[return-value]
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, io.BytesIO):
        # Python shares this memory until the BytesIO changes, so this makes no copy.
        return value.getvalue()
    found: Any = remote(value)
    if is_remote(found):
        return found  # type: ignore[no-any-return]
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


@contextmanager
def sent(
    address: str,
    storage_options: Mapping[str, Any] | None,
    credentials: Callable[[], Any] | None,
    overwrite: bool,
) -> Iterator[str]:
    """The path of a temporary file, which is sent to an address at the end of a `with` block."""
    import tempfile
    from pathlib import Path

    from entasis._stores.address import parse
    from entasis._stores.options import Options
    from entasis._stores.store import check_writable
    from entasis._stores.writing import put

    to = parse(address)
    check_writable(to)
    options = Options(storage_options, credentials)
    with tempfile.TemporaryDirectory(prefix="entasis-") as folder:
        path = os.path.join(folder, to.path.rpartition("/")[2] or "file")
        yield path
        put(to, options, Path(path), overwrite)


def target(value: Target) -> str | Writable:
    """Return the path of a file to write, or the open file that takes its content."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise ArgumentError("bytes are the content of a file, not a path; to_bytes(value) returns the content")
    if hasattr(value, "write") and not hasattr(type(value), "__fspath__"):
        if isinstance(value, io.TextIOBase):
            raise ArgumentError(f"a {type(value).__name__} takes text; open the file in binary mode ('wb')")
        return value  # type: ignore[return-value]
    return path(value)  # type: ignore[arg-type]


def is_address(value: Any) -> bool:
    """Whether a value is the address of an object or a folder on a store."""
    if not isinstance(value, str) or "://" not in value:
        return False
    from entasis._stores.scheme import scheme

    return scheme(value) not in (None, "file") and not os.path.exists(value)


def refuse_options(
    storage_options: Mapping[str, Any] | None, credentials: Callable[[], Any] | None, prefetch: int | None = None
) -> None:
    """Refuse the options of stores for other sources."""
    if storage_options is not None or credentials is not None:
        raise ArgumentError("storage_options= and credentials= are for addresses such as s3://bucket/frame.entasis")
    if prefetch is not None:
        raise ArgumentError("prefetch= is for objects on stores: files on the disk are read as they are needed")


def is_remote(value: Any) -> bool:
    """Whether a value is an open object of a store."""
    kind = type(value)
    return kind.__name__ == "Remote" and kind.__module__ == "entasis._stores.remote"


def _is_of_fsspec(kind: type) -> bool:
    return any(base.__module__.partition(".")[0] == "fsspec" for base in kind.__mro__)


def remote(
    value: Any,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    prefetch: int | None = None,
    footer: bytes | None = None,
) -> Any:
    """Open the object of an address, of a store with a path, or with ranges.

    Other sources are returned as they are. The options are for addresses, and an error elsewhere.
    """
    if is_address(value):
        # Loaded on demand: most files are on the disk.
        from entasis._stores.reader import TAIL
        from entasis._stores.remote import open_address

        return open_address(value, storage_options, credentials, TAIL if prefetch is None else prefetch, footer)
    is_path = type(value) is str or hasattr(type(value), "__fspath__")
    is_object = isinstance(value, tuple) or hasattr(value, "read_at") or _is_of_fsspec(type(value))
    if is_path or not is_object:
        refuse_options(storage_options, credentials, prefetch)
        _refuse_footer(footer)
        return value
    refuse_options(storage_options, credentials)
    if is_remote(value):
        _refuse_footer(footer)
        return value
    from entasis._stores.objects import open_object
    from entasis._stores.reader import TAIL

    return open_object(value, TAIL if prefetch is None else prefetch, footer)


def _refuse_footer(footer: bytes | None) -> None:
    if footer is not None:
        raise ArgumentError("footer= is for objects on stores: files on the disk have their own")


@contextmanager
def fetched(value: Remote) -> Iterator[str]:
    """The path of a copy of an object on the disk, which is removed at the end of a `with` block."""
    import tempfile

    name = value.name.rstrip("/").rpartition("/")[2] or "file"
    with tempfile.TemporaryDirectory(prefix="entasis-") as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            for start in range(0, value.size, _FETCHED):
                file.write(value.read_at(start, min(_FETCHED, value.size - start)))
        yield path


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
    from entasis._stores.scheme import scheme

    name = scheme(text)
    if name is None or os.path.exists(text):
        return
    if name == "file":
        raise ArgumentError(f"{text[:200]!r} is an address of this machine: pass the path alone")
    from entasis._stores.address import parse

    raise ArgumentError(
        f"{parse(text, is_folder=True).shown!r} is an address: read, open, scan, info, verify, convert and write take "
        "addresses, but files on stores do not change in place: a folder there takes new rows (write_dataset)"
    )


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


def folder_on_store(
    path: Any, storage_options: Mapping[str, Any] | None, credentials: Callable[[], Any] | None, *, may_be_file: bool
) -> Any:
    """The folder at an address; None for anything else, and for the address of a file.

    With `may_be_file`, an address whose name says nothing costs a request.
    """
    if not is_address(path) or path.endswith(".entasis"):
        return None
    from entasis._stores.listing import Folder

    return (
        Folder.unless_file(path, storage_options, credentials)
        if may_be_file
        else Folder.at(path, storage_options, credentials)
    )


def folder(path: Any) -> str | None:
    """The path of a folder; None for anything else."""
    if not isinstance(path, str) and not hasattr(type(path), "__fspath__"):
        return None
    found = os.fspath(path)
    return found if isinstance(found, str) and os.path.isdir(found) else None
