"""Changes files and then repairs their checksums, as a foreign writer might have written them.

For small files written whole at compression 0. Their columns of fixed width are in the file as in
memory.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from fuzz.python.checksums import repair

SLOT = 64
COLUMNS, NAMES, RANGES, BLOCKS = 2, 3, 5, 6
RECORD_LEN = {COLUMNS: 120, RANGES: 24, BLOCKS: 64}


@dataclass
class Column:
    """Where the values of a column are in the file."""

    at: int
    width: int
    n: int


class Forge:
    """A sound file whose bytes may be changed."""

    def __init__(self, file: bytes) -> None:
        self.bytes = bytearray(file)
        self.columns: dict[str, Column] = {}
        (root,) = self.unpack("Q", SLOT + 8)
        (root_len,) = self.unpack("I", SLOT + 16)
        self.sections: dict[int, tuple[int, int]] = {}
        for record in range(root + 160, root + root_len, 48):
            (kind,) = self.unpack("H", record)
            (at, length, height) = self.unpack("QIB", record + 16)
            if length:
                assert height == 0, "a section of one part is what is looked for"
                self.sections[kind] = (at, length)
        self._find_columns(self._records(BLOCKS))

    def unpack(self, form: str, at: int) -> tuple[Any, ...]:
        return struct.unpack_from("<" + form, self.bytes, at)

    def _records(self, kind: int) -> range:
        at, length = self.sections[kind]
        return range(at, at + length, RECORD_LEN[kind])

    def _find_columns(self, blocks: range) -> None:
        """The columns with a name that are written as they are in memory."""
        names, columns = self.sections[NAMES][0], self._records(COLUMNS)
        for part in self._records(RANGES):
            (number, first, n_blocks) = self.unpack("QQI", part)
            record = columns[number]
            (name_at, name_len) = self.unpack("QI", record + 8)
            (n,) = self.unpack("Q", record + 32)
            block = blocks[first]
            (packing,) = self.unpack("B", block + 12)
            (at,) = self.unpack("Q", block + 24)
            length = sum(self.unpack("Q", block + 40)[0] for block in blocks[first : first + n_blocks])
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
        changed = bytearray(self.bytes)
        repair(changed)
        return bytes(changed)


def write_builder(builder, path, host):
    """Writes the columns of a builder with their host map, as `en.write` would."""
    options = {"compression": 50, "column_compression": [], "edition": None}
    options |= {"threads": None, "durable": None, "wait": 0}
    builder.write(
        host,
        {
            "path": str(path),
            "is_new": False,
            "progress": None,
            "keep": None,
            "change": None,
            "stream": None,
            "secret": None,
            **options,
        },
    )
