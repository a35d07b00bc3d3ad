"""Tables, batches, arrays and scalars of pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ..case import Panel
from .pyarrow_arrays import I32, LISTS, META, deep, nested, plain


def panel() -> Panel:
    """All cases."""
    found = Panel()
    flat = plain()
    for name, array in flat.items():
        group = "dictionaries, extensions" if _is_apart(array) else "plain types"
        found.add(group, name, _table(lambda array=array: array))
    for name, array in (nested() | _unions_and_runs()).items():
        found.add("nested types", name, _table(lambda array=array: array))
    for name, array in (flat | nested() | _unions_and_runs()).items():
        if len(array) > 2:
            found.add("slices", name, _table(lambda array=array: array.slice(1, len(array) - 2)))
        found.add("no rows", name, _table(lambda array=array: array.slice(0, 0)))
        if "dictionary" not in str(array.type):
            found.add("chunks", name, _table(lambda array=array: _chunked(array)))
    for name, make in _garbage().items():
        found.add("garbage behind nulls", name, _table(make))
    found.add_all("schemas, metadata, shapes", _tables())
    found.add_all("parts", _parts())
    deepest = "nested more than 63 deep"
    found.add("nested types", "64 levels", _table(lambda: deep(64)), deepest)
    found.add("nested types", "70 levels", _table(lambda: deep(70)), deepest)
    return found


def _is_apart(array: Any) -> bool:
    return isinstance(array, (pa.DictionaryArray, pa.ExtensionArray))


def _table(make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: pa.table({"x": make()})


def _chunked(array: Any) -> Any:
    return pa.chunked_array(
        [array, array.slice(1), array.slice(0, 0), array.slice(0, 2)], array.type
    )


def _union(*, sparse: bool, codes: tuple[int, int] = (0, 1)) -> Any:
    types = pa.array([codes[i % 2] for i in range(9)], pa.int8())
    values = [pa.array([1, None, 3, 4, 5, 6, 7, 8, 9]), pa.array(["a", "b", None, *"defghi"])]
    if sparse:
        return pa.UnionArray.from_sparse(types, values, ["i", "s"], list(codes))
    places = pa.array([i // 2 for i in range(9)], I32)
    return pa.UnionArray.from_dense(types, places, values, ["i", "s"], list(codes))


def _runs(width: Any, values: Any) -> Any:
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 6, 9], width), values)


def _unions_and_runs() -> dict[str, Any]:
    offsets = pa.array([0, 3, 3, 9], I32)
    return {
        "dense union": _union(sparse=False),
        "dense union, codes": _union(sparse=False, codes=(5, 100)),
        "sparse union": _union(sparse=True),
        "sparse union, codes": _union(sparse=True, codes=(7, 3)),
        "runs of 16 bits": _runs(pa.int16(), pa.array(["a", None, "b", "a"])),
        "runs of 32 bits": _runs(I32, pa.array([1.5, None, 2.5, 2.5])),
        "runs of 64 bits, of lists": _runs(pa.int64(), pa.array([[1], None, [2, 3], []])),
        "list of unions": pa.ListArray.from_arrays(offsets, _union(sparse=False)),
        "list of runs": pa.ListArray.from_arrays(offsets, _runs(I32, pa.array([1, None, 2, 3]))),
        "union of unions": pa.UnionArray.from_dense(
            pa.array([0, 0, 1], pa.int8()),
            pa.array([0, 3, 0], I32),
            [_union(sparse=True), pa.array([1.5])],
        ),
    }


def _garbage() -> dict[str, Any]:
    """Nulls whose slots hold values, which must neither be read back nor used."""
    mask = pa.array([False, True, False])

    def buffers(kind: Any, memory: bytes, *more: Any) -> Any:
        # The second value of three is null.
        return pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\5"), *more, pa.py_buffer(memory)])

    def lists() -> Any:
        values = pa.array([[1, 2], [3], [4, 5, 6]], pa.list_(I32))
        return pa.ListArray.from_arrays(values.offsets, values.values, mask=mask)

    def structs() -> Any:
        fields = [pa.array([1, 2, 3], I32), pa.array([[1], [2, 3], None], pa.list_(I32))]
        return pa.StructArray.from_arrays(fields, ["x", "y"], mask=mask)

    def codes() -> Any:
        return pa.DictionaryArray.from_arrays(
            buffers(pa.int8(), b"\0\x63\1"), pa.array(["a", "b"]), safe=False
        )

    offsets = np.array([0, 1, 3, 4], "i4").tobytes()
    return {
        "int64": lambda: buffers(pa.int64(), np.array([1, -99, 3]).tobytes()),
        "float64": lambda: buffers(pa.float64(), np.array([1.5, np.nan, -0.0]).tobytes()),
        "bool": lambda: buffers(pa.bool_(), b"\7"),
        "string": lambda: buffers(pa.string(), b"axxb", pa.py_buffer(offsets)),
        "string that is no UTF-8": lambda: buffers(
            pa.string(), b"a\xff\xfeb", pa.py_buffer(offsets)
        ),
        "binary": lambda: buffers(pa.binary(), b"axxb", pa.py_buffer(offsets)),
        "decimal": lambda: buffers(
            pa.decimal128(5, 1), bytes([1] + [0] * 15 + [0x77] * 16 + [3] + [0] * 15)
        ),
        "list": lists,
        "struct": structs,
        "codes beyond the dictionary": codes,
    }


def _tables() -> dict[str, Any]:
    field = pa.field("a", pa.int8(), nullable=False, metadata={"k": "v", "": "\xff"})
    schema = pa.schema(
        [field, pa.field("b", pa.string())], metadata={"pandas": "{}", "x": "y" * 1000}
    )
    data = [pa.array([1, 2], pa.int8()), pa.array(["x", None])]
    plain_schema = pa.schema([("a", pa.int8()), ("b", pa.string())])
    make = pa.Table.from_arrays
    return {
        "metadata of schema and fields": make(data, schema=schema),
        "metadata that are no text": make(
            data, schema=plain_schema.with_metadata({b"\xff\0": b"\0\xfe"})
        ),
        "metadata of pandas": lambda: _of_pandas(),
        "not nullable": make(
            [pa.array([1])], schema=pa.schema([pa.field("a", pa.int64(), nullable=False)])
        ),
        "one name twice": make([pa.array([1]), pa.array(["x"])], names=["a", "a"]),
        "empty name": make([pa.array([1])], names=[""]),
        "name of any text": make([pa.array([1])], names=["é\U0001f600 \n"]),
        "nothing": pa.table({}),
        "nothing, with metadata": pa.table({}, schema=pa.schema([], metadata=META)),
        "rows without columns": pa.table({"a": [1, 2, 3]}).select([]),
        "chunks of different lengths": pa.concat_tables([make(data, names=["a", "b"])] * 3).slice(
            1, 4
        ),
        "dictionaries of their own in chunks": lambda: pa.table(
            {
                "x": pa.chunked_array(
                    [
                        pa.array(["a", "b"]).dictionary_encode(),
                        pa.array(["c", None, "a"]).dictionary_encode(),
                    ]
                )
            }
        ),
        "1,000 columns": lambda: pa.table({f"c{i}": [i, i + 1] for i in range(1000)}),
        "100,000 rows": lambda: pa.table(
            {"a": np.arange(100_000), "b": [f"s{i % 97}" for i in range(100_000)]}
        ),
    }


def _of_pandas() -> Any:
    import pandas as pd

    return pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="i")))


def _parts() -> dict[str, Any]:
    array = pa.array([1, None, 3])
    lists = pa.array(LISTS, pa.list_(I32))
    batch = pa.RecordBatch.from_arrays([array, pa.array(["a", None, "b"])], names=["a", "b"])
    found = {
        "Array": array,
        "Array, sliced": array.slice(1),
        "Array of lists": lists,
        "Array, dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
        "Array without values": pa.array([], pa.string()),
        "ChunkedArray": pa.chunked_array([[1, 2], [3]]),
        "ChunkedArray without chunks": pa.chunked_array([], pa.int16()),
        "RecordBatch": batch,
        "RecordBatch, sliced": batch.slice(1, 1),
        "RecordBatch with metadata": batch.replace_schema_metadata(META),
        "RecordBatch without columns": pa.RecordBatch.from_struct_array(
            pa.array([{}] * 3, pa.struct([]))
        ),
        "RecordBatch without rows": batch.slice(0, 0),
    }
    for name, scalar in {
        "int": pa.scalar(1),
        "null": pa.scalar(None, pa.int8()),
        "text": pa.scalar("é", pa.large_string()),
        "list": pa.scalar([1, None], pa.list_(I32)),
        "struct": pa.scalar({"a": 1, "b": "x"}),
        "timestamp": pa.scalar(5, pa.timestamp("ns", "UTC")),
        "dictionary": pa.array(["a", "b"]).dictionary_encode()[1],
    }.items():
        found[f"Scalar, {name}"] = scalar
    return found
