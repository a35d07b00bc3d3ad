"""A server of S3 in a process of its own, with a delay for each request and a count of them.

moto has the objects in memory. The program prints its port.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import urlopen

BUCKET = "bench"
_OWN = "/__bench__/"


class Server:
    """A server that runs.

    Attributes
    ----------
    options
        The options of a store on it, by the names of obstore and Polars.
    """

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self.options = {
            "aws_access_key_id": "bench",
            "aws_secret_access_key": "bench",
            "aws_endpoint_url": self._url,
            "aws_region": "us-east-1",
            "aws_allow_http": "true",
        }

    def delay(self, seconds: float) -> None:
        """Wait before each reply from now on."""
        self._ask(f"delay?{seconds}")

    def n_requests(self) -> int:
        """The requests since the last call."""
        return int(self._ask("requests"))

    def noted(self) -> str:
        """The requests since the last call, as a note."""
        return f"{self.n_requests()} requests"

    def _ask(self, what: str) -> str:
        with urlopen(f"{self._url}{_OWN}{what}") as reply:
            return str(reply.read().decode())


@contextmanager
def server() -> Iterator[Server]:
    """Start a server for a `with` block."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None, "it is a pipe"
            yield Server(json.loads(process.stdout.readline()))
        finally:
            process.terminate()


class _Application:
    """moto, with the delay and the count."""

    def __init__(self) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app

        self._moto = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()
        self._seconds, self._n = 0.0, 0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        path = environ["PATH_INFO"]
        if path.startswith(_OWN):
            reply = self._own(path.removeprefix(_OWN), environ["QUERY_STRING"]).encode()
            start("200 OK", [("Content-Length", str(len(reply)))])
            return [reply]
        with self._lock:
            self._n += 1
        time.sleep(self._seconds)
        return self._moto(environ, start)

    def _own(self, what: str, argument: str) -> str:
        if what == "delay":
            self._seconds = float(argument)
            return ""
        with self._lock:
            n, self._n = self._n, 0
        return str(n)


def _serve() -> None:
    import logging

    from werkzeug.serving import WSGIRequestHandler, make_server

    # Connections stay open, as those of a store do.
    WSGIRequestHandler.protocol_version = "HTTP/1.1"
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    found = make_server("127.0.0.1", 0, _Application(), threaded=True)
    print(found.server_port, flush=True)
    found.serve_forever()


if __name__ == "__main__":
    _serve()
