"""Columns to pandas frames: one block per dtype."""

from __future__ import annotations

import zoneinfo
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._columns import names as _columns
from entasis._columns.index_spec import Codes, columns_of, number_of
from entasis._entasis import Handle, read_blocks
from entasis._host_map import CellValue, interpretation
from entasis._hosts import foreign_index as _foreign
from entasis._values import cells as _cells
from entasis._values.labels import decode_label
from entasis.errors import ArgumentError, CorruptFileError, UnsupportedTypeError

from . import construct as _pandas_make
from . import index as _labels
from . import variants as _variants
from .times import to_numpy_times

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import ArrowColumn, Column


# From so many columns on, plain ones are read by their types.
_MANY = 64
# Row labels come with the frame, and are no columns of it.
HAS_INDEX = True
_NAMES = {"kind": "names", "dtype": "str", "name": None}


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """A frame of these columns and rows."""
    own, host = _with_indexes(host)
    n = handle.n_columns if columns is None else len(columns)
    labels, index, categories = _parts(host) if host else (_NAMES, None, {})
    asked = columns
    plain: list[tuple[Any, Any]] = []
    axes: list[Any] = []
    if own and n >= _MANY and columns is None and rows is None and type(handle) is Handle:

        def label(has_others: bool) -> None:
            axes.append(_index(handle, index, handle.n_rows, own, categories, threads))
            axes.append(_column_labels(handle, labels, None, own, categories))
            if has_others:
                n_values, are_strings = handle.n_rows * n, labels["kind"] == "names"
                _pandas_make.ready(axes[0], n_values)
                _pandas_make.ready(axes[1], n_values, are_strings=are_strings)

        plain, columns = _plain_blocks(handle, threads, label)
        n = len(columns)
    kinds = _kinds_wanted(host, columns)
    beside = columns_of(index) if index and not axes else []
    wanted = columns
    if beside or kinds:
        wanted = [*(range(n) if columns is None else columns), *beside, *(ref for _, ref in kinds)]
    entries: list[Any] = []
    if wanted is None or wanted:
        entries = handle.read(wanted, _rows.native(rows), "pandas", own, n, threads)
        entries = _cells.fill(handle, entries, rows, handle.n_rows)
    n_rows = _rows.count(rows, handle.n_rows)
    arrays = _Arrays(handle, own, entries, n, n_rows, categories, raw=_is_multi(index))
    kind_values = dict(zip((i for i, _ in kinds), arrays.beside[len(beside) :], strict=True)) if kinds else {}
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
                arrays.beside[0] = _mixed(arrays.beside[0], arrays.beside[1])
            index_values = _labels.decode_index(index, arrays.beside[: len(beside)], handle.n_rows, rows)
        column_labels = _column_labels(handle, labels, asked, own, categories)
    if own and _dtype_metadata.KEY in host:
        blocks = _with_metadata(blocks, host, asked)
    frame = _frame(blocks, index_values, column_labels)
    if "attrs" in host:
        with interpretation():
            attrs = host["attrs"]
            frame.attrs = attrs.get() if type(attrs) is CellValue else attrs
    if host.get("allows_duplicate_labels") is False:
        _forbid_duplicates(frame, is_part=rows is not None or asked is not None)
    return frame


def _forbid_duplicates(frame: Any, *, is_part: bool) -> None:
    """Sets the flag that labels are unique. Rows and columns that were asked for twice are not."""
    import pandas as pd

    try:
        frame.flags.allows_duplicate_labels = False
    except pd.errors.DuplicateLabelError as error:
        if not is_part:
            raise CorruptFileError("the frame forbids duplicate labels, and the file has some") from error
        raise ArgumentError("the frame forbids duplicate labels: ask for each row and column once") from error


def row_labels(handle: Handle, host: dict[str, Any]) -> Any:
    """The index of all rows; that of positions where the file has none."""
    own, host = _with_indexes(host)
    if not host:
        return _range_index(handle.n_rows)
    _, index, categories = _parts(host)
    return _index(handle, index, handle.n_rows, own, categories, None)


def column_labels(handle: Handle, host: dict[str, Any]) -> Any:
    """The labels of all columns."""
    own, host = _with_indexes(host)
    labels, _, categories = _parts(host) if host else (_NAMES, None, {})
    return _column_labels(handle, labels, None, own, categories)


def _with_indexes(host: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether pandas wrote a file, and what it keeps; of StaticFrame and R the labels in the same form."""
    own = host.get("host") == "pandas"
    return own, host if own else _foreign.of_static_frame(host) or _foreign.of_r(host)


def _plain_blocks(
    handle: Handle, threads: int | None, meanwhile: Callable[[bool], None]
) -> tuple[list[tuple[Any, Any]], list[int]]:
    """The columns that are plain numbers or booleans, as blocks and their positions, and the numbers of all others."""
    found = read_blocks(handle, [], threads, meanwhile, pandas=True)
    assert found is not None, "there are no matrices that could be wrong"
    rowwise, _, others = found
    return [(values, positions) for positions, values in rowwise], others


@interpretation()
def _with_metadata(blocks: list[tuple[Any, Any]], host: dict[str, Any], columns: list[int] | None) -> Any:
    """The blocks, with what dtypes of these columns have beside the type: a block has one dtype."""
    metadata = _dtype_metadata.Columns(host, columns)
    found = []
    for values, positions in blocks:
        at = np.atleast_1d(positions)
        # The rows of the block by the map that their dtype is to have.
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
    """What a file of pandas keeps: labels of columns, of rows, and indexes of categories by their columns."""
    # Without an index where the caller wants none.
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
    """Positions of columns with several kinds of missing cells, and the columns that tell them."""
    found = {position: number_of(ref) for position, ref in host.get("missing_kinds", ())}
    if columns is None:
        return list(found.items())
    return [(i, found[column]) for i, column in enumerate(columns) if column in found]


@interpretation()
def _column_labels(
    handle: Handle, spec: dict[str, Any], columns: list[int] | None, own: bool, categories: dict[int, Any]
) -> Any:
    if spec["kind"] == "names":
        name, dtype = decode_label(spec["name"]), _label_dtype(spec["dtype"])
        is_arrow = dtype == "str" and _has_pyarrow()
        if is_arrow and columns is None:
            # What pandas makes of a list of them, without strings of Python.
            return _string_index(_joined_names(handle), name)
        if dtype == "object" and columns is None and handle.n_columns >= _MANY and _has_pyarrow():
            # The strings are made in the array, without a list of them.
            strings = _joined_names(handle).to_numpy(zero_copy_only=False)
            return _pandas_make.index(strings, name)
        names = _columns.names(handle, columns)
        if is_arrow:
            import pyarrow as pa

            return _string_index(pa.array(names, pa.large_string()), name)
        return pd.Index(names, dtype=dtype, name=name)
    labels = _index(handle, spec, handle.n_columns, own, categories, 1)
    return labels if columns is None else labels[columns]


@interpretation()
def _index(
    handle: Handle,
    spec: dict[str, Any] | None,
    n: int,
    own: bool,
    categories: dict[int, Any],
    threads: int | None,
) -> Any:
    """An index of `n` labels, whole."""
    if spec is None:
        return _range_index(n)
    numbers = columns_of(spec)
    values: list[Any] = []
    if numbers:
        entries = _cells.fill(handle, handle.read(numbers, None, "pandas", own, 0, threads, n), None, n)
        values = _Arrays(handle, own, entries, 0, n, categories, raw=_is_multi(spec)).beside
    if "missing_kinds" in spec:
        values[0] = _mixed(values[0], values[1])
    return _labels.decode_index(spec, values, n)


def _joined_names(handle: Handle) -> Any:
    """The names of all columns, as an array of pyarrow."""
    import pyarrow as pa

    ends, text = handle.joined_names()
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(ends) // 8 - 1, buffers)


def _string_index(array: Any, name: Any) -> Any:
    return _pandas_make.string_index(_pandas_make.strings(array, np.nan), name)


@cache
def _label_dtype(name: str) -> Any:
    return name if name == "object" or int(pd.__version__.split(".")[0]) >= 3 else "object"


class _Arrays:
    """What the native half decoded, as arrays of pandas."""

    def __init__(
        self,
        handle: Handle,
        own: bool,
        entries: list[Any],
        n: int,
        n_rows: int,
        categories: dict[int, Any],
        *,
        raw: bool = False,
    ) -> None:
        """`categories`: their indexes, by their columns. `raw`: categorical columns beside the table become `Codes`."""
        self._handle, self._own, self._n, self._n_rows = handle, own, n, n_rows
        self._read = {number: (part, n) for kind, number, n, part, _ in entries if kind == "categories"}
        if self._read:
            entries = [entry for entry in entries if entry[0] != "categories"]
        self._entries, self._categories, self._raw = entries, categories, raw
        self._dictionaries = self._read_dictionaries()
        found: dict[int, Any] = {}
        for kind, positions, column, values, mask in entries:
            if kind == "block":
                if len(positions) and positions[0] >= n:
                    found[int(positions[0])] = self._block(column, values)[0]
            elif kind == "arrow":
                if positions[0] >= n:
                    found[positions[0]] = _strings(column, values, self._own)
            elif positions >= n:
                found[positions] = self._single(kind, positions, column, values, mask)
        self.beside = [found[position] for position in sorted(found)]

    def blocks(self, kinds: dict[int, Any]) -> list[tuple[Any, Any]]:
        """All columns of the table, as blocks of pandas and their positions."""
        blocks: list[tuple[Any, Any]] = []
        for kind, positions, column, values, mask in self._entries:
            if kind == "block":
                if len(positions) and positions[0] < self._n:
                    blocks.append((self._block(column, values), positions))
            elif kind == "arrow":
                if positions[0] >= self._n:
                    continue
                n_rows = len(values) // len(positions)
                for k, position in enumerate(positions):
                    part = values if len(positions) == 1 else values.slice(k * n_rows, n_rows)
                    # Columns of a bundle are equal in type.
                    array = _strings(column, part, self._own)
                    if position in kinds:
                        array = _mixed(array, kinds[position])
                    blocks.append((_as_block(array), position))
            elif positions < self._n:
                array = self._single(kind, positions, column, values, mask)
                blocks.append((_as_block(array), positions))
        return blocks

    def _read_dictionaries(self) -> dict[int, Any]:
        """The categories of all categorical columns."""
        found = {}
        for number, (part, n) in self._read.items():
            try:
                # Each has a length of its own.
                found[number] = self._dictionary(number, _cells.fill(self._handle, part, None, n), n)
            except (NotImplementedError, UnsupportedTypeError) as error:
                # Indexes of pandas are of fewer types than columns; and a dictionary has no name.
                names = (column.name for _, _, column, *_ in self._entries if column.dictionary == number)
                message = f"column '{next(names, '')}': pandas has no such categories ({error})"
                raise UnsupportedTypeError(message) from error
        return found

    def _dictionary(self, number: int, part: list[Any], n: int) -> Any:
        """The categories that a dictionary has."""
        if len(part) == 1 and part[0][0] == "arrow":
            array = _strings(part[0][2], part[0][3], self._own)
        else:
            (array,) = _Arrays(self._handle, self._own, part, 0, n, {}).beside
        spec = self._categories.get(number)
        if spec is None and type(array) is pd.arrays.ArrowStringArray:
            return _pandas_make.string_index(array, None)
        if spec is None:
            return _pandas_make.index(array, None)
        return _labels.decode_index(spec, [self._categories_of(spec, number, array)], n)

    def _categories_of(self, spec: dict[str, Any], number: int, array: Any) -> Any:
        """The values of an index of categories: those of the dictionary, or of a categorical column of their own."""
        told = columns_of(spec)
        if told in ([], [number]):
            return array
        handle, n = self._handle, len(array)
        (column,) = handle.columns(told)
        if column.dictionary is None or column.dictionary == number:
            raise CorruptFileError("an index of categories has another column that has none")
        entries = _cells.fill(handle, handle.read(told, None, "pandas", self._own, 0, 1, n), None, n)
        (found,) = _Arrays(handle, self._own, entries, 0, n, {}).beside
        return found

    def _block(self, column: Column, values: Any) -> Any:
        """A two-dimensional array, of times with their zone."""
        if self._own and column.flavour == _variants.BIG and values.dtype.itemsize > 1:
            # It was made in the order of bytes that it is to have.
            values = values.byteswap(inplace=True)
        if column.logical in ("timestamp", "duration", "date"):
            return _times(column, values, self._own)
        return values

    def _single(self, kind: str, position: int, column: Column, values: Any, mask: Any) -> Any:
        if kind == "objects":
            return values
        if kind == "null":
            return np.full(self._n_rows, None, dtype=object)
        if column.logical == "categorical":
            codes = values
            if codes.dtype.kind == "u":
                codes = codes.astype(np.int64)
            if mask is not None:
                codes[mask] = -1
            assert column.dictionary is not None, "a categorical has categories"
            categories = self._dictionaries[column.dictionary]
            _check_hashable(column, categories)
            if self._raw and position >= self._n:
                return Codes(codes, categories)
            if not _are_distinct(categories):
                # Dictionaries of Arrow may have what categories of pandas can't.
                places, categories = categories.factorize()
                codes = np.where(codes < 0, -1, np.append(places, -1)[codes])
            dtype = _pandas_make.category_dtype(categories, column.ordered)
            return _pandas_make.categorical(codes, dtype)
        if column.logical == "period":
            return _periods(column, values)
        if self._own and column.flavour == _variants.INTERVAL:
            return _intervals(column, values)
        if self._own and column.flavour == _variants.SPARSE:
            return _sparse(column, values)
        if column.logical == "date":
            days = values.astype("M8[D]").astype("M8[s]")
            if mask is not None:
                days[mask] = np.datetime64("NaT")
            return days
        if mask is None:
            return values
        if values.dtype.kind == "b":
            return pd.arrays.BooleanArray(values, mask)
        if values.dtype.kind in "iu":
            return pd.arrays.IntegerArray(values, mask)
        return pd.arrays.FloatingArray(values, mask)


@interpretation()
def _periods(column: Column, values: Any) -> Any:
    if type(column.detail) is not str:
        raise TypeError("a frequency is a string")
    dtype: Any = pd.PeriodDtype(column.detail)
    return pd.arrays.PeriodArray(values, dtype=dtype)


@interpretation()
def _intervals(column: Column, values: Any) -> Any:
    from pandas.api.types import pandas_dtype

    subtype: Any = pandas_dtype(column.detail["subtype"])
    zone = getattr(subtype, "tz", None)
    if zone is not None and column.detail.get("zoneinfo") is True:
        zone = zoneinfo.ZoneInfo(str(zone))
    plain = np.dtype(subtype if zone is None else f"M8[{subtype.unit}]")
    if plain.kind not in "iufmM":
        raise TypeError(f"bounds of {plain}")
    pairs = values.view([("left", plain), ("right", plain)])
    bounds = (np.ascontiguousarray(pairs[name]) for name in ("left", "right"))
    if zone is None:
        left, right = (pd.Index(bound, copy=False) for bound in bounds)
    else:
        left, right = (pd.DatetimeIndex(bound).tz_localize("UTC").tz_convert(zone) for bound in bounds)
    return pd.arrays.IntervalArray.from_arrays(left, right, column.detail["closed"], dtype=None)


@interpretation()
def _sparse(column: Column, values: Any) -> Any:
    fill = _dtypes.decode_scalar(column.detail["fill"], values.dtype)
    dtype = pd.SparseDtype(values.dtype, fill)
    return pd.arrays.SparseArray(values, kind=column.detail["kind"], dtype=dtype)


def _check_hashable(column: Column, categories: Any) -> None:
    """Categories of pandas have a hash, which lists and the like have not; dictionaries of Arrow may be of any type."""
    array = getattr(getattr(categories, "_data", None), "_pa_array", None)
    if array is None:
        return
    import pyarrow as pa

    if pa.types.is_nested(getattr(array.type, "storage_type", array.type)):
        raise UnsupportedTypeError(f"column '{column.name}': pandas has no categories of type {array.type}")


def _are_distinct(categories: Any) -> bool:
    """Whether all are there and none twice."""
    strings = getattr(getattr(categories, "_data", None), "_pa_array", None)
    if strings is not None and len(strings) < 1000:
        # A set of few is made sooner than the hash table that an index keeps.
        return strings.null_count == 0 and len(set(strings.to_pylist())) == len(strings)
    return not categories.hasnans and bool(categories.is_unique)


def _as_block(array: Any) -> Any:
    return array.reshape(1, -1) if isinstance(array, np.ndarray) else array


def _times(column: Column, values: Any, own: bool) -> Any:
    values = to_numpy_times(column, values)
    zone = column.detail
    if zone is None:
        return _pandas_make.times(values)
    array_type = pd.arrays.DatetimeArray
    try:
        if own and column.flavour == _variants.ZONEINFO:
            zone = zoneinfo.ZoneInfo(zone)
        dtype: Any = pd.DatetimeTZDtype(cast("Any", column.unit), zone)
    except (LookupError, OSError, TypeError, ValueError) as error:
        # Arrow takes any text for a zone, and where there is no such zone `zoneinfo` has all of these.
        message = f"column '{column.name}': pandas knows no time zone {zone!r} here ({error})"
        raise UnsupportedTypeError(message) from error
    if hasattr(array_type, "_simple_new"):
        return array_type._simple_new(values, dtype=dtype)
    return array_type(values, dtype=dtype)


def _strings(column: Column, values: ArrowColumn, own: bool) -> Any:
    """An array of strings, or of what Arrow alone has."""
    is_string = column.logical == "plain" and column.physical in ("utf8", "binary")
    # The dtypes of pandas that are not Arrow's tell of strings alone.
    is_told = own and (is_string or column.flavour >= _variants.ARROW)
    flavour = column.flavour if is_told else _default_flavour(column)
    if flavour >= _variants.ARROW:
        import pyarrow as pa

        return pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values)]))
    if flavour in (_variants.STR_ARROW, _variants.STRING_ARROW) and _has_pyarrow():
        import pyarrow as pa

        nan_or_na = np.nan if flavour == _variants.STR_ARROW else pd.NA
        return _pandas_make.strings(pa.array(values), nan_or_na)
    missing = {"NaN": np.nan, "NA": pd.NA, "NaT": pd.NaT}.get(column.missing)
    if flavour in (_variants.STR_ARROW, _variants.STR_PYTHON):
        missing = np.nan
    objects = np.empty(len(values), dtype=object)
    objects[:] = values.to_objects(missing)
    if flavour == _variants.OBJECT:
        return objects
    is_str = flavour in (_variants.STR_ARROW, _variants.STR_PYTHON)
    return pd.array(objects, dtype=_pandas_make.string_dtype("python", np.nan if is_str else pd.NA))


def _default_flavour(column: Column) -> int:
    """How columns of other hosts come to pandas."""
    if column.logical in _variants.ARROW_ALONE or column.physical == "fixed bytes" or column.is_nested:
        if not _has_pyarrow():
            message = f"column '{column.name}': type {column.type_name} needs pyarrow in pandas"
            raise UnsupportedTypeError(message)
        return _variants.ARROW
    return _variants.OBJECT if column.physical == "binary" else _variants.STR_ARROW


def _has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


@interpretation()
def _mixed(array: Any, kinds: Any) -> Any:
    """Object cells with the kind of each missing one."""
    for code, missing in ((2, pd.NA), (3, np.nan), (4, pd.NaT), (5, None)):
        array[kinds == code] = missing
    return array


def _frame(blocks: list[tuple[Any, Any]], index: Any, columns: Any) -> Any:
    frame = _pandas_make.frame(blocks, index, columns)
    if frame is None:
        arrays: dict[int, Any] = {}
        for values, positions in blocks:
            is_2d = getattr(values, "ndim", 1) == 2
            for k, position in enumerate([positions] if type(positions) is int else positions.tolist()):
                arrays[position] = pd.Series(values[k] if is_2d else values, index=index, copy=False)
        frame = pd.DataFrame({position: arrays[position] for position in sorted(arrays)}, index=index, copy=False)
        frame.columns = columns
    return frame
