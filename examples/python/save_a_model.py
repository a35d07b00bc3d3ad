"""Save a tree of arrays, frames and settings; read one array of it, and fail on damage."""

import dataclasses
import tempfile
from pathlib import Path

import entasis as en
import numpy as np
import pandas as pd


@dataclasses.dataclass
class Settings:
    rate: float
    steps: int


def main(folder: Path) -> None:
    rng = np.random.default_rng(1)
    model = {
        "settings": Settings(rate=0.01, steps=500),
        "weights": {"hidden": rng.random((512, 128)), "output": rng.random((128, 10))},
        "losses": pd.DataFrame({"step": range(500), "loss": np.linspace(1, 0.1, 500)}),
        "labels": ["cat", "dog", None],
    }
    path = folder / "model.entasis"
    en.write(model, path, metadata={"run": 7})

    # All of it. A class comes back only where the reader passes it.
    whole = en.read(path, types=[Settings])
    assert whole["settings"] == Settings(rate=0.01, steps=500)
    assert whole["labels"] == ["cat", "dog", None]

    # One part, without reading the others.
    file = en.open(path)
    rows = file["weights"]["hidden"][10:12].read()
    assert np.array_equal(rows, model["weights"]["hidden"][10:12])
    assert file.metadata == {"run": 7}
    print(file.tree())

    # A flipped bit is an error, never a wrong value.
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    try:
        en.verify(bytes(damaged))
    except en.CorruptFileError as error:
        print(f"as it should be: {error}")
    else:
        raise AssertionError("the damage went unnoticed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
