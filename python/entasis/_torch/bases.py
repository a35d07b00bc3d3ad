"""The base classes of PyTorch's datasets, and plain classes where PyTorch is not installed."""

from __future__ import annotations

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        # An installation that lacks a part would give arrays where tensors are expected.
        raise
    HAS_TORCH = False
else:
    HAS_TORCH = True

if HAS_TORCH:
    from torch.utils.data import Dataset as MapBase
    from torch.utils.data import IterableDataset as IterableBase
else:

    class MapBase:  # type: ignore[no-redef]
        """The base class instead of `torch.utils.data.Dataset` where PyTorch is missing."""

    class IterableBase:  # type: ignore[no-redef]
        """The base class instead of `torch.utils.data.IterableDataset` where PyTorch is missing."""


__all__ = ["HAS_TORCH", "IterableBase", "MapBase"]
