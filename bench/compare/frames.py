"""The frames that are written and read: generated, fetched, or the user's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SEED = 20171216
STEP = 1 << 20  # rows drawn at once, to keep what is temporary small
CITIES = (
    "Atlanta",
    "Chicago",
    "Denver",
    "Houston",
    "LosAngeles",
    "Miami",
    "NewYork",
    "SanFrancisco",
    "Seattle",
    "Washington.DC",
)


def headline(n_rows: int, seed: int = SEED) -> pd.DataFrame:
    """The frame of the fst articles: logical with missing values, integers, prices, cities.

    The first rows of a longer frame are those of a shorter one.
    """
    import pandas as pd

    prices = np.random.default_rng(seed).choice(np.arange(1, 10_001), 20, replace=False) / 100
    truth = np.empty(n_rows, np.bool_)
    missing = np.empty(n_rows, np.bool_)
    integers = np.empty(n_rows, np.int32)
    reals = np.empty(n_rows, np.float64)
    codes = np.empty(n_rows, np.int8)
    for start in range(0, n_rows, STEP):
        rng = np.random.default_rng([seed, start])
        part = slice(start, min(start + STEP, n_rows))
        n = part.stop - part.start
        percent = rng.integers(0, 100, STEP, dtype=np.uint8)[:n]
        np.less(percent, 85, out=truth[part])
        np.greater_equal(percent, 95, out=missing[part])
        integers[part] = rng.integers(1, 101, STEP, dtype=np.int32)[:n]
        np.take(prices, rng.integers(0, 20, STEP, dtype=np.uint8)[:n], out=reals[part])
        codes[part] = rng.integers(0, 10, STEP, dtype=np.int8)[:n]
    cities = pd.Index(CITIES, dtype="str")
    columns = {
        "Logical": pd.arrays.BooleanArray(truth, missing),
        "Integer": integers,
        "Real": reals,
        "Factor": pd.Categorical.from_codes(codes, cities, validate=False),
    }
    return pd.DataFrame(columns, copy=False)


def tpch_orders(folder: Path, scale: float) -> Path:
    """The path of TPC-H's table `orders` as Parquet, made once per scale factor."""
    target = folder / f"tpch-sf{scale:g}"
    path = target / "orders.parquet"
    if path.exists():
        return path
    target.mkdir(parents=True, exist_ok=True)
    program = Path(sys.executable).with_name("tpchgen-cli")
    if not program.exists():
        raise FileNotFoundError(
            "tpchgen-cli is not installed; name a file of your own: make demo FILE=..."
        )
    unfinished = target / "unfinished"
    arguments = ["parquet", "-s", f"{scale:g}", "-T", "orders", "-o", str(unfinished)]
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)
    (unfinished / "orders.parquet").replace(path)
    unfinished.rmdir()
    return path


def from_file(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The frame in a file, by its extension, and notes on what was converted.

    pandas holds decimals as one Python object per cell; they become float64 here, and
    dates become datetime64[ms], so that formats are compared, not Python objects.
    """
    table = _table(path)
    notes = []
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            notes.append(f"{field.name}: {field.type} as float64")
            table = table.set_column(i, field.name, table[field.name].cast(pa.float64()))
        elif pa.types.is_date(field.type):
            notes.append(f"{field.name}: date as datetime64[ms]")
    return table.to_pandas(date_as_object=False), notes


def _table(path: Path) -> pa.Table:
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        return pq.read_table(path)
    if name.endswith((".feather", ".arrow", ".ipc")):
        import pyarrow.feather as feather

        return feather.read_table(path)
    if name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        from pyarrow import csv

        delimiter = "\t" if ".tsv" in name else ","
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
    raise ValueError(f"{path}: expected .parquet, .feather, .arrow, .csv or .tsv")
