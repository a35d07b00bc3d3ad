"""Texts in gzip into Arrow, against the time that inflating alone takes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...context import Context
from ...datasets import texts
from ...hosts import WrongData
from .measure import INFLATE, Call, chosen, in_turn, keep, of_reader, show
from .read import reference
from .readers import readers

NAMES = ["lineitem", "taxi"]
PIECE = 1 << 20  # compressed bytes that are inflated at once


def run(context: Context) -> None:
    found = {}
    for name, path in chosen(context, NAMES).items():
        packed = texts.zipped(path)
        expected = reference(path, context.options.threads)
        every = readers("arrow", context.options.threads, expected)
        calls = [of_reader(reader, packed, expected) for reader in every]
        calls.append(_alone(packed, path.stat().st_size))
        in_turn(context, f"{name} in gzip", calls)
        keep(context, name, "gzip", "arrow", calls, expected.shape, packed.stat().st_size)
        found[name] = calls
    if found:
        show("texts in gzip into Arrow", found)


def _alone(packed: Path, n_bytes: int) -> Call:
    """Inflate by zlib-ng where it is installed, else by zlib. Pieces of the text are dropped."""
    module = "zlib_ng.zlib_ng" if find_spec("zlib_ng") else "zlib"
    zlib: Any = __import__(module, fromlist=["decompressobj"])

    def inflated() -> int:
        stream, n = zlib.decompressobj(wbits=31), 0
        with packed.open("rb", buffering=0) as file:
            while piece := file.read(PIECE):
                n += len(stream.decompress(piece))
        return n + len(stream.flush())

    def check(n: int) -> list[str]:
        if n != n_bytes:
            raise WrongData(f"{n} bytes instead of {n_bytes}")
        return []

    call = Call(INFLATE, "inflate alone", inflated, notes=[f"by {module.partition('.')[0]}"])
    call.checked(check)
    return call
