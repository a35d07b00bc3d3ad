"""LazyFrames over files, against the same query of Polars on the frame in memory."""

from __future__ import annotations

import datetime
import decimal
import re
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from io_counts import bytes_read
from polars.testing import assert_frame_equal

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLOATS = [0.0, -0.0, 1.0, 0.1, 2.5, -3.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e300, None]
TEXTS = ["", "a", "ab", "é", "x" * 14, "x" * 15, "x" * 15 + "a", "x" * 15 + "b", "\U0010ffff" * 5, None]
BLOCK = 65_536
POINT = pl.Struct({"x": pl.Int64, "y": pl.String})


def frame(n: int) -> pl.DataFrame:
    """A frame with every kind of column that conditions take."""
    random = np.random.default_rng(n)
    day = datetime.datetime(2024, 1, 1)

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in random.integers(0, len(values), n)]

    times = [None, *(day + datetime.timedelta(hours=5 * i) for i in range(9))]
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "i": some([None, *range(-3, 9), 2**62]),
            "f": pl.Series(some(FLOATS), dtype=pl.Float64),
            "f32": pl.Series(some(FLOATS), dtype=pl.Float32),
            "s": pl.Series(some(TEXTS), dtype=pl.String),
            "b": pl.Series(some([True, False, None]), dtype=pl.Boolean),
            "t": pl.Series(some(times), dtype=pl.Datetime("ms")),
            "z": pl.Series(some(times), dtype=pl.Datetime("ns")).dt.replace_time_zone("UTC"),
            "d": pl.Series(some(times), dtype=pl.Datetime("us")).dt.date(),
            "c": pl.Series(some(["u", "v", None]), dtype=pl.Categorical),
            "e": pl.Series(some(["lo", "hi", None]), dtype=pl.Enum(["lo", "mid", "hi"])),
            "m": pl.Series(some([None, decimal.Decimal("1.50"), decimal.Decimal("-2.25")]), dtype=pl.Decimal(10, 2)),
            "p": pl.Series(some([None, {"x": 1, "y": "a"}, {"x": None, "y": "b"}]), dtype=POINT),
            "l": pl.Series(some([None, [], [1], [1, 2, 3]]), dtype=pl.List(pl.Int64)),
            "none": pl.Series([None] * n, dtype=pl.Int32),
        }
    )


CONDITIONS: dict[str, pl.Expr] = {
    "range": pl.col("id").is_between(70_000, 70_020),
    "integers": pl.col("i") > 3,
    "integers and a fraction": pl.col("i") > 3.5,
    "beyond doubles": pl.col("i") == 2**62,
    "nan is greatest": pl.col("f") > 2.5,
    "not nan": pl.col("f").is_nan().not_(),
    "literal nan": pl.col("f") == float("nan"),
    "infinity": pl.col("f") < float("inf"),
    "float32": pl.col("f32") == 0.1,
    "text": pl.col("s") == "x" * 15 + "a",
    "text order": pl.col("s") >= "x" * 15,
    "prefix": pl.col("s").str.starts_with("x"),
    "suffix": pl.col("s").str.ends_with("a"),
    "pattern": pl.col("s").str.contains("^x+$"),
    "members": pl.col("s").is_in(["a", "é", "?"]),
    "missing": pl.col("s").is_null(),
    "boolean": pl.col("b"),
    "not boolean": ~pl.col("b"),
    "time": pl.col("t") >= datetime.datetime(2024, 1, 1, 10),
    "zoned": pl.col("z") < datetime.datetime(2024, 1, 1, 10, tzinfo=datetime.UTC),
    "date": pl.col("d") == datetime.date(2024, 1, 2),
    "category": pl.col("c") == "u",
    "enum order": pl.col("e") > "lo",
    "decimal": pl.col("m") == decimal.Decimal("1.50"),
    "field": pl.col("p").struct.field("x") == 1,
    "length": pl.col("l").list.len() > 1,
    "all missing": pl.col("none") > 1,
    "arithmetic": pl.col("i") % 2 == 0,
    "two columns": pl.col("i") > pl.col("f"),
    "some of it": (pl.col("i") > 3) & (pl.col("i") % 2 == 0) & pl.col("s").is_not_null(),
    "or": (pl.col("i") > 3) | (pl.col("s") == "a"),
    "or of it": (pl.col("i") > 3) | (pl.col("i") % 2 == 0),
    "xor": (pl.col("i") > 3) ^ pl.col("b"),
    "cast": pl.col("i").cast(pl.Float64) > 3.5,
    "year": pl.col("t").dt.year() == 2024,
    "nothing": pl.col("id") < 0,
    "everything": pl.col("id") >= 0,
}


@pytest.fixture(scope="module", params=[0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 200_000])
def both(request, tmp_path_factory) -> tuple[pl.DataFrame, en.File]:
    whole = frame(request.param)
    path = tmp_path_factory.mktemp("lazy") / "frame.entasis"
    en.write(whole, path)
    return whole, en.open(path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(both: tuple[pl.DataFrame, en.File], name: str) -> None:
    whole, f = both
    condition = CONDITIONS[name]
    assert_frame_equal(f.lazy().filter(condition).collect(), whole.lazy().filter(condition).collect())
    assert f.lazy().filter(condition).select(pl.len()).collect().item() == len(whole.filter(condition))


QUERIES: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "all": lambda q: q,
    "columns": lambda q: q.select("s", "id"),
    "no column": lambda q: q.select(pl.len()),
    "head": lambda q: q.head(5),
    "tail": lambda q: q.tail(5),
    "slice": lambda q: q.slice(65_530, 10),
    "slice from the end": lambda q: q.slice(-70_000, 5),
    "beyond the end": lambda q: q.slice(199_998, 10),
    "row index": lambda q: q.with_row_index("n", 7),
    "head, filter": lambda q: q.head(70_000).filter(pl.col("id") >= 69_990),
    "filter, head": lambda q: q.filter(pl.col("i") > 3).head(3),
    "filter, tail": lambda q: q.filter(pl.col("i") > 3).tail(3),
    "filter, slice": lambda q: q.filter(pl.col("i") > 3).slice(2, 4),
    "slice, filter": lambda q: q.slice(10, 100_000).filter(pl.col("i") > 3).select("id"),
    "tail, filter": lambda q: q.tail(70_000).filter(pl.col("i") > 7).select("id"),
    "row index, filter": lambda q: q.with_row_index("n").filter(pl.col("n") > 65_530, pl.col("i") > 3),
    "filter, row index": lambda q: q.filter(pl.col("i") > 3).with_row_index("n"),
    "slice, row index": lambda q: q.slice(65_530, 20).with_row_index("n"),
    "sort, head": lambda q: q.sort("id", descending=True).head(3),
    "filter on another column": lambda q: q.filter(pl.col("i") > 3).select("s"),
    "two filters": lambda q: q.filter(pl.col("i") > 3).filter(pl.col("b")).select("id", "b"),
    "groups": lambda q: q.group_by("c").agg(pl.len(), pl.col("id").sum()).sort("c"),
    "self join": lambda q: q.filter(pl.col("id") < 50).join(q.filter(pl.col("i") > 3), on="id"),
    "concat": lambda q: pl.concat([q.head(3), q.tail(3)]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("name", QUERIES)
def test_queries(both: tuple[pl.DataFrame, en.File], name: str, streaming: bool) -> None:
    whole, f = both
    query = QUERIES[name]
    engine: Any = "streaming" if streaming else "in-memory"
    expected = query(whole.lazy()).collect()
    lazy = f.lazy()
    for _ in range(2):
        assert_frame_equal(query(lazy).collect(engine=engine), expected, check_row_order=name != "self join")


def test_views_and_scans(tmp_path: Path) -> None:
    whole = frame(100_000)
    en.write(whole, tmp_path / "frame.entasis")
    f = en.open(tmp_path / "frame.entasis")
    condition = pl.col("i") > 3
    some = np.random.default_rng(1).permutation(100_000)[:30_000]
    step = whole[10_000:90_000:7]
    for view, part in [
        (f[10_000:90_000], whole[10_000:90_000]),
        (f[10_000:90_000:7], step),
        (f[some], whole[some]),
        (f.select("s", "id", "i"), whole.select("s", "id", "i")),
        (f[[3, 1, 3]], whole[[3, 1, 3]]),
    ]:
        lazy = view.lazy()
        assert_frame_equal(lazy.collect(), part)
        assert_frame_equal(lazy.filter(condition).collect(), part.filter(condition))
        assert_frame_equal(lazy.tail(4).with_row_index().collect(), part.lazy().tail(4).with_row_index().collect())
        index = part.with_row_index().filter(condition)
        assert_frame_equal(lazy.with_row_index().filter(condition).collect(), index)
    scan = (
        f.filter(en.col("s") == "a").scan(limit=900)
        if hasattr(en.Scan, "scan")
        else f.scan(filter=en.col("s") == "a", limit=900)
    )
    expected = whole.filter(pl.col("s") == "a").head(900)
    assert_frame_equal(scan.lazy().collect(), expected)
    assert_frame_equal(scan.lazy().filter(condition).tail(3).collect(), expected.filter(condition).tail(3))
    assert_frame_equal(en.scan_polars(tmp_path / "frame.entasis").head(2).collect(), whole.head(2))


def test_explanations_name_what_is_pushed(tmp_path: Path) -> None:
    en.write(frame(10), tmp_path / "frame.entasis")
    text = en.scan_polars(tmp_path / "frame.entasis").filter(pl.col("i") > 3).select("s").explain()
    assert "frame.entasis" in text
    assert "PROJECT 2/15 COLUMNS" in text
    assert re.search(r'SELECTION: .*col\("i"\)\)? > \(?3', text), text


def test_few_rows_read_few_bytes(tmp_path: Path) -> None:
    n = 6_000_000
    whole = pl.DataFrame({f"c{i}": np.random.default_rng(i).integers(0, 2**40, n) for i in range(2)})
    whole = whole.with_columns(id=np.arange(n))
    en.write(whole, tmp_path / "frame.entasis")
    lazy, size = en.scan_polars(tmp_path / "frame.entasis"), (tmp_path / "frame.entasis").stat().st_size
    for query, most in [
        (lazy.head(5), 1_000_000),
        (lazy.select(pl.len()), 10_000),
        (lazy.filter(pl.col("id") == 1_234_567).select("c1"), 1_500_000),
        (lazy.filter(pl.col("id") == -1), 400_000),
        # Polars asks for a few batches ahead.
        (lazy.filter(pl.col("c0") >= 0).head(1), size // 2),
    ]:
        query.collect(engine="streaming")
        before = bytes_read()
        query.collect(engine="streaming")
        assert bytes_read() - before <= most, query.explain()


def test_frames_of_other_libraries(tmp_path: Path) -> None:
    times = pd.date_range("2024-01-01", periods=200, name="day")
    df = pd.DataFrame({"f": [1.5, np.nan] * 100, "s": ["a", None] * 100, 5: range(200)}, index=times)
    en.write(df, tmp_path / "pandas.entasis")
    f = en.open(tmp_path / "pandas.entasis")
    eager = f.to_polars()
    for condition in (
        pl.col("day") > datetime.datetime(2024, 3, 1),
        pl.col("f").is_null(),
        pl.col("f").is_nan(),
        pl.col("s").is_null(),
        pl.col("5") < 20,
    ):
        assert_frame_equal(f.lazy().filter(condition).collect(), eager.filter(condition))
    table = pa.table({"a": [1, None, 3], "b": pa.array(["x", "y", None]).dictionary_encode()})
    en.write(table, tmp_path / "arrow.entasis")
    f = en.open(tmp_path / "arrow.entasis")
    assert_frame_equal(f.lazy().filter(pl.col("b") == "y").collect(), f.to_polars().filter(pl.col("b") == "y"))


def test_damage_is_reported_where_it_is_read(tmp_path: Path) -> None:
    whole = pl.DataFrame({"id": np.arange(200_000), "x": np.random.default_rng(1).random(200_000)})
    path = tmp_path / "frame.entasis"
    en.write(whole, path, compression=0)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    lazy = en.scan_polars(path)
    assert_frame_equal(lazy.filter(pl.col("id") < 9).collect(), whole.head(9))
    with pytest.raises(en.CorruptFileError, match="checksum"):
        lazy.collect()
    with pytest.raises(en.MissingFileError):
        en.scan_polars(tmp_path / "none.entasis")


def test_threads_share_a_file(tmp_path: Path) -> None:
    whole = frame(150_000)
    en.write(whole, tmp_path / "frame.entasis")
    lazy = en.scan_polars(tmp_path / "frame.entasis")
    expected = whole.filter(pl.col("i") > 3)
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for _ in range(3):
                assert_frame_equal(lazy.filter(pl.col("i") > 3).collect(), expected)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_batches_can_be_written(tmp_path: Path) -> None:
    whole = frame(150_000)
    en.write(whole, tmp_path / "frame.entasis")
    lazy = en.scan_polars(tmp_path / "frame.entasis").filter(pl.col("i") > 3)
    with en.writer(tmp_path / "out.entasis") as w:
        lazy.sink_batches(w.write)
    assert_frame_equal(en.read(tmp_path / "out.entasis"), whole.filter(pl.col("i") > 3))


WRITTEN: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "filter": lambda lazy: lazy.filter(pl.col("i") > 3),
    "no rows": lambda lazy: lazy.filter(pl.col("id") < 0),
    "groups": lambda lazy: lazy.group_by("s").agg(pl.len(), pl.col("l")).sort("s"),
    "new categories": lambda lazy: lazy.select(pl.col("id").cast(pl.String).cast(pl.Categorical)),
}


@pytest.mark.parametrize("query", WRITTEN)
def test_sinks_of_a_schema_equal_collect(tmp_path: Path, query: str) -> None:
    path = tmp_path / "frame.entasis"
    en.write(frame(70_000), path)
    lazy = WRITTEN[query](en.scan_polars(path))
    wanted = lazy.collect()
    # The file that is read is also the one that is replaced.
    with en.writer(path, schema=lazy.collect_schema()) as w:
        lazy.sink_batches(w.write, chunk_size=30_000)
    assert_frame_equal(en.read(path), wanted)


def test_a_sink_that_fails_leaves_the_file(tmp_path: Path) -> None:
    def fail(a: int) -> int:
        return 1 // a

    path = tmp_path / "frame.entasis"
    en.write(frame(10), path)
    lazy = pl.LazyFrame({"a": [1, 0]}).select(pl.col("a").map_elements(fail, return_dtype=pl.Int64))
    with pytest.raises(ZeroDivisionError), en.writer(path) as w:
        lazy.sink_batches(w.write)
    with pytest.raises(en.ArgumentError, match="nothing was written"), en.writer(path) as w:
        lazy.filter(pl.lit(False)).sink_batches(w.write)
    assert_frame_equal(en.read(path), frame(10))


def test_values_that_are_no_frames(tmp_path: Path) -> None:
    en.write({"a": [1, 2]}, tmp_path / "tree.entasis")
    with pytest.raises(en.NotAFrameError, match="lazy is for frames"):
        en.scan_polars(tmp_path / "tree.entasis")
    tree = en.open(tmp_path / "tree.entasis")
    assert not hasattr(tree, "to_dataset")
    assert not hasattr(tree, "batches")


def test_closed_and_mapped_files(tmp_path: Path) -> None:
    whole = pl.DataFrame({"a": np.arange(100_000), "b": np.arange(100_000) / 3})
    en.write(whole, tmp_path / "frame.entasis", compression=0)
    with en.open(tmp_path / "frame.entasis") as f:
        lazy = f.lazy()
    condition = pl.col("a").is_in([5, 70_000])
    assert_frame_equal(lazy.filter(condition).collect(), whole.filter(condition))
    mapped = en.open(tmp_path / "frame.entasis", memory_map=True).lazy()
    assert_frame_equal(mapped.filter(condition).collect(), whole.filter(condition))


def test_wide_frames_come_in_small_batches(tmp_path: Path) -> None:
    from entasis._engines.windows import Sizes, windows

    whole = pl.DataFrame({f"c{i}": np.full(20_000, i % 200, "u1") for i in range(3_000)})
    en.write(whole, tmp_path / "frame.entasis")
    f = en.open(tmp_path / "frame.entasis")
    n_rows = [len(window.rows) for window in windows(f._view, None, Sizes(3_000))]
    assert sum(n_rows) == 20_000
    assert max(n_rows) <= (1 << 22) // 3_000
    assert_frame_equal(f.lazy().collect(), whole)
