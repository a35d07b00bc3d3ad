"""pandas frames to columns: blocks as they are, without work per column."""

from __future__ import annotations

import zoneinfo
from typing import TYPE_CHECKING, Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._columns.names import as_text
from entasis._entasis import Builder, ColumnRef
from entasis._hosts.arrow.pyarrow import has_dictionary
from entasis._hosts.numpy import objects as _objects
from entasis._values import offsets as _offsets
from entasis._values.labels import encode_label, is_plain
from entasis.errors import UnsupportedTypeError

from . import index as _labels
from .series import as_frame, is_table, restore
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

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the registry asks of a module that writes.
__all__ = ["build", "is_table", "restore"]

# From so many blocks on, those of one column are added together.
_MANY = 64
# Codes of the dtypes whose values are words: booleans, integers, floats, complex numbers.
_PLAIN = frozenset("?bhilqBHILQefdFD")


class _Builder(Builder):
    """A builder that knows what is kept of categories: lists of a column with categories and of their index."""

    def __init__(self, n_rows: int, names: Any) -> None:
        self.categories: list[list[Any]] = []

    def array(self, array: Any, name: str, what: str) -> tuple[int, int | None]:
        """Adds an array as an extra column. Returns its number, and that of a column with kinds of missing."""
        number, kinds = add_array(self, array, None, name, what)
        assert number is not None, "an extra column has a number"
        return number, kinds

    def values(self, values: Any, what: str) -> int:
        """Adds an index of categories, or of a level. Returns the number of the column."""
        import numpy as np

        plain = values.array
        if type(values).__name__ == "CategoricalIndex":
            plain = values.categories.array.take(values.codes, allow_fill=True)
        if isinstance(plain.dtype, np.dtype) and plain.dtype.kind == "O":
            number = _objects.add_whole(self, np.asarray(plain, object), OBJECT, "", what)
        else:
            number, _ = self.array(plain, "", what)
        # Categories of which the labels are categories are a column of their own.
        told = number if plain is values.array else self.array(values.array, "", what)[0]
        spec = _labels.encode_values(values, told, what, self.tree)
        if spec is not None:
            self.categories.append([ColumnRef(number), spec])
        return number

    def level(self, level: Any, codes: Any, name: str, what: str) -> int:
        """Adds a level and its codes. Returns the number of the column with the codes."""
        import numpy as np

        # The names of levels are kept with the index.
        number = self.words(np.asarray(codes), name=name, categories=self.values(level.rename(None), what))
        assert number is not None, "an extra column has a number"
        return number


def build(frame: Any, called: str | None = None) -> tuple[Builder, dict[str, Any]]:
    """A builder with all columns of a frame, and what is kept beside them. `called`: the only column, in errors."""
    import numpy as np
    import pandas as pd

    if type(frame) is not pd.DataFrame:
        frame, kept = as_frame(frame)
        found, map_ = build(frame, "series.iloc" if kept["class"] == "Series" else "array")
        name = {"name": encode_label(kept.pop("name"), "the series", found.tree)} if "name" in kept else {}
        return found, map_ | kept | name
    builder, are_names = _named(len(frame), frame.columns)
    host: dict[str, Any] = {"host": "pandas"}
    kinds: list[list[Any]] = []
    metadata = _dtype_metadata.Collector()
    for values, positions in _blocks(frame, builder):
        if _dtype_metadata.of(values.dtype) is not None and len(positions):
            metadata.add(values.dtype, positions.tolist())
        if type(values) is np.ndarray and values.dtype.kind == "O":
            labels = _listed(frame.columns)
            for row, position in zip(values, positions.tolist(), strict=True):
                _, mixed = _objects.add(builder, row, position, OBJECT, "", called or f"df[{labels[position]!r}].iloc")
                if mixed is not None:
                    kinds.append([position, ColumnRef(mixed)])
            continue
        first = builder.name(int(positions[0])) if len(positions) else ""
        add_array(builder, values, int(positions[0]) if getattr(values, "ndim", 1) == 1 else positions, first)
    host["index"] = _labels.encode_index(frame.index, "the index", builder)
    host["columns"] = _encode_columns(builder, frame.columns, are_names=are_names)
    host |= metadata.encode(builder)
    if builder.categories:
        host["categories"] = builder.categories
    if kinds:
        host["missing_kinds"] = kinds
    if frame.attrs:
        is_small = is_plain(frame.attrs)
        host["attrs"] = dict(frame.attrs) if is_small else builder.tree(frame.attrs, "the frame's attrs")
    if not frame.flags.allows_duplicate_labels:
        host["allows_duplicate_labels"] = False
    return builder, host


def _named(n_rows: int, labels: Any) -> tuple[_Builder, bool]:
    """A builder with the labels of columns as names, and whether they are strings, all of them."""
    if len(labels) >= _MANY:
        strings = getattr(getattr(labels, "_data", None), "_pa_array", None)
        if strings is not None and strings.null_count == 0 and str(strings.type) == "large_string":
            chunk = strings.combine_chunks() if strings.num_chunks != 1 else strings.chunk(0)
            _, ends, text = chunk.buffers()
            # Without characters there may be no text.
            parts = (ends, b"" if text is None else text, chunk.offset, chunk.offset + len(chunk))
            return _Builder(n_rows, parts), True
    listed = _listed(labels)
    try:
        return _Builder(n_rows, listed), True
    except (TypeError, UnicodeEncodeError):
        # Not strings of Unicode, all of them.
        return _Builder(n_rows, [as_text(label) for label in listed]), False


def _listed(labels: Any) -> list[Any]:
    strings = getattr(getattr(labels, "_data", None), "_pa_array", None)
    if strings is not None and strings.null_count == 0:
        return strings.to_pylist()  # type: ignore[no-any-return]
    return labels.tolist()  # type: ignore[no-any-return]


def _encode_columns(builder: _Builder, labels: Any, *, are_names: bool) -> dict[str, Any]:
    import pandas as pd

    dtype = str(labels.dtype) if type(labels) is pd.Index else ""
    python_storage = getattr(labels.dtype, "storage", "pyarrow") == "python"
    # Strings of the usual types are there already: the names of the columns.
    if (dtype == "object" or (dtype == "str" and not python_storage)) and are_names:
        name = encode_label(labels.name, "the column labels", builder.tree)
        return {"kind": "names", "dtype": dtype, "name": name}
    return _labels.encode_index(labels, "the column labels", builder)


def _blocks(frame: Any, builder: _Builder) -> Iterator[tuple[Any, Any]]:
    """Arrays of columns, and which ones. Many blocks of a column each are added at once."""
    manager = getattr(frame, "_mgr", None)
    blocks = getattr(manager, "blocks", None)
    try:
        if blocks is not None and len(blocks) > _MANY:
            blocks = _without_rows(manager, blocks, builder)
        found = [(block.values, block.mgr_locs.as_array) for block in blocks] if blocks is not None else None
    except AttributeError:
        found = None
    if found is not None:
        yield from found
        return
    # Another manager than the one known: column by column, by public means.
    import numpy as np

    for i in range(frame.shape[1]):
        array = frame.iloc[:, i].array
        if type(array).__name__ in ("NumpyExtensionArray", "PandasArray"):
            array = array.to_numpy().reshape(1, -1)
        yield array, np.array([i])


def _without_rows(manager: Any, blocks: Any, builder: _Builder) -> list[Any]:
    """Adds the blocks that are one row of numbers or booleans; returns the others."""
    import numpy as np

    numbers = manager.blknos
    if type(numbers) is not np.ndarray or len(numbers) != builder.n_columns:
        return list(blocks)
    first = np.empty(len(blocks), np.int64)
    first[numbers] = np.arange(len(numbers))
    rows, which, others = [], [], []
    # By their addresses, of those in the blocks: most are few.
    plain: dict[int, bool] = {}
    for i, block in enumerate(blocks):
        values = block.values
        is_plain = False
        if type(values) is np.ndarray and len(values) == 1:
            dtype = values.dtype
            if id(dtype) not in plain:
                plain[id(dtype)] = dtype.char in _PLAIN and dtype.isnative and dtype.metadata is None
            is_plain = plain[id(dtype)]
        if is_plain:
            rows.append(values)
            which.append(i)
        else:
            others.append(block)
    builder.rows(rows, first[which])
    return others


def add_array(
    builder: _Builder, array: Any, position: Any, name: str, what: str | None = None
) -> tuple[int | None, int | None]:
    """Adds an array of pandas or NumPy. Returns the numbers of the extra column, and of one with kinds of missing."""
    import numpy as np

    if type(array).__name__ in ("NumpyExtensionArray", "PandasArray"):
        array = array.to_numpy()
    if isinstance(array, np.ndarray):
        if array.dtype.kind == "O":
            return _objects.add(builder, array, position, OBJECT, name, what)
        return _add_numpy(builder, array, position, name), None
    add = _ADD.get(type(array).__name__)
    if add is None or type(array).__module__.partition(".")[0] != "pandas":
        raise UnsupportedTypeError(f"column '{name}': dtype {array.dtype} is not supported yet")
    return add(builder, array, position, name), None


def _add_numpy(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    dtype = array.dtype
    if dtype.kind == "V":
        # pandas can't even show them.
        raise UnsupportedTypeError(f"column '{name}': dtype {dtype} is not supported yet")
    if dtype.char == "G" and dtype.isnative:
        return builder.words(_dtypes.as_bytes(array), position, name=name, flavour=CLONGDOUBLE)
    if dtype.isnative or dtype.char == "G":
        return builder.words(array, position, name=name)
    return builder.words(array.astype(dtype.newbyteorder("=")), position, name=name, flavour=BIG)


def _add_masked(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    mask = array._mask
    return builder.words(array._data, position, name=name, flavour=MASKED, missing="NA", mask=mask)


def _add_datetime(builder: _Builder, array: Any, position: Any, name: str) -> int | None:

    zone = getattr(array.dtype, "tz", None)
    if zone is None:
        return builder.words(array._ndarray, position, name=name)
    flavour = _zone_flavour(array.dtype)
    if flavour is None:
        raise UnsupportedTypeError(f"column '{name}': the time zone {zone!r} is not supported yet")
    return builder.words(array._ndarray, position, name=name, zone=str(zone), flavour=flavour)


def _zone_flavour(dtype: Any) -> int | None:
    """The flavour of times with a zone that its name gives back; None for other zones."""
    import pandas as pd

    zone: Any = dtype.tz
    try:
        found: Any = pd.DatetimeTZDtype(dtype.unit, str(zone))
    except (LookupError, OSError, TypeError, ValueError):
        return None
    if type(zone) is zoneinfo.ZoneInfo and type(found.tz) is not zoneinfo.ZoneInfo:
        # pandas has UTC of the standard library's `datetime` for the name; the two are equal in its eyes.
        return ZONEINFO if zone.key == str(zone) else None
    return NUMPY if found == dtype and type(found.tz) is type(zone) else None


def _add_timedelta(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    return builder.words(array._ndarray, position, name=name)


def _add_categorical(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    categories = array.categories
    if type(categories).__name__ == "MultiIndex":
        raise UnsupportedTypeError(f"column '{name}': categories of {categories.dtype} are not supported yet")
    number = builder.values(categories, f"column '{name}'")
    codes = array.codes
    missing = "NaT" if categories.dtype.kind in "mM" else "NaN"
    return builder.words(codes, position, name=name, missing=missing, categories=number, ordered=bool(array.ordered))


def _add_string(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    dtype = array.dtype
    is_str = _is_nan(dtype.na_value)
    missing = "NaN" if is_str else "NA"
    if dtype.storage == "pyarrow":
        flavour = STR_ARROW if is_str else STRING_ARROW
        data = array._pa_array
        return builder.arrow(data, position, name=name, missing=missing, flavour=flavour, only=True)
    flavour = STR_PYTHON if is_str else STRING_PYTHON
    return builder.text(array._ndarray, position, name=name, missing=missing, flavour=flavour)[0]


def _add_arrow(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    data = array._pa_array
    if has_dictionary(data.type):
        data = data.unify_dictionaries()
    if "\0" in str(data.type):
        raise UnsupportedTypeError(f"column '{name}': a time zone with a zero character is not supported")
    return builder.arrow(data, position, name=name, flavour=ARROW)


def _add_period(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    import pandas as pd

    freq = array.freqstr
    found: Any = pd.PeriodDtype(freq)
    if found != array.dtype or not _offsets.same(found.freq, array.dtype.freq):
        raise UnsupportedTypeError(f"column '{name}': dtype {array.dtype} is not supported yet")
    return builder.words(array.asi8, position, name=name, missing="NaT", detail=freq, logical="period")


def _add_interval(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    """Both bounds side by side: they are always read together."""
    import numpy as np

    left, right = (_bounds(bound) for bound in (array.left, array.right))
    subtype = str(array.dtype.subtype)
    if left.dtype.kind not in "iufmM" or not left.dtype.isnative or not _is_subtype(subtype, array.dtype.subtype):
        raise UnsupportedTypeError(f"column '{name}': dtype {array.dtype} is not supported yet")
    pairs = np.empty(len(array), [("left", left.dtype), ("right", right.dtype)])
    pairs["left"], pairs["right"] = left, right
    detail = {"name": "pandas.bounds", "metadata": b"", "subtype": subtype, "closed": array.closed}
    if getattr(array.dtype.subtype, "tz", None) is not None and _zone_flavour(array.dtype.subtype) == ZONEINFO:
        detail["zoneinfo"] = True
    return builder.words(
        _dtypes.as_bytes(pairs), position, name=name, flavour=INTERVAL, detail=detail, logical="extension"
    )


def _bounds(index: Any) -> Any:
    values = index.array
    return getattr(values, "_ndarray", None) if hasattr(values, "_ndarray") else index.to_numpy()


def _is_subtype(name: str, subtype: Any) -> bool:
    from pandas.api.types import pandas_dtype

    if getattr(subtype, "tz", None) is not None:
        return _zone_flavour(subtype) is not None
    try:
        return bool(pandas_dtype(name) == subtype)
    except (TypeError, ValueError, KeyError):
        return False


def _add_sparse(builder: _Builder, array: Any, position: Any, name: str) -> int | None:
    """The values as they would be without gaps: encodings make little of what repeats."""
    import numpy as np

    dense = np.asarray(array.to_dense())
    fill = _dtypes.encode_scalar(array.fill_value, array.dtype.subtype)
    if (
        fill is None
        or array.dtype.subtype.metadata is not None
        or dense.dtype != array.dtype.subtype
        or dense.dtype.kind not in "biufcmM"
    ):
        raise UnsupportedTypeError(f"column '{name}': dtype {array.dtype} is not supported yet")
    if not isinstance(array.fill_value, np.generic) and dense.dtype.kind not in "mM":
        fill["python"] = type(array.fill_value).__name__
    detail = {"fill": fill, "kind": array.kind}
    return builder.words(dense, position, name=name, flavour=SPARSE, detail=detail)


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
