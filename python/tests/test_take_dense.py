"""Many rows at once, against the libraries' own selection: fields of bits, strings and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

N = 150_001


def table() -> pa.Table:
    """A table with columns of many types and encodings, most with missing values."""
    random = np.random.default_rng(5)
    numbers = random.integers(0, 1000, N)
    some = random.random(N) < 0.1
    few = random.random(N) < 0.001
    words = np.array(["", "a", "Bern", "a longer text that views do not hold inline", "ö" * 9])
    texts = [f"{word}{number}" for word, number in zip(words[numbers % 5], numbers * 7919 % 100_003, strict=True)]
    lists = [None if number % 11 == 3 else list(range(number % 4)) for number in numbers]
    return pa.table(
        {
            "whole": numbers,
            "missing": pa.array(numbers, mask=some),
            "few missing": pa.array(random.random(N), mask=few),
            "none there": pa.nulls(N, pa.int16()),
            "bool": pa.array(numbers % 3 == 0, mask=some),
            "all true": np.ones(N, bool),
            "repeated": pa.array(words[numbers % 5], mask=some),
            "texts": pa.array(texts, mask=few),
            "times": pa.array(numbers.astype("datetime64[ms]"), mask=some),
            "decimals": pa.array(numbers).cast(pa.decimal128(30, 2)),
            "negative decimals": pa.array(500 - numbers, mask=some).cast(pa.decimal128(30, 2)),
            "short decimals": pa.array(numbers - 500, pa.int32(), mask=few).cast(pa.decimal128(12, 0)),
            "long decimals": pa.array(numbers - 500, mask=some).cast(pa.decimal256(60, 4)),
            "binary": pa.array([text.encode() for text in texts], pa.binary(), mask=some),
            "category": pa.array(words[numbers % 5], mask=some).dictionary_encode(),
            "lists": pa.array(lists),
            "structs": pa.StructArray.from_arrays(
                [pa.array(numbers, mask=some), pa.array(texts)], ["n", "s"], mask=pa.array(few)
            ),
            "rising": np.arange(N) // 3,
        }
    )


@pytest.fixture(scope="module")
def whole() -> pa.Table:
    return table()


@pytest.fixture(scope="module", params=[0, 1], ids=["plain", "compressed"])
def path(request, tmp_path_factory, whole: pa.Table) -> Path:
    path = tmp_path_factory.mktemp("take") / "table.entasis"
    en.write(whole, path, compression=request.param)
    return path


def selections() -> dict[str, np.ndarray]:
    random = np.random.default_rng(6)
    every = np.arange(N)
    found = {f"{share:.2%}": every[random.random(N) < share] for share in (0.0005, 0.01, 0.04, 0.5, 0.97)}
    found["alone"] = np.array([0, 65_535, 65_536, 65_537, N - 1])
    found["clusters"] = every[(every // 700) % 9 == 4]
    found["blocks"] = every[(every >= 65_530) & (every < 131_080) & (every != 70_000)]
    found["repeats"] = np.sort(random.integers(0, N, 9_000))
    found["any order"] = random.permutation(N)[:70_000]
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", selections())
def test_rows_are_those_of_arrow(path: Path, whole: pa.Table, name: str, threads: int) -> None:
    rows = selections()[name]
    expected = whole.take(rows)
    found = en.open(path)[rows].read(threads=threads)
    found.validate(full=True)
    for column in whole.column_names:
        a, b = found[column], expected[column]
        if pa.types.is_dictionary(a.type):
            a, b = a.cast(pa.string()), b.cast(pa.string())
        assert a.combine_chunks().equals(b.combine_chunks()), column


@pytest.mark.parametrize("name", selections())
def test_rows_are_those_of_polars(path: Path, whole: pa.Table, name: str) -> None:
    rows = selections()[name]
    # Polars has no decimals of 256 bits.
    frame = pl.from_arrow(whole.drop_columns(["long decimals"]))
    assert isinstance(frame, pl.DataFrame)
    assert en.open(path)[rows].read(to="polars", columns=frame.columns).equals(frame[rows])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("host", ["pyarrow", "polars", "pandas", "numpy"])
@pytest.mark.parametrize("least", [0, 1, 30, 240, 260, 990, 1000])
def test_most_rows_of_a_filter(path: Path, whole: pa.Table, least: int, host: str) -> None:
    f = en.open(path)
    condition = pc.field("whole") >= least
    for view, part in [(f, whole), (f[70_001:140_003], whole.slice(70_001, 70_002)), (f[::-3], None)]:
        columns = [name for name in whole.column_names if name not in ("long decimals", "lists", "structs")]
        if host == "numpy":
            columns = ["whole", "rising"]
        found = view.filter(en.col("whole") >= least).read(to=host, columns=columns)
        rows = np.arange(N)[::-3] if part is None else None
        expected = (whole.take(rows) if part is None else part).filter(condition).select(columns)
        if host == "pyarrow":
            found.validate(full=True)
            for column in columns:
                a, b = found[column].combine_chunks(), expected[column].combine_chunks()
                same = a.cast(pa.string()).equals(b.cast(pa.string())) if column == "category" else a.equals(b)
                assert same, column
        elif host == "polars":
            assert found.equals(pl.from_arrow(expected))
        else:
            assert len(found["rising"]) == len(expected)
            assert np.array_equal(found["rising"], expected["rising"].to_numpy())
            assert np.array_equal(np.asarray(found["whole"]), expected["whole"].to_numpy())


def test_most_rows_of_columns_without_a_mask(tmp_path: Path) -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([5, 9], pa.int32()), pa.array(["a", "b"]))
    whole = pa.table({"x": range(9), "runs": runs})
    en.write(whole, tmp_path / "runs.entasis")
    f = en.open(tmp_path / "runs.entasis")
    found = f.filter(en.col("x") != 4).to_pyarrow()
    assert found["runs"].to_pylist() == ["a"] * 4 + ["b"] * 4
    assert f.to_dataset().to_table(filter=pc.field("x") != 4)["runs"].to_pylist() == ["a"] * 4 + ["b"] * 4
    en.write(whole["x"].combine_chunks(), tmp_path / "array.entasis")
    array = en.open(tmp_path / "array.entasis")
    assert array.filter(en.col("") != 4).read().to_pylist() == [0, 1, 2, 3, 5, 6, 7, 8]
    en.write(pl.Series("x", range(9)), tmp_path / "series.entasis")
    series = en.open(tmp_path / "series.entasis").filter(en.col("x") != 4).read()
    assert series.to_list() == [0, 1, 2, 3, 5, 6, 7, 8]


def test_numbers_of_rows_count_for_the_limit(path: Path) -> None:
    f = en.open(path, limits={"decoded_len": 400_000}).select("all true")
    # Half of the rows: their bits and values take 19 kB, and their numbers 600 kB.
    condition = en.col("whole") < 500
    for read in (lambda: f.filter(condition).to_pyarrow(), lambda: f.filter(condition).row_numbers()):
        with pytest.raises(en.LimitError, match="decoded_len allows 400,000"):
            read()


def test_damage_in_a_page_without_wanted_rows_is_not_met(path: Path) -> None:
    content = bytearray(path.read_bytes())
    f = en.open(path)
    keep = np.arange(131_072, N)
    expected = f[keep].read()
    # Slots end at 12,288, and the first blocks of the first column follow.
    content[20_000] ^= 0xFF
    damaged = en.open(bytes(content))
    assert damaged[keep].read().equals(expected)
    with pytest.raises(en.EntasisError, match="checksum"):
        damaged[np.arange(0, N, 2)].read()


@pytest.mark.parametrize("bound", [10, 990])
def test_reads_with_a_filter_are_scans(path: Path, bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f = en.open(path).select("whole", "all true")
    expected = f.scan(filter=en.col("whole") < bound).read()
    # The numbers of rows would take a view of the rows that pass.
    monkeypatch.setattr("entasis._view.query.Query.passing", None)
    assert f.read(filter=en.col("whole") < bound).equals(expected)
    assert en.read(path, columns=["whole", "all true"], filter=en.col("whole") < bound).equals(expected)
