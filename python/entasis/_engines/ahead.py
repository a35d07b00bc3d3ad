"""Reads one item ahead while the consumer works on the previous item."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = TypeVar("Item")

_END = object()


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of an iterator. The next one is made by another thread."""
    with ThreadPoolExecutor(1, "entasis-ahead") as pool:
        coming = pool.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, items, _END)
            yield item  # type: ignore[misc]
