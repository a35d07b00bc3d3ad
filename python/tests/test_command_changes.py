"""The command changes files of each library as the library's own functions change the frame."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf
from pandas.api.types import union_categoricals

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A file that is written anew by a change, and one that changes in place.
SIZES = [7, 60_000]


def command(*args: Any) -> str:
    """The errors of a command, empty after success."""
    words = [sys.executable, "-m", "entasis", *map(str, args)]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60)
    assert (done.returncode == 0) == (done.stderr == b""), done
    return done.stderr.decode()


def columns(n: int) -> dict[str, Any]:
    r = np.arange(n)
    times = np.datetime64("2024-01-01", "ns") + r
    return {"i": r, "f": r * 0.5, "s": [f"text {i % 7}" for i in r], "b": r % 3 == 0, "t": times}


def of_pandas(n: int, categories: str = "abc") -> pd.DataFrame:
    r = np.arange(n)
    df = pd.DataFrame(columns(n))
    df["c"] = pd.Categorical.from_codes(r % len(categories), list(categories))
    df["n"] = pd.array([None if i % 5 == 0 else i for i in r], dtype="Int64")
    df["o"] = pd.Series([None if i % 4 == 0 else "x" * (i % 3) for i in r], dtype=object)
    df["z"] = pd.date_range("2024-01-01", periods=n, freq="h", tz="Europe/Oslo")
    return df


def of_polars(n: int) -> pl.DataFrame:
    texts = [["p", "q"][i % 2] for i in range(n)]
    more = {"c": pl.Series(texts, dtype=pl.Categorical), "e": pl.Series(texts, dtype=pl.Enum(["p", "q"]))}
    return pl.DataFrame(columns(n) | more | {"d": pl.Series(range(n)).cast(pl.Decimal(10, 2))})


def of_pyarrow(n: int) -> pa.Table:
    dictionary = pa.array([["k", "l", None][i % 3] for i in range(n)]).dictionary_encode()
    arrays = {name: pa.array(values) for name, values in columns(n).items()}
    return pa.table(arrays | {"c": dictionary}).replace_schema_metadata({"key": "value"})


def of_static_frame(n: int) -> sf.Frame:
    return sf.Frame.from_dict(columns(n), name="frame")


def of_numpy(n: int) -> dict[str, Any]:
    return {name: np.asarray(values) for name, values in columns(n).items()}


def joined_pandas(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    whole = pd.concat([a, b], ignore_index=True)
    return whole.assign(c=union_categoricals([a["c"], b["c"]]))


def same_numpy(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return list(a) == list(b) and all(a[k].dtype == b[k].dtype and np.array_equal(a[k], b[k]) for k in a)


def same_pandas(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    pd.testing.assert_frame_equal(a, b)
    return True


def same_static_frame(a: sf.Frame, b: sf.Frame) -> bool:
    assert a.columns.values.dtype == b.columns.values.dtype
    return bool(a.equals(b, compare_dtype=True, compare_class=True, compare_name=True))


MAKES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., bool]]] = {
    "pandas": (of_pandas, joined_pandas, same_pandas),
    "polars": (of_polars, lambda a, b: pl.concat([a, b]), lambda a, b: a.schema == b.schema and a.equals(b)),
    "pyarrow": (
        of_pyarrow,
        lambda a, b: pa.concat_tables([a, b]),
        lambda a, b: a.schema.equals(b.schema, check_metadata=True) and a.to_pydict() == b.to_pydict(),
    ),
    "static_frame": (
        of_static_frame,
        lambda a, b: sf.Frame.from_concat((a, b), index=sf.IndexAutoFactory, name="frame"),
        same_static_frame,
    ),
    "numpy": (of_numpy, lambda a, b: {k: np.concatenate([a[k], b[k]]) for k in a}, same_numpy),
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("host", MAKES)
def test_append_is_the_concatenation(tmp_path: Path, host: str, n: int) -> None:
    make, join, same = MAKES[host]
    file, rows = tmp_path / "file.entasis", tmp_path / "rows.entasis"
    old, new = make(n), make(321)
    en.write(old, file)
    en.write(new, rows)
    for _ in range(2):
        assert command("append", file, rows) == ""
        en.verify(file)
        old = join(old, new)
        assert same(en.read(file), old)
    # The package goes on from there.
    en.append(new, file)
    assert same(en.read(file), join(old, new))


def test_append_matches_names_and_joins_categories(tmp_path: Path) -> None:
    file, rows = tmp_path / "file.entasis", tmp_path / "rows.entasis"
    for n in SIZES:
        old, new = of_pandas(n), of_pandas(321, "db")
        en.write(old, file)
        en.write(new[new.columns[::-1]], rows)
        assert command("append", file, rows) == ""
        en.verify(file)
        same_pandas(en.read(file), joined_pandas(old, new))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("host", MAKES)
def test_columns_change_as_in_python(tmp_path: Path, host: str, n: int) -> None:
    make, _, same = MAKES[host]
    file, other = tmp_path / "file.entasis", tmp_path / "other.entasis"
    en.write(make(n), file, metadata={"by": "Ada"})
    shutil.copy(file, other)
    assert command("rename", file, "s", "a longer label") == ""
    en.rename_columns(other, {"s": "a longer label"})
    assert same(en.read(file), en.read(other))
    assert command("drop", file, "i", "a longer label") == ""
    en.drop_columns(other, ["i", "a longer label"])
    assert same(en.read(file), en.read(other))
    assert en.open(file).metadata == {"by": "Ada"}
    en.verify(file)


def test_rollback(tmp_path: Path) -> None:
    file = tmp_path / "file.entasis"
    df = of_pandas(60_000)
    en.write(df, file)
    assert command("append", file, file) == ""
    assert command("rollback", file, 1) == ""
    same_pandas(en.read(file), df)
    assert [g.operation for g in en.generations(file)] == ["write", "append", "rollback"]


REFUSED = {
    "labels of rows": pd.DataFrame({"a": [1, 2]}, index=["x", "y"]),
    "labels that are numbers": pd.DataFrame({7: [1, 2]}),
    "objects": pd.DataFrame({"a": [{"x": 1}, None]}),
    "several kinds of missing values": pd.DataFrame({"a": pd.Series(["x", None, pd.NA], dtype=object)}),
    "categories of a range": pd.DataFrame({"a": pd.Categorical([0, 1], categories=pd.RangeIndex(2))}),
    "an index": pd.Index([1, 2]),
    "lists": pl.DataFrame({"a": [[1], [2, 3]]}),
    "labels of StaticFrame": sf.Frame.from_dict({"a": [1, 2]}, index=("x", "y")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_rows_name_python(tmp_path: Path, name: str) -> None:
    file = tmp_path / "file.entasis"
    en.write(REFUSED[name], file)
    content = file.read_bytes()
    assert "use en.append(rows, path) in Python" in command("append", file, file)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "value", [pd.Series([1], name="a"), pd.DataFrame({1: [2]}), sf.Frame.from_dict({("a", 1): [2]})]
)
def test_refused_columns_name_python(tmp_path: Path, value: Any) -> None:
    file = tmp_path / "file.entasis"
    en.write(value, file)
    name = en.open(file).column_names[0] if isinstance(value, pd.Series) else "a"
    assert "use en.drop_columns in Python" in command("drop", file, name)
    assert "use en.rename_columns in Python" in command("rename", file, name, "b")
