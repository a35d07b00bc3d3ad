"""Filters on files, with results in Arrow: counts, a few rows, most rows; samples and single keys.

Each format is written and opened once. Then the formats take turns in each question.
"""

from __future__ import annotations

from ...context import Context
from . import lineitem, shares, tall


def run(context: Context) -> None:
    lineitem.run(context)
    shares.run(context)
    tall.run(context)
