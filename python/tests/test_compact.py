"""`compact` drops what appends left, and changes no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path


def frame(n: int, start: int = 0) -> pd.DataFrame:
    numbers = np.arange(start, start + n)
    return pd.DataFrame(
        {
            "number": numbers * 977 % 65_521,
            "text": [f"row {i % 1000}" for i in numbers],
            "category": pd.Categorical.from_codes(numbers % 3, ["a", "b", "c"]),
            "time": pd.to_datetime(numbers, unit="s"),
        }
    )


def test_a_grown_file(path: Path) -> None:
    en.write(frame(150_000), path)
    for i in range(20):
        assert en.append(frame(1000, 150_000 + 1000 * i), path, durable=False) == []
    before = path.stat().st_size
    assert f"dead_len: {en.info(path).dead_len:,}, which entasis.compact drops" in repr(en.info(path))
    wanted = en.read(path)
    with en.open(path) as opened:
        assert en.compact(path) is None
        # An open file keeps what it had.
        pd.testing.assert_frame_equal(opened.read(), wanted)
    pd.testing.assert_frame_equal(en.read(path), wanted)
    en.verify(path)
    at_once = path.with_suffix(".once")
    en.write(wanted, at_once)
    assert path.stat().st_size < before
    assert "dead_len: 0\n" in repr(en.info(path))
    assert path.stat().st_size <= 1.05 * at_once.stat().st_size + 1000
    assert en.append(frame(10, 170_000), path) == []
    assert len(en.read(path)) == 170_010


TREES: dict[str, Any] = {
    "tree": {"frame": pd.DataFrame({"a": [1, 2]}), "list": [1, "x", None, {3, 4}], "array": np.arange(6).reshape(2, 3)},
    "objects": pd.DataFrame({"o": [1, "x", [2]]}, index=["a", "b", "c"]),
    "wide": pd.DataFrame(np.arange(3000).reshape(3, 1000)),
    "empty": pd.DataFrame({"a": []}),
}


@pytest.mark.parametrize("name", TREES)
def test_other_values(name: str, path: Path) -> None:
    en.write(TREES[name], path, metadata={"by": "Ada"})
    content = path.read_bytes()
    wanted = repr(en.read(path))
    with path.open("ab") as file:
        file.write(b"rest of a change")
    en.compact(path, durable=False, wait=0)
    assert repr(en.read(path)) == wanted
    assert en.open(path).metadata == {"by": "Ada"}
    en.verify(path)
    assert path.stat().st_size <= len(content) + 100


def test_errors(path: Path, tmp_path: Path) -> None:
    with pytest.raises(en.MissingFileError):
        en.compact(tmp_path / "none")
    with pytest.raises(en.ArgumentError):
        en.compact(path.open("wb"))  # type: ignore[arg-type]
    en.write(frame(100_000), path)
    content = bytearray(path.read_bytes() + b"rest")
    content[20_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(en.CorruptFileError):
        en.compact(path)
    assert path.read_bytes() == content
    assert [child.name for child in tmp_path.iterdir()] == [path.name]
