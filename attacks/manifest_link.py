"""A manifest, or the folder of all manifests, that is a link to those of another table.

Changes of the one table would change the other one.
"""

import shutil
from pathlib import Path

import entasis as en
import polars as pl

from tools import newest_manifest, said


def attack(folder: Path) -> str:
    rows = pl.DataFrame({"a": [1]})
    table, other = folder / "table", folder / "other"
    for path in (table, other):
        en.write_dataset(rows, path)
        en.append(rows, path)
    before = sorted((path, path.read_bytes()) for path in other.rglob("*.entasis"))
    link = newest_manifest(table)
    link.unlink()
    link.symlink_to(newest_manifest(other))
    for attempt in ("file", "folder"):
        if attempt == "folder":
            shutil.rmtree(table / "_entasis")
            (table / "_entasis").symlink_to(other / "_entasis")
        for call in (
            lambda: en.read(table),
            lambda: en.verify(table),
            lambda: en.append(rows, table),
            lambda: en.write_dataset(rows, table, mode="overwrite"),
            lambda: en.compact(table),
            lambda: en.clean(table, older_than="0s"),
        ):
            if "out of its folder" not in said(call):
                return f"a {attempt} is accepted: {said(call)}"
    same = before == sorted((path, path.read_bytes()) for path in other.rglob("*.entasis"))
    return "refused" if same else "the other table was changed"
