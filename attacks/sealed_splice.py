"""Parts of an encrypted file in other places, and parts of other files and of older states."""

from pathlib import Path

import pandas as pd

from tools import CHUNK, CHUNKS, KEY_PAGES, opens, sealed


def attack(folder: Path) -> str:
    path, frame = folder / "file", pd.DataFrame({"a": range(20_000), "b": range(20_000)})
    frame["b"] = (frame["b"] * 7919) % 65_521
    older = sealed(path, frame)
    other, data = sealed(path, frame, n_appends=1), sealed(path, frame, n_appends=1)
    chunks = range(CHUNKS, len(data), CHUNK)
    for at in chunks:
        for source, place in (
            (data, chunks[0] if at != chunks[0] else chunks[1]),
            (other, at),
            (older, min(at, len(older) - CHUNK)),
        ):
            changed = data[:at] + source[place : place + CHUNK] + data[at + CHUNK :]
            if opens(path, changed):
                return f"accepted at {at}"
    for source in (older, other):
        if opens(path, data[:KEY_PAGES] + source[KEY_PAGES:CHUNKS] + data[CHUNKS:]):
            return "key pages of another file are accepted"
    for start, end in ((64, 128), (4096, 4160), (8192, 8256)):
        for place in (64, 4096, 8192):
            slot = data[start:end]
            changed = data[:place] + slot + data[place + 64 :]
            if changed != data and any(slot) and opens(path, changed):
                return f"the slot at {start} is accepted at {place}"
    return "refused"
