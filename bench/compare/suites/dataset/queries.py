"""Filters and groups over 100 files by each engine, and queries of TPC-H by DuckDB."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from ...context import Context
from ..engines import tpch as of_engines
from ..engines.engine import DuckDb
from ..engines.measure import ask
from ..engines.query import Query
from . import tables

FILES, LEAST_FILES = 100, 3
ROWS, LEAST_ROWS = 100_000, 100
FRAME = "folder"


def run(context: Context) -> None:
    n_files = context.scaled(FILES, least=LEAST_FILES)
    n_rows = context.scaled(ROWS, least=LEAST_ROWS)
    parts = dict(tables.tables(n_files, n_rows))
    whole = pa.concat_tables(tables.with_key(rows, part) for part, rows in parts.items())

    def write(
        context: Context, key: str, frame: str, named: dict[str, pa.Table]
    ) -> dict[str, Path]:
        (peer,) = context.pool.get([key], host="arrow", fixed=True)
        path = (context.work / f"{frame}.{FRAME}.{key}").resolve()
        tables.write(peer, path, iter(parts.items()))
        return {FRAME: path}

    named = {FRAME: whole.combine_chunks()}
    ask(context, FRAME, named, queries(n_files), write=write, section=tables.SECTION)


def tpch(context: Context) -> None:
    """The queries of TPC-H, by DuckDB alone."""
    scale = context.options.tpch * context.options.scale
    found = of_engines.tables(context.options.data, scale)
    asked = [replace(query, kind="tpch") for query in of_engines.queries()]
    ask(context, "tpch", found, asked, only=DuckDb.key, section=tables.SECTION)


def queries(n_files: int) -> list[Query]:
    import polars as pl

    city, price, part = pl.col("city"), pl.col("price"), pl.col(tables.KEY)
    bound = n_files // 2
    quantities = pl.col("quantity").cast(pl.Int64).sum()
    return [
        Query(
            "query",
            "city and price: sum",
            f"SELECT sum(quantity)::BIGINT AS quantity FROM {FRAME} "
            "WHERE city = 'Miami' AND price < 100",
            lambda frames: frames[FRAME].filter(city == "Miami", price < 100).select(quantities),
        ),
        Query(
            "query",
            "by city: count, mean, most",
            f"SELECT city, count(*) AS n, avg(price) AS mean, max(quantity) AS most FROM {FRAME} "
            "GROUP BY city",
            lambda frames: (
                frames[FRAME]
                .group_by("city")
                .agg(
                    pl.len().cast(pl.Int64).alias("n"),
                    price.mean().alias("mean"),
                    pl.max("quantity").alias("most"),
                )
            ),
        ),
        Query(
            "query",
            "half of the keys, by key: sum, last day",
            f"SELECT {tables.KEY}, sum(price) AS price, max(day) AS day FROM {FRAME} "
            f"WHERE {tables.KEY} < {bound} GROUP BY {tables.KEY}",
            lambda frames: (
                frames[FRAME]
                .filter(part < bound)
                .group_by(tables.KEY)
                .agg(price.sum(), pl.max("day"))
            ),
        ),
        Query(
            "query",
            "1 % of the prices: four columns",
            f"SELECT id, day, city, price FROM {FRAME} WHERE price < 10",
            lambda frames: frames[FRAME].filter(price < 10).select("id", "day", "city", "price"),
        ),
    ]
