"""Structured arrays with objects, titles or metadata, and record arrays, inside of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis._values import structured as _records
from entasis.errors import CorruptFileError, UnsupportedTypeError

POINT = np.dtype([("x", "f8"), ("y", ">i4")])


def described(dtype: Any) -> Any:
    """All properties of a dtype. NumPy compares only some."""
    if dtype.subdtype is not None:
        return described(dtype.subdtype[0]), dtype.subdtype[1]
    metadata = None if dtype.metadata is None else dict(dtype.metadata)
    if dtype.names is None:
        return dtype.str, metadata
    fields = [(name, *map(str, dtype.fields[name][1:]), described(dtype.fields[name][0])) for name in dtype.names]
    return dtype.type, dtype.itemsize, dtype.isalignedstruct, metadata, fields


def assert_same(found: Any, array: Any) -> None:
    assert type(found) is type(array)
    assert described(found.dtype) == described(array.dtype)
    assert found.shape == array.shape
    assert repr(found.tolist()) == repr(array.tolist())


def objects() -> Any:
    return np.array([(1, "a", None), (2, None, [3]), (3, {"k": 1}, (4,))], [("i", "i4"), ("o", "O"), ("p", "O")])


def arrays() -> dict[str, Any]:
    nested = np.zeros(2, [("a", [("b", "O"), ("c", "i2", (2, 2))]), ("d", "S3"), ("e", "O", (2,))])
    nested["a"]["b"] = [None, "x"]
    nested["a"]["c"] = np.arange(8).reshape(2, 2, 2)
    nested["e"] = [["p", 1], [None, 2.5]]
    titled = np.array([(1, 2.5)], [(("Title", "a"), "i4"), ("b", "f8")])
    gaps = np.zeros(2, {"names": ["a", "b"], "formats": ["O", "i4"], "offsets": [8, 32], "itemsize": 40})
    gaps["a"] = ["x", 7]
    metadata = np.zeros(2, np.dtype([("a", np.dtype("i4", metadata={"enum": {"R": 0}}))], metadata={"n": 1}))
    frame = pd.DataFrame({"n": [1, 2], "s": ["x", None], "t": pd.to_datetime(["2020", None])})
    return {
        "objects": objects(),
        "square": np.resize(objects(), (2, 3)),
        "one": objects()[:1].reshape(()),
        "none": objects()[:0],
        "reversed": objects()[::-1],
        "nested": nested,
        "titled": titled,
        "gaps": gaps,
        "aligned": np.zeros(2, np.dtype([("a", "i1"), ("o", "O")], align=True)),
        "metadata": metadata,
        "records": frame.to_records(),
        "plain records": np.rec.array([(1.5, 2), (3.0, 4)], dtype=POINT),
        "of records": np.rec.array([(1.5, 2), (3.0, 4)], dtype=POINT).view(np.ndarray),
        "nested records": np.rec.array([((1.5, 2), "a")], dtype=[("p", POINT), ("o", "O")]),
    }


@pytest.mark.parametrize("name", arrays())
def test_arrays(path, name):
    array = arrays()[name]
    en.write([array, {"a": array}, np.ma.MaskedArray(array.view(np.ndarray)) if name == "titled" else None], path)
    found = en.read(path)
    assert_same(found[0], array)
    assert found[1]["a"] is found[0]
    assert_same(en.open(path)[1]["a"].read(), array)
    en.verify(path)
    en.write(array, path)
    assert_same(en.read(path), array)


@pytest.mark.parametrize("name", ["objects", "titled", "metadata", "records", "plain records", "of records", "nested"])
def test_records_and_dtypes(path, name):
    array = arrays()[name]
    value = [array[0], array.dtype]
    en.write(value, path)
    record, dtype = en.read(path)
    assert type(record) is type(array[0])
    assert repr(record.tolist()) == repr(array[0].tolist())
    assert described(record.dtype) == described(array[0].dtype)
    assert described(dtype) == described(array.dtype)


def test_plain_ones_are_bytes(path):
    """Records of plain bytes are one array, and rows are read alone."""
    array = np.array([(1.5, 2), (3.0, 4), (5.0, 6)], POINT)
    en.write([array, [array[i : i + 1] for i in range(3)]], path)
    part = en.open(path)[0]
    assert part.kind == "array"
    assert_same(part[1:].read(), array[1:])
    assert_same(en.read(path)[1][2], array[2:])


def test_what_is_in_them_is_refused_by_path(path):
    array = objects()
    array["p"][1] = len
    with pytest.raises(UnsupportedTypeError, match=r"value\['a'\].*: a value of type builtin_function_or_method"):
        en.write({"a": [array]}, path)
    with pytest.raises(UnsupportedTypeError, match="column 'x': a field of dtype object is not supported yet"):
        en.write({"x": objects()}, path)
    with pytest.raises(UnsupportedTypeError, match=r"column 'x': dtype .* is of numpy.record"):
        en.write({"x": arrays()["of records"]}, path)


LAYOUT = {
    "names": ["a", "b"], "titles": [None, None], "offsets": [0, 8], "itemsize": 16, "aligned": False, "metadata": None,
    "is_record": False, "is_recarray": False,
}  # fmt: skip
A, B = np.arange(3), np.array([None, "x", 2], dtype=object)


def test_sound_layout():
    found = _records.decode(LAYOUT, (3,), A, B)
    assert found.tolist() == [(0, None), (1, "x"), (2, 2)]


@pytest.mark.parametrize(
    "parts",
    [
        (3, (3,), A, B),
        ({}, (3,), A, B),
        (LAYOUT, 3, A, B),
        (LAYOUT, (2,), A, B),
        (LAYOUT, (3,), A),
        (LAYOUT, (3,), A, B, B),
        (LAYOUT, (3,), A, [1, 2, 3]),
        (LAYOUT | {"names": ["a", "a"]}, (3,), A, B),
        (LAYOUT | {"names": ["a", 3]}, (3,), A, B),
        (LAYOUT | {"offsets": [0, 4]}, (3,), A, B),
        (LAYOUT | {"offsets": [0, -8]}, (3,), A, B),
        (LAYOUT | {"offsets": [0, 1 << 40]}, (3,), A, B),
        (LAYOUT | {"itemsize": 8}, (3,), A, B),
        (LAYOUT | {"itemsize": 1 << 28}, (3,), A, B),
        (LAYOUT | {"itemsize": 64 * 16 + 1}, (3,), A, B),
        (LAYOUT | {"names": [], "titles": [], "offsets": [], "itemsize": 8}, (1 << 40,)),
        (LAYOUT | {"itemsize": 1 << 70}, (3,), A, B),
        (LAYOUT | {"itemsize": None}, (3,), A, B),
        (LAYOUT | {"titles": [None]}, (3,), A, B),
        (LAYOUT | {"titles": None}, (3,), A, B),
        (LAYOUT | {"metadata": [1]}, (3,), A, B),
    ],
)
def test_layouts_that_make_no_sense(path, monkeypatch, parts):
    monkeypatch.setattr(_records, "encode", lambda _: parts)
    en.write([objects()], path)
    monkeypatch.undo()
    with pytest.raises(CorruptFileError, match="the host map of the file is invalid"):
        en.read(path)


def test_gaps_are_bounded(path):
    """Records that are much longer than their fields are refused, also if a file claims them."""
    wide = np.zeros(1, {"names": ["a"], "formats": ["O"], "offsets": [0], "itemsize": 1 << 20})
    with pytest.raises(UnsupportedTypeError, match="most of them between the fields"):
        en.write([wide], path)
