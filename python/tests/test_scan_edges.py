"""Filters at the edges of types and blocks: times, missing values, bytes, categories, structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path

SIGNS = {"<": "__lt__", "<=": "__le__", "==": "__eq__", "!=": "__ne__", ">": "__gt__", ">=": "__ge__"}
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LEAST, MOST = -(2**63), 2**63 - 1


def of(left: int, sign: str, right: int) -> bool:
    return bool(getattr(left, SIGNS[sign])(right))


@pytest.mark.parametrize("unit", UNITS)
def test_times_at_the_ends_of_64_bits_compare_with_every_unit(unit: str, path: Path) -> None:
    numbers = [LEAST, LEAST + 1, -1, 0, 1, MOST - 1, MOST]
    en.write(pa.table({"t": pa.array(numbers, pa.int64()).cast(pa.timestamp(unit))}), path)
    f = en.open(path)
    dataset = f.to_dataset()
    for other, length in UNITS.items():
        for value in numbers:
            literal = pa.scalar(value, pa.int64()).cast(pa.timestamp(other))
            for sign in SIGNS:
                wanted = [n for n in numbers if of(n * UNITS[unit], sign, value * length)]
                condition = getattr(pc.field("t"), SIGNS[sign])(literal)
                found = dataset.to_table(filter=condition)["t"].cast(pa.int64()).to_pylist()
                assert found == wanted, (other, value, sign)
    for value in numbers[1:]:
        time = np.datetime64(value, unit)  # type: ignore[call-overload]
        assert f.count(col("t") >= time) == sum(n >= value for n in numbers)


@pytest.mark.parametrize("n_null", [1, 8_191, 8_192, 65_535, 65_536, 65_537])
def test_columns_that_begin_with_missing_values(n_null: int, path: Path) -> None:
    n = 1000
    values: list[int | None] = [None] * n_null + list(range(n))
    en.write(pl.DataFrame({"a": values}, schema={"a": pl.Int64}), path)
    f, frame = en.open(path), pl.DataFrame({"a": values})
    for condition, wanted in (
        (col("a") < 10, 10),
        (col("a") <= 10, 11),
        (col("a") != 10, n - 1),
        (~(col("a") == 10), n - 1),
        (col("a").is_missing(), n_null),
        (~col("a").is_missing(), n),
    ):
        assert f.count(condition) == wanted
    for expression in (pl.col("a") < 10, pl.col("a").ne_missing(10), pl.col("a").eq_missing(None), pl.col("a") <= 10):
        wanted_rows = frame.filter(expression)
        assert f.lazy().filter(expression).collect().equals(wanted_rows)
    duckdb = pytest.importorskip("duckdb")
    dataset = f.to_dataset()  # noqa: F841
    found = duckdb.sql("select count(*) from dataset where a is distinct from 10").fetchall()
    assert found == [(n_null + n - 1,)]


@pytest.mark.parametrize("length", [1, 15, 16, 17, 40])
def test_bytes_of_ones(length: int, path: Path) -> None:
    values = [b"", b"\xfe" * length, b"\xff" * length, b"\xff" * length + b"\0"]
    en.write(pa.table({"b": values}), path)
    f = en.open(path)
    for n in (1, 14, 15, 16, 17, 41):
        literal = b"\xff" * n
        for condition, wanted in (
            (col("b") > literal, [v for v in values if v > literal]),
            (col("b") <= literal, [v for v in values if v <= literal]),
            (col("b") == literal, [v for v in values if v == literal]),
            (col("b").starts_with(literal), [v for v in values if v.startswith(literal)]),
        ):
            assert f.read(filter=condition)["b"].to_pylist() == wanted
        assert f.to_dataset().to_table(filter=pc.field("b") > literal)["b"].to_pylist() == [
            v for v in values if v > literal
        ]


def test_an_enum_has_the_order_of_its_categories(path: Path) -> None:
    categories = ["high", "low", "medium", "a"]
    frame = pl.DataFrame({"e": pl.Series([*categories, None], dtype=pl.Enum(categories))})
    en.write(frame, path)
    f = en.open(path)
    for i, category in enumerate(categories):
        assert f.read(filter=col("e") < category)["e"].to_list() == categories[:i]
        assert f.read(filter=col("e") >= category)["e"].to_list() == categories[i:]
        for expression in (pl.col("e") < category, pl.col("e") >= category):
            assert f.lazy().filter(expression).collect().equals(frame.filter(expression))


def test_missing_structs_with_lists_between_rows_that_pass(path: Path) -> None:
    of_lists = pa.struct({"l": pa.list_(pa.struct({"x": pa.int64()}))})
    n = 53_000
    values: list[Any] = [{"l": [{"x": 1}]}, *[None] * n, {"l": [{"x": 2}, None]}, {"l": None}]
    table = pa.table({"k": np.arange(n + 3), "s": pa.array(values, of_lists)})
    en.write(table, path)
    found = en.read(path, filter=col("k") > n)
    assert found["s"].to_pylist() == [{"l": [{"x": 2}, None]}, {"l": None}]
    assert en.open(path).count(~col("s").is_missing()) == 3


def test_run_ends_that_are_cut_and_appended(path: Path) -> None:
    values = [*"a" * 5, *"b" * 7, None, None, *"c" * 4]
    whole = pc.run_end_encode(pa.array(values), run_end_type=pa.int32())
    wanted: list[Any] = []
    for k, (start, stop) in enumerate([(0, 3), (2, 9), (8, 18), (13, 13), (1, 17)]):
        part = pa.table({"r": whole.slice(start, stop - start)})
        en.append(part, path) if k else en.write(part, path)
        wanted += values[start:stop]
        assert en.read(path)["r"].to_pylist() == wanted
    assert en.read(path, rows=slice(2, 30, 3))["r"].to_pylist() == wanted[2:30:3]


@pytest.mark.parametrize("n", [10, 200_000])
def test_statistics_follow_the_columns_that_are_renamed(n: int, path: Path) -> None:
    frame = pl.DataFrame({"x": np.arange(n), "y": np.arange(n) + 10 * n})
    en.write(frame, path, compression=0)
    en.rename_columns(path, {"x": "y", "y": "x"})
    assert en.read(path, filter=col("x") < n).is_empty()
    assert en.open(path).count(col("y") < n) == n
    assert en.scan_polars(path).filter(pl.col("x") == 10 * n).collect().height == 1
    if len(en.generations(path)) > 1:
        en.rollback(path, 1)
        assert en.open(path).count(col("x") < n) == n
        assert en.read(path, filter=col("y") < n).is_empty()
