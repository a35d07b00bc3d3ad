"""The types of Polars: what they hold, and wider ones."""

from __future__ import annotations

from typing import Any

from .host_types import Types, Unfit, value_at

_UNITS = ("ms", "us", "ns")


class PolarsTypes(Types):
    """The types of Polars."""

    def type_of(self, column: Any) -> Any:
        """The type of a series."""
        return column.dtype

    def is_same(self, old: Any, new: Any) -> bool:
        """Whether two types are equal."""
        return bool(old == new)

    def is_empty(self, column: Any) -> bool:
        """Whether a series has no rows, or only nulls."""
        return bool(column.null_count() == len(column))

    def is_untyped(self, dtype: Any) -> bool:
        """Whether a type says nothing about values."""
        import polars as pl

        return bool(dtype == pl.Null)

    def missing(self, dtype: Any, like: Any) -> Any:
        """A series of nulls."""
        import polars as pl

        return pl.Series(like.name, [], dtype=dtype).clear(len(like))

    def convert(self, column: Any, dtype: Any) -> Any:
        """A series of another type with the same values."""
        import numpy as np
        import polars as pl

        if not _is_kind(column.dtype, dtype):
            raise Unfit
        lacking = _lacking(column.dtype, dtype)
        if lacking:
            raise Unfit(f"the field {lacking[0]!r}")
        try:
            # Enums have no cast to each other.
            plain = column.cast(pl.String) if _are_enums(column.dtype, dtype) else column
            found = plain.cast(dtype, strict=False)
            back = found.cast(plain.dtype, strict=False)
        except pl.exceptions.PolarsError:
            raise Unfit from None
        bad = back.ne_missing(plain).to_numpy()
        if column.dtype.is_float() and dtype.is_integer():
            # No integer has the sign of -0.0.
            bad = bad | np.signbit(column.to_numpy()) & (column == 0).fill_null(False).to_numpy()
        if bad.any():
            at = int(bad.argmax())
            raise value_at(column[at], at)
        return found

    def wider(self, old: Any, column: Any) -> Any:
        """The type of `pl.concat(how="vertical_relaxed")`. None if it is of another kind."""
        return wider(old, column.dtype)


def _is_kind(old: Any, new: Any, is_inside: bool = False) -> bool:
    """Whether values of two types mean the same. Nested integers take no floats."""
    import polars as pl

    def is_number(dtype: Any) -> bool:
        return bool(dtype.is_numeric())

    if is_number(old) and is_number(new):
        # Decimals take no floats, as their scale would hide digits.
        hides_digits = old.is_float() and new.is_decimal()
        hides_sign = is_inside and old.is_float() and new.is_integer()
        return not hides_digits and not hides_sign and not (old.is_decimal() and not new.is_decimal())
    texts = (pl.String, pl.Categorical, pl.Enum)
    if isinstance(old, texts) and isinstance(new, texts):
        return True
    if isinstance(old, pl.Datetime) and isinstance(new, pl.Datetime):
        return old.time_zone == new.time_zone
    if isinstance(old, pl.Duration) and isinstance(new, pl.Duration):
        return True
    if isinstance(old, pl.Struct) and isinstance(new, pl.Struct):
        of_new = {field.name: field.dtype for field in new.fields}
        fields = [(field.dtype, of_new[field.name]) for field in old.fields if field.name in of_new]
        return all(_is_kind(*types, True) for types in fields)
    if isinstance(old, pl.List) and isinstance(new, pl.List):
        return _is_kind(old.inner, new.inner, True)
    if isinstance(old, pl.Array) and isinstance(new, pl.Array):
        return old.shape == new.shape and _is_kind(old.inner, new.inner, True)
    return bool(old in (new, pl.Null))


def _are_enums(old: Any, new: Any) -> bool:
    import polars as pl

    return isinstance(old, (pl.Enum, pl.Categorical)) and isinstance(new, (pl.Enum, pl.Categorical))


def _lacking(old: Any, new: Any) -> list[str]:
    """The fields of structs that another type lacks."""
    import polars as pl

    if isinstance(old, pl.Struct) and isinstance(new, pl.Struct):
        of_new = {field.name: field.dtype for field in new.fields}
        found = [field.name for field in old.fields if field.name not in of_new]
        inside = [_lacking(field.dtype, of_new[field.name]) for field in old.fields if field.name in of_new]
        return found + [name for names in inside for name in names]
    if isinstance(old, (pl.List, pl.Array)) and isinstance(new, (pl.List, pl.Array)):
        return _lacking(old.inner, new.inner)
    return []


def wider(old: Any, new: Any) -> Any:
    """The type that holds values of two types. None if there is none of their kind."""
    import polars as pl

    if old == new:
        return old
    if isinstance(old, pl.Enum) and isinstance(new, pl.Enum):
        return pl.Enum(list(dict.fromkeys([*old.categories, *new.categories])))
    if isinstance(old, pl.Struct) and isinstance(new, pl.Struct):
        return _wider_struct(old, new)
    for kind in (pl.Datetime, pl.Duration):
        if isinstance(old, kind) and isinstance(new, kind):
            # Polars itself takes the coarser unit, which loses digits.
            same = getattr(old, "time_zone", None) == getattr(new, "time_zone", None)
            return max(old, new, key=lambda dtype: _UNITS.index(dtype.time_unit)) if same else None
    if isinstance(old, pl.List) and isinstance(new, pl.List):
        inner = wider(old.inner, new.inner)
        return None if inner is None else pl.List(inner)
    if isinstance(old, pl.Array) and isinstance(new, pl.Array) and old.shape == new.shape:
        inner = wider(old.inner, new.inner)
        return None if inner is None else pl.Array(inner, old.size)
    if not old.is_numeric() or not new.is_numeric():
        # Strings hold the values of enums and categoricals.
        texts = (pl.String, pl.Categorical, pl.Enum)
        return pl.String() if isinstance(old, texts) and isinstance(new, texts) else None
    try:
        parts = [pl.DataFrame({"x": pl.Series([], dtype=dtype)}) for dtype in (old, new)]
        return pl.concat(parts, how="vertical_relaxed").schema["x"]
    except pl.exceptions.PolarsError:
        return None


def _wider_struct(old: Any, new: Any) -> Any:
    """The fields of both structs: those of the file, then new ones."""
    import polars as pl

    found = {field.name: field.dtype for field in old.fields}
    for field in new.fields:
        dtype = wider(found[field.name], field.dtype) if field.name in found else field.dtype
        if dtype is None:
            return None
        found[field.name] = dtype
    return pl.Struct(found)


TYPES = PolarsTypes()
