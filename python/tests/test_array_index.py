"""Arrays in files are indexed as NumPy indexes arrays; only pages with the result are read."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import entasis as en
from entasis._tree.array_view import ArrayView, strides

LONG = os.environ.get("ENTASIS_TEST_LONG") == "1"


def outcome(function):
    """The result of a call: an array with its type, or the fact of an error."""
    try:
        found = function()
    except IndexError:
        return "IndexError"
    return np.asarray(found).shape, np.asarray(found).tolist(), type(found)


def read_view(array: np.ndarray, keys: list, fortran: bool):
    """The part of a stored array, read by a view, with the number of elements that it read."""
    flat = array.ravel(order="F" if fortran else "C")
    view = ArrayView(array.shape, strides(array.shape, fortran))
    for key in keys:
        view = view[key]
    n_read = []

    def neighbours(start: int, stop: int):
        assert 0 <= start <= stop <= flat.size
        n_read.append(stop - start)
        return flat[start:stop].copy()

    def scattered(positions):
        n_read.append(len(positions))
        return flat[positions]

    found = view.read(neighbours, scattered)
    assert np.shape(found) == view.shape
    assert type(found) is type(in_memory(array, keys))
    return found, sum(n_read)


def keys_of(draw, shape: tuple[int, ...]):
    """A key for an array of this shape: basic, with arrays, or one that may be out of bounds."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    if kind == 1 and shape and 0 not in shape:
        return draw(hnp.integer_array_indices(shape))
    if kind == 2:
        return draw(hnp.arrays(bool, shape[: draw(st.integers(0, len(shape)))] or (1,)))
    items = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        size = draw(st.integers(0, 4))
        item = draw(
            st.one_of(
                st.integers(-n - 1, n),
                st.slices(n),
                st.lists(st.integers(-max(n, 1), max(n - 1, 0)), min_size=size, max_size=size),
                hnp.arrays(bool, n),
                hnp.arrays(np.int16, (2, 2), elements=st.integers(-max(n, 1), max(n - 1, 0))),
                st.none(),
                st.integers(0, max(n - 1, 0)).map(np.uint8),
            )
        )
        items.append(item)
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return tuple(items)


@st.composite
def cases(draw):
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    array = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    keys = []
    part = array
    for _ in range(draw(st.integers(1, 3))):
        key = keys_of(draw, part.shape)
        keys.append(key)
        try:
            part = part[key]
        except (IndexError, ValueError):
            break
        part = np.asarray(part)
    return array, keys


def in_memory(array, keys):
    for key in keys:
        array = np.asarray(array)[key]
    return array


@settings(
    max_examples=10_000 if LONG else 400, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(cases(), st.booleans())
def test_views_read_what_numpy_takes(case, fortran):
    array, keys = case
    expected = outcome(lambda: in_memory(array, keys))
    assert outcome(lambda: read_view(array, keys, fortran)[0]) == expected


ARRAYS = {
    "f8": np.random.default_rng(1).random((30, 7, 4)),
    "fortran": np.asfortranarray(np.random.default_rng(2).random((30, 7, 4))),
    "bool": np.random.default_rng(3).random((30, 7, 4)) < 0.5,
    "text": np.random.default_rng(4).integers(0, 100, (30, 7, 4)).astype("U3"),
    "text of any length": np.random.default_rng(5)
    .integers(0, 1000, (30, 7, 4))
    .astype("U3")
    .astype(np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else "U3"),
    "times": np.random.default_rng(6).integers(0, 10**9, (30, 7, 4)).astype("M8[s]"),
    "records": np.zeros((30, 7, 4), [("a", "i4"), ("b", "S2")]),
    "objects": np.array([[[str((i, k, j)) for j in range(4)] for k in range(7)] for i in range(30)], object),
    "big-endian": np.arange(30 * 7 * 4, dtype=">i2").reshape(30, 7, 4),
}
KEYS = [
    0,
    -1,
    (0, 1),
    (2, 3, 1),
    slice(5, 9),
    slice(None, None, -7),
    (slice(None), 2),
    (slice(None), slice(0, 2)),
    (slice(3, 20, 4), slice(None), -1),
    (..., 3),
    (5, ...),
    (None, 4),
    [0, 29],
    [0, 0, 5],
    [],
    np.array([True] + [False] * 28 + [True]),
    [0, 29, 3],
    (slice(None), [0, 6]),
    ([0, 29], [1, 2]),
    ([0, 29], 1),
    (0, slice(None), [0, 3, 3]),
    ([[0, 1], [28, 29]],),
    (np.ix_([0, 29], [2, 5], [0, 3])),
    np.arange(30 * 7 * 4).reshape(30, 7, 4) % 11 == 0,
    (slice(2, 4), slice(1, 6, 2), slice(3, 0, -1)),
    (),
    slice(7, 7),
]


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_every_kind_are_indexed(path, name):
    array = ARRAYS[name]
    en.write({"a": array, "n": 1}, path)
    t = en.open(path)["a"]
    for key in KEYS:
        expected = array[key]
        part = t[key]
        found = part.read()
        assert part.shape == np.shape(expected), key
        assert type(found) is type(expected), key
        assert np.asarray(found).dtype == np.asarray(expected).dtype, key
        assert np.array_equal(np.asarray(found), np.asarray(expected)), key
        assert np.array_equal(np.asarray(part), np.asarray(expected)), key
    assert np.array_equal(t[3:20][[1, 5]][:, 2].read(), array[3:20][[1, 5]][:, 2])
    assert np.array_equal(t.read(rows=(3, 9), columns=[0, 2]), array[3:9][:, [0, 2]])
    assert np.array_equal(t.read(rows=[29, 0]), array[[29, 0]])
    for part in (t[3:9], t[[5, 2], 1], t[2]):
        for again in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert again.shape == part.shape
            assert np.array_equal(np.asarray(again.read()), np.asarray(part.read()))


def test_keys_that_numpy_refuses(path):
    array = np.arange(12).reshape(3, 4)
    en.write([array, np.array(5), [10, 20, 30]], path)
    t = en.open(path)
    for key in (3, -4, (0, 4), (0, 0, 0), [3], 1.5, "a", (..., ...), [True], [0.5], np.zeros((2, 4), bool)):
        with pytest.raises(IndexError):
            array[key]
        with pytest.raises(en.RowsOutOfRangeError, match=r"value\[0\]"):
            t[0][key]
    assert t[1][()].read() == 5
    assert t[1][...].read() == 5
    with pytest.raises(en.RowsOutOfRangeError):
        t[1][0]
    with pytest.raises(TypeError):
        len(t[1])
    with pytest.raises(en.ArgumentError, match="one axis"):
        t[2][0, 2]
    assert t[2][[0, 2]].read() == [10, 30]


def test_only_what_holds_the_elements_is_read():
    array = np.arange(2_000_000, dtype=np.int32).reshape(-1, 10)
    for keys, most in [
        ([[0, 199_999]], 20),
        ([(slice(None, None, 50_000),)], 40),
        ([(150_000, 3)], 1),
        ([([5, 100_000], [0, 9])], 2),
        ([slice(1000, 2000)], 10_000),
        ([(slice(1000, 2000), slice(2, 4))], 10_000),
    ]:
        found, n_read = read_view(array, keys, False)
        assert np.array_equal(found, in_memory(array, keys))
        assert n_read <= most, keys
    found, n_read = read_view(array, [(slice(None), 7)], True)
    assert n_read == len(array)
    wide = array.reshape(4, -1)
    found, n_read = read_view(wide, [[0, 3]], False)
    assert np.array_equal(found, wide[[0, 3]])
    assert n_read == 1_000_000


def test_far_items_of_lists_and_object_columns_are_read_alone(path):
    pd = pytest.importorskip("pandas")
    shared = ["met twice"] * 3
    items = [{"i": i, "l": [i]} for i in range(50_000)]
    items[0] = items[-1] = shared
    en.write(items, path, compression=0)
    t = en.open(path)
    found = t[[0, 49_999, 7]].read()
    assert found == [shared, shared, items[7]]
    assert found[0] is found[1]
    assert t[::10_000].read() == items[::10_000]
    assert t[[5, 5, 2]].read() == [items[5], items[5], items[2]]
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 50_000, 9000)
    assert t[rows].read() == [items[row] for row in rows]
    column = pd.DataFrame({"o": pd.Series(items, dtype=object)})
    en.write(column, path, compression=0)
    f = en.open(path)
    assert f[rows].read()["o"].tolist() == [items[row] for row in rows]
    # Damage between the items that are wanted goes unseen: it is not read.
    texts = [f"<{i:06}>" * 8 for i in range(200_000)]
    content = bytearray(en.to_bytes(texts, compression=0))
    content[content.find(b"<100000>")] ^= 1
    damaged = en.open(bytes(content))
    assert damaged[[0, 199_999]].read() == [texts[0], texts[-1]]
    with pytest.raises(en.CorruptFileError):
        damaged[[0, 100_000]].read()


def test_elements_that_are_no_text(path):
    """NumPy holds code points beyond Unicode, and raises `SystemError` for a single one."""
    array = np.array([65, 0x110000], "u4").view("U1")
    en.write({"a": array, "b": [1]}, path)
    assert en.read(path)["a"].tobytes() == array.tobytes()
    part = en.open(path)["a"]
    assert part[0].read() == "A"
    with pytest.raises(en.UnsupportedTypeError, match="dtype <U1 is not text"):
        part[1].read()
