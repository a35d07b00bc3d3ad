"""The columns of a view by their names in other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis._arguments.options import shown
from entasis.errors import DuplicateColumnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entasis._view.view import View


def numbers_by_name(view: View, names: Sequence[str]) -> dict[str, int]:
    """The numbers of a view's columns.

    Parameters
    ----------
    view
        The view.
    names
        The names that the columns have when they are read, with levels of the index first.

    Raises
    ------
    DuplicateColumnError
        Two columns have the same name, and engines know columns by name.
    """
    levels, n = view.table.levels, view.handle.n_columns
    numbers = [*levels.columns, *range(n)] if view.columns is None else view.columns
    found = dict(zip(names, numbers, strict=True))
    if len(found) < len(numbers):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DuplicateColumnError(f"an engine can't tell apart two columns named {shown(twice)}: select one of them")
    return found
