"""Bytes in memory: compressed, decompressed, hashed."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal

from . import _entasis
from ._arguments.options import threads as _threads
from .errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Buffer


def compress(
    data: Buffer | np.ndarray[Any, Any],
    codec: Literal["lz4", "zstd"] = "lz4",
    level: int | None = None,
    *,
    threads: int | None = None,
) -> bytes:
    """Compress the bytes of a buffer; `decompress` gives them back.

    `data` is anything with the buffer protocol in one piece: bytes, bytearray, memoryview, mmap, a NumPy array (in C or
    Fortran order: the bytes as they lie in memory). Type and shape are not kept.

    `codec` is "lz4", fastest, or "zstd", smaller. `level` is for zstd: 1 to 22, or below 0 for speed; None is 3.
    The result is the same for any number of `threads` (None: as many as there are processors).

    It takes memory for the compressed bytes twice. Other threads of Python run meanwhile; if one changes `data`,
    the result holds each block (256 KiB, of zstd 1 MiB) as a copy of it caught it.

    Raises `UnsupportedTypeError` for what is no buffer or holds objects, `ArgumentError` for memory in several pieces
    or a wrong argument.
    """
    if not isinstance(codec, str) or codec not in ("lz4", "zstd"):
        raise ArgumentError(f'codec={codec!r}: "lz4" or "zstd"')
    if level is not None:
        if codec == "lz4":
            raise ArgumentError(f"level={level!r}: lz4 has no levels, leave it out")
        level = _integer("level", level, "1 to 22, or -131072 to -1 for speed", -131072, 22)
    return _entasis.compress(_with_buffer(data), codec, level, _threads(threads))


def decompress(data: Buffer | np.ndarray[Any, Any], *, threads: int | None = None, max_len: int | None = None) -> bytes:
    """The bytes that `compress` was given.

    Every checksum is verified and every length checked before it is used. The result can be much larger than `data`, up
    to 32,768 times: `max_len` is a limit in bytes for data that are not trusted, compared before memory is taken.

    Raises `CorruptFileError` (its `offset` and `block` say where), `NotEntasisError` for other bytes,
    `NewerVersionError`, and `LimitError` above `max_len` or without the memory.
    """
    if max_len is not None:
        max_len = min(_integer("max_len", max_len, "0 or more", 0, None), 2**64 - 1)
    return _entasis.decompress(_with_buffer(data), _threads(threads), max_len)


def hash(data: Buffer | np.ndarray[Any, Any], *, seed: int = 0, threads: int | None = None) -> int:
    """A hash of the bytes of a buffer, from 0 to 2**64 - 1: the same anywhere, for any number of threads.

    Of at most 1 MiB it is XXH3-64, as other programs compute it; of more it is XXH3-64 of the hashes of each MiB. It
    runs at the speed of memory. It finds accidents, not attacks: equal hashes can be made on purpose. As a text it is
    usually written `f"{h:016x}"`.

    `data` and what is raised are as for `compress`; type and shape make no difference. A `seed` (0 to 2**64 - 1) gives
    other hashes.
    """
    return _entasis.hash(_with_buffer(data), _integer("seed", seed, "0 to 2**64 - 1", 0, 2**64 - 1), _threads(threads))


def _integer(name: str, value: Any, range_: str, low: int, high: int | None) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < low or (high is not None and number > high):
        raise ArgumentError(f"{name}={value!r}: {range_}")
    return number


def _with_buffer(data: Any) -> Any:
    """NumPy's times don't lend their memory, as the integers they are they do."""
    if getattr(getattr(data, "dtype", None), "kind", "") in ("M", "m"):
        import numpy as np

        if isinstance(data, np.ndarray):
            return data.view(np.int64)
    return data
