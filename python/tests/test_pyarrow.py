"""pyarrow tables come back equal, types and metadata included."""

from __future__ import annotations

import pyarrow as pa
import pytest
from test_pandas import arrow_array

import entasis as en

N = 2500
KINDS = [
    pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
    pa.uint64(), pa.float16(), pa.float32(),
    pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(),
    pa.large_binary(), pa.binary_view(), pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"),
    pa.time64("ns"), *(pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC", "+02:00")),
    pa.binary(3), pa.binary(0), pa.binary(16), pa.binary(300),
    *(pa.duration(u) for u in ("s", "ms", "us", "ns")), pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint32(), pa.large_string(), ordered=True), pa.dictionary(pa.int64(), pa.int32()),
]  # fmt: skip


def make(kind):
    if pa.types.is_dictionary(kind) and pa.types.is_integer(kind.value_type):
        values = pa.array([None if i % 5 == 0 else i % 9 for i in range(N)], pa.int32())
        return values.dictionary_encode().cast(kind)
    if pa.types.is_float16(kind):
        return pa.array([None if i % 5 == 0 else float(i % 100) for i in range(N)], pa.float32()).cast(kind)
    if kind in (pa.time32("ms"),):
        return pa.array([None if i % 5 == 0 else i for i in range(N)], pa.int32()).cast(kind)
    if pa.types.is_fixed_size_binary(kind):
        width = kind.byte_width
        return pa.array([None if i % 5 == 0 else (b"%d" % (i * i)).ljust(width)[:width] for i in range(N)], kind)
    if kind == pa.binary_view():
        return make(pa.binary()).cast(kind)
    if pa.types.is_dictionary(kind):
        values = make(pa.string()).dictionary_encode()
        values = pa.array([None if i % 5 == 0 else f"v{i % 7}" for i in range(N)]).dictionary_encode()
        indices, dictionary = values.indices.cast(kind.index_type), values.dictionary.cast(kind.value_type)
        return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=kind.ordered)
    return arrow_array(kind, N)


TABLE = pa.table({str(kind): make(kind) for kind in KINDS})


def same(left, right):
    assert left.schema.equals(right.schema, check_metadata=True)
    assert left.equals(right)
    right.validate(full=True)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_column(kind, round_trip):
    table = TABLE.select([str(kind)])
    same(table, round_trip(table))


def test_all_together(round_trip, path):
    for part in (TABLE, TABLE.slice(3, 1001), TABLE.slice(0, 1), TABLE.slice(0, 0)):
        same(part, round_trip(part))
    chunked = pa.concat_tables([TABLE.slice(5, 100), TABLE.slice(1000, 13), TABLE])
    same(chunked, round_trip(chunked))
    same(chunked.slice(50, 60), en.read(path, rows=(50, 110)))


def test_chunks_with_dictionaries_of_their_own(round_trip):
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
    table = pa.table({"x": pa.chunked_array(chunks)})
    assert round_trip(table)["x"].to_pylist() == ["a", "b", "c", None, "a"]


def test_metadata_and_nullability(round_trip, path):
    schema = pa.schema(
        [
            pa.field("a", pa.int8(), nullable=False, metadata={"k": "v", "": "\xff"}),
            pa.field("b", pa.string()),
        ],
        metadata={"pandas": "{}", "x": "y" * 1000},
    )
    table = pa.table({"a": pa.array([1, 2], pa.int8()), "b": ["x", None]}, schema=schema)
    same(table, round_trip(table))
    same(table.select(["b"]), en.read(path, columns=["b"]))


def test_shapes(round_trip):
    same(pa.table({}), round_trip(pa.table({})))
    described = pa.table({}, schema=pa.schema([], metadata={"k": "v"}))
    same(described, round_trip(described))
    back = round_trip(TABLE.select([]))
    assert (back.num_rows, back.num_columns) == (N, 0)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], names=["a", "a"])
    same(twice, round_trip(twice))


def test_what_is_refused(path):
    kind = pa.int8()
    for _ in range(70):
        kind = pa.list_(kind)
    with pytest.raises(en.UnsupportedTypeError, match="column 'x"):
        en.write(pa.table({"x": pa.nulls(3, kind)}), path)
    with pytest.raises(en.UnsupportedTypeError, match="value\\[1\\]: "):
        en.write([1, pa.nulls(3, kind)], path)
    assert not path.exists()


def test_zero_in_a_name(path):
    zone = pa.timestamp("us", "UTC\0+1")
    for table in (pa.table({"a": [1], "b\0c": [2]}), pa.table({"a": pa.array([1], zone)})):
        with pytest.raises(en.UnsupportedTypeError, match=r"column .*zero"):
            en.write(table, path)
    assert not path.exists()


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("codes", [pa.int8(), pa.uint32(), pa.int64()])
@pytest.mark.parametrize(
    "values",
    [["a", None, "b"], [1.5, None, 2.5], ["a", "b", "a"], ["a", None, None]],
    ids=["str", "float", "twice", "nulls"],
)
def test_dictionary_that_pandas_has_not(values, codes, ordered, path):
    indices = pa.array([0, 1, None, 2, 1, 0], codes)
    column = pa.DictionaryArray.from_arrays(indices, pa.array(values), ordered=ordered)
    en.write(pa.table({"x": column}), path)
    got = en.read(path, to="pandas")["x"]
    assert got.cat.ordered == ordered
    assert [None if value != value else value for value in got.tolist()] == column.to_pylist()
    assert got.cat.categories.is_unique
    assert not got.cat.categories.hasnans
    assert en.read(path)["x"].to_pylist() == column.to_pylist()


def test_rows_without_columns(round_trip, path):
    table = pa.table({"a": [1, 2, 3]}).select([])
    assert round_trip(table).shape == table.shape == (3, 0)
    assert en.read(path, rows=(1, 3)).shape == (2, 0)
