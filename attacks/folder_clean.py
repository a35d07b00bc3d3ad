"""Links in a folder that `clean` could follow: to another table, and to files of this one."""

from pathlib import Path

import entasis as en
import polars as pl


def attack(folder: Path) -> str:
    rows = pl.DataFrame({"a": [1], "k": ["v"]})
    table, other = folder / "table", folder / "other"
    for path in (table, other):
        en.write_dataset(rows, path, partition_by="k")
        en.write_dataset(rows, path, partition_by="k", mode="overwrite")
    (table / "other").symlink_to(other)
    (table / "again").symlink_to(table / "k=v")
    before = set(other.rglob("*"))
    removed = en.clean(table, older_than="0s")
    if before != set(other.rglob("*")) or en.read(table).height != 1:
        return f"these were deleted: {removed}"
    # A replaced file and its manifest are gone.
    return "files that links lead to stay" if len(removed) == 2 else f"old files stay: {removed}"
