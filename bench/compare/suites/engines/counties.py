"""Filters and groups of a real table: COVID-19 cases by county of the USA and day.

The table is the user's `--file`, with the columns of the data that The New York Times published.
"""

from __future__ import annotations

import sys

from ...context import Context
from ...frames import user_file
from .measure import ask
from .query import Query

COLUMNS = {"date", "county", "state", "cases", "deaths"}
NAME = "counties"


def run(context: Context) -> None:
    path = context.options.file
    if path is None:
        _leave_out("name a file with --file")
        return
    table = user_file.arrow_table(path).combine_chunks().replace_schema_metadata()
    if missing := COLUMNS.difference(table.column_names):
        _leave_out(f"{path.name} has no column {min(missing)}")
        return
    ask(context, NAME, {NAME: table}, queries())


def _leave_out(reason: str) -> None:
    print(f"note: suite engines: {NAME} left out: {reason}", file=sys.stderr)


def queries() -> list[Query]:
    """Filters by a state, by a range of dates, and by a number that few rows have."""
    import polars as pl

    state, date, cases = pl.col("state"), pl.col("date"), pl.col("cases")
    return [
        Query(
            "group",
            "state = 'Texas', by county",
            "SELECT county, max(cases) AS cases, max(deaths) AS deaths FROM counties "
            "WHERE state = 'Texas' GROUP BY county",
            lambda tables: (
                tables[NAME]
                .filter(state == "Texas")
                .group_by("county")
                .agg(pl.max("cases", "deaths"))
            ),
        ),
        Query(
            "group",
            "three months, by state",
            "SELECT state, max(cases) AS cases, count(*) AS n FROM counties "
            "WHERE date >= '2020-06-01' AND date < '2020-09-01' GROUP BY state",
            lambda tables: (
                tables[NAME]
                .filter(date >= "2020-06-01", date < "2020-09-01")
                .group_by("state")
                .agg(pl.max("cases"), n=pl.len())
            ),
        ),
        Query(
            "group",
            "cases > 10,000, by state",
            "SELECT state, count(*) AS n, max(deaths) AS deaths FROM counties "
            "WHERE cases > 10000 GROUP BY state",
            lambda tables: (
                tables[NAME]
                .filter(cases > 10_000)
                .group_by("state")
                .agg(pl.len().alias("n"), pl.max("deaths"))
            ),
        ),
    ]
