"""Frames of pandas as tables of pyarrow, for Parquet, Arrow and Feather."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries
from entasis._convert import losses as _losses
from entasis._convert.inputs import base as _base
from entasis._convert.left_out import LEFT_OUT
from entasis.errors import UnsupportedTypeError

from . import row_groups as _row_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._convert.inputs.file import FileInput
    from entasis._convert.left_out import Loss


def as_table(value: Any, form: str) -> tuple[Any, list[Loss]]:
    """A table of pyarrow with the metadata of pandas, and what it does not hold."""
    import pandas as pd
    import pyarrow as pa

    lost: list[Loss] = []
    if isinstance(value, pd.Index):
        lost.append((None, "the index becomes a frame"))
        value = value.to_frame(index=False)
    elif isinstance(value, pd.Series):
        lost.append((None, "the series becomes a frame"))
        value = value.to_frame(value.name if isinstance(value.name, str) else "values")
    elif not isinstance(value, pd.DataFrame):
        lost.append((None, "the array becomes a frame"))
        value = pd.DataFrame({"values": value})
    frame = value
    if not _is_json(frame.attrs):
        frame = frame.copy(deep=False)
        frame.attrs = {}
        lost.append((None, "the attributes of the frame are lost: they are not JSON"))
    if not frame.columns.is_unique:
        raise UnsupportedTypeError(f"columns with equal labels have no place in a file of {form}: rename them")
    table: Any
    try:
        table = pa.Table.from_pandas(frame)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        frame, left = _without_unsupported(frame)
        lost += left
        try:
            table = pa.Table.from_pandas(frame)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            raise UnsupportedTypeError(f"pyarrow can't convert the frame: {error}") from error
    table, frame, left = _readable(table, frame)
    lost += left
    lost += _losses.of_frames(frame.iloc[:0], table.slice(0, 0).to_pandas())
    for i, (label, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if str(dtype) in ("object", "Float32", "Float64"):
            reason = _changed(frame.iloc[:, i], table.column(i))
            if reason is not None:
                lost.append((label, reason))
    for level in range(frame.index.nlevels):
        labels = frame.index.get_level_values(level)
        if str(labels.dtype) == "object" and (
            reason := _changed(pd.Series(labels), pa.array(labels, from_pandas=True))
        ):
            lost.append((None, f"labels of rows: {reason}"))
    return table, lost


def in_windows(given: FileInput, form: str) -> tuple[Any, Callable[[], Iterator[Any]], list[Loss]] | None:
    """A long frame of pandas in a file, in windows of rows: a schema, tables, and losses.

    None if its types follow from the values, as those of objects do.
    """
    import pandas as pd
    import pyarrow as pa

    file = given.file()
    n = file.n_rows
    if n <= _row_groups.GROUP or file._view.table.host.get("class") is not None:
        return None
    head = file[:0].read()
    levels = [head.index.get_level_values(level) for level in range(head.index.nlevels)]
    if any(
        str(dtype) in ("object", "Float32", "Float64") for dtype in [*head.dtypes, *(each.dtype for each in levels)]
    ):
        return None
    table, lost = as_table(head, form)
    if table.num_columns < head.shape[1]:
        return None
    schema = table.schema
    metadata = json.loads(schema.metadata[b"pandas"])
    if isinstance(head.index, pd.RangeIndex):
        first, last = file[:1].read().index, file[-1:].read().index
        metadata["index_columns"][0].update(start=first.start, stop=last.stop, step=first.step)
    schema = schema.with_metadata({**schema.metadata, b"pandas": json.dumps(metadata).encode()})

    def tables() -> Iterator[Any]:
        for start in range(0, n, _base.BATCH):
            part = pa.Table.from_pandas(file[start : start + _base.BATCH].read())
            yield part.replace_schema_metadata(schema.metadata)

    return schema, tables, lost


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _without_unsupported(frame: Any) -> tuple[Any, list[Loss]]:
    import pyarrow as pa

    kept, lost = [], []
    for i, label in enumerate(frame.columns):
        try:
            pa.Array.from_pandas(frame.iloc[:, i])
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            lost.append((label, f"{LEFT_OUT}: {str(error).partition(chr(10))[0][:150]}"))
        else:
            kept.append(i)
    return frame.iloc[:, kept], lost


def _readable(table: Any, frame: Any) -> tuple[Any, Any, list[Loss]]:
    """The columns that pandas reads back, and the others."""
    import pyarrow as pa

    try:
        table.slice(0, 0).to_pandas()
        return table, frame, []
    except Exception as error:
        failed = error
    kept: list[int] = []
    lost: list[Loss] = []
    for i, label in enumerate(frame.columns):
        try:
            pa.Table.from_pandas(frame.iloc[:0, [i]]).to_pandas()
        except Exception as error:
            lost.append((label, f"{LEFT_OUT}: pandas can't read it back: {_libraries.said(error)[:100]}"))
        else:
            kept.append(i)
    if kept:
        frame = frame.iloc[:, kept]
        table = pa.Table.from_pandas(frame)
        try:
            table.slice(0, 0).to_pandas()
            return table, frame, lost
        except Exception as error:
            failed = error
    raise UnsupportedTypeError(f"pandas can't read the frame back from Arrow: {_libraries.said(failed)}") from failed


def _changed(series: Any, column: Any) -> str | None:
    """How the values of a column of pandas change in Arrow; None if they come back."""
    kind = str(series.dtype)
    if kind in ("Float32", "Float64"):
        import numpy as np

        found = np.isnan(series.array.to_numpy(dtype=kind.lower(), na_value=0.0)).any()
        return "NaN becomes missing" if found else None
    if kind != "object":
        return None
    back = column.to_pandas()
    for one, other in zip(series, back.astype(object), strict=True):
        if type(one) is not type(other):
            return f"a value of type {type(one).__name__} becomes {type(other).__name__}"
        try:
            if one is other or one != one or (bool(one == other) and repr(one) == repr(other)):
                continue
        except (ValueError, TypeError):
            pass
        return f"values of type {type(one).__name__} change"
    return None
