"""A manifest that names another manifest as a file of the table, with its true length and end."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, newest_manifest, said


def attack(folder: Path) -> str:
    table = folder / "table"
    en.write_dataset(pl.DataFrame({"a": [1]}), table)
    first = newest_manifest(table)
    length, end = en.open(first)._view.handle.fingerprint()
    en.write_dataset(pl.DataFrame({"a": [1]}), table, mode="overwrite")
    for name in (f"_entasis/{first.name}", f"./_entasis/{first.name}"):
        forge(table, path=[name], length=[length + len(end)], end=[end])
        message = said(lambda: en.read(table))
        if "forged" not in message:
            return f"accepted, or the error is about something else: {message}"
    return "refused"
