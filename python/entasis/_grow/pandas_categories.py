"""Categories of pandas: those of the file, then new ones of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .columns import listed
from .host_types import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable


def convert(column: Any, dtype: Any, fit: Callable[[Any, Any], Any]) -> Any:
    """A series of categories that begin with those of `dtype`. `fit` converts the categories."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        if column.dtype.ordered and not dtype.ordered:
            raise Unfit("an order")
        if dtype.ordered and not column.dtype.ordered:
            raise Unfit("values without an order")
    else:
        column = column.astype("category")
    old, new = dtype.categories, column.cat.categories
    if new.dtype != old.dtype and len(new) and len(old):
        new = pd.Index(fit(pd.Series(new), old.dtype), dtype=old.dtype)
        column = column.cat.rename_categories(new)
    if not len(new):
        return column.cat.set_categories(old, ordered=dtype.ordered)
    if not len(old) and not dtype.ordered:
        return column
    added = new[~new.isin(old)]
    if dtype.ordered:
        _check_order(old, new, column.cat.ordered, added)
        return column.cat.set_categories(old, ordered=True)
    return column.cat.set_categories(old.append(added) if len(added) else old)


def _check_order(old: Any, new: Any, is_ordered: bool, added: Any) -> None:
    """Check that the ordered categories of a file have those of the rows, in the same order."""
    if len(added) and not is_ordered:
        raise Unfit(f"{listed(added, 1)}")
    if is_ordered and (len(added) or not (old.get_indexer(new)[1:] > old.get_indexer(new)[:-1]).all()):
        differs = "the order" if set(old) == set(new) else "the ordered categories"
        message = (
            f"has {differs} {listed(old)} in the file and {listed(new)} in the rows to append: give both the same "
            "(cat.set_categories)"
        )
        raise Unfit(message=message)


def wider(old: Any, new: Any) -> Any:
    """The ordered categories of the rows, if they contain those of the file in the same order."""
    import pandas as pd

    if not isinstance(new, pd.CategoricalDtype) or not old.ordered or not new.ordered:
        return None
    found = new.categories.get_indexer(old.categories)
    is_in_order = (found >= 0).all() and (found[1:] > found[:-1]).all()
    return new if is_in_order and new.categories.dtype == old.categories.dtype else None
