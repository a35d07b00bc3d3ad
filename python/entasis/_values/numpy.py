"""Codecs of NumPy: arrays, masked arrays, records, scalars and dtypes."""

from __future__ import annotations

from typing import Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._columns.numpy_compat import fill_value
from entasis.errors import UnsupportedTypeError

from . import structured as _structured
from .parts import UNSUPPORTED, object_parts


def encode(value: Any) -> tuple[Any, ...]:
    import numpy as np

    if type(value) is np.memmap:
        # A memory map is written as its values. The mapped file is not recorded.
        return encode(np.asarray(value))
    if type(value) in (np.ndarray, np.recarray) and not _is_bytes(value.dtype):
        return object_parts("numpy.fields", *_structured.encode(value))
    if type(value) is np.ndarray:
        _dtypes.check_size(value)
        if value.dtype.metadata is not None and value.dtype.names is None:
            return object_parts(
                "numpy.metadata", value.view(_dtype_metadata.plain(value.dtype)), dict(value.dtype.metadata)
            )
        if value.dtype.kind == "O":
            if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
                return object_parts("numpy.fortran", value.T)
            return ("objects", value.ravel().tolist(), value.shape)
        fortran = bool(value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous)
        return ("array", value.T.reshape(-1) if fortran else value.reshape(-1), value.shape, fortran)
    if type(value) is np.ma.MaskedArray:
        mask = None if value.mask is np.ma.nomask else np.asarray(value.mask)
        return object_parts("numpy.ma", np.asarray(value.data), mask, _fill_value(value), bool(value.hardmask))
    if value is np.ma.masked:
        return object_parts("numpy.masked")
    if isinstance(value, np.void) and value.dtype.names is not None:
        if not _is_bytes(value.dtype):
            return object_parts("numpy.item", np.asarray(value).reshape(1))
        return object_parts("numpy.void", _dtypes.encode(value.dtype, "the record"), value.tobytes())
    if isinstance(value, np.generic) and type(value) is value.dtype.type and value.dtype.kind in "biufcmMV":
        return object_parts("numpy.scalar", value.dtype.str, value.tobytes())
    if isinstance(value, np.dtype) and value.metadata is not None and value.names is None and value.subdtype is None:
        return object_parts("numpy.metadata", _dtype_metadata.plain(value), dict(value.metadata))
    if isinstance(value, np.dtype) and not _is_bytes(value):
        return object_parts("numpy.dtype", np.ndarray(0, value))
    if isinstance(value, np.dtype):
        return object_parts("numpy.dtype", value.str if value.kind == "O" else _dtypes.encode(value, "the dtype"))
    return UNSUPPORTED


def _fill_value(array: Any) -> Any:
    """The fill value of a masked array, as an array without axes; None if it was never set."""
    import numpy as np

    found = fill_value(array)
    if found is None:
        return None
    fill, default = np.asarray(found), np.asarray(np.ma.MaskedArray([], dtype=array.dtype).fill_value)
    if fill.dtype == default.dtype and fill.tobytes() == default.tobytes():
        # NumPy creates the default lazily, in a dtype that may differ from the array's. Setting the
        # default would convert it to the array's dtype.
        return None
    if fill.dtype != array.dtype and not array.dtype.hasobject:
        raise UnsupportedTypeError(f"a masked array of {array.dtype} with a fill value of {fill.dtype} can't be kept")
    return fill


def _is_bytes(dtype: Any) -> bool:
    """Whether bytes determine the values. True for all dtypes without fields."""
    return dtype.names is None or _structured.is_plain(dtype)


def _scalar(dtype: str, memory: bytes) -> Any:
    import numpy as np

    found = np.dtype(dtype)
    if found.kind not in "biufcmMV" or found.itemsize != len(memory):
        raise ValueError(f"a scalar of dtype {dtype!r} in {len(memory)} bytes")
    return np.frombuffer(memory, found)[0] if memory else found.type()


def _void(description: Any, memory: bytes) -> Any:
    import numpy as np

    # A copy, so that the record is writable.
    return np.frombuffer(memory, _dtypes.decode(description, len(memory))).copy()[0]


def _dtype(description: Any) -> Any:
    import numpy as np

    if isinstance(description, np.ndarray):
        if description.dtype.names is None:
            raise TypeError("a dtype without fields has a description")
        return description.dtype
    if type(description) is str and description == "|O":
        return np.dtype("O")
    return _dtypes.decode(description, None)


def _item(array: Any) -> Any:
    import numpy as np

    if not isinstance(array, np.ndarray) or array.shape != (1,) or array.dtype.names is None:
        raise TypeError("a record is in an array of one")
    return array[0]


def _masked(data: Any, mask: Any, fill: Any, hard: bool) -> Any:
    import numpy as np

    found = np.ma.MaskedArray(data, np.ma.nomask if mask is None else mask, hard_mask=hard)
    if fill is not None:
        found.fill_value = fill[()]
    return found


def _fortran(array: Any) -> Any:
    import numpy as np

    if type(array) is not np.ndarray or array.dtype.kind != "O" or array.ndim < 2:
        raise TypeError("what is transposed is an array of objects of two axes and more")
    return array.T


def _nothing() -> Any:
    import numpy as np

    return np.ma.masked


DECODE = {
    "numpy.dtype": _dtype,
    "numpy.fields": _structured.decode,
    "numpy.fortran": _fortran,
    "numpy.item": _item,
    "numpy.ma": _masked,
    "numpy.masked": _nothing,
    "numpy.metadata": _dtype_metadata.restore,
    "numpy.scalar": _scalar,
    "numpy.void": _void,
}
