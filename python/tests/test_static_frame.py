"""StaticFrame frames, series and indexes: writing, parts, refusals, random ones.

That each value comes back is shown by the panel (`test_panels.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import static_frame as sf
from bench.fidelity.cases import panel
from bench.fidelity.cases.static_frame import FIVE, INDEXES, SERIES, WIDE, columnwise, frame, ih
from bench.fidelity.same import check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entasis as en

FRAMES = {case.key: case.make for case in panel("StaticFrame")}


@pytest.mark.parametrize("compression", [0, 20, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_how_it_is_written(compression, threads, path):
    for name in (
        "blocks: both orders",
        "blocks: tall, both",
        "blocks: tall, rows' order",
        "blocks: wide",
        "blocks: wide, interleaved",
        "blocks: wide strings",
        "dtypes: M8[s]",
        "dtypes: >f8",
        "dtypes: V, two axes",
        "object cells: mixed, two axes",
    ):
        given = FRAMES[name]()
        en.write(given, path, compression=compression, threads=threads)
        check(given, en.read(path, threads=threads))
        en.verify(path)


@pytest.mark.parametrize("name", [name for name in SERIES if len(SERIES[name]) > 2])
def test_rows_of_series(name, path):
    en.write(SERIES[name], path)
    check(SERIES[name].iloc[1:3], en.read(path, rows=(1, 3)))


@pytest.mark.parametrize("name", [name for name in INDEXES if len(INDEXES[name]) > 1])
def test_rows_of_index(name, path):
    index = INDEXES[name]
    en.write(index, path)
    back = en.read(path, rows=[1, 0])
    assert type(back) is type(index)
    assert list(map(repr, back)) == list(map(repr, index.iloc[[1, 0]]))
    assert back.name == index.name


def test_grown_index(round_trip):
    index = sf.IndexGO(("a", "b"))
    index.append("long")
    check(index, round_trip(index))
    hierarchy = ih(("a", 1), ("b", 2), cls=sf.IndexHierarchyGO)
    hierarchy.append(("c", 1))
    back = round_trip(hierarchy)
    assert list(map(tuple, back)) == [("a", 1), ("b", 2), ("c", 1)]
    back.append(("d", 4))
    assert len(back) == 4


def test_grows_on(round_trip):
    back = round_trip(FRAMES["classes: grow-only"]())
    back["new"] = np.arange(5)
    assert back.shape == (5, 41)


def test_blocks_are_few_arrays(round_trip):
    given = frame(*([np.arange(50) % 9, np.arange(50) / 7, np.arange(50) < 9] * 400))
    back = round_trip(given)
    check(given, back)
    bases = {id(block.base) for block in back._blocks._blocks}
    assert len(bases) == 3
    assert not any(block.base.flags.writeable for block in back._blocks._blocks)


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_are_read_only(round_trip, order):
    given = sf.Frame(np.asarray(np.arange(1_000_000).reshape(10_000, 100) % 1000, order=order))
    back = round_trip(given)
    check(given, back)
    (block,) = back._blocks._blocks
    assert block.ctypes.data % (2 << 20) == 0
    while block is not None:
        assert not block.flags.writeable
        block = block.base


SELECTED = [
    "blocks: both orders",
    "blocks: wide, irregular",
    "object cells: missing ones of several kinds",
    "blocks: strings",
    "labels: dates",
    "labels: hierarchy with names",
    "classes: grow-only",
    "labels: hierarchy",
    "labels: auto labels with names",
    "dtypes: M8[D]",
    "blocks: tall, both",
    "dtypes: >i8",
    "dtypes: V, two axes",
    "dtypes: G",
    "object cells: mixed, two axes",
    "labels: mixed",
]


@pytest.mark.parametrize("name", SELECTED)
def test_selections(name, path):
    given = FRAMES[name]()
    en.write(given, path)
    n_rows, n_columns = given.shape
    some_rows = [(1, n_rows), slice(None, None, 2), slice(None, None, -1), [n_rows - 1, 0], 1, (0, 0)]
    for rows in some_rows:
        key = slice(*rows) if isinstance(rows, tuple) else [rows] if isinstance(rows, int) else rows
        expected = given.iloc[key]
        got = en.read(path, rows=rows)
        assert type(got) is type(given)
        assert got.equals(expected, compare_name=True, compare_dtype=True, compare_class=True)
        if got.shape[0] > 1:
            assert [b.shape for b in got._blocks._blocks] == [b.shape for b in expected._blocks._blocks]
        assert not any(block.flags.writeable for block in got._blocks._blocks)
    for columns in ([0], list(range(n_columns))[::-1], list(range(n_columns)), list(range(0, n_columns, 2)), []):
        expected = given.iloc[:, columns]
        got = en.open(path).iloc[:, columns].read()
        assert got.shape == expected.shape
        assert got.equals(expected, compare_name=True, compare_dtype=True, compare_class=True) or not columns
        both = en.open(path).iloc[1:2, columns].read()
        assert both.equals(expected.iloc[1:2], compare_name=True, compare_dtype=True) or not columns
    view = en.open(path)[:2]
    assert view.to_static_frame().equals(given.iloc[:2], compare_name=True, compare_dtype=True)


def test_selected_neighbours_stay_together(path):
    en.write(frame(WIDE[:, :4], FIVE, WIDE[:, 4:6]), path)
    shapes = [block.shape for block in en.read(path, columns=[1, 2, 3, 4, 6, 5])._blocks._blocks]
    assert shapes == [(5, 3), (5,), (5, 1), (5, 1)]


def test_columns_by_name(path):
    en.write(frame(WIDE[:, :3], columns=["a", "b", "c"]), path)
    assert en.read(path, columns=["c", "a"]).columns.values.tolist() == ["c", "a"]
    en.write(FRAMES["labels: dates"](), path)
    assert en.open(path).column_names[0] == "2020-01-01"
    en.write(frame(WIDE[:, :3], columns=[1, 2, 3]), path, compression={"2": 80, None: 10})
    with pytest.raises(en.ColumnNotFoundError):
        en.write(frame(WIDE[:, :3]), path, compression={"x": 80})
    en.write(sf.Series((1, 2), name="s"), path, compression={"s": 0})


def test_what_repeats(path):
    en.write(FRAMES["labels: strings"](), path)
    with pytest.raises(en.ArgumentError, match="repeated rows, because its labels are unique"):
        en.read(path, rows=[0, 0])
    with pytest.raises(en.ArgumentError, match="repeated columns, because its labels are unique"):
        en.read(path, columns=["c1", "c1"])


def test_other_columns_than_those_of_a_series(path):
    en.write(sf.SeriesHE((1, 2), name="s", index=("a", "b")), path)
    check(sf.SeriesHE((1, 2), name="s", index=("a", "b")), en.read(path, columns="s"))
    assert en.read(path, columns=[]).shape == (2, 0)
    assert type(en.read(path, columns=[])) is sf.FrameHE
    en.write(INDEXES["Date"], path)
    assert len(en.read(path, columns=[])) == 3


REFUSED = [
    (lambda: frame(np.array([1, len, 3], dtype=object), columns=["o"]), r"frame\['o'\].iloc\[1\]: .*builtin_function"),
    (lambda: sf.Series((1, len)), r"series.iloc\[1\]: a value of type builtin_function"),
    (lambda: frame(FIVE[:2], index=[len, 1]), r"the index\[0\]: a value of type builtin_function"),
    (lambda: frame(FIVE[:1], columns=[len]), r"the column labels\[0\]: a value of type builtin_function"),
    (lambda: frame(FIVE[:1], index=ih((len, 1))), r"the index, level 0\[0\]: a value of type builtin_function"),
    (lambda: sf.Frame(WIDE, name=len), "the frame: a name: a value of type builtin_function"),
    (lambda: sf.Frame(WIDE).rename(index=len), "the index: a name: a value of type builtin_function"),
    (
        lambda: sf.Quilt.from_frame(sf.Frame(WIDE), chunksize=3, retain_labels=False),
        "static_frame.*Quilt can't be kept",
    ),
    (lambda: type("Mine", (sf.Frame,), {})(WIDE), "can't be kept"),
    (lambda: frame(FIVE[:1], index=type("Mine", (sf.Index,), {})(("a",))), "the index: .*Mine is not supported"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused(make, message, path):
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write(make(), path)
    assert not path.exists()


@pytest.mark.parametrize(
    "name", ["blocks: both orders", "blocks: tall, both", "blocks: wide, one-dimensional", "labels: dates"]
)
def test_mapped(name, path):
    given = FRAMES[name]()
    en.write(given, path, compression=0)
    back = en.read(path, memory_map=True)
    check(given, back, layout=False)
    with en.open(path, memory_map=True) as file:
        assert file[1:3].to_static_frame().equals(given.iloc[1:3], compare_dtype=True, compare_name=True)
        some = [given.shape[1] - 1, 0]
        assert file.iloc[:, some].read().equals(given.iloc[:, some], compare_dtype=True, compare_name=True)


# --- anything ---

ELEMENTS = {
    "i8": st.integers(-(1 << 63), (1 << 63) - 1),
    "u1": st.integers(0, 255),
    "f8": st.floats(),
    "f4": st.floats(width=32),
    "?": st.booleans(),
    "U4": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
    "M8[D]": st.integers(-(1 << 63), 1 << 62),
}


@st.composite
def frames(draw: Any) -> Any:
    n = draw(st.integers(0, 6))
    blocks = []
    for _ in range(draw(st.integers(1, 6))):
        dtype = draw(st.sampled_from(sorted(ELEMENTS)))
        width = draw(st.sampled_from([0, 1, 2, 3, 9]))
        values = draw(st.lists(ELEMENTS[dtype], min_size=n * max(width, 1), max_size=n * max(width, 1)))
        array = np.array(values, "i8").view(dtype) if dtype == "M8[D]" else np.array(values, dtype)
        if width:
            array = array.reshape(n, width)
            array = columnwise(array) if draw(st.booleans()) else array
        blocks.append(array)
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    labels = draw(st.lists(text, min_size=n, max_size=n, unique=True))
    index = np.array(labels, dtype=object) if draw(st.booleans()) else None
    cls = draw(st.sampled_from([sf.Frame, sf.FrameGO, sf.FrameHE]))
    name = draw(st.one_of(st.none(), text, st.integers(), st.tuples(st.booleans())))
    return cls(sf.TypeBlocks.from_blocks(blocks), index=index, name=name)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=frames(), compression=st.sampled_from([0, 50, 90]))
def test_any_frame(value, compression, path):
    en.write(value, path, compression=compression)
    check(value, en.read(path))
    n = value.shape[0]
    assert en.read(path, rows=(n // 2, n)).equals(value.iloc[n // 2 :], compare_name=True, compare_dtype=True)
