"""Conditions on rows, and their translation for each format's library."""

from __future__ import annotations

import datetime
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Term:
    """A comparison of a column with a value.

    `op` is one of `COMPARE`, or "between" (a pair of bounds, both included), "in" (a list),
    "starts with" or "contains" (a string without `%`, `_` and quotes).
    """

    column: str
    op: str
    value: Any


Condition = tuple[Term, ...]  # all of them must hold


def columns(condition: Condition) -> list[str]:
    """The columns that a condition is about, each once."""
    return list(dict.fromkeys(term.column for term in condition))


def _all(parts: list[Any]) -> Any:
    return functools.reduce(operator.and_, parts)


def for_entasis(condition: Condition) -> Any:
    import entasis as en

    def part(term: Term) -> Any:
        column = en.col(term.column)
        if term.op == "between":
            return column.between(*term.value)
        if term.op == "in":
            return column.is_in(term.value)
        if term.op == "starts with":
            return column.starts_with(term.value)
        if term.op == "contains":
            return column.contains(term.value)
        return COMPARE[term.op](column, term.value)

    return _all([part(term) for term in condition])


def for_polars(condition: Condition) -> Any:
    import polars as pl

    def part(term: Term) -> Any:
        column = pl.col(term.column)
        if term.op == "between":
            return column.is_between(*term.value)
        if term.op == "in":
            return column.is_in(term.value)
        if term.op == "starts with":
            return column.str.starts_with(term.value)
        if term.op == "contains":
            return column.str.contains(term.value, literal=True)
        return COMPARE[term.op](column, term.value)

    return _all([part(term) for term in condition])


def for_arrow(condition: Condition, schema: Any) -> Any:
    """An expression of `pyarrow.compute`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def part(term: Term) -> Any:
        column, kind = pc.field(term.column), _value_type(schema, term.column)

        def scalar(value: Any) -> Any:
            return pa.scalar(value, kind)

        if term.op == "between":
            low, high = term.value
            return (column >= scalar(low)) & (column <= scalar(high))
        if term.op == "in":
            return column.isin(pa.array(term.value, kind))
        if term.op == "starts with":
            return pc.starts_with(column, pattern=term.value)
        if term.op == "contains":
            return pc.match_substring(column, pattern=term.value)
        return COMPARE[term.op](column, scalar(term.value))

    return _all([part(term) for term in condition])


def for_vortex(condition: Condition, schema: Any) -> Any:
    import vortex
    import vortex.expr as ve

    def part(term: Term) -> Any:
        column = ve.column(term.column)
        # Vortex only compares values of equal type.
        kind = vortex.DType.from_arrow(_value_type(schema, term.column))

        def literal(value: Any) -> Any:
            return ve.literal(kind, value)

        if term.op == "between":
            return ve.between(column, *map(literal, term.value))
        if term.op == "in":
            return ve.in_list(column, ve.literal(vortex.list_(kind), term.value))
        if term.op == "starts with":
            return ve.like(column, f"{term.value}%")
        if term.op == "contains":
            return ve.like(column, f"%{term.value}%")
        return COMPARE[term.op](column, literal(term.value))

    return _all([part(term) for term in condition])


def for_sql(condition: Condition, schema: Any, quote: str = '"') -> str:
    """The text after WHERE, for DuckDB and Lance. `quote` encloses names of columns."""

    def part(term: Term) -> str:
        column, kind = f"{quote}{term.column}{quote}", _value_type(schema, term.column)
        if term.op == "between":
            low, high = (_sql(value, kind) for value in term.value)
            return f"{column} BETWEEN {low} AND {high}"
        if term.op == "in":
            return f"{column} IN ({', '.join(_sql(value, kind) for value in term.value)})"
        if term.op in ("starts with", "contains"):
            name = term.op.replace(" ", "_")
            return f"{name}({column}, {_sql(term.value, kind)})"
        return f"{column} {term.op} {_sql(term.value, kind)}"

    return " AND ".join(part(term) for term in condition)


def _sql(value: Any, kind: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, Decimal):
        return f"CAST('{value}' AS DECIMAL({kind.precision}, {kind.scale}))"
    if isinstance(value, datetime.date):
        return f"DATE '{value}'"
    return str(value)


def _value_type(schema: Any, column: str) -> Any:
    """The Arrow type of a column's values."""
    import pyarrow as pa

    kind = schema.field(column).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind
