"""The sum of one column out of ten."""

from __future__ import annotations

import pyarrow as pa

from ...context import Context
from ...frames.orders import orders
from .measure import ask
from .query import Query

LEAST = 100_000


def run(context: Context) -> None:
    n_rows = context.scaled(context.options.rows, least=LEAST)
    table = pa.Table.from_pandas(orders(n_rows), preserve_index=False).replace_schema_metadata()
    ask(context, "orders", {"orders": table}, queries())


def queries() -> list[Query]:
    """The sums of a float and of an integer column."""
    import polars as pl

    kinds = {"price": "float64", "quantity": "int16"}
    return [
        Query(
            "sum",
            f"sum of one {kind} column",
            f"SELECT sum({column}) AS {column} FROM orders",
            lambda tables, column=column: tables["orders"].select(pl.sum(column)),  # type: ignore
        )
        for column, kind in kinds.items()
    ]
