"""Indexes of pandas that grow: an index follows the rules of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns.index_spec import column_name
from entasis._columns.labels import encode_label
from entasis._hosts.pandas.index import encode_index
from entasis.errors import ArgumentError

from . import fitting as _fitting
from .columns import INDEX, refused
from .host_types import Unfit
from .pandas_types import TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .fitting import Options


def fit(old: Any, new: Any, options: Options) -> Any:
    """The index of the rows with the file's type, or a wider type."""
    import pandas as pd

    if list(old.names) != list(new.names):
        raise ArgumentError(
            f"the index is named {list(old.names)} in the file and {list(new.names)} in the rows to "
            "append: rename it (df.rename_axis)"
        )
    if len(new) == 0:
        return old[:0]
    if type(new) is pd.RangeIndex and type(old) is not pd.RangeIndex and old.dtype == new.dtype:
        # Its labels are stored, as those of the file.
        return _plain(new)
    if old.nlevels > 1:
        for i, (level, more) in enumerate(zip(old.levels, new.levels, strict=True)):
            if len(more) and level.dtype != object:
                name = i if old.names[i] is None else repr(old.names[i])
                _check_level(f"the level {name} of the index", level.dtype, more)
        return new
    # Objects hold labels of all types.
    if old.dtype == object or TYPES.is_same(old.dtype, new.dtype):
        return new
    return _fitting.fit(TYPES, _named(old), old.dtype, new, options, INDEX)


def _check_level(what: str, dtype: Any, labels: Any) -> None:
    """Check that the labels of a level are of the kind that the file's level has."""
    try:
        TYPES.convert(labels, dtype)
    except Unfit as error:
        if TYPES.wider(dtype, labels) is None:
            raise refused(what, TYPES.name(dtype), TYPES.name(labels.dtype), error.reason) from None


def is_stored_anew(old: Any, new: Any, options: Options) -> bool:
    """Whether the labels of the file have to be stored anew before those of the rows."""
    if old.nlevels > 1 or not len(new):
        return False
    import pandas as pd

    spec = options.earlier.index if type(old) is pd.RangeIndex else None
    if spec is not None and spec["kind"] == "range":
        return type(new) is not pd.RangeIndex or _joined_range(spec, described(new), options.earlier.n) is None
    if old is new or old.dtype == object:
        return False
    return TYPES.grows(old.dtype, new.dtype, lambda: options.earlier.greatest_code(INDEX))


def grow(index: Any, dtype: Any) -> Any:
    """The index of a file with a wider type."""
    return _fitting.converted(TYPES, _named(index), _plain(index), dtype)


def _plain(index: Any) -> Any:
    """An index whose labels are stored, instead of a range."""
    import numpy as np
    import pandas as pd

    return pd.Index(np.asarray(index), name=index.name) if type(index) is pd.RangeIndex else index


def _named(index: Any) -> str:
    return "the index" if index.name is None else f"the index {index.name!r}"


def concat(old: Any, new: Any) -> Any:
    """The index of the file after the append."""
    import pandas as pd

    if type(old) is pd.RangeIndex and type(new) is pd.RangeIndex:
        spec = _joined_range(described(old), described(new), len(old))
        if spec is not None:
            return pd.RangeIndex(spec["start"], spec["stop"], spec["step"], name=old.name)
    if isinstance(new, pd.CategoricalIndex) and isinstance(old, pd.CategoricalIndex):
        old = TYPES.convert(old, new.dtype)
    whole = new if len(old) == 0 and old.dtype == object else old.append(new)
    freq = getattr(old, "freq", None)
    if freq is not None and freq == getattr(new, "freq", freq) and len(old) and len(new) and old[-1] + freq == new[0]:
        whole = type(old)(whole, freq=freq)
    return whole.rename(old.names) if old.nlevels > 1 else whole.rename(old.name)


def described(index: Any) -> dict[str, Any]:
    """The description of a range in a host map, without the name."""
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
