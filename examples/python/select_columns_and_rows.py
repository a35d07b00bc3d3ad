"""Write a frame, then read columns, rows, and the rows that match a condition."""

import tempfile
from pathlib import Path

import entasis as en
import numpy as np
import pandas as pd


def main(folder: Path) -> None:
    n = 100_000
    rng = np.random.default_rng(1)
    trips = pd.DataFrame(
        {
            "city": pd.Categorical(rng.choice(["Oslo", "Rome", "Lima"], n)),
            "price": rng.integers(100, 9999, n) / 100,
            "seats": rng.integers(1, 5, n),
        },
        index=pd.date_range("2026-01-01", periods=n, freq="min", name="time"),
    )
    path = folder / "trips.entasis"
    en.write(trips, path)

    # Columns by name, rows by position. The index comes with them.
    part = en.read(path, columns=["city", "price"], rows=(-3, None))
    assert part.equals(trips[["city", "price"]].iloc[-3:])

    # An open file reads nothing until it is asked for values.
    with en.open(path) as file:
        price = file["price"].read()["price"]
        expensive = file[(price > 99).to_numpy(), ["city", "seats"]].read()
        one_hour = file.loc["2026-01-05 10:00":"2026-01-05 10:59"].read()
    assert expensive.equals(trips.loc[trips["price"] > 99, ["city", "seats"]])
    assert len(one_hour) == 60
    print(f"{len(expensive):,} expensive trips of {n:,}, in {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
