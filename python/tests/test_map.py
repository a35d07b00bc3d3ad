"""Mapped files: views that equal what is read, that touch nothing, and that stay valid."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import by_tier

import entasis as en
from entasis._view import mapped as _map

N = 150_001
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "m8"]
DTYPES += [f"{kind}8[{unit}]" for kind in "mM" for unit in UNITS]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def column(dtype, n=N):
    """Values of a dtype, without missing ones."""
    values = np.random.default_rng(len(dtype)).integers(-(2**62), 2**62, n) % 60_000 - 30_000
    if np.dtype(dtype).kind == "c":
        return (values + 1j * values[::-1]).astype(dtype)
    return values.astype("i8").astype(dtype)


def mapped(file):
    """The memory of an open file."""
    return file._handle._bytes


@pytest.fixture
def save(path):
    """Writes a value raw and opens it, mapped."""

    def run(value, **how):
        en.write(value, path, **({"compression": 0} | how))
        return en.open(path, memory_map=True)

    return run


@pytest.mark.parametrize("n", [1, 7000, N])
def test_every_dtype(n, save):
    arrays = {dtype: column(dtype, n) for dtype in DTYPES}
    file = save(arrays)
    found = file.read()
    assert list(found) == list(arrays)
    for dtype, array in found.items():
        assert array.dtype == arrays[dtype].dtype
        np.testing.assert_array_equal(array, arrays[dtype])
        assert np.shares_memory(array, mapped(file))
        assert array.flags.aligned
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_alignment(save):
    """Columns begin at multiples of 64 bytes, so that vectors of any width can be loaded from them."""
    file = save({dtype: column(dtype) for dtype in DTYPES})
    for array in file.read().values():
        assert array.ctypes.data % 64 == 0


@pytest.fixture(scope="module")
def frame():
    values = {f"{dtype}": column(dtype) for dtype in DTYPES if "[" not in dtype and dtype not in ("f2", "m8")}
    frame = pd.DataFrame(values | {f"second {dtype}": column(dtype)[::-1] for dtype in ("f8", "i4", "u1")})
    frame["nan"] = np.where(np.arange(N) % 3, np.nan, 1.5)
    for unit in ("s", "ms", "us", "ns"):
        frame[f"t{unit}"] = column(f"M8[{unit}]")
        frame[f"d{unit}"] = column(f"m8[{unit}]")
        frame[f"z{unit}"] = pd.Series(column(f"M8[{unit}]")).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    frame["Int16"] = pd.array(column("i2"), "Int16")
    frame["Float64"] = pd.array(column("f8"), "Float64")
    frame["arrow"] = pd.arrays.ArrowExtensionArray(pa.array(column("i4")))
    frame["arrow bits"] = pd.arrays.ArrowExtensionArray(pa.array(column("i4") % 3 == 0))
    frame["arrow time"] = pd.arrays.ArrowExtensionArray(pa.array(np.arange(N), pa.time64("us")))
    return frame


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "frame.entasis"
    en.write(frame, path, compression=0)
    return en.open(path, memory_map=True)


ROWS = [None, (0, N), (65_535, 65_537), (3, 4), (1000, 140_001), (131_072, N), slice(-5, None), 77]


@pytest.mark.parametrize("rows", ROWS, ids=str)
def test_pandas(rows, frame, file):
    back = file.read(rows=rows)
    pd.testing.assert_frame_equal(back, en.read(file.path, rows=rows))
    if isinstance(rows, tuple):
        pd.testing.assert_frame_equal(back, frame.iloc[slice(*rows)])
    for name in frame.columns:
        if not name.startswith("arrow"):
            values = back[name].array
            values = next(getattr(values, at) for at in ("_data", "_ndarray") if hasattr(values, at))
            assert np.shares_memory(values, mapped(file)), name


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.tuples(st.integers(0, N), st.integers(0, N)), columns=st.lists(st.integers(0, 31), max_size=6))
def test_any_rows_and_columns(rows, columns, file):
    rows = (min(rows), max(rows))
    pd.testing.assert_frame_equal(
        file.read(rows=rows, columns=columns), en.read(file.path, rows=rows, columns=columns), check_freq=False
    )


def test_views_of_views(frame, file):
    view = file[["f8", "i4", "ts"]][1000:][["ts", "f8"]][:70_000]
    pd.testing.assert_frame_equal(view.read(), frame[["ts", "f8"]].iloc[1000:71_000])
    assert np.shares_memory(view.to_numpy()["f8"], mapped(file))


def test_other_hosts_take_the_views(file):
    some = file[["i4", "f8", "tus"]][99:99_999]
    expected = en.open(file.path)[["i4", "f8", "tus"]][99:99_999]
    assert some.to_pyarrow().equals(expected.to_pyarrow())
    assert some.to_polars().equals(expected.to_polars())
    assert pa.table(some).equals(pa.table(expected))
    assert pl.DataFrame(some).equals(pl.DataFrame(expected))
    assert pa.schema(some) == pa.schema(expected)
    for name, array in some.to_numpy().items():
        np.testing.assert_array_equal(array, expected.to_numpy()[name])


def test_frames_are_read_only(file):
    frame = file.read(columns=["i4", "f8", "Int16"])
    for position in range(3):
        with pytest.raises(ValueError, match="read-only"):
            frame.iloc[0, position] = 1
    copy = frame.copy()
    copy.iloc[0, 0] = 123
    assert copy.iloc[0, 0] == 123
    # A new column has memory of its own.
    frame["f8"] = 0.5
    assert frame["f8"].sum() == N / 2
    assert (frame["i4"] + 1).iloc[-1] == frame["i4"].iloc[-1] + 1


@pytest.mark.parametrize(("n_rows", "n_columns"), [(100, 10_000), (8191, 50), (8192, 50), (9001, 300)])
def test_wide_frames_are_one_block(n_rows, n_columns, save):
    frame = pd.DataFrame(np.arange(n_rows * n_columns, dtype="f8").reshape(n_columns, n_rows).T)
    file = save(frame)
    back = file.read()
    pd.testing.assert_frame_equal(back, frame)
    (block,) = back._mgr.blocks
    assert np.shares_memory(block.values, mapped(file))
    some = [5, 7, 9, 2, 40]
    pd.testing.assert_frame_equal(file.read(columns=some, rows=(10, 99)), frame[some].iloc[10:99])
    assert len(file.read(columns=[5, 7, 9])._mgr.blocks) == 1
    assert file.read(columns=[5, 5])._mgr.nblocks == 2


def test_bundles_of_many_types(save):
    rows = np.arange(77)
    kinds = [rows, rows / 7, rows.astype("M8[s]"), rows.astype("f4"), pd.array(rows, "Int16"), rows.astype("u1")]
    frame = pd.DataFrame({f"c{i}": kinds[i * i % 11 % len(kinds)] for i in range(2000)})
    file = save(frame)
    pd.testing.assert_frame_equal(file.read(), frame)
    pd.testing.assert_frame_equal(file.read(rows=(3, 50)), frame.iloc[3:50])
    assert sum(block.values.ndim == 2 for block in file.read()._mgr.blocks) <= 10
    assert file.to_pyarrow().equals(en.read(file.path, to="pyarrow"))


INDEXES = {
    "range": pd.RangeIndex(5, 5 + 2 * N, 2, name="r"),
    "integers": pd.Index(column("i4"), name="i"),
    "times": pd.DatetimeIndex(column("M8[s]"), tz="UTC"),
    "frequency": pd.date_range("2020", periods=N, freq="min"),
    "nullable": pd.Index(pd.array(column("i8"), "Int64")),
    "texts": pd.Index([f"r{i}" for i in range(N)], name=("a", 1)),
    "booleans": pd.Index(column("i4") % 2 == 0),
    "categories": pd.CategoricalIndex(np.char.add("c", (column("i4") % 5).astype(str))),
    "levels": pd.MultiIndex.from_arrays([column("i1"), column("f4")], names=["x", None]),
    "missing": pd.DatetimeIndex(np.where(np.arange(N) % 2, column("M8[s]"), np.datetime64("NaT", "s"))),
}


@pytest.mark.parametrize("name", INDEXES)
def test_indexes(name, save):
    frame = pd.DataFrame({"a": column("f8"), "b": column("i2")}, index=INDEXES[name])
    frame.columns = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    frame.attrs = {"k": [1, "v"]}
    file = save(frame)
    for rows in (None, (70_001, 140_003), (0, 0)):
        back = file.read(rows=rows)
        expected = frame if rows is None else frame.iloc[slice(*rows)]
        pd.testing.assert_frame_equal(back, expected)
        assert back.attrs == frame.attrs
        assert file.read(rows=rows, to="pyarrow").equals(en.read(file.path, rows=rows, to="pyarrow"))
    if name in ("integers", "times", "frequency"):
        assert np.shares_memory(file.read().index.asi8 if name != "integers" else file.read().index, mapped(file))


ARROW = {
    "bool": pa.array(np.arange(N) % 3 == 0),
    "f16": pa.array(column("f2")),
    "i64": pa.array(column("i8")),
    "date32": pa.array(column("i4"), pa.int32()).cast(pa.date32()),
    "date64": pa.array(column("M8[D]").astype("M8[ms]").astype("i8")).cast(pa.date64()),
    "time32": pa.array(np.arange(N) % 86_400, pa.int32()).cast(pa.time32("s")),
    "time64": pa.array(np.arange(N)).cast(pa.time64("ns")),
    "duration": pa.array(column("m8[us]")),
    "zone": pa.array(column("M8[ms]")).cast(pa.timestamp("ms", "Europe/Berlin")),
}


@pytest.mark.parametrize("rows", [None, (65_531, 65_543), (5, N - 1), (9, 9)], ids=str)
def test_pyarrow(rows, save):
    table = pa.table(ARROW).replace_schema_metadata({"k": "v"})
    table = table.set_column(2, pa.field("i64", pa.int64(), nullable=False, metadata={"of": "field"}), table["i64"])
    file = save(table)
    back = file.read(rows=rows)
    expected = table if rows is None else table.slice(rows[0], rows[1] - rows[0])
    assert back.equals(expected, check_metadata=True)
    assert back.schema.equals(table.schema, check_metadata=True)
    back.validate(full=True)
    for column in back.columns if back.num_rows else ():
        (chunk,) = column.chunks
        assert chunk.buffers()[0] is None
        assert np.shares_memory(np.frombuffer(chunk.buffers()[1], "u1"), mapped(file))


@pytest.mark.parametrize("rows", [None, (65_531, 65_543), (5, N - 1), (9, 9)], ids=str)
def test_polars(rows, save):
    frame = pl.DataFrame(pa.table(ARROW).drop_columns(["time32"]))
    file = save(frame)
    back = file.read(rows=rows)
    expected = frame if rows is None else frame[rows[0] : rows[1]]
    assert back.equals(expected)
    assert back.schema == frame.schema
    assert back["bool"].sum() == expected["bool"].sum()
    if back.height:
        assert np.shares_memory(back["i64"].to_numpy(allow_copy=False), mapped(file))
        assert np.shares_memory(back["duration"].to_physical().to_numpy(allow_copy=False), mapped(file))


def test_bundled_booleans(save):
    """Bits of columns that begin anywhere in a byte."""
    table = pa.table({f"c{i}": np.arange(77) % (i + 2) == 0 for i in range(100)})
    file = save(table)
    assert file.read().equals(table)
    assert file.read(rows=(5, 76), columns=["c99", "c3", "c4"]).equals(table.select(["c99", "c3", "c4"]).slice(5, 71))


def test_columns_of_arrow_in_numpy(save):
    file = save(pa.table(ARROW))
    some = file.read(to="numpy", columns=["time64", "date64", "zone", "f16"])
    for name, array in en.read(file.path, to="numpy", columns=list(some)).items():
        np.testing.assert_array_equal(some[name], array)
        assert some[name].dtype == array.dtype
        assert np.shares_memory(some[name], mapped(file))


@pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy"])
@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame(index=range(5)),
        pd.DataFrame({"a": np.empty(0), "s": np.empty(0, object), "b": np.empty(0, bool)}),
    ],
    ids=["nothing", "no columns", "no rows"],
)
def test_empty(frame, to, save):
    file = save(frame)
    back, expected = file.read(to=to), en.read(file.path, to=to)
    assert back == expected if to in ("pyarrow",) else str(back) == str(expected)
    if to == "pandas":
        pd.testing.assert_frame_equal(back, frame)


def test_nothing_of_something(save):
    frame = pd.DataFrame({"a": np.arange(9.0), "s": "x"})
    file = save(frame)
    pd.testing.assert_frame_equal(file.read(rows=(4, 4)), frame.iloc[4:4])
    pd.testing.assert_frame_equal(file.read(rows=[]), frame.iloc[[]])
    pd.testing.assert_frame_equal(file.read(columns=[]), frame[[]])


BAD = pd.DataFrame(
    {
        "good": column("f8"),
        "text": pd.array(["x"] * N, "str"),
        "objects": pd.array(["x"] * N, "object"),
        "category": pd.Categorical(["a"] * N),
        "bits": np.arange(N) % 2 == 0,
        "nullable bits": pd.array(np.arange(N) % 2 == 0, "boolean"),
        "nullable": pd.arrays.IntegerArray(np.arange(N), np.arange(N) == 5),
        "times": np.where(np.arange(N) == N - 1, np.datetime64("NaT", "s"), column("M8[s]")),
        "nulls": pd.arrays.ArrowExtensionArray(pa.nulls(N)),
    }
)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("text", "strings and bytes"),
        ("objects", "strings and bytes"),
        ("category", "categorical"),
        ("bits", "bits in the file and bytes in memory"),
        ("nullable bits", "bits in the file and bytes in memory"),
        ("nullable", "missing values"),
        ("times", "missing values"),
        ("nulls", "without values"),
    ],
)
def test_what_cannot_be_mapped(name, why, save):
    file = save(BAD)
    with pytest.raises(en.NotMappableError, match=why) as caught:
        file.read(columns=["good", name])
    assert (caught.value.column, caught.value.file) == (name, file.path)
    assert "choose other" in str(caught.value)
    assert "read without" in str(caught.value) or "memory_map='auto'" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, en.UnsupportedTypeError)
    np.testing.assert_array_equal(file.read(columns=["good"])["good"], BAD["good"])
    with pytest.raises(en.NotMappableError):
        en.read(file.path, memory_map=True)
    pd.testing.assert_frame_equal(en.read(file.path, columns=[name]), BAD[[name]])


@pytest.mark.parametrize("compression", [1, 50, 100, {"good": 20}])
def test_compressed(compression, save):
    file = save({"good": np.arange(N) % 1000, "other": np.arange(N)}, compression=compression)
    with pytest.raises(en.NotMappableError, match="write the file with compression 0") as caught:
        file.read()
    assert caught.value.column == "good"


def test_some_columns_compressed(save):
    arrays = {"raw": np.arange(N), "small": np.arange(N)}
    file = save(arrays, compression={"raw": 0, None: 50})
    np.testing.assert_array_equal(file.read(columns=["raw"])["raw"], arrays["raw"])
    with pytest.raises(en.NotMappableError, match='column "small"'):
        file.read()


@pytest.mark.parametrize("rows", [[1, 2], [True] * N, np.array([5]), slice(0, 10, 2), slice(None, None, -1)], ids=str)
def test_rows_that_are_no_neighbours(rows, file):
    with pytest.raises(en.NotMappableError, match="only neighbouring rows"):
        file.read(rows=rows, columns=["f8"])


@pytest.mark.parametrize(
    ("value", "to", "why"),
    [
        ({"a": column("M8[D]")}, "pandas", "pandas has no"),
        ({"a": column("m8")}, "pandas", "pandas has no"),
        (pa.table({"a": ARROW["date32"]}), "pandas", "dates of 32 bits"),
        (pa.table({"a": ARROW["date32"]}), "numpy", "dates of 32 bits"),
        (pa.table({"a": ARROW["time32"]}), "numpy", "of 32 bits"),
        (pa.table({"a": ARROW["bool"]}), "numpy", "bits in the file"),
    ],
)
def test_types_that_would_be_converted(value, to, why, save):
    with pytest.raises(en.NotMappableError, match=why):
        save(value).read(to=to)


def test_missing_values_of_a_neighbour(save):
    """Bundled columns share blocks; the values of one are among the missing ones of the other."""
    table = pa.table({"a": pa.array([1.5, None]), "b": pa.array([2.5, 3.5])})
    with pytest.raises(en.NotMappableError, match="whose bundle has missing values") as caught:
        save(table).read(columns=["b"])
    assert caught.value.column == "b"


def test_types_that_arrow_has_not(save):
    file = save({"a": column("c8")})
    for read in (file.to_pyarrow, file.to_polars):
        with pytest.raises(en.UnsupportedTypeError, match="no counterpart in Arrow"):
            read()


def test_without_pyarrow(save, monkeypatch):
    file = save({"a": column("f8")})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(en.MissingLibraryError, match="pip install pyarrow"):
        file.to_polars()
    assert len(file.to_pandas()) == N


def test_damaged_footer(save):
    file = save({"a": column("f8"), "b": column("i2")})
    path = Path(file.path)
    content = path.read_bytes()
    # After the slot pages and the values.
    end = 12_288 + 8 * N + 2 * N + 128
    assert end < len(content)
    del file
    rng = np.random.default_rng(1)
    n_found = 0
    for at in {*range(0, 128, 9), *rng.integers(end, len(content) - 64, by_tier(150, 300)).tolist()}:
        broken = bytearray(content)
        broken[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        try:
            found = en.read(path, memory_map=True)
        except en.EntasisError:
            n_found += 1
            continue
        # Statistics, directories and the like are not looked at.
        np.testing.assert_array_equal(found["a"], column("f8"))
        np.testing.assert_array_equal(found["b"], column("i2"))
    assert n_found > 25
    path.write_bytes(content[:-1])
    with pytest.raises(en.CorruptFileError, match="truncated"):
        en.open(path, memory_map=True)


def test_damaged_values(save):
    """A map doesn't look at values; `verify` and reading do."""
    file = save({"a": column("f8")})
    path = Path(file.path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    del file
    path.write_bytes(content)
    assert (en.read(path, memory_map=True)["a"] != column("f8")).sum() == 1
    with pytest.raises(en.CorruptFileError):
        en.verify(path)
    with pytest.raises(en.CorruptFileError):
        en.read(path)


def test_not_a_file(tmp_path):
    with pytest.raises(en.MissingFileError):
        en.open(tmp_path / "none", memory_map=True)
    with pytest.raises(en.DirectoryError):
        en.open(tmp_path, memory_map=True)
    (tmp_path / "text").write_bytes(b"text")
    with pytest.raises(en.NotEntasisError):
        en.read(tmp_path / "text", memory_map=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows holds mapped files")
def test_replaced_and_deleted(save):
    file = save({"a": column("f8")})
    array = file.read()["a"]
    en.write({"a": column("f8") + 1}, file.path, compression=0)
    np.testing.assert_array_equal(array, column("f8"))
    np.testing.assert_array_equal(file.read()["a"], column("f8"))
    np.testing.assert_array_equal(en.read(file.path, memory_map=True)["a"], column("f8") + 1)
    Path(file.path).unlink()
    np.testing.assert_array_equal(file[5:][:10].read()["a"], column("f8")[5:15])
    np.testing.assert_array_equal(array, column("f8"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows holds mapped files")
@pytest.mark.parametrize("n_times", [1, 10**6])
def test_replaced_while_it_is_opened(n_times, path, monkeypatch):
    """Footer and map are of one file."""
    real = _map._entasis.Handle
    sizes = iter(range(N, 0, -1))
    n_opened = 0

    def handle(name, *limits):
        nonlocal n_opened
        n_opened += 1
        opened = real(name, *limits)
        if n_opened <= n_times:
            # The same length and footer but for checksums, then shorter ones.
            en.write({"a": np.arange(N) + 1 if n_opened == 1 else np.arange(next(sizes))}, path, compression=0)
        return opened

    en.write({"a": np.arange(N)}, path, compression=0)
    monkeypatch.setattr(_map._entasis, "Handle", handle)
    if n_times == 1:
        np.testing.assert_array_equal(en.read(path, memory_map=True)["a"], np.arange(N) + 1)
        assert n_opened == 2
    else:
        with pytest.raises(en.FileError, match="again and again"):
            en.open(path, memory_map=True)


def mappings(path):
    """Statistics of the system for the maps of a file: its lines with numbers."""
    found, inside = [], False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line.split()[0].count("-") == 1 and ":" not in line.split()[0]:
            inside = line.endswith(str(path))
        elif inside:
            found.append(line)
    return found


@linux
def test_the_map_lives_as_long_as_its_arrays(save):
    file = save(pa.table({"a": column("f8"), "b": column("i4")}))
    path = file.path
    with file as same:
        views = [
            same.read(to="numpy")["a"][5:9][::-1],
            same.read(to="pandas")[["b"]],
            same.read(to="pyarrow")["a"],
            same.read(to="polars")["b"].slice(3, 5),
        ]
    del file, same
    while views:
        gc.collect()
        assert mappings(path)
        assert len(views[-1]) > 3
        views.pop()
    gc.collect()
    assert not mappings(path)


def test_the_map_cannot_be_closed_under_the_arrays(save):
    memory = mapped(save({"a": column("f8")}))
    with pytest.raises(BufferError):
        memory.base.obj.close()


@linux
@pytest.mark.parametrize("to", ["numpy", "pandas", "pyarrow", "polars"])
def test_nothing_is_touched(to, save):
    """Of 100 MB not a page comes into memory."""
    n = 5_000_000
    frame = pd.DataFrame({"a": np.arange(n), "b": np.arange(n).astype("f4")}, index=pd.Index(np.arange(n)[::-1]))
    file = save(frame)
    found = file.read(to=to)
    assert len(found) > 0
    resident = sum(int(line.split()[1]) for line in mappings(file.path) if line.startswith("Rss:"))
    size = sum(int(line.split()[1]) for line in mappings(file.path) if line.startswith("Size:"))
    assert size > 90_000
    assert resident == 0
    assert np.asarray(found["b"])[-1] == n - 1
    assert sum(int(line.split()[1]) for line in mappings(file.path) if line.startswith("Rss:")) > 0


def test_types_that_are_kept_otherwise_than_in_memory(save):
    """Bytes of the file are never read as more values, nor as values of another byte order."""
    for kind in (pa.decimal128(15, 2), pa.decimal128(5, 2), pa.decimal64(5, 2), pa.decimal256(20)):
        table = pa.table({"x": pa.array([1, 2, None, 3], pa.int64()).drop_null().cast(pa.decimal128(20)).cast(kind)})
        file = save(table)
        for to in ("pyarrow", "polars", "pandas"):
            if kind == pa.decimal256(20) and to != "pyarrow":
                # It comes as 128 bits, which it has.
                continue
            with pytest.raises(en.NotMappableError, match="column 'x'"):
                file.read(to=to)
        assert en.read(file.path).equals(table)
    for kind in (pa.decimal128(38, 2), pa.decimal256(60, 2), pa.decimal32(5, 1), pa.decimal64(15), pa.binary(12)):
        values = [b"123456789012"] * 3 if kind == pa.binary(12) else [1, 2, 3]
        table = pa.table({"x": pa.array(values, kind)})
        assert save(table).read().equals(table)
    big = np.arange(50).astype(">i4")
    for frame in ({"x": big}, pd.DataFrame({"x": big})):
        file = save(frame)
        with pytest.raises(en.NotMappableError, match="another order"):
            file.read()
    for to in ("numpy", "pandas"):
        with pytest.raises((en.UnsupportedTypeError, en.NotMappableError)):
            save(pa.table({"x": pa.array([1, 2, 3], pa.decimal128(5))})).read(to=to)


def test_rows_of_bytes(save):
    n = 300
    rng = np.random.default_rng(1)
    arrays = {f"V{width}": np.frombuffer(rng.bytes(width * n), f"V{width}") for width in (1, 3, 12, 100)}
    arrays["record"] = np.zeros(n, [("a", "<i4"), ("b", ">f8")])
    arrays["units"] = np.full(n, 0xD800, "u4").view("U1")
    if np.dtype("longdouble").itemsize == 16:
        arrays["long"] = np.arange(n).astype("longdouble") / 3
        arrays["clong"] = np.arange(n).astype("clongdouble") / 3
    file = save(arrays)
    for name, array in arrays.items():
        found = file.read(columns=[name], rows=(7, 200))[name]
        assert found.dtype == array.dtype
        assert not found.flags.writeable
        assert found.tolist() == array[7:200].tolist() if name != "units" else True
    if "clong" in arrays:
        frame = pd.DataFrame({name: arrays[name] for name in ("long", "clong")})
        pd.testing.assert_frame_equal(save(frame).read(), frame)
