"""Paths in a manifest that lead out of its folder, or mean something else than a file below it."""

from pathlib import Path

import entasis as en
import polars as pl

from tools import forge, newest_manifest, said

NAMES = [
    "/etc/passwd",
    "../out.entasis",
    "day=1/../../out.entasis",
    "..",
    ".",
    "./part.entasis",
    "day=1//part.entasis",
    "",
    "..\\out.entasis",
    "\\\\host\\share\\out.entasis",
    "C:/out.entasis",
    "C:out.entasis",
    "s3://bucket/out.entasis",
    "file:///etc/passwd",
    "part.entasis\0",
    "NUL",
    "day=1/con.entasis",
    "COM1 .entasis",
]


def attack(folder: Path) -> str:
    rows, table, out = pl.DataFrame({"a": [1]}), folder / "table", folder / "out.entasis"
    en.write(pl.DataFrame({"a": [2]}), out)
    en.write_dataset(rows, table)
    before = out.read_bytes()
    sound = newest_manifest(table).read_bytes()
    for name in NAMES:
        newest_manifest(table).write_bytes(sound)
        forge(table, path=[name])
        for call in (
            lambda: en.scan(table),
            lambda: en.read(table),
            lambda: en.info(table),
            lambda: en.verify(table),
            lambda: en.append(rows, table),
            lambda: en.compact(table),
        ):
            if "a path out of its folder" not in said(call):
                return f"{name!r} is accepted, or the error is about something else: {said(call)}"
    return "refused" if out.read_bytes() == before else "the file outside was changed"
