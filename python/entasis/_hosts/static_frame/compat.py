"""All that this package uses of StaticFrame beyond its public interface, and the public way for each.

`ENTASIS_PUBLIC_ONLY=1` forces the public ways.
"""

from __future__ import annotations

from typing import Any

from entasis._hosts.public_only import PUBLIC_ONLY

# Private names are looked up by this, so that a test can take one away.
_private = getattr


def blocks(frame: Any) -> list[Any]:
    """The arrays of a frame: of one axis for a column, or of two axes for several.

    The public way gives each column by itself.
    """
    if not PUBLIC_ONLY:
        try:
            return list(_private(_private(frame, "_blocks"), "_blocks"))
        except AttributeError:
            pass
    return list(frame.iter_array(axis=0))


def is_auto_integer(index: Any) -> bool:
    """Whether an index of integers is the one that StaticFrame makes where none is given.

    The public way takes equal labels for such an index.
    """
    import numpy as np

    if not PUBLIC_ONLY:
        try:
            return _private(index, "_map") is None
        except AttributeError:
            pass
    return bool(np.array_equal(index.values, np.arange(len(index))))
