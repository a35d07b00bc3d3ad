"""An S3 server for tests, whose requests are counted and can fail."""

from __future__ import annotations

import logging
import socket
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BUCKET = "tables"
SECRET = "hidden-secret"


class MotoServer:
    """A server of moto on this machine, with the bucket `tables`.

    Attributes
    ----------
    requests
        The method and the target of all requests.
    before
        Called with the method and the target. It returns None for the usual reply, or `503` for a
        failure, `503 after` for one after the request was done, or `break` for no reply.
    """

    def __init__(self) -> None:
        from moto.server import create_backend_app
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.requests: list[tuple[str, str]] = []
        self.before: Callable[[str, str], Any] = lambda method, target: None
        # The application of all services lists the folders of moto for each request.
        self._application = create_backend_app("s3")
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def options(self) -> dict[str, Any]:
        """Storage options for this server."""
        return {
            "aws_access_key_id": "hidden-key",
            "aws_secret_access_key": SECRET,
            "aws_endpoint_url": self.url,
            "aws_region": "us-east-1",
        }

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that say the same."""
        return {
            "AWS_ACCESS_KEY_ID": "hidden-key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
        }

    def clear(self) -> None:
        """Empty the bucket, and forget the requests."""
        from urllib.request import Request, urlopen

        from moto.core.base_backend import BackendDict

        self.before = lambda method, target: None
        BackendDict.reset()
        with urlopen(Request(f"{self.url}/{BUCKET}", method="PUT")):
            pass
        self.requests.clear()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        method, target = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if environ["QUERY_STRING"]:
            target += f"?{environ['QUERY_STRING']}"
        self.requests.append((method, target))
        how = self.before(method, target)
        if how is None:
            return self._application(environ, start)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)) if how != "503 after" else None
        if how == "503 after":
            list(self._application(environ, lambda *of: lambda data: None))
        if how == "break":
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        body = b"<Error><Code>ServiceUnavailable</Code></Error>"
        start("503 Service Unavailable", [("Content-Length", str(len(body))), ("Content-Type", "application/xml")])
        return [body]
