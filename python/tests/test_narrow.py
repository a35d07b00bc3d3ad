"""Datasets with narrow types, against the same datasets without them."""

from __future__ import annotations

import datetime
import decimal
import pickle
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tiers import by_tier

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.core

BLOCK = 65_536
CODES = pa.dictionary(pa.int32(), pa.string())
# Digits and scale of decimals.
DECIMALS = [(1, 0), (3, -2), (9, 2), (10, 10), (15, 2), (18, 0), (18, 18), (18, -4)]
DECIMALS += [(19, 3), (38, 0), (38, 37), (76, 5)]
# Earlier versions of DuckDB misread decimals of 64 bits.
HAS_DECIMALS = tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 3)


def numbers(random: np.random.Generator, digits: int, scale: int, n: int) -> pa.Array:
    """Random decimals, those with the most digits among them."""
    most = 10**digits - 1
    some: list[Any] = [None, 0, 1, -1, most, -most]
    some += [int(random.integers(0, 10**9)) * most // 10**9 * int(random.choice([1, -1])) for _ in range(20)]
    of = pa.decimal256(digits, scale) if digits > 38 else pa.decimal128(digits, scale)
    context = decimal.Context(prec=80)
    values = [None if v is None else decimal.Decimal(v).scaleb(-scale, context) for v in some]
    return pa.array(values, of).take(random.integers(0, len(values), n))


def texts(random: np.random.Generator, n: int, of: pa.DataType, *, n_distinct: int, has_missing: bool) -> pa.Array:
    """Strings of all lengths, a few of them or all different."""
    some: list[Any] = ["", "é", "x" * 12, "x" * 13, *(f"text {i} {'y' * (i % 40)}" for i in range(n_distinct))]
    if has_missing:
        some.append(None)
    return pa.array(some, of).take(random.integers(0, len(some), n))


def some(n: int, *values: str | None) -> pa.Array:
    """A random one of these strings for each row."""
    return pa.array(values, pa.string()).take(np.random.default_rng(n).integers(0, len(values), n))


def table(seed: int, n: int) -> pa.Table:
    """A random table with columns that become narrow, and others."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {"id": np.arange(n), "f": random.random(n)}
    for digits, scale in DECIMALS:
        columns[f"d{digits}_{scale}".replace("-", "m")] = numbers(random, digits, scale, n)
    for of in (pa.string(), pa.large_string()):
        for n_distinct in (0, 3, 300):
            missing = bool(random.integers(0, 2))
            columns[f"s{n_distinct}_{of}"] = texts(random, n, of, n_distinct=n_distinct, has_missing=missing)
        columns[f"all_{of}"] = pa.array([f"{i} of many" for i in range(n)], of)
    # Some blocks repeat their strings, and others do not.
    block = random.integers(0, 5, n)
    columns["mixed"] = pa.array([f"row {i}" if i // BLOCK == 1 else f"block {block[i]}" for i in range(n)], pa.string())
    columns["few"] = pa.array([f"row {i}" if i // BLOCK != 1 else f"block {block[i]}" for i in range(n)], pa.string())
    columns["missing"] = pa.nulls(n, pa.string())
    columns["missing d"] = pa.nulls(n, pa.decimal128(7, 2))
    columns["c"] = texts(random, n, pa.string(), n_distinct=3, has_missing=True).dictionary_encode()
    columns["b"] = texts(random, n, pa.string(), n_distinct=3, has_missing=True).cast(pa.binary())
    columns["p"] = pa.StructArray.from_arrays(
        [numbers(random, 5, 2, n), texts(random, n, pa.string(), n_distinct=3, has_missing=True)], ["d", "s"]
    )
    offsets = np.arange(n + 1, dtype="i4")
    columns["l"] = pa.ListArray.from_arrays(offsets, texts(random, n, pa.string(), n_distinct=3, has_missing=True))
    columns["t"] = pa.array([datetime.datetime(2024, 1, 1)] * n)
    return pa.table(columns)


def wide(found: pa.Table) -> pa.Table:
    """A table of a narrow dataset in the types of the wide one."""
    for position, field in enumerate(found.schema):
        of = field.type
        if pa.types.is_decimal64(of):
            of = pa.decimal128(of.precision, of.scale)
        elif pa.types.is_dictionary(of) or pa.types.is_string(of):
            of = pa.large_string()
        found = found.set_column(position, field.name, found[field.name].cast(of))
    return found.replace_schema_metadata().combine_chunks()


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    for column in found.columns:
        for chunk in column.chunks:
            chunk.validate(full=True)
    a, b = wide(found), wide(expected)
    assert a.column_names == b.column_names
    for name in a.column_names:
        assert a[name].type == b[name].type, name
        assert a[name].equals(b[name]), name


CONDITIONS: dict[str, pc.Expression] = {
    "decimal": pc.field("d9_2") > pa.scalar(decimal.Decimal("0.01"), pa.decimal128(9, 2)),
    "decimal64": pc.field("d9_2") > pa.scalar(decimal.Decimal("0.01"), pa.decimal64(9, 2)),
    "decimal and integer": pc.field("d18_0") <= 1,
    "long decimal": pc.field("d38_0") < pa.scalar(decimal.Decimal(7), pa.decimal128(38, 0)),
    "decimal in": pc.field("d1_0").isin(pa.array([decimal.Decimal(1)], pa.decimal128(1, 0))),
    "no decimal": pc.field("d15_2").is_null(),
    "text": pc.field("s3_string") == "text 1 y",
    "text order": pc.field("s300_large_string") > "text 2",
    "text in": pc.field("s3_string").isin(["", "text 2 yy", "nowhere"]),
    "no text": pc.field("s3_string").is_null(),
    "start": pc.starts_with(pc.field("mixed"), "block"),
    "most": pc.field("id") > 10,
    "few": pc.field("id") < 100,
    # pyarrow tests the others.
    "function of text": pc.utf8_length(pc.field("s300_string")) > 20,
    "function of text, and text": (pc.utf8_upper(pc.field("s3_string")) == "É") & (pc.field("mixed") != "block 3"),
    "decimals": pc.field("d9_2") > pc.field("d15_2"),
    "sum of decimals": pc.add(pc.field("d9_2"), pc.field("d9_2")) > pa.scalar(decimal.Decimal(1), pa.decimal128(9, 2)),
    "two texts": pc.field("s3_string") == pc.field("s300_string"),
    "scattered": (pc.bit_wise_and(pc.field("id"), 127) == 3) & (pc.field("f") < 0.5),
    "nothing": pc.field("id") < 0,
}


@pytest.fixture(scope="module", params=[(0, 0), (1, 1), (2, 1000), (3, BLOCK + 1), (4, 3 * BLOCK + 77)])
def pair(request, tmp_path_factory) -> tuple[en.File, int]:
    seed, n = request.param
    path = tmp_path_factory.mktemp("narrow") / "table.entasis"
    en.write(table(seed, n), path)
    return en.open(path), n


def decimal64(digits: int, scale: int) -> pa.DataType:
    """The narrow type of a decimal."""
    return pa.decimal64(digits, scale) if HAS_DECIMALS else pa.decimal128(digits, scale)


def test_types(pair: tuple[en.File, int]) -> None:
    f, n = pair
    narrow, plain = f.to_dataset(narrow=True).schema, f.to_dataset().schema
    strings = f.to_dataset(narrow="strings").schema
    assert narrow.names == plain.names == strings.names
    for digits, scale in DECIMALS:
        name = f"d{digits}_{scale}".replace("-", "m")
        assert strings.field(name).type == plain.field(name).type
        assert narrow.field(name).type == (decimal64(digits, scale) if digits <= 18 else plain.field(name).type)
    assert narrow.field("missing d").type == decimal64(7, 2)
    for field in strings:
        if not pa.types.is_decimal(field.type):
            assert field == narrow.field(field.name)
    for name in ("id", "f", "c", "b", "p", "l", "t", "all_string", "all_large_string"):
        assert narrow.field(name) == plain.field(name)
    if n > BLOCK:
        for name in ("s0_string", "s3_string", "s300_string", "s3_large_string"):
            assert narrow.field(name).type == CODES, name
        assert narrow.field("mixed").type == CODES
        assert narrow.field("few").type == pa.string()
    if not n:
        assert narrow.field("s3_string").type == pa.string()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("kind", [True, "strings"])
def test_values_and_filters(pair: tuple[en.File, int], name: str, kind: Any) -> None:
    f, _ = pair
    narrow, plain, condition = f.to_dataset(narrow=kind), f.to_dataset(), CONDITIONS[name]
    expected = plain.to_table(filter=condition)
    found = narrow.to_table(filter=condition)
    assert found.schema.equals(narrow.schema)
    assert_same(found, expected)
    assert narrow.count_rows(filter=condition) == len(expected)
    columns = ["s3_string", "d9_2", "mixed"]
    some = narrow.to_table(columns=columns, filter=condition)
    assert some.schema.names == columns
    assert_same(some, expected.select(columns))


def test_all_rows(pair: tuple[en.File, int]) -> None:
    f, n = pair
    narrow, plain = f.to_dataset(narrow=True), f.to_dataset()
    assert_same(narrow.to_table(), plain.to_table())
    for batch in narrow.to_batches():
        for column in batch.columns:
            if column.type == CODES:
                assert len(set(column.dictionary.to_pylist())) == len(column.dictionary)
    assert_same(narrow.head(7), plain.head(7))
    assert_same(pickle.loads(pickle.dumps(narrow)).to_table(), plain.to_table())
    if n:
        positions = [n - 1, 0, n // 2]
        assert_same(narrow.take(positions), plain.take(positions))
    projection = {"twice": pc.field("id") * 2, "d": pc.field("d9_2"), "s": pc.field("s3_string")}
    assert_same(narrow.to_table(columns=projection), plain.to_table(columns=projection))


def test_views_and_scans(pair: tuple[en.File, int]) -> None:
    f, n = pair
    random = np.random.default_rng(n)
    some = random.permutation(n)[: n // 3]
    views = (
        f[n // 3 : n - n // 5],
        f[::7],
        f[some],
        f[::-1],
        f[np.repeat(some, 2)],
        f[np.sort(some)],
        f.filter(en.col("s3_string") == "é"),
        f.select("s3_string", "d9_2"),
        f.filter(en.col("d9_2") > 0),
    )
    for view in views[:: by_tier(2, 1)]:
        assert_same(view.to_dataset(narrow=True).to_table(), view.to_dataset().to_table())
        condition = pc.field("d9_2") > 0
        narrow = view.to_dataset(narrow=True).to_table(filter=condition)
        assert_same(narrow, view.to_dataset().to_table(filter=condition))


QUERIES = [
    "select * from {} where id % 8 = 3",
    "select s3_string, count(*), sum(d15_2), avg(d9_2), min(d18_18), max(d1_0) from {} group by s3_string",
    "select mixed, s300_string, count(*) from {} where d9_2 > 0.01 group by all",
    "select id from {} where s3_string = 'text 1 y'",
    "select id from {} where s3_string in ('é', 'text 2 yy') and d15_2 <> 0",
    "select id, s300_string from {} where s300_string like 'text 1%'",
    "select id from {} where s3_string is null or d9_2 is null",
    "select d18_0 + d10_10, d9_2 * d1_0 from {} where d18_0 between -5 and 1000000000",
    "select a.id, b.s3_string from {} a join {} b on a.mixed = b.mixed and a.id = b.id where b.d1_0 = 1",
    "select count(distinct s300_large_string), count(distinct d15_2) from {}",
    "select upper(s3_string), length(mixed) from {} where f < 0.01",
    "select id from {} where s3_string > 'text 1' order by id limit 5",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_duckdb(pair: tuple[en.File, int], query: str) -> None:
    f, _ = pair
    # DuckDB has no decimals of negative scale, or of more than 38 digits.
    f = f.select([name for name in f.column_names if name not in ("d3_m2", "d18_m4", "d76_5")])
    connection = duckdb.connect()
    connection.register("plain", f.to_dataset())
    f.to_duckdb(connection, "narrow")
    connection.register("decimals", f.to_dataset(narrow=True))

    def rows(name: str) -> list[str]:
        found = connection.sql(query.replace("{}", name)).fetchall()
        return [repr(row) for row in found] if "order by" in query else sorted(map(repr, found))

    assert rows("narrow") == rows("decimals") == rows("plain")


def test_relations_of_duckdb(tmp_path: Path) -> None:
    frame = pl.DataFrame({"city": ["Oslo", "Rome", "Bern"] * 50_000, "n": range(150_000)})
    en.write(frame, tmp_path / "cities.entasis")
    f = en.open(tmp_path / "cities.entasis")
    connection = duckdb.connect()
    alone = f.to_duckdb(connection)
    assert alone.filter("n < 2").fetchall() == [("Oslo", 0), ("Rome", 1)]
    assert not connection.sql("show tables").fetchall()
    named = f.filter(en.col("city") == "Rome").to_duckdb(connection, "rome")
    assert named.aggregate("count(*), max(n)").fetchall() == [(50_000, 149_998)]
    assert connection.sql("select count(*) from rome where n < 100").fetchall() == [(33,)]
    f.select("n").to_duckdb(connection, "rome")
    assert connection.sql("select * from rome limit 0").columns == ["n"]
    assert connection.sql("select count(*) from rome").fetchall() == [(150_000,)]
    price = pd.DataFrame({"price": [1.5, None]})
    en.write(price, tmp_path / "prices.entasis")
    prices = en.open(tmp_path / "prices.entasis")
    assert prices.to_duckdb(connection).aggregate("count(price)").fetchall() == [(1,)]
    assert prices.to_duckdb(connection, nan_to_null=False).aggregate("count(price)").fetchall() == [(2,)]


def test_duckdb_hands_over_filters_of_narrow_columns(tmp_path: Path) -> None:
    whole = pa.table({"s": some(2 * BLOCK, "a", "b"), "d": numbers(np.random.default_rng(1), 15, 2, 2 * BLOCK)})
    en.write(whole, tmp_path / "table.entasis")
    connection = duckdb.connect()
    f = en.open(tmp_path / "table.entasis")
    assert f.to_dataset(narrow="strings").schema.types == [CODES, pa.decimal128(15, 2)]
    f.to_duckdb(connection, "rows")
    for condition in ("s = 'a'", "d > 1.25"):
        plan = connection.sql(f"explain select count(*) from rows where {condition}").fetchall()[0][1]
        assert "Filters" in plan, condition
        assert "FILTER " not in plan, condition


def test_folders_whose_files_differ(tmp_path: Path) -> None:
    """Each file has other narrow types: those of the first one hold for all."""
    n = BLOCK
    parts = {
        "a": pa.table({"s": some(n, "x", "y"), "t": [f"{i}" for i in range(n)], "d": numbers_of(n, 9)}),
        "b": pa.table({"s": [f"{i}" for i in range(n)], "t": some(n, "x", None), "d": numbers_of(n, 9)}),
        "c": pa.table({"s": [None, "z"], "t": ["x", "y"], "d": numbers_of(2, 9)}),
        "d": pa.table({"s": pa.array([], pa.string()), "t": pa.array([], pa.string()), "d": numbers_of(0, 9)}),
    }
    for key, part in parts.items():
        (tmp_path / f"k={key}").mkdir()
        en.write(part, tmp_path / f"k={key}" / "part.entasis")
    scan = en.scan(tmp_path)
    narrow, plain = scan.to_dataset(narrow=True), scan.to_dataset()
    assert narrow.schema.types == [CODES, pa.string(), decimal64(9, 2), plain.schema.field("k").type]
    conditions = (
        None,
        pc.field("s") == "x",
        pc.field("t") == "x",
        pc.field("k") == "b",
        (pc.field("k") != "a") & (pc.field("d") > 0),
        pc.utf8_length(pc.field("s")) > 1,
        pc.field("s") == pc.field("t"),
        pc.add(pc.field("d"), pc.field("d")) > pa.scalar(decimal.Decimal(1), pa.decimal128(9, 2)),
    )
    for condition in conditions:
        expected = plain.to_table(filter=condition)
        found = narrow.to_table(filter=condition)
        assert found.schema.equals(narrow.schema)
        assert_same(found, expected)
        assert narrow.count_rows(filter=condition) == len(expected)
    assert_same(pickle.loads(pickle.dumps(narrow)).to_table(["d", "s"]), plain.to_table(["d", "s"]))
    connection = duckdb.connect()
    relation = scan.to_duckdb(connection, "rows")
    expected = pl.from_arrow(plain.to_table())
    assert relation.pl().sort("k", "s", "t", "d").equals(expected.sort("k", "s", "t", "d"))
    found = connection.sql(
        "select s, count(*) as n from rows where k <> 'b' group by s order by s nulls first"
    ).fetchall()
    n_x = parts["a"]["s"].to_pylist().count("x")
    assert found == [(None, 1), ("x", n_x), ("y", n - n_x), ("z", 1)]


def numbers_of(n: int, digits: int) -> pa.Array:
    return numbers(np.random.default_rng(n), digits, 2, n)


def test_folders_with_columns_that_files_lack(tmp_path: Path) -> None:
    n = BLOCK
    en.write(pa.table({"a": range(3)}), tmp_path / "1.entasis")
    en.write(pa.table({"a": range(n), "s": some(n, "x", "y"), "d": numbers_of(n, 4)}), tmp_path / "2.entasis")
    scan = en.scan(tmp_path, missing_columns="missing")
    narrow, plain = scan.to_dataset(narrow=True), scan.to_dataset()
    assert narrow.schema.types == [pa.int64(), CODES, decimal64(4, 2)]
    more = pc.field("d") > pa.scalar(decimal.Decimal(1), pa.decimal128(9, 2))
    for condition in (None, pc.field("s").is_null(), more, pc.utf8_length(pc.field("s")) == 1):
        assert_same(narrow.to_table(filter=condition), plain.to_table(filter=condition))
    en.write(pa.table({"d": numbers_of(9, 5)}), tmp_path / "3.entasis")
    other = en.scan(tmp_path, missing_columns="missing").to_dataset(narrow=True)
    with pytest.raises(en.ArgumentError, match=r"column 'd' is decimal128\(5, 2\) in .* and decimal128\(4, 2\) in"):
        other.to_table()


def test_files_of_other_libraries(tmp_path: Path) -> None:
    n = 2 * BLOCK
    frame = pd.DataFrame({"s": pd.Series(some(n, "a", "b", None).to_pylist(), dtype="str"), "x": range(n)})
    frame.index = pd.Index(["k", "m"] * (n // 2), name="key")
    en.write(frame, tmp_path / "pandas.entasis")
    en.write(pl.DataFrame(frame), tmp_path / "polars.entasis")
    for name in ("pandas", "polars"):
        f = en.open(tmp_path / f"{name}.entasis")
        narrow, plain = f.to_dataset(narrow=True), f.to_dataset()
        assert narrow.schema.field("s").type == CODES
        assert_same(narrow.to_table(), plain.to_table())
    mapped = tmp_path / "mapped.entasis"
    en.write(pa.table({"x": range(n), "d": numbers_of(n, 20)}), mapped, compression=0)
    f = en.open(mapped, memory_map="auto")
    assert_same(f.to_dataset(narrow=True).to_table(), f.to_dataset().to_table())


def test_blocks_of_appended_files_differ(tmp_path: Path) -> None:
    path = tmp_path / "table.entasis"
    parts = [
        pa.table({"s": some(2 * BLOCK, "a", "b"), "t": [f"{i}" for i in range(2 * BLOCK)]}),
        pa.table({"s": [f"{i}" for i in range(BLOCK)], "t": some(BLOCK, "a", "b")}),
        pa.table({"s": ["b", None, "c"], "t": ["c", None, "d"]}),
    ]
    en.write(parts[0], path)
    for part in parts[1:]:
        en.append(part, path)
    narrow, plain = en.open(path).to_dataset(narrow=True), en.open(path).to_dataset()
    assert narrow.schema.types == [CODES, pa.string()]
    assert_same(narrow.to_table(), pa.concat_tables(parts))
    for condition in (pc.field("s") == "b", pc.field("t") == "a", pc.field("s").is_null()):
        assert_same(narrow.to_table(filter=condition), plain.to_table(filter=condition))


def test_damaged_dictionaries_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "table.entasis"
    whole = pa.table({"s": some(3 * BLOCK, "a", "b", "c")})
    en.write(whole, path)
    content = path.read_bytes()
    n_wrong = 0
    for at in range(0, min(len(content), 60_000), 997):
        damaged = bytearray(content)
        damaged[at] ^= 0x55
        path.write_bytes(damaged)
        try:
            found = en.open(path).to_dataset(narrow=True).to_table()
        except en.EntasisError:
            n_wrong += 1
        else:
            assert_same(found, whole)
    assert n_wrong > 0


@pytest.mark.parametrize("version", ["1.1.3", "1.2.2", "1.3.0", "2.0.1"])
def test_decimals_are_those_that_duckdb_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    en.write(pa.table({"d": numbers_of(100, 9)}), tmp_path / "table.entasis")
    monkeypatch.setattr(duckdb, "__version__", version)
    found = en.open(tmp_path / "table.entasis").to_dataset(narrow=True).schema.types
    assert found == [pa.decimal64(9, 2) if version >= "1.3" else pa.decimal128(9, 2)]


def test_unknown_narrow_types_are_refused(tmp_path: Path) -> None:
    en.write(pa.table({"a": [1]}), tmp_path / "table.entasis")
    for scan in (en.open(tmp_path / "table.entasis"), en.scan(tmp_path)):
        for narrow in ("decimals", 1, None):
            with pytest.raises(en.ArgumentError, match="narrow="):
                scan.to_dataset(narrow=narrow)
