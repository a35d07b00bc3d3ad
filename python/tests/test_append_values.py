"""Values that are appended or added as columns: what is taken, and what errors say of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "rows.entasis")


def values(path: str) -> list[Any]:
    found = en.read(path, to="numpy")
    return list(next(iter(found.values())).tolist())


FRAMES = [
    pd.DataFrame({"a": [1]}),
    pl.DataFrame({"a": [1]}),
    pa.table({"a": [1]}),
    {"a": np.array([1])},
    sf.Frame.from_dict({"a": (1,)}),
]


@pytest.mark.core
@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__module__.partition(".")[0])
def test_what_is_not_rows(path: str, frame: Any) -> None:
    en.write(frame, path)
    before = Path(path).read_bytes()
    for value in (path, Path(path)):
        with pytest.raises(en.ArgumentError, match=r"has no rows: pass an? .*, or for a file entasis\.open"):
            en.append(value, path)
    for value in ({"a": 9}, {"a": np.array(9)}):
        with pytest.raises(en.ArgumentError, match=r"column 'a' is .*, not a list of values|pass a Frame"):
            en.append(value, path)
    for value in ({"k": 1}, {"k": np.array(1)}):
        with pytest.raises(en.ArgumentError, match=r"column 'k' is .*, not a list of values"):
            en.add_columns(value, path)
    for value in (7, None, object(), [1, 2], [["x"]]):
        with pytest.raises((en.ArgumentError, en.ColumnNotFoundError)):
            en.append(value, path)
        with pytest.raises((en.ArgumentError, en.ColumnNotFoundError)):
            en.add_columns(value, path)
    assert Path(path).read_bytes() == before


@pytest.mark.core
@pytest.mark.parametrize("frame", FRAMES[:3], ids=lambda frame: type(frame).__module__.partition(".")[0])
def test_lists_of_dicts(path: str, frame: Any) -> None:
    en.write(frame, path)
    en.append([{"a": 2}, {"a": 3}], path)
    assert values(path) == [1, 2, 3]


@pytest.mark.core
def test_a_reader_that_fails_says_why(path: str) -> None:
    schema = pa.schema([("a", pa.int64())])

    def batches() -> Iterator[Any]:
        yield pa.record_batch({"a": [2]}, schema)
        raise ConnectionError("network gone")

    def check(change: Any) -> None:
        with pytest.raises((OSError, en.EntasisError), match="network gone") as caught:
            change()
        message = str(caught.value)
        assert "can't be appended" not in message
        assert "wrong argument" not in message
        assert values(path) == [1]

    for frame in FRAMES[:3]:
        en.write(frame, path)
        check(lambda: en.append(pa.RecordBatchReader.from_batches(schema, batches()), path))
        check(lambda: en.add_columns(pa.RecordBatchReader.from_batches(schema, batches()), path))
        check(lambda: en.write(pa.RecordBatchReader.from_batches(schema, batches()), path))


@pytest.mark.core
def test_an_array_has_no_label(path: str) -> None:
    en.write(np.arange(3), path)
    assert en.append(np.arange(2), path) == [None]
    assert en.read(path).tolist() == [0, 1, 2, 0, 1]
    with pytest.raises(en.ArgumentError, match=r"rows of shape \(2,\) can't be appended to an array of shape"):
        en.append(np.ones((2, 2), int), path)
    with pytest.raises(en.ArgumentError, match="the array is int64 in the file and float64"):
        en.append(np.ones(2) / 2, path)
    assert en.append(np.ones(2), path) == [None]
    with pytest.raises(en.ArgumentError, match="shape"):
        en.append(np.array(1), path)


@pytest.mark.core
def test_masked_arrays_are_not_filled(path: str) -> None:
    masked = np.ma.MaskedArray([1, 2], [True, False])
    en.write({"a": np.array([1])}, path)
    with pytest.raises(en.ArgumentError, match="column 'a' is a masked array"):
        en.append({"a": masked}, path)
    with pytest.raises(en.ArgumentError, match="column 'b' is a masked array"):
        en.add_columns({"b": masked[:1]}, path)
    en.write(np.array([1]), path)
    with pytest.raises(en.ArgumentError, match="masked array"):
        en.append(masked, path)
    assert en.read(path).tolist() == [1]
