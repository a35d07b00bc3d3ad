"""The private names of NumPy that this package uses, each with a public way.

`ENTASIS_PUBLIC_ONLY=1` forces the public ways.
"""

from __future__ import annotations

from typing import Any

from entasis._public_only import PUBLIC_ONLY

# All private names are looked up by this function, so that a test can remove one.
_private = getattr


def fill_value(array: Any) -> Any:
    """The fill value of a masked array; None if none was set.

    The public way can't tell an unset fill value from one that equals the default.
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
    # A scalar string is as wide as its own characters, not as the dtype.
    return np.asarray(found, array.dtype)
