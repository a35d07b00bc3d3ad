"""Missing values of every library: filters of engines find those that a read shows."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from bench.fidelity.cases import LIBRARIES, panel
from tiers import RELEASE

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# Columns of a frame that are asked for.
MOST = 10
# In the tests of a change every tenth value of pandas, which has many values of each kind.
STEP = {"pandas": 1 if RELEASE else 10}


def frames(library: str, folder: Path) -> Iterator[tuple[str, en.File]]:
    """The values of a library that are frames, as open files."""
    for k, case in enumerate(islice(panel(library), 0, None, STEP.get(library, 1))):
        if case.refused is None:
            path = folder / f"{k}.entasis"
            en.write(case.make(), path)
            f = en.open(path)
            if hasattr(f, "n_columns"):
                yield case.key, f
            path.unlink()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_values(library: str, tmp_path: Path) -> None:
    n_columns = 0
    for key, f in frames(library, tmp_path):
        try:
            dataset = f.to_dataset()
            table = dataset.to_table()
        except en.EntasisError:
            # Arrow lacks a type, or two columns have the same name.
            continue
        for name in dataset.schema.names[:MOST]:
            if pa.types.is_run_end_encoded(table.schema.field(name).type):
                # pyarrow has no filter for them.
                continue
            n = pc.sum(pc.is_null(table[name])).as_py() or 0
            assert dataset.count_rows(filter=pc.field(name).is_null()) == n, (key, name)
            assert dataset.count_rows(filter=pc.field(name).is_valid()) == len(table) - n, (key, name)
            n_columns += 1
    assert n_columns > 100


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_values_in_polars(library: str, tmp_path: Path) -> None:
    n_columns = 0
    for key, f in frames(library, tmp_path):
        try:
            lazy, frame = f.lazy(), f.to_polars()
        except en.EntasisError:
            continue
        frame = frame.to_frame() if isinstance(frame, pl.Series) else frame
        for name, of in list(frame.schema.items())[:MOST]:
            if isinstance(of, pl.Object) or name.startswith("^"):
                continue
            expected = frame[name].null_count()
            found = lazy.select(name).filter(pl.col(name).is_null()).collect().height
            assert found == expected, (key, name)
            n_columns += 1
    assert n_columns > 100


def test_missing_intervals_of_pandas(path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"iv": pd.arrays.IntervalArray.from_tuples([(0, 1), None])})
    en.write(frame, path)
    f = en.open(path)
    with pytest.raises(en.UnsupportedTypeError, match=r"type interval .*column \"iv\".*after reading"):
        f.filter(en.col("iv").is_missing()).row_numbers()
    assert f.to_dataset().count_rows(filter=pc.field("iv").is_null()) == 1
    assert f.lazy().filter(pl.col("iv").is_null()).collect().height == 1
