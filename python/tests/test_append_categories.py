"""Categories of rows to append: the union of both, in the order of `union_categoricals`, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.api.types import union_categoricals

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Make = Callable[[list[str]], Any]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "rows.entasis")


def of_pandas(words: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"c": pd.Categorical(words, list(dict.fromkeys(words)))})


def of_polars(words: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series(words, dtype=pl.Categorical)})


def of_arrow(words: list[str]) -> pa.Table:
    return pa.table({"c": pa.array(words).dictionary_encode()})


def lists_of_polars(words: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series([[word] for word in words], dtype=pl.List(pl.Categorical))})


def lists_of_arrow(words: list[str]) -> pa.Table:
    kind = pa.list_(pa.dictionary(pa.int32(), pa.string()))
    return pa.table({"c": pa.array([[word] for word in words], kind)})


def structs_of_arrow(words: list[str]) -> pa.Table:
    kind = pa.struct([("k", pa.dictionary(pa.int8(), pa.string())), ("n", pa.int64())])
    return pa.table({"c": pa.array([{"k": word, "n": 1} for word in words], kind)})


FLAT: list[Make] = [of_pandas, of_polars, of_arrow]
NESTED: list[Make] = [lists_of_polars, lists_of_arrow, structs_of_arrow]


def words_of(path: str, first: int = 0) -> list[Any]:
    found = pa.table(en.open(path)[first:])["c"].to_pylist()
    return [word[0] if isinstance(word, list) else word["k"] if isinstance(word, dict) else word for word in found]


@pytest.mark.sampled(2)
@pytest.mark.core
@pytest.mark.parametrize("make", FLAT + NESTED)
@pytest.mark.parametrize("n", [1, 9_000, 70_000])
def test_another_order_stays_in_place(path: str, make: Make, n: int) -> None:
    en.write(make(["b", "a"] * n), path)
    assert en.append(make(["a", "b"]), path) == []
    assert en.append(make(["a", "c", "b"]), path) == []
    with en.writer(path, append=True) as writer:
        writer.write(make(["c", "a"]))
        empty = make(["z"])
        writer.write(empty.slice(0, 0) if isinstance(empty, pa.Table) else empty[:0])
        writer.write(make(["z"]))
        writer.write(make(["b"] * 70_000))
    assert words_of(path, 2 * n)[:8] == ["a", "b", "a", "c", "b", "c", "a", "z"]
    assert words_of(path)[: 2 * n] == ["b", "a"] * n
    en.verify(path)


@pytest.mark.core
@pytest.mark.parametrize("n", [1, 9_000, 70_000])
def test_the_order_is_that_of_union_categoricals(path: str, n: int) -> None:
    batches = [["b"] * n, ["a", "b"], ["d", "c", "a"], ["c"]]
    series = [of_pandas(batch)["c"] for batch in batches]
    wanted = union_categoricals(series)
    for pieces in (series, [one.to_frame() for one in series]):
        for changes in ("append", "writer", "one writer"):
            en.write(pieces[0], path)
            if changes == "one writer":
                with en.writer(path, append=True) as writer:
                    for piece in pieces[1:]:
                        writer.write(piece)
            for piece in pieces[1:] if changes != "one writer" else []:
                if changes == "append":
                    assert en.append(piece, path) == []
                else:
                    with en.writer(path, append=True) as writer:
                        writer.write(piece)
            found = en.read(path)
            found = found if isinstance(found, pd.Series) else found["c"]
            pd.testing.assert_series_equal(found.reset_index(drop=True), pd.Series(wanted, name="c"))


@pytest.mark.core
def test_categories_of_missing_rows_are_added(path: str) -> None:
    for n in (1, 9_000):
        en.write(pd.DataFrame({"c": pd.Categorical(["x"] * n)}), path)
        en.append(pd.DataFrame({"c": pd.Categorical([None], ["x", "y"])}), path)
        en.append(pd.DataFrame({"c": pd.Categorical([None])}), path)
        assert en.read(path)["c"].cat.categories.tolist() == ["x", "y"]
        assert en.read(path)["c"].isna().tolist()[n:] == [True, True]


@pytest.mark.core
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            pd.Categorical([1]),
            pd.Categorical(["a"]),
            "a category of int64 in the file and a category of .* in",
        ),
        (
            pd.Categorical(["a"], ["a", "b"], ordered=True),
            pd.Categorical(["a"], ["b", "a"], ordered=True),
            "has the order 'a', 'b' in the file and 'b', 'a' in the rows",
        ),
        (
            pd.Categorical(["a"], ["a", "b"], ordered=True),
            pd.Categorical(["a"], ["a", "c"], ordered=True),
            "has the ordered categories 'a', 'b' in the file and 'a', 'c' in the rows",
        ),
        (
            pd.Categorical(["a"], ordered=True),
            pd.Categorical(["a"]),
            "an ordered category of .* in the file and a cat",
        ),
        (
            pd.Categorical(["a"]),
            pd.Categorical(["a"], ordered=True),
            "a category of .* in the file and an ordered",
        ),
    ],
)
def test_errors_name_what_differs(path: str, old: Any, new: Any, message: str) -> None:
    en.write(pd.DataFrame({"c": old}), path)
    with pytest.raises(en.ArgumentError, match=rf"column 'c' .*{message}"):
        en.append(pd.DataFrame({"c": new}), path)
    with pytest.raises(en.ArgumentError, match=rf"column 'c' .*{message}"), en.writer(path, append=True) as writer:
        writer.write(pd.DataFrame({"c": new}))
    assert len(en.read(path)) == len(old)


@pytest.mark.core
def test_ordered_dictionaries_keep_their_order(path: str) -> None:
    def rows(words: list[str]) -> pa.Table:
        codes = pa.array(range(len(words)), pa.int8())
        return pa.table({"c": pa.DictionaryArray.from_arrays(codes, pa.array(words), ordered=True)})

    for n in (1, 9_000):
        en.write(pa.concat_tables([rows(["low", "high"])] * n), path)
        with pytest.raises(en.ArgumentError, match=r"column 'c' has the ordered categories 'low', 'high' in the file"):
            en.append(rows(["high", "low"]), path)
        with pytest.raises(en.ArgumentError, match="column 'c'"), en.writer(path, append=True) as writer:
            writer.write(rows(["high", "low"]))
        en.append(rows(["low", "high", "higher"]), path)
        assert en.read(path)["c"].chunk(0).dictionary.to_pylist() == ["low", "high", "higher"]


def codes(start: int, stop: int, kind: Any = None) -> pa.Table:
    numbers = pa.array(range(stop - start), kind or pa.int8())
    return pa.table({"c": pa.DictionaryArray.from_arrays(numbers, pa.array([f"k{i}" for i in range(start, stop)]))})


@pytest.mark.core
@pytest.mark.parametrize(("kind", "most"), [(pa.int8(), 128), (pa.uint8(), 256)])
def test_codes_that_no_longer_fit_become_wider(path: str, kind: Any, most: int) -> None:
    en.write(codes(0, most - 1, kind), path)
    assert en.append(codes(most - 1, most, kind), path) == []
    assert en.read(path)["c"].to_pylist() == [f"k{i}" for i in range(most)]
    before = en.read(path)
    message = rf"column 'c' is .* does not hold the {most + 1} categories of both; widen=True makes it"
    with pytest.raises(en.ArgumentError, match=message), en.writer(path, append=True) as writer:
        writer.write(codes(most, most + 1, kind))
    with pytest.raises(en.ArgumentError, match=message):
        en.append(codes(most, most + 1, kind), path)
    assert en.read(path).equals(before)
    assert en.append(codes(most, most + 1, kind), path, widen=True) == ["c"]
    found = en.read(path)["c"]
    assert found.type.index_type.bit_width == 16
    assert found.to_pylist() == [f"k{i}" for i in range(most + 1)]


@pytest.mark.core
def test_codes_of_pandas_become_wider(path: str) -> None:
    def rows(start: int, stop: int) -> pd.DataFrame:
        return of_pandas([f"k{i}" for i in range(start, stop)])

    def by_writer() -> None:
        with en.writer(path, append=True) as writer:
            writer.write(rows(110, 125))
            writer.write(rows(125, 140))

    for change in (by_writer, lambda: en.append(rows(110, 140), path)):
        en.write(rows(0, 110), path)
        change()
        check(path)


def check(path: str) -> None:
    assert en.read(path)["c"].tolist() == [f"k{i}" for i in range(140)]
    assert en.read(path)["c"].cat.codes.dtype == "int16"


@pytest.mark.core
def test_dictionaries_with_a_null(path: str) -> None:
    def rows(words: list[str | None], numbers: list[int | None]) -> pa.Table:
        return pa.table({"c": pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), pa.array(words))})

    first, second = rows(["a", None], [0, 1, None]), rows([None, "b", "a"], [0, 1, 2])
    wanted = ["a", None, None, None, "b", "a"]
    en.write(first, path)
    en.append(second, path)
    assert en.read(path)["c"].to_pylist() == wanted
    with en.writer(path) as writer:
        writer.write(first)
        writer.write(second)
    assert en.read(path)["c"].to_pylist() == wanted


def test_many_categories_in_another_order(path: str) -> None:
    random = np.random.default_rng(3)
    words = [f"word {i}" for i in range(20_000)]
    old, new = random.permutation(words).tolist(), random.permutation(words).tolist()
    for make in (*FLAT, lists_of_arrow):
        en.write(make(old * 5), path, compression=0)
        assert en.append(make([*new, "more"]), path) == []
        assert words_of(path) == old * 5 + [*new, "more"]
