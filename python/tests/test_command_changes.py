"""The command changes files of each library as the library's own functions change the frame."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import forks
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf
from frames_same import assert_frame_equal
from pandas.api.types import union_categoricals

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A file that is written anew by a change, and one that changes in place.
SIZES = [7, 60_000]


def command(*args: Any) -> str:
    """The errors of a command, empty after success."""
    done = forks.command(*args)
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
    assert_frame_equal(a, b)
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


def renamed(value: Any, names: dict[str, str]) -> Any:
    """A frame of any library with other labels of columns."""
    if isinstance(value, dict):
        return {names.get(name, name): array for name, array in value.items()}
    if isinstance(value, pd.DataFrame):
        return value.rename(columns=names)
    if isinstance(value, pa.Table):
        return value.rename_columns([names.get(name, name) for name in value.column_names])
    if isinstance(value, sf.Frame):
        return value.relabel(columns=[names.get(name, name) for name in value.columns])
    return value.rename(names)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("host", MAKES)
def test_columns_are_added_and_replaced_as_in_python(tmp_path: Path, host: str, n: int) -> None:
    make, _, same = MAKES[host]
    file, other, columns = (tmp_path / f"{name}.entasis" for name in ("file", "other", "columns"))
    old = make(n)
    en.write(old, file, metadata={"by": "Ada"})
    names = {name: f"a new label of {name}" for name in en.open(file).column_names}
    shutil.copy(file, other)
    new = renamed(make(n), names)
    en.write(new, columns, metadata={"by": "Bob"})
    assert command("add", file, columns) == ""
    en.add_columns(new, other)
    assert same(en.read(file), en.read(other))
    assert command("rename", columns, names["f"], "i") == ""
    assert command("rename", columns, names["s"], "t") == ""
    assert command("replace", "--columns", "i,t", file, columns) == ""
    replacing = en.open(columns).select(["i", "t"]).read()
    en.replace_columns(replacing, other)
    assert same(en.read(file), en.read(other))
    assert en.open(file).metadata == {"by": "Ada"}
    en.verify(file)
    if n == SIZES[1]:
        assert [g.operation for g in en.generations(file)][-2:] == ["add columns", "replace columns"]
    # The package goes on from there.
    assert command("append", file, file) == ""
    en.drop_columns(file, "i")
    en.verify(file)


def test_what_belongs_to_columns_comes_with_them(tmp_path: Path) -> None:
    file, other, columns = (tmp_path / f"{name}.entasis" for name in ("file", "other", "columns"))
    for n in SIZES:
        old = of_pandas(n)
        old.attrs = {"a": 1}
        texts = pd.Series(["x", None, pd.NA, np.nan, "y"] * (n // 5 + 1), dtype=object)[:n]
        new = pd.DataFrame({"unused": 1, "kinds": texts, "second": texts[::-1].reset_index(drop=True)})
        categories = pd.CategoricalDtype(pd.Index(range(10, 14), dtype="int32", name="named"))
        new["categories"] = pd.Categorical.from_codes(np.arange(n) % 4, dtype=categories)
        new["range"] = pd.Categorical.from_codes(np.arange(n) % 4, dtype=pd.CategoricalDtype(pd.RangeIndex(4)))
        new["days"] = pd.Categorical.from_codes(np.arange(n) % 3, pd.date_range("2024-01-01", periods=3, freq="D"))
        new.attrs = {"b": 2}
        en.write(old, file)
        en.write(new, columns)
        shutil.copy(file, other)
        chosen = ["days", "range", "kinds", "categories", "second"]
        words = [word for name in chosen for word in ("--columns", name)]
        assert command("add", file, columns, *words) == ""
        en.add_columns(new[chosen], other)
        found = en.read(file)
        same_pandas(found, en.read(other))
        assert found.attrs == {"a": 1}
        assert [type(a) for a in found["kinds"][:5]] == [type(a) for a in texts[:5]]
        assert found["range"].cat.categories.equals(pd.RangeIndex(4))
        assert type(found["range"].cat.categories) is pd.RangeIndex
        assert found["categories"].cat.categories.name == "named"
        assert found["days"].cat.categories.freq == "D"
        # The same columns again, in other positions.
        assert command("rename", columns, "second", "c") == ""
        assert command("replace", file, columns, "--columns", "c,kinds") == ""
        en.replace_columns(en.open(columns).select(["c", "kinds"]).read(), other)
        same_pandas(en.read(file), en.read(other))
        en.verify(file)


def test_labels_and_the_index_stay_right(tmp_path: Path) -> None:
    file, other, columns = (tmp_path / f"{name}.entasis" for name in ("file", "other", "columns"))
    days = pd.date_range("2024-01-01", periods=2)
    for old_labels in (pd.Index(["a"], dtype=object, name="n"), pd.Index(["a"], dtype="str", name="n")):
        for new_labels in (pd.Index(["b"], dtype=object, name="m"), pd.Index(["b"], dtype="str")):
            for index in (None, days, pd.RangeIndex(3, 7, 2), pd.Index(["x", "y"], name="a")):
                old = pd.DataFrame([[1], [2]], columns=old_labels, index=index)
                new = pd.DataFrame([[3.5], [4.5]], columns=new_labels)
                en.write(old, file)
                en.write(new, columns)
                shutil.copy(file, other)
                assert command("add", file, columns) == ""
                en.add_columns(new, other)
                found, wanted = en.read(file), en.read(other)
                same_pandas(found, wanted)
                assert found.columns.dtype == wanted.columns.dtype
                assert found.columns.name == wanted.columns.name == "n"
    # The range of the file, and another one.
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.RangeIndex(3, 7, 2))
    en.write(frame, file)
    en.write(frame.rename(columns={"a": "b"}), columns)
    assert command("add", file, columns) == ""
    same_pandas(en.read(file), frame.assign(b=[1, 2]))
    for index in (pd.RangeIndex(3, 5), pd.RangeIndex(1, -1, -1), days, pd.Index(["x", "y"])):
        en.write(pd.DataFrame({"c": [1, 2]}, index=index), columns)
        message = command("add", file, columns)
        assert "labels of rows" in message
        assert "use en.add_columns in Python" in message
    # The width of labels of StaticFrame.
    en.write(sf.Frame.from_dict({"a": [1, 2]}), file)
    en.write(sf.Frame.from_dict({"much longer": [1, 2]}), columns)
    assert command("add", file, columns) == ""
    assert same_static_frame(en.read(file), sf.Frame.from_dict({"a": [1, 2], "much longer": [1, 2]}))


def test_schemas_of_arrow_stay_right(tmp_path: Path) -> None:
    file, other, columns = (tmp_path / f"{name}.entasis" for name in ("file", "other", "columns"))
    new = pa.table({"u": [1, 2], "x": pa.array(["a", "b"], pa.large_string()), "d": pa.array([None, 3], pa.int8())})
    fields = [
        new.schema.field(0),
        pa.field("x", pa.large_string(), nullable=False, metadata={"of": "x"}),
        new.schema.field(2).with_metadata({"of": "d"}),
    ]
    new = new.cast(pa.schema(fields, metadata={"schema": "new"}))
    en.write(of_pyarrow(2), file)
    en.write(new, columns)
    shutil.copy(file, other)
    assert command("add", file, columns, "--columns", "d,x") == ""
    en.add_columns(new.select(["d", "x"]), other)
    assert en.read(file).schema.equals(en.read(other).schema, check_metadata=True)
    assert en.read(file).schema.field("x").metadata == {b"of": b"x"}
    assert en.read(file).equals(en.read(other))
    enum = pl.DataFrame({"e": pl.Series(["b", "a"], dtype=pl.Enum(["a", "b"]))})
    en.write(pl.DataFrame({"a": [1, 2]}), file)
    en.write(enum, columns)
    assert command("add", file, columns) == ""
    found = en.read(file)
    assert found.schema == {"a": pl.Int64, "e": pl.Enum(["a", "b"])}
    assert found["e"].to_list() == ["b", "a"]


METADATA = {
    "null": None,
    "flags": [True, False, None],
    "numbers": [0, -1, 2**53 + 1, -(2**63), 2**63 - 1, 1.0, -0.0, 0.1, 1e300, 5e-324],
    "text": ["", "é😀", 'quotes " \\ \n \x00', "a, b=c"],
    "nested": {"z": {"a": [[], {}, [{"x": 1, "y": [2]}]]}, "": "empty key", "many": {str(i): i for i in range(3000)}},
    "rows": [{"a": i, "b": f"text {i}", "c": i / 7} for i in range(200)],
}


def shown(file: Path) -> Any:
    return json.loads(forks.command("metadata", file).stdout)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("host", MAKES)
def test_metadata_are_set_as_in_python(tmp_path: Path, host: str, n: int) -> None:
    make, _, same = MAKES[host]
    file, source = tmp_path / "file.entasis", tmp_path / "source.json"
    en.write(make(n), file)
    assert shown(file) is None
    for indent in (None, 2):
        source.write_text(json.dumps(METADATA, indent=indent, ensure_ascii=indent is None), encoding="utf-8")
        assert command("metadata", file, "--from", source) == ""
        found = en.open(file).metadata
        assert repr(found) == repr(METADATA)
        assert shown(file) == METADATA
    assert command("metadata", file, "--set", "text=[1, 2.0]", "--set", 'new={"a": null}', "--text", "by=A=1") == ""
    wanted = METADATA | {"text": [1, 2.0], "new": {"a": None}, "by": "A=1"}
    assert repr(en.open(file).metadata) == repr(wanted)
    en.set_metadata(wanted, file)
    assert command("metadata", file, "--set", "text=null") == ""
    assert repr(en.open(file).metadata) == repr(wanted | {"text": None})
    en.verify(file)
    assert same(en.read(file), make(n))
    assert command("metadata", file, "--remove") == ""
    assert en.open(file).metadata is None
    assert command("metadata", file, "--set", "a=1") == ""
    assert en.open(file).metadata == {"a": 1}
    if n == SIZES[1]:
        assert {g.operation for g in en.generations(file)[1:]} == {"metadata"}
    source.write_text("[1, 2]")
    assert command("metadata", file, "--from", source) == ""
    assert en.open(file).metadata == [1, 2]
    assert "have no keys" in command("metadata", file, "--set", "a=1")
    en.verify(file)


OTHER_METADATA = [
    {"a": (1, 2)},
    {"a": {1, 2}},
    {"a": b"bytes"},
    {"a": 2**70},
    {"a": np.float64(1)},
    {"a": np.arange(3)},
    {"a": pd.Timestamp("2024-01-01")},
    {1: "a"},
    {"a": [shared := [1, 2], shared]},
    {"a": pd.DataFrame({"x": [1]})},
    {"a": [(1, "x")] * 100},
]


@pytest.mark.parametrize("metadata", OTHER_METADATA, ids=lambda value: str(value)[:20])
def test_metadata_that_json_lacks_stay(tmp_path: Path, metadata: Any) -> None:
    file = tmp_path / "file.entasis"
    en.write(pd.DataFrame({"a": [1]}), file, metadata=metadata)
    content = file.read_bytes()
    assert "use en.set_metadata in Python" in command("metadata", file, "--set", "b=1")
    assert file.read_bytes() == content
    shown(file)


def test_wrong_metadata_leave_the_file(tmp_path: Path) -> None:
    file, source = tmp_path / "file.entasis", tmp_path / "source.json"
    en.write({"tree": [1]}, file, metadata={"by": "Ada"})
    content = file.read_bytes()
    assert "use en.set_metadata in Python" in command("metadata", file, "--set", "b=1")
    en.write(pd.DataFrame({"a": [{"x": 1}, None]}), file, metadata={"by": "Ada"})
    assert "use en.set_metadata in Python" in command("metadata", file, "--remove")
    content = file.read_bytes()
    for text in ("{'a': 1}", '{"a": 1, "a": 2}', '{"a": NaN}', str(2**63), "[1] 2", ""):
        source.write_text(text)
        assert "JSON" in command("metadata", file, "--from", source)
    assert "No such file" in command("metadata", file, "--from", tmp_path / "none")
    for wrong in (["--set", "a"], ["--set", "a=b"], ["--remove", "--set", "a=1"], ["--from", source, "--remove"]):
        command("metadata", file, *wrong)
    assert "--text KEY=TEXT" in command("metadata", file, "--set", "a=b")
    assert file.read_bytes() == content
    assert shown(file) == {"by": "Ada"}


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
    columns = tmp_path / "columns.entasis"
    en.write(pd.DataFrame({name: [1]}), columns)
    assert "use en.add_columns in Python" in command("add", file, columns)
    assert "use en.replace_columns in Python" in command("replace", file, columns)
    en.write(pd.DataFrame({"b": [2]}), columns)
    assert "use en.add_columns in Python" in command("add", columns, file)


NOT_COPIED = {
    "objects": pd.DataFrame({"b": [{"x": 1}, None]}),
    "nested": pl.DataFrame({"b": [[1], [2, 3]]}),
    "metadata of dtypes": {"b": np.array([1, 2], dtype=np.dtype("i8", metadata={"a": 1}))},
    "the file is of pandas": pl.DataFrame({"b": [1, 2]}),
    "the file is of polars": pd.DataFrame({"b": [1, 2]}),
    "has 2 rows|have 3 rows": pd.DataFrame({"b": [1, 2, 3]}),
}


@pytest.mark.parametrize("what", NOT_COPIED)
def test_columns_that_are_not_copied_leave_the_file(tmp_path: Path, what: str) -> None:
    file, columns = tmp_path / "file.entasis", tmp_path / "columns.entasis"
    value = NOT_COPIED[what]
    if isinstance(value, dict):
        en.write({"b": np.array([1, 2])}, file)
    elif isinstance(value, pl.DataFrame) != (what.startswith("the file is of")):
        en.write(pl.DataFrame({"b": [1, 2]}), file)
    else:
        en.write(pd.DataFrame({"b": [1, 2]}), file)
    en.write(value, columns)
    content = file.read_bytes()
    message = command("replace", file, columns)
    assert any(part in message for part in what.split("|")), message
    assert "use en.replace_columns in Python" in message
    assert file.read_bytes() == content


def test_names_that_are_there_or_not(tmp_path: Path) -> None:
    file, columns = tmp_path / "file.entasis", tmp_path / "columns.entasis"
    en.write(pd.DataFrame({"price": [1], "b": [2]}), file)
    en.write(pd.DataFrame({"price": [3], "prize": [4], "a,b": [5]}), columns)
    content = file.read_bytes()
    assert "has a column of this name already" in command("add", file, columns)
    assert 'no column "prize"' in command("replace", file, columns)
    assert 'did you mean "price"?' in command("replace", file, columns, "--columns", "prize")
    assert 'no column "prise"' in command("add", file, columns, "--columns", "prise")
    assert "two columns have this name" in command("add", file, columns, "--columns", "prize,prize")
    assert "another writer" not in command("add", file, file)
    assert file.read_bytes() == content
    assert command("replace", file, columns, "--columns", "price") == ""
    assert command("add", file, columns, "--columns", "a,b", "--columns", "prize") == ""
    same_pandas(en.read(file), pd.DataFrame({"price": [3], "b": [2], "a,b": [5], "prize": [4]}))
    en.write(pd.DataFrame([[1, 2]], columns=["b", "b"]), file)
    en.write(pd.DataFrame({"b": [1]}), columns)
    assert "several columns of this name" in command("replace", file, columns)
