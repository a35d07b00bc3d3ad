"""Datasets of PyTorch over files: `MapDataset` by position, `IterableDataset` from block to block.

Importing this module imports PyTorch where it is installed. Without it the datasets give arrays of
NumPy.

>>> from entasis.torch import IterableDataset, MapDataset, collate
"""

from ._torch.batches import collate
from ._torch.iterable_dataset import IterableDataset
from ._torch.map_dataset import MapDataset

__all__ = ["IterableDataset", "MapDataset", "collate"]
