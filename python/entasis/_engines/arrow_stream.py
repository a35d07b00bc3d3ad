"""Rows of a file as Arrow streams, which decode rows when the consumer asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis._hosts import leave_out
from entasis._memory import reported

from .rows import ArrowRows

if TYPE_CHECKING:
    from entasis._view.query import Query
    from entasis._view.view import View

# Large strings; see `Handle.read_arrow`.
_LARGE = 1


@reported
def schema(view: View) -> object:
    """The capsule of the schema of a view's streams."""
    return _rows(view).__arrow_c_schema__()


@reported
def stream(query: Query, requested_schema: object | None) -> object:
    """The capsule of a stream of the rows of a query."""
    view, limit, tree = query.view, query.limit, None
    if query.condition is not None:
        tree = query.tree()
    elif limit is not None:
        view, limit = view.part(slice(limit)), None
    rows, wanted = _rows(view), None
    if requested_schema is not None:
        from .requested_schema import honoured

        rows, wanted = honoured(requested_schema, rows)
    return rows.stream(tree, limit, wanted)


def _rows(view: View) -> ArrowRows:
    """The rows of a view, without the columns that Arrow lacks."""
    # A query of some columns works even if Arrow lacks the type of an unrequested one.
    every = leave_out.every(view.handle, view.table.host, view.columns, has_index=False)
    found: ArrowRows = leave_out.read(lambda columns: ArrowRows(view, columns, every, _LARGE), view.columns, every)
    return found
