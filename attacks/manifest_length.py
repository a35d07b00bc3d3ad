"""A manifest with another length or other last bytes of a file, as another file has them."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, newest_manifest, said


def attack(folder: Path) -> str:
    table = folder / "table"
    en.write_dataset(pl.DataFrame({"a": [1, 2, 3]}), table)
    sound = newest_manifest(table).read_bytes()
    (facts,) = en.open(newest_manifest(table)).read(to="pyarrow").to_pylist()
    length, end = facts["length"], facts["end"]
    for columns in (
        {"length": [length + 1]},
        {"length": [length - 1]},
        {"length": [0]},
        {"length": [-1]},
        {"length": [1 << 62]},
        {"length": [None]},
        {"end": [b""]},
        {"end": [bytes(len(end))]},
        {"end": [None]},
    ):
        newest_manifest(table).write_bytes(sound)
        forge(table, **columns)
        for call in (lambda: en.read(table), lambda: en.verify(table)):
            message = said(call)
            if "manifest" not in message:
                return f"{columns} is accepted, or the error is about something else: {message}"
    return "refused"
