"""Frames, series and indexes of pandas."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
from dateutil import relativedelta

from ..case import Panel
from .pandas_columns import COLUMNS
from .pandas_labels import indexes, labels_of_columns
from .values import cells, missing, names

N = 6


def panel() -> Panel:
    """All cases."""
    found = Panel()
    for group, columns in COLUMNS.items():
        for name, make in columns().items():
            found.add(group, name, lambda make=make: _frame(make))
    _objects(found)
    for name, index in indexes(N).items():
        found.add("row labels", name, lambda index=index: _with_index(index))
    for name, labels in (indexes(N) | labels_of_columns()).items():
        found.add("column labels", name, lambda labels=labels: _with_columns(labels))
    _names(found)
    _beside(found)
    found.add_all("shapes", _shapes())
    _parts(found)
    _refused(found)
    return found


def _frame(values: Any) -> pd.DataFrame:
    values = values() if callable(values) else values
    return pd.DataFrame({"n": range(len(values)), "x": pd.Series(values, copy=False)})


def _with_index(index: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {"a": np.arange(len(index)), "b": [str(i) for i in range(len(index))]}, index=index
    )


def _with_columns(labels: Any) -> pd.DataFrame:
    return pd.DataFrame(np.arange(2.0 * len(labels)).reshape(2, -1), columns=labels)


def _object_column(values: list[Any]) -> pd.DataFrame:
    column = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        column[i] = value
    return pd.DataFrame({"x": pd.Series(column, dtype=object)})


def _objects(found: Panel) -> None:
    for name, cell in cells().items():
        for beside, other in (("", cell), (" beside None", None)):
            values = [cell, other, cell]
            found.add(
                "object cells", f"{name}{beside}", lambda values=values: _object_column(values)
            )
    for name, nothing in missing().items():
        found.add(
            "object cells", f"only {name}", lambda nothing=nothing: _object_column([nothing] * 3)
        )
        texts = ["a", nothing, ""]
        found.add("object cells", f"str and {name}", lambda texts=texts: _object_column(texts))
    rest = {
        "str alone": ["a", "", "é"],
        "str, int and None": ["a", 1, None],
        "every missing one": ["a", *missing().values()],
        "every missing one and an int": [1, *missing().values()],
        "dicts of different keys": [{"a": 1}, {"b": 2}, {}],
        "lists of different lengths": [[1], [], [1, 2, 3]],
        "zones of several kinds": [
            pd.Timestamp("2020", tz="UTC"),
            pd.Timestamp("2020", tz="Asia/Tokyo"),
        ],
        "ints of any size": [1, 1 << 70, -(1 << 64)],
        "all kinds": list(cells().values()),
    }
    for name, values in rest.items():
        found.add("object cells", name, lambda values=values: _object_column(values))
    refused = r"df\['x'\]\.iloc\[1\]"
    found.add(
        "object cells",
        "a function",
        lambda: _object_column([1, len]),
        rf"{refused}: a value of type builtin",
    )
    found.add(
        "object cells",
        "a module",
        lambda: _object_column([1, np]),
        rf"{refused}: a value of type module",
    )


def _names(found: Panel) -> None:
    for name, label in names().items():
        index = lambda label=label: pd.Index([3, 1, 2], name=label)  # noqa: E731
        found.add("names", f"of the index, {name}", lambda index=index: _with_index(index()))
        found.add("names", f"of the columns, {name}", lambda index=index: _with_columns(index()))
        found.add("names", f"of a level, {name}", lambda label=label: _with_index(
            pd.MultiIndex.from_arrays([[1, 2], ["a", "b"]], names=[label, None])
        ))  # fmt: skip
        found.add(
            "names", f"of a series, {name}", lambda label=label: pd.Series([1, 2], name=label)
        )


def _beside(found: Panel) -> None:
    def attrs(value: dict[Any, Any]) -> Any:
        def make() -> pd.DataFrame:
            frame = pd.DataFrame({"a": [1, 2]})
            frame.attrs = value
            return frame

        return make

    for name, value in {
        "text": {"a": "b"},
        "numbers": {"i": 1, "f": 0.1, "nan": float("nan"), "big": 1 << 70},
        "nested": {"a": {"b": [1, [2, None]]}},
        "a tuple": {"a": (1, 2)},
        "keys that are no text": {1: "a", ("b", 2): "c"},
        "bytes": {"a": b"\xff"},
        "times": {"a": datetime.datetime(2020, 1, 1), "b": pd.Timestamp("2020")},
        "an array": {"a": np.arange(3)},
        "a frame": {"a": pd.DataFrame({"x": [1]})},
        "a set": {"a": {1, 2}},
        "None": {"a": None},
    }.items():
        found.add("attrs and flags", name, attrs(value))

    def flagged() -> pd.DataFrame:
        frame = pd.DataFrame({"a": [1]})
        frame.flags.allows_duplicate_labels = False
        return frame

    def with_attrs_of_series() -> pd.Series:
        series = pd.Series([1, 2], name="s")
        series.attrs = {"unit": "m", "at": (1, 2)}
        return series

    found.add("attrs and flags", "no duplicate labels", flagged)
    found.add("attrs and flags", "of a series", with_attrs_of_series)


def _shapes() -> dict[str, Any]:
    return {
        "nothing": pd.DataFrame,
        "rows without columns": lambda: pd.DataFrame(index=pd.RangeIndex(6)),
        "labelled rows without columns": lambda: pd.DataFrame(index=list("abc")),
        "columns without rows": lambda: pd.DataFrame(columns=["a", "b"]),
        "columns of types without rows": lambda: _frame(COLUMNS["text"]()["str"]).iloc[:0],
        "one cell": lambda: pd.DataFrame({"a": [1]}),
        "10,000 columns": lambda: pd.DataFrame(np.arange(20_000.0).reshape(2, -1)).rename(
            columns=str
        ),
        "10,000 columns of three types": lambda: pd.DataFrame(
            {
                f"c{i}": [i, i + 1] if i % 3 == 0 else [i / 7, 0] if i % 3 == 1 else ["a", str(i)]
                for i in range(10_000)
            }
        ),
        "10,000 columns with numbers as labels": lambda: pd.DataFrame(np.zeros((1, 10_000), "i2")),
        "100,000 rows": lambda: pd.DataFrame(
            {"a": np.arange(100_000), "b": np.arange(100_000) % 7 / 3}
        ),
        "columns of several blocks": _blocks,
        "rows backwards": lambda: pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]})[::-1],
        "transposed": lambda: pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}).T,
    }


def _blocks() -> pd.DataFrame:
    frame = pd.DataFrame({"a": [1, 2, 3]})
    frame["b"] = [4, 5, 6]
    frame["c"] = np.arange(30, dtype="f8")[::-10]
    frame.insert(1, "d", np.broadcast_to(np.int32(7), 3))
    return frame


class _OwnFrame(pd.DataFrame):
    pass


def _refused(found: Panel) -> None:
    """Values that Entasis refuses by name."""
    sparse = pd.arrays.SparseArray(np.array(["a", "b", "a"], dtype=object), fill_value="a")
    weekday = pd.offsets.DateOffset(weekday=relativedelta.MO(1))
    zone = datetime.timezone(datetime.timedelta(hours=1), "own name")
    for name, make, message in (
        ("sparse objects", lambda: _frame(sparse), "column 'x': dtype Sparse"),
        ("an own class of frame", lambda: _OwnFrame({"a": [1]}), "_OwnFrame can't be kept"),
        ("a freq of weekdays of dateutil", lambda: _with_index(
            pd.date_range("2020", periods=3, freq=weekday)
        ), "the index: the frequency"),
        ("a zone with an own name", lambda: _frame(
            pd.Series(pd.to_datetime(["2020"])).dt.tz_localize(zone).array
        ), "column 'x': the time zone"),
        ("a NumpyExtensionArray", lambda: pd.array([1, 2], dtype=np.dtype("i8")), "can't be kept"),
    ):  # fmt: skip
        found.add("refused by name", name, make, message)


def _parts(found: Panel) -> None:
    for group in ("numbers", "text", "times", "categories", "periods, intervals, sparse"):
        for name, make in COLUMNS[group]().items():
            found.add("series", f"{name}", lambda make=make: _frame(make)["x"])
    for name, index in indexes(N).items():
        found.add("indexes", name, lambda index=index: index)
    for name, make in COLUMNS["periods, intervals, sparse"]().items():
        found.add("arrays", name, lambda make=make: _frame(make)["x"].array)
