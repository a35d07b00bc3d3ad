"""Files of R: RDS, RData, qs2, qdata and fst.

`entasis.open` opens them as trees of values or, an fst file, as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis._file.file import File
from entasis._open import value_of

if TYPE_CHECKING:
    from entasis._tree.tree import Tree


def opened(source: str | bytes) -> File | Tree:
    """Open a file of R."""
    return value_of(File(source))
