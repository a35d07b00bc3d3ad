"""NumPy's own files: NPY for a frame that is one array, NPZ for plain columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import Peer, Refused


class Npy(Peer):
    key = "npy"
    label = "NumPy NPY"

    def prepare(self, frame: Any) -> Any:
        import numpy as np

        kinds = set(frame.dtypes)
        kind = kinds.pop() if len(kinds) == 1 else None
        if not isinstance(kind, np.dtype) or kind.kind == "O":
            raise Refused("the columns are not one array")
        return frame.to_numpy()

    def write(self, value: Any, path: Path) -> None:
        import numpy as np

        with path.open("wb") as file:
            np.save(file, value)

    def read(self, path: Path) -> Any:
        import numpy as np

        with path.open("rb") as file:
            return np.load(file)

    def restore(self, got: Any, frame: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(got, index=frame.index, columns=frame.columns)

    def notes(self) -> list[str]:
        return ["written from and read into one array, without labels"]


class Npz(Peer):
    key = "numpy-npz"
    label = "NumPy NPZ"

    def __init__(self) -> None:
        self.changed: list[str] = []

    def prepare(self, frame: Any) -> Any:
        from .plain import plain_columns

        columns, self.changed = plain_columns(frame)
        return {f"{i}": values for i, values in enumerate(columns.values())}

    def write(self, value: Any, path: Path) -> None:
        import numpy as np

        with path.open("wb") as file:
            np.savez(file, **value)

    def read(self, path: Path) -> Any:
        import numpy as np

        with path.open("rb") as file, np.load(file) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def restore(self, got: Any, frame: Any) -> Any:
        from .plain import from_plain

        return from_plain(dict(zip(frame.columns, got.values(), strict=True)), frame)

    def notes(self) -> list[str]:
        return [*self.changed, "written from and read into arrays, not pandas"]
