"""Frames, series and indexes of StaticFrame to columns. Whole blocks are added at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._columns.labels import encode_label
from entasis._columns.text import as_text
from entasis._entasis import Builder, ColumnRef, add_blocks
from entasis._hosts.numpy import write as _numpy
from entasis.errors import UnsupportedTypeError

from . import compat as _compat
from . import index as _sf_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

# Row order of a block's memory is recorded from this many columns on, where rows span cache lines.
_ROWWISE = 8
# The host map holds the integers of at most so many blocks. More become an extra column.
_FEW = 16


def build(value: Any) -> tuple[Builder, dict[str, Any]]:
    """Return a builder with all columns of a value, and the host map."""
    name = _sf_labels.class_name(value)
    if name is None:
        raise UnsupportedTypeError(f"a StaticFrame {type(value).__name__} can't be kept")
    host: dict[str, Any] = {"host": "static_frame", "class": name}
    if name in _sf_labels.FRAMES:
        return _build_frame(value, host)
    if name in _sf_labels.SERIES:
        return _build_series(value, host)
    builder = Builder(len(value), [])
    host["index"] = _sf_labels.encode_index(builder, value, "the index")
    return builder, host


def is_table(value: Any) -> bool:
    """Whether a value is written as a table."""
    import static_frame as sf

    return isinstance(value, (sf.Frame, sf.Series, sf.Index, sf.IndexHierarchy))


def _build_series(series: Any, host: dict[str, Any]) -> tuple[Builder, dict[str, Any]]:
    values = series.values
    builder = Builder(len(values), ["values" if series.name is None else as_text(series.name)])
    host["name"] = encode_label(series.name, "the series", builder.tree)
    host |= _add_blocks(builder, [values], "series.iloc")
    host["index"] = _sf_labels.encode_index(builder, series.index, "the index")
    return builder, host


def _build_frame(frame: Any, host: dict[str, Any]) -> tuple[Builder, dict[str, Any]]:
    builder = _named(len(frame.index), frame.columns)
    host["name"] = encode_label(frame.name, "the frame", builder.tree)
    blocks = _compat.blocks(frame)
    host |= _add_blocks(builder, blocks)
    host["index"] = _sf_labels.encode_index(builder, frame.index, "the index")
    host["columns"] = _sf_labels.encode_index(builder, frame.columns, "the column labels", are_names=True)
    codes = _codes(blocks)
    if any(codes):
        host["blocks"] = codes if len(codes) <= _FEW else ColumnRef(_add_codes(builder, codes))
    return builder, host


def _named(n_rows: int, labels: Any) -> Builder:
    """A builder with the labels, as strings, for names."""
    if labels.depth == 1:
        values = labels.values
        if values.dtype.kind == "U" and values.dtype.isnative:
            try:
                return Builder(n_rows, values)
            except ValueError:
                # A label has lone surrogates.
                pass
    return Builder(n_rows, _sf_labels.texts(labels))


def _add_blocks(builder: Builder, blocks: list[Any], called: str = "") -> dict[str, Any]:
    """Add all columns. Returns entries for the host map. Errors name the only column `called`."""
    kinds = []
    others, with_metadata = add_blocks(builder, blocks)
    for number, position in others:
        block = blocks[number]
        for i, column in enumerate([block] if block.ndim == 1 else block.T, position):
            _, mixed = _numpy.add(builder, column, i, cells=called or f"frame[{builder.name(i)!r}].iloc")
            if mixed is not None:
                kinds.append([i, ColumnRef(mixed)])
    metadata = _dtype_metadata.Collector()
    for number, position in with_metadata:
        block = blocks[number]
        width = 1 if block.ndim == 1 else block.shape[1]
        if width:
            metadata.add(block.dtype, range(position, position + width))
    return ({"missing_kinds": kinds} if kinds else {}) | metadata.encode(builder)


def _codes(blocks: Sequence[Any]) -> list[int]:
    """An integer for each block: 0 for one axis, else its columns, negative for row order."""
    return [0 if block.ndim == 1 else -block.shape[1] if _is_rowwise(block) else block.shape[1] for block in blocks]


def _is_rowwise(block: Any) -> bool:
    dtype = block.dtype
    if block.shape[1] < _ROWWISE or dtype.kind in "OUSVT" or not dtype.isnative or dtype.char == "G":
        return False
    if _dtypes.has_multiple(dtype):
        return False
    return block.flags.c_contiguous and not block.flags.f_contiguous


def _add_codes(builder: Builder, codes: list[int]) -> int:
    import numpy as np

    number = builder.words(np.array(codes, dtype=np.int64), name="blocks")
    assert number is not None, "an extra column has a number"
    return number
