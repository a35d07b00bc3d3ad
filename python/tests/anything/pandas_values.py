"""Any frames of pandas: arrays of all dtypes, indexes of all classes, labels and names of any kind."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

from .arrow_arrays import arrays as arrow_arrays
from .cells import CELL, HASHABLE, I64, NAME, TEXT, ZONES
from .numpy_arrays import WORDS, bits

UNITS = st.sampled_from(["s", "ms", "us", "ns"])
FREQUENCIES = ["D", "h", "15min", "W-TUE", "MS", "QE", "YS", "2D", "B"]
_KINDS = [
    *("numpy", "bool", "long", "masked", "boolean", "text", "times", "zoned", "object", "texts", "category"),
    *("period", "interval", "sparse", "arrow"),
]


def _mask(draw: Any, n: int) -> Any:
    return np.array([draw(st.booleans()) for _ in range(n)], "?")


def _text(draw: Any, n: int) -> Any:
    dtype = draw(
        st.sampled_from(["str", "string[pyarrow]", "string[python]", pd.StringDtype("python", na_value=np.nan)])
    )
    return pd.array([draw(st.none() | TEXT) for _ in range(n)], dtype=dtype)


def _interval(draw: Any, n: int) -> Any:
    left = np.array([draw(st.integers(-(10**9), 10**9)) for _ in range(n)], "i8")
    width = draw(st.integers(0, 100))
    closed = draw(st.sampled_from(["left", "right", "both", "neither"]))
    kind = draw(st.sampled_from(["i8", "f8", "M8[ns]", "m8[s]"]))
    bounds = left.astype("f8") if kind == "f8" else left.view(kind)
    others = (left + width).astype("f8") if kind == "f8" else (left + width).view(kind)
    if kind == "f8":
        mask = _mask(draw, n)
        bounds[mask] = others[mask] = np.nan
    return pd.arrays.IntervalArray.from_arrays(bounds, others, closed)


def _categorical(draw: Any, n: int) -> Any:
    k = draw(st.integers(0, 4))
    categories = draw(_unique(k))
    codes = [draw(st.integers(-1, len(categories) - 1)) for _ in range(n)]
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(categories, draw(st.booleans())))


@st.composite
def _unique(draw: Any, n: int) -> Any:
    """An index of different labels, none of them missing."""
    kind = draw(st.sampled_from(["ints", "texts", "floats", "times", "range", "objects", "tuples"]))
    name = draw(NAME)
    if kind == "range":
        start, step = draw(st.integers(-9, 9)), draw(st.integers(1, 5))
        return pd.RangeIndex(start, start + n * step, step, name=name)
    strategy = {
        "ints": I64,
        "texts": TEXT,
        "floats": st.floats(allow_nan=False).filter(lambda x: x != 0),
        "times": I64.filter(lambda x: x != -(1 << 63)),
        "objects": st.one_of(TEXT, st.integers(2, 99), st.binary(max_size=3)),
        "tuples": st.tuples(TEXT, st.integers()),
    }[kind]
    labels = draw(st.lists(strategy, min_size=n, max_size=n, unique=True))
    if kind == "times":
        return pd.DatetimeIndex(np.array(labels, "i8").view("M8[us]"), name=name)
    if kind in ("objects", "tuples"):
        return _object_index(labels, name)
    return pd.Index(labels, dtype={"ints": "i8", "texts": "str", "floats": "f8"}[kind], name=name)


def _object_index(labels: list[Any], name: Any) -> Any:
    array = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):
        array[i] = label
    return pd.Index(array, dtype=object, name=name, tupleize_cols=False)


@st.composite
def arrays(draw: Any, n: int, kinds: Any = tuple(_KINDS)) -> Any:
    """An array of `n` values of any dtype."""
    kind = draw(st.sampled_from(kinds))
    if kind == "numpy":
        return draw(bits(draw(st.sampled_from("<<>")) + draw(st.sampled_from(WORDS)), n))
    if kind in ("bool", "boolean"):
        values = np.array([draw(st.booleans()) for _ in range(n)], "?")
        return values if kind == "bool" else pd.arrays.BooleanArray(values, _mask(draw, n))
    if kind == "long":
        return draw(bits("f8", n)).astype(draw(st.sampled_from("gG")))
    if kind == "masked":
        dtype = draw(st.sampled_from([word for word in WORDS if word[0] in "iuf" and word != "f2"]))
        make: Any = pd.arrays.FloatingArray if dtype[0] == "f" else pd.arrays.IntegerArray
        return make(draw(bits(dtype, n)), _mask(draw, n))
    if kind == "text":
        return _text(draw, n)
    if kind in ("times", "zoned"):
        times = draw(bits(f"{draw(st.sampled_from('mM') if kind == 'times' else st.just('M'))}8[{draw(UNITS)}]", n))
        if kind == "times":
            return times
        # Times that are years away from the ends can be shown in any zone.
        times = np.array([draw(st.integers(-(10**9), 10**9)) for _ in range(n)], "i8").view(times.dtype)
        return pd.Series(times).dt.tz_localize("UTC").dt.tz_convert(draw(ZONES)).array
    if kind in ("object", "texts"):
        cells = CELL if kind == "object" else st.one_of(TEXT, st.sampled_from([None, np.nan, pd.NA, pd.NaT]))
        array = np.empty(n, dtype=object)
        for i in range(n):
            array[i] = draw(cells)
        return array
    if kind == "category":
        return _categorical(draw, n)
    if kind == "period":
        freq = draw(st.sampled_from(["D", "M", "Q-NOV", "2h", "Y", "W-MON"]))
        ordinals = [draw(st.just(-(1 << 63)) | st.integers(-(10**5), 10**5)) for _ in range(n)]
        return pd.arrays.PeriodArray(np.array(ordinals, "i8"), dtype=pd.PeriodDtype(freq))
    if kind == "interval":
        return _interval(draw, n)
    if kind == "sparse":
        dtype = draw(st.sampled_from(["i8", "f8", "i2"]))
        fill = draw(st.sampled_from([0, 1, np.dtype(dtype).type(1)]))
        values = [draw(st.sampled_from([0, 1, 2])) for _ in range(n)]
        how = draw(st.sampled_from(["integer", "block"]))
        return pd.arrays.SparseArray(np.array(values, dtype), fill_value=fill, kind=how)
    array = draw(arrow_arrays(n).filter(lambda array: not _is_strange(array.type)))
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))


def _is_strange(kind: Any) -> bool:
    """Whether pandas can't look at arrays of a type."""
    return "union" in str(kind) or "run_end" in str(kind)


_OF_LABELS = [kind for kind in _KINDS if kind not in ("sparse", "long", "object", "arrow")]


@st.composite
def indexes(draw: Any, n: int) -> Any:
    """An index of `n` labels, of any class."""
    kind = draw(st.sampled_from(["range", "array", "array", "objects", "freq", "multi"]))
    name = draw(NAME)
    if kind == "range":
        start, step = draw(st.integers(-9, 9)), draw(st.sampled_from([-3, -1, 1, 2]))
        return pd.RangeIndex(start, start + n * step, step, name=name)
    if kind == "freq":
        freq = draw(st.sampled_from(FREQUENCIES))
        zone = draw(st.none() | ZONES)
        return pd.date_range("2020-01-03", periods=n, freq=freq, tz=zone, name=name, unit=draw(UNITS))
    if kind == "objects":
        return _object_index([draw(HASHABLE | st.tuples(HASHABLE, TEXT)) for _ in range(n)], name)
    if kind == "array":
        array = draw(arrays(n, tuple(_OF_LABELS)))
        dtype = array.dtype
        if isinstance(dtype, np.dtype) and (dtype.str[1:] == "f2" or not dtype.isnative):
            # pandas lacks such indexes, or cannot search them.
            array = array.astype(dtype.newbyteorder("=") if dtype.str[1:] != "f2" else "f4")
        return pd.Index(array, dtype=array.dtype, name=name, tupleize_cols=False)
    levels, codes, names = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        level = draw(_unique(draw(st.integers(1, 3)))).rename(None)
        levels.append(level)
        codes.append([draw(st.integers(-1, len(level) - 1)) for _ in range(n)])
        names.append(draw(NAME))
    return pd.MultiIndex(levels=levels, codes=codes, names=names)


@st.composite
def frames(draw: Any) -> Any:
    """A frame with any columns, labels, attrs and flags."""
    n, k = draw(st.integers(0, 5)), draw(st.integers(0, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = [pd.Series(draw(arrays(n)), copy=False) for _ in range(k)]
        frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(n))
        frame.index, frame.columns = draw(indexes(n)), draw(indexes(k))
    frame.attrs = draw(st.dictionaries(TEXT, CELL, max_size=2))
    if frame.index.is_unique and frame.columns.is_unique:
        frame.flags.allows_duplicate_labels = draw(st.booleans())
    return frame


@st.composite
def series(draw: Any) -> Any:
    """A series of any dtype, labels and name."""
    n = draw(st.integers(0, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.Series(draw(arrays(n)), index=draw(indexes(n)), name=draw(NAME), copy=False)
