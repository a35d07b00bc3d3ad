"""versitygw, a server of S3 that is faster than moto, for scans of long objects.

Its program is that of the variable VERSITYGW, the one that `tools/test-stores.py` built, or the one
on the path.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from .server import BUCKET

_BUILT = Path(__file__).resolve().parents[4] / "target" / "stores" / "bin" / "versitygw"
# Seconds until the server has to answer.
_PATIENCE_S = 20


def program() -> str | None:
    """The path of the program; None if it is not installed."""
    if found := os.environ.get("VERSITYGW"):
        return found
    return str(_BUILT) if _BUILT.exists() else shutil.which("versitygw")


@contextmanager
def gateway(path: str) -> Iterator[dict[str, str]]:
    """Start the server with an empty bucket for a `with` block, and yield options of a store."""
    with tempfile.TemporaryDirectory(prefix="bench-s3-") as folder:
        Path(folder, BUCKET).mkdir()
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{found.getsockname()[1]}"
        words = [path, "--access", "bench", "--secret", "bench", "--port", place, "posix", folder]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as running:
            try:
                _wait(f"http://{place}/")
                yield {
                    "aws_access_key_id": "bench",
                    "aws_secret_access_key": "bench",
                    "aws_endpoint_url": f"http://{place}",
                    "aws_region": "us-east-1",
                    "aws_allow_http": "true",
                }
            finally:
                running.terminate()


def _wait(url: str) -> None:
    """Wait until the server answers. A refusal is an answer."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        try:
            with urlopen(url):
                return
        except HTTPError:
            return
        except URLError:
            time.sleep(0.05)
    raise RuntimeError("versitygw does not answer")
