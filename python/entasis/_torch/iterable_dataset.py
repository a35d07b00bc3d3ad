"""A dataset of PyTorch that reads a file from block to block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import integer_between, shown
from entasis._arguments.options import threads as _threads
from entasis._memory import reported
from entasis.errors import ArgumentError

from . import batches as _batches
from . import shares as _shares
from .bases import HAS_TORCH, IterableBase
from .source import opened
from .tensors import converter, target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._arguments.secrets import AnyKey
    from entasis._arguments.sources import Source
    from entasis._file.file import File, Scan
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows

    from .source import Arrays
    from .tensors import To

# Rows of a block of a column.
_BLOCK = 1 << 16
_MIXED = 4


class IterableDataset(IterableBase):  # type: ignore[misc]
    """The rows of a file as an iterable dataset of PyTorch, read from block to block.

    The rows are cut into blocks, which are dealt out to the ranks of a process group and to the
    worker processes of each DataLoader. Each row comes exactly once over all of them, so all ranks
    need the same number of workers. The shares of ranks differ by a few rows, and thus may have
    different numbers of batches.

    Parameters
    ----------
    source, columns, rows, filter, to, threads, key, password
        As for `MapDataset`.
    batch_size
        The number of rows of a batch. Pass `batch_size=None` to the DataLoader then. None gives the
        rows one by one, which takes longer.
    drop_last
        Leave out the last batch of each worker if it has fewer rows.
    shuffle
        Whether blocks come in a random order, with their rows mixed.
    seed
        The seed of the order, the same for all ranks. Together with the number of the epoch it
        decides on the order.
    block_rows
        The most rows of a block. Shorter blocks are mixed better, and take longer to read.
    mixed_blocks
        With `shuffle`, the rows of so many blocks are read together and mixed with each other. They
        are in memory meanwhile. 0 keeps the rows of each block in their order.
    rank, world_size
        The number of this process, and how many there are. None takes those of
        `torch.distributed`, if it is initialised when the dataset is made.

    Raises
    ------
    UnsupportedTypeError, ArgumentError
        As for `MapDataset`.

    Examples
    --------
    >>> from entasis.torch import IterableDataset
    >>> en.write(pd.DataFrame({"a": range(5)}), "table.entasis")
    >>> [batch["a"].tolist() for batch in IterableDataset("table.entasis", batch_size=2)]
    [[0, 1], [2, 3], [4]]
    >>> halves = [
    ...     IterableDataset("table.entasis", batch_size=9, rank=i, world_size=2) for i in (0, 1)
    ... ]
    >>> [batch["a"].tolist() for half in halves for batch in half]
    [[0, 1], [2, 3, 4]]
    """

    @reported
    def __init__(
        self,
        source: Source | File | Scan,
        *,
        batch_size: int | None = None,
        drop_last: bool = False,
        shuffle: bool = False,
        seed: int = 0,
        block_rows: int = _BLOCK,
        mixed_blocks: int = _MIXED,
        columns: Columns | None = None,
        rows: Rows | None = None,
        filter: Filter | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        to: To | None = None,
        threads: int | None = None,
        key: AnyKey | None = None,
        password: str | None = None,
    ) -> None:
        if batch_size is not None:
            batch_size = integer_between("batch_size", batch_size, "a number of rows, or None", 1, None)
        for name, value in (("shuffle", shuffle), ("drop_last", drop_last)):
            if not isinstance(value, bool):
                raise ArgumentError(f"{name}={shown(value)}: True or False")
        self._batch_size, self._drops_last, self._shuffles = batch_size, drop_last, shuffle
        self._seed = integer_between("seed", seed, "an integer, 0 or more", 0, None)
        self._block_rows = integer_between("block_rows", block_rows, "a number of rows", 1, None)
        self._mixed_blocks = integer_between("mixed_blocks", mixed_blocks, "a number of blocks, or 0", 0, None)
        self._ranks = _shares.ranks(rank, world_size) or _shares.group()
        self._to, self._threads = target(to), _threads(threads)
        self._epoch = _shared_integer()
        self._source = opened(source, columns, rows, filter, key, password)
        # Types that PyTorch lacks are reported here, not later by a worker process.
        _batches.converted(self._source.read(range(0), 1), converter(self._to))

    @property
    def n_rows(self) -> int:
        """The number of rows over all workers and ranks."""
        return self._source.n_rows

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch, which changes the order of `shuffle`.

        Call it before each pass over the DataLoader, with the same number on all ranks. Persistent
        workers see it too.

        Parameters
        ----------
        epoch
            An integer, 0 or more.

        Examples
        --------
        >>> from entasis.torch import IterableDataset
        >>> en.write(pd.DataFrame({"a": range(100)}), "table.entasis")
        >>> dataset = IterableDataset("table.entasis", batch_size=100, shuffle=True)
        >>> first = next(iter(dataset))["a"].tolist()
        >>> dataset.set_epoch(1)
        >>> first == next(iter(dataset))["a"].tolist()
        False
        """
        self._epoch[0] = integer_between("epoch", epoch, "an integer, 0 or more", 0, (1 << 63) - 1)

    def __iter__(self) -> Iterator[Any]:
        # A pass keeps the epoch in which it began.
        return self._pass(*self._share(), int(self._epoch[0]))

    def _share(self) -> tuple[int, int]:
        """The number of this share of the rows, and how many shares there are."""
        self._check_group()
        number, n_workers = _shares.worker()
        rank, n_ranks = self._ranks or (0, 1)
        return rank * n_workers + number, n_ranks * n_workers

    def _check_group(self) -> None:
        """Refuse a process group that is younger than the dataset: each rank would get all rows."""
        if self._ranks is None and (_shares.group() or (0, 1))[1] > 1:
            raise ArgumentError(
                "the dataset was made before torch.distributed was initialised, so each rank would read all rows: "
                "make it afterwards, or pass rank= and world_size="
            )

    def _pass(self, share: int, n_shares: int, epoch: int) -> Iterator[Any]:
        convert = converter(self._to)
        parts = self._parts(share, n_shares, epoch)
        if self._batch_size is None:
            for part in parts:
                yield from _batches.samples(part, convert)
            return
        for batch in _cut(parts, self._batch_size, self._drops_last):
            yield _batches.converted(batch, convert)

    def _parts(self, share: int, n_shares: int, epoch: int) -> Iterator[Arrays]:
        """The rows of a share, in parts of one or several blocks."""
        import numpy as np

        edges = _shares.edges(self._source.n_rows, n_shares, self._block_rows)
        blocks = np.arange(len(edges) - 1)
        if self._shuffles:
            np.random.default_rng([self._seed, epoch]).shuffle(blocks)
        mine = blocks[share::n_shares].tolist()
        random = np.random.default_rng([self._seed, epoch, share])
        is_mixed = self._shuffles and self._mixed_blocks > 0
        step = self._mixed_blocks if is_mixed else 1
        for first in range(0, len(mine), step):
            found = [
                self._read(range(edges[block], edges[block + 1]))
                for block in mine[first : first + step]
                if edges[block] < edges[block + 1]
            ]
            if not found:
                continue
            part = _joined(found)
            if is_mixed:
                order = random.permutation(_batches.n_rows_of(part))
                part = {name: array[order] for name, array in part.items()}
            yield part

    @reported
    def _read(self, rows: range) -> Arrays:
        return self._source.read(rows, self._threads)

    def __getstate__(self) -> dict[str, Any]:
        # Spawned workers do not have the process group.
        self._check_group()
        return dict(self.__dict__)

    def __repr__(self) -> str:
        return f"<entasis.torch.IterableDataset of {self._source.n_rows:,} rows>"


def _shared_integer() -> Any:
    """An integer that worker processes share, in an array or tensor of one element."""
    if not HAS_TORCH:
        return [0]
    import torch

    return torch.zeros(1, dtype=torch.int64).share_memory_()


def _joined(parts: list[Arrays]) -> Arrays:
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _cut(parts: Iterator[Arrays], size: int, drops_last: bool) -> Iterator[Arrays]:
    """Cut rows into batches of equal length, across the ends of parts."""
    left: Arrays | None = None
    for part in parts:
        rows = part if left is None else _joined([left, part])
        n = _batches.n_rows_of(rows)
        for start in range(0, n - size + 1, size):
            yield {name: array[start : start + size] for name, array in rows.items()}
        rest = n % size
        left = {name: array[n - rest :] for name, array in rows.items()} if rest else None
    if left is not None and not drops_last:
        yield left
