"""Search for the path of a value inside others, for error messages."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# The search gives up after so many values.
_MOST = 100_000


def find(roots: list[tuple[Any, str]], wanted: Any) -> str | None:
    """The path of an object inside named values; None if it is not found."""
    left = [(value, name) for value, name in reversed(roots) if value is not wanted]
    seen: set[int] = set()
    for _ in range(_MOST):
        if not left:
            return None
        value, path = left.pop()
        if value is wanted:
            return str(path)
        if id(value) not in seen:
            seen.add(id(value))
            left += _inside(value, path)
    return None


def _inside(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    kind = type(value)
    if isinstance(value, dict):
        yield from ((inner, f"{path}[{key!r}]") for key, inner in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((inner, f"{path}[{i}]") for i, inner in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((inner, f"{path}.{name}") for name, inner in vars(value).items())
    elif kind.__module__.partition(".")[0] == "numpy" and str(getattr(value, "dtype", None)) == "object":
        yield from ((inner, f"{path}[{i}]") for i, inner in enumerate(value.ravel().tolist()))
    elif kind.__name__ == "DataFrame" and hasattr(value, "iloc"):
        yield value.attrs, f"{path}.attrs"
        for i, dtype in enumerate(value.dtypes):
            if str(dtype) == "object":
                where = f"{path}[{value.columns[i]!r}].iloc"
                yield from ((inner, f"{where}[{row}]") for row, inner in enumerate(value.iloc[:, i].tolist()))
    elif kind.__name__ == "Series" and hasattr(value, "iloc"):
        yield from ((inner, f"{path}.iloc[{i}]") for i, inner in enumerate(value.tolist()))
