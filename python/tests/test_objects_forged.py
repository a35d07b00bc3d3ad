"""Objects of trees, by the names that files have for them, whose parts are not what they have to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from forge import write_builder

import entasis as en
from entasis._entasis import Builder
from entasis._values import codecs as _codecs
from entasis._values.parts import OBJECT

sf = pytest.importorskip("static_frame")

SQUARE = np.array([[1, "a"], [None, 2.5]], dtype=object)
FRAME = sf.Frame.from_element(1, index=("x", "y"), columns=("a",))
INDEX = sf.Index(("p", "q"))


class Foreign:
    """A value that another writer put there: the name of an object, and its parts."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __repr__(self) -> str:
        return f"{self.parts[0]} of {', '.join(type(part).__name__ for part in self.parts[1:]) or 'nothing'}"


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch, path: Any) -> Any:
    """Writes values with foreign ones among them."""
    encode = _codecs.encode

    def patched(value: Any) -> Any:
        return ("parts", OBJECT, value.parts) if type(value) is Foreign else encode(value)

    monkeypatch.setattr(_codecs, "encode", patched)
    return lambda value: en.write(value, path)


def bus(*parts: Any) -> Foreign:
    return Foreign("static_frame.Bus", *parts)


def test_sound_ones(write, path):
    """The names and parts are those that the package writes."""
    write([Foreign("numpy.fortran", SQUARE), bus(INDEX, [FRAME, FRAME], "b")])
    array, found = en.read(path)
    assert array.tolist() == SQUARE.T.tolist()
    assert array.flags.f_contiguous
    assert type(found) is sf.Bus
    assert found.name == "b"
    assert found.index.equals(INDEX)
    assert all(frame.equals(FRAME) for frame in found.values)


@pytest.mark.parametrize(
    "foreign",
    [
        Foreign("numpy.fortran"),
        Foreign("numpy.fortran", SQUARE, SQUARE),
        Foreign("numpy.fortran", None),
        Foreign("numpy.fortran", 3),
        Foreign("numpy.fortran", [1, 2]),
        Foreign("numpy.fortran", np.arange(4).reshape(2, 2)),
        Foreign("numpy.fortran", np.array([1, "a"], dtype=object)),
        Foreign("numpy.fortran", np.float64(1.5)),
        Foreign("numpy.fortran", pd.DataFrame({"a": [1]})),
        Foreign("numpy.fortran", FRAME),
        bus(),
        bus(INDEX),
        bus(INDEX, [FRAME, FRAME]),
        bus(INDEX, [FRAME, FRAME], None, None),
        bus(None, [FRAME, FRAME], None),
        bus(["p", "q"], [FRAME, FRAME], None),
        bus(INDEX, FRAME, None),
        bus(INDEX, 7, None),
        bus(INDEX, [FRAME], None),
        bus(INDEX, [FRAME, FRAME, FRAME], None),
        bus(INDEX, [], None),
        bus(INDEX, [FRAME, None], None),
        bus(INDEX, [FRAME, pd.DataFrame({"a": [1]})], None),
        bus(INDEX, {"p": FRAME, "q": FRAME}, None),
        bus(INDEX, [FRAME, FRAME], [1]),
        bus(INDEX, [FRAME, FRAME], {"a": 1}),
        bus(sf.Index((1, 1.5)), [FRAME], None),
        Foreign("numpy.metadata", np.arange(2)),
        Foreign("numpy.metadata", np.arange(2), None),
        Foreign("numpy.metadata", np.arange(2), [("a", 1)]),
        Foreign("numpy.metadata", [1, 2], {"a": 1}),
        Foreign("numpy.metadata", FRAME, {"a": 1}),
        Foreign("numpy.dtype", "|O", "|O"),
        Foreign("numpy.dtype", "O"),
        Foreign("numpy.dtype", 3),
        Foreign("numpy.dtype", SQUARE),
        Foreign("pandas.dtype", "int64[pyarrow]"),
        Foreign("pandas.dtype", np.arange(2)),
        Foreign("pandas.dtype", pd.Series([1])),
        Foreign("class", "type"),
        Foreign("class", "os.system"),
        Foreign("class", ["str"]),
        Foreign("class"),
        Foreign("numpy.Fortran", SQUARE),
        Foreign("static_frame.Bus.from_zip_pickle", INDEX, [FRAME], None),
        Foreign("os.system", "true"),
        Foreign(""),
    ],
    ids=repr,
)
def test_parts_that_are_none(foreign, write, path):
    for value in (foreign, {"a": [1, foreign]}):
        write(value)
        with pytest.raises((en.CorruptFileError, en.UnsupportedTypeError)):
            en.read(path)


N = 6
FILL = {"bytes": np.int64(0).tobytes(), "python": "int"}


def sparse(path: Any, values: np.ndarray[Any, Any], host_detail: Any) -> None:
    builder = Builder(N, ["a"])
    builder.words(values, 0, host_variant=10, host_detail=host_detail)
    host = {
        "host": "pandas",
        "columns": {"kind": "names", "dtype": "str", "name": None},
        "index": {"kind": "range", "start": 0, "stop": N, "step": 1, "name": None},
    }
    write_builder(builder, path, host)


def test_sound_sparse(path):
    for kind in ("integer", "block"):
        sparse(path, np.array([0, 0, 3, 0, 5, 0]), {"fill": FILL, "kind": kind})
        array = en.read(path)["a"].array
        assert array.kind == kind
        assert array.dtype == pd.SparseDtype("int64", 0)
        assert array.sp_values.tolist() == [3, 5]


@pytest.mark.parametrize(
    "host_detail",
    [
        None,
        3,
        "integer",
        [],
        {},
        {"kind": "integer"},
        {"fill": FILL},
        {"fill": FILL, "kind": "no such"},
        {"fill": FILL, "kind": 3},
        {"fill": FILL, "kind": None},
        {"fill": FILL, "kind": ["integer"]},
        {"fill": None, "kind": "integer"},
        {"fill": 0, "kind": "integer"},
        {"fill": {}, "kind": "integer"},
        {"fill": {"bytes": b""}, "kind": "integer"},
        {"fill": {"bytes": bytes(7)}, "kind": "integer"},
        {"fill": {"bytes": bytes(16)}, "kind": "integer"},
        {"fill": {"bytes": "00000000"}, "kind": "integer"},
        {"fill": {"bytes": bytes(8), "python": "str"}, "kind": "integer"},
        {"fill": {"bytes": bytes(8), "python": 3}, "kind": "integer"},
        {"fill": {"bytes": bytes(8), "python": ["int"]}, "kind": "integer"},
    ],
    ids=repr,
)
def test_sparse_that_is_none(host_detail, path):
    sparse(path, np.arange(N), host_detail)
    with pytest.raises(en.CorruptFileError) as caught:
        en.read(path)
    assert caught.value.file == str(path)
    en.verify(path)
    # Other libraries read its values as ordinary ones.
    assert en.read(path, to="numpy")["a"].tolist() == list(range(N))


def intervals(path: Any, pairs: Any, detail: Any) -> None:
    values = np.array(pairs)
    builder = Builder(len(values), ["a"])
    builder.words(values.view(f"V{2 * values.itemsize}").reshape(-1), 0, host_variant=9, detail=detail)
    host = {"host": "pandas", "columns": {"kind": "names", "dtype": "str", "name": None}, "index": None}
    write_builder(builder, path, host)


def test_sound_intervals(path):
    for pairs in ([[1, 2], [3, 3]], [[0.5, 1.5], [np.nan, np.nan]], [[1, 2], [-(1 << 63)] * 2]):
        subtype = str(np.array(pairs).dtype) if pairs[1][0] != -(1 << 63) else "datetime64[s, Europe/Oslo]"
        intervals(path, pairs, {"subtype": subtype, "closed": "both"})
        found = en.read(path)["a"].array
        assert found.closed == "both"
        assert found.dtype.subtype == subtype
        assert found.isna().tolist() == [False, pairs[1][0] != 3]


@pytest.mark.parametrize(
    ("pairs", "detail"),
    [
        ([[1, 2], [4, 3]], {"subtype": "int64", "closed": "left"}),
        ([[1.0, 2.0], [4.0, np.nan]], {"subtype": "float64", "closed": "left"}),
        ([[1, 2]], {"subtype": "int64", "closed": "no such"}),
        ([[1, 2]], {"subtype": "int64", "closed": ["left"]}),
        ([[1, 2]], {"subtype": "int64"}),
        ([[1, 2]], {"subtype": "float32", "closed": "left"}),
        ([[1, 2]], {"subtype": "M8[D]", "closed": "left"}),
        ([[1, 2]], {"subtype": "M8[10s]", "closed": "left"}),
        ([[1, 2]], {"subtype": "Int64", "closed": "left"}),
        ([[1, 2]], {"subtype": "object", "closed": "left"}),
        (np.array([[1, 2]], "f2"), {"subtype": "float16", "closed": "left"}),
    ],
    ids=repr,
)
def test_intervals_that_are_none(pairs, detail, path):
    intervals(path, pairs, detail)
    with pytest.raises(en.CorruptFileError):
        en.read(path)


@pytest.mark.parametrize("kind", ["M8[s]", "m8[s]"])
def test_sparse_times_with_a_number(kind, path):
    """A number of Python is not a fill value of times."""
    sparse(path, np.zeros(N, kind), {"fill": FILL, "kind": "block"})
    with pytest.raises(en.CorruptFileError, match="number of Python"):
        en.read(path)


def test_sparse_of_other_types(path):
    """The bytes of a fill value of another type."""
    sparse(path, np.zeros(N, "i4"), {"fill": FILL, "kind": "integer"})
    with pytest.raises(en.CorruptFileError):
        en.read(path)
