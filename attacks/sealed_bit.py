"""Changed bytes of an encrypted file, with checksums that hold."""

from pathlib import Path

import pandas as pd

from tools import CHUNK, CHUNKS, KEY_PAGES, opens, sealed, with_checksum


def attack(folder: Path) -> str:
    path = folder / "file"
    data = sealed(path, pd.DataFrame({"a": range(100)}), n_appends=1)
    places = [(at, 64, 120) for at in range(64, 120, 5)]
    places += [(at, 4096, 4152) for at in range(4096, 4152, 5)]
    places += [(at, KEY_PAGES, KEY_PAGES + 4088) for at in range(KEY_PAGES, KEY_PAGES + 1100, 37)]
    for start in range(CHUNKS, len(data), CHUNK):
        end = start + CHUNK - 8
        places += [(at, start, end) for at in range(start, end, 211)]
    for at, start, end in places:
        changed = bytearray(data)
        changed[at] ^= 1
        if opens(path, with_checksum(bytes(changed), start, end)):
            return f"accepted at {at}"
    return "refused"
