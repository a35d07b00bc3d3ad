"""RDS and qs2 files into Python, against R, inflating alone and decompressing alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...calls import INFLATE, Call, in_turn, keep, show
from ...context import Context
from ...fwrite import rscript
from ...hosts import WrongData
from ...inflate import inflated
from . import frames, peak, qs2
from .r_process import Process, process

N_ROWS = 42_000_000  # of numbers, 1 GB in R
N_TEXTS = 10_000_000
N_ZIPPED = 5_000_000
ALONE = "inflate-blocks"
FILES = [
    ("numbers", "rds", N_ROWS),
    ("texts", "rds", N_TEXTS),
    ("numbers", "gzip", N_ZIPPED),
    ("texts", "gzip", N_ZIPPED),
    ("numbers", "qs2", N_ROWS),
]


def run(context: Context) -> None:
    if rscript("base") is None:
        print("note: files of R are left out, as R is not installed", end="\n\n")
        return
    found: dict[str, list[Call]] = {}
    with process(context.work) as r:
        for frame, form, n_rows in FILES:
            title = f"{frame}-{form}"
            folder = context.options.data / "convert"
            path, expected = frames.saved(folder, frame, form, context.scaled(n_rows))
            calls = _calls(path, form, expected, r, context.options.threads)
            in_turn(context, title, calls)
            calls[0].peak_bytes = peak.of_reading(path, "pyarrow", context.options.threads)
            kind, size = f"read-{form}", path.stat().st_size
            keep(context, frame, kind, "arrow", calls, expected.shape, size, section="convert")
            found[title] = calls
    show("files of R into Arrow", found)


def _calls(path: Path, form: str, expected: pa.Table, r: Process, threads: int) -> list[Call]:
    import entasis as en

    mine = Call("entasis", "Entasis", lambda: en.read(str(path), to="pyarrow", threads=threads))
    mine.checked(partial(_differences, expected))
    calls = [mine]
    if form == "qs2":
        calls.append(Call(ALONE, "decompress alone", lambda: qs2.unpacked(path, threads)))
        calls[-1].checked(lambda n: [])
        return calls
    read = partial(r.seconds, path)
    calls.append(Call("readRDS", "readRDS", read, read))
    calls[-1].checked(lambda seconds: ["in a process of R"])
    if form == "gzip":
        calls.append(Call(INFLATE, "inflate alone", partial(inflated, path)))
        calls[-1].checked(lambda n: [])
    return calls


def _differences(expected: pa.Table, got: Any) -> list[str]:
    if got.column_names != expected.column_names:
        raise WrongData("the names of columns differ")
    for name, column in zip(expected.column_names, got.columns, strict=True):
        wanted = expected.column(name)
        if not column.cast(wanted.type).equals(wanted):
            raise WrongData(f"column {name} differs")
    return []
