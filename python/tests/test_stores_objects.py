"""Objects of other libraries that are read by ranges."""

from __future__ import annotations

import importlib.util
import io
import pickle
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from entasis._stores import retry
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.objects import is_object, open_object
from entasis._stores.options import Options
from entasis._stores.remote import Remote, open_address
from entasis._stores.writing import put
from entasis.errors import ArgumentError, ExistingFileError, FileError, MissingFileError, MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONTENT = bytes(range(256)) * 1_000


class Ranges:
    """An object with the two methods that other packages read, too."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def size(self) -> int:
        return len(self.content)

    def read_at(self, offset: int, length: int) -> memoryview:
        return memoryview(self.content)[offset : offset + length]


class Raw(io.RawIOBase):
    """A file that returns a few bytes at a time."""

    def __init__(self, content: bytes) -> None:
        self.file = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(min(len(buffer), 10_000))
        buffer[: len(data)] = data
        return len(data)


def of_obstore(content: bytes, folder: Path) -> Any:
    obstore = pytest.importorskip("obstore")
    store = obstore.store.MemoryStore()
    obstore.put(store, "a/x", content)
    return store, "a/x"


def of_local_obstore(content: bytes, folder: Path) -> Any:
    obstore = pytest.importorskip("obstore")
    (folder / "x").write_bytes(content)
    return obstore.store.LocalStore(str(folder)), "x"


def of_fsspec_pair(content: bytes, folder: Path) -> Any:
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.pipe_file("/a/x", content)
    return system, "/a/x"


def of_open_file(content: bytes, folder: Path) -> Any:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe_file("/a/x", content)
    return fsspec.open("memory://a/x", "rb")


def of_memory_file(content: bytes, folder: Path) -> Any:
    return of_open_file(content, folder).open()


def of_pyarrow_pair(content: bytes, folder: Path) -> Any:
    fs = pytest.importorskip("pyarrow.fs")
    (folder / "x").write_bytes(content)
    return fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()), "x"


def of_pyarrow_file(content: bytes, folder: Path) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.BufferReader(content)


def of_file(content: bytes, folder: Path) -> Any:
    (folder / "x").write_bytes(content)
    return (folder / "x").open("rb")


SOURCES = [
    of_obstore, of_local_obstore, of_fsspec_pair, of_open_file, of_memory_file, of_pyarrow_pair, of_pyarrow_file,
    of_file, lambda content, folder: Ranges(content), lambda content, folder: Raw(content),
    lambda content, folder: io.BytesIO(content),
]  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 12_288, 100_000, len(CONTENT)])
@pytest.mark.parametrize("source", SOURCES)
def test_read(tmp_path: Path, source: Callable[[bytes, Path], Any], size: int) -> None:
    content = CONTENT[:size]
    value = source(content, tmp_path)
    assert is_object(value)
    remote = open_object(value, prefetch=1_000)
    assert remote.size == size
    assert bytes(remote.head) == content[:12_288]
    assert bytes(remote.tail) == content[-1_000:]
    assert bytes(remote.read_at(size // 3, size // 2)) == content[size // 3 : size // 3 + size // 2]
    remote.check()
    with pytest.raises(ArgumentError, match="opened from an object, which is not pickled"):
        pickle.dumps(remote)
    if hasattr(value, "close"):
        value.close()


@pytest.mark.parametrize("source", SOURCES)
def test_threads(tmp_path: Path, source: Callable[[bytes, Path], Any]) -> None:
    value = source(CONTENT, tmp_path)
    remote = open_object(value)
    wrong: list[int] = []

    def read(seed: int) -> None:
        for i in range(20):
            offset = (seed * 7_919 + i * 104_729) % 200_000
            if bytes(remote.read_at(offset, 5_000)) != CONTENT[offset : offset + 5_000]:
                wrong.append(offset)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert remote.is_serial == (remote.parallel == 1)
    if hasattr(value, "close"):
        value.close()


@pytest.mark.parametrize("source", [of_obstore, of_fsspec_pair, of_pyarrow_pair])
def test_missing(tmp_path: Path, source: Callable[[bytes, Path], Any]) -> None:
    store, _ = source(b"x", tmp_path)
    with pytest.raises(MissingFileError, match="none does not exist; check the address") as info:
        open_object((store, "none"))
    assert info.value.__context__ is None


@pytest.mark.parametrize("source", [of_obstore, of_fsspec_pair, of_pyarrow_pair])
def test_replaced(tmp_path: Path, source: Callable[[bytes, Path], Any]) -> None:
    store, path = source(CONTENT, tmp_path)
    remote = open_object((store, path))
    if source is of_obstore:
        import obstore

        obstore.put(store, path, b"other" * 60_000)
        with pytest.raises(FileError, match="was replaced while it was open"):
            remote.read_at(0, 10)
    else:
        source(b"other", tmp_path)
    with pytest.raises(FileError, match="was replaced while it was open"):
        remote.check()


def test_other_objects(tmp_path: Path) -> None:
    for value in ("path", b"bytes", 3, None, (1, 2), (object(), "path"), ("a", "b"), [1]):
        assert not is_object(value)
        with pytest.raises(ArgumentError, match="neither a store with a path nor a binary file"):
            open_object(value)
    with pytest.raises(ArgumentError, match="of text; open the file in binary mode"):
        open_object(io.StringIO("x"))
    fsspec = pytest.importorskip("fsspec")
    for mode, compression in (("r", None), ("rb", "gzip")):
        with pytest.raises(ArgumentError, match="in binary mode"):
            open_object(fsspec.open("memory://a/x", mode, compression=compression))


def test_wrong_lengths() -> None:
    class Wrong(Ranges):
        def read_at(self, offset: int, length: int) -> memoryview:
            return super().read_at(offset, length + extra)

    extra = -1
    with pytest.raises(FileError, match="sent fewer bytes"):
        open_object(Wrong(CONTENT))
    extra = 1
    with pytest.raises(FileError, match="sends the whole object"):
        open_object(Wrong(CONTENT))


def test_names_have_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "MOST", 1)
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    url = "http://127.0.0.1:9/x?signature=hidden"
    with pytest.raises(FileError) as info:
        open_object((fsspec.filesystem("http"), url))
    assert "http://127.0.0.1:9/x?...: the connection" in str(info.value)
    assert "hidden" not in repr(info.value)


def test_errors_of_objects() -> None:
    class Broken(Ranges):
        def size(self) -> int:
            raise RuntimeError("hidden")

    with pytest.raises(FileError, match=r"<Broken>: the store failed to read \(RuntimeError\)") as info:
        open_object(Broken(b""))
    assert "hidden" not in str(info.value)


def test_memory_of_fsspec() -> None:
    """Addresses of fsspec's memory, which tests of other parts use."""
    pytest.importorskip("fsspec")
    url = "memory://tests/folder/x"
    put(parse(url), Options(), CONTENT)
    remote = open_address(url)
    assert bytes(remote.read_at(1, 3)) == CONTENT[1:4]
    copy: Remote = pickle.loads(pickle.dumps(remote))
    assert bytes(copy.read_at(1, 3)) == CONTENT[1:4]
    folder = Folder(parse("memory://tests/folder", is_folder=True), Options())
    assert folder.can_create
    folder.create("y/z", b"1")
    with pytest.raises(ExistingFileError):
        folder.create("y/z", b"2")
    with pytest.raises(ExistingFileError):
        put(parse(url), Options(), b"", overwrite=False)
    assert [(entry.path, entry.size) for entry in folder.list()] == [("x", len(CONTENT)), ("y/z", 1)]
    folder.delete("y/z")
    folder.delete("y/z")
    put(parse(url), Options(), b"")
    with pytest.raises(FileError, match="was replaced"):
        pickle.loads(pickle.dumps(remote)).read_at(1, 3)


def test_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "entasis._stores._obstore", None)
    if importlib.util.find_spec("gcsfs") is None:
        with pytest.raises(MissingLibraryError, match="gs:// addresses need obstore"):
            open_address("gs://bucket/x")
    monkeypatch.setitem(sys.modules, "entasis._stores._fsspec", None)
    for url in ("s3://bucket/x", "https://host/x", "hf://datasets/u/r/x"):
        with pytest.raises(MissingLibraryError) as info:
            open_address(url)
        assert str(info.value).endswith('need obstore, which is not installed: pip install "entasis[cloud]"')
    with pytest.raises(MissingLibraryError):
        put(parse("s3://bucket/x"), Options(), b"")
    with pytest.raises(MissingLibraryError):
        Folder(parse("s3://bucket/x"), Options()).list()
