"""Warns of long files whose bytes are mostly of earlier generations."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from entasis import _entasis

if TYPE_CHECKING:
    from entasis._entasis import Key, Password

# Shorter files are not worth a look.
_LONG = 64 << 20
# The lengths of files at the last look. The next one is at twice the length.
_looked_at: dict[str, float] = {}


def warn_of_dead(path: str, secret: Key | Password | None = None, stacklevel: int = 3) -> None:
    """Warn if `compact` would free most of a long file, once per process and path.

    The caller at `stacklevel` is named, as in `warnings.warn`.
    """
    size = os.path.getsize(path)
    if size < max(_LONG, 2 * _looked_at.get(path, 0)):
        return
    _looked_at[path] = size
    if _entasis.Handle(path, None, False, secret).is_worth_compacting():
        _looked_at[path] = float("inf")
        message = (
            f"{path!r} is at least four times as long as its values: its earlier generations take the rest. "
            "entasis.compact(path) removes them, and takes about as long as copying the file"
        )
        warnings.warn(message, stacklevel=stacklevel)
