"""Rows of several columns as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

from .bases import HAS_TORCH
from .tensors import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .source import Arrays


def n_rows_of(columns: Arrays) -> int:
    """The number of rows of columns, each an array."""
    return len(next(iter(columns.values()))) if columns else 0


def converted(columns: Arrays, convert: Callable[[Any, Any], Any]) -> Any:
    """The columns in their final form: a dict, or an array without a name."""
    found = {name: convert(name, array) for name, array in columns.items()}
    return found.get(ALONE, found)


class Samples(Sequence[Any]):
    """Rows of a batch, for `collate_fn` of a DataLoader.

    As a sequence it has a dict of scalars for each row, made on demand.

    Attributes
    ----------
    columns
        The values of all rows: a dict with an array or tensor for each column.
    """

    def __init__(self, columns: dict[Any, Any], n_rows: int) -> None:
        self.columns, self._n = columns, n_rows
        self._rows: list[Any] | None = None

    def __len__(self) -> int:
        return self._n

    def _made(self) -> list[Any]:
        if self._rows is None:
            names, arrays = list(self.columns), self.columns.values()
            rows = zip(*arrays, strict=True) if names else ((),) * self._n
            self._rows = [dict(zip(names, row, strict=True)) for row in rows]
        return self._rows

    def __getitem__(self, index: Any) -> Any:
        return self._made()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made())


class ArraySamples(list[Any]):
    """Rows of a batch of an array without a name. PyTorch stacks only lists, not other sequences.

    Attributes
    ----------
    columns
        The values of all rows: an array or a tensor.
    """

    def __init__(self, array: Any) -> None:
        super().__init__(array)
        self.columns = array


def samples(columns: Arrays, convert: Callable[[Any, Any], Any]) -> Samples | ArraySamples:
    """The rows of a batch as a sequence."""
    found = converted(columns, convert)
    return Samples(found, n_rows_of(columns)) if isinstance(found, dict) else ArraySamples(found)


def collate(batch: Any) -> Any:
    """Return a batch of a `MapDataset` as a dict of tensors, for `collate_fn` of a DataLoader.

    The columns that were read are the result, without a pass over the rows.

    Parameters
    ----------
    batch
        The rows that a DataLoader got. Rows of another dataset are left to PyTorch's
        `default_collate`.

    Returns
    -------
    dict
        A tensor for each column, or an array with `to="numpy"`. For a file of one array, a tensor.

    Examples
    --------
    >>> from entasis.torch import MapDataset, collate
    >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}), "table.entasis")
    >>> dataset = MapDataset("table.entasis", to="numpy")
    >>> collate(dataset.__getitems__([2, 0]))
    {'a': array([3, 1]), 'b': array([2.5, 0.5])}
    """
    if isinstance(batch, (Samples, ArraySamples)):
        return batch.columns
    if not HAS_TORCH:
        raise ArgumentError("collate takes the rows that __getitems__ of a MapDataset returns")
    from torch.utils.data import default_collate

    return default_collate(batch)
