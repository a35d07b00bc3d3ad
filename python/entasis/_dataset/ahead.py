"""Does work on the next files of a folder on a store while earlier ones are used."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

_Item = TypeVar("_Item")

# How many files are opened ahead. Each has some MiB in memory at most.
OPENED = 10
# How many files are read ahead, and the greatest length of a file that is.
READ, SHORT = 4, 16 << 20


def in_turn(jobs: Iterator[Callable[[], Iterable[_Item]]], n: int, n_first: int) -> Iterator[_Item]:
    """Yield the items of jobs, in order. Up to `n` jobs run in other threads.

    At first `n_first` run, and one more after each job whose items were used.
    """
    with ThreadPoolExecutor(n, "entasis-ahead") as pool:
        coming: deque[Future[Iterable[_Item]]] = deque()
        n_ahead, is_over = n_first, False
        try:
            while True:
                while not is_over and len(coming) < n_ahead:
                    job = next(jobs, None)
                    is_over = job is None
                    if job is not None:
                        coming.append(pool.submit(job))
                if not coming:
                    return
                yield from coming.popleft().result()
                n_ahead = min(n, n_ahead + 1)
        finally:
            for future in coming:
                future.cancel()
