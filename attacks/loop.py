"""A list that contains itself, which would be read for ever."""

from pathlib import Path

import entasis as en
from forge import Forge

from tools import refused


def attack(folder: Path) -> str:
    path = folder / "tree"
    shared = [1, 2, 3]
    en.write({"a": shared, "b": [[shared]]}, path, compression=0)
    forge = Forge(path.read_bytes())
    # The reference is the last integer. Cell 0 is the dict that contains everything.
    forge.put("ints", forge.columns["ints"].n - 1, 0)
    path.write_bytes(forge.repaired())
    return "refused" if refused(lambda: en.read(path), (en.CorruptFileError,)) else "accepted"
