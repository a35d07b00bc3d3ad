"""Objects on the web, from servers that behave well and badly."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import Stub

from entasis._stores import retry
from entasis._stores.remote import Remote, open_address
from entasis.errors import ArgumentError, EntasisError, FileError, FilePermissionError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from stub_server import Request

HEAD = 12_288


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Options with few retries, for servers that never recover."""
    monkeypatch.setattr(retry, "MOST", 2)
    return {"max_retries": 1}


def first(n: int, how: Any, of: Callable[[Request], bool] = lambda request: True) -> Callable[[Request], Any]:
    """A server that answers the first requests in some way, and the others as usual."""
    left = [n]

    def reply(request: Request) -> Any:
        if left[0] and of(request):
            left[0] -= 1
            return how
        return None

    return reply


def together(n: int) -> Callable[[Request], Any]:
    """A server that answers when so many requests are under way, and fails if they do not come."""
    barrier = threading.Barrier(n)

    def reply(request: Request) -> Any:
        try:
            barrier.wait(20)
        except threading.BrokenBarrierError:
            return 400
        return None

    return reply


def fails(error: type[EntasisError], match: str, function: Callable[[], Any]) -> EntasisError:
    """Check an error: its type, text, and that it has nothing of another error."""
    with pytest.raises(error, match=match) as info:
        function()
    assert info.value.__cause__ is None
    assert info.value.__context__ is None
    assert info.value.file is not None
    assert info.value.file in str(info.value)
    return info.value


@pytest.mark.parametrize("size", [1, 100, HEAD - 1, HEAD, HEAD + 1, 65_535, 65_536, 65_537, 200_000])
def test_open(stub: Stub, library: str, size: int) -> None:
    stub.content = stub.content[:size]
    remote = open_address(stub.url)
    assert (remote.size, remote.name) == (size, stub.url)
    assert bytes(remote.head) == stub.content[:HEAD]
    assert bytes(remote.tail) == stub.content[-65_536:]
    assert bytes(remote.read_at(size // 2, size - size // 2)) == stub.content[size // 2 :]
    assert bytes(remote.read_at(size, 0)) == b""
    for offset, length in ((-1, 1), (0, -1), (size, 1), (0, size + 1)):
        with pytest.raises(ArgumentError, match="are not in"):
            remote.read_at(offset, length)


def test_empty(stub: Stub, library: str) -> None:
    stub.content = b""
    remote = open_address(stub.url)
    assert (remote.size, bytes(remote.head), bytes(remote.tail)) == (0, b"", b"")


@pytest.mark.parametrize("prefetch", [0, 1, 1_000, 1 << 20])
def test_prefetch(stub: Stub, library: str, prefetch: int) -> None:
    remote = open_address(stub.url, prefetch=prefetch)
    assert bytes(remote.tail) == stub.content[len(stub.content) - min(prefetch, len(stub.content)) :]
    assert bytes(remote.head) == stub.content[:HEAD]


def test_requests_of_obstore(stub: Stub) -> None:
    """One round trip opens: two requests that are under way at the same time."""
    pytest.importorskip("obstore")
    stub.before = together(2)
    remote = open_address(stub.url, prefetch=1_000)
    assert sorted(map(str, stub.ranges)) == ["bytes=-1000", "bytes=0-12287"]
    assert remote.n_requests == 2
    assert remote.identity == '"one"'
    stub.before = lambda request: None
    remote.read_at(5, 10)
    assert stub.ranges[2:] == ["bytes=5-14"]
    assert stub.requests[2].headers["if-match"] == '"one"'
    assert remote.n_requests == 3


def test_requests_of_fsspec(stub: Stub, library: str) -> None:
    if library != "fsspec":
        pytest.skip("the other library needs fewer")
    remote = open_address(stub.url, prefetch=1_000)
    assert [request.method for request in stub.requests] == ["HEAD", "GET", "GET"]
    assert sorted(map(str, stub.ranges[1:])) == ["bytes=0-12287", "bytes=255000-255999"]
    assert remote.n_requests == 3
    assert stub.requests[2].headers["if-match"] == '"one"'


def test_reads_at_the_same_time(stub: Stub, library: str) -> None:
    """Reads release the interpreter, as the server is in this process."""
    remote = open_address(stub.url)
    assert (remote.parallel, remote.is_serial) == (10, False)
    stub.before = together(10)
    found: dict[int, bytes] = {}

    def read(i: int) -> None:
        found[i] = bytes(remote.read_at(i * 1_000, 900))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(10)]
    n_before = len(stub.requests)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: stub.content[i * 1_000 : i * 1_000 + 900] for i in range(10)}
    assert len(stub.requests) == n_before + 10


@pytest.mark.parametrize("how", [503, 429, 500, "drop", "break"])
def test_recovers(stub: Stub, library: str, how: Any) -> None:
    remote = open_address(stub.url)
    stub.before = first(1, how)
    assert bytes(remote.read_at(100, 50_000)) == stub.content[100:50_100]
    n = len(stub.requests)
    stub.before = first(2, how)
    assert bytes(open_address(stub.url).tail) == stub.content[-65_536:]
    assert len(stub.requests) > n


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        (503, FileError, "the server failed to read.*503.*try later"),
        ("drop", FileError, "connection to the server failed"),
        ("break", FileError, "connection to the server failed"),
        (403, FilePermissionError, "refused to read.*403.*check the credentials"),
        (401, FilePermissionError, "refused to read.*401"),
        (404, MissingFileError, "does not exist.*404.*check the address"),
        (410, FileError, "refused to read.*410"),
        ("whole", FileError, "ignores ranges and sends the whole object; download it"),
        ("lie", FileError, "sent fewer bytes"),
    ],
)
def test_fails(stub: Stub, library: str, few: dict[str, Any], how: Any, error: Any, match: str) -> None:
    remote = open_address(stub.url, few)
    stub.before = lambda request: how
    fails(error, match, lambda: remote.read_at(100, 50_000))
    if how in ("whole", "lie") and library == "fsspec":
        return
    found = fails(error, match, lambda: open_address(stub.url + "?signature=hidden", few))
    assert "?..." in str(found)


@pytest.mark.parametrize("how", [401, 403, 404])
def test_refusals_are_final(stub: Stub, library: str, how: int) -> None:
    remote = open_address(stub.url)
    n = len(stub.requests)
    stub.before = lambda request: how
    with pytest.raises(FileError):
        remote.read_at(0, 10)
    assert len(stub.requests) == n + 1


def test_shifted_range(stub: Stub) -> None:
    pytest.importorskip("obstore")
    remote = open_address(stub.url)
    stub.before = lambda request: "shift"
    fails(FileError, "failed to read", lambda: remote.read_at(100, 50))


def test_no_server(library: str, few: dict[str, Any]) -> None:
    with Stub() as server:
        url = server.url
    fails(FileError, "connection to the server failed", lambda: open_address(url, few))


def test_slow_server(stub: Stub) -> None:
    pytest.importorskip("obstore")
    stub.delay = 1
    options = {"max_retries": 0, "timeout": 0.2}
    fails(FileError, "did not answer in time", lambda: open_address(stub.url, options))


@pytest.mark.parametrize("etag", ['"two"', None])
def test_replaced_while_open(stub: Stub, library: str, etag: str | None) -> None:
    """The ETag notices it, or else the time of the change."""
    if etag is None:
        stub.etag = None
    remote = open_address(stub.url)
    stub.content = stub.content[::-1]
    stub.etag, stub.modified = etag, "Wed, 02 Sep 2026 12:00:00 GMT"
    match = "the file was replaced while it was open: open it again"
    if library == "obstore" or etag is not None:
        fails(FileError, match, lambda: remote.read_at(0, 100))
    fails(FileError, match, remote.check)


def test_replaced_by_another_size(stub: Stub) -> None:
    pytest.importorskip("obstore")
    stub.etag = stub.modified = None
    remote = open_address(stub.url)
    assert remote.identity == ""
    stub.content += b"more"
    fails(FileError, "was replaced", lambda: remote.read_at(0, 100))


def test_weak_tag(stub: Stub, library: str) -> None:
    """A weak ETag never matches If-Match, and is compared with the one of the reply."""
    stub.etag = 'W/"one"'
    remote = open_address(stub.url)
    assert bytes(remote.read_at(0, 100)) == stub.content[:100]
    assert not any("if-match" in request.headers for request in stub.requests)
    stub.etag = 'W/"two"'
    if library == "obstore":
        fails(FileError, "was replaced", lambda: remote.read_at(0, 100))
    fails(FileError, "was replaced", remote.check)


def test_replaced_while_opening(stub: Stub, few: dict[str, Any]) -> None:
    """The beginning and the end are of one version: the object is opened again, but not forever."""
    pytest.importorskip("obstore")
    n = [0]

    def change(request: Request) -> None:
        n[0] += 1
        if n[0] <= changes:
            stub.etag = f'"{n[0]}"'

    stub.before, changes = change, 2
    remote = open_address(stub.url)
    assert bytes(remote.head) == stub.content[:HEAD]
    n[0], changes = 0, 1_000
    fails(FileError, "was replaced", lambda: open_address(stub.url))


def test_no_ranges_from_the_end(stub: Stub) -> None:
    """Some servers answer these with everything, and Azure with an error."""
    pytest.importorskip("obstore")

    for how in ("whole", 416):
        stub.before = lambda request, how=how: how if (request.range or "").startswith("bytes=-") else None
        assert bytes(open_address(stub.url).tail) == stub.content[-65_536:]


def test_redirect_keeps_no_credentials(stub: Stub, library: str) -> None:
    with Stub(stub.content) as other:
        stub.before = lambda request: f"redirect {other.url}"
        url = stub.url.replace("http://", "http://user:hidden@")
        for address, options in ((url, {}), (stub.url, {"token": "hidden", "headers": {"cookie": "hidden"}})):
            remote = open_address(address, options)
            assert bytes(remote.read_at(3, 4)) == stub.content[3:7]
        assert all("authorization" in request.headers for request in stub.requests)
        assert other.requests
        for request in other.requests:
            assert "hidden" not in str(request.headers)
            assert "authorization" not in request.headers


def test_headers(stub: Stub, library: str) -> None:
    open_address(stub.url, {"token": "t", "headers": {"User-Agent": "me"}})
    assert {request.headers["authorization"] for request in stub.requests} == {"Bearer t"}
    assert {request.headers["user-agent"] for request in stub.requests} == {"me"}
    stub.requests.clear()
    open_address(stub.url, {"username": "a", "password": "b"})
    open_address(stub.url, credentials=lambda: {"token": "c"})
    assert {request.headers["authorization"] for request in stub.requests} == {"Basic YTpi", "Bearer c"}
    with pytest.raises(ArgumentError, match="the header 'x-key' would follow redirects"):
        open_address(stub.url, {"headers": {"X-Key": "hidden"}})
    with pytest.raises(ArgumentError, match="the storage option 'region' is not known for web addresses"):
        open_address(stub.url, {"region": "hidden"})


def broken() -> Any:
    raise ValueError("hidden")


def test_credentials_that_fail(stub: Stub, library: str) -> None:
    match = "the function credentials raised ValueError; it returns a dict of credentials"
    fails(FilePermissionError, match, lambda: open_address(stub.url, credentials=broken))
    for url in ("s3://bucket/x", "gs://bucket/x") if library == "obstore" else ("s3://bucket/x",):
        options = {"endpoint_url": stub.root}
        fails(FilePermissionError, match, lambda url=url, options=options: open_address(url, options, broken))
    assert stub.requests == []


def test_targets_are_sent_as_written(stub: Stub, library: str) -> None:
    """The encoding of a path and a signature are kept."""
    target = "/a%2Fb/c%20d%C3%A9?signature=a%2Fb%3D&x=1"
    remote = open_address(stub.root + target)
    assert {request.target for request in stub.requests} == {target}
    assert remote.name == f"{stub.root}/a%2Fb/c%20d%C3%A9?..."


def test_hugging_face(stub: Stub, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses become requests to the hub, which redirects to servers with the content."""
    with Stub(stub.content) as other:
        stub.before = lambda request: f"redirect {other.url}"
        monkeypatch.setenv("HF_ENDPOINT", stub.root)
        monkeypatch.setenv("HF_TOKEN", "hidden")
        remote = open_address("hf://datasets/user/repo@refs%2Fpr%2F1/a/b c.entasis")
        assert bytes(remote.read_at(9, 9)) == stub.content[9:18]
        target = "/datasets/user/repo/resolve/refs%2Fpr%2F1/a/b%20c.entasis"
        assert {request.target for request in stub.requests} == {target}
        assert {request.headers["authorization"] for request in stub.requests} == {"Bearer hidden"}
        assert not any("authorization" in request.headers for request in other.requests)
        assert remote.name == "hf://datasets/user/repo@refs/pr/1/a/b c.entasis"


def test_lazy(stub: Stub, library: str) -> None:
    """An unpickled object sends no request before it is read, and then reads the same object."""
    import pickle

    remote = open_address(stub.url, prefetch=100)
    pickled = pickle.dumps(remote)
    stub.requests.clear()
    copy: Remote = pickle.loads(pickled)
    assert (copy.size, copy.identity, copy.name) == (remote.size, remote.identity, remote.name)
    assert stub.requests == []
    assert bytes(copy.read_at(7, 70)) == stub.content[7:77]
    assert len(stub.requests) == (1 if library == "obstore" else 2)
    assert bytes(copy.tail) == stub.content[-100:]
    stub.etag = '"two"'
    for use in (lambda of: of.read_at(0, 1), lambda of: of.head, lambda of: of.check()):
        copy = pickle.loads(pickled)
        fails(FileError, "was replaced", lambda use=use, copy=copy: use(copy))


def test_repr(stub: Stub, library: str) -> None:
    remote = open_address(stub.url + "?sig=hidden", {"token": "hidden"})
    assert repr(remote) == f"Remote('{stub.url}?...')"
