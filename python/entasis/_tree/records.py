"""Lists of dicts with equal keys: the values of one key, and frames of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._values.cells import as_objects
from entasis.errors import ArgumentError, ColumnNotFoundError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._typing import Columns

    from .part import Part

_KINDS = ("list", "tuple")


@reported
def columns_of(of: Part, keys: list[Any] | None, rows: Any, threads: int | None) -> dict[Any, list[Any]]:
    """Read the values of keys, for some items of a list of dicts.

    The values of other keys are not read if the list is stored by keys.

    Parameters
    ----------
    of
        The list, or a part of one.
    keys
        The keys; None for all.
    rows
        The items as a resolved selection; None for all.
    threads
        The number of threads; None for as many as there are processors.
    """
    info = of.info
    if info["kind"] not in _KINDS or "row" in info or info.get("rows") == "tuple":
        holder = "a list of tuples" if "rows" in info else f"of type {info['kind']}"
        raise ArgumentError(f"{of.named()} is {holder}: only a list of dicts has a column for each key")
    if "rows" in info:
        return _stored(of, keys, rows, threads)
    number, n = info["number"], int(info["count"])
    items = of.cells.children_at(number, range(n) if rows is None else rows, threads)
    # If no item is selected, the first item gives the keys.
    known = _common(of.named(), items or of.cells.children(number, 0, min(n, 1)), rows)
    wanted = known if keys is None else keys
    for key in wanted:
        _check(of.named(), key, known)
    return {key: [item[key] for item in items] for key in wanted}


def _stored(of: Part, keys: list[Any] | None, rows: Any, threads: int | None) -> dict[Any, list[Any]]:
    """Read a list that is stored as a list of values for each key."""
    cells, info = of.cells, of.info
    known = cells.keys(info["number"])
    position_of = {key: position for position, key in enumerate(known)}
    wanted = known if keys is None else keys
    found = {}
    for key in wanted:
        _check(of.named(), key, known)
        values = info["first"] + position_of[key]
        found[key] = cells.read(values, threads) if rows is None else cells.children_at(values, rows, threads)
    return found


def _check(named: str, key: Any, known: list[Any]) -> None:
    try:
        is_known = key in known
        hash(key)
    except TypeError:
        raise ArgumentError(f"a key of a dict has a hash, unlike {shown(key)}") from None
    if not is_known:
        some = ", ".join(map(shown, known[:5])) + (", ..." if len(known) > 5 else "")
        raise ColumnNotFoundError(f"the dicts in {named} have no key {shown(key)}; their keys: {some or 'none'}")


def _common(named: str, items: list[Any], rows: Any) -> list[Any]:
    """The keys that all items have, in the order of the first one."""
    first: dict[Any, Any] = {}
    for i, item in enumerate(items):
        position = i if rows is None or len(rows) == 0 else int(rows[i])
        if not isinstance(item, dict):
            raise ArgumentError(f"{named}: item {position} is not a dict, but {shown(item)}")
        if i == 0:
            first = item
        elif item.keys() != first.keys():
            lacks, more = [key for key in first if key not in item], [key for key in item if key not in first]
            what = f"lacks {shown(lacks[0])}" if lacks else f"also has {shown(more[0])}"
            start = 0 if rows is None else int(rows[0])
            raise ArgumentError(
                f"{named}: item {position} has other keys than item {start} (it {what}), so the dicts have no "
                "columns; read the list itself"
            )
    return list(first)


def listed(columns: Columns | None) -> list[Any] | None:
    """The keys that `columns=` names."""
    if columns is None or isinstance(columns, list):
        return columns
    if isinstance(columns, (slice, range, set, frozenset)):
        raise ArgumentError(f"columns={shown(columns)}: keys of dicts are selected by a key or a list of keys")
    return [columns]


def frame(named: str, columns: dict[Any, list[Any]], n: int, to: str) -> Any:
    """Make a frame with a column for each key."""
    _hosts.reader(to, None)
    if to in ("polars", "pyarrow", "numpy"):
        for key in columns:
            if not isinstance(key, str):
                raise ArgumentError(f"{named}: columns of {to} have names (str), and the key {shown(key)} is none")
    return _MAKERS[to](named, columns, n)


def _pandas(where: str, columns: dict[Any, list[Any]], n: int) -> Any:
    import pandas as pd

    def series(values: list[Any]) -> Any:
        found = None if _are_mixed(values) else pd.Series(values)
        return pd.Series(values, dtype=object) if found is None or _is_rounded(found, values) else found

    made = {i: _made(where, key, "pandas", series, values) for i, (key, values) in enumerate(columns.items())}
    found = pd.DataFrame(made, index=pd.RangeIndex(n))
    found.columns = pd.Index(list(columns), tupleize_cols=False) if columns else pd.RangeIndex(0)
    return found


def _polars(where: str, columns: dict[Any, list[Any]], n: int) -> Any:
    import polars as pl

    _refuse_mixed(where, columns, "Polars")
    return pl.DataFrame([_made(where, key, "Polars", pl.Series, key, values) for key, values in columns.items()])


def _pyarrow(where: str, columns: dict[Any, list[Any]], n: int) -> Any:
    import pyarrow as pa

    _refuse_mixed(where, columns, "pyarrow")
    return pa.table({key: _made(where, key, "pyarrow", pa.array, values) for key, values in columns.items()})


def _numpy(where: str, columns: dict[Any, list[Any]], n: int) -> Any:
    import numpy as np

    def array(values: list[Any]) -> Any:
        kind = type(values[0]) if values else None
        if kind is None or any(type(value) is not kind for value in values):
            return as_objects(values)
        if kind in (bool, int, float, complex) or issubclass(kind, np.generic):
            found = np.array(values)
            # NumPy makes floats of integers if no integer dtype holds all of them.
            if found.dtype.kind in ("iu" if kind is int else "biufcmM"):
                return found
        return as_objects(values)

    return {key: array(values) for key, values in columns.items()}


def _static_frame(where: str, columns: dict[Any, list[Any]], n: int) -> Any:
    import static_frame as sf

    def array(values: list[Any]) -> Any:
        found = None if _are_mixed(values) else sf.Series(values).values
        return as_objects(values) if found is None or _is_rounded(found, values) else found

    made = [(key, _made(where, key, "StaticFrame", array, values)) for key, values in columns.items()]
    return sf.Frame.from_items(made, index=range(n)) if made else sf.Frame(index=range(n))


# Floats hold all integers up to this one.
_MOST_OF_FLOATS = 1 << 53


def _has_long(values: list[Any]) -> bool:
    """Whether some integer is beyond those that floats hold."""
    return any(type(value) is int and abs(value) > _MOST_OF_FLOATS for value in values)


def _is_rounded(column: Any, values: list[Any]) -> bool:
    """Whether a library converted integers to floats that do not hold them."""
    return column.dtype.kind == "f" and _has_long(values)


def _are_mixed(values: list[Any]) -> bool:
    """Whether values have several types, so that a library would change some, such as True to 1."""
    kinds = {type(value) for value in values if value is not None}
    return len(kinds) > 1 and (kinds != {int, float} or _has_long(values))


def _refuse_mixed(where: str, columns: dict[Any, list[Any]], library: str) -> None:
    for key, values in columns.items():
        if _are_mixed(values):
            kinds = sorted({type(value).__name__ for value in values if value is not None})
            raise UnsupportedTypeError(
                f"{where}: the values of the key {shown(key)} have several types ({', '.join(kinds[:5])}), and columns "
                f"of {library} one: take them with column()"
            )


def _made(where: str, key: Any, library: str, make: Callable[..., Any], *arguments: Any) -> Any:
    """A column of a library, which chooses its type."""
    try:
        return make(*arguments)
    except Exception as error:
        # Libraries raise errors of their own.
        why = f"{type(error).__name__}: {error}"
        raise UnsupportedTypeError(
            f"{where}: {library} has no type for the values of the key {shown(key)} ({why[:120]}): "
            "take them with column()"
        ) from error


_MAKERS: dict[str, Callable[[str, dict[Any, list[Any]], int], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "numpy": _numpy,
    "static_frame": _static_frame,
}
