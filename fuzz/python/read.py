"""`entasis.read` of hostile bytes, from memory and from a path, for every library."""

from __future__ import annotations

import entasis as en

from . import seeds as _seeds
from .files import at_path
from .outcome import LIMITS, attempt, examine, is_refusal

HOSTS = ("pandas", "polars", "pyarrow", "numpy", "static_frame")
seeds = _seeds.files


def check(data: bytes) -> None:
    """Read a file for each library. Memory and path have the same outcome."""
    for to in (None, *HOSTS):
        found = attempt(en.read, data, to=to, limits=LIMITS)
        if not is_refusal(found):
            examine(found)
        if to is None:
            with at_path(data) as path:
                again = attempt(en.read, path, limits=LIMITS)
            assert type(found) is type(again), f"{found!r} from memory, {again!r} from the path"
    with at_path(data) as path:
        for to in HOSTS[: en.hash(data) % 5 + 1]:
            attempt(en.read, path, to=to, memory_map=True, limits=LIMITS)
    attempt(en.verify, data, limits=LIMITS)
