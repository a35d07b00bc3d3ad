"""The first rows of a long file."""

from __future__ import annotations

from ...context import Context
from ..scan import tall
from .measure import ask
from .query import Query

ROWS = 5


def run(context: Context) -> None:
    table = tall.tall(context.scaled(tall.ROWS, least=tall.LEAST))
    ask(context, "tall", {"tall": table}, [query()])


def query() -> Query:
    return Query(
        "head",
        f"the first {ROWS} rows",
        f"SELECT * FROM tall LIMIT {ROWS}",
        lambda tables: tables["tall"].head(ROWS),
    )
