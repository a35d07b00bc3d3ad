"""Conversions of NumPy arrays that change no value."""

from __future__ import annotations

from typing import Any

from .host_types import Unfit, value_at


def convert(values: Any, dtype: Any, mask: Any = None) -> Any:
    """An array of another dtype. Raises `Unfit` for the first value that would change.

    Values under `mask` are ignored.
    """
    import numpy as np

    old = values.dtype
    if old == dtype:
        return values
    if old.kind in "iufc" and dtype.kind in "iufc" and not (old.kind == "c" and dtype.kind != "c"):
        with np.errstate(all="ignore"):
            found = values.astype(dtype)
            bad = None if np.can_cast(old, dtype) and _is_exact(old, dtype) else _changed_numbers(values, found)
    elif old.kind == dtype.kind and old.kind in "SU":
        found = values.astype(dtype)
        bad = None if dtype.itemsize >= old.itemsize else found.astype(old) != values
    elif old.kind == dtype.kind and old.kind in "mM":
        found, bad = _times(values, dtype)
    else:
        raise Unfit
    if bad is not None:
        check(values, bad if mask is None else bad & ~mask)
    return found


def check(values: Any, bad: Any) -> None:
    """Raise `Unfit` for the first bad value."""
    if bad.any():
        at = int(bad.argmax())
        found = values.reshape(-1)[at]
        row = at // max(bad.size // max(len(bad), 1), 1)
        raise value_at(str(found) if values.dtype.kind in "mM" else found.item(), row)


def _is_exact(old: Any, new: Any) -> bool:
    """Whether a safe cast is exact. NumPy counts int64 to float64 as safe."""
    return old.kind == new.kind or new.kind in "iu" or old.itemsize < (new.itemsize if new.kind == "f" else 4)


def _changed_numbers(values: Any, found: Any) -> Any:
    """Where a conversion of numbers changed the value."""
    import numpy as np

    old, new = values.dtype, found.dtype
    if new.kind == "c":
        return (found.real != values) & (values == values) if old.kind == "f" else _changed_numbers(values, found.real)
    if old.kind in "iu" and new.kind in "iu":
        limits = np.iinfo(new)
        return (values < limits.min) | (values > limits.max)
    if old.kind in "iu":
        # Rounded up to the bound, a float would not convert back.
        beyond = found >= float(np.iinfo(old).max) + 1
        return beyond | (np.where(beyond, 0, found).astype(old) != values)
    if new.kind in "iu":
        limits = np.iinfo(new)
        wide = values.astype(np.float64) if old.itemsize < 8 else values
        is_whole = (wide >= float(limits.min)) & (wide < float(limits.max) + 1) & (np.trunc(wide) == wide)
        return ~is_whole | ((wide == 0) & np.signbit(wide))
    return (found != values) & (values == values)


def _times(values: Any, dtype: Any) -> tuple[Any, Any]:
    """Times of another unit, and where they changed."""
    try:
        found = values.astype(dtype)
        # Some versions of NumPy convert units without checking the range.
        return found, found.astype(values.dtype).astype("i8") != values.astype("i8")
    except OverflowError:
        raise Unfit(f"times beyond the range of {dtype}") from None
    except TypeError:
        raise Unfit from None
