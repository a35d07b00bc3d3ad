"""Filters on lineitem of TPC-H, in its own order and sorted by the date of shipping."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np

from ...conditions import Condition, Term
from ...context import Context
from ...frames import tpch, user_file
from .questions import Question, ask

Q6: Condition = (
    Term("l_shipdate", ">=", datetime.date(1994, 1, 1)),
    Term("l_shipdate", "<", datetime.date(1995, 1, 1)),
    Term("l_discount", "between", (Decimal("0.05"), Decimal("0.07"))),
    Term("l_quantity", "<", Decimal(24)),
)
Q6_COLUMNS = ["l_extendedprice", "l_discount", "l_quantity", "l_shipdate"]
DAYS = (datetime.date(1995, 3, 15), datetime.date(1995, 3, 17))  # 0.1 % of the rows
DAYS_COLUMNS = ["l_orderkey", "l_partkey", "l_extendedprice", "l_shipdate", "l_comment"]
FOUR = ["l_orderkey", "l_extendedprice", "l_shipdate", "l_shipmode"]
N_SUPPLIERS = 10_000  # at scale factor 1
SEED = 35


def run(context: Context) -> None:
    options = context.options
    scale = options.tpch * options.scale
    path = tpch.table(options.data, "lineitem", scale)
    table = tpch.plain_strings(user_file.arrow_table(path)).combine_chunks()
    suppliers = np.random.default_rng(SEED).choice(
        max(20, round(N_SUPPLIERS * scale)), 20, replace=False
    )
    q6 = [
        Question("q6", "TPC-H Q6: count", Q6),
        Question("q6", "TPC-H Q6: four columns", Q6, Q6_COLUMNS),
    ]
    ask(
        context,
        "lineitem",
        table,
        [
            *q6,
            *_both("equal", "shipmode = 'AIR'", Term("l_shipmode", "=", "AIR")),
            *_both("in", "suppkey in 20", Term("l_suppkey", "in", (suppliers + 1).tolist())),
            *_both(
                "starts-with", "comment starts with 'ironic'", _comment("starts with", "ironic")
            ),
            *_both("contains", "comment contains 'express'", _comment("contains", "express")),
        ],
    )
    table = table.sort_by([("l_shipdate", "ascending"), ("l_orderkey", "ascending")])
    days = (Term("l_shipdate", "between", DAYS),)
    ask(
        context,
        "lineitem-sorted",
        table.combine_chunks(),
        [
            *q6,
            Question("range", "three days: count", days),
            Question("range", "three days: five columns", days, DAYS_COLUMNS),
        ],
    )


def _comment(op: str, text: str) -> Term:
    return Term("l_comment", op, text)


def _both(kind: str, title: str, term: Term) -> list[Question]:
    """A count, and the rows in four columns."""
    return [
        Question(kind, f"{title}: count", (term,)),
        Question(kind, f"{title}: four columns", (term,), FOUR),
    ]
