"""Polars frames come back equal."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import entasis as en

N = 2500


def spread(values):
    return [values[i % len(values)] for i in range(N)]


SERIES = {
    **{
        str(kind): pl.Series(spread([None, 0, 1, 100]), dtype=kind)
        for kind in (
            pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
        )
    },
    "f32": pl.Series(spread([None, float("nan"), 1.5]), dtype=pl.Float32),
    "f64": pl.Series(spread([None, float("nan"), 1.5, -0.0])),
    "bool": pl.Series(spread([None, True, False, False])),
    "str": pl.Series(spread([None, "", "é", "a string that is long enough", "x" * 100])),
    "binary": pl.Series(spread([None, b"", b"\xff\x00", b"y" * 50])),
    "date": pl.Series(spread([None, date(2020, 2, 29), date(1900, 1, 1)])),
    "time": pl.Series(spread([None, time(1, 2, 3, 4), time(23, 59)])),
    **{
        f"datetime {unit} {zone}": pl.Series(spread([None, datetime(2020, 3, 29, 1)])).cast(pl.Datetime(unit, zone))
        for unit in ("ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Berlin")
    },
    **{f"duration {u}": pl.Series(spread([None, timedelta(days=-1)])).cast(pl.Duration(u)) for u in ("ms", "us", "ns")},
    "categorical": pl.Series(spread([None, "a", "b", "c"]), dtype=pl.Categorical),
    "enum": pl.Series(spread([None, "low", "high"]), dtype=pl.Enum(["low", "mid", "high"])),
    "null": pl.Series([None] * N, dtype=pl.Null),
}  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_column(name, round_trip):
    frame = pl.DataFrame({name: SERIES[name]})
    back = round_trip(frame)
    assert back.schema == frame.schema
    assert_frame_equal(frame, back, categorical_as_str=True)


def test_all_together(round_trip, path):
    frame = pl.DataFrame(SERIES)
    for part in (frame, frame.head(0), frame.head(1), frame[3:1000], frame[::-7]):
        back = round_trip(part)
        assert back.schema == part.schema
        assert_frame_equal(part, back, categorical_as_str=True)
    en.write(frame, path)
    assert_frame_equal(en.read(path, rows=[5, 2, 2], columns=["str", "enum"]), frame[[5, 2, 2]][["str", "enum"]])


def test_chunks(round_trip):
    frame = pl.DataFrame(SERIES)
    frame = pl.concat([frame.head(100), frame[7:50], frame.tail(1)], rechunk=False)
    assert frame.n_chunks() == 3
    assert_frame_equal(frame, round_trip(frame), categorical_as_str=True)


def test_empty(round_trip):
    assert_frame_equal(pl.DataFrame(), round_trip(pl.DataFrame()))


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (pl.Series("x", [[]], dtype=pl.Array(pl.Int8, 0)), "column 'x': dtype Array"),
        (pl.Series("x", [1, object()], dtype=pl.Object), r"df\['x'\]\[1\]: a value of type object"),
    ],
)
def test_what_is_refused(series, message, path):
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write(pl.DataFrame([series]), path)
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write([1, series], path)
    assert not path.exists()


def test_lazy_frames_are_collected(round_trip):
    frame = pl.DataFrame({"a": [1, None, 3], "b": ["x", "y", None]})
    back = round_trip(frame.lazy().filter(pl.col("a").is_not_null()))
    assert_frame_equal(back, frame[[0, 2]])


def test_rows_without_columns(round_trip, path):
    assert round_trip(pl.DataFrame(height=5)).shape == (5, 0)
    assert en.read(path, rows=(1, 3)).shape == (2, 0)
    assert en.read(path, to="pandas").shape == (5, 0)
    assert round_trip(pl.DataFrame()).shape == (0, 0)
    en.write(pl.DataFrame({"a": [1, 2, 3]}), path)
    assert en.read(path, columns=[], rows=[2, 0]).shape == (2, 0)


def test_zero_in_a_name(path):
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'b\\x00c'"):
        en.write(pl.DataFrame({"a": [1], "b\0c": [2]}), path)
    assert not path.exists()


NESTED = {
    "list": lambda kind, words: pl.Series([[word] for word in words], dtype=pl.List(kind)),
    "array": lambda kind, words: pl.Series([[word] for word in words], dtype=pl.Array(kind, 1)),
    "struct": lambda kind, words: pl.Series([{"a": word} for word in words], dtype=pl.Struct({"a": kind})),
    "struct of lists": lambda kind, words: pl.Series(
        [{"a": [word]} for word in words], dtype=pl.Struct({"a": pl.List(kind)})
    ),
    "list of structs": lambda kind, words: pl.Series(
        [[{"a": word}] for word in words], dtype=pl.List(pl.Struct({"a": kind}))
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_part_of_a_frame_has_its_own_categories_alone(name, path):
    words = [f"w{i}" for i in range(1000)]
    frame = pl.DataFrame({"s": NESTED[name](pl.Categorical, words), "i": range(1000)})
    for part in (frame.head(1), frame[5:9], frame.filter(pl.col("i") == 4), frame.head(0)):
        en.write(part, path, compression=0)
        written = path.read_bytes()
        assert b"w999" not in written
        found = en.read(path)
        assert_frame_equal(found, part)
        en.write(found, path, compression=0)
        assert path.read_bytes() == written


@pytest.mark.parametrize("name", ["column", *NESTED])
def test_enums_are_enums_through_arrow(name, path):
    kind = pl.Enum(["c", "b", "a", "unused"])
    words = ["a", "b", "c", "b"]
    series = NESTED[name](kind, words) if name in NESTED else pl.Series(words, dtype=kind)
    frame = pl.DataFrame({"i": [1, 2, 3, 4], "s": series})
    en.write(frame, path)
    f = en.open(path)
    for found in (pl.DataFrame(f), pl.DataFrame(en.read(path, to="pyarrow")), pl.DataFrame(f[["s", "i"]])):
        assert found["s"].dtype == series.dtype
        assert_frame_equal(found.select("i", "s"), frame)
    assert pl.DataFrame(f["s"]).schema == {"s": series.dtype}
    assert_frame_equal(pl.DataFrame(f[[3, 1]]), frame[[3, 1]])
