"""The shares of worker processes and ranks in the rows of a file."""

from __future__ import annotations

import sys
from typing import Any

from entasis._arguments.options import integer, integer_between
from entasis.errors import ArgumentError


def worker() -> tuple[int, int]:
    """The number of this worker process of a DataLoader, and how many there are."""
    data: Any = sys.modules.get("torch.utils.data")
    info = None if data is None else data.get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)


def group() -> tuple[int, int] | None:
    """The rank and the size of PyTorch's default process group; None if PyTorch has none."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def ranks(rank: int | None, world_size: int | None) -> tuple[int, int] | None:
    """Check explicit ranks. With None the process group decides."""
    if rank is None and world_size is None:
        return None
    if rank is None or world_size is None or integer(world_size) is None:
        raise ArgumentError("rank= and world_size= are given together: the number of this process, and of all")
    size = integer_between("world_size", world_size, "the number of processes, 1 or more", 1, None)
    return integer_between("rank", rank, f"an integer from 0 to {size - 1}, for world_size={size}", 0, size - 1), size


def edges(n_rows: int, n_shares: int, most: int) -> list[int]:
    """Cut rows into consecutive blocks of equal length, with the same number for each share.

    Lengths differ by at most one row, and are at most `most`. Returns where the blocks start, and
    where the last one ends.
    """
    n_blocks = n_shares * max(1, -(-n_rows // (n_shares * most)))
    return [i * n_rows // n_blocks for i in range(n_blocks + 1)]
