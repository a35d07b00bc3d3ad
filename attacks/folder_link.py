"""Links in a folder that lead out of it: a file, a folder, and one for rows to append."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, said


def attack(folder: Path) -> str:
    table, out = folder / "table", folder / "out"
    out.mkdir()
    en.write(pl.DataFrame({"a": [2]}), out / "x.entasis")
    en.write_dataset(pl.DataFrame({"a": [1], "k": ["v"]}), table, partition_by="k")
    (table / "x.entasis").symlink_to(out / "x.entasis")
    (table / "k=w").symlink_to(out)
    attempts = [
        lambda: en.append(pl.DataFrame({"a": [3], "k": ["w"]}), table),
        lambda: forge(table, path=["x.entasis"]) or en.read(table),
        lambda: forge(table, path=["k=w/x.entasis"]) or en.read(table),
    ]
    for number, call in enumerate(attempts):
        message = said(call)
        if "out of its folder" not in message:
            return f"attempt {number} succeeds, or the error is about something else: {message}"
    return "refused" if len(list(out.iterdir())) == 1 else "a file was written outside"
