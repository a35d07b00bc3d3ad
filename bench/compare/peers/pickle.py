"""pickle, protocol 5: what Python itself has."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from .base import Peer


class Pickle(Peer):
    key = "pickle"
    label = "pickle 5"
    hosts = ("pandas", "arrow", "static_frame")

    def write(self, value: Any, path: Path) -> None:
        with path.open("wb") as file:
            pickle.dump(value, file, protocol=5)

    def read(self, path: Path) -> Any:
        with path.open("rb") as file:
            return pickle.load(file)  # written by this program a moment ago
