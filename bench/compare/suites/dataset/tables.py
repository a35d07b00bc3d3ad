"""Rows of many files: a table for each key, and the folders that formats make of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ... import files
from ...frames.headline import CITIES

if TYPE_CHECKING:
    from ...peers import Peer

SECTION = "dataset"
ENTASIS = "entasis"
KEY = "part"
SEED = 20171216
FIRST_DAY = np.datetime64("2020-01-01", "D")
DAYS = 1000


def table(part: int, n_rows: int) -> pa.Table:
    """The rows of a key, without the key. A longer table has other rows than a shorter one."""
    rng = np.random.default_rng([SEED, part])
    days = FIRST_DAY + rng.integers(0, DAYS, n_rows)
    cities = pa.array(rng.integers(0, len(CITIES), n_rows, dtype=np.int32))
    return pa.table(
        {
            "id": np.arange(part * n_rows, (part + 1) * n_rows),
            "day": pa.array(np.sort(days)),
            "city": pa.DictionaryArray.from_arrays(cities, list(CITIES)).cast(pa.string()),
            "price": np.round(rng.random(n_rows) * 1000, 2),
            "quantity": rng.integers(1, 51, n_rows, dtype=np.int16),
        }
    )


def tables(n_parts: int, n_rows: int) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each key, and the key."""
    for part in range(n_parts):
        yield part, table(part, n_rows)


def with_key(rows: pa.Table, part: int) -> pa.Table:
    """The rows of a key with the key."""
    return rows.append_column(KEY, pa.array(np.full(len(rows), part)))


def write(peer: Peer, folder: Path, parts: Iterator[tuple[int, pa.Table]]) -> None:
    """Write a folder with a file for each key."""
    files.remove(folder)
    if peer.key == ENTASIS:
        import entasis as en

        keyed = (with_key(rows, part) for part, rows in parts)
        en.write_dataset(keyed, str(folder), partition_by=KEY)
        return
    for part, rows in parts:
        path = folder / f"{KEY}={part}" / "0.parquet"
        path.parent.mkdir(parents=True)
        peer.write(peer.prepare(rows), path)
