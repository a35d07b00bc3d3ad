"""Outcomes of reads, and the places of records in a small file, for several attacks."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import entasis as en
import pyarrow as pa

COLUMNS, BLOCKS = 2, 6


def refused(
    call: Callable[[], Any], kinds: tuple[type[BaseException], ...] = (en.EntasisError,)
) -> bool:
    """Whether a call raises one of these errors. Any other error is not caught."""
    try:
        call()
    except kinds:
        return True
    return False


def refused_early(call: Callable[[], Any]) -> str:
    """The verdict on a call that asks for much memory."""
    tracemalloc.start()
    is_refused = refused(call, (en.EntasisError, MemoryError))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if is_refused and peak < 1 << 24:
        return "refused before memory is allocated"
    return f"accepted, or {peak} bytes were allocated"


# Encrypted files: where the key pages and the chunks begin, and the length of a chunk.
KEY_PAGES, CHUNKS, CHUNK = 12_288, 20_480, 8_192


def sealed(path: Path, frame: Any, n_appends: int = 0) -> bytes:
    """The bytes of an encrypted file with a frame, to which its rows were appended some times."""
    en.write(frame, path, key=KEY)
    for _ in range(n_appends):
        en.append(frame, path, key=KEY)
    return path.read_bytes()


KEY = bytes(range(32))


def opens(path: Path, data: bytes) -> bool:
    """Whether an encrypted file with these bytes is read and verified."""
    path.write_bytes(data)
    kinds = (en.CorruptFileError, en.TamperedError, en.WrongKeyError, en.NotEntasisError)
    other = (en.NewerVersionError, en.UnsupportedTypeError)
    return not refused(lambda: (en.read(path, key=KEY), en.verify(path, key=KEY)), (*kinds, *other))


def with_checksum(data: bytes, start: int, end: int) -> bytes:
    """The bytes with a checksum at `end` that holds for those from `start` on."""
    checksum = en.hash(data[start:end])
    return data[:end] + checksum.to_bytes(8, "little") + data[end + 8 :]


def section(data: bytes, kind: int) -> int:
    """Where the first part of a section begins, in a file whose sections have one part each."""
    (root_at, root_len) = struct.unpack_from("<QI", data, 72)
    for at in range(root_at + 160, root_at + root_len, 48):
        (found,) = struct.unpack_from("<H", data, at)
        if found == kind:
            return struct.unpack_from("<Q", data, at + 16)[0]
    raise LookupError(f"the file has no section {kind}")


def verified(path: Path) -> bool:
    """Whether `verify` accepts a file."""
    return not refused(lambda: en.verify(path), (en.CorruptFileError,))


def said(call: Callable[[], Any]) -> str:
    """The message of the error that a call raises; empty if it raises none."""
    try:
        call()
    except en.EntasisError as error:
        return str(error)
    return ""


def newest_manifest(folder: Path) -> Path:
    """The manifest that says which files are the table of a folder."""
    return max((folder / "_entasis").glob("*.entasis"))


def forge(folder: Path, **columns: list[Any]) -> None:
    """Replace columns of the newest manifest of a folder, whose checksums are right afterwards.

    A name such as `min/a` of the manifest is `min_a` here.
    """
    path = newest_manifest(folder)
    file = en.open(path)
    table, metadata = file.read(to="pyarrow"), file.metadata
    for number, field in enumerate(table.schema):
        values = columns.get(field.name.replace("/", "_"))
        if values is not None:
            table = table.set_column(number, field, pa.array(values, field.type))
    en.write(table, path, metadata=metadata)
