"""Labels as the names of columns, which are UTF-8."""

from __future__ import annotations

from typing import Any


def is_text(text: str) -> bool:
    """Whether a string can be encoded as UTF-8, which lone surrogates can't."""
    try:
        return text.isascii() or text.encode() is not None
    except UnicodeEncodeError:
        return False


def as_text(label: Any) -> str:
    """A label as the name of a column. Lone surrogates become question marks."""
    try:
        text = str(label)
    except Exception:
        # `__str__` of any class may raise, also of an int with very many digits.
        text = type(label).__name__
    return text if is_text(text) else text.encode(errors="replace").decode()
