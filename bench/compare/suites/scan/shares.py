"""From 0.001 % to 99 % of the rows, scattered over the file, with all columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...conditions import Term
from ...context import Context
from ...frames.headline import headline
from ...frames.orders import orders
from .questions import Question, ask

SHARES = (0.001, 0.1, 1, 10, 50, 99)  # percent
INTEGERS = (1, 10, 50, 99)  # percent: the integers of the headline frame are 1 to 100
LEAST = 100_000  # rows: one of them is 0.001 %
SEED = 36


def run(context: Context) -> None:
    n_rows = context.scaled(context.options.rows, least=LEAST)
    table = pa.Table.from_pandas(orders(n_rows), preserve_index=False).replace_schema_metadata()
    keys = np.random.default_rng(SEED).permutation(n_rows)
    table = table.add_column(0, "key", pa.array(keys))
    questions = [
        Question(
            "share",
            f"{share:g} %: all columns",
            (Term("key", "<", round(n_rows * share / 100)),),
            table.column_names,
        )
        for share in SHARES
    ]
    ask(context, "shuffled", table, questions, in_memory=True)
    table = pa.Table.from_pandas(headline(n_rows), preserve_index=False).replace_schema_metadata()
    city = (Term("Factor", "=", "Miami"),)
    questions = [
        Question("equal", "Factor = 'Miami': count", city),
        Question("equal", "Factor = 'Miami': all columns", city, table.column_names),
    ]
    for percent in INTEGERS:
        condition = (Term("Integer", "<=", percent),)
        title = f"{percent} %: all columns"
        questions.append(Question("share", title, condition, table.column_names))
    ask(context, "headline", table, questions, in_memory=True)
