"""The headline frame in a file of fst, as its default compression writes it: blocks of LZ4."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...frames.headline import headline
from ...hosts import WrongData
from . import peak

if TYPE_CHECKING:
    import pandas as pd

N_ROWS = 50_000_000
BLOCK = 1 << 14  # bytes of values
SEED = 912_824_571  # of the hashes of structures
ORDER = [6, 4, 2, 0, 7, 5, 3, 1]  # of values in groups of 8
TEXT, FACTOR, INTEGER, DOUBLE, LOGICAL = 6, 7, 8, 9, 10
CLASSES = {LOGICAL: 15, INTEGER: 5, DOUBLE: 10, FACTOR: 3}
PLANES, DOUBLES, LOGICALS, BYTES = 2, 1, 7, 10  # algorithms
MISSING = np.int32(-(2**31))


def run(context: Context) -> None:
    import entasis as en

    # Groups of 32 values are whole.
    n_rows = max(context.scaled(N_ROWS) // 32 * 32, 32)
    given = headline(n_rows)
    path = (context.work / "headline.fst").resolve()
    path.write_bytes(content(given))
    threads = context.options.threads
    call = Call("entasis", "Entasis", lambda: en.read(str(path), to="pandas", threads=threads))
    call.checked(partial(_differences, given))
    in_turn(context, "fst", [call])
    call.peak_bytes = peak.of_reading(path, "pandas", threads)
    size = path.stat().st_size
    keep(context, "headline", "read-fst", "pandas", [call], given.shape, size, section="convert")
    show(f"{n_rows:,} rows of fst into pandas", {"headline": [call]})
    path.unlink()


def content(frame: pd.DataFrame) -> bytes:
    """The file of a headline frame."""
    logical, integer, real, factor = (frame[name] for name in frame.columns)
    booleans = logical.array
    ints = np.where(booleans._mask, MISSING, booleans._data).astype(np.int32)
    columns = [
        (LOGICAL, _numbers(_logicals(ints), LOGICALS, 4096)),
        (INTEGER, _numbers(_planes(integer.to_numpy()), PLANES, 4096)),
        (DOUBLE, _numbers(_blocks(real.to_numpy().tobytes(), BLOCK), DOUBLES, 2048)),
        (FACTOR, _factor(factor)),
    ]
    n = len(columns)
    chunkset_at = 48
    head = _hashed(struct.pack("<8xIi8xIiQi4s", 1, 1, 1, n, chunkset_at, 0, b"PAAP"))
    chunkset = struct.pack("<8x56xQi4x", len(frame), n)
    for row in ([CLASSES[of] for of, _ in columns], *2 * [[of for of, _ in columns]], [4] * n):
        chunkset += struct.pack(f"<{n}H", *row)
    names = _hashed(bytes(24)) + _texts(list(frame.columns))
    before = head + _hashed(chunkset) + names
    index = struct.pack("<8x16xH6x4Q4Q", 4, len(before) + 96, 0, 0, 0, len(frame), 0, 0, 0)
    before += _hashed(index)
    at = len(before) + 24 + 8 * n
    places, parts = [], []
    for _, make in columns:
        places.append(at)
        parts.append(make(at))
        at += len(parts[-1])
    return before + _hashed(struct.pack(f"<24x{n}Q", *places)) + b"".join(parts)


def _numbers(blocks: Iterator[bytes], algorithm: int, n_values: int) -> Any:
    """The bytes of a column of numbers, whatever its offset."""
    codec = pa.Codec("lz4_raw")
    packed = [codec.compress(block, asbytes=True) for block in blocks]
    at = 8 + 8 * (len(packed) + 1)
    ends = np.cumsum([at, *map(len, packed)], dtype=np.uint64)
    places = ends.copy()
    places[:-1] |= np.uint64(algorithm << 48)
    whole = struct.pack("<III", 0, BLOCK, n_values) + places.tobytes() + b"".join(packed)
    return lambda at: whole


def _factor(column: pd.Series) -> Any:
    """The bytes of a factor by its offset."""
    codes = (column.cat.codes.to_numpy() + 1).astype(np.uint8)
    numbers = _numbers(_blocks(codes.reshape(-1, 8)[:, ORDER].tobytes(), 4096), BYTES, 4096)(0)
    levels = _texts(list(column.cat.categories), encoding=2)
    n = len(column.cat.categories)
    return lambda at: struct.pack("<IIQ", 1, n, at + 16 + len(levels)) + levels + numbers


def _blocks(content: bytes, length: int) -> Iterator[bytes]:
    return (content[at : at + length] for at in range(0, len(content), length))


def _logicals(values: np.ndarray) -> Iterator[bytes]:
    """Blocks of logical values: a bit for the value, and one for missing, in halves of 64 bits."""
    groups = values.reshape(-1, 16, 2)
    shifts = np.arange(16, dtype=np.uint32)[None, :, None]
    is_missing = groups == MISSING
    bits = np.where(is_missing, 0, groups).astype(np.uint32) << shifts
    bits |= is_missing.astype(np.uint32) << (np.uint32(31) - shifts)
    return _blocks(np.bitwise_or.reduce(bits, axis=1).tobytes(), 4096 // 4)


def _planes(values: np.ndarray) -> Iterator[bytes]:
    """Blocks of integers with the bytes of each significance together, the highest first."""
    for start in range(0, len(values), 4096):
        groups = values[start : start + 4096].astype("<i4").view(np.uint8).reshape(-1, 8, 4)
        yield np.ascontiguousarray(groups[:, ORDER, ::-1].transpose(2, 0, 1)).tobytes()


def _texts(texts: list[str], encoding: int = 0) -> bytes:
    """A vector of a few texts, without compression."""
    words = [text.encode() for text in texts]
    lens = np.cumsum([len(word) for word in words], dtype="<u4").tobytes()
    block = lens + bytes(4 * (1 + len(words) // 32)) + b"".join(words)
    return struct.pack("<IIQ", encoding << 1, 2047, 16 + len(block)) + block


def _hashed(structure: bytes) -> bytes:
    """A structure with its hash in the first 8 bytes."""
    return struct.pack("<Q", xxh64(structure[8:], SEED)) + structure[8:]


def xxh64(data: bytes, seed: int) -> int:
    """The hash XXH64 of short data (github.com/Cyan4973/xxHash, doc/xxhash_spec.md)."""
    a, b, c = 11400714785074694791, 14029467366897019727, 1609587929392839161
    d, e, mask = 9650029242287828579, 2870177450012600261, 2**64 - 1

    def turn(x: int, n: int) -> int:
        return ((x << n) | (x >> (64 - n))) & mask

    def step(x: int, lane: int) -> int:
        return turn((x + lane * b) & mask, 31) * a & mask

    at, n = 0, len(data)
    if n >= 32:
        sums = [(seed + a + b) & mask, (seed + b) & mask, seed, (seed - a) & mask]
        while at + 32 <= n:
            lanes = struct.unpack_from("<4Q", data, at)
            sums = [step(x, lane) for x, lane in zip(sums, lanes, strict=True)]
            at += 32
        found = sum(turn(x, by) for x, by in zip(sums, (1, 7, 12, 18), strict=True)) & mask
        for x in sums:
            found = ((found ^ step(0, x)) * a + d) & mask
    else:
        found = (seed + e) & mask
    found = (found + n) & mask
    while at + 8 <= n:
        found = (turn(found ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * a + d) & mask
        at += 8
    if at + 4 <= n:
        (word,) = struct.unpack_from("<I", data, at)
        found = (turn(found ^ (word * a & mask), 23) * b + c) & mask
        at += 4
    for byte in data[at:]:
        found = turn(found ^ (byte * e & mask), 11) * a & mask
    found = (found ^ (found >> 33)) * b & mask
    found = (found ^ (found >> 29)) * c & mask
    return found ^ (found >> 32)


def _differences(expected: pd.DataFrame, got: Any) -> list[str]:
    if list(got.columns) != list(expected.columns):
        raise WrongData("the names of columns differ")
    for name in expected.columns:
        mine, wanted = (pa.Array.from_pandas(frame[name]) for frame in (got, expected))
        if pa.types.is_dictionary(wanted.type):
            mine, wanted = mine.cast(pa.string()), wanted.cast(pa.string())
        if not mine.cast(wanted.type).equals(wanted):
            raise WrongData(f"column {name} differs")
    return []
