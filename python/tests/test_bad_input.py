"""Bad values are refused with their path, before the target is touched; no file is left."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import static_frame as sf
from bench.fidelity.same import check

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclasses.dataclass
class Node:
    x: Any


def objects(*cells: Any) -> Any:
    array = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        array[i] = cell
    return array


def frame(*cells: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": objects(*cells)})


def with_attrs(**attrs: Any) -> pd.DataFrame:
    found = pd.DataFrame({"a": [1]})
    found.attrs = attrs
    return found


def deep(make: Callable[[Any], Any], n: int = 10_000) -> Any:
    value: Any = 1
    for _ in range(n):
        value = make(value)
    return value


def pair(value: Any) -> Any:
    return (value,)


# NumPy frees arrays inside of arrays by recursion, which ends the process at such a depth. So each
# one is kept alive by itself.
HELD: list[Any] = []


def held(value: Any) -> Any:
    HELD.append(objects(value))
    return HELD[-1]


def in_itself(kind: str) -> Any:
    inner: list[Any] = []
    if kind == "list":
        value: Any = [1, inner]
        inner.append(value)
    elif kind == "dict":
        value = {"a": {}}
        value["a"]["b"] = value
    elif kind == "array":
        value = objects(1, None)
        value[1] = value
    elif kind == "dataclass":
        value = Node(None)
        value.x = [value]
    elif kind == "cell":
        value = frame(1, 2)
        value.at[0, "a"] = value
    else:
        value = with_attrs()
        value.attrs["me"] = value
    return value


BUILTIN = "a value of type builtin_function_or_method can't be kept"
ITSELF = "contains itself can't be kept"
BIG = np.broadcast_to(np.float64(1.5), (1 << 20, 1 << 25))
REFUSED = {
    "in a list": (lambda: {"a": [1, {"x": len}]}, f"value['a'][1]['x']: {BUILTIN}"),
    "in a dataclass": (lambda: [Node([len])], f"value[0].x[0]: {BUILTIN}"),
    "in a set": (lambda: {"a": {len}}, f"value['a'][0]: {BUILTIN}"),
    "a key": (lambda: {"a": {len: 1}}, "value['a'] (the key <built-in function len>): a value of type builtin"),
    "a lambda in a column": (lambda: frame(1, 2, 3, lambda: 0), "df['a'].iloc[3]: a value of type function can't"),
    "in a column of a number": (lambda: frame(1, len).rename(columns={"a": 7}), f"df[7].iloc[1]: {BUILTIN}"),
    "in a series": (lambda: frame(1, len)["a"], f"series.iloc[1]: {BUILTIN}"),
    "in a cell": (lambda: frame({"k": [len]}), f"df['a'].iloc[0]['k'][0]: {BUILTIN}"),
    "in a frame in a cell": (lambda: frame(frame(len)), f"df['a'].iloc[0]: df['a'].iloc[0]: {BUILTIN}"),
    "in a frame in a tree": (lambda: {"m": [frame(1, len)]}, f"value['m'][0]: df['a'].iloc[1]: {BUILTIN}"),
    "in attrs": (lambda: with_attrs(k=[len]), f"the frame's attrs['k'][0]: {BUILTIN}"),
    "in attrs in a tree": (lambda: [with_attrs(k=len)], f"value[0]: the frame's attrs['k']: {BUILTIN}"),
    "a label": (lambda: pd.DataFrame({"a": [1, 2]}, index=pd.Index([1, len])), f"the index[1]: {BUILTIN}"),
    "a level": (lambda: pd.Series([1], pd.MultiIndex.from_arrays([[len], [1]])), f"the index, level 0[0]: {BUILTIN}"),
    "a name": (lambda: pd.Series([1], name=len), f"the series: a name: {BUILTIN}"),
    "a column of another dtype": (lambda: [pd.DataFrame({"s": pd.arrays.SparseArray(["a"])})], "value[0]: column 's'"),
    "in a Polars column": (lambda: pl.DataFrame({"p": pl.Series([1, len], dtype=pl.Object)}), f"df['p'][1]: {BUILTIN}"),
    "in a NumPy column": (lambda: {"x": objects(1, len)}, f"value['x'][1]: {BUILTIN}"),
    "a field of objects": (lambda: {"x": np.zeros(2, [("a", "O")])}, "column 'x': a field of dtype object"),
    "in a StaticFrame column": (lambda: sf.Frame.from_dict({"a": (1, len)}), f"frame['a'].iloc[1]: {BUILTIN}"),
    "surrogates in strings kept by Python": (
        lambda: pd.DataFrame({"a": pd.array(["\ud800"], dtype="string[python]")}),
        "column 'a': the string in row 0 has lone surrogates",
    ),
    **{
        f"{kind} in itself": (lambda kind=kind: in_itself(kind), f"{path}: a {what} that {ITSELF}")
        for kind, path, what in (
            ("list", "value[1][0]", "value"),
            ("dict", "value['a']['b']", "value"),
            ("array", "value[1]", "value"),
            ("dataclass", "value.x[0]", "value"),
            ("cell", "df['a'].iloc[0]", "frame"),
            ("attrs", "the frame's attrs['me']", "frame"),
        )
    },
    "deep lists": (lambda: deep(lambda x: [x]), "value[0][0][0]"),
    "deep dicts": (lambda: deep(lambda x: {"k": x}), "value['k']['k']['k']"),
    "deep tuples": (lambda: deep(pair), "value[0][0][0]"),
    "deep arrays": (lambda: deep(held), "value[0][0][0]"),
    "deep dataclasses": (lambda: deep(Node), "value.x.x.x"),
    "deep cell": (lambda: frame(1, deep(pair)), "df['a'].iloc[1][0][0]"),
    "deep attrs": (lambda: with_attrs(k=deep(pair)), "the frame's attrs['k'][0][0]"),
    "deep label": (lambda: sf.Series((1, 2), index=sf.Index((1, deep(pair)))), "the index[1][0][0]"),
    "deep name": (lambda: sf.Series((1,), name=deep(pair)), "the series: a name[0][0]"),
    "deep frames": (lambda: deep(frame, 100), "frames are nested deeper than 32"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "old"])
def test_refused(name: str, is_there: bool, path: Path) -> None:
    make, message = REFUSED[name]
    if is_there:
        path.write_bytes(b"old")
    with pytest.raises(en.UnsupportedTypeError, match=re.escape(message)) as error:
        en.write(make(), path)
    assert name[:4] != "deep" or "deeper than" in str(error.value)
    assert [child.read_bytes() for child in path.parent.iterdir()] == [b"old"] * is_there


@pytest.mark.parametrize(
    ("value", "where"),
    [(BIG, "value"), ({"a": [1, BIG]}, "value['a'][1]"), (frame(1, BIG), "df['a'].iloc[1]"), ({"x": BIG[0, 0]}, None)],
    ids=["alone", "in a tree", "in a cell", "a number of it"],
)
def test_more_than_memory(value: Any, where: str | None, path: Path) -> None:
    if where is None:
        en.write(value, path)
        return
    with pytest.raises(en.OutOfMemoryError, match=re.escape(f"{where}: an array of 281,474,976,710,656 bytes")):
        en.write(value, path)
    assert list(path.parent.iterdir()) == []


def test_columns_of_more_than_memory(path: Path) -> None:
    with pytest.raises(en.OutOfMemoryError, match="column 'x': an array of"):
        en.write({"x": np.broadcast_to(np.float64(1.5), 1 << 45)}, path)
    assert list(path.parent.iterdir()) == []


HALF = "\ud800x"
KEPT = {
    "labels without a hash": lambda: pd.DataFrame({"a": [1, 2]}, index=pd.Index(objects([1], {}))),
    "columns without a hash": lambda: pd.DataFrame([[1, 2]], columns=pd.Index(objects([1], {}))),
    "half a pair, column": lambda: pd.DataFrame([[1]], columns=pd.Index([HALF], dtype=object)),
    "half a pair, index": lambda: pd.Series([1], pd.Index([HALF], dtype=object, name=HALF), name=HALF),
    "half a pair, level": lambda: pd.Series([1], pd.MultiIndex.from_arrays([[1], [2]], names=[HALF, "x"])),
    "half a pair, key": lambda: {HALF: np.zeros(2), "a": [HALF]},
    "half a pair, StaticFrame": lambda: sf.Frame(np.zeros((1, 2)), columns=[HALF, "b"], index=[HALF], name=HALF),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str, path: Path) -> None:
    en.write(KEPT[name](), path)
    check(KEPT[name](), en.read(path))
    en.verify(path)


def test_deepest(path: Path) -> None:
    en.write(deep(lambda x: [x], 999), path)
    value = en.read(path)
    for _ in range(999):
        (value,) = value
    assert value == 1


def test_small_frames_take_few_calls_of_python(path: Path) -> None:
    """A write and a read of 5 columns and 100 rows: `python -m bench.overhead` measures the time."""
    import sys

    from bench.overhead import small_frame

    value = small_frame()
    for call, most in ((lambda: en.write(value, path), 84), (lambda: en.read(path), 194)):
        call()
        n = 0

        def hook(_frame: Any, event: str, _argument: Any) -> None:
            nonlocal n
            n += event == "call"

        sys.setprofile(hook)
        try:
            call()
        finally:
            sys.setprofile(None)
        assert 0 < n <= most
