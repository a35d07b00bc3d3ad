"""The columns that a scanner of pyarrow is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    import pyarrow.compute as pc

    # Names, or new names with expressions; None for all columns.
    Projection: TypeAlias = list[str] | Mapping[str, pc.Expression] | None
