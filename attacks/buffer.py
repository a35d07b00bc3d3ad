"""A compressed buffer of few bytes that promises 2^50."""

import tracemalloc
from pathlib import Path

import entasis as en
from fuzz.python.checksums import repair
from tools import refused


def attack(folder: Path) -> str:
    data = bytearray(en.compress(bytes(1000)))
    at = data.index((1000).to_bytes(8, "little"))
    data[at : at + 8] = (1 << 50).to_bytes(8, "little")
    repair(data)
    tracemalloc.start()
    is_refused = refused(lambda: en.decompress(bytes(data)), en.EntasisError, MemoryError)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return "refused before memory is allocated" if is_refused and peak < 1 << 24 else f"{peak} bytes were allocated"
