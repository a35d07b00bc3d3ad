"""Indexes of pandas: described in the host map, with labels in extra columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns.index_spec import Codes, column_name
from entasis._columns.labels import decode_label, encode_label
from entasis._entasis import ColumnRef
from entasis._host_map import CellValue, host_calls, interpretation
from entasis._values import offsets as _offsets
from entasis.errors import CorruptFileError, UnsupportedTypeError

from . import compat as _compat

if TYPE_CHECKING:
    from typing import Protocol

    from entasis._entasis import CellRef

    class Add(Protocol):
        """Adds labels as extra columns."""

        def array(self, array: Any, name: str, what: str) -> tuple[int, int | None]:
            """Add values. Returns the numbers of their column and of a column with markers."""

        def level(self, level: Any, codes: Any, name: str, what: str) -> int:
            """Add a level and its codes. Returns the number of the column of codes."""

        def tree(self, value: Any, what: str) -> CellRef:
            """Add a value of any type, in cells."""


def encode_index(index: Any, what: str, add: Add) -> dict[str, Any]:
    """Describe an index for a host map. Its labels become extra columns."""
    import pandas as pd

    kind, tree = type(index), add.tree
    if kind is pd.RangeIndex:
        spec = {"kind": "range", "start": index.start, "stop": index.stop, "step": index.step}
        return spec | {"name": encode_label(index.name, what, tree)}
    if kind is pd.MultiIndex:
        return _encode_multi(index, what, add)
    known = (pd.Index, pd.DatetimeIndex, pd.TimedeltaIndex, pd.CategoricalIndex, pd.PeriodIndex, pd.IntervalIndex)
    if kind not in known:
        raise UnsupportedTypeError(f"{what}: {kind.__name__} is not supported yet")
    number, kinds = add.array(index.array, column_name(index.name, 0, 1), what)
    spec = {"kind": "column", "column": ColumnRef(number), "name": encode_label(index.name, what, tree)}
    if kinds is not None:
        spec["missing_kinds"] = ColumnRef(kinds)
    freq = _freq(index)
    if freq is not None:
        spec["freq"] = _encode_freq(freq, what, tree)
    metadata = _dtype_metadata.encode(index.dtype, what, tree)
    return spec if metadata is None else spec | {_dtype_metadata.KEY: metadata}


def _encode_multi(index: Any, what: str, add: Add) -> dict[str, Any]:
    columns = []
    for i, (level, codes, name) in enumerate(zip(index.levels, index.codes, index.names, strict=True)):
        number = add.level(level, codes, column_name(name, i, index.nlevels), f"{what}, level {i}")
        columns.append(ColumnRef(number))
    names = [encode_label(name, what, add.tree) for name in index.names]
    spec = {"kind": "multi", "columns": columns, "names": names}
    return spec if index.sortorder is None else spec | {"sortorder": int(index.sortorder)}


def encode_values(values: Any, number: int, what: str, tree: Any) -> dict[str, Any] | None:
    """Describe an index of categories. None if its column `number` determines it."""
    import pandas as pd

    if type(values) is pd.RangeIndex:
        spec = {"kind": "range", "start": values.start, "stop": values.stop, "step": values.step}
        return spec | {"name": encode_label(values.name, what, tree)}
    freq, metadata = _freq(values), _dtype_metadata.encode(values.dtype, what, tree)
    if values.name is None and freq is None and metadata is None and type(values) is not pd.CategoricalIndex:
        return None
    spec = {"kind": "column", "column": ColumnRef(number), "name": encode_label(values.name, what, tree)}
    if metadata is not None:
        spec[_dtype_metadata.KEY] = metadata
    return spec if freq is None else spec | {"freq": _encode_freq(freq, what, tree)}


def _freq(index: Any) -> Any:
    """The frequency of an index of times. The frequency of periods is part of their dtype."""
    return getattr(index, "freq", None) if type(index).__name__ in ("DatetimeIndex", "TimedeltaIndex") else None


def _encode_freq(freq: Any, what: str, tree: Any) -> Any:
    """Encode a frequency as a string, or in cells if pandas parses its string differently."""
    text = _offsets.as_text(freq)
    return tree(freq, f"{what}: the frequency") if text is None else text


@interpretation()
def decode_index(spec: dict[str, Any], values: list[Any], n: int, rows: Any = None) -> Any:
    """Make rows of an index with `n` labels. `values` are its columns, already at these rows."""
    import pandas as pd

    kind = spec["kind"]
    if kind == "range":
        numbers = range(spec["start"], spec["stop"], spec["step"])
        if len(numbers) != n:
            raise CorruptFileError(f"an index has {len(numbers)} labels instead of {n}")
        name = decode_label(spec["name"])
        with host_calls():
            index = pd.RangeIndex.from_range(numbers, name=name)
        if rows is None:
            return index
        return index[_rows.as_slice(rows) if isinstance(rows, range) else rows]
    if kind == "multi":
        names = [decode_label(name) for name in spec["names"]]
        if not all(type(level) is Codes for level in values):
            raise CorruptFileError("a level of an index has no codes")
        levels, codes = [level.values for level in values], [level.codes for level in values]
        if not levels or len(names) != len(levels):
            raise CorruptFileError(f"an index has {len(levels)} levels and {len(names)} names")
        sortorder = _sortorder(spec, len(levels), rows)
        with host_calls():
            return pd.MultiIndex(levels=levels, codes=codes, names=names, sortorder=sortorder, verify_integrity=False)
    if kind != "column":
        raise CorruptFileError(f"an index of kind {kind!r} is not known")
    array = _dtype_metadata.labels(values[0], spec)
    if str(array.dtype) == "float16":
        raise UnsupportedTypeError("pandas has no index of float16")
    name = decode_label(spec["name"])
    with host_calls():
        index = _compat.index(array, name)
    if "freq" in spec:
        _restore_freq(index, spec["freq"], rows)
    return index


def _sortorder(spec: dict[str, Any], n_levels: int, rows: Any) -> int | None:
    """The recorded number of sorted levels.

    As in pandas, slices keep it and other selections lose it.
    """
    found = spec.get("sortorder")
    if found is not None and (type(found) is not int or not 0 <= found <= n_levels):
        raise ValueError(f"an index of {n_levels} levels that is sorted by {found!r}")
    return found if rows is None or (isinstance(rows, range) and rows.step > 0) else None


def _restore_freq(index: Any, spec: Any, rows: Any) -> None:
    import pandas as pd

    if type(index).__name__ not in ("DatetimeIndex", "TimedeltaIndex"):
        raise CorruptFileError(f"an index of {index.dtype} has a frequency")
    if rows is not None and not isinstance(rows, range):
        return
    freq = spec.get() if type(spec) is CellValue else _offsets.decode(spec)
    if not isinstance(freq, pd.offsets.BaseOffset):
        # `on_unsupported` left the frequency out or replaced it.
        return
    if rows is not None and rows.step != 1:
        freq = freq * rows.step
    _compat.set_freq(index, freq)


def arrow_values(index: Any) -> Any:
    """The pyarrow array of an index whose labels pyarrow stores; None for other indexes."""
    import pandas as pd

    if type(index) is not pd.Index:
        return None
    array = index.array
    return array.__arrow_array__() if isinstance(array, pd.arrays.ArrowExtensionArray) else None
