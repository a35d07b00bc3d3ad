"""The dtypes of pandas: what they hold, and wider ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import pandas_categories as _categories
from . import pandas_numbers as _numbers
from .host_types import Types, Unfit, value_at

if TYPE_CHECKING:
    from collections.abc import Callable


class PandasTypes(Types):
    """The dtypes of pandas. Columns are series, indexes and arrays."""

    def type_of(self, column: Any) -> Any:
        """The dtype of a column."""
        return column.dtype

    def is_same(self, old: Any, new: Any) -> bool:
        """Whether dtypes are equal, including the order of categories."""
        import pandas as pd

        if old != new:
            return False
        return not isinstance(old, pd.CategoricalDtype) or bool(old.categories.equals(new.categories))

    def is_empty(self, column: Any) -> bool:
        """Whether a column has no rows, or only missing values, and no categories."""
        import pandas as pd

        dtype = column.dtype
        has_categories = isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories)
        return not has_categories and bool(column.isna().all())

    def is_untyped(self, dtype: Any) -> bool:
        """Whether a dtype says nothing about values: objects, and the null type of Arrow."""
        return str(dtype) in ("object", "null[pyarrow]")

    def missing(self, dtype: Any, like: Any) -> Any:
        """A column of missing values, as `pd.concat` makes it."""
        import numpy as np
        import pandas as pd

        if dtype == np.dtype(object) and isinstance(like, (pd.Series, pd.Index)) and like.dtype != dtype:
            # Objects keep the kind of the missing values.
            return like.astype(object)
        # Objects get NaN for missing values. For some dtypes, such as bool, pandas converts None to
        # other values.
        value = np.nan if dtype == np.dtype(object) else None
        index = like.index if isinstance(like, pd.Series) else None
        try:
            found = pd.Series([value] * len(like), dtype=dtype, index=index)
        except (TypeError, ValueError):
            return None
        if found.dtype != dtype or not found.isna().all():
            return None
        return _like(like, found)

    def convert(self, column: Any, dtype: Any) -> Any:
        """A column of another dtype with the same values."""
        import pandas as pd

        series = column if isinstance(column, pd.Series) else pd.Series(column)
        found = _converted(series, dtype)
        if found is series:
            return column
        if not isinstance(found, pd.Series):
            found = pd.Series(found, index=series.index, name=series.name, copy=False)
        return _like(column, found)

    def wider(self, old: Any, column: Any) -> Any:
        """The dtype of `pd.concat`. None for objects."""
        import numpy as np
        import pandas as pd

        new = _inferred(pd.Series(column)).dtype
        if isinstance(old, pd.CategoricalDtype):
            return _categories.wider(old, new)
        if isinstance(old, pd.ArrowDtype):
            from . import pyarrow_types as _arrow

            found = _arrow.wider(old.pyarrow_dtype, _as_arrow(_inferred(pd.Series(column))).type)
            return None if found is None else pd.ArrowDtype(found)
        empty = [pd.Series([], dtype=dtype) for dtype in (old, new)]
        found = pd.concat(empty).dtype
        return None if found == np.dtype(object) else found

    def with_missing(self, dtype: Any, column: Any) -> Any:
        """The dtype that holds the values of a column, and missing ones.

        Integers become floats where these hold them, as in pandas, and else nullable.
        """
        import numpy as np
        import pandas as pd

        like = pd.Series([None], dtype=object)
        if self.missing(dtype, like) is not None:
            return dtype
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biu":
            return None
        if dtype.kind == "b":
            return pd.BooleanDtype()
        try:
            self.convert(column, np.dtype("float64"))
        except Unfit:
            return pd.api.types.pandas_dtype(dtype.name.replace("int", "Int").replace("u", "U"))
        return np.dtype("float64")

    def grows(self, old: Any, new: Any, greatest_code: Callable[[], int | None]) -> bool:
        """Whether stored values have to be stored anew.

        More categories keep the codes, if these tell them apart.
        """
        import pandas as pd

        if self.is_same(old, new):
            return False
        if not isinstance(old, pd.CategoricalDtype) or not isinstance(new, pd.CategoricalDtype):
            return True
        before, after = old.categories, new.categories
        if old.ordered != new.ordered or before.dtype != after.dtype or not before.equals(after[: len(before)]):
            return True
        greatest = greatest_code()
        return greatest is not None and len(after) >= greatest

    def name(self, dtype: Any) -> str:
        """A dtype in errors, with the type of its categories."""
        if not hasattr(dtype, "categories"):
            return str(dtype)
        return f"{'an ordered' if dtype.ordered else 'a'} category of {dtype.categories.dtype}"


def _like(column: Any, series: Any) -> Any:
    """A series as a column of the kind of another one, with its labels."""
    import pandas as pd

    if isinstance(column, pd.Series):
        return series.rename(column.name)
    if isinstance(column, pd.Index):
        return pd.Index(series.array, name=column.name, dtype=series.dtype)
    return series.array


def _inferred(series: Any) -> Any:
    """A series of objects of one kind as one of their dtype."""
    return series.infer_objects() if _is_object(series.dtype) else series


def _converted(series: Any, dtype: Any) -> Any:
    """A series, or an array, with the values of a series."""
    import numpy as np
    import pandas as pd

    if _is_object(series.dtype) and not _is_object(dtype):
        series = _inferred(series)
        if _is_object(series.dtype) and pd.api.types.infer_dtype(series, skipna=True) == "boolean":
            series = series.astype("boolean")
    old = series.dtype
    if TYPES.is_same(old, dtype):
        return series
    if _is_object(dtype) or _is_object(old):
        raise Unfit
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories.convert(series, dtype, _converted)
    if isinstance(old, pd.CategoricalDtype):
        plain = pd.Series(np.asarray(series, dtype=object), index=series.index)
        found = TYPES.missing(dtype, plain) if plain.isna().all() else _converted(plain, dtype)
        if found is None:
            raise Unfit("missing values")
        return found
    if isinstance(dtype, pd.ArrowDtype):
        return _to_arrow(series, dtype)
    if _is_text(old) and _is_text(dtype):
        return series.astype(dtype)
    if _numbers.numpy_dtype(old) is not None and _numbers.numpy_dtype(dtype) is not None:
        return _numbers.convert(series, dtype)
    if isinstance(old, pd.ArrowDtype):
        plain = series.array.__arrow_array__().to_pandas()
        if isinstance(plain.dtype, pd.ArrowDtype):
            raise Unfit
        return _converted(pd.Series(plain.array, index=series.index), dtype)
    if _time_zone(old) is not None and _time_zone(old) == _time_zone(dtype):
        return _times(series, dtype)
    raise Unfit


def _is_object(dtype: Any) -> bool:
    return str(dtype) == "object"


def _is_text(dtype: Any) -> bool:
    import pandas as pd

    if not isinstance(dtype, pd.ArrowDtype):
        return isinstance(dtype, pd.StringDtype)
    return str(dtype.pyarrow_dtype) in ("string", "large_string", "string_view")


def _time_zone(dtype: Any) -> tuple[str, Any] | None:
    """The kind of times and their zone. None for other dtypes."""
    import numpy as np
    import pandas as pd

    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        return dtype.kind, None
    return ("M", (str(dtype.tz), type(dtype.tz))) if isinstance(dtype, pd.DatetimeTZDtype) else None


def _times(series: Any, dtype: Any) -> Any:
    """Times of another unit."""
    from pandas.errors import OutOfBoundsDatetime, OutOfBoundsTimedelta

    try:
        found = series.astype(dtype)
        back = found.astype(series.dtype)
    except (OutOfBoundsDatetime, OutOfBoundsTimedelta):
        raise Unfit(f"times beyond the range of {dtype}") from None
    bad = ((back != series) & series.notna()).to_numpy()
    if bad.any():
        at = int(bad.argmax())
        raise value_at(str(series.iloc[at]), at)
    return found


def _as_arrow(series: Any) -> Any:
    """The values of a series as a chunked array."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(series.dtype, pd.ArrowDtype):
        found = series.array.__arrow_array__()
    else:
        try:
            found = pa.array(series, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise Unfit from None
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _to_arrow(series: Any, dtype: Any) -> Any:
    """An Arrow array with the values of a series."""
    import pandas as pd

    from . import pyarrow_types as _arrow

    column = _as_arrow(series)
    kind = dtype.pyarrow_dtype
    if column.type != kind:
        column = _arrow.TYPES.convert(column, kind)
    return pd.arrays.ArrowExtensionArray(column)


TYPES = PandasTypes()
