"""One column of 10^8 numbers, as in qs' README, into Arrow."""

from __future__ import annotations

from ..context import Context
from ..frames import vectors
from .strings import PEERS

ROWS = 100_000_000
VECTORS = {
    "int32": (vectors.int32, "a permutation of 1 to n, 32 bits"),
    "int64": (vectors.int64, "the same, 64 bits"),
    "runif": (vectors.runif, "uniform doubles as R makes them: 32 random bits"),
    "uniform": (vectors.uniform, "uniform doubles of 53 random bits"),
}


def run(context: Context) -> None:
    for name, (make, remark) in VECTORS.items():
        table = make(context.scaled(ROWS))
        outcome = context.compare(f"vector-{name}", table, [remark], host="arrow", peers=PEERS)
        outcome.remove_files()
