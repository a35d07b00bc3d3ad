"""Two columns whose blocks are the same bytes: a small file that is large."""

from pathlib import Path

import entasis as en
import numpy as np
import pandas as pd

from fuzz.python.checksums import repair
from tools import BLOCKS, section, verified


def attack(folder: Path) -> str:
    path = folder / "table"
    rows = np.random.default_rng(1).integers(0, 1 << 40, (9000, 2))
    en.write(pd.DataFrame(rows, columns=["a", "b"]), path)
    data = bytearray(path.read_bytes())
    blocks = section(data, BLOCKS)
    # The second block takes all but the first value's place from the first.
    data[blocks + 64 + 12 : blocks + 128] = data[blocks + 12 : blocks + 64]
    repair(data)
    path.write_bytes(data)
    return "accepted" if verified(path) else "`verify` refuses them"
