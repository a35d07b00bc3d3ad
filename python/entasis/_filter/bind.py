"""Binds conditions to the columns of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._columns.levels import RANGE
from entasis.errors import ArgumentError

from . import where as _where
from .conditions import Col, Condition, from_tuples, too_deep
from .fields import Field
from .literals import literal
from .zones import refuse_naive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from entasis._entasis import Handle


def condition(value: Any) -> Condition:
    """Convert the argument `filter=` to a condition."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, Col):
        # A column of booleans.
        return value.is_true()
    if isinstance(value, tuple) and len(value) == 3:
        return from_tuples([value])
    if isinstance(value, list):
        return from_tuples(value)
    if type(value).__module__.partition(".")[0] == "polars" and hasattr(value, "meta"):
        from .polars import tree_of

        try:
            return Condition(("engine", tree_of(value, has_casts=False)))
        except RecursionError:
            raise too_deep() from None
    if callable(value) or isinstance(value, str):
        raise ArgumentError(f"filter= takes conditions such as en.col('a') > 3, not {shown(value)}")
    raise ArgumentError(
        "filter= takes conditions such as en.col('a') > 3, tuples such as ('a', '>', 3) or expressions of Polars, "
        f"not {shown(value)}; a mask of the rows is rows="
    )


def names(of: Condition, known: Collection[str] = ()) -> list[str] | None:
    """The names of the columns of a condition, each once; None if it has other labels or fields.

    `known` are the names of the table. A condition of the command may only name these.
    """
    found: dict[Any, None] = {}

    def add(node: tuple[Any, ...]) -> None:
        name, *rest = node
        if name in ("and", "or"):
            for part in rest[0]:
                add(part)
        elif name in ("not", "engine"):
            add(rest[0])
        elif name == "where":
            found.update(dict.fromkeys(_where.names(rest[0], known)))
        else:
            found[rest[0]] = None

    add(of._tree)
    return list(found) if all(isinstance(label, str) for label in found) else None


def tree(of: Condition, handle: Handle, resolve: Callable[[Any], list[int] | None]) -> tuple[Any, ...]:
    """The condition as the core takes it: columns by their numbers, and literals.

    Parameters
    ----------
    handle
        The file.
    resolve
        Returns the number of the column with a label, in a list.
    """

    def column(of: Any) -> tuple[int, Any]:
        label, names = of if isinstance(of, Field) else (of, ())
        (number,) = resolve([label]) or []
        if number == RANGE:
            raise ArgumentError(f"no column stores the index {shown(label)}, a range: select its rows with rows=")
        for name in names:
            number = handle.field(number, name)
        (info,) = handle.columns([number])
        return number, info

    def bound(node: tuple[Any, ...]) -> tuple[Any, ...]:
        name, *rest = node
        if name in ("and", "or"):
            return name, [bound(part) for part in rest[0]]
        if name in ("not", "engine"):
            return name, bound(rest[0])
        if name == "where":
            return node
        number, info = column(rest[0])
        if name in ("missing", "null", "nan"):
            return name, number
        if name == "nan if float":
            is_float = info.logical == "plain" and info.physical in ("f32", "f64")
            return ("nan", number) if is_float else ("or", [])
        if name == "length":
            return name, number, rest[1], rest[2]
        if name == "match":
            text = rest[2].encode() if isinstance(rest[2], str) else rest[2]
            return name, number, rest[1], text
        values = info if info.dictionary is None else handle.columns([info.dictionary])[0]
        freq = values.detail if values.logical == "period" else None
        zone = values.detail if values.logical == "timestamp" and isinstance(values.detail, str) else None

        def of_value(value: Any) -> tuple[Any, ...]:
            try:
                if zone is not None:
                    refuse_naive(value, zone)
                return literal(value, freq)
            except ArgumentError as error:
                raise ArgumentError(f"column {shown(info.name)}: {error}") from None

        if name == "in":
            return name, number, [of_value(value) for value in rest[1]]
        return "compare", number, name, of_value(rest[1])

    return bound(of._tree)
