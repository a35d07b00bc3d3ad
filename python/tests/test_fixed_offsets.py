"""Times at a fixed offset from UTC have the same clock time in each library, or are refused by column."""

from __future__ import annotations

import datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import entasis as en


def _offsets(offset):
    times = pd.to_datetime([f"2024-05-01T12:00:00{offset}", f"2024-12-01T00:30:00{offset}"])
    index = pd.DatetimeIndex(times, name="at")
    bounds = pd.arrays.IntervalArray.from_breaks([times[0], times[1], times[1] + pd.Timedelta("1D")])
    columns = {"t": times, "c": pd.Categorical(times), "v": bounds, "s": times.as_unit("s")}
    return pd.DataFrame(columns, index=index)


@pytest.mark.parametrize("offset", ["+02:00", "-03:00", "-05:30", "+00:00", "+14:00"])
def test_fixed_offsets_of_pandas_in_arrow(tmp_path, offset):
    """pandas calls an offset `UTC+02:00`, which Arrow does not know."""
    frame = _offsets(offset)
    path = tmp_path / "offsets.entasis"
    en.write(frame, path)
    pd.testing.assert_frame_equal(en.read(path), frame)
    f = en.open(path)
    zone = "UTC" if offset == "+00:00" else offset
    ds.write_dataset(f, tmp_path / "parquet", format="parquet")
    for table in (en.read(path, to="pyarrow"), pa.table(f), f.to_dataset().to_table(), f.batches(1, to="pyarrow")):
        table = table if isinstance(table, pa.Table) else pa.concat_tables(table)
        assert [table.schema.field(name).type.tz for name in ("at", "t", "s")] == [zone] * 3
        assert table.schema.field("c").type.value_type.tz == zone
        assert table.schema.field("v").type.field("left").type.tz == zone
        assert table["t"].to_pandas().tolist() == frame["t"].tolist()
        assert [str(time) for time in table["t"].to_pandas()] == [str(time) for time in frame["t"]]
    kept = ds.dataset(tmp_path / "parquet").to_table().to_pandas()
    assert [str(time) for time in kept["t"]] == [str(time) for time in frame["t"]]


@pytest.mark.parametrize("offset", ["+02:00", "-03:00", "+00:00", "+14:00", "-12:00"])
def test_fixed_offsets_of_pandas_in_polars(tmp_path, offset):
    frame = _offsets(offset)
    path = tmp_path / "offsets.entasis"
    en.write(frame, path)
    for found in (en.read(path, to="polars"), en.scan_polars(path).collect(), pl.DataFrame(en.open(path))):
        for name in ("at", "t", "s"):
            shown = found[name].dt.replace_time_zone(None).dt.to_string("%Y-%m-%d %H:%M").to_list()
            assert shown == ["2024-05-01 12:00", "2024-12-01 00:30"]
    lazy = en.scan_polars(path)
    zone = lazy.collect_schema()["t"].time_zone
    first = pl.lit(datetime.datetime(2024, 5, 1, 12)).dt.replace_time_zone(zone)
    assert len(lazy.filter(pl.col("t") > first).select("t").collect()) == 1
    assert en.open(path).to_dataset().count_rows(pc.field("t") == pa.scalar(frame["t"].iloc[1])) == 1


def test_fixed_offsets_that_polars_lacks_are_refused_by_column(tmp_path):
    path = tmp_path / "offsets.entasis"
    for offset in ("-05:30", "+15:00"):
        zone = f"UTC{offset}"
        times = pd.to_datetime([f"2024-05-01T12:00:00{offset}"])
        for frame in (
            pd.DataFrame({"n": [1], "here": times}),
            pd.DataFrame({"n": [1]}, index=times.rename("here")),
            pd.DataFrame({"n": [1], "here": pd.Categorical(times)}),
            pa.table({"n": [1], "here": pa.array([[times[0]]], pa.list_(pa.timestamp("us", offset)))}),
        ):
            en.write(frame, path)
            for read in (lambda: en.read(path, to="polars"), lambda: en.scan_polars(path)):
                with pytest.raises(en.UnsupportedTypeError, match=r"column '(here|item)'.*has no counterpart"):
                    read()
            assert en.read(path, to="polars", columns=["n"]).to_dict(as_series=False) == {"n": [1]}
        assert zone in str(en.read(en.to_bytes(pd.DataFrame({"here": times})))["here"].dtype)


def test_offsets_with_seconds_are_refused_by_arrow(tmp_path):
    zone = datetime.timezone(datetime.timedelta(hours=2, seconds=30))
    frame = pd.DataFrame({"n": [1], "here": pd.DatetimeIndex(["2024-05-01 12:00"]).tz_localize(zone)})
    path = tmp_path / "offsets.entasis"
    # pandas parses `UTC+02:00:30` as another zone, or not at all.
    with pytest.raises(en.UnsupportedTypeError, match="'here'"):
        en.write(frame, path)
    table = pa.table({"n": [1], "here": pa.array([0], pa.timestamp("us", "UTC+02:00:30"))})
    en.write(table, path)
    assert en.read(path).schema.field("here").type.tz == "UTC+02:00:30"
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'here'.*has no counterpart in Polars"):
        en.read(path, to="polars")
