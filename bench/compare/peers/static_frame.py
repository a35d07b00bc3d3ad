"""StaticFrame's NPZ: NumPy arrays of a frame in one uncompressed ZIP file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import Peer


class StaticFrameNpz(Peer):
    """Even for pandas it writes from and reads into a StaticFrame, which favours it."""

    key = "npz"
    label = "StaticFrame NPZ"
    modules = ("static_frame",)
    hosts = ("pandas", "static_frame")

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.whole = False  # labels and all, not only plain columns

    def prepare(self, frame: Any) -> Any:
        if self.host == "static_frame":
            return frame
        import static_frame as sf

        from .plain import as_static_frame, plain_columns

        whole = as_static_frame(frame)
        self.whole = whole is not None
        if whole is not None:
            return whole
        columns, self.changed = plain_columns(frame)
        return sf.Frame.from_items(columns.items())

    def write(self, value: Any, path: Path) -> None:
        value.to_npz(str(path))

    def read(self, path: Path) -> Any:
        import static_frame as sf

        return sf.Frame.from_npz(str(path))

    def restore(self, got: Any, frame: Any) -> Any:
        if self.host == "static_frame":
            return got
        from .plain import as_pandas, from_plain

        if self.whole:
            return as_pandas(got)
        return from_plain({label: got[label].values for label in got.columns}, frame)

    def notes(self) -> list[str]:
        if self.host == "static_frame":
            return []
        return [*self.changed, "written from and read into a StaticFrame, not pandas"]
