"""A server of one object for tests, which can behave badly in many ways."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Request:
    """One request as the server got it."""

    def __init__(self, method: str, target: str, headers: dict[str, str]) -> None:
        self.method, self.target, self.headers = method, target, headers

    @property
    def range(self) -> str | None:
        return self.headers.get("range")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients close connections that they do not need."""


class Stub:
    """A server of `content` under all paths.

    Attributes
    ----------
    content, etag, modified
        The object, its ETag or None, and the header Last-Modified or None.
    requests
        All requests up to now.
    delay
        Seconds before each reply.
    before
        Called with each request before the reply. It can change the object, and returns None for
        the usual reply, or the name of another one: `break` (half of the body), `drop` (no
        reply), `whole` (200 and everything), `lie` (a body that is too short, with a matching
        length), `shift` (a range other than the requested one), or a status as an integer, or
        `redirect ADDRESS`.
    """

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
        self.etag: str | None = '"one"'
        self.modified: str | None = "Tue, 01 Sep 2026 12:00:00 GMT"
        self.delay = 0.0
        self.requests: list[Request] = []
        self.before: Callable[[Request], Any] = lambda request: None
        self.body = b"<Error><Code>Stubbed</Code></Error>"
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Stub:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.root}/folder/frame.entasis"

    @property
    def ranges(self) -> list[str | None]:
        return [request.range for request in self.requests]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *of: Any) -> None:
                pass

            def do_GET(self) -> None:
                stub._reply(self)

            do_HEAD = do_PUT = do_GET

        return Handler

    def _reply(self, to: BaseHTTPRequestHandler) -> None:
        request = Request(to.command, to.path, {name.lower(): value for name, value in to.headers.items()})
        to.rfile.read(int(to.headers.get("content-length", 0)))
        self.requests.append(request)
        if self.delay:
            time.sleep(self.delay)
        how = self.before(request)
        if how == "drop":
            _reset(to)
            return
        if isinstance(how, int):
            self._send(to, how, self.body if how >= 400 else b"", {})
        elif isinstance(how, str) and how.startswith("redirect "):
            self._send(to, 302, b"", {"Location": how.partition(" ")[2]})
        else:
            self._object(to, request, how)

    def _object(self, to: BaseHTTPRequestHandler, request: Request, how: str | None) -> None:
        content, headers = self.content, {"Accept-Ranges": "bytes"}
        if self.etag is not None:
            headers["ETag"] = self.etag
        if self.modified is not None:
            headers["Last-Modified"] = self.modified
        wanted = request.headers.get("if-match")
        if wanted is not None and wanted != self.etag:
            self._send(to, 412, b"", {})
            return
        start, end = _bounds(request.range, len(content))
        if request.range is None or how == "whole":
            self._send(to, 200, content, headers)
            return
        if start >= end:
            self._send(to, 416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        if how == "shift":
            start, end = start + 1, end + 1
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
        body = content[start:end]
        if how == "lie":
            body = body[: len(body) // 2]
        self._send(to, 206, body, headers, is_broken=how == "break")

    def _send(
        self, to: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str], is_broken: bool = False
    ) -> None:
        to.send_response(status)
        for name, value in headers.items():
            to.send_header(name, value)
        to.send_header("Content-Length", str(len(body)))
        to.end_headers()
        if to.command != "HEAD":
            to.wfile.write(body[: len(body) // 2] if is_broken else body)
        if is_broken:
            _reset(to)


def _bounds(text: str | None, size: int) -> tuple[int, int]:
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", text or "")
    if found is None:
        return 0, size
    if not found[1]:
        return max(0, size - int(found[2])), size
    return int(found[1]), min(int(found[2]) + 1, size) if found[2] else size


def _reset(to: BaseHTTPRequestHandler) -> None:
    to.wfile.flush()
    to.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    to.close_connection = True
    to.connection.close()
