"""A frame that is written batch by batch equals the batches together."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf
from frames_same import assert_frame_equal
from polars.testing import assert_frame_equal as assert_polars
from tiers import by_tier

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "frame.entasis")


def frame(start: int, stop: int) -> pd.DataFrame:
    r = np.arange(start, stop)
    return pd.DataFrame(
        {
            "i": r,
            "f": r * 0.5,
            "s": [f"text {i % 50}" for i in r],
            "c": pd.Categorical([f"kind {i // 50_000}" for i in r]),
            "n": pd.array([None if i % 3 == 0 else i for i in r], dtype="Int64"),
        }
    )


MAKES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda df: df,
    "polars": lambda df: pl.from_pandas(df.drop(columns="c")),
    "pyarrow": lambda df: pa.Table.from_pandas(df.drop(columns="c"), preserve_index=False).replace_schema_metadata(),
    "numpy": lambda df: {name: df[name].to_numpy() for name in ("i", "f")},
    "static_frame": lambda df: sf.Frame.from_dict({name: df[name].to_numpy() for name in ("i", "f")}),
}
ENDS = [
    [0, 10, 11, 2000],
    [0, 65_536, 131_072, 140_000],
    [0, 1, 70_000, 70_001, 200_000, 200_003],
]


def together(parts: list[Any]) -> Any:
    if isinstance(parts[0], pd.DataFrame):
        # As `append`: the categories of all parts.
        from pandas.api.types import union_categoricals

        whole = pd.concat([part.drop(columns="c") for part in parts], ignore_index=True)
        whole.insert(3, "c", union_categoricals([part["c"] for part in parts]))
        return whole
    if isinstance(parts[0], pl.DataFrame):
        return pl.concat(parts)
    if isinstance(parts[0], pa.Table):
        return pa.concat_tables(parts)
    if isinstance(parts[0], dict):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return sf.Frame.from_concat(parts, index=sf.IndexAutoFactory)


def assert_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(found, pd.DataFrame):
        assert_frame_equal(found, wanted)
    elif isinstance(found, pl.DataFrame):
        assert_polars(found, wanted)
    elif isinstance(found, dict):
        for name, array in found.items():
            np.testing.assert_array_equal(array, wanted[name], strict=True)
    else:
        assert found.equals(wanted)


@pytest.mark.parametrize("ends", ENDS, ids=lambda ends: str(ends[-1]))
@pytest.mark.parametrize("host", MAKES)
def test_batches_come_back_together(host: str, ends: list[int], path: str) -> None:
    parts = [MAKES[host](frame(start, stop)) for start, stop in pairwise(ends)]
    with en.writer(path) as w:
        for part in parts:
            assert not Path(path).exists()
            w.write(part)
    wanted = together(parts)
    assert_same(en.read(path), wanted)
    assert [(g.operation, g.rows) for g in en.generations(path)] == [("write", ends[-1])]
    en.verify(path)
    with en.writer(path, append=True) as w:
        for part in parts:
            w.write(part)
            assert len(en.open(path)) == ends[-1]
    assert_same(en.read(path), together([*parts, *parts]))
    generations = [(g.operation, g.rows) for g in en.generations(path)]
    assert generations[-1] == ("append", 2 * ends[-1])
    if ends[-1] > 100_000 and host != "static_frame":
        assert len(generations) == 2
    en.verify(path)
    en.append(parts[0], path)
    en.verify(path)
    assert len(en.open(path)) == 2 * ends[-1] + ends[1]


def test_batches_of_many_kinds(path: str) -> None:
    table = pa.table({"a": np.arange(100_000), "b": np.arange(100_000) * 0.5})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=999))
    with en.writer(path) as w:
        w.write(reader)
        w.write(table.to_batches()[0])
        w.write(batch for batch in table.to_batches(max_chunksize=50_000))
    assert en.read(path).equals(pa.concat_tables([table] * 3))
    other = path + "2"
    with en.writer(other) as w:
        w.write(en.open(path))
        w.write(en.open(path)[:10])
    assert en.read(other).equals(pa.concat_tables([*[table] * 3, table.slice(0, 10)]))
    lazy = pl.LazyFrame({"a": range(200_000)})
    if hasattr(lazy, "sink_batches"):
        with en.writer(path) as w:
            lazy.sink_batches(w.write)
        assert_polars(en.read(path), lazy.collect())


def test_a_batch_may_change_after_it_was_written(path: str) -> None:
    values = np.arange(10)
    with en.writer(path) as w:
        for _ in range(3):
            w.write({"a": values})
            values += 100
    assert en.read(path)["a"].tolist() == [*range(10), *range(100, 110), *range(200, 210)]


def test_columns_of_objects_are_written_at_the_end(path: str) -> None:
    parts = [pd.DataFrame({"o": [(1, 2), {"a": k}], "i": [k, k]}) for k in range(3)]
    with en.writer(path) as w:
        for part in parts:
            w.write(part)
    assert_frame_equal(en.read(path), pd.concat(parts, ignore_index=True))
    with en.writer(path, append=True) as w:
        w.write(parts[0])
        w.write(parts[1])
    assert_frame_equal(en.read(path), pd.concat([*parts, *parts[:2]], ignore_index=True))


def test_rows_that_cannot_follow_end_the_writer(path: str) -> None:
    en.write({"old": np.arange(3)}, path)
    n = 16 * 65_536
    w = en.writer(path)
    w.write(pd.DataFrame({"a": np.arange(n)}, index=pd.RangeIndex(5, 5 + n)))
    with pytest.raises(en.ArgumentError, match="the index is int64 in the file and float64"):
        w.write(pd.DataFrame({"a": [1]}, index=[0.5]))
    other = pd.DataFrame({"a": np.arange(n)}, index=pd.Index(np.arange(n) * 2))
    w.write(other)
    w.abort()
    with pytest.raises(en.ClosedFileError):
        w.write(other)
    w.close()
    assert list(en.read(path)) == ["old"]
    en.write(sf.Frame.from_dict({"a": [1, 2]}), path)
    with en.writer(path, append=True):
        pass
    assert en.read(path).shape == (2, 1)


def test_labels_of_rows(path: str) -> None:
    r = np.arange(150_000)
    df = pd.DataFrame({"a": r}, index=pd.Index(r * 2 % 777, name="key"))
    far = pd.DataFrame({"a": r}, index=pd.RangeIndex(5, 5 + 3 * len(r), 3))
    for whole in (df, far, df.reset_index(drop=True)):
        with en.writer(path) as w:
            for start in range(0, len(r), 40_000):
                w.write(whole[start : start + 40_000])
        assert_frame_equal(en.read(path), whole)
    with en.writer(path) as w:
        w.write(df)
        with pytest.raises(en.ArgumentError, match="index is named"):
            w.write(df.rename_axis("other"))


def test_a_schema_without_rows(path: str) -> None:
    schema = pa.schema({"a": pa.int64(), "b": pa.string()})
    with en.writer(path, schema):
        pass
    assert en.read(path).schema.equals(schema)
    with en.writer(path, schema) as w:
        w.write(pa.table({"b": ["x"], "a": pa.array([1], pa.int32())}))
    assert en.read(path).equals(pa.table({"a": [1], "b": ["x"]}))
    with en.writer(path, pl.Schema({"a": pl.Int64})) as w:
        w.write(pl.DataFrame({"a": pl.Series([1], dtype=pl.Int8)}))
    assert_polars(en.read(path), pl.DataFrame({"a": [1]}))


def test_errors_leave_the_file(path: str) -> None:
    en.write({"a": np.arange(5)}, path)
    before = Path(path).read_bytes()
    with pytest.raises(ZeroDivisionError), en.writer(path) as w:
        w.write({"a": np.arange(k, 200_000 // k)} for k in (1, 0))
    with pytest.raises(en.ArgumentError, match="nothing was written"), en.writer(path):
        pass
    w = en.writer(path)
    w.write({"a": np.arange(5, dtype="i2")})
    with pytest.raises(en.ColumnNotFoundError):
        w.write({"b": np.arange(5)})
    with pytest.raises(en.ArgumentError, match=r"column 'a' is int16 .* widen=True makes it int64"):
        w.write({"a": np.arange(5) << 20})
    with pytest.raises(en.ArgumentError):
        w.write(7)
    w.abort()
    with pytest.raises(en.ClosedFileError):
        w.write({"a": np.arange(5)})
    w.close()
    assert "closed" in repr(w)
    first = en.writer(path)
    first.write({"a": np.arange(5)})
    with pytest.raises(en.BusyError):
        en.writer(path, wait=0)
    first.abort()
    assert [entry.name for entry in Path(path).parent.iterdir()] == ["frame.entasis"]
    en.write({"a": np.arange(5)}, path)
    assert Path(path).read_bytes() == before


MEMORY = """
import resource, sys
import numpy as np
import entasis as en

n = int(sys.argv[2])
batch = {name: np.random.default_rng(k).random(65_536) for k, name in enumerate("abcdefgh")}
with en.writer(sys.argv[1]) as w:
    for _ in range(4):
        w.write(batch)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(n):
        w.write(batch)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(path: str) -> None:
    # 1.6 GB of values.
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, path, "400"], check=True, capture_output=True, text=True, timeout=600
    )
    assert len(en.open(path)) == 404 * 65_536
    assert int(done.stdout) < 256 << 10, "KiB beyond the first batches"


def long_values() -> list[Any]:
    """Frames that are written in several batches when they come from a file."""
    n = 150_000
    k = np.arange(n)
    text = [f"text {i % 999}" for i in range(n)]
    df = pd.DataFrame({"i": k, "f": k / 7, "s": text, "c": pd.Categorical.from_codes(k % 3, ["x", "y", "z"])})
    df.attrs = {"unit": "m"}
    named = df.rename(columns=dict(zip(df.columns, [2020, 2021, 2022, 2023], strict=True)))
    named.columns.name = "year"
    return [
        df,
        named,
        df.set_axis(pd.RangeIndex(7, 7 + 2 * n, 2, name="odd")),
        df.set_axis(pd.date_range("2020-01-01", periods=n, freq="min", tz="Europe/Zurich")),
        df.set_index("s"),
        df.set_axis(pd.MultiIndex.from_arrays([k // 100, k % 100], names=["a", "b"])),
        df["s"],
        pd.Index(k * 2, name="even"),
        df.assign(o=[(i,) for i in range(n)]),
        pl.DataFrame({"i": k, "s": text, "e": pl.Series(text).cast(pl.Categorical)}),
        pa.table({"i": k, "s": text, "d": pa.array(text).dictionary_encode(), "l": [[1, 2]] * n}),
        {"i": k, "m": k / 3, "s": np.array(text)},
        sf.Frame.from_dict({"i": k, "s": text}),
    ]


def is_same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return list(a) == list(b) and all((a[key] == b[key]).all() and a[key].dtype == b[key].dtype for key in a)
    if isinstance(a, pd.DataFrame):
        assert_frame_equal(a, b, check_freq=True, check_categorical=True)
        return bool(a.attrs == b.attrs and type(a.index) is type(b.index))
    return bool(a.equals(b))


@pytest.mark.slow
def test_files_and_views_are_written_in_batches(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from entasis._grow import writer

    monkeypatch.setattr(writer, "_BYTES", 1)
    batches = 0
    put = writer.Writer._put

    def counted(self: Any, part: Any) -> None:
        nonlocal batches
        batches += 1
        put(self, part)

    monkeypatch.setattr(writer.Writer, "_put", counted)
    other = path + "-2"
    for value in long_values()[:: by_tier(3, 1)]:
        en.write(value, path)
        batches = 0
        en.write(en.open(path), other)
        has_objects = type(value) is pd.DataFrame and "o" in value.columns
        has_levels = isinstance(getattr(value, "index", None), pd.MultiIndex)
        assert batches == (0 if has_objects or has_levels or type(value) is sf.Frame else 3)
        assert is_same(en.read(other), en.read(path))
        en.verify(other)
        view = en.open(path)[10:140_000]
        en.write(view, other)
        assert is_same(en.read(other), view.read())


COPY = """
import resource, sys
import entasis as en

en.write(en.open(sys.argv[1])[:100], sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
en.write(en.open(sys.argv[1]), sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_file_is_copied_in_bounded_memory(path: str) -> None:
    n = 4_000_000
    whole = {name: np.random.default_rng(k).random(n) for k, name in enumerate("abcdefgh")}
    en.write(whole, path, compression=0)
    other = path + "-2"
    done = subprocess.run(
        [sys.executable, "-c", COPY, path, other], check=True, capture_output=True, text=True, timeout=600
    )
    assert int(done.stdout) < 160 << 10, "KiB, of 250 MiB of values"
    assert is_same(en.read(other), whole)


def test_streams_are_written_batch_by_batch(path: str) -> None:
    table = pa.table({"a": np.arange(300_000), "s": [f"text {i % 9}" for i in range(300_000)], "l": [[1, 2]] * 300_000})
    table = table.replace_schema_metadata({"key": "value"})
    seen = 0

    def batches() -> Any:
        nonlocal seen
        for batch in table.to_batches(max_chunksize=10_000):
            seen += batch.num_rows
            yield batch

    en.write(pa.RecordBatchReader.from_batches(table.schema, batches()), path)
    assert seen == 300_000
    assert en.read(path).equals(table, check_metadata=True)
    coded = pa.table(
        {"c": pa.chunked_array([pa.array(["x"]).dictionary_encode(), pa.array(["y"]).dictionary_encode()])}
    )
    en.write(pa.RecordBatchReader.from_batches(coded.schema, coded.to_batches()), path)
    assert en.read(path)["c"].to_pylist() == ["x", "y"]
    en.write(pa.RecordBatchReader.from_batches(table.schema, []), path)
    assert en.read(path).equals(table.slice(0, 0))
