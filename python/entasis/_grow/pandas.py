"""Rows of pandas. The result of an append is that of `pd.concat` (docs/guides/append.md)."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from . import numpy as _numpy
from .columns import positions, refused

_NAMES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
# Nullable dtypes, by NumPy's name of their values.
_NULLABLE = {name.lower(): name for name in _NAMES}


def collect(value: Any) -> Any:
    """The value as one of pandas."""
    import pandas as pd

    if isinstance(value, (pd.DataFrame, pd.Series, pd.Index)) or hasattr(value, "dtype"):
        return value
    if isinstance(value, dict):
        return pd.DataFrame(value)
    if hasattr(value, "to_pandas"):
        return value.to_pandas()
    raise ArgumentError(f"{shown(value)} can't be appended to a file of pandas: pass a DataFrame")


def head(value: Any) -> Any:
    """No rows of a value."""
    return value[:0]


def labels(value: Any) -> list[Any]:
    """The labels of its columns."""
    return list(value.columns) if hasattr(value, "columns") else [getattr(value, "name", None)]


def fit(old: Any, new: Any, fill: bool) -> tuple[Any, dict[int, Any]]:
    """The rows to append with the file's types, and wider types that columns of the file need."""
    import pandas as pd

    if type(old) is not type(new) and not (isinstance(old, pd.Index) and isinstance(new, pd.Index)):
        raise ArgumentError(f"{shown(new)} can't be appended to a file of a {type(old).__name__}: pass one like it")
    if not isinstance(old, pd.DataFrame):
        dtype = _common(getattr(old, "name", None), old.dtype, new.dtype, new)
        return _cast(getattr(old, "name", None), new, dtype), {} if dtype == old.dtype else {0: dtype}
    if list(old.index.names) != list(new.index.names):
        raise ArgumentError(
            f"the index is named {list(old.index.names)} in the file and {list(new.index.names)} in the rows to "
            "append: rename it (df.rename_axis)"
        )
    if old.columns.equals(new.columns) and all(map(_is_same, old.dtypes, new.dtypes)):
        return new, {}
    found = positions(list(old.columns), list(new.columns), fill)
    columns, grown = [], {}
    for i, place in enumerate(found):
        dtype = old.dtypes.iloc[i]
        label = old.columns[i]
        if place is None:
            columns.append(_missing(label, dtype, new.index))
            if columns[-1].dtype != dtype:
                grown[i] = columns[-1].dtype
            continue
        column = new.iloc[:, place]
        if column.dtype != dtype and len(column) and column.isna().all() and _has_missing(dtype):
            columns.append(_missing(label, dtype, new.index))
            continue
        common = _common(label, dtype, column.dtype, column)
        # More categories do not change the codes of the file.
        if common != dtype and not isinstance(dtype, pd.CategoricalDtype):
            grown[i] = common
        columns.append(_cast(label, column, common))
    if columns:
        part = pd.concat(columns, axis=1, keys=range(len(columns)))
        part.columns = old.columns
    else:
        part = pd.DataFrame(index=new.index, columns=old.columns)
    return part, grown


def _is_same(old: Any, new: Any) -> bool:
    """Whether dtypes are equal. Those of categories also depend on the order of the categories."""
    import pandas as pd

    return bool(old == new) and not (isinstance(old, pd.CategoricalDtype) and not old.categories.equals(new.categories))


def _cast(label: Any, column: Any, dtype: Any) -> Any:
    """A column of a wider type."""
    if column.dtype == dtype and _is_same(column.dtype, dtype):
        return column
    try:
        return column.astype(dtype)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(f"column {label!r} can't be converted to {dtype}: {error}") from error


def _has_missing(dtype: Any) -> bool:
    """Whether a column of this dtype can have missing values."""
    return getattr(dtype, "kind", "O") not in "iub" or not hasattr(dtype, "newbyteorder")


def _missing(label: Any, dtype: Any, index: Any) -> Any:
    """A column of missing values."""
    import pandas as pd

    try:
        return pd.Series([None] * len(index), dtype=dtype, index=index)
    except (TypeError, ValueError):
        raise ArgumentError(f"column {label!r} is {dtype}, which has no missing value: pass the column") from None


def _common(label: Any, old: Any, new: Any, column: Any) -> Any:
    """The dtype that holds the values of both."""
    import numpy as np
    import pandas as pd

    if old == new and not isinstance(old, pd.CategoricalDtype):
        return old
    if isinstance(old, pd.CategoricalDtype) and isinstance(new, pd.CategoricalDtype):
        return _categories(label, old, new)
    if isinstance(old, np.dtype) and isinstance(new, np.dtype):
        common = _numpy.common(old, new)
        if common is not None:
            return common
    if str(old) in _NAMES and str(new) in _NAMES:
        common = _numpy.common(np.dtype(str(old).lower()), np.dtype(str(new).lower()))
        if common is not None:
            return pd.api.types.pandas_dtype(_NULLABLE[str(common)])
    zones = isinstance(old, pd.DatetimeTZDtype) and isinstance(new, pd.DatetimeTZDtype)
    if zones and str(old.tz) == str(new.tz) and type(old.tz) is type(new.tz):
        units = _numpy.finer(old.unit, new.unit)
        return pd.DatetimeTZDtype(units, old.tz)
    raise refused(label, old, new)


def _categories(label: Any, old: Any, new: Any) -> Any:
    import pandas as pd
    from pandas.api.types import union_categoricals

    if old.ordered or new.ordered:
        if old.ordered == new.ordered and old.categories.equals(new.categories):
            return old
        raise refused(label, old, new)
    if old.categories.dtype != new.categories.dtype:
        raise refused(label, old, new)
    both = union_categoricals([pd.Categorical([], dtype=old), pd.Categorical([], dtype=new)])
    return both.dtype


def grow(old: Any, grown: dict[int, Any]) -> Any:
    """A value of the file with wider types."""
    if not grown:
        return old
    if not hasattr(old, "columns"):
        return _cast(getattr(old, "name", None), old, grown[0])
    import pandas as pd

    columns = [
        _cast(old.columns[i], old.iloc[:, i], grown[i]) if i in grown else old.iloc[:, i] for i in range(old.shape[1])
    ]
    whole = pd.concat(columns, axis=1, keys=range(len(columns)))
    whole.columns = old.columns
    return whole.__finalize__(old)


def concat(old: Any, new: Any) -> Any:
    """The value of the file after the append."""
    import pandas as pd

    if isinstance(old, pd.Index):
        return old.append(new).rename(old.name)
    if not hasattr(old, "index"):
        return pd.concat([pd.Series(old), pd.Series(new)], ignore_index=True).array
    whole = pd.concat([_with_categories(old, new), new])
    if hasattr(old, "columns"):
        whole = whole.__finalize__(old)
        whole.columns = old.columns
    else:
        whole.name = old.name
    whole.index = _index(old.index, new.index)
    return whole


def _with_categories(old: Any, new: Any) -> Any:
    """A frame or series whose categoricals have the categories of the rows to append."""
    import pandas as pd

    if not hasattr(old, "columns"):
        return old.astype(new.dtype) if isinstance(new.dtype, pd.CategoricalDtype) else old
    dtypes = zip(old.dtypes, new.dtypes, strict=True)
    grown = {
        i: of for i, (own, of) in enumerate(dtypes) if isinstance(of, pd.CategoricalDtype) and not _is_same(own, of)
    }
    return grow(old, grown)


def _index(old: Any, new: Any) -> Any:
    import pandas as pd

    if type(old) is pd.RangeIndex and type(new) is pd.RangeIndex:
        spec = joined_index(_spec(old), _spec(new), len(old))
        if spec is not None:
            return pd.RangeIndex(spec["start"], spec["stop"], spec["step"], name=old.name)
    whole = old.append(new)
    freq = getattr(old, "freq", None)
    if freq is not None and freq == getattr(new, "freq", freq) and len(old) and len(new) and old[-1] + freq == new[0]:
        whole = type(old)(whole, freq=freq)
    return whole.rename(old.names) if old.nlevels > 1 else whole.rename(old.name)


def _spec(index: Any) -> dict[str, Any]:
    return {"kind": "range", "start": index.start, "stop": index.stop, "step": index.step}


def joined_index(old: dict[str, Any], new: dict[str, Any], n_rows: int) -> dict[str, Any] | None:
    """The changes in the description of the index. None if its labels have to be stored anew."""
    if old["kind"] == "range" == new["kind"]:
        first = (new["start"], new["step"])
        n = len(range(new["start"], new["stop"], new["step"]))
        is_default = (old["start"], old["step"], *first) == (0, 1, 0, 1)
        goes_on = old["step"] == new["step"] and old["start"] + n_rows * old["step"] == new["start"]
        if is_default or goes_on or n == 0:
            stop = old["start"] + (n_rows + n) * old["step"]
            return {"kind": "range", "start": old["start"], "stop": stop, "step": old["step"]}
        return None
    # The names of levels were compared before. A frequency depends on the labels.
    if old["kind"] != "column" or old != new or "freq" in old:
        return None
    return {}
