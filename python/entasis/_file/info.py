"""What `info` and `verify` tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entasis.errors import printable


class Info:
    """How a file is stored. Each item of the description is an attribute; `to_dict` gives all."""

    if TYPE_CHECKING:
        n_rows: int
        n_columns: int
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
        """All items."""
        return dict(self._items)

    def __repr__(self) -> str:
        lines = []
        for name, value in self._items.items():
            if isinstance(value, list):
                lines.append(f"{name}:")
                lines += [f"  {_line(item)}" for item in value[:100]]
                if len(value) > 100:
                    lines.append(f"  ... and {len(value) - 100} more")
            else:
                lines.append(f"{name}: {value:,}" if type(value) is int else f"{name}: {value}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from . import html as _html

        return _html.info(self)


def _line(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    return "  ".join(f"{name}={value}" for name, value in item.items())


class Report(NamedTuple):
    """What was checked, and found whole."""

    n_columns: int
    n_blocks: int
    n_values: int
    checked_len: int
