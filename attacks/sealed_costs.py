"""A password whose derivation needs 4 TiB of memory."""

from pathlib import Path

import entasis as en
import pandas as pd

from tools import KEY_PAGES, refused_early, with_checksum


def attack(folder: Path) -> str:
    path = folder / "file"
    en.write(pd.DataFrame({"a": range(10)}), path, password="correct horse")
    data = bytearray(path.read_bytes())
    for page in (KEY_PAGES, KEY_PAGES + 4096):
        data[page + 40 : page + 44] = (2**32 - 1).to_bytes(4, "little")
        data[:] = with_checksum(bytes(data), page, page + 4088)
    path.write_bytes(data)
    return refused_early(lambda: en.read(path, password="correct horse"))
