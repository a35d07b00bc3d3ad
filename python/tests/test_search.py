"""Look-ups in sorted columns: `File.search`, `f.loc` on a sorted index, and `File.stats`."""

from __future__ import annotations

import datetime
import decimal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import entasis as en
from entasis._view import sorted_labels

N = 2 * 65_536 + 1_000


@pytest.fixture(scope="module")
def frame():
    r = np.arange(N)
    return pd.DataFrame(
        {
            "i": r // 3,
            "u": r.astype("uint64") + np.uint64(2**63),
            "f": np.where(r < 9, -0.0, (r - 8) * 0.5),
            "s": pd.Series([f"{k:07}" for k in r], dtype="str"),
            # Longer than the 15 bytes of statistics, with neighbours that begin alike.
            "long": pd.Series([f"https://example.org/{k // 7:07}" for k in r], dtype="str"),
            "b": r > 100_000,
            "t": pd.date_range("2024", periods=N, freq="min"),
            "z": pd.date_range("2024", periods=N, freq="min", tz="Europe/Zurich"),
            "size": pd.Categorical.from_codes(r // 60_000, ["S", "M", "L"], ordered=True),
            "n": pd.array(r, "Int64"),
            "equal": np.zeros(N),
            "shuffled": np.random.default_rng(0).permutation(N),
            "down": r[::-1],
            "missing": pd.array([None, *r[1:]], "Int64"),
            "nan": np.where(r == 70_000, np.nan, r),
            "swapped": np.where(r == 65_536, 0, r),
            "city": pd.Categorical.from_codes(r // 60_000, ["a", "b", "c"]),
        }
    ).set_axis(pd.Index(r * 2, name="key"))


def test_search_finds_the_positions_of_numpy(file, frame):
    f = file(frame)
    times = [np.datetime64("2024-02-01"), np.datetime64("2024-03-01T00:00:30"), np.datetime64("1999")]
    keys: dict[str, list[Any]] = {
        "key": [5, 6, 2 * 65_536, 2 * N, -1, 7.5],
        "i": [0, 21_845, 66_666, -1, 10**9, 2.5, 2**70],
        "u": [2**63 + 65_536, 0, 2**64 - 1],
        "f": [0, 0.25, -0.0, 1e9, float("inf")],
        "s": ["", "0000100", "0065536", "z"],
        "long": ["https://example.org/0009362", "https", "https://example.org/0009362x", "https://example.org/0"],
        "b": [True, False],
        "t": times,
        "n": [77, 65_536],
        "equal": [0, -1, 1],
    }
    for label, some in keys.items():
        values = (
            frame.index.to_numpy()
            if label == "key"
            else frame[label].to_numpy(object if label in ("s", "long") else None)
        )
        for key in some:
            for side in ("left", "right"):
                wanted = np.searchsorted(values, key, side) if abs_fits(key) else N
                assert f.search(label, key, side) == wanted, (label, key, side)
                part = values[1_000 : N - 5 : 3]
                wanted = np.searchsorted(part, key, side) if abs_fits(key) else len(part)
                assert f[1_000 : N - 5 : 3].search(label, key, side) == wanted, (label, key, side)
    assert f.search("t", "2024-02-01") == frame.t.searchsorted(pd.Timestamp("2024-02-01"))
    zoned = pd.Timestamp("2024-03-01", tz="UTC")
    assert f.search("z", zoned, "right") == frame.z.searchsorted(zoned, "right")
    assert (f.search("size", "M"), f.search("size", "M", "right")) == (60_000, 120_000)
    assert f[:0].search("i", 3) == 0
    assert f[["f"]].search("i", 1) == 3


@pytest.mark.parametrize("n", [70_000, 400_000])
def test_long_decimals_and_booleans_are_searched(file: Any, n: int) -> None:
    numbers = np.arange(n, dtype=object) * 10**25 - 10**29
    of = pa.decimal128(38, 0)
    decimals = pa.array([decimal.Decimal(int(number)) for number in numbers], of)
    flags = np.arange(n) >= n // 3
    f = file(pa.table({"d": decimals, "b": flags, "back": decimals.take(pa.array(np.arange(n)[::-1]))}))
    for row in (0, 1, n // 2, 65_536, n - 1):
        for side in ("left", "right"):
            assert f.search("d", decimal.Decimal(int(numbers[row])), side=side) == row + (side == "right")
    assert f.search("d", decimal.Decimal(int(numbers[9]) + 1)) == 10
    assert f.search("b", True) == f.search("b", False, side="right") == n // 3
    orders = {block["column"]: block["order"] for block in f.stats() if block["first_row"] == 0}
    assert orders == {"d": "ascending", "b": "ascending", "back": "descending"}
    mixed = decimals.take(pa.array(np.r_[np.arange(n - 2), n - 1, n - 2]))
    missing = pa.concat_arrays([decimals[:-1], pa.array([None], of)])
    shuffled = file(pa.table({"d": mixed, "m": missing, "b": ~flags}))
    for label in ("d", "m", "b"):
        with pytest.raises(en.ArgumentError, match="not known to be in ascending order"):
            shuffled.search(label, True if label == "b" else decimal.Decimal(1))


def abs_fits(key: Any) -> bool:
    """Whether NumPy compares the key exactly."""
    return not isinstance(key, int) or key < 2**65


def test_search_needs_ascending_values(file, frame):
    f = file(frame)
    for label in ("shuffled", "down", "missing", "nan", "swapped"):
        with pytest.raises(en.ArgumentError, match=f"'{label}' is not known to be in ascending order"):
            f.search(label, 1)
    for wrong, text in [
        (lambda: f.search("city", "a"), "no order"),
        (lambda: f.search("i", "x"), "does not compare"),
        (lambda: f.search("i", None), "is_missing"),
        (lambda: f.search("t", zoned()), "without a time zone"),
        (lambda: f.search("i", 1, "middle"), "'left' or 'right'"),
        (lambda: f[[3, 1]].search("i", 1), "slice"),
        (lambda: f[::-1].search("i", 1), "slice"),
    ]:
        with pytest.raises(en.ArgumentError, match=text):
            wrong()
    with pytest.raises(en.ColumnNotFoundError, match="nowhere"):
        f.search("nowhere", 1)


def zoned() -> datetime.datetime:
    return datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)


def test_search_in_short_and_empty_files(file):
    # Short columns of one type share a block, whose statistics are those of all of them.
    f = file(pd.DataFrame({"a": [1, 2, 2, 5], "b": [4, 3, 2, 1], "c": [1.5, 1.5, 2.0, 9.0], "d": [1.0, 0.0, 2.0, 3.0]}))
    assert (f.search("a", 2), f.search("a", 2, "right"), f.search("c", 3)) == (1, 3, 3)
    for label in "bd":
        with pytest.raises(en.ArgumentError, match="ascending"):
            f.search(label, 2)
    empty = file(pd.DataFrame({"a": np.array([], "int64")}))
    assert empty.search("a", 3) == 0
    decimals = pa.array([decimal.Decimal(k) for k in range(9)], pa.decimal128(9, 2))
    with pytest.raises(en.UnsupportedTypeError):
        file(pa.table({"l": [[1], [2]]})).search("l", 1)
    assert file(pa.table({"d": decimals[:1]})).search("d", 1) == 1


def test_search_in_levels_of_an_index(file):
    index = pd.MultiIndex.from_product([[1999, 2001, 2003], range(30_000)], names=["year", "n"])
    f = file(pd.DataFrame({"x": np.arange(90_000)}, index=index))
    assert (f.search("year", 2000), f.search("year", 2001, "right")) == (30_000, 60_000)
    with pytest.raises(en.ArgumentError, match="ascending"):
        f.search("n", 3)
    # Labels that are not in the order of their codes.
    swapped = index.set_levels([2001, 1999, 2003], level="year")
    with pytest.raises(en.ArgumentError, match="ascending"):
        file(pd.DataFrame({"x": np.arange(90_000)}, index=swapped)).search("year", 2000)


def test_look_ups_in_a_mapped_file_and_in_bytes(file):
    df = pd.DataFrame({"x": np.arange(N)}, index=pd.date_range("2024", periods=N, freq="min", name="t"))
    path = file(df, compression=0).path
    with open(path, "rb") as opened:
        content = opened.read()
    for f in (en.open(path, memory_map=True), en.open(content), en.open(path)):
        assert f.search("x", 70_000, "right") == 70_001
        assert f.search("t", "2024-01-02") == 24 * 60
        pd.testing.assert_frame_equal(f.loc["2024-02-03":"2024-02-04"].read(), df.loc["2024-02-03":"2024-02-04"])


def times(rng: np.random.Generator, step: int, unit: str, zone: str | None = None) -> pd.DatetimeIndex:
    """Random times of 300 days in steps of nanoseconds."""
    start = np.datetime64("2024-01-01", "ns").astype("i8")
    numbers = start + np.sort(rng.integers(0, 300 * 86_400 * 10**9 // step, N)) * step
    index = pd.DatetimeIndex(numbers.astype("M8[ns]")).as_unit(unit)
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone)


DAY = 86_400 * 10**9
INDEXES: dict[str, Any] = {
    "int": lambda rng: pd.Index(np.arange(N) * 3, name="key"),
    "duplicates": lambda rng: pd.Index(np.sort(rng.integers(0, 30_000, N))),
    "few": lambda rng: pd.Index(np.repeat([5, 7, 9], [100_000, 2, N - 100_002])),
    "uint64": lambda rng: pd.Index(np.arange(N, dtype="uint64") + 2**63),
    "float": lambda rng: pd.Index(np.arange(N) * 0.5),
    "Int64": lambda rng: pd.Index(np.arange(N), dtype="Int64"),
    "str": lambda rng: pd.Index([f"k{i // 2:07}" for i in range(N)]),
    "object": lambda rng: pd.Index([f"https://example.org/{i // 2:07}" for i in range(N)], dtype=object),
    "us": lambda rng: times(rng, 1_000, "us"),
    "min": lambda rng: times(rng, 60 * 10**9, "ns"),
    "days": lambda rng: times(rng, DAY, "s"),
    "freq": lambda rng: pd.date_range("2024", periods=N, freq="7min"),
    "zone": lambda rng: times(rng, 10**9, "us", "Europe/Zurich"),
    "zone days": lambda rng: pd.date_range("1700", periods=N, tz="US/Eastern", unit="s"),
    "gap": lambda rng: pd.date_range("2020", periods=N // 2).append(pd.date_range("2400", periods=N // 2)),
    "timedelta": lambda rng: pd.to_timedelta(np.sort(rng.integers(0, 10**9, N)), unit="s"),
}
TEXTS = [
    "2024",
    "2024-05",
    "2024Q2",
    "2300",
    "1990-01",
    "2024-05-05 10",
    "2024-01-05 10:00+01:00",
    "10:30",
    "2024-02-30",
]
ODD = [
    True,
    None,
    float("nan"),
    pd.NaT,
    "zzz",
    "",
    -1,
    10**6,
    2**70,
    1.5,
    2.0**63,
    b"a",
    np.int8(6),
    datetime.date(2024, 3, 1),
]


def keys_near(index: pd.Index, rng: np.random.Generator) -> list[Any]:
    """Labels of an index, and others close to them."""
    keys: list[Any] = []
    for label in index[rng.integers(0, len(index), 8)]:
        keys.append(label)
        if isinstance(label, pd.Timestamp):
            text = str(label)
            keys += [text[:n].rstrip("-: .") for n in rng.choice([4, 7, 10, 13, 16, 19, 26, 99], 3)]
            keys += [label.to_datetime64(), label.date(), label + pd.Timedelta(1, "us")]
        elif isinstance(label, pd.Timedelta):
            keys += [str(label), label + pd.Timedelta(1, "s"), label.to_pytimedelta()]
        elif isinstance(label, str):
            keys += [label + "x", label[:-1], label[:3]]
        else:
            keys += [label + 1, float(label) + 0.25, int(label)]
    return keys


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", INDEXES)
def test_loc_finds_the_rows_of_pandas(file, name):
    rng = np.random.default_rng(sum(map(ord, name)))
    index = INDEXES[name](rng)
    df = pd.DataFrame({"x": np.arange(len(index))}, index=index)
    path = file(df).path
    keys = keys_near(index, rng) + (TEXTS if isinstance(index, pd.DatetimeIndex) else []) + ODD
    pairs = rng.integers(0, len(keys), (40, 2))
    keys += [slice(keys[a], keys[b] if a % 4 else None) for a, b in pairs] + [slice(None, keys[0])]
    keys += [slice(keys[0], None, 2)]
    f = en.open(path)
    n_by_bisection = 0
    for key in keys:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, found = result(lambda: df.loc[key, :]), result(lambda: f.loc[key, :].read())  # noqa: B023
        if isinstance(wanted, Exception):
            assert isinstance(found, en.RowNotFoundError if isinstance(wanted, KeyError) else en.ArgumentError), key
        else:
            # A label that occurs once gives a series in pandas.
            wanted = df.iloc[[wanted.x]] if isinstance(wanted, pd.Series) else wanted
            assert found.equals(wanted), key
            assert found.index.dtype == wanted.index.dtype
        n_by_bisection += not f._view.table.has_index_in_memory
        if f._view.table.has_index_in_memory:
            f = en.open(path)
    assert n_by_bisection > len(keys) // 3


def result(work: Any) -> Any:
    try:
        return work()
    except Exception as error:
        return error


def test_loc_reads_few_labels(file, monkeypatch):
    df = pd.DataFrame({"x": np.arange(N)}, index=pd.date_range("2024", periods=N, freq="min"))
    f = file(df)
    reads = []
    read = sorted_labels._SortedLabels._read
    monkeypatch.setattr(
        sorted_labels._SortedLabels, "_read", lambda self, rows: (reads.append(len(rows)), read(self, rows))[1]
    )
    pd.testing.assert_frame_equal(f.loc["2024-01-05":"2024-02"].read(), df.loc["2024-01-05":"2024-02"])
    pd.testing.assert_frame_equal(f.loc["2024-02-03", "x"].read(), df.loc["2024-02-03", ["x"]])
    assert sum(reads) < 4_000
    assert not f._view.table.has_index_in_memory
    # Lists need all labels.
    pd.testing.assert_frame_equal(
        f.loc[[df.index[7], df.index[70_000]]].read(), df.loc[[df.index[7], df.index[70_000]]]
    )
    assert f._view.table.has_index_in_memory
    pd.testing.assert_frame_equal(f.loc["2024-02-03"].read(), df.loc["2024-02-03"])


def test_loc_of_an_index_that_is_not_sorted(file):
    df = pd.DataFrame({"x": np.arange(N)}, index=np.random.default_rng(0).permutation(N))
    f = file(df)
    pd.testing.assert_frame_equal(f.loc[5:7].read(), df.loc[5:7])
    with pytest.raises(en.RowNotFoundError):
        f.loc[-1]
    with pytest.raises(en.RowNotFoundError):
        f.loc[-1:7]
    down = df[::-1].set_axis(np.arange(N)[::-1])
    pd.testing.assert_frame_equal(file(down).loc[7:5].read(), down.loc[7:5])


def test_loc_of_a_range(file):
    df = pd.DataFrame({"x": np.arange(10)}, index=pd.RangeIndex(0, 30, 3))
    f = file(df)
    for key in (slice(4, 15), slice(None, None, -1), slice(20, 3, -2), slice(3.5, None), slice(50, 60)):
        pd.testing.assert_frame_equal(f.loc[key].read(), df.loc[key])
        pd.testing.assert_frame_equal(f[2:8].loc[key].read(), df[2:8].loc[key])
    pd.testing.assert_frame_equal(f.loc[6].read(), df.loc[[6]])
    with pytest.raises(en.RowNotFoundError):
        f.loc[7]
    with pytest.raises(en.ArgumentError):
        f.loc[(1, 2) :]


def test_stats_list_blocks(file, frame):
    f = file(frame)
    blocks = f.stats("i")
    assert [block["first_row"] for block in blocks] == [0, 65_536, 131_072]
    assert (blocks[0]["min"], blocks[0]["max"]) == (0, 65_535 // 3)
    assert sum(block["n_rows"] for block in blocks) == N
    assert {block["order"] for block in blocks} == {"ascending"}
    found = {label: f.stats(label)[0] for label in frame.columns}
    assert found["down"]["order"] == "descending"
    assert found["shuffled"]["order"] is None
    assert (found["missing"]["n_missing"], found["missing"]["min"]) == (1, 1)
    assert [block["has_nan"] for block in f.stats("nan")] == [False, True, False]
    assert (found["b"]["min"], found["b"]["max"]) == (False, False)
    assert found["s"] | {"min": 0, "max": 0} == found["i"] | {"column": "s", "min": 0, "max": 0}
    assert (found["long"]["min"], found["long"]["is_cut"]) == ("https://example", True)
    assert found["t"]["max"] == frame.t[2 * 65_535].to_datetime64()
    assert found["z"]["min"] == np.datetime64("2023-12-31T23:00")
    assert (found["size"]["min"], found["size"]["order"]) == (None, "ascending")
    assert f.stats("key")[1]["min"] == 2 * 65_536
    names = [block["column"] for block in f.stats()]
    assert list(dict.fromkeys(names)) == list(frame.columns)
    assert [block["column"] for block in f[["i", "b"]][:5].stats()] == ["i"] * 3 + ["b"] * 3
    assert len(pd.DataFrame(f.stats())) == 3 * len(frame.columns)
    with pytest.raises(en.ColumnNotFoundError):
        f.stats("nowhere")


def test_stats_of_other_types(file):
    table = pa.table(
        {
            "day": pa.array([datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)]),
            "clock": pa.array([datetime.time(1), datetime.time(2)], pa.time64("us")),
            "span": pa.array([datetime.timedelta(1), None], pa.duration("ms")),
            "decimal": pa.array([decimal.Decimal("-1.10"), decimal.Decimal("2.50")], pa.decimal128(9, 2)),
            "binary": pa.array([b"\xff", b"a"]),
            "text": pa.array(["é" * 20, "e"]),
            "list": pa.array([[1], []]),
            "null": pa.nulls(2),
        }
    )
    found = {block["column"]: block for block in file(table).stats()}
    assert (found["day"]["min"], found["day"]["max"]) == (np.datetime64("2024-01-01"), np.datetime64("2024-01-02"))
    assert found["clock"]["max"] == np.timedelta64(2, "h")
    assert (found["span"]["min"], found["span"]["n_missing"]) == (np.timedelta64(1, "D"), 1)
    assert (found["decimal"]["min"], found["decimal"]["max"]) == (decimal.Decimal("-1.10"), decimal.Decimal("2.50"))
    assert (found["binary"]["min"], found["binary"]["max"]) == (b"a", b"\xff")
    assert (found["text"]["min"], found["text"]["max"], found["text"]["is_cut"]) == ("e", "é" * 7, True)
    if "list" in found:
        assert (found["list"]["min"], found["list"]["max"], found["list"]["order"]) == (None, None, None)
    # Short columns of one type share a block.
    shared = file(pd.DataFrame({"a": [1, 2], "b": [5, 0]})).stats("b")
    assert [(block["n_rows"], block["min"], block["n_missing"]) for block in shared] == [(2, None, None)]
    assert file(pd.DataFrame({"a": np.array([], "int64")})).stats() == []


def test_a_row_of_nan_is_not_sorted(tmp_path: Any) -> None:
    en.write(pd.DataFrame({"x": [np.nan]}), tmp_path / "nan.entasis")
    with pytest.raises(en.ArgumentError):
        en.open(tmp_path / "nan.entasis").search("x", 1.0)
