"""How a column of the rows to append gets the type of the file, or a wider one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entasis.errors import ArgumentError

from .columns import no_missing, refused
from .host_types import Unfit

if TYPE_CHECKING:
    from .earlier import Earlier
    from .host_types import Types


class Fitted(NamedTuple):
    """Rows to append, and how the columns before them change."""

    # The rows with the types that the file has afterwards, in the order of the file, then new
    # columns.
    part: Any
    # Wider types of columns of the file by their positions, and of the index.
    grown: dict[int, Any]
    # The number of new columns.
    n_added: int = 0

    @property
    def changes(self) -> bool:
        """Whether columns of the file are replaced or added."""
        return bool(self.grown or self.n_added)


class Options(NamedTuple):
    """How rows may differ from the file."""

    # Whether columns that the rows or the file lack become missing values.
    fill: bool
    # Whether columns of the file may get wider types.
    widen: bool
    # The rows of the file.
    earlier: Earlier
    # Whether a schema set the types, which then hold also for columns without values.
    is_declared: bool = False
    # Whether the rows are none, and stand for a schema.
    are_schema: bool = False


def fit(types: Types, what: str, old: Any, column: Any, options: Options, key: int) -> Any:
    """A column of the rows to append, with the type `old` of the file's column or a wider one.

    `what` names the column in errors, and `key` is its position.
    """
    new = types.type_of(column)
    if types.is_same(old, new):
        return column
    if types.is_empty(column) and not (types.is_untyped(old) and options.earlier.is_empty(key)):
        if options.are_schema and not types.is_untyped(new):
            _check_schema(types, what, old, column)
        return missing(types, what, old, column, options, key)
    if types.is_untyped(old) and options.earlier.is_empty(key):
        return _with_own_type(types, what, old, column, options)
    try:
        return types.convert(column, old)
    except Unfit as error:
        unfit = error
    if not options.is_declared and options.earlier.is_empty(key):
        return _with_own_type(types, what, old, column, options)
    wider = types.wider(old, column)
    if wider is not None and types.is_same(old, wider):
        wider = None
    if wider is None or not options.widen:
        if wider is not None and unfit.message is None:
            # The advice must help.
            _check_wider(types, what, (old, new, wider), column, options, key)
        name = None if wider is None else types.name(wider)
        if unfit.message is not None:
            raise ArgumentError(f"{what} {unfit.message}" + (f"; widen=True takes {name}" if name else ""))
        raise refused(what, types.name(old), types.name(new), unfit.reason, name)
    try:
        return types.convert(column, wider)
    except Unfit as error:
        raise _unsuitable(what, types, (old, new, wider), error.reason) from None


def _check_wider(types: Types, what: str, kinds: tuple[Any, Any, Any], column: Any, options: Options, key: int) -> None:
    """Check that the wider type holds the values of the rows and of the file."""
    for values in (column, *options.earlier.columns(key)):
        try:
            if not types.is_empty(values):
                types.convert(values, kinds[2])
        except Unfit as error:
            raise _unsuitable(what, types, kinds, error.reason) from None


def _check_schema(types: Types, what: str, old: Any, column: Any) -> None:
    """Check that the type of a schema has values that the type of the file may hold."""
    try:
        types.convert(column, old)
    except Unfit as error:
        raise refused(what, types.name(old), types.name(types.type_of(column)), error.reason) from None


def _with_own_type(types: Types, what: str, old: Any, column: Any, options: Options) -> Any:
    """A column that follows only missing values. It keeps its type, if that has missing values."""
    new = types.type_of(column)
    if not options.earlier.n:
        return column
    found = types.with_missing(new, column)
    if found is None:
        raise refused(what, types.name(old), types.name(new), "such values, and the other no missing ones")
    try:
        return types.convert(column, found)
    except Unfit as error:
        raise _unsuitable(what, types, (old, new, found), error.reason) from None


def missing(types: Types, what: str, old: Any, like: Any, options: Options, key: int) -> Any:
    """Missing values of the type `old` of the file's column, or of a wider type."""
    found = types.missing(old, like)
    if found is not None:
        return found
    wider = types.with_missing(old, types.missing(old, like[:0]))
    if wider is None or not options.widen:
        raise no_missing(what, types.name(old), None if wider is None else types.name(wider))
    # The values of the file decide which type holds them.
    of_file = (types.with_missing(old, column) for column in options.earlier.columns(key))
    other = next((dtype for dtype in of_file if not types.is_same(dtype, wider)), wider)
    return types.missing(other, like)


def added(types: Types, what: str, column: Any, options: Options) -> Any:
    """A new column, which is missing in the rows before. It gets a type that has missing values."""
    dtype = types.type_of(column)
    if not options.earlier.n:
        return column
    found = types.with_missing(dtype, column)
    if found is not None and (options.widen or types.is_same(found, dtype)):
        try:
            return types.convert(column, found)
        except Unfit as error:
            raise _unsuitable(what, types, (dtype, dtype, found), error.reason) from None
    advice = "convert it" if found is None else f"convert it, or widen=True makes it {types.name(found)}"
    raise ArgumentError(
        f"{what} is new, and {types.name(dtype)} has no missing value for the {options.earlier.n:,} rows before: "
        f"{advice}"
    )


def converted(types: Types, what: str, column: Any, dtype: Any) -> Any:
    """A column of the file with a wider type."""
    if types.is_same(types.type_of(column), dtype):
        return column
    if types.is_empty(column):
        found = types.missing(dtype, column)
        if found is not None:
            return found
    try:
        return types.convert(column, dtype)
    except Unfit as error:
        old = types.type_of(column)
        raise _unsuitable(f"{what} of the file", types, (old, old, dtype), error.reason) from None


def _unsuitable(what: str, types: Types, kinds: tuple[Any, Any, Any], reason: str) -> ArgumentError:
    """The error for values that the wider type does not hold either."""
    old, new, wider = map(types.name, kinds)
    both = old if old == new else f"{old} in the file and {new} in the rows to append"
    return ArgumentError(f"{what} is {both}, and {wider} does not hold {reason or 'all values'}: convert one of them")
