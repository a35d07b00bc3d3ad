"""Decoded columns as arrays of pandas."""

from __future__ import annotations

import zoneinfo
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from entasis._columns import dtypes as _dtypes
from entasis._columns.index_spec import Codes, columns_of
from entasis._host_map import host_calls, interpretation
from entasis._values import cells as _cells
from entasis.errors import CorruptFileError, UnsupportedTypeError

from . import compat as _compat
from . import index as _labels
from . import variants as _variants
from .times import to_numpy_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._entasis import ArrowColumn, Column, Handle

# Integers up to this size are exact as floats.
_EXACT_IN_FLOATS = 2**53
# The units of times in pandas, as NumPy reports them.
_TIME_UNITS = tuple((unit, 1) for unit in ("s", "ms", "us", "ns"))


class Arrays:
    """Makes arrays of pandas from the entries of `Handle.read`."""

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
        """Take the entries of `Handle.read`.

        Parameters
        ----------
        n
            The number of columns of the table among the entries. Later ones are extra columns.
        categories
            Descriptions of indexes of categories, by their columns.
        raw
            Whether extra columns that are categoricals become `Codes`.
        """
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
        self.extra = [found[position] for position in sorted(found)]

    def blocks(self, kinds: dict[int, Any]) -> list[tuple[Any, Any]]:
        """All columns of the table, as blocks and their positions. `kinds` are recorded markers."""
        blocks: list[tuple[Any, Any]] = []
        for kind, positions, column, values, mask in self._entries:
            if kind == "block":
                if len(positions) and positions[0] < self._n:
                    blocks.append((self._block(column, values), positions))
            elif kind == "arrow":
                if positions[0] >= self._n:
                    continue
                # All columns of an entry have the same type.
                for position, array in zip(
                    positions, _neighbours(column, values, len(positions), self._own), strict=True
                ):
                    if position in kinds:
                        array = mixed(array, kinds[position])
                    blocks.append((_as_block(array), position))
            elif positions < self._n:
                array = self._single(kind, positions, column, values, mask)
                blocks.append((_as_block(array), positions))
        return blocks

    def _read_dictionaries(self) -> dict[int, Any]:
        """Make the categories of all categorical columns."""
        found = {}
        for number, (part, n) in self._read.items():
            try:
                # Object cells are filled with the length of the dictionary, not of the table.
                found[number] = self._dictionary(number, _cells.fill(self._handle, part, None, n), n)
            except (NotImplementedError, UnsupportedTypeError) as error:
                # pandas lacks an index of the type. The error names a column, because a dictionary
                # has no name.
                names = (column.name for _, _, column, *_ in self._entries if column.dictionary == number)
                message = f"column '{next(names, '')}': pandas can't have such categories ({error})"
                raise UnsupportedTypeError(message) from error
        return found

    def _dictionary(self, number: int, part: list[Any], n: int) -> Any:
        """Make the index of the categories in a dictionary column."""
        if len(part) == 1 and part[0][0] == "arrow":
            array = _strings(part[0][2], part[0][3], self._own)
        else:
            (array,) = Arrays(self._handle, self._own, part, 0, n, {}).extra
        spec = self._categories.get(number)
        if spec is None and type(array) is pd.arrays.ArrowStringArray:
            return _compat.string_index(array, None)
        if spec is None:
            return _compat.index(array, None)
        return _labels.decode_index(spec, [self._categories_of(spec, number, array)], n)

    def _categories_of(self, spec: dict[str, Any], number: int, array: Any) -> Any:
        """The values of an index of categories.

        Another column holds values that are categorical themselves.
        """
        numbers = columns_of(spec)
        if numbers in ([], [number]):
            return array
        handle, n = self._handle, len(array)
        (column,) = handle.columns(numbers)
        if column.dictionary is None or column.dictionary == number:
            raise CorruptFileError("an index of categories has another column that has none")
        entries = _cells.fill(handle, handle.read(numbers, None, "pandas", self._own, 0, 1, n), None, n)
        # Leaves out the column's own description, so that circular descriptions end.
        others = {key: spec for key, spec in self._categories.items() if key != number}
        (found,) = Arrays(handle, self._own, entries, 0, n, others).extra
        return found

    def _block(self, column: Column, values: Any) -> Any:
        """A two-dimensional array. Times get their zone."""
        if self._own and column.host_variant == _variants.BIG and values.dtype.itemsize > 1:
            # The native module returns a big-endian dtype with values in native order.
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
                # Arrow allows missing and repeated values in dictionaries, pandas does not.
                new_codes, categories = categories.factorize()
                codes = np.where(codes < 0, -1, np.append(new_codes, -1)[codes])
            dtype = _compat.category_dtype(categories, column.ordered)
            return _compat.categorical(codes, dtype)
        if column.logical == "period":
            return _periods(column, values)
        if self._own and column.host_variant == _variants.INTERVAL:
            return _intervals(column, values, mask)
        if self._own and column.host_variant == _variants.SPARSE:
            return _sparse(column, values, mask)
        if column.logical == "date":
            days = values.astype("M8[D]").astype("M8[s]")
            if mask is not None:
                days[mask] = np.datetime64("NaT", "s")
            return days
        if mask is None:
            return values
        is_long = values.dtype.kind == "f" and values.dtype.itemsize > 8
        if values.dtype.kind != "c" and not is_long:
            return _masked(values, mask)
        if not self._own and not is_long:
            message = f"column '{column.name}': {column.type_name} with missing values has no counterpart in pandas"
            raise UnsupportedTypeError(message)
        # Only damage makes values missing here.
        values[mask] = np.nan if is_long else complex(np.nan, np.nan)
        return values


def _masked(values: Any, mask: Any) -> Any:
    if values.dtype.kind == "b":
        return pd.arrays.BooleanArray(values, mask)
    if values.dtype.kind in "iu":
        return pd.arrays.IntegerArray(values, mask)
    return pd.arrays.FloatingArray(values, mask)


@interpretation()
def _periods(column: Column, values: Any) -> Any:
    if type(column.detail) is not str:
        raise TypeError("a frequency is a string")
    if values.dtype != np.int64:
        raise TypeError(f"periods of {values.dtype}")
    dtype: Any = pd.PeriodDtype(column.detail)
    with host_calls():
        return pd.arrays.PeriodArray(values, dtype=dtype)


@interpretation()
def _intervals(column: Column, values: Any, mask: Any) -> Any:
    from pandas.api.types import pandas_dtype

    subtype: Any = pandas_dtype(column.detail["subtype"])
    zone = getattr(subtype, "tz", None)
    is_zoneinfo = type(column.host_detail) is dict and column.host_detail.get("zoneinfo") is True
    if zone is not None and is_zoneinfo:
        zone = zoneinfo.ZoneInfo(str(zone))
    plain = np.dtype(subtype if zone is None else f"M8[{subtype.unit}]")
    is_time = plain.kind in "mM"
    if plain.kind not in "iufmM" or plain == np.float16 or (is_time and np.datetime_data(plain) not in _TIME_UNITS):
        raise TypeError(f"bounds of {plain}")
    closed = column.detail["closed"]
    if closed not in ("left", "right", "both", "neither"):
        raise ValueError(f"intervals that are closed on {closed!r}")
    pairs = values.view([("left", plain), ("right", plain)])
    bounds = [np.ascontiguousarray(pairs[name]) for name in ("left", "right")]
    if mask is not None and mask.any():
        # Only damage makes values missing here, and then integer intervals become float intervals.
        most = max(np.abs(bound[~mask].astype(float)).max(initial=0) for bound in bounds) if plain.kind in "iu" else 0
        if most > _EXACT_IN_FLOATS:
            message = f"column '{column.name}': intervals of integers beyond 2^53 can't be missing"
            raise UnsupportedTypeError(f"{message}: leave the column out")
        nothing = np.array("NaT", plain) if is_time else np.nan
        bounds = [np.where(mask, nothing, bound) for bound in bounds]
    _check_bounds(*bounds)
    left: Any
    right: Any
    with host_calls():
        if zone is None:
            left, right = (pd.Index(bound, copy=False) for bound in bounds)
        else:
            left, right = (pd.DatetimeIndex(bound).tz_localize("UTC").tz_convert(zone) for bound in bounds)
        return pd.arrays.IntervalArray.from_arrays(left, right, closed, dtype=None)


def _check_bounds(left: Any, right: Any) -> None:
    """Refuse intervals that end before they start, or that lack one bound."""
    in_order = left <= right
    if in_order.all():
        return
    # A missing bound is unequal to itself.
    is_missing = (left != left) & (right != right)
    if not (in_order | is_missing).all():
        raise ValueError("the bounds of an interval are not in order")


@interpretation()
def _sparse(column: Column, values: Any, mask: Any) -> Any:
    if mask is not None and mask.any():
        # Only damage makes values missing here.
        if values.dtype.kind in "biu":
            # Floats would not hold all integers.
            return _masked(values, mask)
        values[mask] = np.nan
    if values.dtype.kind not in "biufcmM":
        raise TypeError(f"sparse values of {values.dtype}")
    kind = column.host_detail["kind"]
    if kind not in ("integer", "block"):
        raise ValueError(f"sparse values in the form {kind!r}")
    fill = _dtypes.decode_scalar(column.host_detail["fill"], values.dtype)
    # pandas checks that values of the dtype can be the fill value.
    dtype = pd.SparseDtype(values.dtype, fill)
    with host_calls():
        return pd.arrays.SparseArray(values, kind=kind, dtype=dtype)


def _check_hashable(column: Column, categories: Any) -> None:
    """Refuse nested categories, which Arrow allows. Categories of pandas must be hashable."""
    array = _labels.arrow_values(categories)
    if array is None:
        return
    import pyarrow as pa

    if pa.types.is_nested(getattr(array.type, "storage_type", array.type)):
        raise UnsupportedTypeError(f"column '{column.name}': pandas has no categories of type {array.type}")


def _are_distinct(categories: Any) -> bool:
    """Whether no category is missing or repeated."""
    strings = _labels.arrow_values(categories)
    if strings is not None and len(strings) < 1000:
        # A set of few strings is faster than the hash table of an index.
        return strings.null_count == 0 and len(set(strings.to_pylist())) == len(strings)
    return not categories.hasnans and bool(categories.is_unique)


def _as_block(array: Any) -> Any:
    return array.reshape(1, -1) if isinstance(array, np.ndarray) else array


def _times(column: Column, values: Any, own: bool) -> Any:
    values = to_numpy_times(column, values)
    zone = column.detail
    if zone is None:
        return _compat.times(values)
    try:
        if own and column.host_variant == _variants.ZONEINFO:
            zone = zoneinfo.ZoneInfo(zone)
        return _compat.times(values, zone)
    except (LookupError, OSError, TypeError, ValueError) as error:
        # Arrow accepts any string as a zone. For unknown zones `zoneinfo` raises any of these
        # errors.
        message = f"column '{column.name}': pandas knows no time zone {zone!r} here ({error})"
        raise UnsupportedTypeError(message) from error


def _neighbours(column: Column, values: ArrowColumn, n: int, own: bool) -> Iterator[Any]:
    """Arrays of `n` columns with the type of `column`, whose values are consecutive in `values`."""
    if n == 1:
        yield _strings(column, values, own)
        return
    n_rows = len(values) // n
    host_variant = _host_variant(column, own)
    if _is_pyarrow(host_variant) and column.physical == "utf8":
        import pyarrow as pa

        with host_calls():
            shared, make = pa.array(values), _compat.string_maker(_missing(host_variant))
            arrays = [make(shared.slice(k * n_rows, n_rows)) for k in range(n)]
        yield from arrays
        return
    for k in range(n):
        yield _strings(column, values.slice(k * n_rows, n_rows), own)


def _host_variant(column: Column, own: bool) -> int:
    """The kind of array of pandas for a column of strings or of an `ArrowDtype`."""
    is_string = column.logical == "plain" and column.physical in ("utf8", "binary")
    # Host variants below `ARROW` are defined for strings only.
    is_recorded = own and (is_string or column.host_variant >= _variants.ARROW)
    return column.host_variant if is_recorded else _default_variant(column)


def _is_pyarrow(host_variant: int) -> bool:
    """Whether pandas keeps such strings in arrays of pyarrow."""
    return host_variant in (_variants.STR_ARROW, _variants.STRING_ARROW) and has_pyarrow()


def _missing(host_variant: int) -> Any:
    """The missing value of strings of pandas."""
    return np.nan if host_variant in (_variants.STR_ARROW, _variants.STR_PYTHON) else pd.NA


def _strings(column: Column, values: ArrowColumn, own: bool) -> Any:
    """An array of strings, or of an `ArrowDtype`."""
    host_variant = _host_variant(column, own)
    if host_variant >= _variants.ARROW:
        import pyarrow as pa

        # Classes of extension types parse the metadata of the file.
        with interpretation():
            try:
                array = pa.array(values)
            except KeyError as error:
                # pyarrow has types without a class for their arrays, such as intervals of months.
                message = f"column '{column.name}': {column.type_name} has no counterpart in pandas"
                raise UnsupportedTypeError(message) from error
        return pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))
    if host_variant != _variants.OBJECT and column.physical != "utf8":
        raise CorruptFileError(f"column '{column.name}': strings of pandas are not of type {column.type_name}")
    if _is_pyarrow(host_variant):
        import pyarrow as pa

        with host_calls():
            return _compat.string_maker(_missing(host_variant))(pa.array(values))
    missing = {"NaN": np.nan, "NA": pd.NA, "NaT": pd.NaT}.get(column.missing)
    if host_variant in (_variants.STR_ARROW, _variants.STR_PYTHON):
        missing = np.nan
    objects = np.empty(len(values), dtype=object)
    objects[:] = values.to_objects(missing)
    if host_variant == _variants.OBJECT:
        return objects
    with host_calls():
        return pd.array(objects, dtype=_compat.string_dtype("python", _missing(host_variant)))


def _default_variant(column: Column) -> int:
    """The host variant of pandas for a column of another host."""
    if column.logical in _variants.ARROW_ALONE or column.physical == "fixed bytes" or column.is_nested:
        if not has_pyarrow():
            message = f"column '{column.name}': type {column.type_name} needs pyarrow in pandas"
            raise UnsupportedTypeError(message)
        return _variants.ARROW
    return _variants.OBJECT if column.physical == "binary" else _variants.STR_ARROW


def has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


@interpretation()
def mixed(array: Any, kinds: Any) -> Any:
    """Write the recorded markers into an array of objects."""
    for code, missing in ((2, pd.NA), (3, np.nan), (4, pd.NaT), (5, None)):
        array[kinds == code] = missing
    return array
