"""Indexes of pandas that grow: an index follows the rules of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns.index_spec import column_name
from entasis._columns.labels import encode_label
from entasis._hosts.pandas.index import encode_index
from entasis.errors import ArgumentError

from . import pandas_dtypes as _dtypes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def fit(old: Any, new: Any) -> tuple[Any, Any]:
    """The index of the rows with the file's type, and the wider type that the file needs, or None."""
    if list(old.names) != list(new.names):
        raise ArgumentError(
            f"the index is named {list(old.names)} in the file and {list(new.names)} in the rows to "
            "append: rename it (df.rename_axis)"
        )
    if len(new) == 0:
        return old[:0], None
    if old.nlevels > 1:
        for i, (level, more) in enumerate(zip(old.levels, new.levels, strict=True)):
            if len(more) and level.dtype != object:
                name = i if old.names[i] is None else repr(old.names[i])
                _dtypes.common(f"the level {name} of the index", level.dtype, more.dtype)
        return new, None
    # Objects hold labels of all types.
    if old.dtype == object or _dtypes.is_same(old.dtype, new.dtype):
        return new, None
    found, dtype = _dtypes.fit(_named(old), old.dtype, new)
    # Appended categories keep the codes of the file valid.
    return found, None if dtype == old.dtype or hasattr(dtype, "categories") else dtype


def grow(index: Any, dtype: Any) -> Any:
    """The index of a file with a wider type."""
    return _dtypes.cast(_named(index), index, dtype)


def _named(index: Any) -> str:
    return "the index" if index.name is None else f"the index {index.name!r}"


def concat(old: Any, new: Any) -> Any:
    """The index of the file after the append."""
    import pandas as pd

    if type(old) is pd.RangeIndex and type(new) is pd.RangeIndex:
        spec = _joined_range(_spec(old), _spec(new), len(old))
        if spec is not None:
            return pd.RangeIndex(spec["start"], spec["stop"], spec["step"], name=old.name)
    if isinstance(new, pd.CategoricalIndex) and isinstance(old, pd.CategoricalIndex):
        old = _dtypes.cast(_named(old), old, new.dtype)
    whole = new if len(old) == 0 and old.dtype == object else old.append(new)
    freq = getattr(old, "freq", None)
    if freq is not None and freq == getattr(new, "freq", freq) and len(old) and len(new) and old[-1] + freq == new[0]:
        whole = type(old)(whole, freq=freq)
    return whole.rename(old.names) if old.nlevels > 1 else whole.rename(old.name)


def _spec(index: Any) -> dict[str, Any]:
    return {"kind": "range", "start": index.start, "stop": index.stop, "step": index.step}


def joined(old: dict[str, Any], new: dict[str, Any], file: Any, part: Any) -> dict[str, Any] | None:
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
    """The frequency of an index of times. As in `pd.concat`, it stays if the rows continue it."""
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


def encode_levels(
    builder: Any, file: Any, dropped: Sequence[int], names: Mapping[int, Any]
) -> tuple[dict[str, Any], list[tuple[int, str]]] | None:
    """The changes in the description of the index, and new names of its columns by their numbers.

    None if the labels have to be stored anew, because the index has fewer levels.
    """
    import pandas as pd

    spec = file._view.handle.host()["index"]
    index = file[:0].read().index
    if dropped:
        is_whole = len(dropped) == index.nlevels
        return (encode_index(pd.RangeIndex(file.n_rows), "the index", builder), []) if is_whole else None
    found = _renamed(index, names).names
    encoded = [encode_label(name, "the index", builder.tree) for name in found]
    columns = spec["columns"] if spec["kind"] == "multi" else [spec["column"]] if spec["kind"] == "column" else []
    of_columns = [(int(columns[i].index), column_name(found[i], i, len(found))) for i in names if columns]
    return {"names": encoded} if spec["kind"] == "multi" else {"name": encoded[0]}, of_columns


def with_levels(index: Any, dropped: Sequence[int], names: Mapping[int, Any]) -> Any:
    """An index without levels, and with other names of levels."""
    import pandas as pd

    index = _renamed(index, names)
    if not dropped:
        return index
    return pd.RangeIndex(len(index)) if len(dropped) == index.nlevels else index.droplevel(list(dropped))


def _renamed(index: Any, names: Mapping[int, Any]) -> Any:
    return index.set_names([names.get(i, name) for i, name in enumerate(index.names)])
