#!/usr/bin/env python3
"""Run the tests of stores against servers of S3 and Azure on this machine.

versitygw is built by Go, and Azurite is installed by npm, both into a folder of the build. A server
whose tool is missing is left out with a note. The exit code is that of pytest, and 77 if no server
could be started.

Usage: tools/test-stores.py [--folder target/stores] [PYTEST ARGUMENTS...]
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.utils import formatdate
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parent.parent
VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
AZURITE = "azurite@3.35.0"
BUCKET = "tables"
# Seconds until a server has to answer.
PATIENCE_S = 30
# The account that Azurite has, whose key is public.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "stores")
    args, rest = parser.parse_known_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        servers = []
        for start in (versitygw, azurite):
            found = running.enter_context(start(args.folder))
            if found is not None:
                servers.append(found)
        if not servers:
            return 77
        environment = {**os.environ, "ENTASIS_TEST_STORES": json.dumps(servers)}
        tests = ROOT / "python" / "tests" / "test_stores_servers.py"
        command = [sys.executable, "-m", "pytest", "-q", str(tests), *rest]
        return subprocess.run(command, env=environment, check=False).returncode


@contextmanager
def versitygw(folder: Path) -> Iterator[dict | None]:
    """Run versitygw on a new folder for a `with` block; None if it can't be built."""
    program = folder / "bin" / "versitygw"
    if not program.exists() and not installed(
        "versitygw", "go", ["install", VERSITYGW], {"GOBIN": str(program.parent)}, folder
    ):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="entasis-s3-") as objects:
        Path(objects, BUCKET).mkdir()
        port = free_port()
        words = ["--access", "test-key", "--secret", "test-secret", "--port", f"127.0.0.1:{port}"]
        with process([program, *words, "posix", objects], port):
            options = {
                "aws_access_key_id": "test-key",
                "aws_secret_access_key": "test-secret",
                "aws_endpoint_url": f"http://127.0.0.1:{port}",
                "aws_region": "us-east-1",
            }
            yield {"name": "versitygw", "url": f"s3://{BUCKET}", "options": options}


@contextmanager
def azurite(folder: Path) -> Iterator[dict | None]:
    """Run Azurite in memory for a `with` block; None if it can't be installed."""
    place = folder / "azurite"
    program = place / "node_modules" / ".bin" / "azurite-blob"
    if not program.exists():
        place.mkdir(exist_ok=True)
        (place / "package.json").write_text("{}\n")
        words = ["install", "--no-audit", "--no-fund", "--silent", AZURITE]
        if not installed("Azurite", "npm", words, {}, place):
            yield None
            return
    port = free_port()
    words = ["--blobHost", "127.0.0.1", "--blobPort", str(port)]
    words += ["--inMemoryPersistence", "--skipApiVersionCheck", "--silent", "--disableTelemetry"]
    with process([program, *words], port):
        make_container(port)
        options = {
            "account_name": ACCOUNT,
            "account_key": ACCOUNT_KEY,
            "endpoint": f"http://127.0.0.1:{port}/{ACCOUNT}",
        }
        yield {"name": "azurite", "url": f"az://{BUCKET}", "options": options}


def make_container(port: int) -> None:
    """Make the container by a request with the key of the account."""
    now, version = formatdate(usegmt=True), "2021-08-06"
    path = f"/{ACCOUNT}/{BUCKET}"
    text = "PUT\n" + "\n" * 11 + f"x-ms-date:{now}\nx-ms-version:{version}\n/{ACCOUNT}{path}"
    text += "\nrestype:container"
    digest = hmac.new(base64.b64decode(ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": now,
        "x-ms-version": version,
        "Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}",
        "Content-Length": "0",
    }
    url = f"http://127.0.0.1:{port}{path}?restype=container"
    with urlopen(Request(url, method="PUT", headers=headers)):
        pass


def installed(name: str, tool: str, words: list[str], variables: dict, folder: Path) -> bool:
    """Whether a tool could install a server."""
    if shutil.which(tool) is None:
        print(f"note: {name} is left out: {tool} is not installed")
        return False
    environment = {**os.environ, **variables}
    done = subprocess.run([tool, *words], env=environment, cwd=folder, check=False)
    if done.returncode:
        print(f"note: {name} is left out: {tool} could not install it")
    return done.returncode == 0


@contextmanager
def process(words: list, port: int) -> Iterator[None]:
    """Run a server for a `with` block, which begins when it answers."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as running:
        try:
            wait(port, running)
            yield
        finally:
            running.terminate()


def wait(port: int, running: subprocess.Popen) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/", timeout=1):
                return
        except URLError as error:
            # A refusal is an answer.
            if hasattr(error, "code"):
                return
            if running.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{running.args[0]} does not answer") from error
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
