"""A dict with two equal keys: the last one would hide the first."""

from pathlib import Path

import entasis as en

from fuzz.python.checksums import repair
from tools import refused


def attack(folder: Path) -> str:
    path = folder / "tree"
    en.write({f"a key {i:05}": i for i in range(300)}, path, compression=0)
    data = bytearray(path.read_bytes())
    at = data.index(b"a key 00007")
    data[at : at + 11] = b"a key 00218"
    repair(data)
    path.write_bytes(data)
    return "refused" if refused(lambda: en.read(path), (en.CorruptFileError,)) else "accepted"
