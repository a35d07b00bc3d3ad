"""Reads items ahead while the consumer works on earlier ones."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

Item = TypeVar("Item")

_END = object()


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of an iterator. The next one is made by another thread."""
    with ThreadPoolExecutor(1, "entasis-ahead") as pool:
        coming = pool.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, items, _END)
            yield item  # type: ignore[misc]


def together(jobs: Iterator[Callable[[], Iterable[Item]]], n: int) -> Iterator[Item]:
    """Yield the items of jobs, in order. Other threads run the next `n` jobs."""
    with ThreadPoolExecutor(n, "entasis-ahead") as pool:
        coming: deque[Future[Iterable[Item]]] = deque()

        def begin() -> None:
            job = next(jobs, None)
            if job is not None:
                coming.append(pool.submit(job))

        for _ in range(n):
            begin()
        while coming:
            items = coming.popleft().result()
            begin()
            yield from items
