"""Arrow streams of files, views and scans, for pyarrow, Polars and DuckDB."""

from __future__ import annotations

import datetime
import decimal
import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from io_counts import bytes_read
from test_dataset import assert_same, table, with_views

import entasis as en
from entasis._engines import rows as arrow_rows
from entasis._engines import windows

if TYPE_CHECKING:
    from collections.abc import Callable

N = 200_000


def nested(n: int) -> pa.Table:
    """A table of types that `test_dataset.table` lacks. Only some windows have missing values."""
    random = np.random.default_rng(n)

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in random.integers(0, len(values), n)]

    rows = np.arange(n)
    codes = pa.array((rows % 2).astype("i1"))
    numbers, texts = pa.array(np.where(rows > n // 2, None, rows), pa.int64()), pa.array(some(["a", "bc", None]))
    labels = pa.array(some(["u", "v", None])).dictionary_encode()
    offsets = pa.array(np.arange(n + 1), pa.int32())
    dense = pa.UnionArray.from_dense(codes, pa.array(rows // 2, pa.int32()), [numbers, texts])
    return pa.table(
        {
            "map": pa.array(some([None, [], [("a", 1), ("b", None)]]), pa.map_(pa.string(), pa.int32())),
            "large": pa.array(some([None, ["x"], ["y", None]]), pa.large_list(pa.string())),
            "view": pa.array(some([None, [1], []]), pa.list_view(pa.int64())),
            "three": pa.array(some([None, [1, 2, 3]]), pa.list_(pa.float32(), 3)),
            "dense": dense,
            "sparse": pa.UnionArray.from_sparse(codes, [numbers, texts]),
            "runs": pa.RunEndEncodedArray.from_arrays(
                pa.array([end for end in (n // 3, n) if end], pa.int32()),
                pa.array(["a", None][: (n > 2) + (n > 0)], pa.string()),
            ),
            "labels": pa.ListArray.from_arrays(offsets, labels),
            "struct": pa.StructArray.from_arrays([labels, texts], ["c", "t"]),
            "bytes": pa.array(some([b"", b"\0x", None]), pa.binary()),
            "fixed": pa.array(some([b"abc", None]), pa.binary(3)),
            "wide": pa.array(some([decimal.Decimal(10) ** 50, None]), pa.decimal256(60, 0)),
            "time": pa.array(some([datetime.time(1, 2, 3), None]), pa.time64("us")),
            "span": pa.array(some([datetime.timedelta(days=1), None]), pa.duration("s")),
            "ordered": pa.DictionaryArray.from_arrays(pa.array(rows % 3, pa.int8()), ["x", "y", "z"], ordered=True),
            "all": pa.nulls(n),
        },
        metadata={"of": "schema"},
    )


def frame(n: int) -> pd.DataFrame:
    """A frame with an index, and with columns that pyarrow converts."""
    rows = np.arange(n)
    return pd.DataFrame(
        {
            "a": rows * 2,
            "text": [f"text {row % 977}" for row in rows],
            "c": pd.Categorical(rows % 7),
            "object": pd.Series([None if row % 5 == 0 else f"{row}" for row in rows], dtype=object),
            "date": pd.Series([datetime.date(2024, 1, 1 + row % 28) for row in rows], dtype=object),
            "interval": pd.arrays.IntervalArray.from_breaks(np.arange(n + 1.0)),
        },
        index=pd.date_range("2024-01-01", periods=n, freq="s", name="when"),
    )


MAKERS: dict[str, Callable[[int], Any]] = {
    "kinds": lambda n: with_views(table(n)),
    "nested": nested,
    "pandas": frame,
    "range": lambda n: frame(n).reset_index(drop=True).rename_axis("row"),
    "polars": lambda n: pl.DataFrame(
        {
            "i": range(n),
            "s": [None if i % 3 == 0 else f"text {i}" for i in range(n)],
            "e": pl.Series(["x", "y", None] * (n // 3) + ["x"] * (n % 3), dtype=pl.Enum(["y", "x"])),
            "c": pl.Series([f"{i % 50}" for i in range(n)], dtype=pl.Categorical),
            "l": [[i, None] for i in range(n)],
        }
    ),
    "numpy": lambda n: {"i": np.arange(n), "M": np.arange(n).astype("M8[m]"), "U": np.arange(n).astype("U9")},
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of 100 rows, then of more."""
    monkeypatch.setattr(arrow_rows, "_FIRST", 100)
    monkeypatch.setattr(arrow_rows, "_CELLS_AT_ONCE", 0)
    monkeypatch.setattr(arrow_rows, "_CELLS_OF_BLOCK", 0)
    monkeypatch.setattr(windows, "CELLS", 10_000)
    monkeypatch.setattr(windows, "_LEAST", 100)


@pytest.fixture
def numbers(path: Path) -> en.File:
    """A file of `N` rows, which is a few blocks."""
    random = np.random.default_rng(0)
    texts = [f"text {i}" for i in range(N)]
    en.write(pa.table({"id": np.arange(N), "x": random.integers(0, 2**40, N), "s": texts}), path)
    return en.open(path)


def batches(data: Any) -> list[pa.RecordBatch]:
    return list(pa.RecordBatchReader.from_stream(data))


def assert_equal(found: pa.Table, expected: pa.Table) -> None:
    """Compare types, names and values. Dictionaries and NaN are compared by value."""
    found.validate(full=True)
    assert found.schema.equals(expected.schema)
    for name, a, b in zip(expected.column_names, found.columns, expected.columns, strict=True):
        if pa.types.is_floating(a.type):
            assert_same(pa.table({name: a}), pa.table({name: b}))
        else:
            assert a.equals(b) or a.to_pylist() == b.to_pylist(), name


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [0, 1, 99, 5_000])
@pytest.mark.usefixtures("small")
def test_streams_equal_reads(path: Path, name: str, n: int) -> None:
    en.write(MAKERS[name](n), path)
    f = en.open(path)
    if name == "range":
        f = f.select(["row", *f.column_names])
    expected = f.read(to="pyarrow")
    found = batches(f)
    assert (len(found) > 3) == (n == 5_000)
    assert_equal(pa.Table.from_batches(found, pa.schema(f)), expected)
    assert all(pa.schema(f).equals(batch.schema, check_metadata=True) for batch in found)
    # Any view, and a scan.
    odd = f[np.random.default_rng(0).permutation(n)[: n // 2]]
    assert_equal(pa.table(odd), odd.read(to="pyarrow"))
    part = f[n // 4 : n // 2, f.column_names[::-1]]
    assert_equal(pa.table(part), part.read(to="pyarrow"))


@pytest.mark.parametrize("name", ["kinds", "pandas", "polars"])
@pytest.mark.usefixtures("small")
def test_polars_and_duckdb_take_several_batches(path: Path, name: str) -> None:
    en.write(MAKERS[name](5_000), path)
    f = en.open(path)
    expected = f.read(to="pyarrow")
    assert pl.DataFrame(f).equals(pl.DataFrame(expected))
    if name != "polars":
        # Polars loses Enums in a scan of any stream.
        assert pl.scan_arrow_c_stream(f).collect().equals(pl.DataFrame(expected))
    with duckdb.connect() as connection:
        found = connection.sql("select * from f").to_arrow_table()
        assert (
            found.to_pylist() == connection.sql("select * from expected").to_arrow_table().to_pylist()
            or name == "kinds"
        )
        column = "c"
        counts = f"select {column}, count(*) from f group by 1 order by 1"
        assert connection.sql(counts).fetchall() == connection.sql(counts.replace("f ", "expected ")).fetchall()
        if duckdb.__version__.startswith("1.1."):
            # It takes one stream of an object, whatever the query.
            return
        # A query that scans the file twice gets two streams.
        key = f.column_names[0]
        pairs = connection.sql(f"select count(*) from f a join f b using ({key!s}, {column})").fetchall()
        assert (
            pairs
            == connection.sql(f"select count(*) from expected a join expected b using ({key}, {column})").fetchall()
        )


def test_real_sizes(path: Path) -> None:
    n = 3_000_000
    values = np.arange(n)
    en.write(pa.table({"a": values, "b": -values, "c": pa.array(values % 5).dictionary_encode()}), path)
    f = en.open(path)
    found = batches(f)
    sizes = [batch.num_rows for batch in found]
    assert sizes[:3] == [65_536, 131_072, 262_144]
    assert max(sizes) * 3 <= 1 << 22
    assert sum(sizes) == n
    assert pa.Table.from_batches(found).equals(f.to_pyarrow())
    # A view of one window is one batch.
    assert [batch.num_rows for batch in batches(f[:65_536])] == [65_536]
    assert [batch.num_rows for batch in batches(f[:1_000_000])] == [1_000_000]


def test_first_batch_reads_little(path: Path) -> None:
    n = 2_000_000
    random = np.random.default_rng(0)
    en.write(pa.table({f"c{k}": random.normal(size=n) for k in range(4)}), path)
    f = en.open(path)
    pa.RecordBatchReader.from_stream(f[:1]).read_all()
    start = bytes_read()
    reader = pa.RecordBatchReader.from_stream(f)
    assert bytes_read() - start < 100_000
    reader.read_next_batch()
    assert 0 < bytes_read() - start < path.stat().st_size // 10
    start = bytes_read()
    with duckdb.connect() as connection:
        assert len(connection.sql("select * from f limit 3").fetchall()) == 3
    assert bytes_read() - start < path.stat().st_size // 2


def test_memory_is_bounded(path: Path) -> None:
    n = 6_000_000
    en.write(pa.table({f"c{k}": np.arange(n) * (k + 1) for k in range(4)}), path)
    start = pa.total_allocated_bytes()
    most = total = 0
    for batch in pa.RecordBatchReader.from_stream(en.open(path)):
        most, total = max(most, batch.nbytes), total + batch.nbytes
    assert total == 4 * 8 * n
    assert most <= 8 << 22
    assert pa.total_allocated_bytes() == start


@pytest.mark.usefixtures("small")
def test_long_text_makes_short_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "_BYTES", 1 << 20)
    en.write(pa.table({"s": ["x" * 10_000 + str(i) for i in range(2_000)]}), path)
    sizes = [batch.num_rows for batch in batches(en.open(path))]
    assert sizes[0] == 100
    assert max(sizes[1:]) == 104
    assert sum(sizes) == 2_000


@pytest.mark.usefixtures("small")
def test_rows_of_another_type_are_split(numbers: en.File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_rows.ArrowRows, "_is_same", lambda _, table: pa.table(table).num_rows <= 60)
    found = batches(numbers[:3_000])
    assert max(batch.num_rows for batch in found) <= 60
    assert pa.Table.from_batches(found).equals(numbers[:3_000].to_pyarrow())
    monkeypatch.setattr(arrow_rows.ArrowRows, "_is_same", lambda _, table: False)
    with pytest.raises(pa.ArrowInvalid, match="row 0: a value of more than 2 GiB does not fit"):
        pa.table(numbers)


def test_a_table_of_another_type_is_an_error(numbers: en.File) -> None:
    def read(numbers_of: list[int]) -> Any:
        return numbers._handle.read_arrow(numbers_of, (0, 5, 1), 1, False, None, {}, None, False)

    class Capsule:
        def __init__(self, capsule: object) -> None:
            self.__arrow_c_stream__ = lambda requested_schema=None: capsule

    reader = pa.RecordBatchReader.from_stream(Capsule(read([0]).stream(iter([read([0]), read([2])]))))
    assert reader.read_next_batch().num_rows == 5
    for _ in range(2):
        with pytest.raises(pa.ArrowInvalid, match="another type than the stream"):
            reader.read_next_batch()
    reader = pa.RecordBatchReader.from_stream(Capsule(read([0]).stream(iter([read([0]), 5]))))
    with pytest.raises(pa.ArrowInvalid, match="TypeError"):
        reader.read_all()


@pytest.mark.usefixtures("small")
def test_two_streams_at_once_and_again(numbers: en.File) -> None:
    expected = numbers[:5_000].to_pyarrow()
    f = numbers[:5_000]
    first, second = pa.RecordBatchReader.from_stream(f), pa.RecordBatchReader.from_stream(f)
    pairs = list(zip(first, second, strict=True))
    assert all(a.equals(b) for a, b in pairs)
    assert pa.Table.from_batches([a for a, _ in pairs]).equals(expected)
    assert pa.table(f).equals(expected)
    with pytest.raises(StopIteration):
        first.read_next_batch()


@pytest.mark.usefixtures("small")
def test_early_release(path: Path, numbers: en.File) -> None:
    numbers.close()
    f = en.open(path)
    reader = pa.RecordBatchReader.from_stream(f)
    first = reader.read_next_batch()
    f.close()
    # The stream goes on after `close`.
    second = reader.read_next_batch()
    del reader
    gc.collect()
    assert [first["id"][0].as_py(), second["id"][0].as_py()] == [0, 100]
    links = [link for link in Path("/proc/self/fd").iterdir() if link.exists()]
    assert str(path) not in {str(link.resolve()) for link in links}
    with pytest.raises(en.ClosedFileError):
        pa.table(f)


def damaged(path: Path) -> en.File:
    """The file with a flipped byte in the middle of a column of numbers."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    return en.open(bytes(data))


@pytest.mark.usefixtures("small")
def test_damage_reaches_the_consumer(path: Path, numbers: en.File) -> None:
    g = damaged(path)
    reader, found = pa.RecordBatchReader.from_stream(g), []
    message = 'the checksum of a page does not match .*column "x", block 1'
    with pytest.raises(pa.ArrowInvalid, match=message):
        found.extend(reader)
    n = len(pa.Table.from_batches(found))
    assert 65_536 < n < 131_072
    assert pa.Table.from_batches(found).equals(numbers[:n].to_pyarrow())
    # A stream that failed stays failed.
    with pytest.raises(pa.ArrowInvalid, match=message):
        reader.read_next_batch()
    with pytest.raises(pl.exceptions.ComputeError, match=message):
        pl.DataFrame(g)
    with duckdb.connect() as connection, pytest.raises(duckdb.Error, match=message):
        connection.sql("select sum(x) from g").fetchall()
    # Other rows and columns are sound.
    assert pa.table(g["id"]).equals(numbers["id"].to_pyarrow())


def interrupted(f: en.File) -> None:
    try:
        pa.table(f)
    except OSError:
        for _ in range(1_000):
            time.sleep(0.01)


@pytest.mark.usefixtures("small")
def test_errors_keep_their_kind(numbers: en.File, monkeypatch: pytest.MonkeyPatch) -> None:
    read = arrow_rows.ArrowRows._read

    def failing(error: BaseException) -> Callable[..., Any]:
        def failing_read(self: Any, window: Any) -> Any:
            if len(window.rows) and window.rows[0]:
                raise error
            return read(self, window)

        return failing_read

    for error, kind in [
        (MemoryError("no room"), MemoryError),
        (OSError(5, "no disk"), OSError),
        (en.LimitError("too much"), ValueError),
        (ValueError("a zero \0 in it"), ValueError),
    ]:
        monkeypatch.setattr(arrow_rows.ArrowRows, "_read", failing(error))
        with pytest.raises(kind) as caught:
            pa.table(numbers)
        said = str(error).replace("\0", "\\0").removeprefix("[Errno 5] ")
        assert said in str(caught.value)
    monkeypatch.setattr(arrow_rows.ArrowRows, "_read", failing(KeyboardInterrupt()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted(numbers)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("small")
def test_threads(numbers: en.File) -> None:
    f, expected, failures = numbers[:20_000], numbers[:20_000].to_pyarrow(), []
    shared, n_rows = pa.RecordBatchReader.from_stream(f), []

    def own() -> None:
        if not pa.table(f).equals(expected):
            failures.append("another table")

    def of_shared() -> None:
        n_rows.extend(batch.num_rows for batch in shared)

    threads = [threading.Thread(target=work) for work in [own, of_shared] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert sum(n_rows) == 20_000


ENDING = """
import atexit, sys, threading
import pyarrow as pa
kept, go, done, found = [], threading.Event(), threading.Event(), []

def end():
    go.set()
    done.wait(20)
    print(found[0], read(1))

# The functions of Entasis run before this one.
atexit.register(end)
import entasis as en

def read(i):
    try:
        return kept[i].read_next_batch().num_rows
    except OSError as error:
        return error

def late():
    go.wait()
    found.append(read(0))
    done.set()

def forever():
    while True:
        pa.table(f)

f = en.open(sys.argv[1])
kept = [pa.RecordBatchReader.from_stream(f) for _ in range(3)]
kept[2].read_next_batch()
threading.Thread(target=late, daemon=True).start()
if sys.argv[2:]:
    threading.Thread(target=forever, daemon=True).start()
"""


@pytest.mark.parametrize("more", [[], ["thread"]])
def test_the_interpreter_ends_first(path: Path, more: list[str]) -> None:
    en.write(pa.table({f"c{k}": np.arange(1_000_000) for k in range(8)}), path)
    command = [sys.executable, "-c", ENDING, str(path), *more]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "Python is shutting down 65536\n"
    assert "panic" not in found.stderr


def test_no_rows_and_no_columns(path: Path) -> None:
    en.write(pd.DataFrame({"a": range(7)}), path)
    f = en.open(path).select([])
    (batch,) = batches(f)
    assert (batch.num_rows, batch.num_columns) == (7, 0)
    (batch,) = batches(en.open(path)[:0])
    assert (batch.num_rows, batch.schema.names) == (0, ["a"])
    en.write(pa.table({}), path)
    assert [batch.num_rows for batch in batches(en.open(path))] == [0]


@pytest.mark.usefixtures("small")
def test_scans(numbers: en.File) -> None:
    for scan in [
        numbers.filter(en.col("x") < 2**39),
        numbers.filter(en.col("x") < 2**30),
        numbers.filter(en.col("id") >= 150_000),
        numbers.filter(en.col("id") < 0),
        numbers[1000:90_000:7].filter(en.col("x") < 2**39),
        numbers[::-1].filter(en.col("x") < 2**39).select("s"),
        numbers.scan(filter=en.col("x") < 2**39, limit=1_234),
        numbers.scan(filter=en.col("x") < 2**39, limit=0),
        numbers.scan(limit=777),
        numbers.scan("s", rows=[5, 3, 3, 100_000]),
    ]:
        found = batches(scan)
        assert pa.Table.from_batches(found).equals(scan.to_pyarrow())
        assert pa.schema(scan).equals(found[0].schema)


def test_a_scan_stops_at_its_limit(numbers: en.File) -> None:
    scan = numbers.scan("s", filter=en.col("id") > 10, limit=5)
    pa.table(scan)
    start = bytes_read()
    assert pa.table(scan)["s"].to_pylist() == [f"text {i}" for i in range(11, 16)]
    assert bytes_read() - start < 1_500_000
    with pytest.raises(en.ColumnNotFoundError):
        pa.table(numbers.filter(en.col("nothing") > 1))


@pytest.mark.usefixtures("small")
def test_a_mapped_file(path: Path) -> None:
    en.write(pa.table({"a": np.arange(5_000), "b": np.arange(5_000) / 2}), path, compression=0)
    f = en.open(path, memory_map=True)
    assert len(batches(f)) > 3
    assert pa.table(f).equals(en.read(path))
    scan = f.filter(en.col("a") >= 4_000)
    assert pa.table(scan).equals(en.read(path)[4_000:])


def requests() -> list[tuple[pa.Schema, list[tuple[str, pa.DataType]]]]:
    """Requested schemas, and the columns of the stream."""
    i64, text, large, view = pa.int64(), pa.string(), pa.large_string(), pa.string_view()
    codes, wide = pa.dictionary(pa.int8(), large), pa.dictionary(pa.int32(), text)
    all_of_it = [("a", i64), ("s", large), ("b", pa.large_binary()), ("c", codes)]
    return [
        (pa.schema(all_of_it), all_of_it),
        (pa.schema([("s", large)]), [("s", large)]),
        (pa.schema([("s", text), ("a", i64)]), [("s", text), ("a", i64)]),
        (pa.schema([("s", view), ("b", pa.binary_view())]), [("s", view), ("b", pa.binary_view())]),
        (pa.schema([("b", pa.binary()), ("s", text)]), [("b", pa.binary()), ("s", text)]),
        (pa.schema([("s", wide)]), [("s", wide)]),
        (pa.schema([("c", text)]), [("c", text)]),
        (pa.schema([("c", large), ("s", text)]), [("c", large), ("s", text)]),
        (pa.schema([("c", wide)]), [("c", wide)]),
        (pa.schema([("a", pa.int32())]), [("a", pa.int32())]),
        (pa.schema([("a", pa.uint16())]), [("a", pa.uint16())]),
        # Types that are not honoured.
        (pa.schema([("a", text), ("s", pa.binary())]), [("a", i64), ("s", large)]),
        (pa.schema([("a", pa.float64())]), [("a", i64)]),
        # Requests that are not honoured.
        (pa.schema([("a", pa.int32()), ("nothing", text)]), all_of_it),
        (pa.schema([("a", pa.int32()), ("a", i64)]), all_of_it),
        (pa.schema([]), all_of_it),
    ]


# pyarrow 21 does not cast one type of categories to another.
CASTS_CATEGORIES = int(pa.__version__.partition(".")[0]) > 21


@pytest.mark.parametrize("number", range(len(requests())))
@pytest.mark.usefixtures("small")
def test_requested_schemas(path: Path, number: int) -> None:
    wanted, columns = requests()[number]
    n = 5_000
    whole = pd.DataFrame(
        {
            "a": np.arange(n),
            "s": [f"text {i}" for i in range(n)],
            "b": pd.Series([b"%d" % i for i in range(n)], dtype=pd.ArrowDtype(pa.large_binary())),
            "c": pd.Categorical([f"{i % 9}" for i in range(n)]),
        }
    )
    en.write(whole, path)
    f = en.open(path)
    expected = f.to_pyarrow()
    reader = pa.RecordBatchReader.from_stream(f, schema=wanted)
    if number == 8 and not CASTS_CATEGORIES:
        columns = [("c", expected.schema.field("c").type)]
    assert [(field.name, field.type) for field in reader.schema] == columns
    found = list(reader)
    assert len(found) > 3
    values = pa.Table.from_batches(found)
    values.validate(full=True)
    assert values.to_pydict() == expected.select([name for name, _ in columns]).to_pydict()


def test_requests_for_own_tables_and_scans(numbers: en.File) -> None:
    wanted = pa.schema([("s", pa.large_string())])
    assert pa.table(numbers, schema=wanted).equals(numbers.to_pyarrow().select(["s"]).cast(wanted))
    scan = numbers.scan(filter=en.col("id") < 10, limit=3)
    assert pa.table(scan, schema=wanted)["s"].to_pylist() == ["text 0", "text 1", "text 2"]
    with pytest.raises(pa.ArrowInvalid, match="not in range"):
        pa.table(numbers, schema=pa.schema([("x", pa.int32())]))


@pytest.mark.usefixtures("small")
def test_columns_without_a_type_in_arrow_are_left_out(path: Path) -> None:
    en.write({"a": np.arange(5_000), "z": np.arange(5_000) * 1j}, path)
    f = en.open(path)
    with pytest.warns(UserWarning, match="left out"):
        found = pa.table(f)
    assert found.to_pydict() == {"a": list(range(5_000))}
