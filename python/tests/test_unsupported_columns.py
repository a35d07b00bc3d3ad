"""`on_unsupported` leaves out or replaces columns whose dtype is refused, in all libraries."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf

import entasis as en

# Records are kept in NumPy's arrays alone; a zone with a name of its own is kept nowhere.
RECORDS = np.zeros(3, [("x", "i4")])


def _zone():
    from dateutil.tz import tzoffset

    return tzoffset("own name", 3600)


def _pandas():
    times = pd.Series(pd.date_range("2020", periods=3, tz=_zone()))
    return pd.DataFrame({"a": [1, 2, 3], "bad": times.array, "o": [1, "x", None]}, index=list("xyz"))


def _cases():
    zoned = pa.array([1, 2, 3], pa.timestamp("s", "A\0B"))
    return {
        "pandas": (_pandas(), "bad", ["a", "o"]),
        "polars": (
            pl.DataFrame({"a": [1, 2, 3], "bad": pl.Series([[], [], []], dtype=pl.Array(pl.Int8, 0))}),
            "bad",
            ["a"],
        ),
        "pyarrow": (pa.table({"a": [1, 2, 3], "bad": zoned}), "bad", ["a"]),
        "record batch": (pa.record_batch({"a": [1, 2, 3], "bad": zoned}), "bad", ["a"]),
    }


def _names(frame):
    return frame.schema.names if isinstance(frame, pa.Table | pa.RecordBatch) else list(frame.columns)


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow", "record batch"])
def test_columns_are_left_out_or_replaced(name, path):
    frame, bad, others = _cases()[name]
    with pytest.raises(en.UnsupportedTypeError, match=f"column '{bad}'"):
        en.write(frame, path)
    assert not path.exists()
    with pytest.warns(UserWarning, match=f"left out, as they can't be kept: column '{bad}'") as caught:
        en.write(frame, path, on_unsupported="skip")
    assert caught[0].filename == __file__
    found = en.read(path)
    assert type(found) is type(frame)
    assert _names(found) == others
    asked = []

    def instead(column, where):
        asked.append((len(column), where))
        return pd.Series([7, 8, 9], index=[2, 1, 0]) if name == "pandas" else pa.array([7, 8, 9])

    en.write(frame, path, on_unsupported=instead)
    assert asked == [(3, f"df['{bad}']")]
    found = en.read(path)
    assert _names(found) == _names(frame)
    values = found[bad] if not isinstance(found, pa.RecordBatch) else found.column(bad)
    assert list(values.to_numpy()) == [7, 8, 9]
    if name == "pandas":
        pd.testing.assert_frame_equal(found.drop(columns=bad), frame.drop(columns=bad))
    with pytest.raises(en.ArgumentError, match="gives 2 values for a column of 3 values"):
        en.write(frame, path, on_unsupported=lambda column, where: [1, 2])
    with pytest.raises(en.UnsupportedTypeError):
        en.write(frame, path, on_unsupported=lambda column, where: column)
    en.to_bytes(frame, on_unsupported=instead)


class Own(np.ndarray):
    pass


def test_numpy_and_static_frame(path, monkeypatch):
    # A record with a pointer in it.
    bad = np.zeros(3, [("o", "O")])
    arrays = {"a": np.arange(3), "bad": bad}
    with pytest.raises(en.UnsupportedTypeError, match="column 'bad'"):
        en.write(arrays, path)
    with pytest.warns(UserWarning, match="column 'bad'"):
        en.write(arrays, path, on_unsupported="skip")
    assert list(en.read(path)) == ["a"]
    en.write(arrays, path, on_unsupported=lambda column, where: np.full(len(column), where))
    assert en.read(path)["bad"].tolist() == ["df['bad']"] * 3
    frame = sf.Frame.from_items(arrays.items(), index=list("xyz"), name="f")
    with pytest.raises(en.UnsupportedTypeError, match="column 'bad'"):
        en.write(frame, path)
    with pytest.warns(UserWarning, match="column 'bad'"):
        en.write(frame, path, on_unsupported="skip")
    assert en.read(path).equals(frame[["a"]], compare_name=True, compare_class=True)
    en.write(frame, path, on_unsupported=lambda column, where: np.full(len(column), 5))
    assert en.read(path)["bad"].values.tolist() == [5, 5, 5]
    assert en.read(path).index.values.tolist() == list("xyz")


def test_a_series_and_cells(path):
    series = pd.Series(_pandas()["bad"].array)
    with pytest.raises(en.UnsupportedTypeError, match="zone"):
        en.write(series, path, on_unsupported="skip")
    en.write(series, path, on_unsupported=lambda value, where: {where: len(value)})
    assert en.read(path) == {"value": 3}
    # Cells of other columns are replaced as well.
    frame = _pandas()
    frame["o"] = pd.Series([len, 1, "x"], dtype=object).array
    en.write(frame, path, on_unsupported=lambda value, where: "f" if callable(value) else [1, 2, 3])
    assert en.read(path)["o"].tolist() == ["f", 1, "x"]
    # In a tree the frame is the item.
    with pytest.warns(UserWarning, match=r"value\['df'\]"):
        en.write({"df": _pandas(), "x": 1}, io.BytesIO(), on_unsupported="skip")


def test_labels_are_refused(path):
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.date_range("2020", periods=3, tz=_zone()))
    with pytest.raises(en.UnsupportedTypeError, match="zone"):
        en.write(frame, path, on_unsupported="skip")


def _lacking(path):
    frame = pd.DataFrame({"n": [1, 2], "p": pd.period_range("2024", periods=2, freq="M"), "z": [1j, 2j]})
    en.write(frame, path)
    return en.open(path)


def test_columns_beside_unsupported_ones_are_scanned(path):
    f = _lacking(path)
    assert pa.table(f["n"]).num_rows == 2
    assert f.select("n").lazy().collect()["n"].to_list() == [1, 2]
    assert f.select("n").to_dataset().to_table().to_pydict() == {"n": [1, 2]}
    way = (
        r"column 'p'.*; choose others by open\(path\)\.select\(\[\.\.\.\]\)\.lazy\(\), or pass on_unsupported=\"skip\""
    )
    for make in (f.lazy, lambda: en.scan_polars(path)):
        with pytest.raises(en.UnsupportedTypeError, match=way):
            make()
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'z'.*select\(\[\.\.\.\]\)\.to_dataset\(\), or pass"):
        f.to_dataset()


def test_scans_skip_unsupported_columns(path):
    f = _lacking(path)
    with pytest.warns(UserWarning, match="left out: column 'p'.*column 'z'") as caught:
        lazy = f.lazy(on_unsupported="skip")
    assert caught[0].filename == __file__
    assert lazy.filter(pl.col("n") > 1).collect().to_dict(as_series=False) == {"n": [2]}
    with pytest.warns(UserWarning, match="left out: column 'z'"):
        dataset = f.to_dataset(on_unsupported="skip")
    assert dataset.schema.names == ["n", "p"]
    assert dataset.to_table(columns=["n"]).to_pydict() == {"n": [1, 2]}
    with pytest.warns(UserWarning, match="left out"):
        assert en.scan_polars(path, on_unsupported="skip").collect().columns == ["n"]
    with pytest.warns(UserWarning, match="left out"):
        found = f.filter(en.col("n") == 2).lazy(on_unsupported="skip").collect()
    assert found["n"].to_list() == [2]
    with pytest.raises(en.ArgumentError, match="on_unsupported"):
        f.lazy(on_unsupported="no")
