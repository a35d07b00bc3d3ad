"""All that this package uses of NumPy beyond its public interface, and the public way for each.

`ENTASIS_PUBLIC_ONLY=1` forces the public ways.
"""

from __future__ import annotations

from typing import Any

from entasis._hosts.public_only import PUBLIC_ONLY

# Private names are looked up by this, so that a test can take one away.
_private = getattr


def fill_value(array: Any) -> Any:
    """The value that a masked array shows in place of missing ones; None if none was set.

    The public way takes the usual value of the dtype for one that was not set.
    """
    import numpy as np

    if not PUBLIC_ONLY:
        try:
            return _private(array, "_fill_value")
        except AttributeError:
            pass
    found, usual = array.fill_value, np.ma.MaskedArray([], dtype=array.dtype).fill_value
    if (
        np.asarray(found).dtype == np.asarray(usual).dtype
        and np.asarray(found).tobytes() == np.asarray(usual).tobytes()
    ):
        return None
    # Scalars of strings have the width of their characters.
    return np.asarray(found, array.dtype)
