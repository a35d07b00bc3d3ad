"""Arrays and scalars of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .different import LAYOUT, Different, equal, same_type, shown


def check(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`."""
    if isinstance(a, np.ma.MaskedArray):
        _check_masked(a, b, path)
    elif isinstance(a, np.ndarray):
        check_array(a, b, path)
    elif isinstance(a, np.generic):
        equal(repr(a.dtype), repr(b.dtype), f"{path}: dtype")
        equal(memory(np.array(a)), memory(np.array(b)), path)
    else:
        same_dtype(a, b, path) if isinstance(a, np.dtype) else equal(repr(a), repr(b), path)


def same_dtype(a: Any, b: Any, path: str) -> None:
    """Two dtypes are equal, including byte order and the layout of fields."""
    is_same = a == b and a.byteorder == b.byteorder and a.isalignedstruct == b.isalignedstruct
    if not is_same or (a.metadata or {}) != (b.metadata or {}):
        raise Different(f"{path}: dtype {b!r} instead of {a!r}")
    if a.kind == "T":
        from .values import check_value

        equal(a.coerce, b.coerce, f"{path}: coerce")
        equal(hasattr(a, "na_object"), hasattr(b, "na_object"), f"{path}: na_object")
        if hasattr(a, "na_object"):
            check_value(a.na_object, b.na_object, f"{path}: na_object")


def check_array(a: Any, b: Any, path: str, *, order: bool = True) -> None:
    """Two arrays are the same; with `order`, also in their memory order of axes."""
    same_type(a, b, path)
    same_dtype(a.dtype, b.dtype, path)
    equal(a.shape, b.shape, f"{path}: shape")
    if (
        order
        and LAYOUT.get()
        and a.ndim > 1
        and a.nbytes
        and (a.flags.c_contiguous or a.flags.f_contiguous)
    ):
        was, is_ = [(x.flags.c_contiguous, x.flags.f_contiguous) for x in (a, b)]
        equal(was, is_, f"{path}: (C, Fortran) order")
    if a.dtype.kind in "OT":
        from .values import check_value

        for at in np.ndindex(a.shape):
            check_value(a[at], b[at], f"{path}{list(at)}")
    elif memory(a) != memory(b):
        raise Different(f"{path}: {shown(b)} instead of {shown(a)}, or other bits")


def memory(array: Any) -> Any:
    """The bytes of the values of an array, without gaps between the fields of records."""
    if array.dtype.names is not None:
        return [memory(array[name]) for name in array.dtype.names]
    if array.dtype.char in "gG":
        # Ten bytes of sixteen are the number.
        words = np.ascontiguousarray(array).reshape(-1).view("u1").reshape(-1, 16)
        words = words if array.dtype.isnative else words[:, ::-1]
        return words[:, :10].tobytes()
    return array.tobytes()


def _check_masked(a: Any, b: Any, path: str) -> None:
    same_type(a, b, path)
    if a is np.ma.masked:
        return
    check_array(np.asarray(a.data), np.asarray(b.data), f"{path}.data")
    equal(a.mask is np.ma.nomask, b.mask is np.ma.nomask, f"{path}.mask")
    check_array(np.asarray(a.mask), np.asarray(b.mask), f"{path}.mask")
    equal(memory(np.asarray(a.fill_value)), memory(np.asarray(b.fill_value)), f"{path}.fill_value")
    equal(bool(a.hardmask), bool(b.hardmask), f"{path}.hardmask")
