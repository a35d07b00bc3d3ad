"""Conditions of engines, bound to the columns of a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._filter import bind
from entasis._filter.conditions import Condition
from entasis._memory import reported
from entasis.errors import ArgumentError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from entasis._view.view import View


@reported
def bound(view: View, numbers: Mapping[str, int], tree: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The condition as the core takes it; None where the core can't test it.

    Parameters
    ----------
    view
        The view that is asked for rows.
    numbers
        The numbers of its columns, by name.
    tree
        The condition, with columns by name. Like the engine, it sees null in place of NaN.
    """
    try:
        found = bind.tree(Condition(("engine", tree)), view.handle, lambda labels: [numbers[labels[0]]])
        view.handle.explain_filter(found, 0, 0)
    except (ArgumentError, UnsupportedTypeError, KeyError):
        return None
    return found
