"""Each kind of store against a server that answers as the store does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from entasis._stores.remote import open_address
from entasis.errors import ArgumentError, FileError, FilePermissionError

if TYPE_CHECKING:
    from stub_server import Stub

pytest.importorskip("obstore")
pytestmark = pytest.mark.usefixtures("no_credentials")

STORES = [
    ("s3://bucket/a/x", {}),
    ("s3a://bucket/a/x", {}),
    ("gs://bucket/a/x", {}),
    ("az://bucket/a/x", {"account_name": "account"}),
    ("abfss://bucket@account.dfs.core.windows.net/a/x", {}),
]


@pytest.mark.parametrize(("url", "options"), STORES)
def test_open(stub: Stub, url: str, options: dict[str, Any]) -> None:
    """All take two requests. Azure has no ranges that count from the end, and they follow each other."""
    remote = open_address(url, {**options, "endpoint_url": stub.root, "anon": True}, prefetch=1_000)
    assert bytes(remote.head) == stub.content[:12_288]
    assert bytes(remote.tail) == stub.content[-1_000:]
    assert bytes(remote.read_at(10, 20)) == stub.content[10:30]
    assert remote.n_requests == len(stub.requests) == 3
    assert {request.target.replace("%2F", "/") for request in stub.requests} == {"/bucket/a/x"}
    if url.startswith("a"):
        assert stub.ranges[:2] == ["bytes=0-12287", "bytes=255000-255999"]
        assert stub.requests[1].headers["if-match"] == '"one"'


@pytest.mark.parametrize("size", [0, 1, 12_288, 12_289, 70_000])
def test_sizes_on_azure(stub: Stub, size: int) -> None:
    stub.content = stub.content[:size]
    options = {"account_name": "account", "endpoint_url": stub.root, "anon": True}
    remote = open_address("az://bucket/x", options)
    assert (remote.size, bytes(remote.tail)) == (size, stub.content[-65_536:])


@pytest.mark.parametrize(
    ("status", "code", "error", "match"),
    [
        (301, "PermanentRedirect", FileError, "the bucket is in another region.*pass aws_region"),
        (400, "AuthorizationHeaderMalformed", FileError, "another region.*400 AuthorizationHeaderMalformed"),
        (400, "ExpiredToken", FilePermissionError, "refused to read.*400 ExpiredToken"),
        (403, "SignatureDoesNotMatch", FilePermissionError, "refused to read"),
        (503, "SlowDown", FileError, "failed to read.*503 SlowDown"),
    ],
)
def test_codes_of_s3(stub: Stub, status: int, code: str, error: Any, match: str) -> None:
    stub.before = lambda request: status
    stub.body = f"<Error><Code>{code}</Code><Message>hidden</Message></Error>".encode()
    options = {"key": "hidden", "secret": "hidden", "endpoint_url": stub.root, "max_retries": 1}
    with pytest.raises(error, match=match) as info:
        open_address("s3://bucket/x", options)
    assert "hidden" not in str(info.value)


@pytest.mark.parametrize("how", [403, 404, 503, "drop"])
def test_no_credentials(stub: Stub, monkeypatch: pytest.MonkeyPatch, how: Any) -> None:
    """Without credentials obstore asks the server that gives these to machines of AWS."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "none")
    stub.before = lambda request: how
    options = {"endpoint_url": stub.root, "metadata_endpoint": stub.root, "max_retries": 1}
    with pytest.raises(FilePermissionError, match="no credentials were found; pass storage_options"):
        open_address("s3://bucket/x", options)
    assert all("/latest/" in request.target for request in stub.requests)


def test_paths_that_obstore_lacks(stub: Stub) -> None:
    with pytest.raises(ArgumentError, match=r"has an empty part.* which obstore does not take"):
        open_address("s3://bucket/a//x", {"endpoint_url": stub.root, "anon": True})


def test_connections_are_kept(stub: Stub) -> None:
    """Stores with the same options share connections; other options are another store."""
    from entasis._stores import _obstore

    options = {"key": "a", "secret": "b", "endpoint_url": stub.root}
    _obstore._kept.clear()
    for i in range(3):
        open_address(f"s3://bucket/{i}", options)
    assert len(_obstore._kept) == 1
    open_address("s3://bucket/x", {**options, "key": "c"})
    assert len(_obstore._kept) == 2
    for i in range(20):
        open_address(f"s3://bucket{i}/x", options)
    assert len(_obstore._kept) == 16
