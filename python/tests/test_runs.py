"""Tables with many neighbouring columns of one type, which have one record together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import static_frame as sf

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

# Too few columns for a run, enough, and more than a page of values; and numbers of rows around the
# limit for bundles.
SHAPES = [(3, 15), (3, 16), (1, 300), (100, 1000), (8191, 17), (8192, 17), (0, 20)]
NAMES: dict[str, Any] = {
    "strings": lambda n: [f"é{i}" for i in range(n)],
    "objects": lambda n: pd.Index([f"c{i}" for i in range(n)], dtype=object),
    "equal": lambda n: ["x"] * n,
    "empty": lambda n: [""] * n,
    "numbers": lambda n: range(n),
    "sliced": lambda n: pd.Index([f"c{i}" for i in range(2 * n)], dtype="str")[n:],
}


def _arrays(shape: tuple[int, int]) -> list[Any]:
    values = np.random.default_rng(5).normal(size=shape).round(2)
    return [
        values,
        np.asfortranarray(values),
        values[::-1, ::-1],
        np.repeat(values, 2, axis=1)[:, ::2],
        values > 0,
        values.astype(np.float32),
        (values * 9).astype(np.int16),
        values + 1j,
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_pandas(tmp_path: Path, shape: tuple[int, int]) -> None:
    path = tmp_path / "a"
    n = shape[1]
    for i, array in enumerate(_arrays(shape)):
        name = list(NAMES)[i % len(NAMES)]
        frame = pd.DataFrame(array, columns=NAMES[name](n))
        en.write(frame, path)
        en.verify(path)
        pd.testing.assert_frame_equal(en.read(path), frame, check_exact=True)
        file = en.open(path)
        some = [n - 1, 0, 3, 3]
        rows = range(shape[0] // 2, shape[0])
        found = file.iloc[rows, some].read()
        pd.testing.assert_frame_equal(
            found, frame.iloc[rows, some].set_axis(pd.RangeIndex(rows.start, rows.stop)), check_exact=True
        )
        assert file.column_names == [str(label) for label in frame.columns]
        assert len(en.info(path).columns) >= n


@pytest.mark.parametrize("name", NAMES)
def test_names(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame(np.arange(300.0).reshape(3, 100), columns=NAMES[name](100))
    en.write(frame, tmp_path / "a")
    pd.testing.assert_frame_equal(en.read(tmp_path / "a"), frame)
    file = en.open(tmp_path / "a")
    texts = [str(label) for label in frame.columns]
    for _ in range(3):
        # The first one goes through the names, the others have an index.
        for k in (0, 99, 50):
            expected = [i for i, text in enumerate(texts) if text == texts[k]]
            if len(expected) == 1:
                assert file.select(frame.columns[k]).read().iloc[:, 0].tolist() == frame.iloc[:, k].tolist()
            else:
                with pytest.raises(en.errors.DuplicateColumnError):
                    file.select(frame.columns[k])
    with pytest.raises(en.errors.ColumnNotFoundError):
        file["not there"]


@pytest.mark.parametrize("shape", SHAPES)
def test_static_frame(tmp_path: Path, shape: tuple[int, int]) -> None:
    for array in _arrays(shape):
        array.flags.writeable = False
        frame = sf.Frame(array, columns=[f"é{i}" for i in range(shape[1])])
        en.write(frame, tmp_path / "a")
        en.verify(tmp_path / "a")
        found = en.read(tmp_path / "a")
        assert found.equals(frame, compare_class=True, compare_dtype=True, compare_name=True)
        assert found.columns.values.dtype == frame.columns.values.dtype


def test_runs_beside_others(tmp_path: Path) -> None:
    numbers = pd.DataFrame(np.arange(200.0).reshape(2, 100)).add_prefix("f")
    flags = (numbers > 7).add_prefix("b")
    frame = pd.concat([numbers, flags], axis=1).assign(
        text=["a", "b"], when=pd.Timestamp("2026-11-22"), kind=pd.Categorical(["x", "y"])
    )
    frame.index = pd.Index(["r", "s"], name="row")
    en.write(frame, tmp_path / "a")
    pd.testing.assert_frame_equal(en.read(tmp_path / "a"), frame)
    assert en.open(tmp_path / "a")["kind"].read()["kind"].tolist() == ["x", "y"]
    # Most columns are by themselves.
    mixed = pd.concat([frame] + [frame[["text"]].add_suffix(str(i)) for i in range(300)], axis=1)
    en.write(mixed, tmp_path / "a")
    pd.testing.assert_frame_equal(en.read(tmp_path / "a"), mixed)


def test_settings_of_one_column(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.arange(4000.0).reshape(100, 40)).add_prefix("c")
    en.write(frame, tmp_path / "a", compression={"c3": 80, None: 20})
    pd.testing.assert_frame_equal(en.read(tmp_path / "a"), frame)
    en.write([frame, {"again": frame}], tmp_path / "b")
    en.verify(tmp_path / "b")
    first, second = en.read(tmp_path / "b")
    pd.testing.assert_frame_equal(first, frame)
    pd.testing.assert_frame_equal(second["again"], frame)
    # Both are one table.
    with_objects = frame.assign(o=[{"a": i} for i in range(100)])
    en.write(with_objects, tmp_path / "c", compression={"c3": 80}, metadata={"m": 1})
    pd.testing.assert_frame_equal(en.read(tmp_path / "c"), with_objects)


def test_the_footer_is_small(tmp_path: Path) -> None:
    en.write(pd.DataFrame(np.zeros((2, 10_000))).add_prefix("c"), tmp_path / "a")
    assert (tmp_path / "a").stat().st_size < 12 * 10_000
