"""Two chunks with one key and nonce: copies that grow apart, and changes that are given up."""

import shutil
from pathlib import Path

import entasis as en
import pandas as pd

from tools import CHUNK, CHUNKS, KEY, sealed


def attack(folder: Path) -> str:
    path, copy = folder / "file", folder / "copy"
    frame = pd.DataFrame({"a": range(3000)})
    sealed(path, frame)
    seen: dict[bytes, bytes] = {}
    for _ in range(20):
        shutil.copy(path, copy)
        slots = path.read_bytes()[:12_288]
        en.append(frame, path, key=KEY, durable=False)
        en.append(frame, copy, key=KEY, durable=False)
        states = [path.read_bytes(), copy.read_bytes()]
        # The change is lost, as by a power failure that took the slot alone, and made again.
        path.write_bytes(slots + states[0][12_288:])
        en.append(frame, path, key=KEY, durable=False)
        states.append(path.read_bytes())
        for data in states:
            for at in range(CHUNKS, len(data), CHUNK):
                chunk = data[at : at + CHUNK]
                if seen.setdefault(chunk[:24], chunk) != chunk:
                    return "two chunks share a key and a nonce"
    return "no salt and counter comes twice"
