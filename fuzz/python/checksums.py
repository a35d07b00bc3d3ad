"""Checksums of files and compressed buffers: where they are, and how to make them hold.

Works on damaged bytes too: a range that lies outside them is skipped with all below it.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import entasis as en

FILE, BUFFER = b"\x89ENT\r\n\x1a\n", b"\x89ENB\r\n\x1a\n"
BLOCKS, BLOCK_LEN, SECTION_LEN, ENTRY_LEN = 6, 64, 48, 24
ROOT_HEAD_LEN = 160
# The first slot, then slots A and B of files with slot pages.
SLOTS = (64, 4096, 8192)
# Bytes that lead to more ranges than this are not followed further.
MOST = 20_000


class Sum(NamedTuple):
    """A checksum at `sum_at` that covers `len` bytes from `at`.

    `what` names these bytes: "page", "directory", "part 6" (of section 6), "root" ...
    """

    what: str
    sum_at: int
    at: int
    len: int


def find(data: bytes | bytearray) -> list[Sum]:
    """Return the checksums, each after those that its range contains."""
    if data[:8] == FILE:
        return _of_file(data)
    return _of_buffer(data) if data[:8] == BUFFER else []


def repair(data: bytearray) -> None:
    """Make all checksums hold."""
    for _, sum_at, at, length in find(data):
        covered = bytes(data[at : at + length])
        data[sum_at : sum_at + 8] = en.hash(covered).to_bytes(8, "little")


class _Walk:
    """Collects the checksums that can be reached."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self.sums: list[Sum] = []
        self._left = MOST

    def unpack(self, form: str, at: int) -> tuple[Any, ...] | None:
        """The integers at a place; None outside of the bytes."""
        form = "<" + form
        if at < 0 or at + struct.calcsize(form) > len(self._data):
            return None
        return struct.unpack_from(form, self._data, at)

    def add(self, what: str, sum_at: int, at: int, length: int) -> None:
        if sum_at >= 0 and sum_at + 8 <= len(self._data) and at + length <= len(self._data):
            self.sums.append(Sum(what, sum_at, at, length))

    def may_go_on(self) -> bool:
        self._left -= 1
        return self._left >= 0

    def root(self, at: int, length: int) -> None:
        for record in range(at + ROOT_HEAD_LEN, at + length, SECTION_LEN):
            found = self.unpack("H2xI8xQIB11xI", record)
            if found is None or not self.may_go_on():
                return
            kind, record_len, part_at, part_len, height, stored_len = found
            # An empty section has no checksum.
            if part_len:
                place = (part_at, part_len, stored_len)
                self.part((kind, record_len), height, place, record + 32)

    def part(
        self, section: tuple[int, int], height: int, place: tuple[int, int, int], sum_at: int
    ) -> None:
        kind, record_len = section
        at, length, stored_len = place
        # A compressed leaf has a stored length.
        length = stored_len or length
        if at + length > len(self._data):
            return
        if height:
            for entry in range(at, at + length, ENTRY_LEN):
                found = self.unpack("QII", entry)
                if found is None or not self.may_go_on():
                    return
                self.part(section, height - 1, found, entry + 16)
        elif kind == BLOCKS and not stored_len:
            for record in range(at, at + length, max(record_len, BLOCK_LEN)):
                self.block(record)
        self.add(f"part {kind}", sum_at, at, length)

    def block(self, record: int) -> None:
        found = self.unpack("QQI", record + 16)
        if found is None or not self.may_go_on():
            return
        directory, at, length = found
        counts = self.unpack("III", directory + 16)
        if counts is None:
            return
        n_pages, n_dictionary, stored_len = counts
        if n_dictionary:
            self.add("page", directory + 32, at, stored_len)
            at += stored_len
        for entry in range(directory + 40, directory + 40 + ENTRY_LEN * n_pages, ENTRY_LEN):
            page = self.unpack("I", entry)
            if page is None or not self.may_go_on():
                break
            self.add("page", entry + 16, at, page[0])
            at += page[0]
        self.add("directory", record + 48, directory, length)


def _of_file(data: bytes | bytearray) -> list[Sum]:
    walk = _Walk(data)
    # Place of each slot and trailer, and of the root's place and checksum in it.
    places = [(at, at + 8, at + 32) for at in SLOTS]
    if len(data) > 16 and not data[16] & 2:
        del places[1:]
    trailer = len(data) - 64
    places.append((trailer, trailer + 16, trailer + 40))
    # The place and length of each root, with the places of its checksum.
    roots: dict[tuple[int, int], list[int]] = {}
    slots = []
    for at, root_at, sum_at in places:
        root = walk.unpack("QI", root_at)
        if root is not None and any(data[at : at + 64]):
            slots.append(at)
            roots.setdefault((root[0], root[1]), []).append(sum_at)
    done = set()
    # From the last one back to the first: each root names the one before it.
    while left := roots.keys() - done:
        root = max(left)
        done.add(root)
        earlier = walk.unpack("QI", root[0] + 16)
        if earlier is not None and earlier[1] and earlier[0] < root[0] and walk.may_go_on():
            roots.setdefault((earlier[0], earlier[1]), []).append(root[0] + 32)
    for root in sorted(roots):
        walk.root(*root)
        for sum_at in roots[root]:
            walk.add("root", sum_at, *root)
    for at in slots:
        walk.add("slot", at + 56, at, 56)
    walk.add("header", 56, 0, 56)
    return walk.sums


def _of_buffer(data: bytes | bytearray) -> list[Sum]:
    walk = _Walk(data)
    found = walk.unpack("IQ", 12)
    if found is None:
        return []
    block_len, decoded_len = found
    n_blocks = -(-decoded_len // block_len) if block_len else 0
    end = 40 + 16 * n_blocks
    at = end
    for entry in range(40, end, 16):
        block = walk.unpack("I", entry)
        if block is None or not walk.may_go_on():
            break
        walk.add("block", entry + 8, at, block[0])
        at += block[0]
    walk.add("table", 24, 40, end - 40)
    walk.add("header", 32, 0, 32)
    return walk.sums
