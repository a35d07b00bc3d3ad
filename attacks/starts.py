"""Strings that begin elsewhere when a part of a page is read: two answers to one question."""

from pathlib import Path

import entasis as en
import pandas as pd

from fuzz.python.checksums import repair
from tools import BLOCKS, refused, section


def attack(folder: Path) -> str:
    path = folder / "table"
    frame = pd.DataFrame({"a": [f"{i * 7919 % 100_000} text" for i in range(9000)]})
    en.write(frame, path, compression=0)
    data = bytearray(path.read_bytes())
    blocks = section(data, BLOCKS)
    pages_at = int.from_bytes(data[blocks + 24 : blocks + 32], "little")
    # The start of the second vector of 1,024 strings.
    data[pages_at + 4] ^= 1
    repair(data)
    path.write_bytes(data)
    reads = (
        lambda: en.read(path),
        lambda: en.open(path)[1024:1030].read(),
        lambda: en.verify(path),
    )
    if all(refused(read, (en.CorruptFileError,)) for read in reads):
        return "refused by every read of the page"
    return "two answers"
