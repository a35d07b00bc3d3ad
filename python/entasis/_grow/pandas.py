"""Rows of pandas. The result of an append is that of `pd.concat`."""

from __future__ import annotations

from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from . import numpy as _numpy
from .columns import check_length, positions, refused

_NAMES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
# Nullable dtypes, by NumPy's name of their values.
_NULLABLE = {name.lower(): name for name in _NAMES}

# Whether a batch has to be copied to be kept: it may change.
IS_COPIED = True


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
        spec = _joined_range(_spec(old), _spec(new), len(old))
        if spec is not None:
            return pd.RangeIndex(spec["start"], spec["stop"], spec["step"], name=old.name)
    whole = old.append(new)
    freq = getattr(old, "freq", None)
    if freq is not None and freq == getattr(new, "freq", freq) and len(old) and len(new) and old[-1] + freq == new[0]:
        whole = type(old)(whole, freq=freq)
    return whole.rename(old.names) if old.nlevels > 1 else whole.rename(old.name)


def _spec(index: Any) -> dict[str, Any]:
    return {"kind": "range", "start": index.start, "stop": index.stop, "step": index.step}


def joined_index(old: dict[str, Any], new: dict[str, Any], file: Any, part: Any) -> dict[str, Any] | None:
    """The changes in the description of the index. None if its labels have to be stored anew."""
    if old["kind"] == "range" == new["kind"]:
        return _joined_range(old, new, file.n_rows)
    # The names of levels were compared before. A frequency depends on the labels.
    freq, new_freq = old.get("freq"), new.get("freq")
    is_known = all(found is None or type(found) is str for found in (freq, new_freq))
    if old["kind"] != "column" or {**old, "freq": None} != {**new, "freq": None} or not is_known:
        return None
    return {} if freq is new_freq is None else {"freq": _joined_freq(freq, new_freq, file, part)}


def _joined_range(old: dict[str, Any], new: dict[str, Any], n_rows: int) -> dict[str, Any] | None:
    first = (new["start"], new["step"])
    n = len(range(new["start"], new["stop"], new["step"]))
    is_default = (old["start"], old["step"], *first) == (0, 1, 0, 1)
    goes_on = old["step"] == new["step"] and old["start"] + n_rows * old["step"] == new["start"]
    if is_default or goes_on or n == 0:
        stop = old["start"] + (n_rows + n) * old["step"]
        return {"kind": "range", "start": old["start"], "stop": stop, "step": old["step"]}
    return None


def _joined_freq(old: str | None, new: str | None, file: Any, part: Any) -> str | None:
    """The frequency of an index of times, as `pd.concat` keeps it: if the rows go on with it."""
    labels = _labels_of_rows(part)
    if len(labels) == 0:
        return old
    if file.n_rows == 0:
        return new
    if old != new:
        return None
    last = _labels_of_rows(file[file.n_rows - 1 :].read())[0]
    return old if last + labels.freq == labels[0] else None


def _labels_of_rows(value: Any) -> Any:
    return value.index if hasattr(value, "iloc") else value


def columns(value: Any, file: Any) -> Any:
    """New columns of a file, with its number of rows. Their index is that of the file, or 0 to n-1."""
    import pandas as pd

    if isinstance(value, pd.Series):
        value = value.to_frame()
    elif isinstance(value, dict):
        value = pd.DataFrame(value)
    elif not isinstance(value, pd.DataFrame):
        value = collect(value)
    if not isinstance(value, pd.DataFrame):
        raise ArgumentError(f"{shown(value)} has no columns: pass a DataFrame")
    check_length(len(value), file.n_rows)
    if not value.index.equals(pd.RangeIndex(len(value))) and not value.index.equals(file._frame.index(None)):
        raise ArgumentError(
            "the index of the new columns differs from that of the file: reindex them, or pass them with "
            "reset_index(drop=True) to take them in the order of the rows"
        )
    return value


def nothing() -> Any:
    """A frame without columns and rows."""
    import pandas as pd

    return pd.DataFrame()


def joined_labels(old: Any, new: Any, sources: list[tuple[bool, int]]) -> Any:
    """The labels of columns of the file and of new ones."""
    places = [len(old.columns) + place if is_new else place for is_new, place in sources]
    if new is None:
        return old.columns.take(places)
    added = new.columns
    if added.nlevels != old.columns.nlevels:
        raise ArgumentError(f"the labels of new columns have {added.nlevels} levels, those of the file differ")
    return old.columns.append(added.set_names(old.columns.names)).take(places)


def renamed_labels(old: Any, labels: list[Any], names: Any) -> Any:
    """The labels of the columns of the file, some of them renamed."""
    return old.rename(columns=dict(names)).columns if names else old.columns


def encode_labels(builder: Any, labels: Any) -> tuple[list[str], Any]:
    """The names of columns, and the description of their labels."""
    from entasis._hosts.pandas.write import encode_labels

    return encode_labels(builder, labels)


def choose(old: Any, new: Any, sources: list[tuple[bool, int]], labels: Any) -> Any:
    """The frame with columns of the file and new ones."""
    import pandas as pd

    places = [old.shape[1] + place if is_new else place for is_new, place in sources]
    whole = old if new is None else pd.concat([old, new.set_axis(old.index)], axis=1)
    whole = whole.iloc[:, places]
    whole.columns = labels
    whole.attrs = old.attrs
    return whole.set_flags(allows_duplicate_labels=old.flags.allows_duplicate_labels)


def rows(value: Any, start: int, stop: int) -> Any:
    """Some rows of a value."""
    return value.iloc[start:stop] if hasattr(value, "iloc") else value[start:stop]


def joined(parts: list[Any]) -> Any:
    """Parts that follow each other, as one."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    first = parts[0]
    if isinstance(first, pd.Index):
        return first.append(parts[1:])
    if isinstance(first, pd.Series):
        is_categorical = isinstance(first.dtype, pd.CategoricalDtype)
        if not is_categorical or all(_is_same(first.dtype, part.dtype) for part in parts):
            return pd.concat(parts)
        index = first.index.append([part.index for part in parts[1:]])
        return pd.Series(union_categoricals(parts), index=index, name=first.name)
    places = [
        i
        for i, dtype in enumerate(first.dtypes)
        if isinstance(dtype, pd.CategoricalDtype) and not all(_is_same(dtype, part.dtypes.iloc[i]) for part in parts)
    ]
    whole = pd.concat(parts)
    for i in places:
        whole.isetitem(i, pd.Series(union_categoricals([part.iloc[:, i] for part in parts]), index=whole.index))
    whole.attrs = first.attrs
    return whole


def is_counted(index: dict[str, Any] | None) -> bool:
    """Whether an index, as a host map describes it, counts from 0."""
    return index is not None and (index.get("kind"), index.get("start"), index.get("step")) == ("range", 0, 1)


def counted(part: Any, start: int) -> Any:
    """Rows whose index counts from 0, with one that counts from `start`. Others stay as they are."""
    import pandas as pd

    if isinstance(part, pd.Index) or not part.index.equals(pd.RangeIndex(len(part))) or part.index.name is not None:
        return part
    return part.set_axis(pd.RangeIndex(start, start + len(part)))


def size(value: Any) -> int:
    """Bytes of a value, about."""
    found = value.memory_usage(index=False) if hasattr(value, "iloc") else value.memory_usage()
    return int(found.sum()) if hasattr(found, "sum") else int(found)


def own(value: Any) -> Any:
    """A copy of a value."""
    return value.copy()
