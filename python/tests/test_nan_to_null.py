"""NaN of pandas is null for Polars, Arrow and DuckDB, and NaN for pandas, NumPy and `en.col`."""

from __future__ import annotations

import pickle
import random
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 1_000
FLOATS = ("float64", "float32", "float16")
c, field = pl.col, pc.field


def frame(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Columns with a third of the values missing, in every type of pandas that has floats."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.uniform(-10, 10, n), 1)
    holes = np.where(rng.random(n) < 1 / 3, np.nan, values)
    return pd.DataFrame({
        "id": np.arange(n),
        "float64": holes,
        "float32": np.roll(holes, 1).astype("f4"),
        "float16": np.roll(holes, 2).astype("f2"),
        "sparse": pd.arrays.SparseArray(np.roll(holes, 3)),
        "full": values,
        "masked": pd.array(np.roll(holes, 5), "Float64"),
        "arrow": pd.arrays.ArrowExtensionArray(pa.array(np.roll(holes, 6), from_pandas=True)),
        "text": np.where(np.isnan(holes), "x", "y"),
    })  # fmt: skip


def native(df: pd.DataFrame) -> pd.DataFrame:
    """The frame in types that pyarrow and Polars import."""
    return df.assign(sparse=df["sparse"].sparse.to_dense())


@pytest.fixture(scope="module")
def df() -> pd.DataFrame:
    return frame()


@pytest.fixture(scope="module", params=["whole", "appended", "many blocks"])
def f(request: pytest.FixtureRequest, df: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> en.File:
    """The frame as a file: in one piece, with rows that were appended, and after other rows."""
    path = tmp_path_factory.mktemp("nan") / "f.entasis"
    if request.param == "whole":
        en.write(df, path)
        return en.open(path)
    if request.param == "appended":
        en.write(df[:1], path)
        for start, stop in ((1, 300), (300, 301), (301, N)):
            en.append(df[start:stop], path)
        return en.open(path)
    before = frame(70_000, 1)
    en.write(pd.concat([before, df], ignore_index=True), path)
    return en.open(path)[70_000:]


def arrow(df: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(native(df), preserve_index=False)


def same(found: pa.Table, expected: pa.Table) -> None:
    """Compare by value. Neither has NaN."""
    assert found.column_names == expected.column_names
    for name in found.column_names:
        a, b = found[name], expected[name]
        assert a.null_count == b.null_count, name
        assert a.to_pylist() == b.to_pylist(), name


@pytest.mark.core
def test_issue(path: Path) -> None:
    df = pd.DataFrame({"price": [1.25, 9.99, None]})
    en.write(df, path)
    f = en.open(path)
    assert duckdb.sql("select avg(price), count(price) from f").fetchall() == [(5.62, 2)]
    assert en.scan_polars(path).filter(c("price") > 2).collect().height == 1
    assert len(en.read(path, filter=en.col("price") > 2)) == 1
    assert f.to_dataset().count_rows(filter=field("price").is_null()) == 1
    assert en.read(path, to="polars").equals(pl.from_pandas(df), null_equal=True)
    assert pa.table(f).equals(pa.Table.from_pandas(df, preserve_index=False))
    assert pl.DataFrame(f)["price"].null_count() == 1


def test_read(f: en.File, df: pd.DataFrame) -> None:
    expected = arrow(df)
    same(f.to_pyarrow(), expected)
    same(pa.table(f), expected)
    same(f.to_polars().to_arrow(), expected)
    same(pl.DataFrame(f).to_arrow(), expected)
    same(f.lazy().collect().to_arrow(), expected)
    same(f.to_dataset().to_table(), expected)
    same(pa.table(f.to_dataset().to_table(columns=["float32", "id"])), expected.select(["float32", "id"]))
    assert f.to_polars().equals(pl.from_pandas(native(df)).cast(f.to_polars().schema), null_equal=True)


def test_columns_without_nan_have_no_bitmap(f: en.File) -> None:
    for table in (f.to_pyarrow(), pa.table(f)):
        (chunk,) = table["full"].chunks
        assert chunk.buffers()[0] is None
        assert chunk.to_numpy(zero_copy_only=True).base is not None


@pytest.mark.parametrize("rows", [slice(3, 900, 7), slice(None, None, -1), [5, 4, 999, 5, 0], slice(10, 20), []])
def test_some_rows(f: en.File, df: pd.DataFrame, rows: Any) -> None:
    expected = arrow(df.iloc[rows])
    same(f.read(rows=rows, to="pyarrow"), expected)
    same(f.read(rows=rows, to="polars").to_arrow(), expected)
    same(pa.table(f.iloc[rows]), expected)
    same(f.iloc[rows].lazy().collect().to_arrow(), expected)


def test_bits_for_pandas_and_numpy(f: en.File, df: pd.DataFrame) -> None:
    for option in (None, True, False):
        pd.testing.assert_frame_equal(f.read(nan_to_null=option).reset_index(drop=True), df)
        found = f.read(columns=list(FLOATS), to="numpy", nan_to_null=option)
        for name in FLOATS:
            assert found[name].tobytes() == df[name].to_numpy().tobytes()


def test_big_endian(path: Path) -> None:
    en.write(pd.DataFrame({"a": np.array([1.5, np.nan, 2], ">f8")}), path)
    assert en.read(path, to="polars")["a"].to_list() == pa.table(en.open(path))["a"].to_pylist() == [1.5, None, 2.0]
    assert en.scan_polars(path).filter(c("a") > 1).collect().height == 2


@pytest.mark.core
def test_payloads_stay_in_the_file(path: Path) -> None:
    bits = np.array([0x7FF8_0000_0000_0007, 0xFFF0_0000_0000_0001, 0x3FF0_0000_0000_0000], np.uint64)
    en.write(pd.DataFrame({"a": bits.view("f8")}), path)
    assert en.read(path)["a"].to_numpy().tobytes() == bits.tobytes()
    assert en.read(path, to="polars")["a"].to_list() == [None, None, 1.0]
    kept = en.read(path, to="polars", nan_to_null=False)["a"]
    assert kept.to_numpy().tobytes() == bits.tobytes()


def test_off(f: en.File, df: pd.DataFrame) -> None:
    """With False, everything is as if the file were not of pandas."""
    polars = f.to_polars(nan_to_null=False)
    for name in (*FLOATS, "sparse"):
        n = int(df[name].isna().sum())
        assert polars[name].null_count() == 0
        assert int(polars[name].is_nan().sum()) == n
        assert f.to_pyarrow(nan_to_null=False)[name].null_count == 0
        assert f.lazy(nan_to_null=False).select(c(name).is_nan().sum()).collect().item() == n
        assert f.to_dataset(nan_to_null=False).count_rows(filter=field(name).is_null()) == 0
        if name != "float16":
            assert f.to_dataset(nan_to_null=False).count_rows(filter=field(name).is_nan()) == n
            lazy = f.lazy(nan_to_null=False)
            assert lazy.filter(c(name) > 2).collect().equals(polars.filter(c(name) > 2), null_equal=True)
    assert f.to_polars()["masked"].null_count() == int(df["masked"].isna().sum())
    assert sum(part["float64"].null_count() for part in f.batches(400, to="polars", nan_to_null=False)) == 0
    assert sum(part["float64"].null_count() for part in f.batches(400, to="polars")) == df["float64"].isna().sum()


def test_other_libraries(path: Path) -> None:
    """NaN is a value there, unless it is asked for."""
    values = [1.0, float("nan"), None]
    for table in (pl.DataFrame({"a": values}, strict=False), pa.table({"a": pa.array(values)})):
        en.write(table, path)
        f = en.open(path)
        assert f.to_pyarrow()["a"].null_count == f.to_polars()["a"].null_count() == pa.table(f)["a"].null_count == 1
        assert f.to_pyarrow(nan_to_null=True)["a"].null_count == f.to_polars(nan_to_null=True)["a"].null_count() == 2
        assert f.lazy().filter(c("a").is_null()).collect().height == 1
        assert f.lazy(nan_to_null=True).filter(c("a").is_null()).collect().height == 2
        assert f.to_dataset(nan_to_null=True).count_rows(filter=field("a").is_null()) == 2
    en.write({"a": np.array([1.0, np.nan])}, path)
    assert en.read(path, to="polars")["a"].null_count() == 0
    assert en.read(path, to="polars", nan_to_null=True)["a"].null_count() == 1


def test_a_required_column_gets_nullable(path: Path) -> None:
    schema = pa.schema([pa.field("a", pa.float64(), nullable=False)])
    en.write(pa.table({"a": [1.0, float("nan")]}, schema=schema), path)
    assert not en.read(path).schema.field("a").nullable
    found = en.read(path, nan_to_null=True)
    assert found.schema.field("a").nullable
    found.validate(full=True)


def test_floats_inside_values_are_values(path: Path) -> None:
    nan = float("nan")
    of_lists = pa.array([[1.0, nan], None, [nan]])
    of_structs = pa.array([{"x": nan}, {"x": 1.0}, None])
    x = en.col("s").field("x")
    df = pd.DataFrame({"l": pd.arrays.ArrowExtensionArray(of_lists), "s": pd.arrays.ArrowExtensionArray(of_structs)})
    en.write(df, path)
    for option in (None, True, False):
        found = en.read(path, to="pyarrow", nan_to_null=option)
        assert found["l"].combine_chunks().flatten().null_count == 0
        assert en.read(path, columns=[en.field("s", "x")], to="pyarrow", nan_to_null=option)["x"].null_count == 1
        f = en.open(path)
        assert f.count(x.is_missing()) == f.count(x.is_nan()) == 1
        assert f.lazy(nan_to_null=option).filter(c("s").struct.field("x").is_nan()).collect().height == 1


FILTERS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "greater": (lambda a, v: a > v, "{a} > {v}"),
    "at least": (lambda a, v: a >= v, "{a} >= {v}"),
    "less": (lambda a, v: a < v, "{a} < {v}"),
    "at most": (lambda a, v: a <= v, "{a} <= {v}"),
    "equal": (lambda a, v: a == v, "{a} = {v}"),
    "not equal": (lambda a, v: a != v, "{a} <> {v}"),
    "not greater": (lambda a, v: ~(a > v), "not ({a} > {v})"),
    "null": (lambda a, v: a.is_null(), "{a} is null"),
    "nan": (lambda a, v: a.is_nan(), "isnan({a})"),
    "not nan": (lambda a, v: ~a.is_nan(), "not isnan({a})"),
    "not null and not nan": (lambda a, v: ~a.is_null() & ~(a.is_nan() & (a > v)), "{a} is not null"),
    "null or less": (lambda a, v: a.is_null() | (a < v), "{a} is null or {a} < {v}"),
}


@pytest.mark.parametrize("of", [*FLOATS, "sparse", "full", "masked", "arrow"])
@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_engines(f: en.File, df: pd.DataFrame, of: str, name: str) -> None:
    make, sql = FILTERS[name]
    polars, table = pl.from_pandas(native(df)), arrow(df)
    expected = polars.filter(make(c(of), 2.5))["id"].to_list()
    ids = f.to_polars()["id"]
    assert len(ids) == N
    offset = int(ids[0])
    assert [i - offset for i in f.lazy().filter(make(c(of), 2.5)).select("id").collect()["id"]] == expected
    if of != "float16":
        assert [i - offset for i in f.read(filter=make(c(of), 2.5), to="polars")["id"]] == expected
        expected = table.filter(make(field(of), 2.5))["id"].to_pylist()
        dataset = f.to_dataset()
        assert [i - offset for i in dataset.to_table(["id"], filter=make(field(of), 2.5))["id"].to_pylist()] == expected
        assert dataset.count_rows(filter=make(field(of), 2.5)) == len(expected)
        condition = sql.format(a=f'"{of}"', v=2.5)
        # DuckDB has no float16.
        in_memory = duckdb.from_arrow(table.drop_columns("float16")).filter(condition).project("id").fetchall()
        dataset = f.select(["id", of]).to_dataset()
        found = duckdb.from_arrow(dataset).filter(condition).project("id").fetchall()
        assert [(i - offset,) for (i,) in found] == in_memory


def test_aggregates(f: en.File, df: pd.DataFrame) -> None:
    names = [*FLOATS[:2], "sparse", "full"]
    polars = pl.from_pandas(native(df)).select(names)
    for make in (
        pl.Expr.min,
        pl.Expr.max,
        pl.Expr.mean,
        pl.Expr.sum,
        pl.Expr.count,
        pl.Expr.null_count,
        pl.Expr.n_unique,
    ):
        assert f.lazy().select(make(c(names))).collect().equals(polars.select(make(c(names))))
    filled = polars.select(c(names).fill_null(7).sum())
    assert f.lazy().select(c(names).fill_null(7).sum()).collect().equals(filled)
    for name in names:
        by = {"descending": True, "nulls_last": True}
        assert f.lazy().select(name).sort(name, **by).collect().equals(polars.select(name).sort(name, **by))
    aggregates = ", ".join(f'min("{a}"), max("{a}"), avg("{a}"), count("{a}"), sum("{a}")' for a in names)
    with duckdb.connect() as connection:
        for name, value in (
            ("memory", arrow(df).select(names)),
            ("dataset", f[names].to_dataset()),
            ("stream", f[names]),
        ):
            connection.register(name, value)
        (expected,) = connection.sql(f"select {aggregates} from memory").fetchall()
        for name in ("dataset", "stream"):
            (found,) = connection.sql(f"select {aggregates} from {name}").fetchall()
            assert found == pytest.approx(expected)


def test_parquet(f: en.File, df: pd.DataFrame, tmp_path: Path) -> None:
    names = ["float64", "float32", "sparse", "full"]
    expected = arrow(df).select(names)
    pq.write_table(f.to_pyarrow().select(names), tmp_path / "a.parquet")
    f.lazy().select(names).sink_parquet(tmp_path / "b.parquet")
    duckdb.from_arrow(f[names].to_dataset()).write_parquet(str(tmp_path / "c.parquet"))
    for name in "abc":
        same(pq.read_table(tmp_path / f"{name}.parquet"), expected)


def rows_of(f: en.File, condition: Any) -> list[int]:
    numbers = f.filter(condition).row_numbers()
    return [int(i) for i in numbers - (f._handle.n_rows - N)]


@pytest.mark.core
def test_conditions_of_ours_choose_rows_as_pandas(f: en.File, df: pd.DataFrame) -> None:
    for name in ("float64", "float32", "sparse"):
        a, col = df[name], en.col(name)
        for condition, mask in (
            (col > 2.5, a > 2.5),
            (col != 2.5, a != 2.5),
            (~(col > 2.5), ~(a > 2.5)),
            (col.is_nan(), a.isna()),
            (col.is_missing(), a.isna()),
            (~col.is_missing(), a.notna()),
        ):
            expected = np.flatnonzero(mask).tolist()
            assert rows_of(f, condition) == expected
            for to in ("polars", "pyarrow", "pandas"):
                for option in (None, True, False):
                    assert len(f.read(filter=condition, to=to, nan_to_null=option)) == len(expected)
            assert f.filter(condition).lazy().select(pl.len()).collect().item() == len(expected)
            assert f.filter(condition).to_dataset().count_rows() == len(expected)
        # A condition of ours before one of an engine: each has its own rule.
        both = f.filter(col != 2.5).lazy().filter(c(name) != 3).select(pl.len()).collect().item()
        assert both == int(((a != 2.5) & (a != 3) & a.notna()).sum())
        mixed = f.filter(col.is_nan()).filter(c(name).is_null())
        assert mixed.count() == int(a.isna().sum())
        of_polars = f.filter(c(name) != 1)._query.condition
        assert f.filter((col != 1) & of_polars).count() == int(((a != 1) & a.notna()).sum())


def test_conditions_of_polars_in_filter(f: en.File, df: pd.DataFrame) -> None:
    a = df["float64"]
    n = int(a.isna().sum())
    assert f.count(c("float64").is_null()) == n
    assert f.count(c("float64").is_nan()) == 0
    assert f.count(c("float64") > 2) == int((a > 2).sum())
    assert len(f.read(filter=c("float64") > 2, to="polars")) == int((a > 2).sum())
    assert len(f.read(filter=c("float64") > 2, to="polars", nan_to_null=False)) == int((a > 2).sum()) + n
    with pytest.raises(en.EntasisError, match="float16"):
        f.count(c("float16").is_null())


def random_condition(rng: random.Random, depth: int = 0) -> Callable[[Any], Any]:
    """A condition as a function of `col` of Polars or `field` of pyarrow."""
    if depth < 3 and rng.random() < 0.6:
        a, b = random_condition(rng, depth + 1), random_condition(rng, depth + 1)
        join = rng.choice(["and", "or", "not"])
        if join == "not":
            return lambda of: ~a(of)
        return (lambda of: a(of) & b(of)) if join == "and" else (lambda of: a(of) | b(of))
    make = FILTERS[rng.choice(list(FILTERS))][0]
    name, value = rng.choice(["float64", "float32", "sparse", "full"]), rng.choice([-3, 0.0, 2.5, 9.9])
    return lambda of: make(of(name), value)


def test_random_filters(f: en.File, df: pd.DataFrame) -> None:
    rng = random.Random(7)
    polars, table = pl.from_pandas(native(df)), arrow(df)
    offset = int(f.to_polars()["id"][0])
    dataset = f.to_dataset()
    for _ in range(60):
        condition = random_condition(rng)
        expected = polars.filter(condition(c))["id"] + offset
        assert f.lazy().filter(condition(c)).select("id").collect()["id"].to_list() == expected.to_list()
        wanted = table.filter(condition(field))["id"].to_pylist()
        found = dataset.to_table(["id"], filter=condition(field))["id"].to_pylist()
        assert [i - offset for i in found] == wanted


def test_largest_nan(f: en.File, df: pd.DataFrame) -> None:
    """Without NaN, conditions that pyarrow tests are allowed."""
    dataset = f.to_dataset(nan="largest")
    a = df["float64"]
    assert dataset.count_rows(filter=field("float64") > 2) == int((a > 2).sum())
    assert dataset.count_rows(filter=field("float64") + 1 > 3) == int((a + 1 > 3).sum())
    with pytest.raises(en.ArgumentError, match="largest"):
        f.to_dataset(nan="largest", nan_to_null=False).count_rows(filter=field("float64") + 1 > 3)


@pytest.mark.core
def test_labels_of_rows(path: Path) -> None:
    df = pd.DataFrame({"a": [1.0, 2.0, np.nan]}, index=pd.Index([0.5, np.nan, 1.5], name="k"))
    en.write(df, path)
    expected = pl.DataFrame({"k": [0.5, None, 1.5], "a": [1.0, 2.0, None]})
    assert en.read(path, to="polars").equals(expected)
    assert en.scan_polars(path).collect().equals(expected)
    assert en.scan_polars(path).filter(c("k").is_null()).collect().height == 1
    assert en.scan_polars(path).filter(c("k") > 1).collect().height == 1
    assert pa.table(en.open(path))["k"].to_pylist() == [0.5, None, 1.5]
    assert en.read(path, to="pyarrow", nan_to_null=False)["k"].null_count == 0
    df.index = pd.MultiIndex.from_arrays([[0.5, np.nan, 1.5], ["x", "y", None]], names=["k", "l"])
    en.write(df, path)
    found = en.read(path, to="pyarrow")
    assert found["k"].to_pylist() == [0.5, None, 1.5]
    assert found["l"].to_pylist() == ["x", "y", None]


@pytest.mark.parametrize(
    "value",
    [
        pd.Series([1.0, np.nan], name="a"),
        pd.Index([1.0, np.nan], name="a"),
        pd.Series([1.0, np.nan], ["x", "y"], name="a"),
    ],
)
def test_series_and_indexes(path: Path, value: Any) -> None:
    en.write(value, path)
    for found in (en.read(path, to="polars"), pl.DataFrame(en.open(path)), en.scan_polars(path).collect()):
        assert found["a"].to_list() == [1.0, None]


@pytest.mark.core
def test_frames_in_trees(path: Path, df: pd.DataFrame) -> None:
    en.write({"p": df, "s": [pd.Series([1.0, np.nan], name="a")], "q": pl.DataFrame({"a": [float("nan")]})}, path)
    tree = en.open(path)
    same(tree["p"].to_pyarrow(), arrow(df))
    same(pa.table(tree["p"]), arrow(df))
    assert tree["p"].lazy().filter(c("float64").is_null()).collect().height == df["float64"].isna().sum()
    assert tree["s"][0].to_polars()["a"].to_list() == [1.0, None]
    assert tree["q"].to_polars()["a"].null_count() == 0
    with pytest.raises(en.ArgumentError, match="nan_to_null is for frames"):
        en.read(path, nan_to_null=True)
    with pytest.raises(en.ArgumentError, match="nan_to_null= is for frames"):
        tree["s"].read(nan_to_null=False)


def test_memory_maps(path: Path, df: pd.DataFrame) -> None:
    names = ["full", "float64", "float32", "float16"]
    en.write(df[names], path, compression=0)
    mapped = en.open(path, memory_map=True)
    assert mapped.read(columns="full", to="pyarrow")["full"].to_numpy().tobytes() == df["full"].to_numpy().tobytes()
    for name in names[1:]:
        with pytest.raises(en.NotMappableError, match=f"'{name}' can't be mapped.*nan_to_null=False"):
            mapped.read(columns=name, to="polars")
        kept = mapped.read(columns=name, to="pyarrow", nan_to_null=False)[name]
        assert kept.to_numpy().tobytes() == df[name].to_numpy().tobytes()
        first = int(np.flatnonzero(df[name].notna())[0])
        assert mapped.read(columns=name, rows=(first, first + 1), to="pyarrow")[name].null_count == 0
    auto = en.open(path, memory_map="auto")
    same(auto.to_pyarrow(), arrow_of(df[names]))
    same(pa.table(auto), arrow_of(df[names]))
    same(auto.to_polars().to_arrow(), arrow_of(df[names]))
    pd.testing.assert_frame_equal(mapped.read(), df[names])


def arrow_of(df: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(df, preserve_index=False)


def test_missing_by_damage_and_nan(path: Path) -> None:
    """Nulls of damage and NaN come together."""
    n = 200_000
    values = np.where(np.arange(n) % 3 == 0, np.nan, np.random.default_rng(0).random(n))
    en.write(pd.DataFrame({"a": values}), path, compression=0)
    content = bytearray(path.read_bytes())
    content[800_000] ^= 1
    with pytest.warns(en.DamageWarning):
        found = en.read(bytes(content), to="pyarrow", on_damage="missing")["a"]
    with pytest.warns(en.DamageWarning):
        plain = en.read(bytes(content), on_damage="missing")["a"]
    assert found.null_count == int(plain.isna().sum()) > n // 3 + 1
    with pytest.warns(en.DamageWarning):
        kept = en.read(bytes(content), to="pyarrow", on_damage="missing", nan_to_null=False)["a"]
    assert 0 < kept.null_count < found.null_count


def test_wide_frames(path: Path) -> None:
    """Short columns share blocks, and are decoded together."""
    rng = np.random.default_rng(3)
    values = np.where(rng.random((50, 300)) < 0.1, np.nan, rng.random((50, 300)))
    df = pd.DataFrame(values, columns=[f"c{i}" for i in range(300)])
    en.write(df, path)
    same(en.read(path, to="pyarrow"), arrow_of(df))
    same(en.read(path, to="pyarrow", columns=["c7", "c3"], rows=[3, 1]), arrow_of(df[["c7", "c3"]].iloc[[3, 1]]))
    same(en.scan_polars(path).collect().to_arrow(), arrow_of(df))


def test_pickles_keep_the_option(path: Path) -> None:
    en.write(pd.DataFrame({"a": [1.0, np.nan]}), path)
    f = en.open(path)
    for option, n in ((None, 1), (True, 1), (False, 0)):
        dataset = pickle.loads(pickle.dumps(f.to_dataset(nan_to_null=option)))
        assert dataset.to_table()["a"].null_count == n
        assert dataset.count_rows(filter=field("a").is_null()) == n


@pytest.mark.core
def test_an_open_file_keeps_the_option(path: Path) -> None:
    df = pd.DataFrame({"a": [1.0, np.nan]})
    en.write(df, path, compression=0)
    for memory_map in (False, True):
        f = en.open(path, nan_to_null=False, memory_map=memory_map)
        for one in (f, f[0:2], f.select("a"), f.scan(), pickle.loads(pickle.dumps(f))):
            assert pa.table(one)["a"].null_count == 0
            assert one.to_pyarrow()["a"].null_count == one.to_polars()["a"].null_count() == 0
        assert [batch["a"].null_count for batch in pa.RecordBatchReader.from_stream(f)] == [0]
        assert f.to_dataset().count_rows(filter=field("a").is_null()) == 0
        assert f.lazy().filter(c("a").is_nan()).collect().height == 1
        assert f.read().equals(df)
    assert en.open(path, nan_to_null=False).to_polars(nan_to_null=True)["a"].null_count() == 1
    tree = f"{path}-tree"
    en.write({"p": df}, tree)
    found = en.open(tree, nan_to_null=False)["p"]
    assert pa.table(found)["a"].null_count == found.to_polars()["a"].null_count() == 0
    en.write(pl.DataFrame({"a": [float("nan")]}), path)
    assert pa.table(en.open(path, nan_to_null=True))["a"].null_count == 1
    with pytest.raises(en.ArgumentError, match="nan_to_null="):
        en.open(path, nan_to_null="yes")  # type: ignore[arg-type]


def test_bad_options(path: Path) -> None:
    en.write(pd.DataFrame({"a": [1.0]}), path)
    f = en.open(path)
    for ask in (f.read, f.to_polars, f.lazy, f.to_dataset, f.to_pyarrow, f.scan().read):
        with pytest.raises(en.ArgumentError, match="nan_to_null='yes': True, False, or None"):
            ask(nan_to_null="yes")
