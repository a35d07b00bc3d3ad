"""The command line on files of Python's libraries: labels of rows, object columns, trees."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import uuid
from typing import Any

import forks
import numpy as np
import pandas as pd
import pytest

import entasis as en


def command(*args: str, stdin: bytes | None = None) -> str:
    done = forks.command(*args, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def rows(*args: str) -> list[Any]:
    return [json.loads(line) for line in command("head", "--json", *args).splitlines()]


INDEXES = {
    "named": (pd.Index([30, 40, 50], name="k"), ["k"], [[30], [40], [50]]),
    "unnamed": (pd.Index(["x", "y", "z"]), ["index"], [["x"], ["y"], ["z"]]),
    "same name as a column": (pd.Index([7, 8, 9], name="v"), ["v#index"], [[7], [8], [9]]),
    "range": (pd.RangeIndex(10, 4, -2), ["index"], [[10], [8], [6]]),
    "named default range": (pd.RangeIndex(3, name="r"), ["r"], [[0], [1], [2]]),
    "default range": (pd.RangeIndex(3), [], [[], [], []]),
    "times": (
        pd.date_range("2024-01-01", periods=3, freq="D", name="t"),
        ["t"],
        [["2024-01-01T00:00:00"], ["2024-01-02T00:00:00"], ["2024-01-03T00:00:00"]],
    ),
    "levels": (
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["p", None]),
        ["p", "level_1"],
        [["a", 1], ["a", 2], ["b", 1]],
    ),
    "categories": (pd.CategoricalIndex(["u", "v", "u"], name="c"), ["c"], [["u"], ["v"], ["u"]]),
    "intervals": (pd.Index([None, "b", "c"], name="m"), ["m"], [[None], ["b"], ["c"]]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_labels_of_rows_are_exported(tmp_path, name):
    index, keys, labels = INDEXES[name]
    path = str(tmp_path / "a.entasis")
    en.write(pd.DataFrame({"v": [1, 2, 3]}, index=index), path)
    expected = [dict(zip(keys, row, strict=True)) | {"v": i + 1} for i, row in enumerate(labels)]
    assert rows(path) == expected
    assert rows("--rows", "1:", path) == expected[1:]
    assert rows("--no-index", path) == [{"v": 1}, {"v": 2}, {"v": 3}]
    shown = command("schema", path)
    for key in keys:
        assert f"({key.removesuffix('#index')})" in shown
    described = json.loads(command("schema", "--json", path))["index"]
    assert [label["name"] for label in described] == [key.removesuffix("#index") for key in keys]


def test_a_file_of_an_index_alone_shows_it(tmp_path):
    path = str(tmp_path / "a.entasis")
    for index in (pd.Index([1, 2, 3]), pd.RangeIndex(1, 4)):
        en.write(index, path)
        assert rows(path) == [{"index": 1}, {"index": 2}, {"index": 3}]


OBJECTS = [
    (None, None),
    (pd.NA, None),
    (pd.NaT, None),
    (True, True),
    (np.bool_(False), False),
    (12, 12),
    (10**30, 10**30),
    (np.uint64(2**64 - 1), 2**64 - 1),
    (1.5, 1.5),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
    ("text\n", "text\n"),
    (b"\x00\xff", "00ff"),
    (datetime.date(2020, 2, 29), "2020-02-29"),
    (datetime.time(1, 2, 3), "01:02:03"),
    (datetime.time(1, 2, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=-2))), "01:02:03-02:00"),
    (datetime.datetime(2020, 1, 1, 3, 0, 0, 500_000), "2020-01-01T03:00:00.500"),
    (
        datetime.datetime(2020, 1, 1, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30))),
        "2020-01-01T03:00:00+05:30",
    ),
    (datetime.timedelta(days=1, seconds=2), "P1DT0H0M2S"),
    (pd.Timestamp("2020-01-01 03:04:05"), "2020-01-01T03:04:05"),
    (decimal.Decimal("-12.50"), -12.5),
    (decimal.Decimal("NaN"), "NaN"),
    (fractions.Fraction(1, 3), "1/3"),
    (complex(1, -2), "1.0-2.0i"),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    ([1, "a", [2.5, None]], [1, "a", [2.5, None]]),
    ((1, 2), [1, 2]),
    ({"a": 1, 2: [True]}, {"a": 1, "2": [True]}),
    ([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
    (range(3), "range(0, 3, 1)"),
    (np.arange(4), "(array of 4)"),
]


def test_values_of_object_columns_are_exported(tmp_path):
    path = str(tmp_path / "a.entasis")
    values = np.empty(len(OBJECTS), object)
    for i, (value, _) in enumerate(OBJECTS):
        values[i] = value
    en.write(pd.DataFrame({"o": values, "i": range(len(OBJECTS))}), path)
    shown = rows("-n", "1000", path)
    for (value, expected), row in zip(OBJECTS, shown, strict=True):
        assert row["o"] == expected, value
    # A part of the rows gives the same, and people see the same values.
    assert rows("--rows", "13:16", path) == shown[13:16]
    text = command("head", "-n", "1000", path)
    for part in ("2020-02-29", "-12.50", "text\\n", "NaT", "1/3", "2020-01-01 03:00:00.500"):
        assert part in text


def test_shared_values_of_object_columns_are_shown_each_time(tmp_path):
    path = str(tmp_path / "a.entasis")
    shared = [1, 2, "x" * 300]
    values = np.empty(3, object)
    values[:] = [shared, "between", shared]
    en.write(pd.DataFrame({"o": values}), path)
    assert [row["o"] for row in rows("--rows", "2:3", path)] == [shared]


def test_the_standard_input_and_the_tail(tmp_path):
    path = tmp_path / "a.entasis"
    frame = pd.DataFrame({"a": range(50)})
    en.write(frame, path)
    tail = command("tail", "-n", "2", "--json", "-", stdin=path.read_bytes())
    assert [json.loads(line)["a"] for line in tail.splitlines()] == [48, 49]


def test_a_tree_is_described_in_its_own_terms(tmp_path):
    path = str(tmp_path / "a.entasis")
    en.write({"w": np.ones(5000), "f": pd.DataFrame({"a": [1]}), "n": [1, "a"]}, path)
    text = command("info", path)
    assert "dict of 3 parts" in text
    assert "(kinds)" not in text
    assert "0 rows" not in text


def test_conditions_on_fields_and_lengths(tmp_path) -> None:
    import polars as pl

    points = [{"x": 1, "y": {"z": "a"}}, None, {"x": None, "y": {"z": "b"}}, {"x": 3, "y": None}]
    frame = pl.DataFrame({"p.q": points, "l": [[1], None, [], [1, 2, 3]]})
    path = str(tmp_path / "nested.entasis")
    en.write(frame, path)
    for condition, n in {
        "p.q.x > 0": 2,
        "not p.q.x > 1": 1,
        "p.q.y.z is null": 2,
        "\"p.q.x\" = 3 or p.q.y.z = 'b'": 2,
        "len(l) >= 1": 2,
        "LEN ( l ) = 0": 1,
        "not len(l) < 3": 1,
        "len(l) between 1 and 2": 1,
        "len(l) not between 1 and 2": 2,
        "len(l) in (0, 3)": 2,
        "len(l) not in (0, 3)": 1,
        "0 < len(l)": 2,
        "-1 < p.q.x": 2,
        "1 = p.q.x or 3 <= len(l)": 2,
    }.items():
        assert command("count", path, "--where", condition) == f"{n}\n", condition
    assert len(command("cat", path, "--where", "-1 < p.q.x").splitlines()) == 2
    for condition, problem in {
        "p.q.w > 0": 'no field "w": its fields are "x", "y"',
        "p.r > 0": "there is no such column",
        "len(p.q) > 0": "only lists and maps have a length",
        "len(l) > 'a'": "needs an integer",
        "len(l)": "needs a comparison",
    }.items():
        done = forks.command("count", path, "--where", condition)
        assert done.returncode != 0
        assert problem in done.stderr.decode(), done.stderr.decode()


def test_conditions_on_labels_of_rows(tmp_path) -> None:
    path = str(tmp_path / "labels.entasis")
    days = pd.date_range("2024-01-01", periods=4, freq="D", name="day")
    en.write(pd.DataFrame({"v": [1, 2, 3, 4]}, index=days), path)
    assert command("count", path, "--where", "day > '2024-01-02' and v < 4") == "1\n"
    levels = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 3)], names=["p", None])
    en.write(pd.DataFrame({"p": [4, 3, 2, 1], "v": [1, 2, 3, 4]}, index=levels), path)
    # A column of the table comes before a level with the same name.
    assert command("count", path, "--where", "p > 1") == "3\n"
    assert command("count", path, "--where", "level_1 = 1 and v > 1") == "1\n"
    en.write(pd.DataFrame({"v": [1, 2]}, index=["x", "y"]), path)
    assert command("count", path, "--where", "index = 'y'") == "1\n"
