"""Text files for the suite `csv`, made once per scale and kept in the data folder."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..frames import tpch
from .draws import pick, start, zipf

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1  # of the texts: another number makes all files anew
BLOCK = 10_000_000  # bytes of the rows that `repeated` repeats
LEVEL = 6  # of gzip
DOUBLES = (1_250_000, 8)
QUOTED = 1_200_000
CHUNK = 20_000  # rows that are formatted at once


@dataclass(frozen=True)
class Text:
    """A text file with a name, and the difference to the set that it looks like."""

    name: str
    remark: str
    write: Callable[[Path, Path, float], None]  # the file, the data folder, the scale


def text(folder: Path, name: str, scale: float) -> Path:
    """The path of a text, which is made when it is not there."""
    path = _place(folder, scale) / f"{name}.csv"
    return _made(path, lambda new: TEXTS[name].write(new, folder, scale))


def zipped(path: Path) -> Path:
    """The path of a text in gzip."""

    def write(new: Path) -> None:
        # Neither name nor time are stored, so that the file is the same each time.
        with (
            path.open("rb") as source,
            new.open("wb") as file,
            gzip.GzipFile("", "wb", LEVEL, file, 0) as packed,
        ):
            shutil.copyfileobj(source, packed, 1 << 20)

    return _made(path.with_name(path.name + ".gz"), write)


def repeated(folder: Path, name: str, scale: float, n_bytes: int) -> Path:
    """The path of a text of about `n_bytes`: rows of another text, again and again."""
    source = text(folder, name, scale)

    def write(new: Path) -> None:
        with source.open("rb") as file:
            header, rows = file.readline(), file.read(min(BLOCK, n_bytes))
        rows = rows[: rows.rindex(b"\n") + 1]
        with new.open("wb") as file:
            file.write(header)
            for _ in range(max(1, round(n_bytes / len(rows)))):
                file.write(rows)

    return _made(source.with_name(f"{name}-{n_bytes}.csv"), write)


def _place(folder: Path, scale: float) -> Path:
    return folder / f"csv-{VERSION}-{scale:g}"


def _made(path: Path, write: Callable[[Path], None]) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"unfinished-{path.name}")
        write(new)
        new.replace(path)
    return path


def _of_frame(
    make: Callable[[float], pd.DataFrame], share: float, path: Path, _: Path, scale: float
) -> None:
    """Write a set of pandas. Empty text has no quotes, as in the originals, so it is missing."""
    import polars as pl

    frame = pl.from_pandas(make(share * scale))
    texts = pl.col(pl.String)
    frame = frame.with_columns(pl.when(texts != "").then(texts))
    frame.write_csv(path, datetime_format="%Y-%m-%d %H:%M:%S")


def _of_shootout(name: str, share: float, path: Path, folder: Path, scale: float) -> None:
    from .shootout import SETS

    _of_frame(SETS[name], share, path, folder, scale)


def _of_tpch(name: str, share: float, path: Path, folder: Path, scale: float) -> None:
    import polars as pl

    pl.read_parquet(tpch.table(folder, name, share * scale)).write_csv(path)


def _doubles(path: Path, _: Path, scale: float) -> None:
    """Write uniform doubles of several magnitudes, each with 17 digits."""
    n_columns = DOUBLES[1]
    rng, n = start("doubles", DOUBLES[0], scale)
    factors = 10.0 ** np.arange(-3, n_columns - 3)
    row = ",".join(["%.17g"] * n_columns) + "\n"
    with path.open("w", newline="") as file:
        file.write(",".join(f"x{i}" for i in range(n_columns)) + "\n")
        for first in range(0, n, CHUNK):
            values = (rng.random((min(CHUNK, n - first), n_columns)) - 0.5) * factors
            file.write(row * len(values) % tuple(values.ravel().tolist()))


def _quoted(path: Path, _: Path, scale: float) -> None:
    """Write texts in quotes, most with quotes, separators or line ends inside."""
    import polars as pl

    rng, n = start("quoted", QUOTED, scale)
    names = [f"{word} {i}" for i in range(50) for word in ("Ltd., Oslo", "Rome", '"Best" Shop')]
    known = pl.Series(
        ['said "no"', "first, second", "one line\nand another", "plain words", "a; b"]
    )
    one, two, three = (known.gather(rng.integers(0, len(known), n)) for _ in range(3))
    number = pl.Series(rng.integers(10**14, 10**15, n)).cast(pl.String)
    frame = pl.DataFrame(
        {
            "id": np.arange(n),
            "name": pl.Series(names).gather(pick(rng, zipf(len(names)), n)),
            "comment": one + " " + number + " " + two + " " + three,
            "title": two + ": " + number,
            "price": np.rint(rng.gamma(2, 4_000, n)) / 100,
        }
    )
    frame.write_csv(path, quote_style="non_numeric")


def _cut(name: str, share: float, remark: str) -> Text:
    return Text(name, remark, partial(_of_shootout, name, share))


TEXTS: dict[str, Text] = {
    text.name: text
    for text in (
        _cut("scorecard", 0.2, "1,731 columns, a fifth of the rows"),
        _cut("loans", 0.6, "74 columns, many gaps, three fifths of the rows"),
        Text("lineitem", "TPC-H, scale factor 0.3", partial(_of_tpch, "lineitem", 0.3)),
        Text("orders", "TPC-H, scale factor 1", partial(_of_tpch, "orders", 1.0)),
        _cut("taxi", 0.12, "times and places, an eighth of the rows"),
        Text("doubles", "eight columns of doubles with 17 digits", _doubles),
        Text("quoted", "texts with quotes, separators and line ends", _quoted),
    )
}
