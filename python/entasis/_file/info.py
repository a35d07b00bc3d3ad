"""Results of `info` and `verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entasis.errors import escaped, printable

if TYPE_CHECKING:
    from datetime import timedelta


class Info:
    """A description of how a file is stored. Its items are attributes.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table.
    columns : list of dict
        The name, type, encodings, stored size and number of missing values of each column.
    edition : int
        The newest set of encodings that the file may use; 0 in a file of format 0.2.
    dead_len : int
        The bytes that changes left in the file. `entasis.compact` drops them.
    keep : int, timedelta or None
        The earlier generations that changes keep, if a change or `entasis.keep` asked for them.

    encryption : str or None
        The cipher of an encrypted file, such as "AES-256-GCM". Its lengths count the bytes before
        encryption.

    Examples
    --------
    >>> en.write({"a": np.arange(3)}, "table.entasis")
    >>> en.info("table.entasis").columns[0]["name"]
    'a'
    """

    if TYPE_CHECKING:
        n_rows: int
        n_columns: int
        edition: int
        dead_len: int
        keep: int | timedelta | None
        encryption: str | None
        columns: list[dict[str, Any]]

    def __init__(self, items: dict[str, Any]) -> None:
        self._items = items

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_items"][name]
        except KeyError:
            message = f"there is no {name!r}: one of {', '.join(self.__dict__.get('_items', ()))}"
            raise AttributeError(printable(message)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._items]

    def to_dict(self) -> dict[str, Any]:
        """Return all items as a dict."""
        return dict(self._items)

    def _shown(self) -> dict[str, Any]:
        """The items to show. They lack `keep` and `encryption` if nothing asked for them."""
        return {
            name: value
            for name, value in self._items.items()
            if name not in ("keep", "encryption") or value is not None
        }

    def __repr__(self) -> str:
        lines = []
        for name, value in self._shown().items():
            if isinstance(value, list):
                lines.append(f"{name}:")
                lines += [f"  {_line(item)}" for item in value[:100]]
                if len(value) > 100:
                    lines.append(f"  ... and {len(value) - 100} more")
            else:
                advice = ", which entasis.compact drops" if name == "dead_len" and value else ""
                lines.append(f"{name}: {value:,}{advice}" if type(value) is int else f"{name}: {value}")
        return "\n".join(map(escaped, lines))

    def _repr_html_(self) -> str:
        from . import html as _html

        return _html.items(self._shown())


def _line(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    return "  ".join(f"{name}={value}" for name, value in item.items())


class Report(NamedTuple):
    """The result of `entasis.verify`: how much was checked, without finding damage.

    Attributes
    ----------
    n_columns, n_blocks, n_values : int
        Numbers of columns, blocks and values.
    checked_len : int
        The number of checked bytes.
    n_generations : int
        The number of checked generations. The other numbers describe the newest one.
    leftover_len : int
        Bytes after the end of the newest generation. A change that was interrupted, or still goes
        on, left these bytes. Nothing reads them, and the next change removes them.
    """

    n_columns: int
    n_blocks: int
    n_values: int
    checked_len: int
    n_generations: int
    leftover_len: int
