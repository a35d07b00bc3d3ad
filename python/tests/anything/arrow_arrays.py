"""Any arrays of pyarrow, nested ones too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from .cells import TEXT
from .numpy_arrays import bits

I32 = pa.int32()


def _words(kind: Any) -> Any:
    """Arrays of a type of fixed width, of any bits."""
    dtype = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}[kind.bit_width // 8]

    def of(n: int) -> Any:
        masks = st.lists(st.booleans(), min_size=n, max_size=n)

        def make(pair: Any) -> Any:
            values, mask = pair
            return pa.array(values, mask=np.array(mask, "?")).view(kind)

        return st.tuples(bits(dtype, n), masks).map(make)

    return of


def _listed(kind: Any, values: Any) -> Any:
    """Arrays of a type made of a list."""

    def of(n: int) -> Any:
        return st.lists(st.none() | values, min_size=n, max_size=n).map(lambda cells: pa.array(cells, kind))

    return of


NUMBERS = [pa.int8(), pa.int16(), I32, pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]


def _times(draw: Any) -> Any:
    unit = draw(st.sampled_from(["s", "ms", "us", "ns"]))
    zone = draw(st.sampled_from([None, "UTC", "+05:30"]))
    return draw(st.sampled_from([pa.timestamp(unit, zone), pa.duration(unit), pa.date32()]))


@st.composite
def _leaf(draw: Any, n: int) -> Any:
    kind = draw(st.sampled_from(["words", "times", "bool", "text", "bytes", "fixed", "decimal", "null"]))
    if kind == "words":
        return draw(_words(draw(st.sampled_from([*NUMBERS, *FLOATS])))(n))
    if kind == "times":
        return draw(_words(_times(draw))(n))
    if kind == "bool":
        return draw(_listed(pa.bool_(), st.booleans())(n))
    if kind == "text":
        return draw(_listed(draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view()])), TEXT)(n))
    if kind == "bytes":
        types = [pa.binary(), pa.large_binary(), pa.binary_view()]
        return draw(_listed(draw(st.sampled_from(types)), st.binary(max_size=20))(n))
    if kind == "fixed":
        width = draw(st.integers(0, 5))
        return draw(_listed(pa.binary(width), st.binary(min_size=width, max_size=width))(n))
    if kind == "decimal":
        make = draw(st.sampled_from([pa.decimal32, pa.decimal64, pa.decimal128, pa.decimal256]))
        return draw(_listed(make(9, 0), st.integers(-(10**9) + 1, 10**9 - 1))(n))
    return pa.nulls(n)


def _lengths(draw: Any, n: int) -> Any:
    return np.array([draw(st.integers(0, 3)) for _ in range(n)], dtype="i8")


def _mask(draw: Any, n: int) -> Any:
    return pa.array([draw(st.booleans()) for _ in range(n)], pa.bool_())


@st.composite
def arrays(draw: Any, n: int, depth: int = 0) -> Any:
    """An array of `n` values of any type."""
    nested = ["list", "large", "view", "fixed", "struct", "map", "dictionary", "sparse", "dense", "runs"]
    kind = draw(st.sampled_from(["leaf", *(nested if depth < 3 else [])]))
    if kind == "leaf":
        return draw(_leaf(n))
    if kind in ("list", "large", "view"):
        lengths = _lengths(draw, n)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = draw(arrays(int(lengths.sum()), depth + 1))
        if kind == "view":
            parts = pa.array(offsets[:-1], I32), pa.array(lengths, I32)
            return pa.ListViewArray.from_arrays(*parts, values, mask=_mask(draw, n))
        make, width = (pa.ListArray, I32) if kind == "list" else (pa.LargeListArray, pa.int64())
        return make.from_arrays(pa.array(offsets, width), values, mask=_mask(draw, n))
    if kind == "fixed":
        size = draw(st.integers(1, 3))
        return pa.FixedSizeListArray.from_arrays(draw(arrays(n * size, depth + 1)), size, mask=_mask(draw, n))
    if kind == "struct":
        names = draw(st.lists(TEXT.filter(lambda text: "\0" not in text), min_size=1, max_size=3))
        fields = [draw(arrays(n, depth + 1)) for _ in names]
        return pa.StructArray.from_arrays(fields, names, mask=_mask(draw, n))
    if kind == "map":
        lengths = _lengths(draw, n)
        total = int(lengths.sum())
        keys = pa.array([draw(TEXT) for _ in range(total)], pa.string())
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), I32)
        return pa.MapArray.from_arrays(offsets, keys, draw(arrays(total, depth + 1)))
    if kind == "dictionary":
        values = draw(_leaf(draw(st.integers(1, 4))))
        codes = [draw(st.none() | st.integers(0, len(values) - 1)) for _ in range(n)]
        width = draw(st.sampled_from([pa.int8(), pa.uint16(), pa.int64()]))
        return pa.DictionaryArray.from_arrays(pa.array(codes, width), values, ordered=draw(st.booleans()))
    if kind == "runs":
        ends = sorted({draw(st.integers(1, n)) for _ in range(min(n, 3))} | ({n} if n else set()))
        values = draw(_leaf(len(ends)))
        return pa.RunEndEncodedArray.from_arrays(pa.array(ends, draw(st.sampled_from([pa.int16(), I32]))), values)
    n_types = draw(st.integers(1, 3))
    types = pa.array([draw(st.integers(0, n_types - 1)) for _ in range(n)], pa.int8())
    children = [draw(arrays(n, depth + 1)) for _ in range(n_types)]
    names = ["a", "b", "c"][:n_types]
    if kind == "sparse":
        return pa.UnionArray.from_sparse(types, children, names)
    return pa.UnionArray.from_dense(types, pa.array(range(n), I32), children, names)


@st.composite
def tables(draw: Any) -> Any:
    """A table of any columns, in chunks of any lengths, with metadata."""
    n = draw(st.integers(0, 6))
    names = draw(st.lists(TEXT.filter(lambda text: "\0" not in text), max_size=3))
    columns = []
    for _ in names:
        array = draw(arrays(n))
        cut = draw(st.integers(0, n))
        is_cut = draw(st.booleans()) and not _has_dictionary(array.type)
        columns.append(pa.chunked_array([array.slice(0, cut), array.slice(cut)] if is_cut else [array], array.type))
    table = pa.Table.from_arrays(columns, names)
    metadata = draw(st.dictionaries(st.binary(max_size=4), st.binary(max_size=4), max_size=2))
    return table.replace_schema_metadata(metadata) if metadata else table


def _has_dictionary(kind: Any) -> bool:
    return "dictionary" in str(kind)
