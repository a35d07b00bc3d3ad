"""Arrays in frames of pandas to columns."""

from __future__ import annotations

import zoneinfo
from typing import Any

from entasis._columns import dtypes as _dtypes
from entasis._entasis import Builder, ColumnRef
from entasis._hosts.arrow.dictionaries import has_dictionary, unified_column
from entasis._hosts.numpy import objects as _objects
from entasis._values import offsets as _offsets
from entasis.errors import UnsupportedTypeError

from . import compat as _compat
from . import index as _labels
from .variants import (
    ARROW,
    BIG,
    CLONGDOUBLE,
    INTERVAL,
    MASKED,
    NUMPY,
    OBJECT,
    SPARSE,
    STR_ARROW,
    STR_PYTHON,
    STRING_ARROW,
    STRING_PYTHON,
    ZONEINFO,
)


class PandasBuilder(Builder):
    """A builder that also records descriptions of indexes of categories, by their columns."""

    def __init__(self, n_rows: int, names: Any) -> None:
        self.categories: list[list[Any]] = []

    def array(self, array: Any, name: str, what: str) -> tuple[int, int | None]:
        """Add an array as an extra column.

        Returns its number, and the number of a column with markers.
        """
        number, kinds = add_array(self, array, None, name, what)
        assert number is not None, "an extra column has a number"
        return number, kinds

    def values(self, values: Any, what: str) -> int:
        """Add an index of categories or of a level. Returns the number of its column."""
        import numpy as np

        plain = values.array
        if type(values).__name__ == "CategoricalIndex":
            plain = values.categories.array.take(values.codes, allow_fill=True)
        if isinstance(plain.dtype, np.dtype) and plain.dtype.kind == "O":
            number = _objects.add_whole(self, np.asarray(plain, object), OBJECT, "", what)
        else:
            number, _ = self.array(plain, "", what)
        # Categories that are categorical themselves need a second column.
        labels_number = number if plain is values.array else self.array(values.array, "", what)[0]
        spec = _labels.encode_values(values, labels_number, what, self.tree)
        if spec is not None:
            self.categories.append([ColumnRef(number), spec])
        return number

    def level(self, level: Any, codes: Any, name: str, what: str) -> int:
        """Add a level and its codes. Returns the number of the column of codes."""
        import numpy as np

        # The description of the index records the names of levels.
        number = self.words(np.asarray(codes), name=name, categories=self.values(level.rename(None), what))
        assert number is not None, "an extra column has a number"
        return number


def add_array(
    builder: PandasBuilder, array: Any, position: Any, name: str, what: str | None = None
) -> tuple[int | None, int | None]:
    """Add an array of pandas or NumPy.

    Returns the numbers of an extra column and of one with markers.
    """
    import numpy as np

    if type(array).__name__ in ("NumpyExtensionArray", "PandasArray"):
        array = array.to_numpy()
    if isinstance(array, np.ndarray) and array.dtype.kind == "O":
        return _objects.add(builder, array, position, OBJECT, name, what)
    try:
        if isinstance(array, np.ndarray):
            return _add_numpy(builder, array, position, name), None
        add = _ADD.get(type(array).__name__)
        if add is None or not _is_of_pandas(type(array)):
            raise _unsupported_class(array)
        return add(builder, array, position, name), None
    except _Refused as refused:
        named = what or f"column '{name}'"
        raise UnsupportedTypeError(f"{named}: {refused}") from None


class _Refused(Exception):
    """The reason why an array can't be written. The caller names the array."""


def _is_of_pandas(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "pandas"


def _unsupported_class(array: Any) -> _Refused:
    """The error for an array whose class is not from pandas itself."""
    kind, dtype = type(array), array.dtype
    called = f"{kind.__module__}.{kind.__qualname__}"
    base = next((base.__name__ for base in kind.__mro__[1:] if base.__name__ in _ADD and _is_of_pandas(base)), None)
    if base is not None:
        return _Refused(
            f"arrays of {called} ({dtype}) are not supported, only those of pandas itself: make an "
            f"array of {base} of it"
        )
    if kind.__module__.partition(".")[0] == "geopandas":
        return _Refused(
            f"dtype {dtype} is not supported in frames of pandas: pass gdf.to_arrow() of the GeoDataFrame, which "
            "GeoDataFrame.from_arrow takes when it is read"
        )
    advice = "" if _is_of_pandas(kind) else f", nor are other dtypes of {called.partition('.')[0]}: convert the column"
    return _Refused(f"dtype {dtype} is not supported yet{advice}")


def _add_numpy(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    dtype = array.dtype
    if dtype.kind == "V":
        # pandas itself does not support arrays of `V`.
        raise _Refused(f"dtype {dtype} is not supported yet")
    if dtype.char == "G" and dtype.isnative:
        return builder.words(_dtypes.as_bytes(array), position, name=name, host_variant=CLONGDOUBLE)
    if dtype.isnative or dtype.char == "G":
        return builder.words(array, position, name=name)
    return builder.words(array.astype(dtype.newbyteorder("=")), position, name=name, host_variant=BIG)


def _add_masked(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    values, mask = _compat.masked(array)
    return builder.words(values, position, name=name, host_variant=MASKED, missing="NA", mask=mask)


def _add_datetime(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    zone = getattr(array.dtype, "tz", None)
    if zone is None:
        return builder.words(_compat.plain_times(array), position, name=name)
    host_variant = _zone_variant(array.dtype)
    if host_variant is None:
        raise _Refused(f"the time zone {zone!r} is not supported yet")
    return builder.words(_compat.plain_times(array), position, name=name, zone=str(zone), host_variant=host_variant)


def _zone_variant(dtype: Any) -> int | None:
    """The host variant of times whose zone is determined by its name; None for other zones."""
    import pandas as pd

    zone: Any = dtype.tz
    try:
        found: Any = pd.DatetimeTZDtype(dtype.unit, str(zone))
    except (LookupError, OSError, TypeError, ValueError):
        return None
    if type(zone) is zoneinfo.ZoneInfo and type(found.tz) is not zoneinfo.ZoneInfo:
        # For the name UTC pandas makes `datetime.timezone.utc`, which it considers equal.
        return ZONEINFO if zone.key == str(zone) else None
    return NUMPY if found == dtype and type(found.tz) is type(zone) else None


def _add_timedelta(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    return builder.words(_compat.plain_times(array), position, name=name)


def _add_categorical(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    categories = array.categories
    if type(categories).__name__ == "MultiIndex":
        raise _Refused(f"categories of {categories.dtype} are not supported yet")
    number = builder.values(categories, f"column '{name}'")
    codes = array.codes
    missing = "NaT" if categories.dtype.kind in "mM" else "NaN"
    return builder.words(codes, position, name=name, missing=missing, categories=number, ordered=bool(array.ordered))


def _add_string(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    import numpy as np

    dtype = array.dtype
    is_str = _is_nan(dtype.na_value)
    missing = "NaN" if is_str else "NA"
    if dtype.storage == "pyarrow":
        host_variant = STR_ARROW if is_str else STRING_ARROW
        data = array.__arrow_array__()
        return builder.arrow(data, position, name=name, missing=missing, host_variant=host_variant, only=True)
    host_variant = STR_PYTHON if is_str else STRING_PYTHON
    return builder.text(
        np.asarray(array, dtype=object), position, name=name, missing=missing, host_variant=host_variant
    )[0]


def _add_arrow(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    data = array.__arrow_array__()
    if has_dictionary(data.type):
        data = unified_column(name, data)
    if "\0" in str(data.type):
        raise _Refused("a time zone with a zero character is not supported")
    return builder.arrow(data, position, name=name, host_variant=ARROW)


def _add_period(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    import pandas as pd

    freq = array.freqstr
    found: Any = pd.PeriodDtype(freq)
    if found != array.dtype or not _offsets.same(found.freq, array.dtype.freq):
        raise _Refused(f"dtype {array.dtype} is not supported yet")
    return builder.words(array.asi8, position, name=name, missing="NaT", detail=freq, logical="period")


def _add_interval(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    """Store both bounds together, because they are always read together."""
    import numpy as np

    left, right = (_bounds(bound) for bound in (array.left, array.right))
    subtype = str(array.dtype.subtype)
    if left.dtype.kind not in "iufmM" or not left.dtype.isnative or not _is_subtype(subtype, array.dtype.subtype):
        raise _Refused(f"dtype {array.dtype} is not supported yet")
    pairs = np.empty(len(array), [("left", left.dtype), ("right", right.dtype)])
    pairs["left"], pairs["right"] = left, right
    detail = {"name": "pandas.bounds", "metadata": b"", "subtype": subtype, "closed": array.closed}
    is_zoned = getattr(array.dtype.subtype, "tz", None) is not None
    is_zoneinfo = is_zoned and _zone_variant(array.dtype.subtype) == ZONEINFO
    return builder.words(
        _dtypes.as_bytes(pairs),
        position,
        name=name,
        host_variant=INTERVAL,
        detail=detail,
        host_detail={"zoneinfo": True} if is_zoneinfo else None,
        logical="extension",
    )


def _bounds(index: Any) -> Any:
    return _compat.plain_times(index.array) if index.dtype.kind in "mM" else index.to_numpy()


def _is_subtype(name: str, subtype: Any) -> bool:
    from pandas.api.types import pandas_dtype

    if getattr(subtype, "tz", None) is not None:
        return _zone_variant(subtype) is not None
    try:
        return bool(pandas_dtype(name) == subtype)
    except (TypeError, ValueError, KeyError):
        return False


def _add_sparse(builder: PandasBuilder, array: Any, position: Any, name: str) -> int | None:
    """Store all values densely, because encodings compress repeated values well."""
    import numpy as np

    dense = np.asarray(array.to_dense())
    fill = _dtypes.encode_scalar(array.fill_value, array.dtype.subtype)
    if (
        fill is None
        or array.dtype.subtype.metadata is not None
        or dense.dtype != array.dtype.subtype
        or dense.dtype.kind not in "biufcmM"
    ):
        raise _Refused(f"dtype {array.dtype} is not supported yet")
    if not isinstance(array.fill_value, np.generic) and dense.dtype.kind not in "mM":
        fill["python"] = type(array.fill_value).__name__
    host_detail = {"fill": fill, "kind": array.kind}
    return builder.words(dense, position, name=name, host_variant=SPARSE, host_detail=host_detail)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


_ADD = {
    "IntegerArray": _add_masked,
    "FloatingArray": _add_masked,
    "BooleanArray": _add_masked,
    "DatetimeArray": _add_datetime,
    "TimedeltaArray": _add_timedelta,
    "PeriodArray": _add_period,
    "IntervalArray": _add_interval,
    "SparseArray": _add_sparse,
    "Categorical": _add_categorical,
    "StringArray": _add_string,
    "StringArrayNumpySemantics": _add_string,
    "ArrowStringArray": _add_string,
    "ArrowStringArrayNumpySemantics": _add_string,
    "ArrowExtensionArray": _add_arrow,
}
