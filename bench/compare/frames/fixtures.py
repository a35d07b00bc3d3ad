"""The nine frames of StaticFrame's benchmarks, and versions with newly drawn values.

They are made by frame-fixtures from a string each. frame-fixtures repeats one sequence of 200,000
values, shifted, in all columns of a type. The other frames have the same types, labels and value
ranges, but each column has its own values.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = {"tall": (10_000, 100), "square": (1_000, 1_000), "wide": (100, 10_000)}
KINDS = {
    "uniform": "v(float)",
    "mixed": "v(int,int,bool,float,float)",
    "columnar": "v(int,bool,float)",
}
POOL = 200_000  # the integers; multiples of 3 are negative
SEED = 22


def names() -> list[str]:
    """Kind and shape of the nine."""
    return [f"{kind}-{shape}" for kind in KINDS for shape in SHAPES]


def fixture(name: str, factor: float, folder: Path) -> Any:
    """The StaticFrame of that name, each dimension `factor` times as long; kept in `folder`."""
    kind, shape = name.split("-")
    n_rows, n_columns = (max(3, round(size * factor)) for size in SHAPES[shape])

    def make() -> Any:
        import frame_fixtures

        return frame_fixtures.parse(f"s({n_rows},{n_columns})|{KINDS[kind]}|i(I,int)|c(I,str)")

    return _kept(folder / "nine" / f"{kind}-{n_rows}x{n_columns}.pickle", make)


def drawn(frame: Any) -> Any:
    """A frame like that fixture, its columns drawn on their own."""
    import static_frame as sf

    n_rows, n_columns = frame.shape
    rng = np.random.default_rng([SEED, n_rows, n_columns])
    dtypes = frame.dtypes.values
    if len(frame._blocks._blocks) == 1:  # one array stays one array
        values = np.column_stack([_column(dtypes[0], n_rows, rng) for _ in range(n_columns)])
        values.flags.writeable = False
        return sf.Frame(values, index=frame.index, columns=frame.columns)
    return sf.Frame(
        sf.TypeBlocks.from_blocks(_blocks(dtypes, n_rows, rng)),
        index=frame.index,
        columns=frame.columns,
        own_data=True,
    )


def _blocks(dtypes: Any, n_rows: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Neighbours of one type in one array, as frame-fixtures has them."""
    for dtype, group in groupby(dtypes):
        columns = [_column(dtype, n_rows, rng) for _ in group]
        values = columns[0] if len(columns) == 1 else np.column_stack(columns)
        values.flags.writeable = False
        yield values


def _column(dtype: np.dtype, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    if dtype.kind == "b":
        return rng.random(n_rows) < 0.5
    integers = rng.choice(max(POOL, 2 * n_rows), n_rows, replace=False)
    integers[integers % 3 == 0] *= -1
    if dtype.kind == "i":
        return integers
    reals = np.round(integers * 0.02, 12)
    reals[0] = np.nan
    return reals


def _kept(path: Path, make: Any) -> Any:
    if path.exists():
        with path.open("rb") as file:
            return pickle.load(file)  # written by this program before
    value = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        pickle.dump(value, file, protocol=5)
    unfinished.replace(path)
    return value
