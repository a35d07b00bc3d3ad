"""Parquet to Entasis and back, against reading and writing by Polars and Entasis in turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...frames import tpch
from ...hosts import WrongData
from . import peak


def run(context: Context) -> None:
    import entasis as en
    import polars as pl

    threads = context.options.threads
    source = tpch.table(context.options.data, "lineitem", context.options.tpch).resolve()
    file = context.work / "lineitem.entasis"
    en.convert(str(source), str(file), threads=threads)

    def frame_stored(path: Path) -> None:
        en.write(pl.read_parquet(source), str(path), threads=threads)

    def frame_of_file(path: Path) -> None:
        frame = en.read(str(file), to="polars", threads=threads)
        frame.write_parquet(path, compression="zstd")

    found = {}
    for kind, one, other, suffix in (
        ("from-parquet", source, frame_stored, "entasis"),
        ("to-parquet", file, frame_of_file, "parquet"),
    ):
        target = context.work / f"converted.{suffix}"
        mine = partial(en.convert, str(one), str(target), threads=threads)
        theirs = context.work / f"stored.{suffix}"
        calls = [
            _checked(Call("entasis", "Entasis", mine), target, source),
            _checked(
                Call("polars", "with Polars, read then write", partial(other, theirs)),
                theirs,
                source,
            ),
        ]
        in_turn(context, kind, calls)
        calls[0].peak_bytes = peak.of_conversion(one, target, threads)
        shape = (pq.read_metadata(source).num_rows, len(pq.read_schema(source).names))
        size = one.stat().st_size
        keep(context, "lineitem", kind, "arrow", calls, shape, size, section="convert")
        found[kind] = calls
        for path in (target, theirs):
            files.remove(path)
    files.remove(file)
    show("TPC-H lineitem, Parquet and Entasis", found)


def _checked(call: Call, target: Path, source: Path) -> Call:
    """Convert once, and compare."""
    import entasis as en
    import polars as pl

    read: Callable[[Any], Any] = pl.read_parquet
    if target.suffix == ".entasis":
        read = partial(en.read, to="polars")

    def check(_: object) -> list[str]:
        if not read(str(target)).equals(pl.read_parquet(source)):
            raise WrongData("the values differ")
        return []

    call.before = partial(files.remove, target)
    call.checked(check)
    return call
