"""Values as Entasis files in memory."""

from __future__ import annotations

from typing import Any

from entasis._file.file import File
from entasis._open import value_of
from entasis._write import destination, write_whole


def staged(value: Any) -> Any:
    """A value as an open file in memory."""
    return value_of(File(stored(value)))


def are_same(a: Any, b: Any) -> bool:
    """Whether two values are stored as the same bytes."""
    return stored(a) == stored(b)


def stored(value: Any) -> bytes:
    """The content of an Entasis file with a value."""
    content = write_whole(value, destination(None, 0, None, False, 0), None, "error")
    assert content is not None, "a file in memory has bytes"
    return content
