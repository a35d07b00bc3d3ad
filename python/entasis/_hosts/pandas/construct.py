"""Objects of pandas from parts that are known to be right, without the checks that its constructors make.

Each has the public way beside it, which is taken where the inside of pandas is not the one known: an object made the
public way has to consist of the same parts. For a small frame the constructors would take more time than all else.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

# The labels of an index that gets a table before one is looked up.
_LEAST, _MOST = 1 << 10, 1 << 17


def strings(values: Any, na_value: Any) -> Any:
    """An array of strings, kept by pyarrow, around a pyarrow array; NaN or NA stand for missing ones."""
    pa, large_string = _arrow()
    chunked = pa.chunked_array((values,))
    make = _maker(na_value)
    if make is None or values.type != large_string:
        return _strings(chunked, string_dtype("pyarrow", na_value))
    return make(chunked)


@cache
def _arrow() -> tuple[Any, Any]:
    """pyarrow, and its type of strings with large offsets."""
    import pyarrow as pa

    return pa, pa.large_string()


def _strings(values: Any, dtype: Any) -> Any:
    import pandas as pd

    array_type: Any = pd.arrays.ArrowStringArray
    return array_type(values, dtype=dtype)


@cache
def _maker(na_value: Any) -> Any:
    """Makes arrays of strings around chunked arrays of `large_string`, as operations on strings do."""
    import pyarrow as pa

    dtype = string_dtype("pyarrow", na_value)
    sample = _strings(pa.chunked_array([pa.array(["a"], pa.large_string())]), dtype)
    make = getattr(sample, "_from_pyarrow_array", None)
    if make is None:
        return None
    made = make(sample._pa_array)
    if type(made) is not type(sample) or made.dtype != sample.dtype:
        return None
    array_type: Any = type(sample)
    parts = {"_pa_array": made._pa_array, "_dtype": made._dtype}
    if not all(vars(array) in (parts, parts | {"_cache": {}}) for array in (sample, made)):
        return make
    more = vars(made).keys() - parts.keys()

    def plain(values: Any) -> Any:
        array = array_type.__new__(array_type)
        array._pa_array, array._dtype = values, dtype
        if more:
            array._cache = {}
        return array

    return plain


def string_index(array: Any, name: Any) -> Any:
    """An index of an array of strings."""
    import pandas as pd

    if not _index_is_known():
        return pd.Index(array, dtype=array.dtype, name=name, copy=False)
    make: Any = pd.Index._simple_new  # type: ignore[attr-defined]
    return make(array, name=name)


def ready(index: Any, n_values: int, *, are_strings: bool = False) -> None:
    """Make the table by which pandas finds a label, which it otherwise makes for the first label that it looks up.

    For indexes of integers or strings (objects if `are_strings`) that are neither short nor, beside the values of their
    frame, long: these take more time to read than the table takes to make.
    """
    import numpy as np
    import pandas as pd

    if type(index) is not pd.Index or not _LEAST <= len(index) <= _MOST:
        return
    dtype: Any = index.dtype
    is_plain = isinstance(dtype, np.dtype) and dtype.isnative
    if type(dtype) is pd.StringDtype:
        cost = 256
    elif is_plain and (dtype.kind == "i" or (dtype.kind == "O" and are_strings)):
        cost = 64
    else:
        return
    if n_values >= cost * len(index):
        # Whatever pandas has against an index it tells who looks a label up.
        with suppress(Exception):
            index.get_loc(index[0])


def index(array: Any, name: Any) -> Any:
    """An index of an array's values, in its dtype."""
    import pandas as pd

    make = _index_maker(array.dtype) if type(array).__name__ == "ndarray" else None
    return pd.Index(array, dtype=array.dtype, name=name, copy=False) if make is None else make(array, name=name)


def set_freq(index: Any, freq: Any) -> None:
    """Sets the frequency of an index of times, also where pandas infers another one from the labels."""
    try:
        index.freq = freq
        return
    except ValueError:
        # It checks what a user sets. Its own slices, and `date_range` with an offset, have frequencies that don't pass.
        pass
    for holder in (index, index._data):
        # The frequency is the index's, and was the array's before pandas 3.1.
        if hasattr(holder, "_freq"):
            holder._freq = freq
            return


@lru_cache(64)
def _index_maker(dtype: Any) -> Any:
    """Makes indexes of arrays of NumPy; None where pandas has to be left to it."""
    import numpy as np
    import pandas as pd

    # Of others pandas makes something else, or nothing.
    if dtype.kind not in "biuO" and dtype not in (np.float32, np.float64):
        return None
    sample: Any = np.zeros(1, dtype)
    public = pd.Index(sample, dtype=dtype, name="n", copy=False)
    make = getattr(pd.Index, "_simple_new", None)
    if make is None or type(public) is not pd.Index or public._data is not sample:  # type: ignore[attr-defined]
        return None
    made = make(sample, name="n")
    is_same = type(made) is pd.Index and vars(made).keys() == vars(public).keys() and made.equals(public)
    return make if is_same and made._data is sample and made.dtype == public.dtype else None


def times(values: Any) -> Any:
    """An array of times or time spans around one of NumPy, in a unit of pandas and without a zone."""
    make = _times_maker(values.dtype.kind)
    return values if make is None else make(values, dtype=values.dtype)


@cache
def _times_maker(kind: str) -> Any:
    """Makes arrays of times; None where pandas has to be left to it."""
    import numpy as np
    import pandas as pd

    array_type: Any = pd.arrays.DatetimeArray if kind == "M" else pd.arrays.TimedeltaArray
    make = getattr(array_type, "_simple_new", None)
    if make is None:
        return None
    values = np.zeros((1, 1), f"{kind}8[us]")
    block = pd.DataFrame(values)._mgr.blocks[0].values
    made = make(values, dtype=values.dtype)
    # What was asked of an array before is kept in it.
    parts = [set(vars(array)) - {"_cache"} for array in (made, block)]
    return make if type(made) is type(block) and parts[0] == parts[1] and made.dtype == block.dtype else None


@cache
def _index_is_known() -> bool:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    make = getattr(pd.Index, "_simple_new", None)
    if make is None:
        return False
    array = strings(pa.array(["a"], pa.large_string()), np.nan)
    public, quick = pd.Index(array, dtype=array.dtype, name="n"), make(array, name="n")
    return type(public) is type(quick) and set(vars(public)) == set(vars(quick)) and public.equals(quick)


def category_dtype(categories: Any, ordered: bool) -> Any:
    """The dtype of a categorical. The categories are distinct and none is missing."""
    import pandas as pd

    kind: Any = type(categories)
    if _category_parts(kind):
        dtype: Any = pd.CategoricalDtype.__new__(pd.CategoricalDtype)
        dtype._categories, dtype._ordered = categories, ordered
        return dtype
    make = getattr(pd.CategoricalDtype, "_from_fastpath", None)
    return pd.CategoricalDtype(categories, ordered) if make is None else make(categories, ordered)


@cache
def _category_parts(index_type: Any) -> bool:
    """Whether a dtype of categorical has two parts, and categories of this class of indexes are one as they are."""
    import pandas as pd

    if index_type is not pd.Index:
        return False
    index = pd.Index(["a", "b"])
    dtype: Any = pd.CategoricalDtype(index, True)
    return dtype.categories is index and dtype.ordered is True and vars(dtype).keys() == {"_categories", "_ordered"}


def categorical(codes: Any, dtype: Any) -> Any:
    """A categorical of these codes, which were checked, and this dtype."""
    import pandas as pd

    make = _categorical_maker()
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False) if make is None else make(codes, dtype=dtype)


@cache
def _categorical_maker() -> Any:
    """Makes categoricals; None where pandas has to be left to it."""
    import numpy as np
    import pandas as pd

    make = getattr(pd.Categorical, "_simple_new", None)
    if make is None:
        return None
    codes, dtype = np.zeros(1, np.int8), pd.CategoricalDtype(["a"])
    public, made = pd.Categorical.from_codes(codes, dtype=dtype, validate=False), make(codes, dtype=dtype)
    same = type(public) is type(made) and vars(public).keys() == vars(made).keys() and public.dtype == made.dtype
    return make if same and made.codes.dtype == public.codes.dtype else None


def frame(blocks: list[tuple[Any, Any]], index: Any, columns: Any) -> Any:
    """A frame of blocks and their positions: one, or an array of them. None where pandas has no function for that."""
    public = _public_frame()
    if public is None:
        return None
    parts = _frame_parts()
    if parts is None:
        return public(blocks, index=index, columns=columns)
    manager, placement, make = parts
    n_rows, n_columns, made = len(index), 0, []
    for values, positions in blocks:
        key = (type(values), type(values.dtype), values.ndim)
        if key not in _block_types:
            _block_types[key] = _block_type(values)
        kind = _block_types[key]
        if kind is None or (values.shape[1] if values.ndim == 2 else len(values)) != n_rows:
            return public(blocks, index=index, columns=columns)
        if type(positions) is not int:
            n_columns += len(positions) - 1
            # One is a place that pandas looks at no further.
            positions = int(positions[0]) if len(positions) == 1 else positions
        n_columns += 1
        made.append(kind(values, ndim=2, placement=placement(positions)))
    if n_columns != len(columns):
        return public(blocks, index=index, columns=columns)
    axes = [columns, index]
    return make(manager(made, axes, verify_integrity=False), axes)


# Classes of blocks by those of arrays and dtypes and the number of axes; None where pandas makes something of an array.
_block_types: dict[tuple[Any, Any, int], Any] = {}


def _block_type(values: Any) -> Any:
    """The class of the block that pandas puts an array in; None when it does not put it in as it is."""
    import numpy as np
    import pandas as pd

    public = _public_frame()
    n = len(values) if values.ndim == 2 else 1
    found = public([(values, np.arange(n))], index=pd.RangeIndex(values.shape[-1]), columns=pd.RangeIndex(n))
    (block,) = found._mgr.blocks
    return type(block) if block.values is values else None


@cache
def _public_frame() -> Any:
    """Makes frames of blocks; None for versions of pandas that have no such function."""
    try:
        from pandas.api.internals import create_dataframe_from_blocks
    except ImportError:
        return None
    return create_dataframe_from_blocks


@cache
def _frame_parts() -> Any:
    """What makes a manager, the place of a block and a frame; None where pandas has to be left to it."""
    import numpy as np
    import pandas as pd

    blocks = [(np.zeros((1, 2)), np.array([1])), (np.zeros((1, 2), np.int8), np.array([0]))]
    axes = [pd.Index(["a", "b"]), pd.RangeIndex(2)]
    public = _public_frame()(blocks, index=axes[1], columns=axes[0])
    try:
        from pandas._libs.internals import BlockPlacement

        manager, make = type(public._mgr), pd.DataFrame._from_mgr  # type: ignore[attr-defined]
        own = [
            type(block)(values, ndim=2, placement=BlockPlacement(positions))
            for block, (values, positions) in zip(public._mgr.blocks, blocks, strict=True)
        ]
        made = make(manager(own, axes, verify_integrity=False), axes)
        is_same = vars(made).keys() == vars(public).keys() and type(made) is pd.DataFrame and made.equals(public)
    except (AttributeError, ImportError, TypeError, ValueError):
        return None
    return (manager, BlockPlacement, make) if is_same else None


@cache
def string_dtype(storage: str, na_value: Any) -> Any:
    """The dtype of strings of a storage, with NaN or NA for missing ones."""
    import pandas as pd

    try:
        return pd.StringDtype(storage, na_value=na_value)
    except TypeError:
        return pd.StringDtype(storage)
