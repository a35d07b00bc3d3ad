"""Converts columns to frames of pandas, with one block for each dtype."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import names as _columns
from entasis._columns.index_spec import columns_of, number_of
from entasis._columns.labels import decode_label
from entasis._entasis import Handle, read_blocks
from entasis._host_map import CellValue, interpretation
from entasis._hosts import foreign_index as _foreign
from entasis._values import cells as _cells
from entasis.errors import ArgumentError, CorruptFileError

from . import compat as _compat
from . import index as _labels
from .decode import Arrays, has_pyarrow, mixed

if TYPE_CHECKING:
    from collections.abc import Callable


# From this number of columns on, plain columns are read together by type, not one by one.
_MANY = 64
# From this number of columns on, the garbage collector is off while columns are made.
_VERY_MANY = 1024
# A frame has row labels, so levels of the index are not read as columns.
HAS_INDEX = True
_NAMES = {"kind": "names", "dtype": "str", "name": None}


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """Read columns and rows as a frame."""
    n = handle.n_columns if columns is None else len(columns)
    if n < _VERY_MANY:
        return _read(handle, host, columns, rows, threads)
    with _cells.without_collection():
        return _read(handle, host, columns, rows, threads)


def _read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    own, host = _with_indexes(host)
    n = handle.n_columns if columns is None else len(columns)
    labels, index, categories = _parts(host) if host else (_NAMES, None, {})
    requested = columns
    plain: list[tuple[Any, Any]] = []
    axes: list[Any] = []
    if own and n >= _MANY and columns is None and rows is None and type(handle) is Handle:

        def label(_: bool) -> None:
            axes.append(_index(handle, index, handle.n_rows, own, categories, threads))
            axes.append(_column_labels(handle, labels, None, own, categories))

        plain, columns = _plain_blocks(handle, threads, label)
        n = len(columns)
    kinds = _kinds_wanted(host, columns)
    extra = columns_of(index) if index and not axes else []
    wanted = columns
    if extra or kinds:
        wanted = [*(range(n) if columns is None else columns), *extra, *(ref for _, ref in kinds)]
    entries: list[Any] = []
    if wanted is None or wanted:
        entries = handle.read(wanted, _rows.native(rows), "pandas", own, n, threads)
        entries = _cells.fill(handle, entries, rows, handle.n_rows)
    n_rows = _rows.count(rows, handle.n_rows)
    arrays = Arrays(handle, own, entries, n, n_rows, categories, raw=_is_multi(index))
    kind_values = dict(zip((i for i, _ in kinds), arrays.extra[len(extra) :], strict=True)) if kinds else {}
    blocks = arrays.blocks(kind_values)
    if plain:
        assert columns is not None, "the columns that are left have numbers"
        blocks = [*plain, *((values, _at(columns, positions)) for values, positions in blocks)]
    if axes:
        index_values, column_labels = axes
    else:
        if index is None:
            index_values = _range_index(n_rows)
        else:
            if "missing_kinds" in index:
                with interpretation():
                    arrays.extra[0] = mixed(arrays.extra[0], arrays.extra[1])
            index_values = _labels.decode_index(index, arrays.extra[: len(extra)], handle.n_rows, rows)
        column_labels = _column_labels(handle, labels, requested, own, categories)
    if own and _dtype_metadata.KEY in host:
        blocks = _with_metadata(blocks, host, requested)
    frame = _frame(blocks, index_values, column_labels)
    if "attrs" in host:
        with interpretation():
            attrs = host["attrs"]
            frame.attrs = attrs.get() if type(attrs) is CellValue else attrs
    if host.get("allows_duplicate_labels") is False:
        _forbid_duplicates(frame, is_part=rows is not None or requested is not None)
    return frame


def _forbid_duplicates(frame: Any, *, is_part: bool) -> None:
    """Set the flag that labels are unique. Refuse selections that repeat rows or columns."""
    import pandas as pd

    try:
        frame.flags.allows_duplicate_labels = False
    except pd.errors.DuplicateLabelError as error:
        if not is_part:
            raise CorruptFileError("the frame forbids duplicate labels, and the file has some") from error
        raise ArgumentError("the frame forbids duplicate labels: ask for each row and column once") from error


def row_labels(handle: Handle, host: dict[str, Any], rows: Any = None) -> Any:
    """Read the index of all or some rows; positions if the file has none."""
    own, host = _with_indexes(host)
    if not host:
        return _range_index(_rows.count(rows, handle.n_rows))
    _, index, categories = _parts(host)
    return _index(handle, index, handle.n_rows, own, categories, None, rows)


def column_labels(handle: Handle, host: dict[str, Any]) -> Any:
    """Read the labels of all columns."""
    own, host = _with_indexes(host)
    labels, _, categories = _parts(host) if host else (_NAMES, None, {})
    return _column_labels(handle, labels, None, own, categories)


def _with_indexes(host: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Return whether pandas wrote the file, and the host map as pandas would write it."""
    own = host.get("host") == "pandas"
    return own, host if own else _foreign.of_static_frame(host) or _foreign.of_r(host)


def _plain_blocks(
    handle: Handle, threads: int | None, meanwhile: Callable[[bool], None]
) -> tuple[list[tuple[Any, Any]], list[int]]:
    """Read all columns of plain numbers and booleans as blocks.

    Returns them, and the numbers of the others.
    """
    found = read_blocks(handle, [], threads, meanwhile, pandas=True)
    assert found is not None, "no matrices were requested"
    rowwise, _, others = found
    return [(values, positions) for positions, values in rowwise], others


@interpretation()
def _with_metadata(blocks: list[tuple[Any, Any]], host: dict[str, Any], columns: list[int] | None) -> Any:
    """Restore the metadata of dtypes. A block is split if its columns have different metadata."""
    metadata = _dtype_metadata.ColumnMetadata(host, columns)
    found = []
    for values, positions in blocks:
        at = np.atleast_1d(positions)
        # Rows of the block by the number of their metadata.
        parts: dict[int | None, list[int]] = {}
        for row, position in enumerate(at.tolist()):
            parts.setdefault(metadata.number(position if columns is None else columns[position]), []).append(row)
        for number, rows in parts.items():
            part, where = (values, positions) if len(parts) == 1 else (values[rows], at[rows])
            found.append((part if number is None else metadata.restore(part, number), where))
    return found


def _at(columns: list[int], positions: Any) -> Any:
    return columns[positions] if type(positions) is int else np.array(columns, np.int64)[positions]


@interpretation()
def _parts(host: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None, dict[int, Any]]:
    """Column labels, row labels, and indexes of categories by their columns, from the host map."""
    # The index is None after `index=False`.
    labels, index, categories = host["columns"], host["index"], host.get("categories", ())
    for spec in (labels,) if index is None else (labels, index):
        if type(spec) is not dict or type(spec["kind"]) is not str:
            raise TypeError("an index is a map")
    return labels, index, {number_of(ref): spec for ref, spec in categories}


def _is_multi(spec: dict[str, Any] | None) -> bool:
    return spec is not None and spec["kind"] == "multi"


def _range_index(n: int) -> Any:
    return pd.RangeIndex.from_range(range(n))


@interpretation()
def _kinds_wanted(host: dict[str, Any], columns: list[int] | None) -> list[tuple[int, int]]:
    """Positions of columns with several markers, and the columns that record the markers."""
    found = {position: number_of(ref) for position, ref in host.get("missing_kinds", ())}
    if columns is None:
        return list(found.items())
    return [(i, found[column]) for i, column in enumerate(columns) if column in found]


@interpretation()
def _name_and_dtype(spec: dict[str, Any]) -> tuple[Any, str]:
    """The name of an index of names, and its dtype in this version of pandas."""
    if spec["dtype"] not in ("str", "object"):
        raise ValueError(f"names of dtype {spec['dtype']!r}")
    return decode_label(spec["name"]), _label_dtype(spec["dtype"])


def _column_labels(
    handle: Handle, spec: dict[str, Any], columns: list[int] | None, own: bool, categories: dict[int, Any]
) -> Any:
    if spec["kind"] == "names":
        name, dtype = _name_and_dtype(spec)
        is_arrow = dtype == "str" and has_pyarrow()
        if is_arrow and columns is None:
            # Equals an index of a list of names, without making Python strings.
            return _string_index(_joined_names(handle), name)
        if dtype == "object" and columns is None and handle.n_columns >= _MANY and has_pyarrow():
            # pyarrow makes the strings directly in the array.
            strings = _joined_names(handle).to_numpy(zero_copy_only=False)
            return _compat.index(strings, name)
        names = _columns.names(handle, columns)
        if is_arrow:
            import pyarrow as pa

            return _string_index(pa.array(names, pa.large_string()), name)
        return pd.Index(names, dtype=dtype, name=name)
    labels = _index(handle, spec, handle.n_columns, own, categories, 1)
    # Unlike `[]`, this keeps the frequency of neighbouring times, as a selection in memory does.
    return labels if columns is None else labels.take(columns)


def _index(
    handle: Handle,
    spec: dict[str, Any] | None,
    n: int,
    own: bool,
    categories: dict[int, Any],
    threads: int | None,
    rows: Any = None,
) -> Any:
    """Read all or some rows of an index with `n` labels."""
    if spec is None:
        return _range_index(_rows.count(rows, n))
    numbers = columns_of(spec)
    values: list[Any] = []
    if numbers:
        entries = handle.read(numbers, _rows.native(rows), "pandas", own, 0, threads, n)
        entries = _cells.fill(handle, entries, rows, n)
        values = Arrays(handle, own, entries, 0, _rows.count(rows, n), categories, raw=_is_multi(spec)).extra
    if "missing_kinds" in spec:
        with interpretation():
            values[0] = mixed(values[0], values[1])
    return _labels.decode_index(spec, values, n, rows)


def _joined_names(handle: Handle) -> Any:
    """The names of all columns as a pyarrow array."""
    import pyarrow as pa

    ends, text = handle.joined_names()
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(ends) // 8 - 1, buffers)


def _string_index(array: Any, name: Any) -> Any:
    return _compat.string_index(_compat.string_maker(np.nan)(array), name)


@cache
def _label_dtype(name: str) -> Any:
    return name if name == "object" or int(pd.__version__.split(".")[0]) >= 3 else "object"


def _frame(blocks: list[tuple[Any, Any]], index: Any, columns: Any) -> Any:
    frame = _compat.frame(blocks, index, columns)
    if frame is None:
        arrays: dict[int, Any] = {}
        for values, positions in blocks:
            is_2d = getattr(values, "ndim", 1) == 2
            for k, position in enumerate([positions] if type(positions) is int else positions.tolist()):
                arrays[position] = pd.Series(values[k] if is_2d else values, index=index, copy=False)
        frame = pd.DataFrame({position: arrays[position] for position in sorted(arrays)}, index=index, copy=False)
        frame.columns = columns
    return frame
