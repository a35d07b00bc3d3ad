"""Dtypes of rows of pandas: how they fit the dtypes of a file, and columns of missing values."""

from __future__ import annotations

from typing import Any

from entasis.errors import ArgumentError

from . import numpy as _numpy
from .columns import listed, no_missing, refused

_NAMES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
# Nullable dtypes, by NumPy's name of their values.
_NULLABLE = {name.lower(): name for name in _NAMES}


def fit(what: str, dtype: Any, column: Any) -> tuple[Any, Any]:
    """Convert a column of the rows to the dtype that holds its values and those of the file.

    Returns the column and the dtype. `what` names the column in errors.
    """
    import pandas as pd

    is_bare = not isinstance(column.dtype, pd.CategoricalDtype) or not len(column.dtype.categories)
    if column.dtype != dtype and is_bare and len(column) and column.isna().all():
        return _without_values(what, dtype, column), dtype
    found = common(what, dtype, column.dtype)
    return cast(what, column, found), found


def is_same(old: Any, new: Any) -> bool:
    """Whether dtypes are equal, including the order of categories."""
    import pandas as pd

    return bool(old == new) and not (isinstance(old, pd.CategoricalDtype) and not old.categories.equals(new.categories))


def cast(what: str, column: Any, dtype: Any) -> Any:
    """A column of a wider type."""
    import pandas as pd

    if is_same(column.dtype, dtype):
        return column
    try:
        if isinstance(column.dtype, pd.CategoricalDtype) and isinstance(dtype, pd.CategoricalDtype):
            # If the sets are equal, `astype` does not reorder unordered categories.
            of = column.cat if isinstance(column, pd.Series) else column
            return of.set_categories(dtype.categories)
        return column.astype(dtype)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(f"{what} can't be converted to {dtype}: {error}") from error


def missing(what: str, dtype: Any, index: Any) -> Any:
    """A column of missing values, as `pd.concat` makes it."""
    import numpy as np
    import pandas as pd

    # Objects get NaN for missing values. For some dtypes, such as bool, pandas converts None to
    # other values.
    value = np.nan if dtype == np.dtype(object) else None
    try:
        found = pd.Series([value] * len(index), dtype=dtype, index=index)
    except (TypeError, ValueError):
        raise no_missing(what, dtype) from None
    if found.dtype != dtype or not found.isna().all():
        raise no_missing(what, dtype)
    return found


def _without_values(what: str, dtype: Any, column: Any) -> Any:
    """Convert a column whose values are all missing to a dtype. Objects keep their markers."""
    import numpy as np
    import pandas as pd

    if dtype == np.dtype(object):
        return column.astype(object)
    index = column.index if isinstance(column, pd.Series) else range(len(column))
    found = missing(what, dtype, index)
    if isinstance(column, pd.Series):
        return found.rename(column.name)
    return pd.Index(found.array, name=getattr(column, "name", None)) if isinstance(column, pd.Index) else found.array


def common(what: str, old: Any, new: Any) -> Any:
    """The dtype that holds the values of both."""
    import numpy as np
    import pandas as pd

    if isinstance(old, pd.CategoricalDtype) and isinstance(new, pd.CategoricalDtype):
        return _categories(what, old, new)
    if old == new:
        return old
    if isinstance(old, np.dtype) and isinstance(new, np.dtype):
        found = _numpy.common(old, new)
        if found is not None:
            return found
    if str(old) in _NAMES and str(new) in _NAMES:
        found = _numpy.common(np.dtype(str(old).lower()), np.dtype(str(new).lower()))
        if found is not None:
            return pd.api.types.pandas_dtype(_NULLABLE[str(found)])
    if isinstance(old, pd.StringDtype) and isinstance(new, pd.StringDtype):
        return old
    zones = isinstance(old, pd.DatetimeTZDtype) and isinstance(new, pd.DatetimeTZDtype)
    if zones and str(old.tz) == str(new.tz) and type(old.tz) is type(new.tz):
        return pd.DatetimeTZDtype(_numpy.finer(old.unit, new.unit), old.tz)
    raise refused(what, _shown(old), _shown(new))


def _categories(what: str, old: Any, new: Any) -> Any:
    """The categories of the file, then the new ones of the rows."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    if old.ordered != new.ordered:
        raise refused(what, _shown(old), _shown(new))
    if old.ordered:
        if old.categories.equals(new.categories):
            return old
        if old.categories.dtype != new.categories.dtype:
            raise refused(what, _shown(old), _shown(new))
        differs = "the order" if set(old.categories) == set(new.categories) else "the ordered categories"
        raise ArgumentError(
            f"{what} has {differs} {listed(old.categories)} in the file and {listed(new.categories)} in the rows to "
            "append: give both the same (cat.set_categories)"
        )
    if old.categories.dtype != new.categories.dtype:
        # Columns without rows, or with only missing values, have no categories.
        if not len(new.categories) or not len(old.categories):
            return new if len(new.categories) else old
        raise refused(what, _shown(old), _shown(new))
    return union_categoricals([pd.Categorical([], dtype=old), pd.Categorical([], dtype=new)]).dtype


def _shown(dtype: Any) -> str:
    """A dtype in errors, with the type of its categories."""
    if not hasattr(dtype, "categories"):
        return str(dtype)
    return f"{'an ordered' if dtype.ordered else 'a'} category of {dtype.categories.dtype}"
