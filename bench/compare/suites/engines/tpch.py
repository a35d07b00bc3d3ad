"""Queries 1, 6, 12 and 14 of TPC-H, and the cost of a scan on the same lineitem."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from ...context import Context
from ...frames import tpch, user_file
from . import cost
from .measure import ask
from .query import Query

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

TABLES = ("lineitem", "orders", "part")
URGENT = ["1-URGENT", "2-HIGH"]

Q1 = """
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty,
  sum(l_extendedprice) AS sum_base_price,
  sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
  avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc,
  count(*) AS count_order
FROM lineitem WHERE l_shipdate <= DATE '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
"""
Q6 = """
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
"""
Q12 = """
SELECT l_shipmode,
  sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
  sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END) AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode
"""
Q14 = """
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount)
  ELSE 0 END) / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE l_partkey = p_partkey
  AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'
"""

Frames = dict[str, "pl.LazyFrame"]


def run(context: Context) -> None:
    scale = context.options.tpch * context.options.scale
    found = tables(context.options.data, scale)
    ask(context, "tpch", found, queries())
    cost.run(context, found["lineitem"])


def tables(folder: Path, scale: float) -> dict[str, pa.Table]:
    """The tables with plain strings."""
    paths = {name: tpch.table(folder, name, scale) for name in TABLES}
    return {
        name: tpch.plain_strings(user_file.arrow_table(path)).combine_chunks()
        for name, path in paths.items()
    }


def queries() -> list[Query]:
    return [
        Query("tpch", "TPC-H Q1", Q1, _q1),
        Query("tpch", "TPC-H Q6", Q6, _q6),
        Query("join", "TPC-H Q12", Q12, _q12),
        Query("join", "TPC-H Q14", Q14, _q14),
    ]


def _float(name: str) -> pl.Expr:
    """A column of decimals as floats: Polars rounds a product of decimals to cents."""
    import polars as pl

    return pl.col(name).cast(pl.Float64)


def _q1(tables: Frames) -> pl.LazyFrame:
    import polars as pl

    price, discount = _float("l_extendedprice"), _float("l_discount")
    keys = ["l_returnflag", "l_linestatus"]
    return (
        tables["lineitem"]
        .filter(pl.col("l_shipdate") <= datetime.date(1998, 9, 2))
        .group_by(keys)
        .agg(
            pl.sum("l_quantity").alias("sum_qty"),
            pl.sum("l_extendedprice").alias("sum_base_price"),
            (price * (1 - discount)).sum().alias("sum_disc_price"),
            (price * (1 - discount) * (1 + _float("l_tax"))).sum().alias("sum_charge"),
            pl.mean("l_quantity").alias("avg_qty"),
            pl.mean("l_extendedprice").alias("avg_price"),
            pl.mean("l_discount").alias("avg_disc"),
            pl.len().alias("count_order"),
        )
        .sort(keys)
    )


def _q6(tables: Frames) -> pl.LazyFrame:
    import polars as pl

    day = pl.col("l_shipdate")
    revenue = _float("l_extendedprice") * _float("l_discount")
    return (
        tables["lineitem"]
        .filter(
            day >= datetime.date(1994, 1, 1),
            day < datetime.date(1995, 1, 1),
            pl.col("l_discount").is_between(Decimal("0.05"), Decimal("0.07")),
            pl.col("l_quantity") < 24,
        )
        .select(revenue.sum().alias("revenue"))
    )


def _q12(tables: Frames) -> pl.LazyFrame:
    import polars as pl

    received, is_high = pl.col("l_receiptdate"), pl.col("o_orderpriority").is_in(URGENT)
    return (
        tables["orders"]
        .join(tables["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
        .filter(
            pl.col("l_shipmode").is_in(["MAIL", "SHIP"]),
            pl.col("l_commitdate") < received,
            pl.col("l_shipdate") < pl.col("l_commitdate"),
            received >= datetime.date(1994, 1, 1),
            received < datetime.date(1995, 1, 1),
        )
        .group_by("l_shipmode")
        .agg(
            is_high.sum().alias("high_line_count"),
            is_high.not_().sum().alias("low_line_count"),
        )
        .sort("l_shipmode")
    )


def _q14(tables: Frames) -> pl.LazyFrame:
    import polars as pl

    day = pl.col("l_shipdate")
    revenue = _float("l_extendedprice") * (1 - _float("l_discount"))
    promoted = pl.when(pl.col("p_type").str.starts_with("PROMO")).then(revenue).otherwise(0.0)
    return (
        tables["lineitem"]
        .join(tables["part"], left_on="l_partkey", right_on="p_partkey")
        .filter(day >= datetime.date(1995, 9, 1), day < datetime.date(1995, 10, 1))
        .select((100 * promoted.sum() / revenue.sum()).alias("promo_revenue"))
    )
