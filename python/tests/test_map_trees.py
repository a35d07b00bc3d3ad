"""Memory maps of arrays in trees, and `memory_map="auto"`, which reads what can't be a view."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tree_panel import ALL, same

import entasis as en

N = 150_001
MODEL = {
    "weights": [np.random.default_rng(0).random((300, 500)).astype("f4"), np.arange(10)],
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "days": np.array(["2020-01-01", "1969-12-31"], "M8[D]"),
    "complex": np.array([1 + 2j]),
    "records": np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
    "long": np.arange(N),
    "names": ["x", "y"],
}
OTHERS = {
    "bits": np.array([True, False]),
    "times": np.array(["2020-01-01", "NaT"], "M8[s]"),
    "big": np.arange(5, dtype=">i4"),
    "text": np.array(["ab", "c"]),
}


def is_view(array, file):
    return np.shares_memory(array, file._handle._bytes)


def arrays(value):
    """All arrays inside a value."""
    if isinstance(value, np.ndarray):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from arrays(part)


@pytest.mark.parametrize("memory_map", [True, "auto"])
def test_arrays_are_views(path, memory_map):
    en.write(MODEL | OTHERS, path, compression=0)
    file = en.open(path, memory_map=memory_map)
    for key, wanted in (MODEL | OTHERS).items():
        found = file[key].read()
        assert same(found, wanted), key
        for array in arrays(found):
            assert is_view(array, file) == (key in MODEL), key
            assert array.flags.writeable == (key not in MODEL), key
    assert same(file.read(), MODEL | OTHERS)
    assert same(en.read(path, memory_map=memory_map), MODEL | OTHERS)
    # At the top too.
    en.write(MODEL["long"], path, compression=0)
    file = en.open(path, memory_map=memory_map)
    assert is_view(file.read(), file)
    assert same(file.read(), MODEL["long"])


@pytest.mark.parametrize("memory_map", [True, "auto"])
def test_parts_of_arrays(path, memory_map):
    value = np.random.default_rng(0).random((N, 3))
    en.write([value, np.arange(N)], path, compression=0)
    file = en.open(path, memory_map=memory_map)
    for rows in (slice(5, 70_000), slice(None, None, -7), [3, N - 1, 3], np.arange(0, N, 1000), -1):
        found = file[0][rows].read()
        assert np.array_equal(found, value[rows])
    assert is_view(file[0][5:70_000].read(), file)
    assert np.array_equal(file[1].read(rows=[N - 1, 0]), [N - 1, 0])
    assert np.array_equal(file[0].read(columns=[2, 0]), value[:, [2, 0]])


@pytest.mark.parametrize("name", ALL)
def test_any_value(path, name):
    """Each value comes back as without a map."""
    for compression in (0, 50):
        en.write({"value": ALL[name]}, path, compression=compression)
        assert same(en.read(path, memory_map="auto"), en.read(path))
    en.write({"value": ALL[name]}, path, compression=0)
    try:
        found = en.read(path, memory_map=True)
    except en.NotMappableError:
        # A frame inside has text or missing values.
        return
    assert same(found, en.read(path))


def test_compressed_arrays(path):
    en.write([np.arange(N) % 1000], path)
    with pytest.raises(en.NotMappableError, match=r"array of i64 can't be mapped: .* memory_map='auto'") as caught:
        en.read(path, memory_map=True)
    assert caught.value.file == str(path)
    (found,) = en.read(path, memory_map="auto")
    assert same(found, np.arange(N) % 1000)
    assert found.flags.writeable


def test_frames_in_trees(path):
    df = pd.DataFrame({"a": np.arange(N), "b": np.arange(N) * 0.5, "text": ["x"] * N})
    en.write({"x": np.arange(N), "df": df}, path, compression=0)
    file = en.open(path, memory_map=True)
    found = file["df"].read(columns=["a", "b"])
    assert found.equals(df[["a", "b"]])
    assert np.shares_memory(found["b"].to_numpy(), file._handle._bytes)
    with pytest.raises(en.NotMappableError, match="strings and bytes cannot be mapped"):
        file.read()
    for memory_map in (True, "auto"):
        file = en.open(path, memory_map=memory_map)
        assert pickle.loads(pickle.dumps(file))["df"]._view.table.memory_map == memory_map
        part = pickle.loads(pickle.dumps(file["df"]))
        assert part._view.table.memory_map == memory_map
        assert part.read(columns=["a"]).equals(df[["a"]])
    assert file.read()["df"].equals(df)


FRAME = pd.DataFrame(
    {
        "i": np.arange(N),
        "f": np.arange(N) * 0.5,
        "text": [f"t{i % 100}" for i in range(N)],
        "kind": pd.Categorical(np.arange(N) % 3),
        "gaps": pd.arrays.IntegerArray(np.arange(N), np.arange(N) % 5 == 0),
        "bits": np.arange(N) % 2 == 0,
        "at": pd.date_range("2020", periods=N, freq="s"),
        "g": np.arange(N) * 2.5,
    },
    index=pd.Index([f"row {i}" for i in range(N)], name="label"),
)


@pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow"])
def test_frames(path, to):
    en.write(FRAME, path, compression=0)
    file = en.open(path, memory_map="auto")
    for rows in (None, (1000, 140_000), [5, 3, N - 1], np.arange(N) % 10 == 0, (7, 7)):
        found, wanted = file.read(to=to, rows=rows), en.read(path, to=to, rows=rows)
        assert found.equals(wanted), rows
    for columns in (["text"], ["g", "text", "i"], ["f"], []):
        assert file.read(to=to, columns=columns).equals(en.read(path, to=to, columns=columns))
    assert file.read(to=to, filter=en.col("i") < 10).equals(en.read(path, to=to, filter=en.col("i") < 10))
    with pytest.raises(en.NotMappableError):
        en.read(path, to=to, memory_map=True)


def test_columns_that_can_be_views_are(path):
    en.write(FRAME, path, compression=0)
    file = en.open(path, memory_map="auto")
    memory = file._handle._bytes
    found = file.read()
    assert {name for name in FRAME if np.shares_memory(np.asarray(found[name]), memory)} == {"i", "f", "at", "g"}
    table = file.read(to="pyarrow")
    at = memory.ctypes.data

    def is_mapped(column):
        buffers = [buffer for chunk in column.chunks for buffer in chunk.buffers() if buffer is not None]
        return any(at <= buffer.address < at + len(memory) for buffer in buffers)

    mapped = {name for name in FRAME if is_mapped(table[name])}
    assert mapped == {"i", "f", "at", "g", "bits"}


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1, 2], "d": pl.Series(["1.5", "2.5"]).cast(pl.Decimal(30, 1)), "l": [[1], []]}),
        pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128), "s": [{"x": 1}, {"x": 2}], "e": [None, None]}),
        pa.table({"d": pa.array([1, 2], pa.decimal128(5, 0)), "b": [b"x", None], "a": [1.5, 2.5]}),
        {"a": np.arange(3), "t": np.array([1, 2, 3], "m8[s]"), "s": np.array(["a", "b", "c"])},
    ],
)
def test_types_that_are_read(path, frame):
    for compression in (0, 50):
        en.write(frame, path, compression=compression)
        found, wanted = en.read(path, memory_map="auto"), en.read(path)
        assert same(found, wanted) if isinstance(frame, dict) else found.equals(wanted)


def test_engines(path):
    en.write(FRAME, path, compression=0)
    file = en.open(path, memory_map="auto")
    lazy = file.lazy().filter(pl.col("i") % 1000 == 3).select("i", "text", "gaps").collect()
    wanted = en.scan_polars(path).filter(pl.col("i") % 1000 == 3).select("i", "text", "gaps").collect()
    assert lazy.equals(wanted)
    table = file.to_dataset().to_table(columns=["text", "i"])
    assert table.equals(en.open(path).to_dataset().to_table(columns=["text", "i"]))
    assert pa.table(file).equals(pa.table(en.open(path)))


def test_arguments(path):
    en.write(FRAME[:3], path)
    for wrong in ("yes", 2, None):
        with pytest.raises(en.ArgumentError, match="True, False or 'auto'"):
            en.open(path, memory_map=wrong)
    with pytest.raises(en.ArgumentError, match="a file on the disk"):
        en.read(path.read_bytes(), memory_map="auto")
