"""A small file with 2^60 equal rows."""

import struct
from pathlib import Path

import entasis as en
import pandas as pd

from fuzz.python.checksums import repair
from tools import BLOCKS, refused_early, section


def attack(folder: Path) -> str:
    path = folder / "table"
    en.write(pd.DataFrame({"a": [7] * 60_000}), path)
    data = bytearray(path.read_bytes())
    rows = struct.pack("<Q", 60_000)
    for at in range(len(data) - 8):
        if (
            data[at : at + 8] == rows
            and not section(data, BLOCKS) <= at < section(data, BLOCKS) + 64
        ):
            data[at : at + 8] = struct.pack("<Q", 1 << 60)
    repair(data)
    path.write_bytes(data)
    return refused_early(lambda: en.read(path))
