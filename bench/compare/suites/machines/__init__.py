"""Engines of several machines, with two processes here: a write, a sum, and the memory of a worker.

Dask and, where it is installed, Ray write the same rows to folders of Entasis and of Parquet, and
read one of ten columns back. The rows that were written are compared before anything is measured.
"""

from __future__ import annotations

from ...context import Context
from . import by_dask, by_ray


def run(context: Context) -> None:
    by_dask.run(context)
    by_ray.run(context)
