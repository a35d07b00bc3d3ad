"""Changes files and then repairs their checksums, as a foreign writer might have written them.

For small files written whole at compression 0. Their columns of fixed width are in the file as in
memory.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import entasis as en

SLOT = 64
COLUMNS, NAMES, BLOCK_INDEX, BLOCKS = 2, 3, 5, 6
RECORD_LEN = {COLUMNS: 96, BLOCKS: 64}


@dataclass
class Column:
    """Place of the values of a column in the file."""

    at: int
    width: int
    n: int


class Forge:
    """A sound file whose bytes may be changed."""

    def __init__(self, file: bytes) -> None:
        self.bytes = bytearray(file)
        # Place of a checksum, and the bytes that it covers: the innermost first.
        self._sums: list[tuple[int, int, int]] = []
        self.columns: dict[str, Column] = {}
        (root,) = self.unpack("Q", SLOT + 8)
        (root_len,) = self.unpack("I", SLOT + 16)
        sections: dict[int, tuple[int, int]] = {}
        parts = []
        for record in range(root + 64, root + root_len, 48):
            (kind,) = self.unpack("H", record)
            (at, length, height) = self.unpack("QIB", record + 16)
            if length:
                assert height == 0, "a section of one part is what is looked for"
                sections[kind] = (at, length)
                parts.append((record + 32, at, length))
        blocks = self._records(sections, BLOCKS)
        for block in blocks:
            self._segment(block)
        self._sums += parts
        trailer = len(self.bytes) - 64
        self._sums += [(SLOT + 32, root, root_len), (trailer + 40, root, root_len)]
        self._sums += [(SLOT + 56, SLOT, 56), (trailer + 56, trailer, 56), (56, 0, 56)]
        self._find_columns(sections, blocks)

    def unpack(self, form: str, at: int) -> tuple[Any, ...]:
        return struct.unpack_from("<" + form, self.bytes, at)

    def _records(self, sections: dict[int, tuple[int, int]], kind: int) -> range:
        at, length = sections[kind]
        return range(at, at + length, RECORD_LEN[kind])

    def _segment(self, block: int) -> None:
        (directory, at, length) = self.unpack("QQI", block + 16)
        (n_pages, n_entries, stored_len) = self.unpack("III", directory + 16)
        if n_entries:
            self._sums.append((directory + 32, at, stored_len))
            at += stored_len
        for page in range(directory + 40, directory + 40 + 24 * n_pages, 24):
            (stored_len,) = self.unpack("I", page)
            self._sums.append((page + 16, at, stored_len))
            at += stored_len
        self._sums.append((block + 48, directory, length))

    def _find_columns(self, sections: dict[int, tuple[int, int]], blocks: range) -> None:
        """The columns with a name that are written as they are in memory."""
        names, index = sections[NAMES][0], sections[BLOCK_INDEX][0]
        for i, record in enumerate(self._records(sections, COLUMNS)):
            (name_at, name_len) = self.unpack("QI", record + 8)
            (n,) = self.unpack("Q", record + 32)
            (first, last) = self.unpack("QQ", index + 8 * i)
            if last > first:
                block = blocks[first]
                (packing,) = self.unpack("B", block + 12)
                (at,) = self.unpack("Q", block + 24)
                length = sum(self.unpack("Q", block + 40)[0] for block in blocks[first:last])
                name = self.bytes[names + name_at : names + name_at + name_len].decode()
                if packing == 0:
                    self.columns[name] = Column(at, length // n, n)

    def put(self, name: str, i: int, value: int) -> None:
        """Changes a value of a column."""
        column = self.columns[name]
        assert 0 <= i < column.n
        at = column.at + i * column.width
        self.bytes[at : at + column.width] = (value % (1 << 8 * column.width)).to_bytes(column.width, "little")

    def get(self, name: str, i: int) -> int:
        """A value of a column."""
        column = self.columns[name]
        at = column.at + i * column.width
        return int.from_bytes(self.bytes[at : at + column.width], "little")

    def values(self, name: str) -> list[int]:
        """All values of a column."""
        return [self.get(name, i) for i in range(self.columns[name].n)]

    def repaired(self) -> bytes:
        """The file with all checksums repaired."""
        for where, at, length in self._sums:
            self.bytes[where : where + 8] = en.hash(bytes(self.bytes[at : at + length])).to_bytes(8, "little")
        return bytes(self.bytes)


def write_builder(builder, path, host):
    """Writes the columns of a builder with their host map, as `en.write` would."""
    options = {"compression": 50, "column_compression": [], "threads": None, "durable": None, "wait": 0}
    builder.write(host, {"path": str(path), **options})
