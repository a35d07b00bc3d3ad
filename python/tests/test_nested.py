"""Nested columns of pyarrow, Polars and pandas come back equal, in any selection of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import entasis as en

I32 = pa.int32()
S = pa.string()


def union(sparse, codes=(0, 1)):
    types = pa.array([codes[i % 2] for i in range(9)], pa.int8())
    ints, texts = [1, None, 3, 4, 5, 6, 7, 8, 9], ["a", "b", None, "d", "e", "f", "g", "h", "i"]
    if sparse:
        return pa.UnionArray.from_sparse(types, [pa.array(ints), pa.array(texts)], ["i", "s"], list(codes))
    offsets = pa.array([i // 2 for i in range(9)], pa.int32())
    return pa.UnionArray.from_dense(types, offsets, [pa.array(ints), pa.array(texts)], ["i", "s"], list(codes))


def one_type(values):
    """A dense union of one type; its values are the last ones first."""
    n = len(values)
    types = pa.array(np.full(n, 5, "i1"))
    return pa.UnionArray.from_dense(types, pa.array(np.arange(n, dtype="i4")[::-1].copy()), [values], ["v"], [5])


def runs(width, values):
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 6, 9], width), values)


def with_garbage():
    """Lists whose missing items have values below them."""
    lists = pa.array([[1, 2], [3], [4, 5, 6], [7]], pa.list_(I32))
    mask = pa.array([False, True, False, True])
    return pa.ListArray.from_arrays(lists.offsets, lists.values, mask=mask)


def structs_with_garbage():
    fields = [pa.array([1, 2, 3], I32), pa.array([[1], [2, 3], None], pa.list_(I32))]
    return pa.StructArray.from_arrays(fields, ["x", "y"], mask=pa.array([False, True, False]))


def views(kind):
    """Lists out of order, that share values and leave some out."""
    values = pa.array([f"value {i}" for i in range(10)])
    make = pa.ListViewArray if kind == "small" else pa.LargeListViewArray
    width = pa.int32() if kind == "small" else pa.int64()
    return make.from_arrays(pa.array([5, 0, 3, 5], width), pa.array([3, 2, 0, 2], width), values)


LISTS = [[1, 2], None, [], [3, None], [4, 5, 6]]
NESTED = [[[{"a": [1, 2]}], None], [], None, [[], [None, {"a": None}]], [[{"a": []}]]]
PAIRS = [[("a", 1), ("b", 2)], None, [], [("c", None)]]
META = {"key": "value"}

PANEL = {
    "list": pa.array(LISTS, pa.list_(I32)),
    "large_list": pa.array(LISTS, pa.large_list(I32)),
    "list_view": pa.array(LISTS, pa.list_view(I32)),
    "large_list_view": pa.array(LISTS, pa.large_list_view(I32)),
    "views out of order": views("small"),
    "large views out of order": views("large"),
    "fixed-size list": pa.array([[1, 2], None, [3, None], [4, 5]], pa.list_(I32, 2)),
    "fixed-size list of none": pa.array([[], None, []], pa.list_(I32, 0)),
    "struct": pa.array(
        [{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}], pa.struct([("x", I32), ("y", pa.string_view())])
    ),
    "struct of none": pa.array([{}, None, {}], pa.struct([])),
    "metadata and nullability": pa.array(
        [{"x": 1, "y": [[2]]}],
        pa.struct(
            [pa.field("x", I32, False, META), pa.field("y", pa.list_(pa.field("z", pa.list_(I32), False, META)))]
        ),
    ),
    "fields of one name": pa.StructArray.from_arrays([pa.array([1]), pa.array(["a"])], ["x", "x"]),
    "map": pa.array(PAIRS, pa.map_(S, I32)),
    "map, keys sorted": pa.array(PAIRS, pa.map_(S, I32, keys_sorted=True)),
    "map of maps": pa.array([[("a", [("b", 1)])], None], pa.map_(S, pa.map_(S, I32))),
    "dense union": union(False),
    "dense union, codes": union(False, (5, 100)),
    "sparse union": union(True),
    "sparse union, codes": union(True, (7, 3)),
    "dense union of one type": one_type(pa.array([1, None, 3, 4])),
    "dense union of one type, of nulls": one_type(pa.nulls(4)),
    "dense union of one type in another": one_type(one_type(pa.array(["a", None, "c"]))),
    "union of no types": pa.UnionArray.from_sparse(pa.array([], pa.int8()), []),
    "runs of 16 bits": runs(pa.int16(), pa.array(["a", None, "b", "a"])),
    "runs of 32 bits": runs(pa.int32(), pa.array([1.5, None, 2.5, 2.5])),
    "runs of 64 bits, of lists": runs(pa.int64(), pa.array([[1], None, [2, 3], []])),
    "lists of lists of structs": pa.array(NESTED, pa.list_(pa.list_(pa.struct([("a", pa.list_(I32))])))),
    "lists of nulls": pa.array([[None, None], None, []], pa.list_(pa.null())),
    "lists of booleans": pa.array([[True, None], None, [False] * 9], pa.list_(pa.bool_())),
    "lists of views of strings": pa.array([["a", "longer than twelve bytes"], None, []], pa.list_(pa.string_view())),
    "lists of times": pa.array([[1, None], [2]], pa.list_(pa.timestamp("us", "Europe/Oslo"))),
    "lists of decimals": pa.array([[1, None]], pa.list_(pa.decimal256(5, 1))),
    "lists of categories": pa.ListArray.from_arrays(
        pa.array([0, 2, 3], I32), pa.array(["x", "y", "x"]).dictionary_encode()
    ),
    "categories that are structs": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None], pa.int8()), pa.array([{"a": 1}, {"a": 2}])
    ),
    "lists of unions": pa.ListArray.from_arrays(pa.array([0, 2, 2, 9], I32), union(False)),
    "lists of runs": pa.ListArray.from_arrays(pa.array([0, 3, 3, 9], I32), runs(pa.int32(), pa.array([1, None, 2, 3]))),
    "unions of unions": pa.UnionArray.from_dense(
        pa.array([0, 0, 1], pa.int8()), pa.array([3, 0, 0], I32), [union(True), pa.array([1.5])]
    ),
    "lists of an extension": pa.ListArray.from_arrays(
        pa.array([0, 1], I32), pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))
    ),
    "an extension of lists": pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(I32, [2, 2]), pa.array([[1, 2, 3, 4]] * 3, pa.list_(I32, 4))
    ),
    "garbage below missing lists": with_garbage(),
    "garbage below missing structs": structs_with_garbage(),
    "no rows": pa.array([], pa.list_(pa.struct([("a", pa.list_(I32))]))),
    "all missing": pa.nulls(5, pa.list_(pa.struct([("a", I32)]))),
}  # fmt: skip


def same(left, right):
    assert left.schema.equals(right.schema, check_metadata=True)
    assert left.equals(right), (left.to_pylist(), right.to_pylist())
    right.validate(full=True)


def check(table, path, **how):
    """The table as a whole, ranges and rows by number, against slices and elements of pyarrow's own."""
    en.write(table, path, **how)
    same(table, en.read(path))
    n = table.num_rows
    for start, stop in [(0, 0), (0, n), (n // 2, n), (n // 3, n - n // 4), (max(n - 1, 0), n)]:
        same(table.slice(start, stop - start), en.read(path, rows=(start, stop)))
    if n:
        numbers = [n - 1, 0, n // 2, n // 2, *range(0, n, 3)]
        found = en.read(path, rows=numbers)
        found.validate(full=True)
        assert found.schema.equals(table.schema, check_metadata=True)
        for name in set(table.column_names):
            column = table.column(table.column_names.index(name))
            wanted = [column[i] for i in numbers]
            assert list(map(repr, found.column(table.column_names.index(name)))) == list(map(repr, wanted))
    en.verify(path)


@pytest.mark.parametrize("name", PANEL)
def test_pyarrow(name, path):
    check(pa.table({"a": PANEL[name]}), path)


@pytest.mark.parametrize("name", PANEL)
def test_slices(name, path):
    array = PANEL[name]
    check(pa.table({"a": array.slice(1)}), path)
    check(pa.table({"a": array.slice(1, max(len(array) - 2, 0))}), path)


@pytest.mark.parametrize("name", [name for name in PANEL if "categories" not in name])
def test_chunks(name, path):
    array = PANEL[name]
    chunked = pa.chunked_array([array, array.slice(1), array.slice(0, 0), array.slice(0, 2)], array.type)
    check(pa.table({"a": chunked}), path)


def test_chunks_with_dictionaries_of_their_own(path):
    make = pa.ListArray.from_arrays
    parts = [make(pa.array([0, 2, 3], I32), pa.array(list(text)).dictionary_encode()) for text in ("xyx", "zxz")]
    table = pa.table({"a": pa.chunked_array(parts)})
    en.write(table, path)
    found = en.read(path)
    assert found.schema == table.schema
    assert found.to_pylist() == table.to_pylist()


def test_all_together(path):
    n = 9
    names = [name for name, array in PANEL.items() if len(array) > 2 and "run" not in name]
    columns = {name: pa.concat_arrays([PANEL[name]] * n).slice(0, n) for name in names}
    table = pa.table(columns | {"plain": list(range(n))})
    check(table, path)
    check(table, path, compression=0)
    check(table, path, compression=90)
    same(table.select([names[5], names[0], "plain"]), en.read(path, columns=[names[5], names[0], "plain"]))
    with en.open(path) as f:
        assert f["list"].schema.pairs == [("list", "list[i32]")]
        same(table.select(["struct"]).slice(2, 3), f["struct"][2:5].read())
        assert pa.table(f["map"]).num_rows == n


def test_many_rows(path):
    """More than a block of parents, and of children."""
    n = 150_000
    lengths = np.arange(n) % 5
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    texts = pa.array([f"text {i % 1000}" for i in range(int(offsets[-1].as_py()))], pa.large_string())
    lists = pa.LargeListArray.from_arrays(offsets, texts, mask=pa.array(np.arange(n) % 7 == 3))
    structs = pa.StructArray.from_arrays([lists, pa.array(np.arange(n))], ["l", "i"])
    types, rows = np.arange(n) % 3, np.arange(n) // 3
    union = pa.UnionArray.from_dense(
        pa.array(types, pa.int8()), pa.array(rows, I32), [lists, pa.array(np.arange(n)), pa.array(np.arange(n) / 7)]
    )
    table = pa.table({"lists": lists, "structs": structs, "union": union})
    en.write(table, path)
    same(table, en.read(path))
    same(table.slice(65_530, 10), en.read(path, rows=(65_530, 65_540)))
    numbers = [149_999, 0, 65_536, 65_535, 131_072, 3]
    assert en.read(path, rows=numbers).to_pylist() == table.take(numbers).to_pylist()
    en.verify(path)


# Make columns of a union of one type: the union by itself, and inside other columns.
ONE_TYPE = {
    "by itself": lambda u: u,
    "in a struct": lambda u: pa.StructArray.from_arrays([u], ["u"]),
    "in a struct with missing ones": lambda u: pa.StructArray.from_arrays(
        [u], ["u"], mask=pa.array(np.arange(len(u)) % 9 == 1)
    ),
    "in lists": lambda u: pa.ListArray.from_arrays(pa.array(np.arange(0, len(u) + 1, 7, dtype="i4")), u),
    "in lists of fixed size": lambda u: pa.FixedSizeListArray.from_arrays(u.slice(0, len(u) // 3 * 3), 3),
    "in a union": one_type,
    "sparse": lambda u: pa.UnionArray.from_sparse(pa.array(np.zeros(len(u), "i1")), [u]),
}


@pytest.mark.parametrize("name", ONE_TYPE)
@pytest.mark.parametrize("n", [65_536, 65_537, 140_000])
def test_a_union_of_one_type_over_block_borders(n, name, path):
    values = pa.array(np.arange(n)) if n % 2 else pa.array([f"{i}" for i in range(n)])
    table = pa.table({"u": ONE_TYPE[name](one_type(values))})
    en.write(table, path)
    assert en.read(path).equals(table)
    last = table.num_rows - 1
    rows = [last, 0, last // 2, min(65_536, last), min(65_535, last)]
    assert en.read(path, rows=rows).to_pylist() == [table.slice(i, 1).to_pylist()[0] for i in rows]
    assert en.read(path, rows=(last - 3, last)).to_pylist() == table.slice(last - 3, 3).to_pylist()
    assert en.info(path).n_rows == table.num_rows
    en.verify(path)


def nested_in(kind, depth):
    for _ in range(depth):
        kind = pa.list_(kind)
    return kind


def test_depth(path):
    check(pa.table({"a": pa.nulls(3, nested_in(I32, 61))}), path)
    for depth in (63, 64, 70):
        with pytest.raises(en.errors.UnsupportedTypeError, match=r"a\.item\.item"):
            en.write(pa.table({"a": pa.nulls(3, nested_in(I32, depth))}), path)


def test_runs_of_runs_are_refused(path):
    array = pa.RunEndEncodedArray.from_arrays(pa.array([*range(1, 10)], I32), runs(I32, pa.array(list("abcd"))))
    with pytest.raises(en.errors.UnsupportedTypeError, match="column 'a': runs of runs"):
        en.write(pa.table({"a": array}), path)


# Strategies of hypothesis: a type, and values of it.
LEAVES = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.floats(allow_nan=False)),
    (S, st.text(max_size=15)),
    (pa.large_string(), st.text(max_size=15)),
    (pa.string_view(), st.text(max_size=15)),
    (pa.binary(), st.binary(max_size=15)),
    (pa.decimal128(5, 0), st.integers(-9999, 9999)),
    (pa.null(), st.none()),
]


def nested_types(inner):
    def list_of(make):
        return lambda pair: (make(pair[0]), st.lists(pair[1], max_size=4))

    def fixed(pair):
        return pa.list_(pair[0], 2), st.lists(pair[1], min_size=2, max_size=2)

    def struct(pairs):
        names = [f"f{i}" for i in range(len(pairs))]
        kind = pa.struct([pa.field(name, pair[0]) for name, pair in zip(names, pairs, strict=True)])
        return kind, st.fixed_dictionaries({name: pair[1] for name, pair in zip(names, pairs, strict=True)})

    def map_of(pair):
        return pa.map_(S, pair[0]), st.lists(st.tuples(st.text(max_size=5), pair[1]), max_size=3)

    makes = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view]
    return st.one_of(
        *(inner.map(list_of(make)) for make in makes),
        inner.map(fixed),
        inner.map(map_of),
        st.lists(inner, max_size=3).map(struct),
    ).map(lambda pair: (pair[0], st.none() | pair[1]))


ANY = st.recursive(st.sampled_from([(kind, st.none() | values) for kind, values in LEAVES]), nested_types, max_leaves=5)


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_type(tmp_path_factory, data):
    kind, values = data.draw(ANY)
    cells = data.draw(st.lists(values, max_size=12))
    array = pa.array(cells, kind)
    cut = data.draw(st.integers(0, len(cells)))
    table = pa.table({"a": pa.chunked_array([array.slice(cut), array.slice(0, cut)], kind)})
    check(table, tmp_path_factory.mktemp("any") / "a.entasis", compression=data.draw(st.sampled_from([0, 50, 90])))


FRAMES = {
    "List": pl.Series([[1, 2], None, [], [3]]),
    "Array": pl.Series([[1, 2], None, [3, None]], dtype=pl.Array(pl.Int64, 2)),
    "Array of Array": pl.Series([[[1, 2]], None, [[3, 4]]], dtype=pl.Array(pl.Array(pl.Int8, 2), 1)),
    "Struct": pl.Series([{"x": 1, "y": "q"}, None, {"x": None, "y": "longer than twelve bytes"}]),
    "List of Categorical": pl.Series([["a", "b"], None, ["a"]], dtype=pl.List(pl.Categorical)),
    "List of Enum": pl.Series([["a", "b"], None, ["a"]], dtype=pl.List(pl.Enum(["b", "a"]))),
    "Struct of Enum": pl.Series([{"x": "a"}, None, {"x": "b"}], dtype=pl.Struct({"x": pl.Enum(["b", "a"])})),
    "deep": pl.Series([[{"a": [[1.5]]}], None, []], dtype=pl.List(pl.Struct({"a": pl.List(pl.Array(pl.Float64, 1))}))),
    "no rows": pl.Series([], dtype=pl.List(pl.Struct({"a": pl.Int8}))),
}


@pytest.mark.parametrize("name", FRAMES)
def test_polars(name, round_trip, path):
    frame = pl.DataFrame({"a": FRAMES[name]})
    found = round_trip(frame)
    assert found.schema == frame.schema
    assert_frame_equal(found, frame)
    if len(frame):
        assert_frame_equal(en.read(path, rows=(1, 3)), frame[1:3])
        assert_frame_equal(en.read(path, rows=[2, 0, 2]), frame[[2, 0, 2]])
    en.verify(path)


def test_polars_chunks(round_trip):
    frame = pl.DataFrame({name: series for name, series in FRAMES.items() if len(series) == 3})
    frame = pl.concat([frame, frame[1:]], rechunk=False)
    assert_frame_equal(round_trip(frame), frame)


def test_polars_objects_are_refused(path):
    series = pl.Series([[object()]], dtype=pl.Object)
    with pytest.raises(en.errors.UnsupportedTypeError, match="a"):
        en.write(pl.DataFrame({"a": series}), path)


@pytest.mark.parametrize("name", [name for name in PANEL if "extension" not in name])
def test_pandas(name, round_trip, path):
    array = PANEL[name]
    frame = pd.DataFrame({"a": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))})
    found = round_trip(frame)
    assert found.dtypes.equals(frame.dtypes)
    assert found["a"].array._pa_array.type.equals(array.type, check_metadata=True)
    assert found["a"].array._pa_array.equals(frame["a"].array._pa_array)
    if len(array) > 1:
        part = en.read(path, rows=(1, len(array)))["a"].array._pa_array
        assert part.equals(frame["a"].array._pa_array.slice(1))


def test_across_libraries(path):
    table = pa.table({"l": pa.array(LISTS, pa.list_(I32)), "s": pa.array([{"x": 1}] * 5)})
    en.write(table, path)
    assert en.read(path, to="polars").to_dict(as_series=False) == table.to_pydict()
    assert en.read(path, to="pandas")["l"].array._pa_array.to_pylist() == LISTS
    frame = pl.DataFrame({"l": FRAMES["List"]})
    en.write(frame, path)
    assert en.read(path, to="pyarrow").schema.field("l").type == pa.large_list(pa.int64())
    assert en.read(path, to="pandas")["l"].array._pa_array.to_pylist() == frame["l"].to_list()
    lists = [None if cell is None else cell.tolist() for cell in en.read(path, to="numpy")["l"]]
    assert lists == frame["l"].to_list()
    en.write(pa.table({"u": PANEL["dense union"]}), path)
    with pytest.raises(en.errors.UnsupportedTypeError, match=r"union.* has no counterpart in Polars"):
        en.read(path, to="polars")


def test_nested_columns_are_not_mapped(path):
    table = pa.table({"l": pa.array(LISTS, pa.list_(I32)), "i": pa.array(range(5))})
    en.write(table, path, compression=0)
    assert en.read(path, columns=["i"], memory_map=True)["i"].to_pylist() == list(range(5))
    with pytest.raises(en.errors.NotMappableError, match="nested"):
        en.read(path, memory_map=True)
