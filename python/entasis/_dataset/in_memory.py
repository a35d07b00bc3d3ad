"""Frames as files in memory."""

from __future__ import annotations

from typing import Any

from entasis._file.file import File
from entasis._open import open_value
from entasis._write import destination, write_whole


def in_memory(frame: Any) -> File:
    """A frame as an open file in memory, whose rows conditions are tested on."""
    content = write_whole(frame, destination(None, 0, 1, False, 0), None, "error")
    found: Any = open_value(content)  # type: ignore[arg-type]
    assert type(found) is File, "a frame was written"
    return found
