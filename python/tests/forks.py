"""Runs commands and scripts in forks of one process that has loaded the libraries.

A process of its own would load pandas, Polars and pyarrow each time, which takes longer than most
commands. Elsewhere than on Linux, where libraries do not survive a fork, each is a new process.
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
import runpy
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODULES = ("numpy", "pandas", "pyarrow.parquet", "pyarrow.feather", "pyarrow.dataset", "polars", "entasis")
# Bytes of words and variables, and of an exit code.
REQUEST, ANSWER = 1 << 20, 16


def command(
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
    return _run(["-m", "entasis", *map(str, args)], stdin, env, timeout)


def script(path: Path, *args: Any, timeout: float = 120) -> subprocess.CompletedProcess[bytes]:
    """Run a script of Python as `python path args...` does, without input."""
    return _run([str(path), *map(str, args)], None, None, timeout)


def _run(
    words: list[str], stdin: bytes | None, env: Mapping[str, str] | None, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *words]
    if sys.platform != "linux":
        return subprocess.run(command, input=stdin or b"", capture_output=True, check=False, env=env, timeout=timeout)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin or b"")
        given.seek(0)
        request = json.dumps([words, dict(os.environ if env is None else env), os.getcwd()]).encode()
        server = _server()
        server.settimeout(timeout)
        socket.send_fds(server, [request], [given.fileno(), out.fileno(), err.fileno()])
        code = int(server.recv(ANSWER))
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())


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
            _become(fds, *json.loads(request))
        for fd in fds:
            os.close(fd)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        requests.send(str(code).encode())


def _become(fds: list[int], words: list[str], env: dict[str, str], folder: str) -> None:
    """Do what a new process of Python with these words does."""
    for stream, fd in enumerate(fds):
        os.dup2(fd, stream)
        os.close(fd)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    code = 0
    try:
        if words[0] == "-m":
            from entasis._cli import main

            sys.argv = words[1:]
            code = main()
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        code = 1
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # The end of an interpreter with so many modules takes longer than most commands.
        os._exit(code)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        _serve(requests)
