"""Text files that would take a careless reader quadratic time or memory without bounds."""

import gzip
import multiprocessing
import re
import resource
import zlib
from collections.abc import Callable
from pathlib import Path

import entasis as en

MIB = 1 << 20


def bomb(start: bytes, byte: bytes, n_mib: int) -> bytes:
    """A gzip member of `start` and many equal bytes, made without so much memory."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(start)]
    parts += [packer.compress(byte * MIB) for _ in range(n_mib)]
    return b"".join([*parts, packer.flush()])


def wide(n: int) -> bytes:
    """A header and a row with `n` fields, all names equal."""
    return b"a," * (n - 1) + b"a\n" + b"1," * (n - 1) + b"1\n"


# Each text, options, and the words of the error or the number of rows and columns.
TEXTS: dict[str, tuple[Callable[[], bytes], dict[str, object], str | tuple[int, int]]] = {
    "an open quote": (
        lambda: b'a,b\n1,"x\n' + b"y,z\n" * (8 * MIB),
        {},
        "line 2, byte 6, does not end",
    ),
    "quotes alone": (
        lambda: b"a\n" + b'"' * (32 * MIB) + b"\n",
        {"sep": ",", "quote": '"'},
        (1, 1),
    ),
    "a quote in each line": (
        lambda: b"a\n" + b'x"y\n' * (2 * MIB),
        {"sep": ",", "quote": '"'},
        (2 * MIB, 1),
    ),
    "many columns": (lambda: wide(200_000), {"sep": ","}, (1, 200_000)),
    "zeros": (
        lambda: b"a,b\n" + b"\0" * (32 * MIB) + b",1\n",
        {"sep": ",", "encoding": "utf-8"},
        (1, 2),
    ),
    "a long row": (
        lambda: b"a,b\n" + b"," * (80 * MIB) + b"\n",
        {"sep": ","},
        "has more than 67108864 bytes",
    ),
    "a problem in each row": (
        lambda: b"a,b\n" + b"1\n" * (4 * MIB),
        {"sep": ","},
        "expected 2 fields",
    ),
    "problems that are left out": (
        lambda: b"a,b\n" + b"1\n" * (4 * MIB) + b"1,2\n",
        {"sep": ",", "on_error": "skip"},
        (1, 2),
    ),
    "a packed line": (
        lambda: bomb(b"a\n", b"x", 512),
        {},
        "has more than 67108864 bytes",
    ),
    "packed blank lines": (lambda: bomb(b"", b"\n", 512), {}, "has no rows"),
    "packed packed zeros": (lambda: gzip.compress(bomb(b"", b"\0", 512)), {}, ""),
}


def outcome(name: str) -> None:
    """Read one text under limits of memory and processor time. Fails for a wrong outcome."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    text, options, expected = TEXTS[name]
    try:
        table = en.read_csv(text(), to="numpy", **options)
    except en.EntasisError as error:
        if not isinstance(expected, str) or not re.search(re.escape(expected), str(error)):
            raise
    else:
        shape = (len(next(iter(table.values()))), len(table))
        if shape != expected:
            raise AssertionError(f"{shape}, not {expected}")


def attack(folder: Path) -> str:
    del folder
    spawn = multiprocessing.get_context("fork")
    failed = []
    for name in TEXTS:
        child = spawn.Process(target=outcome, args=(name,))
        child.start()
        child.join()
        if child.exitcode != 0:
            failed.append(name)
    return (
        f"failed: {', '.join(failed)}"
        if failed
        else "read, or refused with the place, in bounded time and memory"
    )
