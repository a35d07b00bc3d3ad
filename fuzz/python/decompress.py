"""`entasis.decompress` of hostile bytes."""

from __future__ import annotations

import entasis as en

from . import seeds as _seeds
from .outcome import attempt, is_refusal

MOST = 1 << 24
seeds = _seeds.buffers


def check(data: bytes) -> None:
    """Decompress with and without a limit. Other buffers and numbers of threads change nothing."""
    found = attempt(en.decompress, data, max_len=MOST)
    again = attempt(en.decompress, bytearray(data), max_len=MOST, threads=2)
    if is_refusal(found):
        assert type(found) is type(again), f"{found!r}, {again!r}"
    else:
        assert found == again
        assert len(found) <= MOST
        assert en.decompress(en.compress(found)) == found
        assert (
            isinstance(attempt(en.decompress, data, max_len=len(found) - 1), en.LimitError)
            or not found
        )
