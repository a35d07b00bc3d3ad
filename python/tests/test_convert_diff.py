"""Differences of tables, against a comparison of Python objects."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import entasis as en
from entasis._convert import arrays, compare
from entasis._convert.inputs import base


@pytest.fixture(autouse=True)
def short_windows(monkeypatch):
    """Windows of few rows, so that short tables have several."""
    monkeypatch.setattr(compare, "WINDOW", 7)
    monkeypatch.setattr(base, "BATCH", 11)


def random_table(rng, n):
    return {
        "i": [None if rng.random() < 0.1 else int(rng.integers(5)) for _ in range(n)],
        "f": [rng.choice([None, float("nan"), 0.0, -0.0, 1.5]) for _ in range(n)],
        "s": [rng.choice([None, "", "x", "yy"]) for _ in range(n)],
        "l": [
            None if rng.random() < 0.3 else [rng.choice([None, 1.0, float("nan")])] * int(rng.integers(3))
            for _ in range(n)
        ],
        "t": [{"a": int(rng.integers(2)), "b": rng.choice([None, "p"])} for _ in range(n)],
    }


TYPES = pa.schema(
    [
        ("i", pa.int64()),
        ("f", pa.float64()),
        ("s", pa.string()),
        ("l", pa.list_(pa.float64())),
        ("t", pa.struct([("a", pa.int64()), ("b", pa.string())])),
    ]
)


@pytest.mark.parametrize("seed", range(20))
def test_by_position_against_python(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(0, 60, 2))
    columns = random_table(rng, max(n, m))
    other = {name: list(values) for name, values in columns.items()}
    for name, i in zip(rng.choice(list(columns), 8), rng.integers(0, max(n, m, 1), 8), strict=True):
        if i < len(columns[name]):
            other[name][i] = random_table(rng, 1)[name][0]
    a = pa.table({name: values[:n] for name, values in columns.items()}, schema=TYPES)
    b = pa.table({name: values[:m] for name, values in other.items()}, schema=TYPES)
    pq.write_table(a, tmp_path / "a.parquet", row_group_size=13)
    en.write(b, tmp_path / "b.entasis")
    found = en.diff(tmp_path / "a.parquet", tmp_path / "b.entasis", limit=10_000)
    wanted = [
        (i, name)
        for i in range(min(n, m))
        for name in columns
        if nan_text(columns[name][i]) != nan_text(other[name][i])
    ]
    assert sorted((row, name) for row, name, _, _ in found.rows) == sorted(wanted)
    assert found.columns == {name: k for name in columns if (k := sum(each == name for _, each in wanted))}
    assert found.only_a == list(range(m, n))
    assert found.only_b == list(range(n, m))
    assert bool(found) == bool(wanted or n != m)
    assert found.n_rows == min(n, m)


def nan_text(value):
    """A text that differs for NaN, missing values, 0.0 and -0.0."""
    return repr(value)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("is_sorted", [True, False])
def test_by_key_against_python(seed, is_sorted):
    rng = np.random.default_rng(seed)

    def rows():
        found = {}
        for _ in range(int(rng.integers(0, 80))):
            key = rng.choice([None, "a", "b", "c"]), int(rng.integers(9))
            found.setdefault(key, []).append(int(rng.integers(2)))
        order = [(key, value) for key, values in found.items() for value in values]
        if is_sorted:
            order.sort(key=lambda each: (each[0][0] is None, each[0][0] or "", each[0][1]))
        else:
            order = [order[i] for i in rng.permutation(len(order))]
        schema = pa.schema([("k", pa.string()), ("j", pa.int64()), ("v", pa.int64())])
        return pa.table([[k for (k, _), _ in order], [j for (_, j), _ in order], [v for _, v in order]], schema=schema)

    def grouped(table):
        found = {}
        for each in table.to_pylist():
            found.setdefault((each["k"], each["j"]), []).append(each["v"])
        return found

    a, b = rows(), rows()
    one, other = grouped(a), grouped(b)
    found = en.diff(a, b, key=["k", "j"], limit=10_000)
    differing, only_a, only_b = [], [], []
    for key in {**one, **other}:
        x, y = one.get(key, []), other.get(key, [])
        differing += [(key, "v", u, v) for u, v in zip(x, y, strict=False) if u != v]
        only_a += [key] * max(len(x) - len(y), 0)
        only_b += [key] * max(len(y) - len(x), 0)
    assert sorted(found.rows, key=repr) == sorted(differing, key=repr)
    assert sorted(found.only_a, key=repr) == sorted(only_a, key=repr)
    assert sorted(found.only_b, key=repr) == sorted(only_b, key=repr)
    assert (found.n_only_a, found.n_only_b) == (len(only_a), len(only_b))


def test_rules_of_floats():
    a = pa.table({"x": [float("nan"), None, 0.0, 1.0, float("inf")]})
    b = pa.table({"x": [float("nan"), float("nan"), -0.0, 1.0 + 1e-12, float("inf")]})
    assert [row for row, *_ in en.diff(a, b).rows] == [1, 2, 3]
    assert [row for row, *_ in en.diff(a, b, tolerance=1e-9).rows] == [1]
    assert not en.diff(a, a)
    for kind in (pa.float16(), pa.float32()):
        c = a.set_column(0, "x", a["x"].cast(kind))
        assert not en.diff(c, c)
    nested = pa.table({"x": pa.array([[0.0], [float("nan")], None])})
    assert [row for row, *_ in en.diff(nested, pa.table({"x": pa.array([[-0.0], [float("nan")], []])})).rows] == [0, 2]


def test_schemas():
    a = pa.table({"a": [1], "b": ["x"], "c": pa.array([1], pa.int8()), "same": pa.array(["x"], pa.large_string())})
    b = pa.table({"b": [1.5], "c": pa.array([2], pa.int64()), "d": [1], "same": pa.array(["x"], pa.string_view())})
    found = en.diff(a, b)
    assert found.schema == [
        ("a", "int64", None),
        ("b", "string", "double"),
        ("c", "int8", "int64"),
        ("d", None, "int64"),
    ]
    assert found.columns == {"b": 1, "c": 1}
    assert en.diff(a, b, columns="same").schema == []
    order = en.diff(pa.table({"a": [1], "b": [2]}), pa.table({"b": [2], "a": [1]}))
    assert order.schema == [(None, "a, b", "b, a")]
    assert order.columns == {}


def test_libraries_and_files(tmp_path):
    frame = pd.DataFrame({"a": [1.5, np.nan], "c": pd.Categorical(["x", "y"])}, index=["p", "q"])
    frame.to_parquet(tmp_path / "x.parquet")
    en.write(frame, tmp_path / "x.entasis")
    en.write_csv(frame, tmp_path / "x.csv")
    others = [tmp_path / "x.parquet", tmp_path / "x.entasis", en.open(tmp_path / "x.entasis"), frame]
    for other in others:
        assert not en.diff(frame, other), other
        assert not en.diff(other, frame)
    assert en.diff(frame, tmp_path / "x.csv").columns == {}
    scan = en.open(tmp_path / "x.entasis").filter(en.col("c") == "x")
    assert en.diff(frame, scan).only_a == [1]
    assert not en.diff(en.scan_csv(tmp_path / "x.csv"), tmp_path / "x.csv")
    assert not en.diff({"a": np.arange(3)}, pl.DataFrame({"a": [0, 1, 2]}))
    assert not en.diff((tmp_path / "x.parquet").read_bytes(), frame)


def test_texts():
    a = pl.DataFrame({"id": range(200), "x": [0.5] * 200, "b": [b"\x00"] * 200})
    b = a.with_columns(x=pl.lit(float("nan")), b=pl.lit(b"\x01"))[:-7]
    found = en.diff(a, b, limit=15)
    assert len(found.rows) == 15
    assert found.columns == {"x": 193, "b": 193}
    assert found.n_only_a == 7
    text = repr(found)
    assert "column 'x': 193 differ" in text
    assert "only in a: 7 rows (193, 194, 195, 196, 197, ...)" in text
    assert "... 5 more" in text
    parsed = json.loads(found.to_json())
    assert parsed["differs"] is True
    assert parsed["rows"][0] == [0, "x", 0.5, "nan"]
    assert parsed["rows"][1] == [0, "b", "00", "01"]
    same = en.diff(a, a)
    assert repr(same) == "<entasis.Diff: 200 rows, no difference>"
    assert json.loads(same.to_json())["differs"] is False


def test_keys_of_times_and_codes():
    a = pd.DataFrame({"k": pd.to_datetime(["2020", "2021", "2022"]), "v": [1, 2, 3]})
    b = pd.DataFrame({"k": pd.to_datetime(["2020", "2022", "2023"]), "v": [1, 4, 3]})
    found = en.diff(a, b, key="k")
    assert [str(row)[:4] for row, *_ in found.rows] == ["2022"]
    assert [str(row)[:4] for row in found.only_a + found.only_b] == ["2021", "2023"]
    codes = pl.DataFrame({"k": pl.Series(["x", "a"], dtype=pl.Categorical), "v": [1, 2]})
    assert not en.diff(codes, codes[::-1], key="k")
    bools = pl.DataFrame({"k": [True, False, None], "v": [1, 2, 3]})
    assert not en.diff(bools, bools[::-1], key="k")


def test_errors(tmp_path):
    table = pa.table({"a": [1], "b": ["x"]})
    with pytest.raises(en.ColumnNotFoundError, match="'z'"):
        en.diff(table, table, columns="z")
    with pytest.raises(en.ColumnNotFoundError, match="of the key"):
        en.diff(table, table.drop(["a"]), key="a")
    with pytest.raises(en.ArgumentError, match="the key 'a'"):
        en.diff(table, pa.table({"a": ["x"]}), key="a")
    for options in ({"limit": -1}, {"key": []}, {"columns": ["a", "a"]}, {"tolerance": -1}, {"tolerance": True}):
        with pytest.raises(en.ArgumentError, match=next(iter(options))):
            en.diff(table, table, **options)
    en.write({"x": 1}, tmp_path / "tree.entasis")
    with pytest.raises(en.UnsupportedTypeError, match="no table"):
        en.diff(tmp_path / "tree.entasis", table)
    with pytest.raises(en.UnsupportedTypeError, match="tree"):
        en.diff(en.open(tmp_path / "tree.entasis"), table)
    en.write({"z": np.array([1j]), "a": np.array([1])}, tmp_path / "z.entasis")
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'z'.*columns="):
        en.diff(tmp_path / "z.entasis", table)
    assert not en.diff(tmp_path / "z.entasis", table, columns="a")
    with pytest.raises(en.ArgumentError, match="equal length"):
        en.diff({"a": 1}, table)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.array([[("k", 1.0)], None], pa.map_(pa.string(), pa.float64())), [False, False]),
        (pa.array([1, 2]).dictionary_encode(), [False, False]),
        (pa.RunEndEncodedArray.from_arrays([1, 2], ["x", None]), [False, False]),
        (pa.array([b"0" * 16, None], pa.uuid()), [False, False]),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), [False, False]),
        (pa.array([(1, 2, 3), None], pa.month_day_nano_interval()), [False, False]),
        (pa.nulls(2), [False, False]),
        (pa.array([True, None]), [False, False]),
    ],
    ids=["map", "dictionary", "runs", "extension", "fixed lists", "intervals", "nulls", "bools"],
)
def test_types_of_arrays(a, b):
    pair = arrays.comparable(a, a)
    assert pair is not None
    assert arrays.differing(*pair).tolist() == b
    if a.type != pa.null() and not pa.types.is_run_end_encoded(a.type):
        pair = arrays.comparable(a, a.take(pa.array([1, 0])))
        assert pair is not None
        assert arrays.differing(*pair).tolist() == [True, True]


def test_progress(tmp_path):
    a = pd.DataFrame({"a": range(3_000)})
    en.write(a, tmp_path / "a.entasis")
    a.to_parquet(tmp_path / "a.parquet")
    for key in (None, "a"):
        seen = []
        assert not en.diff(
            tmp_path / "a.entasis",
            tmp_path / "a.parquet",
            key=key,
            progress=lambda *n, unit, seen=seen: seen.append((*n, unit)),
        )
        assert seen[-1] == (3_000, 3_000, "rows")
        assert seen == sorted(seen)
        assert len(seen) > 1

    def stop(*counts, **unit):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        en.diff(a, a, progress=stop)
