"""Polars frames, through Arrow's C stream interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns.levels import with_labels
from entasis._entasis import Builder
from entasis._hosts.numpy.arrays import arrays
from entasis._hosts.numpy.nested import can_convert
from entasis._values import cells as _cells
from entasis.errors import CorruptFileError, LimitError, UnsupportedTypeError

from . import convert as _arrow_convert
from . import stream as _arrow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._entasis import Column, Handle

_KEPT = frozenset(
    [
        "Boolean",
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "Int128",
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
        "UInt128",
        "Float16",
        "Float32",
        "Float64",
        "Decimal",
        "String",
        "Binary",
        "Date",
        "Time",
        "Datetime",
        "Duration",
        "Categorical",
        "Enum",
        "Null",
        "Extension",
        "List",
        "Array",
        "Struct",
        "Map",
    ]
)
_VIEWS = 2
_MOST_SECONDS = ((1 << 63) - 1) // 1000


def build(frame: Any) -> tuple[Builder, dict[str, Any]]:
    """Return a builder with all columns of a frame, and the host map."""
    import numpy as np
    import polars as pl

    class_entry = {}
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    elif isinstance(frame, pl.Series):
        frame, class_entry = frame.to_frame(), {"class": "Series"}
    if type(frame) is not pl.DataFrame:
        raise UnsupportedTypeError(f"a Polars {type(frame).__name__} can't be kept")
    # Threads that share a frame can deadlock: one holds the lock of the frame and waits for the
    # GIL, another holds the GIL and waits for the lock. A clone shares the columns and has a lock
    # of its own.
    frame = frame.clone()
    has_categories, objects, lists = False, [], []
    for position, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if dtype == pl.Object:
            objects.append(position)
            continue
        for path, inner in _inside(name, dtype):
            base = type(inner).__name__ if isinstance(inner, pl.DataType) else inner.__name__
            if base not in _KEPT:
                raise UnsupportedTypeError(f"column '{path}': dtype {inner} is not supported yet")
            has_categories = has_categories or base in ("Categorical", "Enum")
            if base == "Categorical" and inner is not dtype and name not in lists:
                lists.append(name)
    if has_categories and frame.n_chunks() > 1:
        # Each chunk has its own dictionary.
        frame = frame.rechunk()
    if lists:
        # A slice of a column exports the categories of the whole column if they are inside lists.
        # Gathered values have their own categories. `get_column` is needed because expressions
        # treat names such as "*" and "^a$" as patterns.
        frame = frame.with_columns([frame.get_column(name)[np.arange(frame.height)] for name in lists])
    builder = Builder(frame.height, frame.columns)
    nulls = [pl.Series(frame.columns[i], [None] * frame.height, dtype=pl.Null) for i in objects]
    host = _arrow.add(builder, frame.with_columns(nulls) if nulls else frame, frame.columns)
    for position in objects:
        what = f"df[{frame.columns[position]!r}]"
        builder.objects(frame.to_series(position).to_list(), position, what=what)
    return builder, {"host": "polars"} | class_entry | host


def is_table(value: Any) -> bool:
    """Whether a value is written as a table."""
    import polars as pl

    return isinstance(value, (pl.DataFrame, pl.Series, pl.LazyFrame))


def restore(frame: Any, host: dict[str, Any]) -> Any:
    """Convert a frame to the series that was written."""
    if host["class"] != "Series":
        raise ValueError(f"a class {host['class']!r} is not known")
    return frame.to_series(0) if frame.width == 1 else frame


def _inside(path: str, dtype: Any) -> Iterator[tuple[str, Any]]:
    """A dtype and all dtypes inside it, with their paths."""
    yield path, dtype
    if hasattr(dtype, "fields"):
        for field in dtype.fields:
            if "\0" in field.name:
                raise UnsupportedTypeError(f"column {path!r}: a name with a zero character is not supported")
            yield from _inside(f"{path}.{field.name}", field.dtype)
    elif hasattr(dtype, "key") and hasattr(dtype, "value"):
        yield from _inside(f"{path}.key", dtype.key)
        yield from _inside(f"{path}.value", dtype.value)
    elif getattr(dtype, "inner", None) is not None:
        if getattr(dtype, "shape", (1,))[0] == 0:
            # Polars can't import such arrays from Arrow if some of the arrays are missing.
            raise UnsupportedTypeError(f"column '{path}': dtype {dtype} without values is not supported")
        yield from _inside(f"{path}.item", dtype.inner)


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """Read columns and rows as a frame."""
    import polars as pl

    own = host.get("host") == "polars"
    columns, names = with_labels(handle, host, columns)
    infos = handle.columns(columns) if not own or handle.has_cells else []
    if any(info.logical == "object" for info in infos):
        return _with_objects(handle, host, infos, names, rows, threads)
    if not own:
        _check_seconds(handle, infos, rows, threads)
    table, n = _arrow.read(handle, host, columns, rows, threads, layout=_VIEWS, own=False, metadata=own, polars=True)
    if n == 0:
        return _without_columns(_rows.count(rows, handle.n_rows))
    try:
        frame = pl.DataFrame(table)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # Polars does not check the metadata that it gets.
        if own:
            raise CorruptFileError(f"Polars cannot interpret the metadata of the columns ({error})") from error
        raise
    return frame if own else _with_enums(handle, frame, infos)


def _check_seconds(handle: Handle, infos: list[Column], rows: Any, threads: int | None) -> None:
    """Refuse times in seconds that overflow when Polars converts them to milliseconds."""
    import numpy as np

    for info in infos:
        if info.unit != "s" or info.logical not in ("timestamp", "duration"):
            continue
        ((_, values, _),) = arrays(
            handle,
            handle.read([info.index], _rows.native(rows), "numpy", False, 0, threads),
            rows,
            handle.n_rows,
            False,
        )
        numbers = values[~np.isnat(values)].view("i8")
        if len(numbers) and max(-int(numbers.min()), int(numbers.max())) > _MOST_SECONDS:
            raise UnsupportedTypeError(f"column '{info.name}': times beyond what Polars holds, in milliseconds")


def _with_enums(handle: Handle, frame: Any, infos: list[Column]) -> Any:
    """Convert ordered categoricals to Enums, the ordered type of Polars."""
    import polars as pl

    found = []
    for position, info in enumerate(infos):
        if not info.ordered or info.dictionary is None or frame.dtypes[position] != pl.Categorical:
            continue
        n = handle.columns([info.dictionary])[0].n_values
        ((_, categories, _),) = arrays(
            handle, handle.read([info.dictionary], None, "numpy", False, 0, 1, n), None, n, False
        )
        categories = categories[0].tolist()
        if None not in categories and len(set(categories)) == n:
            found.append(frame.to_series(position).cast(pl.Enum(categories)))
    return frame.with_columns(found) if found else frame


def _with_objects(
    handle: Handle, host: dict[str, Any], infos: list[Column], names: dict[int, str], rows: Any, threads: int | None
) -> Any:
    """Read a frame with object columns, which Arrow lacks."""
    import polars as pl

    others = read(handle, host, [info.index for info in infos if info.logical != "object"], rows, threads)
    left = iter(others.get_columns())
    found = []
    for position, info in enumerate(infos):
        if info.logical == "object":
            name = names.get(position, info.name)
            found.append(_object_series(handle, info, name, rows, own=host.get("host") == "polars"))
        else:
            found.append(next(left))
    return pl.DataFrame(found)


def _object_series(handle: Handle, info: Column, name: str, rows: Any, *, own: bool) -> Any:
    """An object column of another host, in an Arrow type if one fits, else as objects."""
    import polars as pl

    if not own and can_convert(handle):
        try:
            array, _ = _arrow_convert.convert(handle, info, rows, None, polars=True)
            return pl.Series(name, array)
        except UnsupportedTypeError:
            pass
    values = _cells.objects(handle, info, rows, handle.n_rows).tolist()
    return pl.Series(name, values, dtype=pl.Object)


def _without_columns(n_rows: int) -> Any:
    """A frame with rows but no columns, which old versions of Polars do not have."""
    import polars as pl

    try:
        return pl.DataFrame(height=n_rows)
    except TypeError:
        return pl.DataFrame()
    except (OverflowError, pl.exceptions.PolarsError) as error:
        raise LimitError(f"Polars can't have {n_rows:,} rows ({error})") from error
