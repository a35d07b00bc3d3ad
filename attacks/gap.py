"""Bytes between the ranges of a file, which no checksum covers."""

from pathlib import Path

import entasis as en
import numpy as np
import pandas as pd

from fuzz.python.checksums import find
from tools import verified


def attack(folder: Path) -> str:
    path = folder / "table"
    # At compression 0 pages are aligned, so that there is room between them.
    en.write(
        pd.DataFrame({"a": np.arange(9001) * 0.1, "b": np.arange(9001) * 0.3}), path, compression=0
    )
    data = bytearray(path.read_bytes())
    covered = set(range(256)) | set(range(len(data) - 64, len(data)))
    for found in find(data):
        covered |= set(range(found.at, found.at + found.len))
    gaps = sorted(set(range(len(data))) - covered)
    if not gaps:
        return "the file has no gap"
    data[gaps[0]] = 1
    path.write_bytes(data)
    return "accepted" if verified(path) else "`verify` refuses them"
