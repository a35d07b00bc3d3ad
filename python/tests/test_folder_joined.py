"""Engines read files with columns of one form as one file, and get the rows that single files give."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import entasis as en
from entasis._dataset.table import Table

N_FILES, N_ROWS = 6, 9_000
KEYS: dict[str, list[Any]] = {
    "number": [3, 1, None, 2, 40, 5],
    "day": [datetime.date(2024, 1, 1 + i) for i in range(N_FILES)],
    "text": ["a", "", "é", "b/c", None, "d=e"],
}
CONDITIONS = [
    None,
    pc.field("i") > 500,
    (pc.field("s") == "w17") & (pc.field("f") < 100),
    pc.field("k").is_null(),
    pc.field("k").is_valid() & (pc.field("i") < 20),
    pc.field("i") < 0,
    (pc.field("i") + 1) > 900,
]


def frame(part: int, host: str) -> Any:
    rng = np.random.default_rng(part)
    n = N_ROWS + 1000 * part
    floats = np.round(rng.random(n) * 1000, 2)
    floats[rng.random(n) < 0.01] = np.nan
    texts = [f"w{i}" for i in rng.integers(0, 50, n)]
    columns = {
        "i": rng.integers(0, 1000, n),
        "f": floats,
        "s": texts,
        "t": np.datetime64("2024-01-01", "us") + rng.integers(0, 10**9, n),
        "m": pa.array(rng.integers(0, 9, n), mask=rng.random(n) < 0.1),
    }
    if host == "pandas":
        return pd.DataFrame({name: column.to_pandas() if name == "m" else column for name, column in columns.items()})
    table = pa.table(columns)
    return pl.DataFrame(table) if host == "polars" else table


def with_key(value: Any, key: Any, of: pa.DataType) -> Any:
    column = pa.array([key] * len(value), of)
    if isinstance(value, pd.DataFrame):
        return value.assign(k=pd.Series(column.to_pandas(), dtype=object))
    if isinstance(value, pl.DataFrame):
        return value.with_columns(pl.Series("k", column))
    return value.append_column("k", column)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def host(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(params=KEYS)
def folder(request: pytest.FixtureRequest, host: str, tmp_path: Path) -> str:
    of = {"number": pa.int64(), "day": pa.date32(), "text": pa.string()}[request.param]
    path = str(tmp_path / "folder")
    frames = [with_key(frame(i, host), key, of) for i, key in enumerate(KEYS[request.param])]
    en.write_dataset(frames, path, partition_by="k")
    return path


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "joined", lambda self, numbers: None)


def is_joined(scan: Any) -> bool:
    return any(view is not None for view in scan._query.table._joined.values())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("narrow", [False, True, "strings"])
def test_datasets_give_the_rows_of_single_files(folder: str, narrow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = en.scan(folder)
    joined = [scan.to_dataset(narrow=narrow).to_table(filter=each) for each in CONDITIONS]
    counts = [scan.to_dataset(narrow=narrow).count_rows(each) for each in CONDITIONS]
    some = scan.to_dataset(narrow=narrow).to_table(columns=["k", "f"], filter=CONDITIONS[1])
    assert is_joined(scan)
    one_by_one(monkeypatch)
    dataset = en.scan(folder).to_dataset(narrow=narrow)
    assert joined[0].num_rows == sum(N_ROWS + 1000 * i for i in range(N_FILES))
    for condition, found, count in zip(CONDITIONS, joined, counts, strict=True):
        expected = dataset.to_table(filter=condition)
        assert found.schema.equals(expected.schema)
        # Polars takes NaN for equal.
        assert pl.DataFrame(found).equals(pl.DataFrame(expected)), condition
        assert count == len(expected)
    assert pl.DataFrame(some).equals(pl.DataFrame(dataset.to_table(columns=["k", "f"], filter=CONDITIONS[1])))


def test_lazy_frames_give_the_rows_of_single_files(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(scan: Any) -> list[pl.DataFrame]:
        rows = scan.lazy()
        return [
            rows.collect(),
            rows.filter(pl.col("s") == "w17", pl.col("f") < 100).select("i", "k").collect(),
            rows.filter(pl.col("k").is_null()).collect(),
            rows.group_by("k").agg(pl.len(), pl.sum("i")).sort("k").collect(),
            rows.select(pl.len()).collect(),
            rows.slice(8_990, 30).collect(),
            rows.filter(pl.col("i") < 0).collect(),
        ]

    scan = en.scan(folder)
    joined = found(scan)
    assert is_joined(scan)
    one_by_one(monkeypatch)
    for one, expected in zip(joined, found(en.scan(folder)), strict=True):
        assert one.schema == expected.schema
        assert one.equals(expected)


def test_duckdb_gets_all_rows(folder: str) -> None:
    scan = en.scan(folder)
    connection = duckdb.connect()
    scan.to_duckdb(connection, "rows")
    found = connection.sql("SELECT k, count(*), sum(i) FROM rows WHERE s = 'w3' GROUP BY k ORDER BY 3").fetchall()
    assert is_joined(scan)
    rows = scan.read(to="pandas")
    some = rows[rows["s"] == "w3"].groupby("k", dropna=False)["i"].agg(["count", "sum"]).sort_values("sum")
    assert [row[1:] for row in found] == [tuple(row) for row in some.itertuples(index=False)]


@pytest.fixture
def plain(tmp_path: Path) -> str:
    path = str(tmp_path / "plain")
    en.write_dataset([with_key(frame(i, "polars"), i, pa.int64()) for i in range(N_FILES)], path, partition_by="k")
    return path


def test_only_files_that_can_match_are_opened(plain: str) -> None:
    scan = en.scan(plain)
    assert scan.to_dataset().count_rows(pc.field("k") == 3) == N_ROWS + 3000
    table = scan._query.table
    assert not table._joined
    assert table.n_opened <= 2
    assert scan.to_dataset().count_rows((pc.field("k") < 4) & (pc.field("i") >= 0)) == 4 * N_ROWS + 6000
    assert [len(numbers) for numbers in table._joined] == [4]


def test_damage_is_reported_with_its_file(plain: str) -> None:
    path = en.scan(plain)._query.table.files.paths[3]
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 3] ^= 64
    Path(path).write_bytes(content)
    for read in (
        lambda: en.scan(plain).to_dataset().to_table(),
        lambda: en.scan(plain).lazy().collect(),
        lambda: en.scan(plain).to_dataset().count_rows((pc.field("f") > 1) & (pc.field("s") > "a")),
    ):
        with pytest.raises(Exception, match=f"{path[-13:]}.*block 0, page 0"):
            read()


def test_files_of_other_forms_are_read_one_by_one(tmp_path: Path) -> None:
    path = str(tmp_path / "mixed")
    frames = [frame(i, "polars") for i in range(N_FILES)]
    Path(path).mkdir()
    for i, each in enumerate(frames):
        if i == 4:
            each = each.with_columns(pl.col("i").cast(pl.Int32))
        en.write(each, f"{path}/{i}.entasis")
    scan = en.scan(path)
    assert scan.lazy().select(pl.sum("i")).collect().item() == sum(each["i"].sum() for each in frames)
    assert list(scan._query.table._joined.values()) == [None]
