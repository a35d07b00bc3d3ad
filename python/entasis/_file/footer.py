"""The bytes by which another process opens a file on a store without a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._view import table as _table
from entasis._view.view import View

if TYPE_CHECKING:
    from entasis._arguments.secrets import Secret
    from entasis._stores.remote import Remote


def footer(
    content: bytes | Remote | None,
    limits: dict[str, int] | None = None,
    generation: int | None = None,
    secret: Secret | None = None,
) -> bytes | None:
    """The footer of an open object on a store; None for other files.

    Parameters
    ----------
    content
        The object, or the content of a file in memory.
    limits, generation, secret
        How the file was opened.
    """
    if not _sources.is_remote(content):
        return None
    from entasis._stores.recorded import footer_of

    def open_it(source: Remote) -> None:
        table = _table.opened(
            source,
            memory_map=False,
            types=None,
            limits=limits,
            generation=generation,
            whole=False,
            secret=secret,
        )
        if table.handle.is_table:
            # The names of the columns.
            View(table).names()

    found: Any = content
    return footer_of(found, open_it)
