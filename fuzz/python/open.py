"""`entasis.open` of hostile bytes, and random uses of the file."""

from __future__ import annotations

from random import Random

import entasis as en

from . import seeds as _seeds
from .files import at_path
from .outcome import LIMITS, attempt, examine, is_refusal
from .use import use

N_USES = 8
seeds = _seeds.files


def check(data: bytes) -> None:
    """Open a file from memory or a path, mapped or not, and use it. The bytes choose how."""
    rng = Random(en.hash(data))
    how = rng.random()
    if how < 0.7:
        return _use(data, rng)
    with at_path(data) as path:
        return _use(path, rng, memory_map=how > 0.85)


def _use(source: str | bytes, rng: Random, *, memory_map: bool = False) -> None:
    file = attempt(en.open, source, memory_map=memory_map, limits=LIMITS)
    if is_refusal(file):
        return
    attempt(en.info, source, limits=LIMITS)
    for _ in range(N_USES):
        found = attempt(use, file, rng)
        if not is_refusal(found):
            examine(found)
