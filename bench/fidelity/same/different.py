"""Errors that report the first difference of two values."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

# Whether the memory layout counts: orders of axes, blocks.
LAYOUT: ContextVar[bool] = ContextVar("LAYOUT", default=True)


class Different(AssertionError):
    """Two values differ; the message says where."""


def equal(a: Any, b: Any, path: str) -> None:
    """Two plain values are equal."""
    if a != b:
        raise Different(f"{path}: {shown(b)} instead of {shown(a)}")


def equal_of(of: Callable[[Any], Any], a: Any, b: Any, path: str) -> None:
    """Check that a function returns the same for both values."""
    equal(of(a), of(b), path)


def same_type(a: Any, b: Any, path: str) -> None:
    """Two values are of exactly one type."""
    if type(a) is not type(b):
        raise Different(f"{path}: a {called(type(b))} instead of a {called(type(a))}")


def called(kind: type) -> str:
    """Display name of a type."""
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def shown(value: Any) -> str:
    """A value in few characters."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."
