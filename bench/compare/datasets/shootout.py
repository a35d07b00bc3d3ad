"""The data sets of "The R Data I/O Shootout" and a month of New York's taxis, look-alikes.

The originals are public downloads of hundreds of megabytes; these have their shape: rows,
columns, kinds of values, how often values repeat, what is missing and the size as CSV.
Every function takes a scale (0 < scale <= 1, the share of the rows) and returns a pandas
frame with the types that `pandas.read_csv` gives: int64, float64, bool, str.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from .complaints import complaints
from .deaths import deaths
from .loans import loans
from .reviews import reviews
from .scorecard import scorecard
from .taxi import taxi
from .temperatures import temperatures

SETS: dict[str, Callable[[float], pd.DataFrame]] = {
    "deaths": deaths,
    "temperatures": temperatures,
    "reviews": reviews,
    "scorecard": scorecard,
    "complaints": complaints,
    "loans": loans,
    "taxi": taxi,
}
