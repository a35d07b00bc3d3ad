"""Requests that are sent again, for libraries that do not do so themselves."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, TypeVar

from .failures import is_transient

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

# How often a request is sent, and for how many seconds it is sent again at most.
MOST = 6
LONGEST = 60.0
_FIRST, _LONGEST_PAUSE = 0.1, 5.0


def retried(function: Callable[..., _Result], *args: Any) -> _Result:
    """Call a function again after broken connections, time-outs, and the statuses 429 and 5xx.

    The pauses double and are random, so that many readers do not ask again at once.
    """
    end = time.monotonic() + LONGEST
    for attempt in range(MOST):
        try:
            return function(*args)
        except Exception as error:
            pause = random.uniform(0, min(_LONGEST_PAUSE, _FIRST * 2**attempt))
            if attempt + 1 == MOST or not is_transient(error) or time.monotonic() + pause > end:
                raise
        time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")
