"""Write with pandas, then read with Polars, pyarrow and NumPy."""

import tempfile
from pathlib import Path

import entasis as en
import pandas as pd
import polars as pl
import pyarrow as pa


def main(folder: Path) -> None:
    frame = pd.DataFrame(
        {"name": ["Ada", "Emmy", None], "born": pd.to_datetime(["1815-12-10", "1882-03-23", None])},
        index=pd.Index([30, 10, 20], name="id"),
    )
    path = folder / "people.entasis"
    en.write(frame, path)

    # The index is a column for libraries without one; missing values are null.
    people = en.read(path, to="polars")
    assert people.columns == ["id", "name", "born"]
    assert people["name"].null_count() == 1

    # Libraries that speak Arrow's stream interface take the open file itself.
    table = pa.table(en.open(path))
    assert table.num_rows == 3
    assert pl.DataFrame(en.open(path)).filter(pl.col("id") > 10).height == 2

    arrays = en.read(path, columns=["born"], to="numpy")
    assert arrays["born"].dtype.kind == "M"

    # A Polars frame comes back as one, for pandas too when asked.
    en.write(people, path)
    assert en.read(path).equals(people)
    assert list(en.read(path, to="pandas").columns) == ["id", "name", "born"]
    print(people)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
