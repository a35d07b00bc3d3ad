"""The private names of pandas that this package uses, each with a public way.

Public constructors check their arguments, which dominates the time to read a small frame. Each
private way is first tried on a sample, and used only if the result has the same parts as the public
way's. Versions of pandas with other internals get the public way. `ENTASIS_PUBLIC_ONLY=1` forces
the public ways.
"""

from __future__ import annotations

import contextlib
import warnings
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from entasis._public_only import PUBLIC_ONLY

if TYPE_CHECKING:
    from collections.abc import Callable

    _Probe = TypeVar("_Probe", bound=Callable[..., Any])

# All private names are looked up by this function, so that a test can remove one.
_private = getattr
# Errors for a name or an argument that a version of pandas lacks.
_LACKS = (AttributeError, ImportError, TypeError, ValueError)


def _probe(probe: _Probe) -> _Probe:
    """Cache a probe for a private way.

    It returns None if it fails, or if only public ways are wanted.
    """

    @wraps(probe)
    def found(*key: Any) -> Any:
        if PUBLIC_ONLY:
            return None
        try:
            return probe(*key)
        except _LACKS:
            return None

    return lru_cache(64)(found)  # type: ignore[return-value]


def _parts(value: Any) -> set[str]:
    """The names of an object's attributes, without the cache of its properties."""
    return set(vars(value)) - {"_cache"}


# Indexes


def index(array: Any, name: Any) -> Any:
    """An index of the values of a NumPy array, in its dtype."""
    import pandas as pd

    make = _index_maker(array.dtype) if type(array).__name__ == "ndarray" else None
    return pd.Index(array, dtype=array.dtype, name=name, copy=False) if make is None else make(array, name=name)


@_probe
def _index_maker(dtype: Any) -> Any:
    import numpy as np
    import pandas as pd

    # pandas converts values of other dtypes, or refuses them.
    if dtype.kind not in "biuO" and dtype not in (np.float32, np.float64):
        return None
    make = _private(pd.Index, "_simple_new")
    sample: Any = np.zeros(1, dtype)
    public, made = pd.Index(sample, dtype=dtype, name="n", copy=False), make(sample, name="n")
    is_same = type(made) is type(public) is pd.Index and _parts(made) == _parts(public) and made.equals(public)
    keeps = _private(public, "_data") is sample and _private(made, "_data") is sample
    return make if is_same and keeps and made.dtype == public.dtype else None


def string_index(array: Any, name: Any) -> Any:
    """An index of an array of strings that pyarrow stores."""
    import pandas as pd

    make = _string_index_maker()
    return pd.Index(array, dtype=array.dtype, name=name, copy=False) if make is None else make(array, name=name)


@_probe
def _string_index_maker() -> Any:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    make = _private(pd.Index, "_simple_new")
    array = string_maker(np.nan)(pa.array(["a"], pa.large_string()))
    public, made = pd.Index(array, dtype=array.dtype, name="n"), make(array, name="n")
    return make if type(public) is type(made) and _parts(public) == _parts(made) and public.equals(made) else None


def set_freq(index: Any, freq: Any) -> None:
    """Set the frequency of an index of times.

    pandas refuses a frequency that the labels do not show, although `date_range` and slices return
    such indexes. Without the private way the index gets no frequency, and a warning reports it.
    """
    try:
        index.freq = freq
        return
    except ValueError:
        pass
    if not PUBLIC_ONLY:
        # The frequency is an attribute of the index, and of its array before pandas 3.1.
        for holder in (index, index.array):
            with contextlib.suppress(AttributeError):
                _private(holder, "_freq")
                holder._freq = freq
                return
    warnings.warn(f"pandas does not accept the frequency {freq!r} for its index: it is left out", stacklevel=2)


# Arrays


def string_maker(na_value: Any) -> Callable[[Any], Any]:
    """Make arrays of strings around pyarrow arrays of `large_string`. `na_value` is NaN or NA."""
    import pandas as pd
    import pyarrow as pa

    array_type: Any = pd.arrays.ArrowStringArray
    dtype = string_dtype("pyarrow", na_value)
    chunked_array = pa.chunked_array

    def make(values: Any) -> Any:
        chunked = chunked_array((values,))
        try:
            return array_type(chunked, dtype=dtype)
        except TypeError:
            # The constructor has no dtype before pandas 3.
            return pd.array(chunked, dtype=dtype)

    return make


@cache
def string_dtype(storage: str, na_value: Any) -> Any:
    """The dtype of strings of a storage. `na_value` is NaN or NA."""
    import pandas as pd

    try:
        return pd.StringDtype(storage, na_value=na_value)
    except TypeError:
        return pd.StringDtype(storage)


def times(values: Any, zone: Any = None) -> Any:
    """An array of times or time spans around a NumPy array of one or two axes, in a unit of pandas.

    For times without a zone, the public way returns the NumPy array, which pandas accepts as well.
    """
    import pandas as pd

    make = _times_maker(values.dtype.kind)
    if zone is None:
        return values if make is None else make(values, dtype=values.dtype)
    import numpy as np

    unit: Any = np.datetime_data(values.dtype)[0]
    if make is not None:
        return make(values, dtype=pd.DatetimeTZDtype(unit, zone))
    labels = pd.DatetimeIndex(values.reshape(-1)).tz_localize("UTC").tz_convert(zone)
    found: Any = labels.array
    return found.reshape(values.shape)


@_probe
def _times_maker(kind: str) -> Any:
    import numpy as np
    import pandas as pd

    array_type: Any = pd.arrays.DatetimeArray if kind == "M" else pd.arrays.TimedeltaArray
    make = _private(array_type, "_simple_new")
    values = np.zeros((1, 1), f"{kind}8[us]")
    block = _private(pd.DataFrame(values), "_mgr").blocks[0].values
    made = make(values, dtype=values.dtype)
    is_same = type(made) is type(block) and _parts(made) == _parts(block) and made.dtype == block.dtype
    return make if is_same else None


def masked(array: Any) -> tuple[Any, Any]:
    """The values and the mask of a masked array. Masked values are unspecified."""
    if not PUBLIC_ONLY:
        try:
            return _private(array, "_data"), _private(array, "_mask")
        except AttributeError:
            pass
    # Any value of the dtype can replace missing values.
    dtype = array.dtype.numpy_dtype
    return array.to_numpy(dtype=dtype, na_value=dtype.type(0)), array.isna()


def plain_times(array: Any) -> Any:
    """Times or time spans as a NumPy array, without a copy.

    Times with a zone become instants in UTC.
    """
    if not PUBLIC_ONLY:
        try:
            return _private(array, "_ndarray")
        except AttributeError:
            pass
    import numpy as np

    dtype = array.dtype
    return np.asarray(array, dtype=dtype if isinstance(dtype, np.dtype) else f"M8[{dtype.unit}]")


# Categoricals


def category_dtype(categories: Any, ordered: bool) -> Any:
    """The dtype of a categorical. The caller ensures that categories are distinct and present."""
    import pandas as pd

    make = _category_dtype_maker()
    return pd.CategoricalDtype(categories, ordered) if make is None else make(categories, ordered)


@_probe
def _category_dtype_maker() -> Any:
    import pandas as pd

    make = _private(pd.CategoricalDtype, "_from_fastpath")
    categories = pd.Index(["a", "b"])
    made, public = make(categories, True), pd.CategoricalDtype(categories, True)
    return make if _parts(made) == _parts(public) and made == public and made.categories is categories else None


def categorical(codes: Any, dtype: Any) -> Any:
    """A categorical. The caller ensures that all codes are in range."""
    import pandas as pd

    make = _categorical_maker()
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False) if make is None else make(codes, dtype=dtype)


@_probe
def _categorical_maker() -> Any:
    import numpy as np
    import pandas as pd

    make = _private(pd.Categorical, "_simple_new")
    codes, dtype = np.zeros(1, np.int8), pd.CategoricalDtype(["a"])
    public, made = pd.Categorical.from_codes(codes, dtype=dtype, validate=False), make(codes, dtype=dtype)
    is_same = type(public) is type(made) and _parts(public) == _parts(made) and public.dtype == made.dtype
    return make if is_same and made.codes.dtype == public.codes.dtype else None


# Frames


def frame(blocks: list[tuple[Any, Any]], index: Any, columns: Any) -> Any:
    """A frame of blocks, each with a position or an array of positions. None before pandas 3."""
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
            # An integer is the cheapest form of a single position.
            positions = int(positions[0]) if len(positions) == 1 else positions
        n_columns += 1
        made.append(kind(values, ndim=2, placement=placement(positions)))
    if n_columns != len(columns):
        return public(blocks, index=index, columns=columns)
    axes = [columns, index]
    return make(manager(made, axes, verify_integrity=False), axes)


# Classes of blocks, by class of array, class of dtype and number of axes. None if pandas would
# convert the array.
_block_types: dict[tuple[Any, Any, int], Any] = {}


def _block_type(values: Any) -> Any:
    """The class of the block that pandas makes for an array. None if pandas converts the array."""
    import numpy as np
    import pandas as pd

    n = len(values) if values.ndim == 2 else 1
    axes: dict[str, Any] = {"index": pd.RangeIndex(values.shape[-1]), "columns": pd.RangeIndex(n)}
    (block,) = _private(_public_frame()([(values, np.arange(n))], **axes), "_mgr").blocks
    return type(block) if block.values is values else None


@cache
def _public_frame() -> Any:
    """The function of pandas 3 that makes a frame of blocks; None before."""
    try:
        from pandas.api.internals import create_dataframe_from_blocks
    except ImportError:
        return None
    return create_dataframe_from_blocks


@_probe
def _frame_parts() -> Any:
    """The class of a manager, the class of a block's position, and a maker of frames."""
    import numpy as np
    import pandas as pd
    from pandas._libs.internals import BlockPlacement

    blocks = [(np.zeros((1, 2)), np.array([1])), (np.zeros((1, 2), np.int8), np.array([0]))]
    axes = [pd.Index(["a", "b"]), pd.RangeIndex(2)]
    public = _public_frame()(blocks, index=axes[1], columns=axes[0])
    of_public = _private(public, "_mgr")
    manager, make = type(of_public), _private(pd.DataFrame, "_from_mgr")
    own = [
        type(block)(values, ndim=2, placement=BlockPlacement(positions))
        for block, (values, positions) in zip(of_public.blocks, blocks, strict=True)
    ]
    made = make(manager(own, axes, verify_integrity=False), axes)
    is_same = vars(made).keys() == vars(public).keys() and type(made) is pd.DataFrame and made.equals(public)
    return (manager, BlockPlacement, make) if is_same else None


def blocks(frame: Any, many: int, select: Callable[[list[Any], Any], list[int]]) -> list[tuple[Any, Any]] | None:
    """The blocks of a frame: arrays, and the columns in each.

    An array has one axis for a column, or two axes with a row for each column.

    Parameters
    ----------
    many, select
        If there are more than `many` blocks, `select` picks some. It gets the arrays and the
        number of each column's block, and returns the numbers of blocks.

    Returns
    -------
    list or None
        None where only public ways are wanted, or pandas has no such blocks.
    """
    if PUBLIC_ONLY:
        return None
    try:
        manager = _private(frame, "_mgr")
        found = manager.blocks
        if len(found) <= many:
            return [(block.values, block.mgr_locs.as_array) for block in found]
        arrays, numbers = [block.values for block in found], manager.blknos
        found[0].mgr_locs.as_array  # noqa: B018
    except AttributeError:
        return None
    return [(arrays[number], found[number].mgr_locs.as_array) for number in select(arrays, numbers)]
