"""Another file after the end of this one, so that two programs see two files in one."""

import io
import zipfile
from pathlib import Path

import entasis as en
import pandas as pd

from tools import verified


def attack(folder: Path) -> str:
    path, frame = folder / "table", pd.DataFrame({"a": range(100)})
    en.write(frame, path)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("other", "another file")
    path.write_bytes(path.read_bytes() + archive.getvalue())
    if not zipfile.is_zipfile(path) or not en.read(path).equals(frame):
        return "the file is not read"
    return "accepted" if verified(path) else "`read` ignores it, `verify` refuses it"
