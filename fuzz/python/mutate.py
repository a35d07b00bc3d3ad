"""Damages files as a hostile writer would: in fields and values, with checksums that hold."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from . import checksums

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_POWERS = [1 << bits for bits in (7, 8, 15, 16, 31, 32, 53, 62, 63, 64)]
EDGES = sorted({*range(20), *_POWERS, *(p - 1 for p in _POWERS), *(p + 1 for p in _POWERS)})
# Words with a meaning in host maps, and characters that parsers trip over.
WORDS = (
    b"pandas polars pyarrow numpy static_frame r host kind column columns index names range multi "
    b"dtype object int64 datetime64[ns] M8[D] |O value cells class record freq start stop step "
    b"name levels attrs -1 nan %s ../"
).split()
WORDS += [b"\xff\xfe", b"\0", b"\xed\xa0\x80", b"", b"9" * 30]
MOST_CHANGES = 4


def mutate(data: bytes, rng: Random) -> bytes:
    """Return bytes with a few changes. Their checksums are repaired, except for some."""
    if data[:2] == b"PK":
        return _archive(data, rng)
    changed = bytearray(data)
    sums = checksums.find(data)
    for _ in range(rng.randint(1, MOST_CHANGES)):
        _change(changed, sums, rng)
    if rng.random() < 0.95:
        checksums.repair(changed)
    return bytes(changed)


def _change(data: bytearray, sums: list[checksums.Sum], rng: Random) -> None:
    if not data:
        data += b"\0"
    where = rng.random()
    if where < 0.02:
        return _resize(data, rng)
    # Pages outnumber the other ranges, and each kind of range has its own rules.
    kinds = sorted({found.what for found in sums if found.len})
    if not kinds or where < 0.05:
        at, length = 0, len(data)
    else:
        kind = rng.choice(kinds)
        chosen = rng.choice([found for found in sums if found.what == kind and found.len])
        at, length = chosen.at, chosen.len
    # An earlier change may have cut the range.
    start, end = (at, min(at + length, len(data))) if at < len(data) else (0, len(data))
    rng.choice(_CHANGES)(data, start, end, rng)
    return None


def _number(data: bytearray, start: int, end: int, rng: Random) -> None:
    """Set an aligned integer to an edge, or near to its old value."""
    width = rng.choice((1, 1, 2, 4, 4, 8, 8))
    if end - start < width:
        return
    at = start + width * rng.randrange((end - start) // width)
    now = int.from_bytes(data[at : at + width], "little")
    value = rng.choice(
        (rng.choice(EDGES), rng.randrange(20), now + 1, now - 1, 2 * now, rng.getrandbits(64))
    )
    data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")


def _bit(data: bytearray, start: int, end: int, rng: Random) -> None:
    data[rng.randrange(start, end)] ^= 1 << rng.randrange(8)


def _copy(data: bytearray, start: int, end: int, rng: Random) -> None:
    """Copy a part of a range over another part, as whole records if it has some."""
    width = rng.choice((1, 4, 8, 16, 32, 48, 64, 96))
    if end - start < 2 * width:
        return
    source, target = (start + width * rng.randrange((end - start) // width) for _ in range(2))
    data[target : target + width] = data[source : source + width]


def _word(data: bytearray, start: int, end: int, rng: Random) -> None:
    """Write a word over some bytes, often where a word begins."""
    word = rng.choice(WORDS)[: end - start]
    at = rng.randrange(start, end - len(word) + 1)
    while rng.random() < 0.9 and at > start and 97 <= data[at - 1] <= 122:
        at -= 1
    data[at : at + len(word)] = word


def _resize(data: bytearray, rng: Random) -> None:
    """Cut the end, remove some bytes, or insert some."""
    at, length = rng.randrange(len(data)), rng.randint(1, 64)
    how = rng.randrange(3)
    if how == 0:
        del data[at:]
    elif how == 1:
        del data[at : at + length]
    else:
        data[at:at] = rng.randbytes(length)


_CHANGES: list[Callable[[bytearray, int, int, Random], None]] = [
    _number,
    _number,
    _number,
    _bit,
    _copy,
    _word,
]


def _archive(data: bytes, rng: Random) -> bytes:
    """Change the members of an archive, whose checksums hold then, or the bytes of the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except Exception:
        members = []
    changed = bytearray(data)
    if not members or rng.random() < 0.3:
        for _ in range(rng.randint(1, MOST_CHANGES)):
            _change(changed, [], rng)
        return bytes(changed)
    i = rng.randrange(len(members))
    how = rng.random()
    if how < 0.06:
        del members[i]
    elif how < 0.12:
        members[i] = (
            rng.choice((members[0][0], "__meta__.json", "a.npz", "a", "../b.npy", "")),
            members[i][1],
        )
    else:
        members[i] = members[i][0], _member(members[i][1], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            # Python warns of two members with one name.
            if name not in archive.NameToInfo:
                archive.writestr(name, content)
    return out.getvalue()


def _member(content: bytes, rng: Random) -> bytes:
    if content[:2] == b"PK":
        return _archive(content, rng)
    changed = bytearray(content)
    # The header of an array, or all of a JSON text, matters more than values.
    head = [checksums.Sum("head", 0, 0, min(128, len(content)))]
    for _ in range(rng.randint(1, MOST_CHANGES)):
        _change(changed, head, rng)
    return bytes(changed)
