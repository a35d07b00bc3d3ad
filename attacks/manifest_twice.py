"""A manifest that names a file twice, so that its rows would count twice."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, said


def attack(folder: Path) -> str:
    table = folder / "table"
    en.write_dataset(pl.DataFrame({"a": range(4)}), table, rows_per_file=2)
    facts = en.open(max((table / "_entasis").iterdir())).read(to="pyarrow").to_pydict()
    twice = {name: [facts[name][0]] * 2 for name in ("path", "length", "end", "n_rows")}
    forge(table, **twice)
    message = said(lambda: en.read(table))
    return "refused" if "twice" in message else f"accepted: {message}"
