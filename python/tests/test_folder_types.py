"""Files whose types differ from those of the first one, in scans by engines and in `read`."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from polars.testing import assert_frame_equal

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

DAY = datetime.datetime(2024, 2, 29)


def scan_of(tmp_path: Path, *frames: Any, **options: Any) -> en.FolderScan:
    paths = [tmp_path / f"{number}.entasis" for number in range(len(frames))]
    for path, frame in zip(paths, frames, strict=True):
        en.write(frame, path)
    return en.scan(paths, **options)


# The types of the first file, of the second one, and values that both have.
POLARS: dict[str, tuple[Any, Any, list[Any]]] = {
    "narrower integers": (pl.Int64, pl.Int8, [1, None, -5]),
    "wider integers": (pl.Int8, pl.Int64, [1, None, -5]),
    "unsigned": (pl.Int32, pl.UInt64, [1, None, 5]),
    "floats of integers": (pl.Int64, pl.Float64, [1.0, None, -5.0]),
    "integers of floats": (pl.Float64, pl.Int64, [1, None, 1 << 53]),
    "short floats": (pl.Float64, pl.Float32, [0.1, None, 2.5]),
    "long floats": (pl.Float32, pl.Float64, [0.25, None, 2.5]),
    "categories": (pl.String, pl.Categorical, ["a", None, "c"]),
    "text": (pl.Categorical, pl.String, ["a", None, "c"]),
    "enums": (pl.Enum(["a", "b", "c"]), pl.Enum(["c", "a"]), ["a", None, "c"]),
    "units": (pl.Datetime("us"), pl.Datetime("ms"), [DAY, None, DAY + datetime.timedelta(1)]),
    "finer units": (pl.Datetime("ms"), pl.Datetime("ns"), [DAY, None, DAY + datetime.timedelta(1)]),
    "decimals": (pl.Decimal(10, 2), pl.Decimal(4, 1), [Decimal("1.5"), None, Decimal("-2.0")]),
    "all missing": (pl.Int64, pl.String, [None, None, None]),
    "nulls": (pl.Int64, pl.Null, [None, None, None]),
    "lists": (pl.List(pl.Int64), pl.List(pl.Int16), [[1], None, [2, 3]]),
    "structs": (pl.Struct({"a": pl.Int64}), pl.Struct({"a": pl.Int8}), [{"a": 1}, None, {"a": 3}]),
}


def frames_of(name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    first, other, values = POLARS[name]
    of_first = [value for value in values if value is not None] or [None]
    if name == "floats of integers":
        of_first = [1, 2]
    return (
        pl.DataFrame({"id": range(len(of_first)), "x": pl.Series(of_first, dtype=pl.Float64).cast(first)})
        if name in ("short floats", "long floats")
        else pl.DataFrame({"id": range(len(of_first)), "x": pl.Series(of_first, dtype=first)}),
        pl.DataFrame({"id": range(10, 13), "x": pl.Series(values, dtype=other)}),
    )


@pytest.mark.parametrize("name", POLARS)
def test_engines_have_the_rows_of_read(tmp_path: Path, name: str) -> None:
    first, other = frames_of(name)
    scan = scan_of(tmp_path, first, other, first)
    expected = scan.read()
    assert expected.schema == first.schema
    assert_frame_equal(scan.lazy().collect(), expected)
    assert_frame_equal(scan.lazy().select("x").collect(), expected.select("x"))
    if name == "enums":
        # `read` refuses to give pyarrow one order for both. Batches have an order of their own.
        with pytest.raises(en.ArgumentError, match="ordered categories"):
            scan.read(to="pyarrow")
        assert scan.to_dataset().to_table()["x"].to_pylist() == expected["x"].to_list()
        return
    table = scan.read(to="pyarrow")
    found = scan.to_dataset().to_table()
    if name not in ("categories", "text", "enums"):
        assert found.equals(table.cast(found.schema))
    assert found.to_pydict() == table.to_pydict()
    assert pl.DataFrame(scan).height == expected.height


@pytest.mark.parametrize("name", POLARS)
def test_conditions_are_about_the_types_of_the_first_file(tmp_path: Path, name: str) -> None:
    first, other = frames_of(name)
    scan = scan_of(tmp_path, first, other, first)
    whole, table = scan.read(), scan.to_dataset().to_table()
    some = [value for value in whole["x"].unique().to_list() if value is not None]
    for value in some if first["x"].dtype not in (pl.List, pl.Struct) and not first["x"].dtype.is_nested() else []:
        for compare in (pl.Expr.eq, pl.Expr.ne, pl.Expr.lt, pl.Expr.ge):
            if isinstance(first["x"].dtype, (pl.Categorical, pl.Enum)) and compare in (pl.Expr.lt, pl.Expr.ge):
                continue
            literal = pl.lit(value, dtype=pl.String if isinstance(value, str) else first["x"].dtype)
            condition = compare(pl.col("x"), literal)
            assert_frame_equal(scan.lazy().filter(condition).collect(), whole.filter(condition))
            assert scan.lazy().filter(condition).select(pl.len()).collect().item() == len(whole.filter(condition))
    for expression in (pc.field("x").is_null(), ~pc.field("x").is_null(), pc.field("id") > 10):
        expected = ds.dataset(table).to_table(filter=expression)
        found = scan.to_dataset().to_table(filter=expression)
        assert found.to_pydict() == expected.to_pydict()
        assert scan.to_dataset().count_rows(filter=expression) == len(expected)
        assert scan.to_dataset().to_table(columns=["id"], filter=expression).to_pydict() == {
            "id": expected["id"].to_pylist()
        }
    kind = table.schema.field("x").type
    for value in some if not pa.types.is_nested(kind) and not pa.types.is_dictionary(kind) else []:
        literal = pa.scalar(value, kind)
        for expression in (
            pc.field("x") == literal,
            pc.field("x") != literal,
            pc.field("x") < literal,
            (pc.field("x") >= literal) & (pc.field("id") < 12),
            pc.field("x").isin(pa.array([value], kind)),
        ):
            expected = ds.dataset(table).to_table(filter=expression)
            assert scan.to_dataset().to_table(filter=expression).to_pydict() == expected.to_pydict()
            assert scan.to_dataset().count_rows(filter=expression) == len(expected)


def test_short_floats_are_compared_as_long_ones(tmp_path: Path) -> None:
    """0.1 of a file of short floats is not the 0.1 of the table, which has long ones."""
    scan = scan_of(
        tmp_path,
        pl.DataFrame({"x": [0.1, 0.5]}),
        pl.DataFrame({"x": pl.Series([0.1, 0.5], dtype=pl.Float32)}),
    )
    assert scan.lazy().filter(pl.col("x") == 0.1).collect().height == 1
    dataset = scan.to_dataset()
    for nan in ("ieee", "largest"):
        dataset = scan.to_dataset(nan=nan)  # type: ignore[arg-type]
        assert dataset.to_table(filter=pc.field("x") == 0.1).num_rows == 1
        assert dataset.count_rows(filter=pc.field("x") == 0.1) == 1
        assert dataset.count_rows(filter=pc.field("x") > 0.1) == 3
    connection = duckdb.connect()
    connection.register("s", pickle.loads(pickle.dumps(dataset)))
    assert connection.sql("select count(*), sum(x > 0.1) from s where x >= 0.1").fetchall() == [(4, 3)]


def test_keys_and_columns_that_files_lack(tmp_path: Path) -> None:
    for number, frame in enumerate(
        [
            pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}),
            pl.DataFrame({"x": pl.Series([3, None], dtype=pl.Int16)}),
            pl.DataFrame({"y": pl.Series(["c"], dtype=pl.Categorical), "x": [4.0]}),
        ]
    ):
        path = tmp_path / f"k={number}"
        path.mkdir()
        en.write(frame, path / "part.entasis")
    scan = en.scan(tmp_path, missing_columns="missing")
    expected = pl.DataFrame({"x": [1, 2, 3, None, 4], "y": ["a", "b", None, None, "c"], "k": [0, 0, 1, 1, 2]})
    assert_frame_equal(scan.read(), expected)
    assert_frame_equal(scan.lazy().collect(), expected)
    assert scan.lazy().filter(pl.col("x") > 2, pl.col("k") > 0).select("y").collect()["y"].to_list() == [None, "c"]
    dataset = scan.to_dataset()
    assert dataset.to_table().to_pydict() == expected.to_dict(as_series=False)
    some = (pc.field("x") > 2) & (pc.field("k") > 0)
    assert dataset.to_table(columns=["y"], filter=some).to_pydict() == {"y": [None, "c"]}
    assert dataset.to_table(columns=["k"], filter=pc.field("x") == 4).to_pydict() == {"k": [2]}
    assert dataset.count_rows(filter=some) == 2
    assert dataset.count_rows(filter=pc.field("y") == "c") == 1


def test_values_that_the_first_type_does_not_hold(tmp_path: Path) -> None:
    for n, (first, other, said) in enumerate(
        (
            (pl.Series([1], dtype=pl.Int64), pl.Series([2.0, 2.5]), "Float64 .* and Int64 in the first file"),
            (pl.Series([1], dtype=pl.Int8), pl.Series([300]), "Int64 .* and Int8 in the first file"),
            (pl.Series([1], dtype=pl.Int64), pl.Series(["1"]), "String .* and Int64 in the first file"),
            (pl.Series([0.5], dtype=pl.Float32), pl.Series([0.1]), "Float64 .* and Float32 in the first file"),
        )
    ):
        (tmp_path / str(n)).mkdir()
        scan = scan_of(tmp_path / str(n), pl.DataFrame({"x": first}), pl.DataFrame({"x": other}))
        with pytest.raises(Exception, match=f"column 'x' is {said}"):
            scan.lazy().collect()
        with pytest.raises(en.ArgumentError, match=r"column 'x' is .* in the first file"):
            scan.to_dataset().to_table()
        with pytest.raises(en.ArgumentError, match=r"column 'x' is .* in the first file"):
            scan.to_dataset().count_rows(filter=pc.field("x") == pa.scalar(first[0], scan.to_dataset().schema.types[0]))
    # Rows and columns that are not asked for do not matter.
    scan = scan_of(tmp_path, pl.DataFrame({"x": [1, 2], "y": [1, 2]}), pl.DataFrame({"x": [2.0, 2.5], "y": [3, 4]}))
    assert scan.lazy().select("y").collect()["y"].to_list() == [1, 2, 3, 4]
    assert scan.to_dataset().to_table(filter=pc.field("y") < 4).to_pydict() == {"x": [1, 2, 2], "y": [1, 2, 3]}
    assert scan.read()["x"].to_list() == [1.0, 2.0, 2.0, 2.5]


def test_files_of_pandas(tmp_path: Path) -> None:
    scan = scan_of(
        tmp_path,
        pd.DataFrame({"i": [1, 2], "c": pd.Categorical(["a", "b"]), "d": pd.to_datetime(["2024-01-01"] * 2)}),
        pd.DataFrame({
            "i": [3.0, np.nan],
            "c": ["c", None],
            "d": pd.to_datetime(["2024-01-02", None]).astype("M8[s]"),
        }),
    )  # fmt: skip
    for host in ("polars", "pyarrow"):
        expected = scan.read(to=host)
        found = scan.lazy().collect() if host == "polars" else scan.to_dataset().to_table()
        if host == "polars":
            assert_frame_equal(found, expected)
        else:
            assert found.to_pydict() == expected.to_pydict()
    assert scan.to_dataset().count_rows(filter=pc.field("i") > 1) == 2
    assert scan.lazy().filter(pl.col("i") > 1).collect()["i"].to_list() == [2, 3]
