"""Compression and hashing of bytes in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import _entasis
from ._arguments.options import integer_between as _integer
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
    """Compress the bytes of a buffer.

    Parameters
    ----------
    data
        An object with the buffer protocol and contiguous memory: bytes, bytearray, memoryview,
        mmap, or a NumPy array in C or Fortran order. The type and shape are not stored.
    codec
        "lz4" (fastest) or "zstd" (smaller).
    level
        For zstd: 1 to 22, or negative for speed. None means 3.
    threads
        The number of threads. None means one per processor. The result does not depend on it.

    Returns
    -------
    bytes
        The compressed bytes, for `decompress`. Making them takes twice their length in memory.

    Raises
    ------
    UnsupportedTypeError
        `data` has no buffer, or holds objects.
    ArgumentError
        The memory is not contiguous, or another argument is wrong.

    Notes
    -----
    Other threads of Python run meanwhile. If one changes `data`, each block of the result (256 KiB,
    for zstd 1 MiB) holds the bytes at the time when the block was copied.

    Examples
    --------
    >>> compressed = en.compress(b"abc" * 1000, "zstd")
    >>> len(compressed) < 200, en.decompress(compressed) == b"abc" * 1000
    (True, True)
    """
    if not isinstance(codec, str) or codec not in ("lz4", "zstd"):
        raise ArgumentError(f'codec={codec!r}: "lz4" or "zstd"')
    if level is not None:
        if codec == "lz4":
            raise ArgumentError(f"level={level!r}: lz4 has no levels, leave it out")
        level = _integer("level", level, "1 to 22, or -131072 to -1 for speed", -131072, 22)
    return _entasis.compress(_with_buffer(data), codec, level, _threads(threads))


def decompress(data: Buffer | np.ndarray[Any, Any], *, threads: int | None = None, max_len: int | None = None) -> bytes:
    """Decompress bytes that `compress` returned.

    All checksums are verified, and all lengths are checked before use.

    Parameters
    ----------
    data
        The compressed bytes: an object with the buffer protocol.
    threads
        The number of threads. None means one per processor.
    max_len
        The largest length of the result that is accepted, in bytes. It is checked before memory is
        allocated. None accepts 4 GiB, or 1,000 times the length of `data` if that is more.

    Returns
    -------
    bytes
        The original bytes.

    Raises
    ------
    CorruptFileError
        The data are damaged. The attributes `offset` and `block` say where.
    NotEntasisError, NewerVersionError
        The data are something else, or need a newer version of this package.
    LimitError
        The result is longer than `max_len`.
    OutOfMemoryError
        There is not enough memory for the result.

    Examples
    --------
    >>> en.decompress(en.compress(b"abc"), max_len=10)
    b'abc'
    """
    if max_len is not None:
        max_len = min(_integer("max_len", max_len, "0 or more", 0, None), 2**64 - 1)
    return _entasis.decompress(_with_buffer(data), _threads(threads), max_len)


def hash(data: Buffer | np.ndarray[Any, Any], *, seed: int = 0, threads: int | None = None) -> int:
    """Hash the bytes of a buffer.

    The hash detects accidental changes. It is not cryptographic: equal hashes can be made on
    purpose.

    Parameters
    ----------
    data
        As for `compress`. The type and shape do not affect the hash.
    seed
        A number from 0 to 2**64 - 1 that selects another hash function.
    threads
        The number of threads. None means one per processor. The hash does not depend on it.

    Returns
    -------
    int
        The hash, from 0 to 2**64 - 1. For at most 1 MiB it is XXH3-64. For more it is the XXH3-64
        of the hashes of all pieces of 1 MiB.

    Raises
    ------
    UnsupportedTypeError, ArgumentError
        As for `compress`.

    Examples
    --------
    >>> f"{en.hash(b'abc'):016x}"
    '78af5f94892f3950'
    """
    return _entasis.hash(_with_buffer(data), _integer("seed", seed, "0 to 2**64 - 1", 0, 2**64 - 1), _threads(threads))


def _with_buffer(data: Any) -> Any:
    """View times of NumPy as integers, because times do not support the buffer protocol."""
    if getattr(getattr(data, "dtype", None), "kind", "") in ("M", "m"):
        import numpy as np

        if isinstance(data, np.ndarray):
            return data.view(np.int64)
    return data
