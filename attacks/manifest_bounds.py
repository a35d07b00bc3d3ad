"""Bounds in a manifest that leave out values: a condition rules out files with such rows."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, newest_manifest, refused


def attack(folder: Path) -> str:
    table = folder / "table"
    whole = pl.DataFrame({"a": [1, 2, 3], "x": [0.5, float("nan"), None], "t": ["b", "a", "c"]})
    en.write_dataset(whole, table)
    sound = newest_manifest(table).read_bytes()
    is_hidden = False
    for columns in (
        {"min_a": [2]},
        {"max_a": [2]},
        {"min_t": ["b"]},
        {"max_t": ["b"]},
        {"max_x": [0.25]},
        {"missing_x": [0]},
        {"nan_x": [False]},
        {"values_a": [False]},
    ):
        newest_manifest(table).write_bytes(sound)
        forge(table, **columns)
        is_hidden |= en.scan(table).filter(en.col("a") == 3).count() == 0
        if not refused(lambda: en.verify(table), (en.CorruptFileError,)):
            return f"`verify` accepts {columns}"
    newest_manifest(table).write_bytes(sound)
    en.verify(table)
    return (
        "a filter misses the rows, `verify` refuses the bounds" if is_hidden else "no row is missed"
    )
