"""The bytes that opening an object reads, with which another process opens it without a request."""

from __future__ import annotations

import hashlib
import struct
from typing import Any, NamedTuple

from entasis.errors import ArgumentError, CorruptFileError

from .reader import Stat

# The first bytes, the length of the checksum after them, the size with the numbers of bytes of the
# identity and of ranges, and the place and length of a range.
_BEGIN = b"EntasisFooter\0\0\1"
_DIGEST_LEN = 16
_FIXED, _RANGE = struct.Struct("<QHH"), struct.Struct("<QQ")
_MOST_RANGES = 1 << 16


class Footer(NamedTuple):
    """Facts about an object, and bytes of it.

    Attributes
    ----------
    stat
        Its size and identity.
    ranges
        Offsets and bytes: those at the beginning, those at the end, and others.
    """

    stat: Stat
    ranges: list[tuple[int, Any]]


def encoded(footer: Footer) -> bytes:
    """A footer as bytes with a checksum. It has no address and no options."""
    identity = footer.stat.identity.encode()
    ranges = footer.ranges[: _MOST_RANGES - 1]
    parts = [
        _FIXED.pack(footer.stat.size, len(identity), len(ranges)),
        *(_RANGE.pack(at, memoryview(data).nbytes) for at, data in ranges),
        identity,
        *(data for _, data in ranges),
    ]
    body = b"".join(parts)
    return _BEGIN + hashlib.blake2b(body, digest_size=_DIGEST_LEN).digest() + body


def decoded(content: Any) -> Footer:
    """A footer from its bytes.

    Raises
    ------
    ArgumentError
        The value is not bytes.
    CorruptFileError
        The bytes are damaged, or are not a footer.
    """
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise ArgumentError(f"footer= is the bytes that the footer of an open file has, not {type(content).__name__}")
    content = bytes(content)
    at = len(_BEGIN) + _DIGEST_LEN
    body = memoryview(content)[at:]
    digest = hashlib.blake2b(body, digest_size=_DIGEST_LEN).digest()
    if content[: len(_BEGIN)] != _BEGIN or content[len(_BEGIN) : at] != digest or len(body) < _FIXED.size:
        raise _damaged()
    size, identity_len, n = _FIXED.unpack_from(body)
    start = _FIXED.size + n * _RANGE.size
    if n < 2 or start > len(body):
        raise _damaged()
    places = [_RANGE.unpack_from(body, _FIXED.size + i * _RANGE.size) for i in range(n)]
    try:
        identity = bytes(body[start : start + identity_len]).decode()
    except UnicodeDecodeError:
        raise _damaged() from None
    ranges, start = [], start + identity_len
    for offset, length in places:
        ranges.append((offset, body[start : start + length]))
        start += length
        if offset + length > size:
            raise _damaged()
    is_whole = start == len(body) and places[0][0] == 0 and sum(places[1]) == size
    if not is_whole:
        raise _damaged()
    return Footer(Stat(size, identity), ranges)


def _damaged() -> CorruptFileError:
    return CorruptFileError("the footer is damaged, or is not one: take it from an open file again")
