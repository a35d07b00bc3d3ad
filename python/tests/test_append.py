"""Appending: the file holds what the library's own concatenation holds, or is unchanged."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf
from io_counts import bytes_read
from polars.testing import assert_frame_equal

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "rows.entasis")


def frame(n: int, start: int = 0) -> pd.DataFrame:
    """A frame with columns of many types, whose rows are in place or bundled depending on `n`."""
    rows = np.arange(start, start + n)
    return pd.DataFrame(
        {
            "int": rows,
            "small": (rows % 100).astype("int8"),
            "float": np.where(rows % 7 == 0, np.nan, rows / 3),
            "text": pd.array([None if row % 11 == 0 else f"text {row % 13}" for row in rows], dtype="str"),
            "time": pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(rows, unit="h"),
            "nullable": pd.array([None if row % 5 == 0 else row for row in rows], dtype="Int32"),
            "flag": rows % 3 == 0,
            "kind": pd.Categorical.from_codes(rows % 2, ["x", "y"]),
        }
    )


SIZES = [(0, 3), (6, 0), (6, 3), (9000, 4), (70_000, 100), (70_000, 80_000)]


@pytest.mark.parametrize(("n", "more"), SIZES)
def test_frames_of_pandas(path: str, n: int, more: int) -> None:
    old, new = frame(n), frame(more, n)
    en.write(old, path)
    assert en.append(new, path) == []
    pd.testing.assert_frame_equal(en.read(path), pd.concat([old, new], ignore_index=True))
    en.verify(path)


@pytest.mark.parametrize(("n", "more"), SIZES)
def test_frames_of_polars_and_pyarrow(path: str, n: int, more: int) -> None:
    old, new = pl.from_pandas(frame(n)), pl.from_pandas(frame(more, n))
    old = old.with_columns(nested=pl.Series([[1, 2]] * n, dtype=pl.List(pl.Int64)))
    new = new.with_columns(nested=pl.Series([[row] for row in range(more)], dtype=pl.List(pl.Int64)))
    en.write(old, path)
    assert en.append(new, path) == []
    assert_frame_equal(en.read(path), pl.concat([old, new]), check_exact=True)
    table, more_rows = old.to_arrow(), new.to_arrow()
    en.write(table, path)
    assert en.append(more_rows, path) == []
    found, wanted = en.read(path), pa.concat_tables([table, more_rows])
    assert found.cast(wanted.schema).equals(wanted)


def test_many_appends_to_one_file(path: str) -> None:
    whole = frame(30_000)
    en.write(whole[:20_000], path)
    ends = [20_000, *range(20_001, 20_100), 25_000, 30_000]
    for start, end in pairwise(ends):
        en.append(whole[start:end], path, durable=False)
    pd.testing.assert_frame_equal(en.read(path), whole)
    pd.testing.assert_frame_equal(en.read(path, rows=(19_990, 20_050)), whole[19_990:20_050])
    assert en.info(path).generation == len(ends)
    en.verify(path)


def test_columns_in_another_order_and_filled(path: str) -> None:
    old = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    en.write(old, path)
    en.append(pd.DataFrame({"b": ["z"], "a": [3.0]}), path)
    with pytest.raises(en.ColumnNotFoundError, match=r"no column 'a'.*fill=True"):
        en.append(pd.DataFrame({"b": ["q"]}), path)
    with pytest.raises(en.ColumnNotFoundError, match="the file has no column 'c'"):
        en.append(pd.DataFrame({"b": ["q"], "a": [1.0], "c": [1]}), path)
    en.append(pd.DataFrame({"b": ["q"]}), path, fill=True)
    pd.testing.assert_frame_equal(
        en.read(path), pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan], "b": ["x", "y", "z", "q"]})
    )


WIDER = [
    (np.array([1, 2], "int32"), np.array([3], "int8"), "int32"),
    (np.array([1, 2], "int8"), np.array([300], "int64"), "int64"),
    (np.array([1, 2], "uint8"), np.array([300], "uint16"), "uint16"),
    (np.array([1, 2], "float32"), np.array([0.1], "float64"), "float64"),
    (np.array([1, 2], "M8[s]"), np.array([3], "M8[ns]"), "M8[ns]"),
    (np.array([1, 2], "m8[us]"), np.array([3], "m8[ms]"), "m8[us]"),
]


@pytest.mark.parametrize(("old", "new", "dtype"), WIDER)
def test_wider_types(path: str, old: Any, new: Any, dtype: str) -> None:
    for make in (lambda array: pd.DataFrame({"a": array}), lambda array: {"a": array}):
        en.write(make(old), path)
        if old.dtype != dtype:
            with pytest.raises(en.ArgumentError, match=r"does not hold .* in row 0; widen=True makes it"):
                en.append(make(new), path)
        anew = en.append(make(new), path, widen=True)
        assert anew == ([] if old.dtype == dtype else ["a"])
        found = en.read(path)["a"]
        assert found.dtype == dtype
        assert (np.asarray(found) == np.concatenate([old, new]).astype(dtype)).all()


REFUSED = [
    (np.array([1]), np.array([1.5])),
    (np.array([1]), np.array([1 << 63], "uint64")),
    (np.array(["a"], object), np.array([1])),
    (np.array([1], "M8[s]"), np.array([1], "m8[s]")),
    (np.array([True]), np.array([1])),
]


@pytest.mark.parametrize(("old", "new"), REFUSED)
def test_other_types_are_refused_by_column(path: str, old: Any, new: Any) -> None:
    values: list[Callable[[Any], Any]] = [
        lambda array: pd.DataFrame({"a": array}),
        lambda array: {"a": array},
        lambda array: pl.DataFrame({"a": pl.Series(array.tolist() if array.dtype == object else array)}),
    ]
    for make in values if old.dtype.kind != "M" else values[:2]:
        en.write(make(old), path)
        before = Path(path).read_bytes()
        with pytest.raises(en.ArgumentError, match=r"column 'a' is .* in the file and .* in the rows"):
            en.append(make(new), path)
        assert Path(path).read_bytes() == before


def test_categories_are_united(path: str) -> None:
    for n in (2, 9000):
        old = pd.DataFrame({"a": pd.Categorical(["x", "y"] * (n // 2))})
        new = pd.DataFrame({"a": pd.Categorical(["z", "y", None], categories=["z", "y"])})
        en.write(old, path)
        assert en.append(new, path) == []
        from pandas.api.types import union_categoricals

        pd.testing.assert_series_equal(
            en.read(path)["a"], pd.Series(union_categoricals([old["a"], new["a"]]), name="a")
        )
    ordered = pd.DataFrame({"a": pd.Categorical(["x"], categories=["x", "y"], ordered=True)})
    en.write(ordered, path)
    en.append(ordered, path)
    with pytest.raises(en.ArgumentError, match="column 'a'"):
        en.append(pd.DataFrame({"a": pd.Categorical(["x"], categories=["y", "x"], ordered=True)}), path)
    assert en.read(path)["a"].tolist() == ["x", "x"]


INDEXES = [
    (pd.RangeIndex(3), pd.RangeIndex(2), pd.RangeIndex(5)),
    (pd.RangeIndex(10, 16, 2), pd.RangeIndex(16, 20, 2), pd.RangeIndex(10, 20, 2)),
    (pd.RangeIndex(1, 4), pd.RangeIndex(2), pd.Index([1, 2, 3, 0, 1])),
    (pd.Index(["a", "b", "c"]), pd.Index(["d", "a"]), pd.Index(["a", "b", "c", "d", "a"])),
    (pd.RangeIndex(3), pd.Index([7, 9]), pd.Index([0, 1, 2, 7, 9])),
    (
        pd.date_range("2024", periods=3, freq="D"),
        pd.date_range("2024-01-04", periods=2, freq="D"),
        pd.date_range("2024", periods=5, freq="D"),
    ),
    (
        pd.date_range("2024", periods=3, freq="D", tz="UTC"),
        pd.date_range("2024-01-05", periods=2, freq="D", tz="UTC"),
        pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-05", "2024-01-06"], tz="UTC"),
    ),
    (
        pd.date_range("2024", periods=3, freq="D"),
        pd.DatetimeIndex(["2024-01-04", "2024-01-05"]),
        pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"]),
    ),
    (
        pd.DatetimeIndex(["2024-01-01"]),
        pd.date_range("2024-01-02", periods=2, freq="D"),
        pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03"]),
    ),
    (
        pd.date_range("2024", periods=0, freq="h"),
        pd.date_range("2024-01-02", periods=2, freq="D"),
        pd.date_range("2024-01-02", periods=2, freq="D"),
    ),
    (
        pd.timedelta_range("1h", periods=3, freq="2h"),
        pd.timedelta_range("7h", periods=2, freq="2h"),
        pd.timedelta_range("1h", periods=5, freq="2h"),
    ),
    (
        pd.date_range("2024", periods=3, freq="MS"),
        pd.date_range("2024-04-01", periods=2, freq="MS"),
        pd.date_range("2024", periods=5, freq="MS"),
    ),
    (
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 2)], names=["k", "n"]),
        pd.MultiIndex.from_tuples([("c", 1), ("a", 7)], names=["k", "n"]),
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 2), ("c", 1), ("a", 7)], names=["k", "n"]),
    ),
]


@pytest.mark.parametrize(("old", "new", "whole"), INDEXES)
def test_indexes_of_pandas(path: str, old: Any, new: Any, whole: Any) -> None:
    first = pd.DataFrame({"a": np.arange(len(old))}, index=old)
    second = pd.DataFrame({"a": np.arange(len(new))}, index=new)
    first.attrs = {"unit": "m"}
    en.write(first, path)
    anew = en.append(second, path)
    is_stored = isinstance(old, pd.RangeIndex) and type(whole) is not pd.RangeIndex
    is_labelled = type(old) in (pd.Index, pd.DatetimeIndex, pd.TimedeltaIndex) and old.dtype == new.dtype
    is_plain = type(whole) is pd.RangeIndex or is_labelled
    assert anew == ([None] if is_stored else [] if is_plain else ["a"])
    found = en.read(path)
    pd.testing.assert_frame_equal(found, pd.concat([first, second]).set_axis(whole))
    pd.testing.assert_index_equal(found.index, whole, exact=True)
    assert found.attrs == {"unit": "m"}
    assert getattr(found.index, "freq", None) == getattr(whole, "freq", None)


def test_other_names_of_the_index_are_refused(path: str) -> None:
    en.write(pd.DataFrame({"a": [1]}, index=pd.Index([3], name="k")), path)
    with pytest.raises(en.ArgumentError, match="index is named"):
        en.append(pd.DataFrame({"a": [1]}), path)


def test_series_indexes_and_arrays(path: str) -> None:
    en.write(pd.Series([1, 2], name="s"), path)
    en.append(pd.Series([3]), path)
    pd.testing.assert_series_equal(en.read(path), pd.Series([1, 2, 3], name="s"))
    en.write(pd.Index(["a", "b"], name="i"), path)
    en.append(pd.Index(["c"]), path)
    pd.testing.assert_index_equal(en.read(path), pd.Index(["a", "b", "c"], name="i"))
    en.write(np.eye(2), path)
    en.append(np.ones((1, 2)), path)
    assert (en.read(path) == np.concatenate([np.eye(2), np.ones((1, 2))])).all()
    en.write({"a": np.array(["x"]), "b": np.arange(1)}, path)
    en.append({"b": np.arange(2), "a": np.array(["long", "y"])}, path, widen=True)
    found = en.read(path)
    assert found["a"].dtype == "<U4"
    assert (found["a"].tolist(), found["b"].tolist()) == (["x", "long", "y"], [0, 0, 1])
    en.write(pl.Series("p", [1]), path)
    en.append(pl.Series("q", [2]), path)
    assert en.read(path).to_list() == [1, 2]


def test_frames_of_static_frame(path: str) -> None:
    old, new = (
        sf.Frame.from_records([(1, "x"), (2, "y")], columns=("a", "b")),
        sf.Frame.from_records([("z", 3)], columns=("b", "a")),
    )
    en.write(old, path)
    en.append(new, path)
    found = en.read(path)
    assert found.to_pairs() == (("a", ((0, 1), (1, 2), (2, 3))), ("b", ((0, "x"), (1, "y"), (2, "z"))))
    labelled = sf.Frame.from_records([(1,)], columns=("a",), index=("k",))
    en.write(labelled, path)
    with pytest.raises(en.ArgumentError, match="are in the file already"):
        en.append(labelled, path)


def test_values_of_other_libraries(path: str) -> None:
    en.write(pd.DataFrame({"a": [1], "b": [0.5]}), path)
    en.append(pl.DataFrame({"b": [1.5], "a": [2]}), path)
    en.append(pa.table({"a": [3], "b": [2.5]}), path)
    en.append({"a": [4], "b": [3.5]}, path)
    pd.testing.assert_frame_equal(en.read(path), pd.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5]}))


def test_objects_and_metadata_are_kept(path: str) -> None:
    old = pd.DataFrame({"a": [1, "two", [3]]})
    en.write(old, path, metadata={"by": "Ada"})
    assert en.append(pd.DataFrame({"a": [{"k": 4}]}), path) == ["a"]
    assert en.read(path)["a"].tolist() == [1, "two", [3], {"k": 4}]
    assert en.open(path).metadata == {"by": "Ada"}


def test_an_open_file_keeps_its_generation(path: str) -> None:
    old = frame(70_000)
    en.write(old, path)
    before, mapped = en.open(path), en.open(path, memory_map=False)
    en.append(frame(10, 70_000), path)
    pd.testing.assert_frame_equal(before.read(), old)
    pd.testing.assert_frame_equal(mapped[:10].read(), old[:10])
    assert len(en.read(path)) == 70_010


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="the system does not count bytes")
def test_an_append_reads_no_more_of_a_longer_file(path: str) -> None:
    def read_per_append(n_rows: int) -> int:
        column = np.zeros(n_rows, bool)
        en.write({f"c{i}": column for i in range(10)}, path)
        rows = {f"c{i}": column[:100] for i in range(10)}
        for _ in range(3):
            # The first append to a small file rewrites it. The second one reads ends of columns.
            en.append(rows, path, durable=False)
        counts = [bytes_read()]
        for _ in range(9):
            en.append(rows, path, durable=False)
            counts.append(bytes_read())
        return max(after - before for before, after in pairwise(counts))

    # The records of the longer file's 15,260 blocks are 854,560 bytes.
    short, long = read_per_append(10**6), read_per_append(10**8)
    assert long < short + 10_000 < 250_000


def test_compression_is_that_of_the_last_write(path: str) -> None:
    rows = pd.DataFrame({"a": np.arange(60_000) // 7, "b": [f"row {i % 99}" for i in range(60_000)]})

    def length(first: int, change: Callable[..., object], **given: int) -> int:
        en.write(rows, path, compression=first)
        change(**given)
        return os.path.getsize(path)

    def stream(**given: int) -> None:
        with en.writer(path, append=True, **given) as writer:
            writer.write(rows)

    changes = [
        lambda **given: en.append(rows, path, **given),
        stream,
        lambda **given: en.add_columns({"c": rows["a"], "d": rows["b"]}, path, **given),
        lambda **given: en.replace_columns({"a": rows["a"] + 3}, path, **given),
    ]
    for change in changes:
        raw, small = length(0, change, compression=0), length(0, change, compression=100)
        assert small < raw
        assert length(0, change) == raw
        assert length(100, change) == length(100, change, compression=100)
    twice = length(0, lambda: (changes[0](compression=100), changes[0]()))
    assert twice == length(0, lambda: (changes[0](compression=100), changes[0](compression=100)))
    for level in (0, 100):
        en.write({"x": 1, "numbers": list(range(9_000))}, path, compression=level)
        en.update({"x": rows["a"].to_numpy()}, path, compression=level)
        updated = os.path.getsize(path)
        en.update({"x": rows["a"].to_numpy()}, path)
        assert os.path.getsize(path) == updated


def test_what_can_not_be_appended_to(path: str) -> None:
    with pytest.raises(en.MissingFileError, match="create=True"):
        en.append(frame(3), path)
    assert en.append(frame(3), path, create=True) == []
    assert en.append(frame(2, 3), path, create=True) == []
    assert len(en.read(path)) == 5
    en.write({"a": [1, 2]}, path)
    with pytest.raises(en.ArgumentError, match=r"the file holds .*: rows can be appended to frames"):
        en.append([3], path)
    en.write(frame(2), path)
    with pytest.raises(en.ArgumentError, match="can't be appended"):
        en.append(7, path)
    assert len(en.read(path)) == 2


def test_labels_of_columns_are_not_rows(path: str) -> None:
    for n in (2, 9000):
        old = pd.DataFrame(np.arange(2.0 * n).reshape(n, 2), columns=[10, 20])
        new = pd.DataFrame([[7.0, 8.0], [9.0, 1.0]], columns=[10, 20])
        en.write(old, path)
        assert en.append(new, path) == []
        pd.testing.assert_frame_equal(en.read(path), pd.concat([old, new], ignore_index=True))
        en.verify(path)


def test_times_beyond_a_finer_unit_are_refused(path: str) -> None:
    far, near = np.array(["9999-01-01"], "M8[s]"), np.array(["2024-01-01"], "M8[ns]")
    makes: list[Callable[[Any], Any]] = [
        lambda array: pd.DataFrame({"a": array}),
        lambda array: {"a": array},
        lambda array: pl.DataFrame({"a": pl.Series(array.astype("M8[ms]") if array.dtype == "M8[s]" else array)}),
        lambda array: pa.table({"a": array}),
    ]
    for make in makes:
        en.write(make(near), path)
        for widen in (False, True):
            with pytest.raises(en.ArgumentError, match=r"column 'a' is .* does not hold"):
                en.append(make(far), path, widen=widen)
        assert len(en.read(path)["a"]) == 1
        en.write(make(far), path)
        with pytest.raises(en.ArgumentError, match=r"column 'a' of the file is .* does not hold"):
            en.append(make(near + 1), path, widen=True)
        assert en.append(make(near), path) == []
        assert len(en.read(path)["a"]) == 2


def test_missing_rows_fit_any_column_that_can_miss_values(path: str) -> None:
    for dtype in ("float64", "str", "Int16", "M8[us]", "category", "boolean"):
        en.write(pd.DataFrame({"a": pd.Series([None], dtype=dtype)}), path)
        en.append(pd.DataFrame({"a": [None, None]}), path)
        found = en.read(path)["a"]
        assert (found.dtype == dtype, len(found), found.isna().all()) == (True, 3, True)
    en.write(pd.DataFrame({"a": [1]}), path)
    with pytest.raises(en.ArgumentError, match="column 'a'"):
        en.append(pd.DataFrame({"a": [None]}), path)


def test_a_second_writer_waits(path: str) -> None:
    from entasis import _entasis

    en.write(frame(70_000), path)
    change = _entasis.Change(path, 0.0)
    with pytest.raises(en.BusyError):
        en.append(frame(1), path, wait=0.05)
    change.end()
    en.append(frame(1), path)
    assert len(en.read(path)) == 70_001


CREATE = """
import sys, time
import entasis as en, numpy as np

while time.time() < float(sys.argv[2]):
    pass
en.append({"a": np.full(3, int(sys.argv[3]))}, sys.argv[1], create=True)
"""


def test_processes_that_create_a_file_at_once_lose_no_rows(path: str) -> None:
    start = time.time() + 2
    command = [sys.executable, "-c", CREATE, path, str(start)]
    processes = [subprocess.Popen([*command, str(k)]) for k in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert sorted(en.read(path)["a"].tolist()) == [k for k in range(4) for _ in range(3)]
    assert [entry.name for entry in Path(path).parent.iterdir()] == [Path(path).name]


FULL = """
import os, resource, sys
import entasis as en, numpy as np

path, n = sys.argv[1], 300_000
size = os.path.getsize(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000,) * 2)
values = np.random.default_rng(1).random(n)
def batches():
    with en.writer(path, append=True) as writer:
        writer.write({"a": values})
        writer.write({"a": values})
for change in (
    lambda: en.append({"a": values}, path),
    lambda: en.add_columns({"b": values}, path),
    lambda: en.replace_columns({"a": values}, path),
    batches,
):
    try:
        change()
    except en.FileError as error:
        print(error.errno, os.path.getsize(path) == size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_FSIZE")
def test_a_full_file_system_leaves_the_file(path: str) -> None:
    # The limit stands for a full file system: the system refuses real writes in the middle.
    old = np.random.default_rng(2).random(300_000)
    en.write({"a": old}, path)
    done = subprocess.run([sys.executable, "-c", FULL, path], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["27 True"] * 4
    np.testing.assert_array_equal(en.read(path)["a"], old)
    en.verify(path)
    assert len(en.generations(path)) == 1
    assert [entry.name for entry in Path(path).parent.iterdir()] == [Path(path).name]


FULL_DISK = """
import os, sys
import numpy as np
import entasis as en

folder = sys.argv[1]
path = folder + "/rows.entasis"
old, values = np.random.default_rng(2).random((2, 300_000))
en.write({"a": old}, path)
size = os.path.getsize(path)

def batches():
    with en.writer(path, append=True) as writer:
        writer.write({"a": values})

for change in (
    lambda: en.append({"a": values}, path),
    lambda: en.add_columns({"b": values}, path),
    lambda: en.replace_columns({"a": values}, path),
    lambda: en.write({"a": values}, path),
    batches,
):
    try:
        change()
    except en.FileError as error:
        print(error.errno, os.path.getsize(path) == size, os.listdir(folder))
assert (en.read(path)["a"] == old).all()
en.verify(path)
en.append({"a": values[:9000]}, path)
assert len(en.read(path)["a"]) == 309_000
"""
MOUNT = 'mount -t tmpfs -o size=4m none "$1" && exec "$2" -c "$3" "$1"'


@pytest.mark.skipif(sys.platform != "linux", reason="needs namespaces")
def test_a_disk_that_is_full_leaves_the_file(tmp_path: Path) -> None:
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    may_mount = [*unshare, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if shutil.which("unshare") is None or subprocess.run(may_mount, check=False, capture_output=True).returncode:
        pytest.skip("the system lets no process mount a file system of its own")
    command = [*unshare, "sh", "-c", MOUNT, "sh", str(tmp_path), sys.executable, FULL_DISK]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["28 True ['rows.entasis']"] * 5


def test_threads_append_to_one_file(path: str) -> None:
    """No rows are lost, those of each thread stay in order, and readers see whole appends."""
    n_threads, n_appends, size = 4, 20, 300

    def rows(thread: int, i: int) -> pd.DataFrame:
        return pd.DataFrame({"thread": np.full(size, thread), "i": np.arange(size) + i * size})

    en.write(rows(0, 0), path, durable=False)
    failed: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for i in range(thread == 0, n_appends):
                en.append(rows(thread, i), path, durable=False, wait=60)
                seen = en.read(path, columns=["i"], to="numpy")["i"]
                assert len(seen) % size == 0
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    found = en.read(path)
    assert len(found) == n_threads * n_appends * size
    for thread in range(n_threads):
        assert found.loc[found["thread"] == thread, "i"].tolist() == list(range(n_appends * size))
    en.verify(path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_append(path: str) -> None:
    """Children append after the parent has, and the lock of a parent does not live on in a child."""
    context = multiprocessing.get_context("fork")
    en.write(frame(70_000), path, durable=False)
    en.append(frame(1000, 70_000), path, durable=False)
    with en.writer(path, append=True, durable=False) as writer:
        writer.write(frame(1000, 71_000))
        asleep = context.Process(target=time.sleep, args=(60,))
        asleep.start()
    try:
        en.append(frame(1000, 72_000), path, durable=False, wait=0)
        children = [
            context.Process(target=en.append, args=(frame(1000), path), kwargs={"durable": False, "wait": 60})
            for _ in range(3)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
            assert child.exitcode == 0
    finally:
        asleep.kill()
        asleep.join()
    found = en.read(path)
    assert found["int"].tolist() == [*range(73_000), *list(range(1000)) * 3]
