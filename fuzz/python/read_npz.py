"""`entasis.read_npz` of hostile archives."""

from __future__ import annotations

import entasis as en
import numpy as np
import static_frame as sf

from . import seeds as _seeds
from .files import at_path
from .outcome import attempt, is_refusal

seeds = _seeds.archives


def check(data: bytes) -> None:
    """Read an archive under both names that decide what it may hold."""
    for suffix in (".npz", ".zip"):
        with at_path(data, suffix) as path:
            found = attempt(en.read_npz, path)
            if not is_refusal(found):
                values = found.values() if type(found) is dict else [found]
                assert all(isinstance(value, (np.ndarray, sf.Frame, sf.Bus)) for value in values)
