"""Columns, metadata and keys of a file change as the library's own frame changes in memory."""

from __future__ import annotations

from io import BytesIO
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

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable

# A file that is written anew by a change, and one that changes in place.
SIZES = [0, 7, 60_000]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "frame.entasis")


def frame(n: int) -> pd.DataFrame:
    r = np.arange(n)
    return pd.DataFrame(
        {
            "i": r,
            "f": r * 0.5,
            "s": [f"text {i % 50}" for i in r],
            "c": pd.Categorical([f"kind {i % 7}" for i in r], categories=[f"kind {i}" for i in range(9)]),
            "d": pd.date_range("2020", periods=n, freq="s", tz="Europe/Oslo"),
            "n": pd.array([None if i % 3 == 0 else i for i in r], dtype="Int64"),
        }
    )


def more(n: int) -> pd.DataFrame:
    r = np.arange(n)
    return pd.DataFrame(
        {"x": r % 5, "y": pd.Categorical([f"other {i % 4}" for i in r]), "z": [None if i % 2 else f"z{i}" for i in r]}
    )


def to_numpy(df: pd.DataFrame) -> dict[str, Any]:
    names = [name for name in df if df[name].dtype != "Int64" and df[name].dtype != "category" and name != "z"]
    return {name: df[name].to_numpy() if name != "d" else df[name].dt.tz_localize(None).to_numpy() for name in names}


def to_static_frame(df: pd.DataFrame) -> sf.Frame:
    return sf.Frame.from_dict(to_numpy(df))


MAKES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda df: df,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "numpy": to_numpy,
    "static_frame": to_static_frame,
}


def assert_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(found, pd.DataFrame):
        assert_frame_equal(found, wanted)
    elif isinstance(found, pl.DataFrame):
        assert_polars(found, wanted)
    elif isinstance(found, pa.Table):
        assert found.schema.equals(wanted.schema, check_metadata=True)
        assert found.equals(wanted)
    elif isinstance(found, dict):
        assert list(found) == list(wanted)
        for name, array in found.items():
            np.testing.assert_array_equal(array, wanted[name], strict=True)
    else:
        assert found.equals(wanted, compare_dtype=True, compare_class=True, compare_name=True)


def added(old: Any, new: Any) -> Any:
    if isinstance(old, pd.DataFrame):
        return pd.concat([old, new], axis=1)
    if isinstance(old, pl.DataFrame):
        return old.hstack(new)
    if isinstance(old, pa.Table):
        for field, column in zip(new.schema, new.columns, strict=True):
            old = old.append_column(field, column)
        return old
    if isinstance(old, dict):
        return old | new
    return sf.Frame.from_concat((old, new), axis=1)


def dropped(old: Any, names: list[str]) -> Any:
    if isinstance(old, pd.DataFrame):
        return old.drop(columns=names)
    if isinstance(old, pl.DataFrame):
        return old.drop(names)
    if isinstance(old, pa.Table):
        return old.drop_columns(names)
    if isinstance(old, dict):
        return {name: array for name, array in old.items() if name not in names}
    return old.drop[names]


def renamed(old: Any, names: dict[str, str]) -> Any:
    if isinstance(old, pd.DataFrame):
        return old.rename(columns=names)
    if isinstance(old, pl.DataFrame):
        return old.rename(names)
    if isinstance(old, pa.Table):
        # pyarrow drops the metadata of the schema here.
        found = old.rename_columns([names.get(name, name) for name in old.column_names])
        return found.replace_schema_metadata(old.schema.metadata)
    if isinstance(old, dict):
        return {names.get(name, name): array for name, array in old.items()}
    return old.relabel(columns=lambda name: names.get(name, name))


def replaced(old: Any, new: Any, names: list[str]) -> Any:
    if isinstance(old, pd.DataFrame):
        return old.assign(**{name: new[name] for name in names})
    if isinstance(old, pl.DataFrame):
        return old.with_columns(new)
    if isinstance(old, pa.Table):
        for name in names:
            i = old.column_names.index(name)
            old = old.set_column(i, new.schema.field(name), new[name])
        return old
    if isinstance(old, dict):
        return {name: new.get(name, array) for name, array in old.items()}
    columns = [(name, (new if name in names else old)[name].values) for name in old.columns]
    return sf.Frame.from_items(columns, index=old.index)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("host", MAKES)
@pytest.mark.parametrize("metadata", [None, {"author": "Ada"}])
def test_columns_change_as_in_memory(host: str, n: int, metadata: Any, path: str) -> None:
    make = MAKES[host]
    value, new = make(frame(n)), make(more(n))
    en.write(value, path, metadata=metadata)

    def check() -> None:
        assert_same(en.read(path), value)
        assert en.open(path).metadata == metadata
        en.verify(path)

    value = added(value, new)
    en.add_columns(new, path)
    check()
    value = renamed(value, {"i": "first", "x": "s x"})
    en.rename_columns(path, {"i": "first", "x": "s x"})
    check()
    other = make(pd.DataFrame({"f": [f"{i}" for i in range(n)], "first": np.arange(n) % 2 == 0}))
    value = replaced(value, other, ["f", "first"])
    en.replace_columns(other, path)
    check()
    names = [name for name in ("c", "d", "first") if name in en.open(path).column_names]
    value = dropped(value, names)
    en.drop_columns(path, names)
    check()
    numbers = [g.number for g in en.generations(path)]
    assert numbers[-1] == 5
    if n == SIZES[-1]:
        assert numbers == [1, 2, 3, 4, 5]
        operations = [g.operation for g in en.generations(path)]
        assert operations == ["write", "add columns", "rename columns", "replace columns", "drop columns"]
        assert_same(en.open(path, generation=1).read(), make(frame(n)))
        assert_same(en.open(path, generation=2).read(), added(make(frame(n)), new))


def test_values_that_stay_are_not_written(path: str) -> None:
    n = 400_000
    df = pd.DataFrame({"a": np.random.default_rng(1).random(n), "b": np.random.default_rng(2).random(n)})
    en.write(df, path)
    before = Path(path).read_bytes()
    en.add_columns({"c": np.arange(n)}, path)
    en.rename_columns(path, {"a": "e"})
    en.drop_columns(path, "b")
    en.set_metadata({"checked": True}, path)
    after = Path(path).read_bytes()
    # The slots in the first pages change, and no value.
    assert after[12_288 : len(before)] == before[12_288:]
    assert len(after) < 1.01 * (len(before) + 4 * n)
    assert en.open(path).column_names == ["e", "c"]


def test_a_dropped_category_leaves_no_dictionary(path: str) -> None:
    en.write(frame(60_000), path)
    n = len(en.info(path).columns)
    en.drop_columns(path, ["c"])
    # The codes and their categories.
    assert len(en.info(path).columns) == n - 2


LABELS: list[Any] = [
    [2019, 2020, 2021],
    ["a", 1, None],
    [("x", 1), ("x", 2), ("y", 1)],
    pd.date_range("2020", periods=3),
    pd.Index(["a", "a", "b"], name="twice"),
    pd.RangeIndex(3, name="numbers"),
    pd.CategoricalIndex(["p", "q", "p"]),
    pd.MultiIndex.from_product([["x"], [1, 2, 3]], names=["one", "two"]),
]


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_labels_of_any_type(labels: Any, n: int, path: str) -> None:
    df = pd.DataFrame(np.arange(3 * n).reshape(n, 3), columns=labels)
    df.attrs["note"] = {"tuple": (1, 2)}
    df.index.name = "rows"
    en.write(df, path)
    # The last label that occurs once.
    position = max(i for i in range(3) if (df.columns == df.columns[i]).sum() == 1 or i == 0)
    label = df.columns[position]
    is_nested = isinstance(df.columns, pd.MultiIndex)
    new = pd.DataFrame({("z", 9) if is_nested else "z": np.arange(n) * 0.5})
    wanted = pd.concat([df, new], axis=1)
    wanted.columns = df.columns.append(new.columns.set_names(df.columns.names))
    wanted.index.name, wanted.attrs = "rows", df.attrs
    en.add_columns(new, path)
    assert_frame_equal(en.read(path), wanted)
    assert en.read(path).attrs == df.attrs
    wanted = wanted.iloc[:, [i for i in range(4) if i != position]]
    en.drop_columns(path, [label])
    assert_frame_equal(en.read(path), wanted)
    if not is_nested and df.columns.is_unique:
        wanted = wanted.rename(columns={wanted.columns[0]: "new"})
        en.rename_columns(path, {en.read(path).columns[0]: "new"})
        assert_frame_equal(en.read(path), wanted)
    en.verify(path)


@pytest.mark.parametrize("n", SIZES[1:])
def test_objects_and_mixed_missing_values(n: int, path: str) -> None:
    df = pd.DataFrame(
        {
            "a": np.arange(n),
            "o": pd.Series([(i, "x") if i % 2 else {"k": i} for i in range(n)], dtype=object),
            "m": pd.Series([None if i % 3 == 0 else np.nan if i % 3 == 1 else "s" for i in range(n)], dtype=object),
        }
    )
    en.write(df, path)
    en.drop_columns(path, ["a"])
    assert_frame_equal(en.read(path), df[["o", "m"]])
    kinds = [type(v) for v in en.read(path)["m"][:3]]
    assert kinds == [type(v) for v in df["m"][:3]]
    en.add_columns({"b": np.arange(n), "p": pd.Series([[i] for i in range(n)])}, path)
    wanted = df[["o", "m"]].assign(b=np.arange(n), p=[[i] for i in range(n)])
    assert_frame_equal(en.read(path), wanted)
    en.drop_columns(path, ["o", "p"])
    assert_frame_equal(en.read(path), wanted[["m", "b"]])
    en.verify(path)


def test_the_index_stays(path: str) -> None:
    for n in SIZES[1:]:
        df = frame(n).set_index("d")
        en.write(df, path)
        en.add_columns(more(n), path)
        wanted = df.assign(**dict(more(n).set_axis(df.index).items()))
        assert_frame_equal(en.read(path), wanted)
        en.replace_columns(pd.DataFrame({"x": np.arange(n)}, index=df.index), path)
        assert_frame_equal(en.read(path), wanted.assign(x=np.arange(n)))
        with pytest.raises(en.ArgumentError, match="index of the new columns differs"):
            en.add_columns(pd.DataFrame({"q": np.arange(n)}, index=df.index[::-1]), path)


@pytest.mark.parametrize("n", SIZES[1:])
def test_errors_leave_the_file(n: int, path: str) -> None:
    en.write(frame(n), path)
    before = Path(path).read_bytes()
    calls: list[tuple[type, str, Callable[[], Any]]] = [
        (en.ArgumentError, "already", lambda: en.add_columns({"i": np.arange(n)}, path)),
        (en.ArgumentError, "rows", lambda: en.add_columns({"q": np.arange(n + 1)}, path)),
        (en.ColumnNotFoundError, "add_columns", lambda: en.replace_columns({"q": np.arange(n)}, path)),
        (en.ColumnNotFoundError, "q", lambda: en.drop_columns(path, ["q"])),
        (en.ColumnNotFoundError, "q", lambda: en.rename_columns(path, {"q": "r"})),
        (en.ArgumentError, "two columns", lambda: en.rename_columns(path, {"i": "f"})),
        (en.ArgumentError, "not a dict", lambda: en.update({"a": 1}, path)),
        (en.ArgumentError, "generation 9", lambda: en.rollback(path, 9)),
        (en.ArgumentError, "generation 9", lambda: en.open(path, generation=9)),
        (en.UnsupportedTypeError, "metadata", lambda: en.set_metadata({"a": object()}, path)),
        (en.UnsupportedTypeError, "x", lambda: en.add_columns(pd.DataFrame({"x": [object()] * n}), path)),
    ]
    for kind, text, call in calls:
        with pytest.raises(kind, match=text):
            call()
        assert Path(path).read_bytes() == before
    en.write([1, 2], path)
    with pytest.raises(en.ArgumentError, match=r"entasis\.update"):
        en.add_columns({"a": [1]}, path)
    with pytest.raises(en.MissingFileError):
        en.drop_columns(path + "x", ["a"])


def test_a_change_waits_for_another(path: str) -> None:
    from entasis import _entasis

    en.write(frame(7), path)
    change = _entasis.Change(path, 0)
    try:
        for call in (
            lambda: en.drop_columns(path, "i", wait=0.01),
            lambda: en.set_metadata(1, path, wait=0.01),
            lambda: en.rollback(path, 1, wait=0.01),
            lambda: en.write(frame(7), path, wait=0.01),
            lambda: en.writer(path, append=True, wait=0.01),
        ):
            with pytest.raises(en.BusyError):
                call()
    finally:
        change.end()
    en.drop_columns(path, "i", wait=0)


@pytest.mark.parametrize("n", SIZES[1:])
def test_metadata(n: int, path: str) -> None:
    df = frame(n)
    en.write(df, path)
    for metadata in ({"author": "Ada"}, [1, {"a": np.arange(5)}], None, "text", pd.DataFrame({"a": [1]})):
        en.set_metadata(metadata, path)
        found = en.open(path).metadata
        assert type(found) is type(metadata)
        assert str(found) == str(metadata)
        assert_frame_equal(en.read(path), df)
        en.verify(path)
    en.write({"a": 1}, path)
    en.set_metadata({"b": 2}, path)
    assert (en.read(path), en.open(path).metadata) == ({"a": 1}, {"b": 2})


def test_update(path: str) -> None:
    en.write({"a": 1, "b": np.arange(100_000), "c": pd.DataFrame({"x": [1]})}, path, metadata={"m": 1})
    en.update({"a": [2], "d": "new"}, path, remove=["c"])
    found = en.read(path)
    assert list(found) == ["a", "b", "d"]
    assert found["a"] == [2]
    assert found["b"].tolist() == list(range(100_000))
    assert en.open(path).metadata == {"m": 1}
    with pytest.raises(en.ArgumentError, match="no key 'z'"):
        en.update({}, path, remove=["z"])
    en.write({"a": np.arange(3), "b": np.arange(3) * 0.5}, path)
    en.update({"c": np.arange(4)}, path)
    assert [len(array) for array in en.read(path).values()] == [3, 3, 4]


@pytest.mark.parametrize("as_path", [str, Path])
def test_the_value_comes_before_the_path(as_path: Callable[[str], Any], path: str) -> None:
    calls: dict[str, tuple[str, Any]] = {
        "add_columns": ("frame", {"b": [1, 2]}),
        "replace_columns": ("frame", pd.DataFrame({"a": [3, 4]})),
        "set_metadata": ("metadata", None),
        "update": ("values", {"a": 1}),
    }
    en.write(pd.DataFrame({"a": [1, 2]}), path)
    before = Path(path).read_bytes()
    for function, (name, value) in calls.items():
        with pytest.raises(en.ArgumentError) as caught:
            getattr(en, function)(as_path(path), value)
        assert str(caught.value) == f"{function} takes the {name} first: en.{function}({name}, {path!r})"
        assert Path(path).read_bytes() == before
    with pytest.raises(en.ArgumentError, match="as an open file"):
        en.set_metadata("text", BytesIO())
    with pytest.raises(en.MissingFileError):
        en.set_metadata(as_path(path), path + "x")


def test_the_value_and_the_path_have_names(path: str) -> None:
    en.write({"a": 1}, path)
    en.update(path=path, values={"b": 2})
    assert en.read(path) == {"a": 1, "b": 2}
    en.set_metadata(path=path, metadata="text")
    assert en.open(path).metadata == "text"
    en.write(pd.DataFrame({"a": [1, 2]}), path)
    en.add_columns(path=path, frame={"b": [3, 4]})
    en.replace_columns(path=path, frame={"a": [5, 6]})
    assert en.read(path).to_dict("list") == {"a": [5, 6], "b": [3, 4]}


def test_rollback(path: str) -> None:
    df = frame(60_000)
    en.write(df, path)
    before = en.open(path)
    en.append(df, path)
    en.drop_columns(path, "s")
    en.rollback(path, 1)
    assert_frame_equal(en.read(path), df)
    assert [g.operation for g in en.generations(path)] == ["write", "append", "drop columns", "rollback"]
    assert [g.rows for g in en.generations(path)] == [60_000, 120_000, 120_000, 60_000]
    en.append(df[:10], path)
    assert_frame_equal(en.read(path), pd.concat([df, df[:10]], ignore_index=True))
    en.rollback(path, 3)
    wanted = pd.concat([df, df], ignore_index=True).drop(columns="s")
    assert_frame_equal(en.read(path), wanted)
    # An open file keeps its generation.
    assert_frame_equal(before.read(), df)
    en.verify(path)
    size = Path(path).stat().st_size
    en.rollback(path, 6)
    assert Path(path).stat().st_size == size, "the current generation is not a change"
    en.rollback(path, 5)
    assert Path(path).stat().st_size < size + 1000
