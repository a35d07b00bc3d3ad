"""The values of files with a JSON object per line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import warnings
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries

if TYPE_CHECKING:
    from collections.abc import Callable


def read(source: str | bytes | list[str | bytes], name: str) -> Any:
    """Lines of JSON objects, as a frame of Polars or pandas. Several sources follow each other."""
    with _libraries.reading(name):
        found: Any = _joined(source) if isinstance(source, list) else _plain(source)
        polars = _libraries.load("polars")
        if polars is not None:
            return polars.read_ndjson(found, infer_schema_length=None)
        pandas = _libraries.need("JSON lines", "polars", "pandas")
        with warnings.catch_warnings():
            # pandas 3.1 announces another argument instead, which older versions lack.
            warnings.simplefilter("ignore")
            return pandas.read_json(found, lines=True, convert_dates=False, precise_float=True)


_CODECS: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", gzip.decompress),
    (b"BZh", bz2.decompress),
    (b"\xfd7zXZ\0", lzma.decompress),
    (b"\x28\xb5\x2f\xfd", lambda content: _of_zstandard(content)),
)


def _plain(source: str | bytes) -> Any:
    """The path of plain lines, or a file in memory with the decompressed content."""
    if isinstance(source, str):
        with open(source, "rb") as file:
            head = file.read(8)
            if not any(head.startswith(magic) for magic, _ in _CODECS):
                return source
            source = head + file.read()
    for magic, decompress in _CODECS:
        if source.startswith(magic):
            return io.BytesIO(decompress(source))
    return io.BytesIO(source)


def _joined(sources: list[str | bytes]) -> Any:
    """The decompressed lines of several sources."""
    parts = []
    for source in sources:
        found = _plain(source)
        if isinstance(found, str):
            with open(found, "rb") as file:
                parts.append(file.read())
        else:
            parts.append(found.getvalue())
    return io.BytesIO(b"\n".join(part.rstrip(b"\n") for part in parts if part.strip()))


def _of_zstandard(content: bytes) -> bytes:
    pa = _libraries.need("Zstandard", "pyarrow")
    with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
        found: bytes = stream.read()
        return found
