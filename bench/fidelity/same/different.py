"""What tells that two values are not the same."""

from __future__ import annotations

from typing import Any


class Different(AssertionError):
    """Two values differ; the message says where."""


def equal(a: Any, b: Any, path: str) -> None:
    """Two plain values are equal."""
    if a != b:
        raise Different(f"{path}: {shown(b)} instead of {shown(a)}")


def same_type(a: Any, b: Any, path: str) -> None:
    """Two values are of exactly one type."""
    if type(a) is not type(b):
        raise Different(f"{path}: a {called(type(b))} instead of a {called(type(a))}")


def called(kind: type) -> str:
    """A type as it is told to people."""
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def shown(value: Any) -> str:
    """A value in few characters."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."
