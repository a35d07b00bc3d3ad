"""Chunks, batches and appends of Arrow's dictionaries, run-ends, nested extensions and unions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INT8, INT16 = pa.int8(), pa.int16()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "table.entasis")


def by_writer(chunks: list[pa.Array], path: str) -> None:
    with en.writer(path, widen=True) as w:
        for chunk in chunks:
            w.write(pa.table({"x": chunk}))


def by_writer_with_schema(chunks: list[pa.Array], path: str) -> None:
    with en.writer(path, schema=pa.schema([("x", chunks[0].type)])) as w:
        for chunk in chunks:
            w.write(pa.record_batch({"x": chunk}))


def by_stream(chunks: list[pa.Array], path: str) -> None:
    schema = pa.schema([("x", chunks[0].type)])
    batches = [pa.record_batch([chunk], schema=schema) for chunk in chunks]
    en.write(pa.RecordBatchReader.from_batches(schema, batches), path)


def by_appends(chunks: list[pa.Array], path: str) -> None:
    en.write(pa.table({"x": chunks[0]}), path)
    for chunk in chunks[1:]:
        en.append(pa.table({"x": chunk}), path, widen=True)


WAYS: dict[str, Callable[[list[pa.Array], str], None]] = {
    "write": lambda chunks, path: en.write(pa.table({"x": pa.chunked_array(chunks)}), path),
    "writer": by_writer,
    "writer with a schema": by_writer_with_schema,
    "stream": by_stream,
    "appends": by_appends,
}


def words(start: int, stop: int, codes: pa.DataType = INT8) -> pa.Array:
    """A dictionary of words, with each of its codes once."""
    values = [f"k{i}" for i in range(start, stop)]
    return pa.DictionaryArray.from_arrays(pa.array(range(stop - start), codes), pa.array(values))


def coded(codes: list[int | None], values: list[Any]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(values))


def in_struct(chunk: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([chunk], ["f"])


def in_list(chunk: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, 1, len(chunk)], pa.int32()), chunk)


# Chunks of a column, and the type that they have together.
DICTIONARIES: dict[str, tuple[list[pa.Array], pa.DataType | None]] = {
    "all codes": ([words(0, 128)] * 2, pa.int8()),
    "the last code": ([words(0, 127), words(127, 128)], pa.int8()),
    "one code too many": ([words(0, 128), words(128, 129)], pa.int16()),
    "others": ([words(0, 100), words(50, 170)], pa.int16()),
    "unsigned": ([words(0, 200, pa.uint8()), words(100, 256, pa.uint8())], pa.uint8()),
    "unsigned, too many": ([words(0, 200, pa.uint8()), words(200, 257, pa.uint8())], pa.uint16()),
    "a null": ([coded([0, 1, None], ["a", None])] * 2, pa.int8()),
    "nulls": ([coded([0, 1, None], ["a", None]), coded([1, 0, 0], [None, "b"])], pa.int8()),
    "slices": ([coded([0, 1, 1], ["a", None]).slice(1), coded([1, 0], [None, "b"]).slice(1)], pa.int8()),
    "lists": ([coded([0, 1, 0], [[1, 2], [3]])] * 2, pa.int8()),
    "other lists": ([coded([0, 1, 0], [[1, 2], [3]]), coded([1, 0, None], [[3], [4, 5]])], pa.int8()),
    "in structs": ([in_struct(coded([0, 1], ["a", None]))] * 3, None),
    "in lists": ([in_list(words(0, 128))] * 2, None),
    "in structs, other words": ([in_struct(words(0, 90)), in_struct(words(80, 120))], None),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DICTIONARIES)
def test_dictionaries_of_chunks(name: str, way: str, path: str) -> None:
    chunks, codes = DICTIONARIES[name]
    WAYS[way](chunks, path)
    found = en.read(path)["x"]
    assert found.to_pylist() == [value for chunk in chunks for value in chunk.to_pylist()]
    if codes is not None:
        assert found.type.index_type == codes
        assert found.type.value_type == chunks[0].type.value_type
    en.verify(path)


@pytest.mark.parametrize("way", WAYS)
def test_nested_dictionaries_that_cannot_be_joined_are_refused(way: str, path: str) -> None:
    refused = pytest.raises(en.UnsupportedTypeError, match="column 'x': the dictionaries of its chunks can't be joined")
    with refused:
        WAYS[way]([in_struct(words(0, 100)), in_struct(words(50, 170))], path)
    nulls = [in_list(coded([0, 1], ["a", None])), in_list(coded([0, 1], ["b", None]))]
    if way == "appends":
        # The core joins the dictionary of the file with that of the rows, which pyarrow does not.
        WAYS[way](nulls, path)
        assert en.read(path)["x"].to_pylist() == [["a"], [None], ["b"], [None]]
    else:
        with refused:
            WAYS[way](nulls, path)


def test_a_series_of_pandas_with_chunks_of_dictionaries(path: str) -> None:
    for name in ("all codes", "others", "nulls"):
        chunks = pa.chunked_array(DICTIONARIES[name][0])
        en.write(pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(chunks))}), path)
        assert pa.array(en.read(path)["x"]).to_pylist() == chunks.to_pylist()


def runs(n: int = 20_000, width: pa.DataType = INT16, value: str | None = "a") -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([n], width), pa.array([value], pa.string()))


@pytest.mark.parametrize("way", WAYS)
def test_run_ends_get_a_wider_type(way: str, path: str) -> None:
    chunks = [runs(), runs(value=None), runs(value="b").slice(5, 100), runs()]
    WAYS[way](chunks, path)
    found = en.read(path)
    assert found["x"].to_pylist() == [value for chunk in chunks for value in chunk.to_pylist()]
    assert found.schema.field("x").type == pa.run_end_encoded(pa.int32(), pa.string())
    # All parts of the file have this type.
    f = en.open(path)
    assert f[:10].read().schema == found.schema
    assert f.to_dataset().schema == found.schema
    assert pa.RecordBatchReader.from_stream(f).read_all().equals(found)
    assert f[39_000:41_000].read()["x"].to_pylist() == found["x"].slice(39_000, 2_000).to_pylist()
    en.write(found, path)
    assert en.read(path).equals(found)


@pytest.mark.parametrize("way", WAYS)
def test_nested_run_ends_get_a_wider_type(way: str, path: str) -> None:
    chunks = [in_struct(runs()), in_struct(runs(value="b"))]
    WAYS[way](chunks, path)
    found = en.read(path)
    assert found["x"].to_pylist() == [value for chunk in chunks for value in chunk.to_pylist()]
    assert found.schema.field("x").type == pa.struct([("f", pa.run_end_encoded(pa.int32(), pa.string()))])


def test_a_writer_goes_on_after_run_ends_that_got_a_wider_type(path: str) -> None:
    en.write(pa.table({"x": pa.chunked_array([runs(), runs()])}), path)
    with en.writer(path, append=True) as w:
        w.write(pa.table({"x": runs(value="b")}))
        w.write(pa.table({"x": runs(70_000, pa.int32(), "c")}))
    assert en.read(path)["x"].to_pylist() == ["a"] * 40_000 + ["b"] * 20_000 + ["c"] * 70_000
    en.append(pa.table({"x": runs(5)}), path)
    assert en.generations(path)[-1].operation == "append"
    assert len(en.open(path)) == 130_005


def test_run_ends_that_fit_keep_their_type(path: str) -> None:
    for width, n in [(pa.int16(), 2**15 - 1), (pa.int32(), 2**15), (pa.int64(), 5)]:
        table = pa.table({"x": runs(n, width)})
        en.write(table, path)
        assert en.read(path).schema == table.schema
    en.write(pa.table({"x": pa.chunked_array([runs(2**15 - 1), runs(1)])}), path)
    assert en.read(path).schema.field("x").type.run_end_type == pa.int32()


def test_run_ends_of_another_type_are_appended(path: str) -> None:
    kinds = [pa.int16(), pa.int32(), pa.int64()]
    for old in kinds:
        for new in kinds:
            en.write(pa.table({"x": runs(10, old)}), path)
            en.append(pa.table({"x": runs(20, new, "b").slice(3, 10)}), path)
            found = en.read(path)["x"]
            assert found.to_pylist() == ["a"] * 10 + ["b"] * 10
            assert found.type.run_end_type == old


UUIDS = pa.array([b"0" * 16, None], pa.uuid())
NESTED = {
    "list of uuids": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), UUIDS),
    "struct of uuids": pa.StructArray.from_arrays([UUIDS], ["u"]),
    "fixed list of uuids": pa.FixedSizeListArray.from_arrays(UUIDS, 1),
    "map of uuids": pa.MapArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "b"]), UUIDS),
    "sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1], pa.int8()), [pa.array([1.5, None]), pa.array(["a", "b"])]
    ),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1.5]), pa.array(["a"])]
    ),
    "struct of a union and words": pa.StructArray.from_arrays(
        [pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [UUIDS]), words(0, 2)], ["a", "b"]
    ),
    "list of structs of uuids": pa.ListArray.from_arrays(
        pa.array([0, 1, 2], pa.int32()), pa.StructArray.from_arrays([UUIDS], ["u"])
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NESTED)
def test_nested_extensions_and_unions(name: str, way: str, path: str) -> None:
    column = NESTED[name]
    WAYS[way]([column, column], path)
    found = en.read(path)
    assert found["x"].to_pylist() == column.to_pylist() * 2
    assert found.schema == pa.schema([("x", column.type)])


@pytest.mark.parametrize("name", NESTED)
def test_a_schema_without_rows(name: str, path: str) -> None:
    schema = pa.schema([("x", NESTED[name].type)])
    with en.writer(path, schema=schema):
        pass
    assert (len(en.open(path)), en.read(path).schema) == (0, schema)
    en.write(pa.Table.from_batches([], schema), path)
    assert en.read(path).schema == schema
