"""Filters on decimals of any width compare exactly, as Python's numbers do."""

from __future__ import annotations

import decimal
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path

D = decimal.Decimal
EXACT = decimal.Context(prec=400)
OPERATORS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
TYPES = {
    "39 digits": pa.decimal256(39, 0),
    "scale": pa.decimal256(60, 5),
    "most digits": pa.decimal256(76, 30),
    "negative scale": pa.decimal256(50, -3),
    "128 bits": pa.decimal128(38, 10),
}


def scaled(number: int, of: Any) -> D:
    return EXACT.scaleb(D(number), -of.scale)


def write(path: Path, numbers: list[int | None], of: Any) -> en.File:
    values = [None if number is None else scaled(number, of) for number in numbers]
    en.write(pa.table({"d": pa.array(values, of)}), path)
    return en.open(path)


def check(f: en.File, numbers: list[int | None], of: Any, literal: Any) -> None:
    values = [None if number is None else scaled(number, of) for number in numbers]
    # Floats count as the number that they are written as.
    exact = D(repr(literal)) if isinstance(literal, float) else literal
    for compare in OPERATORS:
        condition = compare(col("d"), literal)
        wanted = [i for i, value in enumerate(values) if value is not None and compare(value, exact)]
        assert f.filter(condition).row_numbers().tolist() == wanted, condition
        others = [i for i, value in enumerate(values) if value is not None and not compare(value, exact)]
        assert f.filter(~condition).row_numbers().tolist() == others, condition
    assert f.filter(col("d").is_in([literal])).count() == sum(value == exact for value in values if value is not None)


@pytest.mark.parametrize("kind", TYPES)
def test_ends_and_neighbours(tmp_path: Path, kind: str) -> None:
    of = TYPES[kind]
    most = 10**of.precision - 1
    numbers: list[int | None] = [None, -most, 1 - most, -(2**127), -2, -1, 0, 1, 2, 2**127, 2**64, most - 1, most]
    numbers = [number for number in numbers if number is None or abs(number) <= most]
    f = write(tmp_path / "a.entasis", numbers, of)
    literals: list[Any] = [0, 1, -1, 0.1, -2.5, 1e300, -1e300, float("inf"), 10**75, -(10**76), 2**127, 10**400]
    for number in (most, -most, 2**127, -(2**127), 2**255, 1):
        value = scaled(number, of)
        tiny = D((0, (1,), -of.scale - 40))
        literals += [value, EXACT.add(value, tiny), EXACT.subtract(value, tiny)]
    for literal in [*literals, D("Infinity"), D("-Infinity"), D("1E-99999"), D("-1E+99999"), D("0E+99999")]:
        check(f, numbers, of, literal)
    assert f.filter(col("d").is_missing()).row_numbers().tolist() == [0]
    assert f.filter(~col("d").is_missing() & (col("d") >= 0) & (col("d") < 1)).count() == sum(
        number is not None and 0 <= scaled(number, of) < 1 for number in numbers
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.none() | st.integers(-(10**60), 10**60) | st.integers(-300, 300), min_size=1, max_size=40),
    st.integers(-(10**62), 10**62) | st.integers(-300, 300),
    st.integers(-4, 6),
    st.booleans(),
)
def test_random_numbers(
    tmp_path_factory: Any, numbers: list[int | None], number: int, scale: int, repeats: bool
) -> None:
    of = pa.decimal256(64, 3)
    listed = numbers * 50 if repeats else numbers
    f = write(tmp_path_factory.mktemp("decimals") / "a.entasis", listed, of)
    check(f, listed, of, EXACT.scaleb(D(number), -scale))
    check(f, listed, of, number)


def test_long_columns(tmp_path: Path) -> None:
    of = pa.decimal256(50, 2)
    rng = np.random.default_rng(1)
    numbers: list[int | None] = [int(a) * 10**20 + int(b) for a, b in rng.integers(-(10**18), 10**18, (150_000, 2))]
    numbers[70_000:140_000:3] = [None] * len(range(70_000, 140_000, 3))
    f = write(tmp_path / "a.entasis", numbers, of)
    check(f, numbers, of, scaled(numbers[3], of))
    assert f.filter(col("d") == D(1)).count() == 0


def test_values_of_other_types_are_refused(tmp_path: Path) -> None:
    f = write(tmp_path / "a.entasis", [1], TYPES["scale"])
    with pytest.raises(en.ArgumentError, match=r'decimal\(60, 5\), and does not compare with "1"'):
        f.filter(col("d") == "1").count()


def test_integers_and_floats_compare_with_long_numbers(tmp_path: Path) -> None:
    table = {"i": np.array([-(2**63), 0, 2**63 - 1]), "f": np.array([-1e300, 1e39, np.inf])}
    en.write(table, tmp_path / "a.entasis")
    f = en.open(tmp_path / "a.entasis")
    long = D("0." + "0" * 60 + "1")
    for literal in (10**39, -(10**39), D(2**63 - 1) + long, D(10) ** 50, 2**63 - 1):
        for compare in OPERATORS:
            wanted = [i for i, value in enumerate(table["i"].tolist()) if compare(value, literal)]
            assert f.filter(compare(col("i"), literal)).row_numbers().tolist() == wanted, literal
            wanted = [i for i, value in enumerate(table["f"].tolist()) if compare(value, float(literal))]
            assert f.filter(compare(col("f"), literal)).row_numbers().tolist() == wanted, literal
