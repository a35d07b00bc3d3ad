"""A manifest that says that a short file has 2^60 rows."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, refused, refused_early


def attack(folder: Path) -> str:
    table = folder / "table"
    en.write_dataset(pl.DataFrame({"a": [1, 2, 3]}), table)
    forge(table, n_rows=[1 << 60])
    for call in (
        lambda: en.read(table),
        lambda: en.read(table, rows=(0, 2)),
        lambda: en.scan(table).filter(en.col("a") > 1).count(),
        lambda: en.scan(table).splits(1 << 20),
    ):
        verdict = refused_early(call)
        if verdict != "refused before memory is allocated":
            return verdict
    if not refused(lambda: en.verify(table), (en.CorruptFileError,)):
        return "`verify` accepts it"
    return "refused before memory is allocated"
