"""Files of qs2 from a stream of R's serialization, and the time that their blocks take alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

BLOCK = 1 << 20  # plain bytes
SHUFFLED = 1 << 31  # in the length of a block
MAGIC = bytes([0x0B, 0x0E, 0x0A, 0xC1, 1, 1, 2, 1])  # version, Zstandard, little-endian, shuffled


def pack(stream: Path, target: Path) -> None:
    """Write a file like the default of `qs_save`: level 3, bytes of words in planes, no hash."""
    codec = pa.Codec("zstd", compression_level=3)
    with stream.open("rb") as source, target.open("wb") as file:
        file.write(MAGIC + bytes(16))
        while plain := source.read(BLOCK):
            words = len(plain) // 8 * 8
            planes = np.frombuffer(plain, np.uint8, words).reshape(-1, 8).T.tobytes()
            block = codec.compress(planes + plain[words:], asbytes=True)
            file.write(struct.pack("<I", len(block) | SHUFFLED) + block)


def unpacked(path: Path, threads: int) -> int:
    """Decompress all blocks, drop their content, and return its length."""
    content = path.read_bytes()
    codec = pa.Codec("zstd")

    def length(block: memoryview) -> int:
        # Blocks have different lengths, which their frames record.
        return len(pa.py_buffer(codec.decompress(block, _length(block))))

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(length, _blocks(content)))


def _blocks(content: bytes) -> Iterator[memoryview]:
    at = 24
    while at < len(content):
        length = struct.unpack_from("<I", content, at)[0] & (SHUFFLED - 1)
        yield memoryview(content)[at + 4 : at + 4 + length]
        at += 4 + length


def _length(block: memoryview) -> int:
    """The length of the content, which the header of a frame of Zstandard records."""
    descriptor = block[4]
    size = descriptor >> 6
    is_single = descriptor >> 5 & 1
    at = 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    if size == 0:
        return block[at] if is_single else BLOCK
    width = 1 << size
    value = int.from_bytes(block[at : at + width], "little")
    return value + 256 if size == 1 else value
