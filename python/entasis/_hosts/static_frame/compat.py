"""The private names of StaticFrame that this package uses, each with a public way.

`ENTASIS_PUBLIC_ONLY=1` forces the public ways.
"""

from __future__ import annotations

from typing import Any

from entasis._public_only import PUBLIC_ONLY

# All private names are looked up by this function, so that a test can remove one.
_private = getattr


def blocks(frame: Any) -> list[Any]:
    """The arrays of a frame, with one axis for a single column or two axes for several columns.

    The public way returns each column as an array of its own.
    """
    if not PUBLIC_ONLY:
        try:
            return list(_private(_private(frame, "_blocks"), "_blocks"))
        except AttributeError:
            pass
    return list(frame.iter_array(axis=0))


def is_auto_integer(index: Any) -> bool:
    """Whether StaticFrame made an index of integers because none was given.

    The public way can't tell such an index from a user's index with equal labels.
    """
    import numpy as np

    if not PUBLIC_ONLY:
        try:
            return _private(index, "_map") is None
        except AttributeError:
            pass
    return bool(np.array_equal(index.values, np.arange(len(index))))
