"""Converts the type of run ends in run-end encoded columns of pyarrow."""

from __future__ import annotations

from typing import Any


def with_run_ends(column: Any, kind: Any) -> Any:
    """A column with the run-end type of `kind`. Both have the same type of values."""
    import pyarrow as pa

    chunks = []
    for chunk in column.chunks:
        # A slice has the children of the whole array.
        whole = pa.RunEndEncodedArray.from_arrays(chunk.run_ends.cast(kind.run_end_type), chunk.values, kind)
        chunks.append(whole.slice(chunk.offset, len(chunk)))
    return pa.chunked_array(chunks, kind)
