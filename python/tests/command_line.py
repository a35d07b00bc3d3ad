"""Runs commands as `python -m entasis` does, in forks of one process that has loaded the libraries.

A process of its own would load pandas, Polars and pyarrow for each command, which takes most of the
time. Elsewhere than on Linux, where libraries do not survive a fork, each command is a new process.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULES = ("numpy", "pandas", "pyarrow.parquet", "pyarrow.feather", "pyarrow.dataset", "polars", "entasis")
# Bytes of the words and variables of a command, and of what the process answers.
REQUEST, ANSWER = 1 << 20, 16


def run(
    *args: Any, stdin: bytes | None = None, env: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m entasis` with these words.

    Parameters
    ----------
    *args
        Words of the command; others than strings are made strings.
    stdin
        The standard input. `None` is an empty one.
    env
        All variables of the command. `None` stands for those of this process.
    timeout
        Seconds after which it is an error.

    Returns
    -------
    subprocess.CompletedProcess
        As `subprocess.run` gives it with `capture_output`.
    """
    words = [sys.executable, "-m", "entasis", *map(str, args)]
    if sys.platform != "linux":
        return subprocess.run(words, input=stdin or b"", capture_output=True, check=False, env=env, timeout=timeout)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin or b"")
        given.seek(0)
        request = json.dumps([words[3:], dict(os.environ if env is None else env), os.getcwd()]).encode()
        server = _server()
        server.settimeout(timeout)
        socket.send_fds(server, [request], [given.fileno(), out.fileno(), err.fileno()])
        code = int(server.recv(ANSWER))
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


@functools.cache
def _server() -> socket.socket:
    """The process that forks; it ends with this one."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, __file__, str(its.fileno())]
    process = subprocess.Popen(command, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
    its.close()

    def stop() -> None:
        ours.close()
        process.wait()

    atexit.register(stop)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork for each request, until the other end is closed."""
    for name in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    import entasis

    for module in pkgutil.walk_packages(entasis.__path__, "entasis."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    # Libraries may have threads that wait; none of them has a lock.
    warnings.simplefilter("ignore", DeprecationWarning)
    while True:
        request, fds, _, _ = socket.recv_fds(requests, REQUEST, 3)
        if not request:
            return
        child = os.fork()
        if not child:
            requests.close()
            _command(fds, *json.loads(request))
        for fd in fds:
            os.close(fd)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        requests.send(str(code).encode())


def _command(fds: list[int], words: list[str], env: dict[str, str], folder: str) -> None:
    """Become a command."""
    for stream, fd in enumerate(fds):
        os.dup2(fd, stream)
        os.close(fd)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["entasis", *words]
    from entasis._cli import main

    code = 1
    try:
        code = main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # The end of an interpreter with so many modules takes longer than most commands.
        os._exit(code)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        _serve(requests)
