"""Errors of pandas, Polars and pyarrow are reported with the column that causes them."""

from __future__ import annotations

import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en
from entasis._hosts.arrow import polars as of_polars
from entasis._hosts.arrow import pyarrow as of_pyarrow
from entasis._hosts.pandas import write as of_pandas


def _panic(name):
    raise pl.exceptions.PanicException(f"index out of bounds: {name}")


def _of_pandas(name):
    pd.Timestamp("1600").as_unit("ns")


def _of_pyarrow(name):
    pa.array([1]).cast(pa.list_(pa.int64()))


FRAMES = {
    "pandas": (of_pandas, pd.DataFrame({"good": [1], "bad": [2]})),
    "polars": (of_polars, pl.DataFrame({"good": [1], "bad": [2]})),
    "pyarrow": (of_pyarrow, pa.table({"good": [1], "bad": [2]})),
}
ERRORS = {"Polars": _panic, "pandas": _of_pandas, "pyarrow": _of_pyarrow}


@pytest.mark.parametrize("library", ERRORS)
@pytest.mark.parametrize("host", FRAMES)
def test_errors_while_writing(tmp_path, monkeypatch, host, library):
    module, frame = FRAMES[host]
    build = module.build

    def failing(value, *more):
        names = getattr(value, "column_names", None) or list(value.columns)
        if "bad" in names:
            ERRORS[library]("bad")
        return build(value, *more)

    monkeypatch.setattr(module, "build", failing)
    path = tmp_path / "frame.entasis"
    for value in (frame, {"inside": [frame]}):
        with pytest.raises(en.UnsupportedTypeError, match=f"column 'bad': {library} can't convert it"):
            en.write(value, path)
        assert os.listdir(tmp_path) == []
    with pytest.warns(UserWarning, match="left out.*column 'bad'"):
        en.write(frame, path, on_unsupported="skip")
    assert en.open(path).column_names == ["good"]


@pytest.mark.parametrize("library", ERRORS)
@pytest.mark.parametrize("host", ["polars", "pyarrow"])
def test_errors_while_reading(tmp_path, monkeypatch, host, library):
    module, frame = FRAMES[host]
    path = tmp_path / "frame.entasis"
    en.write(FRAMES["pandas"][1], path)
    read = module.read

    def failing(handle, host, columns, rows, threads):
        if columns is None or 1 in columns:
            ERRORS[library]("bad")
        return read(handle, host, columns, rows, threads)

    monkeypatch.setattr(module, "read", failing)
    said = f"column 'bad': {library} can't convert it"
    for call in (lambda: en.read(path, to=host), lambda: en.read(path, to=host, columns=["good", "bad"])):
        with pytest.raises(en.UnsupportedTypeError, match=said):
            call()
    with pytest.warns(UserWarning, match=said):
        found = en.read(path, to=host, on_unsupported="skip")
    assert type(found) is type(frame)
    assert found.shape == (1, 1)


def test_zones_that_a_library_does_not_know(tmp_path):
    path = tmp_path / "zones.entasis"
    en.write(pa.table({"n": [1], "there": pa.array([0], pa.timestamp("us", "Mars/Olympus"))}), path)
    for to in ("polars", "pandas"):
        with pytest.raises(en.UnsupportedTypeError, match="column 'there'"):
            en.read(path, to=to)
    assert en.read(path, to="polars", columns=["n"]).rows() == [(1,)]


def test_readers_that_fail(tmp_path):
    """The error says that the stream failed, and nothing is written or left open."""
    schema, path = pa.schema({"n": pa.int64()}), tmp_path / "stream.entasis"

    def batches():
        yield pa.record_batch({"n": [1]})
        raise pa.ArrowInvalid("network gone")

    reader = pa.RecordBatchReader.from_batches
    with pytest.raises(en.ArgumentError, match="RecordBatchReader failed: network gone"):
        en.write(reader(schema, batches()), path)
    with pytest.raises(en.ArgumentError, match="RecordBatchReader failed: network gone"):
        en.to_bytes(reader(schema, batches()))
    assert os.listdir(tmp_path) == []
    en.write(pa.table({"n": [1]}), path)
    with pytest.raises(en.ArgumentError, match="RecordBatchReader failed: network gone"):
        en.append(reader(schema, batches()), path)
    en.append(pa.table({"n": [2]}), path, wait=0)
    assert en.read(path)["n"].to_pylist() == [1, 2]
