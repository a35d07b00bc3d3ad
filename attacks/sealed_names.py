"""Names and values of an encrypted file, searched in its bytes; and two files of equal shape."""

from pathlib import Path

import pandas as pd

from tools import CHUNK, CHUNKS, KEY_PAGES, sealed


def attack(folder: Path) -> str:
    frames = [
        pd.DataFrame({name: [f"{value} {i}" for i in range(500)]})
        for name, value in (("diagnosis", "healthy"), ("operation", "patient"))
    ]
    files = [sealed(folder / "file", frame, n_appends=1) for frame in frames]
    for data in files:
        for text in (b"diagnosis", b"operation", b"healthy", b"patient", b"pandas", b"entasis "):
            if text in data:
                return f"the bytes have {text!r}"
    first, second = files
    # Offsets in slots depend on the shape; codes and checksums on the key of the file.
    clear = [range(64), range(64, 96), range(4096, 4128)]
    same = all(first[i] == second[i] for part in clear for i in part)
    zeros = not any(first[128:4096] + first[4160:8192] + first[8256:KEY_PAGES])
    chunks = range(CHUNKS, len(first), CHUNK)
    differ = all(first[at : at + 64] != second[at : at + 64] for at in chunks)
    if len(first) == len(second) and same and zeros and differ:
        return "no name or value: the files differ in salts, codes and encrypted bytes alone"
    return "the bytes in clear depend on the values"
