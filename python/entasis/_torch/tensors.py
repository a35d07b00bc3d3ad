"""Arrays of NumPy as tensors of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, MissingLibraryError, UnsupportedTypeError

from .bases import HAS_TORCH

if TYPE_CHECKING:
    from collections.abc import Callable

    To = Literal["torch", "numpy"]

# Stands for the name of an unnamed array, since a dict's key may be None.
ALONE = object()

_ADVICE = "leave it out with columns=, or pass to='numpy' and convert it in collate_fn="


def target(to: To | None) -> To:
    """Check the library of the batches. None means PyTorch if it is installed."""
    if to not in (None, "torch", "numpy"):
        raise ArgumentError(f"to={shown(to)}: 'torch' or 'numpy'")
    if to == "torch" and not HAS_TORCH:
        raise MissingLibraryError("torch is needed and not installed: pip install torch, or pass to='numpy'")
    return to or ("torch" if HAS_TORCH else "numpy")


def converter(to: To) -> Callable[[Any, Any], Any]:
    """Return a function that converts an array, which errors call by a name."""
    return _tensor if to == "torch" else lambda name, array: array


def _tensor(name: Any, array: Any) -> Any:
    """Convert to a tensor, which shares the memory if it may be written to."""
    import numpy as np
    import torch

    what = "the array" if name is ALONE else f"column '{name}'"
    dtype = array.dtype
    if isinstance(array, np.ma.MaskedArray):
        raise UnsupportedTypeError(f"{what}: PyTorch has no masked arrays; {_ADVICE}")
    if dtype.kind in "mM":
        why = "has no counterpart in PyTorch: store it as integers, or convert it in collate_fn= with to='numpy'"
        raise UnsupportedTypeError(f"{what}: {dtype} {why}")
    if dtype.kind not in "biufc":
        held = "text or other objects" if dtype.kind == "O" else "fields" if dtype.names else str(dtype)
        raise UnsupportedTypeError(f"{what}: PyTorch has no tensors of {held}; {_ADVICE}")
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    try:
        return torch.from_numpy(np.require(array, requirements=["C", "W"]))
    except TypeError as error:
        raise UnsupportedTypeError(f"{what}: {dtype} has no counterpart in PyTorch; {_ADVICE}") from error
