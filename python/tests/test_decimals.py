"""Decimals of all widths come back exactly, to every library that has them."""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest

import entasis as en

pa = pytest.importorskip("pyarrow")

KINDS = [
    pa.decimal128(1), pa.decimal128(9, 2), pa.decimal128(15, 2), pa.decimal128(18, 18), pa.decimal128(19, 4),
    pa.decimal128(38, 10), pa.decimal128(12, -3), pa.decimal256(5, 2), pa.decimal256(18),
    pa.decimal256(30, 2), pa.decimal256(38, 38), pa.decimal32(9, 2), pa.decimal32(3), pa.decimal64(5, 2),
    pa.decimal256(60, 2), pa.decimal256(76, 76), pa.decimal256(39, -4),
    pa.decimal64(18, 4),
]  # fmt: skip


def make(kind, n, seed=0, *, missing=True):
    """Numbers of all lengths that the type has, every seventh missing."""
    rng = np.random.default_rng(seed)
    digits = rng.integers(1, kind.precision + 1, n).tolist()
    words = rng.integers(0, 10**9, (n, 5)).tolist()
    numbers = [int("".join(map(str, w))) % 10**d for w, d in zip(words, digits, strict=True)]
    with localcontext() as context:
        context.prec = 100
        values = [
            None if missing and i % 7 == 3 else Decimal(-x if i % 2 else x).scaleb(-kind.scale)
            for i, x in enumerate(numbers)
        ]
    return pa.array(values, kind)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [0, 1, 50, 9000, 70_000])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_pyarrow(kind, n, path):
    array = make(kind, n, seed=n)
    for table in (
        pa.table({"x": array, "y": array}),
        pa.table(
            {"x": pa.chunked_array([array.slice(0, n // 3), array.slice(n // 3)]), "y": make(kind, n, missing=False)}
        ),
    ):
        en.write(table, path)
        back = en.read(path)
        assert back.equals(table)
        assert back.schema == table.schema
        back.validate(full=True)
        rows = np.random.default_rng(1).integers(0, n, min(n, 200)) if n else np.empty(0, "i8")
        assert en.read(path, rows=rows).equals(table.take(rows))
        assert en.read(path, rows=slice(n // 4, n // 2)).equals(table.slice(n // 4, n // 2 - n // 4))
        assert en.read(path, rows=slice(None, None, -3)).equals(table.take(np.arange(n)[::-3]))
    en.verify(path)


def test_dictionary(path):
    array = make(pa.decimal128(12, 2), 100)
    table = pa.table({"x": pa.chunked_array([array, array]).combine_chunks().dictionary_encode()})
    en.write(table, path)
    assert en.read(path).equals(table)
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'x': decimal\(12, 2\)"):
        en.read(path, to="numpy")
    categories = en.read(path, to="pandas")["x"].cat.categories
    assert str(categories.dtype) == "decimal128(12, 2)[pyarrow]"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_pandas(kind, path):
    array = make(kind, 500)
    frame = pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(array)), "n": range(500)})
    frame.index = pd.Index(pd.arrays.ArrowExtensionArray(make(kind, 500, missing=False)), name="i")
    en.write(frame, path)
    back = en.read(path)
    pd.testing.assert_frame_equal(back, frame)
    assert back.dtypes.equals(frame.dtypes)
    # Of a file of another library: as wide as pandas' usual decimals.
    en.write(pa.table({"x": array}), path)
    back = en.read(path, to="pandas")["x"]
    usual = pa.decimal128 if kind.precision <= 38 else pa.decimal256
    assert back.dtype.pyarrow_dtype == usual(kind.precision, kind.scale)
    assert pa.array(back).cast(kind).equals(array)


@pytest.mark.parametrize("scale", [0, 2, 10])
@pytest.mark.parametrize("precision", [10, 18, 38])
def test_polars(precision, scale, path):
    frame = pl.DataFrame({"x": pl.from_arrow(make(pa.decimal128(precision, scale), 3000))})
    assert frame.schema["x"] == pl.Decimal(precision, scale)
    en.write(frame, path)
    back = en.read(path)
    assert back.equals(frame)
    assert back.schema == frame.schema
    assert en.read(path, to="pyarrow").equals(frame.to_arrow())
    assert en.read(path, rows=[7, 7, 0])["x"].equals(frame["x"][[7, 7, 0]])


def test_other_widths_to_polars(path):
    for kind in (pa.decimal32(9, 2), pa.decimal64(18, 4), pa.decimal256(30, 2)):
        array = make(kind, 100)
        en.write(pa.table({"x": array}), path)
        back = en.read(path, to="polars")
        assert back.schema["x"] == pl.Decimal(kind.precision, kind.scale)
        assert back["x"].to_list() == array.to_pylist()
    for kind in (pa.decimal128(12, -3), pa.decimal128(5, 9), pa.decimal256(39)):
        en.write(pa.table({"n": [1], "x": pa.array([None], kind)}), path)
        with pytest.raises(en.UnsupportedTypeError, match=r"column 'x': type decimal\(.*Polars"):
            en.read(path, to="polars")
        assert en.read(path, columns=["n"], to="polars").shape == (1, 1)


@pytest.mark.parametrize("n", [3, 20_000])
def test_more_digits_than_told(n, path):
    """Arrow doesn't check the digits: what fits into the integer is kept, what doesn't is refused."""

    def table(value):
        words = struct.pack("<2q", 5, 0) * (n - 1) + value.to_bytes(16, "little", signed=True)
        array = pa.Array.from_buffers(pa.decimal128(15, 2), n, [None, pa.py_buffer(words)])
        return pa.table({"n": range(n), "x": array})

    for value in (2**63 - 1, -(2**63)):
        en.write(table(value), path)
        words = en.read(path)["x"].chunk(0).buffers()[1].to_pybytes()
        assert int.from_bytes(words[-16:], "little", signed=True) == value
    old = path.read_bytes()
    for value in (2**63, -(2**63) - 1, 2**127 - 1, 2**64):
        with pytest.raises(en.UnsupportedTypeError, match=rf'row {n - 1} .*column "x"'):
            en.write(table(value), path)
    assert path.read_bytes() == old


def test_numpy_has_none(path):
    en.write(pa.table({"n": [1, 2], "x": pa.array([Decimal("1.5"), None], pa.decimal128(15, 2))}), path)
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'x': decimal\(15, 2\)"):
        en.read(path, to="numpy")
    assert list(en.read(path, columns=["n"], to="numpy")["n"]) == [1, 2]


def test_types_that_are_refused(path):
    for kind in (pa.decimal256(76, -129), pa.decimal128(12, -129)):
        with pytest.raises(en.UnsupportedTypeError, match="column 'x': Arrow type decimal"):
            en.write(pa.table({"x": pa.array([None], kind)}), path)
    assert not path.exists()
    en.write(pd.DataFrame({"x": [Decimal("1.50")]}), path)
    assert repr(en.read(path)["x"][0]) == "Decimal('1.50')"


def test_schema_tells_digits(path):
    en.write(pa.table({"x": pa.array([Decimal("1.5")], pa.decimal128(15, 2))}), path)
    with en.open(path) as file:
        assert "decimal(15, 2)" in repr(file.schema)
    assert en.info(path).columns[0]["type"] == "decimal(15, 2)"
