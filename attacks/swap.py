"""The values of one column as those of another, with all checksums repaired.

Anyone who can write a file can write a valid one. Checksums find accidents.
"""

from pathlib import Path

import entasis as en
import numpy as np
import pandas as pd

from fuzz.python.checksums import repair
from tools import BLOCKS, section, verified


def attack(folder: Path) -> str:
    path = folder / "table"
    rows = np.random.default_rng(1).random((9000, 2))
    frame = pd.DataFrame(rows, columns=["paid", "owed"])
    en.write(frame, path)
    data = bytearray(path.read_bytes())
    blocks = section(data, BLOCKS)
    first, second = data[blocks : blocks + 64], data[blocks + 64 : blocks + 128]
    data[blocks : blocks + 128] = second + first
    repair(data)
    path.write_bytes(data)
    swapped = frame[["owed", "paid"]].set_axis(["paid", "owed"], axis=1)
    is_swapped = en.read(path).equals(swapped)
    # The statistics of the columns are those of the other one.
    if is_swapped and not verified(path):
        return "values of the file: checksums are not a signature"
    return "refused" if not is_swapped else "accepted by `verify`"
