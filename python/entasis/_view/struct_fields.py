"""Reads columns among which there are fields of structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import shown
from entasis._columns.fields import FieldColumn
from entasis._columns.names import names
from entasis._host_map import interpretation
from entasis._hosts.numpy.nested import values_of
from entasis._libraries import registry as _hosts
from entasis.errors import ArgumentError, DuplicateColumnError, MissingLibraryError, UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import Handle

    from .view import View

_LARGE, _VIEWS = 1, 2


def read(view: View, to: str | None, threads: int | None, index: bool | None) -> Any:
    """Read the columns of a view. Fields are columns of the result, with their own names."""
    columns = view.columns or []
    fields = [column for column in columns if type(column) is FieldColumn]
    others = [column for column in columns if type(column) is not FieldColumn]
    host = _hosts.host_of(to, view.written_by)
    if host == "static_frame":
        raise ArgumentError(
            "StaticFrame has no structs: pass to='numpy' for their fields, and make a frame of the arrays"
        )
    reader = _hosts.reader(host, None)
    has_index = getattr(reader, "HAS_INDEX", False)
    is_shown = [type(column) is FieldColumn or not has_index or _is_of_table(column, view) for column in columns]
    positions = [i for i, column in enumerate(_kept(columns, is_shown)) if type(column) is FieldColumn]
    labels = names(view.handle, list(fields))
    rest: Any = view.narrow(others, view.rows).read(host, threads, index, is_restored=False)
    _refuse_twice([*labels, *_labels_of(rest)])
    read_one, own = _series if host == "polars" else _array, view.written_by == host
    if not others and host in ("polars", "pyarrow"):
        # A frame without columns has no rows there.
        return _of_fields(host, labels, [read_one(view, field, threads, own) for field in fields])
    for position, label, field in zip(positions, labels, fields, strict=True):
        rest = _INSERT[host](rest, position, label, read_one(view, field, threads, own))
    return rest


def _of_fields(host: str, labels: list[str], found: list[Any]) -> Any:
    if host == "pyarrow":
        import pyarrow as pa

        return pa.table(found, names=labels)
    import polars as pl

    return pl.DataFrame(found)


def _kept(columns: list[int], are_kept: list[bool]) -> list[int]:
    return [column for column, is_kept in zip(columns, are_kept, strict=True) if is_kept]


def _is_of_table(column: int, view: View) -> bool:
    return 0 <= column < view.handle.n_columns


def _labels_of(frame: Any) -> list[Any]:
    if isinstance(frame, dict):
        return list(frame)
    return list(getattr(frame, "column_names", frame.columns))


def _refuse_twice(labels: list[Any]) -> None:
    seen = set()
    for label in labels:
        if label in seen:
            raise DuplicateColumnError(
                f"two columns would have the name {shown(label)}, because a field has its own name: select one of them"
            )
        seen.add(label)


def _missing(handle: Handle, field: FieldColumn, rows: Any, threads: int | None) -> Any:
    """The positions of rows where no struct around the field is missing; None for all.

    The result is a NumPy array that masks the other rows: a library that takes values at masked
    positions returns missing values.
    """
    import numpy as np

    if not any(info.n_missing for info in handle.columns(list(field.parents))):
        return None
    n = handle.n_rows
    start, stop = _span(rows, n)
    missing = np.asarray(handle.filtered_rows(("null", field.parents[-1]), start, stop, threads))
    numbers = np.arange(n) if rows is None else np.asarray(rows, np.int64)
    return None if len(missing) == 0 else np.ma.MaskedArray(np.arange(len(numbers)), np.isin(numbers, missing))


def _span(rows: Any, n: int) -> tuple[int, int]:
    """The first selected row, and the row after the last."""
    if rows is None:
        return 0, n
    if len(rows) == 0:
        return 0, 0
    ends = (rows[0], rows[-1]) if isinstance(rows, range) else (rows.min(), rows.max())
    return int(min(ends)), int(max(ends)) + 1


def _array(view: View, field: FieldColumn, threads: int | None, own: bool) -> Any:
    """Read a field as an array of pyarrow. A value is missing if a struct around it is missing."""
    try:
        import pyarrow as pa
    except ImportError as error:
        message = f"fields of structs are read with pyarrow, which can't be imported ({error}): pip install pyarrow"
        raise MissingLibraryError(message) from error
    handle, rows = view.handle, view.rows
    metadata = own and view.written_by == "pyarrow"
    table = handle.read_arrow([int(field)], _rows.native(rows), _LARGE, own, threads, {}, None, metadata)
    # Classes of extension types parse the metadata of the file.
    with interpretation():
        (column,) = pa.RecordBatchReader.from_stream(table).read_all().columns
        array = column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)
    indices = _missing(handle, field, rows, threads)
    if indices is None:
        return array
    wanted, taken = pa.array(indices.data, mask=indices.mask), array.type
    is_view = pa.types.is_string_view(taken) or pa.types.is_binary_view(taken)
    try:
        # pyarrow has no `take` for views of strings and bytes.
        plain = (
            array.cast(pa.large_string() if pa.types.is_string_view(taken) else pa.large_binary()) if is_view else array
        )
        return plain.take(wanted).cast(taken) if is_view else plain.take(wanted)
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedTypeError(
            f"the field '{_name(view, field)}' of type {taken} can't be read alone where its struct is missing: "
            "select the struct"
        ) from error


def _series(view: View, field: FieldColumn, threads: int | None, own: bool) -> Any:
    """Read a field as a series of Polars. A value is missing if a struct around it is missing."""
    import polars as pl

    handle, rows = view.handle, view.rows
    table = handle.read_arrow([int(field)], _rows.native(rows), _VIEWS, False, threads, {}, None, own, polars=True)
    series = pl.DataFrame(table).to_series(0)
    if own:
        # The struct has the metadata of its fields, which turn categoricals into Enums.
        dtype: Any = view.narrow([field.parents[0]], range(0)).read("polars").to_series(0).dtype
        for number in (*field.parents[1:], field):
            dtype = next(inner.dtype for inner in dtype.fields if inner.name == _name(view, number))
        series = series if series.dtype == dtype else series.cast(dtype)
    indices = _missing(handle, field, rows, threads)
    if indices is None:
        return series
    return series.gather(pl.Series(indices.data).set(pl.Series(indices.mask), None))


def _name(view: View, number: int) -> str:
    return view.handle.columns([int(number)])[0].name


def _into_pandas(rest: Any, position: int, label: str, array: Any) -> Any:
    import pandas as pd

    rest.insert(position, label, pd.Series(pd.array(array, dtype=pd.ArrowDtype(array.type)), index=rest.index))
    return rest


def _into_polars(rest: Any, position: int, label: str, series: Any) -> Any:
    return rest.insert_column(position, series.alias(label))


def _into_pyarrow(rest: Any, position: int, label: str, array: Any) -> Any:
    return rest.add_column(position, label, array)


def _into_numpy(rest: Any, position: int, label: str, array: Any) -> Any:
    items = list(rest.items())
    items.insert(position, (label, values_of(label, array)))
    return dict(items)


_INSERT = {
    "pandas": _into_pandas,
    "polars": _into_polars,
    "pyarrow": _into_pyarrow,
    "numpy": _into_numpy,
}
