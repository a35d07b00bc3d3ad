"""A compressed buffer of few bytes that promises 2^50."""

from pathlib import Path

import entasis as en

from fuzz.python.checksums import repair
from tools import refused_early


def attack(folder: Path) -> str:
    data = bytearray(en.compress(bytes(1000)))
    at = data.index((1000).to_bytes(8, "little"))
    data[at : at + 8] = (1 << 50).to_bytes(8, "little")
    repair(data)
    return refused_early(lambda: en.decompress(bytes(data)))
