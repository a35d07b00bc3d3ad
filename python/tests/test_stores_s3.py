"""Objects on S3: reads, writes, lists, and that no secret is anywhere."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from entasis._stores import failures, writing
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.options import Options
from entasis._stores.remote import open_address
from entasis._stores.writing import put
from entasis.errors import (
    ArgumentError,
    EntasisError,
    ExistingFileError,
    FileError,
    FilePermissionError,
    MissingFileError,
)

pytest.importorskip("moto")
pytest.importorskip("flask")

from moto_server import SECRET, MotoServer

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENT = bytes(range(256)) * 1_000
URL = "s3://tables/folder/a b%20c#é.entasis"


def write(moto: MotoServer, content: Any = CONTENT, url: str = URL, **how: Any) -> None:
    put(parse(url), Options(moto.options), content, **how)


def content(moto: MotoServer, url: str = URL) -> bytes:
    remote = open_address(url, moto.options)
    return bytes(remote.read_at(0, remote.size))


def fails(error: type[EntasisError], match: str, function: Callable[[], Any]) -> None:
    """Check an error, and that nothing about it has a secret."""
    with pytest.raises(error, match=match) as info:
        function()
    assert info.value.__cause__ is None
    assert info.value.__context__ is None
    assert "hidden" not in "".join(traceback.format_exception_only(info.value))


def test_read(moto: MotoServer, library: str) -> None:
    write(moto)
    moto.requests.clear()
    remote = open_address(URL, moto.options)
    assert len(moto.requests) == remote.n_requests == (2 if library == "obstore" else 3)
    assert (remote.size, remote.name) == (len(CONTENT), URL)
    assert remote.identity.startswith('"')
    assert bytes(remote.head) == CONTENT[:12_288]
    assert bytes(remote.tail) == CONTENT[-65_536:]
    assert bytes(remote.read_at(777, 100_000)) == CONTENT[777:100_777]
    assert repr(remote) == f"Remote({URL!r})"


def test_environment(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    write(moto)
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    assert bytes(open_address(URL).tail) == CONTENT[-65_536:]


def credentials() -> dict[str, Any]:
    return {"access_key_id": "hidden-key", "secret_access_key": SECRET, "token": None, "expires_at": None}


def test_credentials(moto: MotoServer) -> None:
    write(moto)
    options = {"endpoint_url": moto.url, "region": "us-east-1"}
    assert bytes(open_address(URL, options, credentials).head) == CONTENT[:12_288]
    assert bytes(open_address(URL, {**options, "credentials": credentials}).head) == CONTENT[:12_288]


def test_profiles(moto: MotoServer, library: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files of the AWS command have credentials, too."""
    pytest.importorskip("boto3")
    write(moto)
    (tmp_path / "credentials").write_text(
        f"[default]\naws_access_key_id=k\naws_secret_access_key={SECRET}\n"
        f"[other]\naws_access_key_id=o\naws_secret_access_key={SECRET}\nregion=us-east-1\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    options = {"endpoint_url": moto.url}
    assert open_address(URL, options).size == len(CONTENT)
    assert open_address(URL, {**options, "profile": "other"}).size == len(CONTENT)
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert open_address(URL, options).size == len(CONTENT)
    if library == "obstore":
        match = "the profile 'none' of AWS does not exist"
        fails(ArgumentError, match, lambda: open_address(URL, {**options, "profile": "none"}))
        monkeypatch.setenv("AWS_PROFILE", "none")
        fails(ArgumentError, match, lambda: open_address(URL, options))


def test_names_of_fsspec(moto: MotoServer) -> None:
    write(moto)
    options = {"key": "k", "secret": SECRET, "client_kwargs": {"endpoint_url": moto.url, "region_name": "us-east-1"}}
    assert open_address(URL, options).size == len(CONTENT)


def test_missing(moto: MotoServer) -> None:
    fails(MissingFileError, "s3://tables/none does not exist", lambda: open_address("s3://tables/none", moto.options))
    fails(MissingFileError, "does not exist", lambda: open_address("s3://nowhere/none", moto.options))
    fails(MissingFileError, "does not exist", lambda: write(moto, url="s3://nowhere/none"))


def test_bad_options(moto: MotoServer) -> None:
    fails(ArgumentError, "'unknown'", lambda: open_address(URL, {**moto.options, "unknown": "hidden"}))
    fails(
        ArgumentError,
        "does not take|needs obstore",
        lambda: open_address(URL, {**moto.options, "s3_express": "hidden"}),
    )


def test_replaced(moto: MotoServer, library: str) -> None:
    write(moto)
    remote = open_address(URL, moto.options)
    write(moto, CONTENT[::-1])
    if library == "obstore":
        fails(FileError, "was replaced while it was open", lambda: remote.read_at(0, 10))
    fails(FileError, "was replaced while it was open", remote.check)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, Path])
@pytest.mark.parametrize("n", [0, 1, 9 << 20])
def test_write(moto: MotoServer, tmp_path: Path, kind: Any, n: int) -> None:
    """Large content is sent in parts, and visible as a whole."""
    data = os.urandom(n)
    if kind is Path:
        (tmp_path / "x").write_bytes(data)
    moto.before = lambda method, target: seen.append(target) if "partNumber" in target else None
    seen: list[str] = []
    write(moto, tmp_path / "x" if kind is Path else kind(data))
    assert content(moto) == data
    assert not seen or n > 1


def test_many_parts(moto: MotoServer, library: str) -> None:
    if library != "obstore":
        pytest.skip("s3fs decides about parts")
    write(moto, memoryview(np.zeros(1 << 21, "i8")))
    assert sum("partNumber" in target for _, target in moto.requests) == 2
    assert content(moto) == bytes(1 << 24)


def test_broken_write(moto: MotoServer, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is visible, and the upload is aborted or never completed."""
    if library != "obstore":
        pytest.skip("s3fs sends parts of 50 MB")
    moto.before = lambda method, target: "break" if "partNumber=2" in target else None
    options = Options({**moto.options, "max_retries": 1})
    fails(
        FileError, "connection to the server failed|failed to write", lambda: put(parse(URL), options, bytes(9 << 20))
    )
    assert not any("uploadId" in target and method == "POST" for method, target in moto.requests)
    assert Folder(parse("s3://tables", True), options).list() == []
    moto.before = lambda method, target: "503" if "partNumber=2" in target else None
    fails(FileError, "failed to write.*503", lambda: put(parse(URL), options, bytes(9 << 20)))
    assert Folder(parse("s3://tables", True), options).list() == []


def test_broken_write_keeps_the_old(moto: MotoServer) -> None:
    write(moto, b"old")
    moto.before = lambda method, target: "503" if method in ("PUT", "POST") else None
    fails(FileError, "failed to write", lambda: put(parse(URL), Options({**moto.options, "max_retries": 1}), b"new"))
    assert content(moto) == b"old"


def test_no_overwrite(moto: MotoServer, library: str, tmp_path: Path) -> None:
    if library == "fsspec":
        fails(ArgumentError, "only obstore writes without ever replacing", lambda: write(moto, overwrite=False))
        assert moto.requests == []
        return
    (tmp_path / "x").write_bytes(b"first")
    write(moto, tmp_path / "x", overwrite=False)
    fails(ExistingFileError, "exists; pass overwrite=True", lambda: write(moto, b"first", overwrite=False))
    assert content(moto) == b"first"
    with (tmp_path / "x").open("wb") as file:
        file.truncate((5 << 30) + 1)
    n = len(moto.requests)
    fails(ArgumentError, "5 GiB at most", lambda: write(moto, tmp_path / "x", overwrite=False))
    assert len(moto.requests) == n


@pytest.mark.parametrize("how", ["503", "503 after", "break"])
def test_create_is_sent_again(moto: MotoServer, library: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply can be lost after the object was stored: it is the object of this write then."""
    if library == "fsspec":
        pytest.skip("fsspec does not create")
    left = [1]

    def fail_once(method: str, target: str) -> Any:
        if method == "PUT" and left[0]:
            left[0] -= 1
            return how
        return None

    moto.before = fail_once
    write(moto, b"mine", overwrite=False)
    assert content(moto) == b"mine"
    # The object of another writer.
    left[0] = 1
    fails(ExistingFileError, "exists", lambda: write(moto, b"not mine", overwrite=False))
    monkeypatch.setattr(writing.retry, "MOST", 2)
    moto.before = lambda method, target: "503" if method == "PUT" else None
    fails(FileError, "failed to write", lambda: write(moto, b"x", url="s3://tables/other", overwrite=False))


@pytest.mark.parametrize("overwrite", [True, False])
def test_bad_content(moto: MotoServer, library: str, tmp_path: Path, overwrite: bool) -> None:
    if library == "fsspec" and not overwrite:
        pytest.skip("fsspec does not create")
    with pytest.raises(MissingFileError, match="the file to upload does not exist"):
        write(moto, tmp_path / "none", overwrite=overwrite)
    with pytest.raises(ArgumentError, match="is a folder; upload its files one by one"):
        write(moto, tmp_path, overwrite=overwrite)
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(FileError, match=r"the file to upload can't be read \(Not a directory\)"):
        write(moto, tmp_path / "x" / "y", overwrite=overwrite)
    for bad in ("text", 3, None, np.zeros((4, 4))[:, 1]):
        with pytest.raises(ArgumentError, match="content is bytes or the path of a file"):
            write(moto, bad, overwrite=overwrite)
    assert moto.requests == []


def test_folder(moto: MotoServer, library: str) -> None:
    options = Options(moto.options)
    folder = Folder(parse("s3://tables/t", is_folder=True), options)
    assert folder.list() == []
    for path in ("b", "a/é", "a/x", "ab/y", "c#d e%20"):
        folder.put(path, path.encode())
    write(moto, b"", url="s3://tables/ta")
    assert [entry.path for entry in folder.list()] == ["a/x", "a/é", "ab/y", "b", "c#d e%20"]
    assert [entry.path for entry in folder.list("a/")] == ["a/x", "a/é"]
    assert [entry.path for entry in folder.list("a")] == ["a/x", "a/é", "ab/y"]
    assert [entry.path for entry in folder.list("b")] == ["b"]
    assert folder.list("none") == folder.list("none/") == []
    (entry,) = folder.list("c")
    assert (entry.size, entry.identity) == (8, folder.open("c#d e%20").identity)
    assert folder.read("a/é") == "a/é".encode()
    folder.put("b", CONTENT)
    assert folder.read("b") == CONTENT
    folder.delete("b")
    folder.delete("b")
    fails(MissingFileError, "s3://tables/t/b does not exist", lambda: folder.read("b"))
    for path in ("../ta", "/ta", ""):
        with pytest.raises(ArgumentError, match="is not a path within"):
            folder.read(path)
    assert repr(folder) == "Folder('s3://tables/t')"
    assert folder.can_create == (library == "obstore")
    if library == "obstore":
        folder.create("new", b"1")
        fails(ExistingFileError, "s3://tables/t/new exists", lambda: folder.create("new", b"1"))


def test_requests_of_folders(moto: MotoServer, library: str) -> None:
    """A list of 1,000 objects is one request."""
    if library != "obstore":
        pytest.skip("s3fs asks more")
    folder = Folder(parse("s3://tables/t", is_folder=True), Options(moto.options))
    for i in range(5):
        folder.put(f"{i}", b"x")
    moto.requests.clear()
    assert len(folder.list()) == 5
    assert len(moto.requests) == 1
    folder.read("1")
    assert len(moto.requests) == 3


def test_pickles(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    write(moto)
    pickled = pickle.dumps(open_address(URL, moto.options))
    folder = pickle.dumps(Folder(parse("s3://tables/folder", is_folder=True), Options(moto.options)))
    assert b"hidden" not in pickled + folder
    assert moto.url.encode() not in pickled + folder
    remote = pickle.loads(pickled)
    assert remote.size == len(CONTENT)
    match = "was not pickled, as it can be a secret.*credentials="
    fails(ArgumentError, match, lambda: remote.read_at(0, 1))
    fails(ArgumentError, match, lambda: pickle.loads(folder).list())
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    assert bytes(pickle.loads(pickled).read_at(5, 50)) == CONTENT[5:55]
    assert len(pickle.loads(folder).list()) == 1


def test_worker(moto: MotoServer, library: str, tmp_path: Path) -> None:
    """Another process takes the credentials from its environment."""
    write(moto)
    (tmp_path / "pickle").write_bytes(pickle.dumps(open_address(URL, moto.options)))
    code = "import pickle, sys; print(bytes(pickle.load(open(sys.argv[1], 'rb')).read_at(65, 4)))"
    package = str(Path(writing.__file__).parents[2])
    environment = {**os.environ, **moto.environment, "PYTHONPATH": package}
    command = [sys.executable, "-c", code, str(tmp_path / "pickle")]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert found.stdout.strip() == "b'ABCD'", found.stderr


def test_fork(moto: MotoServer, library: str) -> None:
    """The threads of obstore are not in a forked process, which gets an error and does not hang."""
    if library != "obstore":
        pytest.skip("fsspec starts a thread of its own")
    write(moto)
    code = """
import os, pickle, sys
from entasis._stores.remote import open_address
remote = open_address(sys.argv[1])
process = os.fork()
if not process:
    for use in (lambda: remote.read_at(0, 1), lambda: open_address(sys.argv[1])):
        try:
            use()
        except Exception as error:
            print(type(error).__name__, error, flush=True)
    os._exit(0)
os.waitpid(process, 0)
"""
    package = str(Path(writing.__file__).parents[2])
    environment = {**os.environ, **moto.environment, "PYTHONPATH": package}
    command = [sys.executable, "-W", "ignore", "-c", code, URL]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert found.stdout.count("FileError obstore was used before this process was forked") == 2, found.stderr


@pytest.mark.parametrize("url", ["https://host/x", "hf://datasets/u/r/x"])
def test_only_read(url: str) -> None:
    with pytest.raises(ArgumentError, match="only read"):
        put(parse(url), Options(), b"")
    with pytest.raises(ArgumentError, match="only read"):
        Folder(parse(url), Options())


def test_presigned(moto: MotoServer) -> None:
    """A signed address is opened as one of the web, and its signature is nowhere."""
    boto3 = pytest.importorskip("boto3")
    write(moto, url="s3://tables/x")
    client = boto3.client("s3", endpoint_url=moto.url, region_name="us-east-1",
                          aws_access_key_id="hidden-key", aws_secret_access_key=SECRET)  # fmt: skip
    url = client.generate_presigned_url("get_object", {"Bucket": "tables", "Key": "x"})
    remote = open_address(url, {"allow_http": True})
    assert bytes(remote.tail) == CONTENT[-65_536:]
    assert remote.name == f"{moto.url}/tables/x?..."
    fails(ArgumentError, "is not pickled, as its address can have a secret", lambda: pickle.dumps(remote))
    fails(MissingFileError, "tables/none", lambda: open_address(url.replace("/x?", "/none?")))


def test_refused_credentials(moto: MotoServer) -> None:
    write(moto)
    options = {"anon": True, "endpoint_url": moto.url, "region": "us-east-1"}
    match = "the store refused to read.*403.*check the credentials"
    fails(FilePermissionError, match, lambda: open_address(URL, options))


def test_texts_of_others_are_not_shown() -> None:
    error = PermissionError(f"Access denied for hidden-key, {SECRET}")
    found = failures.failure(error, parse(URL), "read")
    assert isinstance(found, FilePermissionError)
    assert str(found) == f"{URL}: the store refused to read; check the credentials and their permissions"
