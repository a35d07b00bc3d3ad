"""pyarrow.Table: equality regardless of chunks, and the bytes of the buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .base import Host, WrongData, named

BITS = {16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}


class Arrow(Host):
    """The table with its schema, metadata included."""

    key = "arrow"
    label = "Arrow"

    def head(self, frame: pa.Table, n_rows: int) -> pa.Table:
        # Copied: a slice would keep the whole buffers, even when pickled.
        return pa.Table.from_pylist(frame.slice(0, n_rows).to_pylist(), schema=frame.schema)

    def buffers(self, frame: pa.Table) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        for column in frame.columns:
            for chunk in column.chunks:
                found += _of_chunk(chunk)
        return found

    def differences(self, expected: pa.Table, got: pa.Table) -> list[str]:
        if not isinstance(got, pa.Table):
            raise WrongData(f"a {type(got).__name__} came back")
        if got.shape != expected.shape:
            raise WrongData(f"shape {expected.shape} came back as {got.shape}")
        if expected.column_names != got.column_names:
            raise WrongData("the column names differ")
        kinds: dict[str, list[str]] = {}
        for i, field in enumerate(expected.schema):
            notes = _column(field.name, expected.column(i), got.column(i))
            if field.nullable != got.schema.field(i).nullable:
                notes.append("nullability lost")
            if (field.metadata or {}) != (got.schema.field(i).metadata or {}):
                notes.append("field metadata changed")
            for note in notes:
                kinds.setdefault(note, []).append(field.name)
        found = [f"{note} ({named(labels)})" for note, labels in kinds.items()]
        if (expected.schema.metadata or {}) != (got.schema.metadata or {}):
            found.append("schema metadata changed")
        return found

    def touch(self, frame: pa.Table) -> Any:
        return frame.column(0)[0]


def _column(label: str, expected: pa.ChunkedArray, got: pa.ChunkedArray) -> list[str]:
    notes = []
    if expected.type != got.type:
        notes.append(f"{expected.type} back as {got.type}")
        got = _as_type(label, got, expected.type)
    if _same(expected, got):
        return notes
    if pa.types.is_dictionary(expected.type):
        values = expected.type.value_type
        if _same(expected.cast(values), _as_type(label, got, values)):
            return [*notes, "order of the dictionary lost"]
    if _same(expected, got, any_nan=True):
        return [*notes, "bits of NaN lost"]
    raise WrongData(f"column {label}: values differ")


def _as_type(label: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    try:
        if pa.types.is_dictionary(column.type):
            column = _decoded(column)
        if pa.types.is_dictionary(wanted):
            plain = column.cast(wanted.value_type)
            return plain.dictionary_encode().cast(wanted)
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise WrongData(f"column {label}: {column.type} for {wanted}: {error}") from error


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a dictionary column. Arrow's `take` lacks string views."""
    kind = column.type.value_type
    kind = pa.large_string() if kind == pa.string_view() else kind
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _same(expected: pa.ChunkedArray, got: pa.ChunkedArray, *, any_nan: bool = False) -> bool:
    """Whether the values are equal, floats bit by bit (0.0 is not -0.0) unless `any_nan`."""
    if pa.types.is_floating(expected.type):
        if any_nan:
            import pyarrow.compute as pc

            expected, got = (
                pc.if_else(pc.is_nan(column), pa.scalar(np.nan, column.type), column)
                for column in (expected, got)
            )
        bits = BITS[expected.type.bit_width]
        expected, got = (
            pa.chunked_array([chunk.view(bits) for chunk in column.chunks], bits)
            for column in (expected, got)
        )
    return bool(expected.equals(got))


def _of_chunk(chunk: Any) -> list[np.ndarray]:
    if isinstance(chunk, pa.DictionaryArray):
        return _of_chunk(chunk.indices) + _of_chunk(chunk.dictionary)
    if chunk.offset or chunk.get_total_buffer_size() > chunk.nbytes + 1024:
        chunk = pa.concat_arrays([chunk, chunk.slice(0, 0)])  # only what it shows
    return [
        np.frombuffer(buffer, np.uint8)
        for buffer in chunk.buffers()
        if buffer is not None and buffer.size
    ]
