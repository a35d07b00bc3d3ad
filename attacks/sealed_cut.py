"""An encrypted file without its last chunks."""

from pathlib import Path

import pandas as pd

from tools import CHUNK, CHUNKS, opens, sealed


def attack(folder: Path) -> str:
    path = folder / "file"
    data = sealed(path, pd.DataFrame({"a": [f"row {i * 7919 % 10_007}" for i in range(20_000)]}))
    for end in [0, 100, 4096, *range(CHUNKS, len(data), CHUNK), len(data) - 1]:
        if opens(path, data[:end]):
            return f"accepted up to {end}"
    return "refused"
