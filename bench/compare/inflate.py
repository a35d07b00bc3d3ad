"""The time that inflating gzip takes alone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

PIECE = 1 << 20  # compressed bytes that are inflated at once


def library() -> str:
    """zlib-ng where it is installed, else zlib."""
    return "zlib_ng.zlib_ng" if find_spec("zlib_ng") else "zlib"


def inflated(path: Path) -> int:
    """Inflate a file, drop its content, and return its length."""
    zlib: Any = __import__(library(), fromlist=["decompressobj"])
    stream, n = zlib.decompressobj(wbits=31), 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(PIECE):
            n += len(stream.decompress(piece))
    return n + len(stream.flush())
