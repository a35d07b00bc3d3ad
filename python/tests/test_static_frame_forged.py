"""Files of StaticFrame whose host maps are invalid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forge import write_builder

import entasis as en
from entasis._entasis import Builder, ColumnRef

sf = pytest.importorskip("static_frame")

SPEC = {"class": "Index", "kind": "range", "start": 0, "stop": 5, "step": 1, "name": None}
NAMED = {"class": "Index", "kind": "names", "dtype": "str", "width": 1, "name": None}
COLUMN = {"class": "Index", "kind": "column", "column": ColumnRef(0), "name": None}
MULTI = {"class": "IndexHierarchy", "kind": "multi", "columns": [], "classes": [], "names": [], "name": None}
GOOD = {"host": "static_frame", "class": "Frame", "name": None, "index": SPEC, "columns": NAMED, "blocks": [2]}
MALFORMED: list[dict[str, Any]] = [
    {"host": "static_frame"},
    {"host": "static_frame", "class": "Frame"},
    GOOD | {"class": "Bus"},
    GOOD | {"class": ["Frame"]},
    GOOD | {"class": "FrameGO"},
    {key: value for key, value in GOOD.items() if key != "columns"},
    GOOD | {"index": 3},
    GOOD | {"index": SPEC | {"stop": 4}},
    GOOD | {"index": SPEC | {"step": 0}},
    GOOD | {"index": SPEC | {"class": "IndexGO"}},
    GOOD | {"index": SPEC | {"class": "IndexDate"}},
    GOOD | {"index": SPEC | {"class": "Frame"}},
    GOOD | {"index": {"kind": "nothing"}},
    GOOD | {"index": COLUMN | {"class": "IndexDate"}},
    GOOD | {"index": COLUMN | {"column": 3}},
    GOOD | {"index": COLUMN | {"column": ColumnRef(1)}},
    GOOD | {"index": MULTI},
    GOOD | {"index": MULTI | {"columns": [ColumnRef(0)] * 2, "classes": ["Index"] * 2, "names": [None] * 2}},
    GOOD | {"columns": NAMED | {"width": -1}},
    GOOD | {"columns": NAMED | {"width": "1"}},
    GOOD | {"columns": NAMED | {"width": 1 << 40}},
    GOOD | {"columns": NAMED | {"class": "IndexYear"}},
    GOOD | {"columns": COLUMN},
    GOOD | {"blocks": 3},
    GOOD | {"blocks": [3]},
    GOOD | {"blocks": [-3]},
    GOOD | {"blocks": []},
    GOOD | {"blocks": [1.0, 1.0]},
    GOOD | {"blocks": [-(1 << 63), 2]},
    GOOD | {"blocks": [1 << 62, 1 << 62]},
    GOOD | {"blocks": ColumnRef(0)},
    GOOD | {"blocks": ColumnRef(1)},
    GOOD | {"name": {"tuple": 3}},
    GOOD | {"name": {"nothing": 3}},
    GOOD | {"name": {}},
    GOOD | {"name": [1]},
    GOOD | {"name": {"integer": "x"}},
    GOOD | {"name": {"date": "yesterday"}},
    GOOD | {"name": {"timedelta": [1 << 60, 0, 0]}},
    GOOD | {"name": {"complex": ["1", 2]}},
    GOOD | {"name": {"numpy": ["O", bytes(8)]}},
    GOOD | {"name": {"numpy": ["<i8", bytes(7)]}},
    GOOD | {"name": {"numpy": ["i8,f8", bytes(16)]}},
    GOOD | {"name": {"numpy": ["no such", b""]}},
    {"host": "static_frame", "class": "Series", "name": None, "index": SPEC},
    {"host": "static_frame", "class": "IndexDate", "index": SPEC},
]


def forge(path: Any, host: dict[str, Any]) -> None:
    builder = Builder(5, ["a", "b"])
    builder.words(np.arange(5), 0)
    builder.words(np.arange(5), 1)
    builder.words(np.array([1, 1, 2, 3, 4], "i4"), None, name="i")
    write_builder(builder, path, host)


def test_forged_and_sound(path):
    forge(path, GOOD)
    assert en.read(path).shape == (5, 2)


@pytest.mark.parametrize("host", MALFORMED, ids=repr)
def test_host_map(host, path):
    forge(path, host)
    with pytest.raises((en.CorruptFileError, en.LimitError)) as caught:
        en.read(path)
    assert caught.value.file == str(path) or type(caught.value) is en.LimitError
    en.verify(path)


@pytest.mark.parametrize("codes", [[-2], [2]])
def test_block_of_several_types(codes, path):
    builder = Builder(5, ["a", "b"])
    builder.words(np.arange(5), 0)
    builder.words(np.arange(5.0), 1)
    write_builder(builder, path, GOOD | {"blocks": codes})
    with pytest.raises(en.CorruptFileError, match="several types"):
        en.read(path)


def test_missing_values_where_there_are_none(path):
    builder = Builder(5, ["a", "b"])
    builder.words(np.arange(5), 0, mask=np.arange(5) == 2, missing="NA")
    builder.words(np.arange(5.0), 1)
    write_builder(builder, path, GOOD | {"blocks": [0, 0]})
    with pytest.raises(en.CorruptFileError, match="missing values"):
        en.read(path)


def test_strings_wider_than_told(path):
    builder = Builder(5, ["a", "b"])
    builder.text(np.array(["abc"] * 5, dtype=object), 0, host_variant=1)
    builder.words(np.arange(5.0), 1)
    write_builder(builder, path, GOOD | {"blocks": [0, 0]})
    with pytest.raises(en.CorruptFileError):
        en.read(path)
