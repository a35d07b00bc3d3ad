"""Integers of 128 bits. Unsigned ones have the order of unsigned numbers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path

MOST = 2**128 - 1
EDGES = [0, 1, 7, 2**63, 2**64, 2**127 - 1, 2**127, 2**127 + 5, MOST - 1, MOST]
LITERALS: list[Any] = [*EDGES, -1, -(2**127), 2**128, 2**200, 0.5, 2.0**127, 2.0**128, -0.0, -1e300, float("inf")]


def draw(n: int) -> list[int | None]:
    """Edges, random numbers of any length, and missing values."""
    rng = random.Random(1)
    some = [None if i % 11 == 0 else rng.getrandbits(rng.randrange(1, 129)) for i in range(n)]
    return [*some, *EDGES]


@pytest.fixture(params=[20, 70_000], ids=["short", "blocks"])
def frame(request: pytest.FixtureRequest) -> pl.DataFrame:
    values = draw(request.param)
    signed = [None if value is None else value - 2**127 for value in values]
    return pl.DataFrame({"u": pl.Series(values, dtype=pl.UInt128), "i": pl.Series(signed, dtype=pl.Int128)})


def test_filters_have_the_order_of_the_numbers(frame: pl.DataFrame, path: Path) -> None:
    en.write(frame, path)
    f = en.open(path)
    assert f.read().equals(frame)
    for name, least in (("u", 0), ("i", -(2**127))):
        values = [value for value in frame[name].to_list() if value is not None]
        assert f.count(col(name).is_missing()) == frame[name].null_count()
        assert f.read(filter=~col(name).is_missing())[name].to_list() == values
        for literal in LITERALS if len(values) < 100 else LITERALS[::4]:
            if isinstance(literal, int):
                literal += least
            for condition, wanted in (
                (col(name) < literal, [value for value in values if value < literal]),
                (~(col(name) < literal), [value for value in values if value >= literal]),
                (col(name) >= literal, [value for value in values if value >= literal]),
                (col(name) > literal, [value for value in values if value > literal]),
                (col(name) == literal, [value for value in values if value == literal]),
                (col(name) != literal, [value for value in values if value != literal]),
                (col(name).is_in([literal, least + 7]), [value for value in values if value in (literal, least + 7)]),
                (~col(name).is_in([literal]), [value for value in values if value != literal]),
                (col(name).between(least + 5, literal), [v for v in values if least + 5 <= v <= literal]),
            ):
                assert f.count(condition) == len(wanted), condition
            assert f.read(filter=col(name) <= literal)[name].to_list() == [v for v in values if v <= literal]


def test_polars_selects_the_same_rows(frame: pl.DataFrame, path: Path) -> None:
    en.write(frame, path)
    f = en.open(path)
    for value in EDGES:
        literal = pl.lit(value, dtype=pl.UInt128)
        u = pl.col("u")
        for expression in (u < literal, u >= literal, u == literal, ~(u > literal), u.is_between(pl.lit(3), literal)):
            wanted = frame.filter(expression)
            assert f.lazy().filter(expression).collect().equals(wanted), expression
            assert en.scan_polars(path).filter(expression).collect().equals(wanted), expression
            assert f.read(filter=expression).equals(wanted), expression
    assert f.lazy().select(pl.col("u").max(), pl.col("i").min()).collect().row(0) == (MOST, -(2**127))


def test_fields_of_structs(path: Path) -> None:
    frame = pl.DataFrame({"s": [{"u": value} for value in EDGES]}, schema={"s": pl.Struct({"u": pl.UInt128})})
    en.write(frame, path)
    assert en.open(path).count(en.field("s", "u") >= 2**127) == 4
    assert en.open(path).count(en.field("s", "u") < 0) == 0


@pytest.mark.parametrize("rest", [[], ["i"]], ids=["alone", "bundled"])
def test_statistics_and_searches(rest: list[str], path: Path) -> None:
    """Blocks with numbers on both sides of 2^127 have no minimum, since the stored one is another."""
    for dtype, least in ((pl.UInt128, 0), (pl.Int128, -(2**127))):
        for numbers in (range(5), range(2**127 - 3, 2**127 + 3), range(2**127, 2**127 + 5), EDGES):
            values = [number + least for number in numbers]
            frame = pl.DataFrame({name: pl.Series(values, dtype=dtype) for name in ["u", *rest]})
            en.write(frame, path)
            f = en.open(path)
            (block,) = f.stats("u")
            known = (values[0], values[-1], "ascending")
            assert (block["min"], block["max"], block["order"]) in (known, (None, None, None))
            assert block["n_missing"] in (0, None)
            keys = (values[0] - 1, values[0], values[2], values[-1] + 1)
            if block["min"] is None:
                with pytest.raises(en.ArgumentError, match="not known to be in ascending order"):
                    f.search("u", keys[0])
                continue
            for key in keys:
                assert f.search("u", key) == sum(value < key for value in values)


def test_descending_numbers_are_not_sorted(path: Path) -> None:
    """In the order of signed numbers these ascend."""
    en.write(pl.DataFrame({"u": pl.Series([2**127, MOST, 0, 2**127 - 1], dtype=pl.UInt128)}), path)
    with pytest.raises(en.ArgumentError, match="not known to be in ascending order"):
        en.open(path).search("u", 1)
    en.write(pl.DataFrame({"u": pl.Series([*[MOST] * 65_536, *[1] * 65_536], dtype=pl.UInt128)}), path)
    with pytest.raises(en.ArgumentError, match="not known to be in ascending order"):
        en.open(path).search("u", 1)


def test_the_command_and_other_libraries(path: Path) -> None:
    en.write(pl.DataFrame({"u": pl.Series([3, MOST], dtype=pl.UInt128)}), path)

    def command(*arguments: str) -> str:
        run = [sys.executable, "-m", "entasis", *arguments]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout

    assert [json.loads(line)["u"] for line in command("head", "--json", str(path)).splitlines()] == [3, MOST]
    assert str(MOST) in command("head", str(path))
    assert command("count", str(path), "--where", f"u > {2**127}").strip() == "1"
    assert command("count", str(path), "--where", "u < 0").strip() == "0"
    assert en.info(path).columns[0]["type"] == "u128"
    for to in ("pandas", "pyarrow", "numpy", "static_frame"):
        pytest.importorskip(to)
        with pytest.raises(en.UnsupportedTypeError, match=r"'u'.*u128"):
            en.read(path, to=to)  # type: ignore[call-overload]
    with pytest.raises(en.UnsupportedTypeError, match=r"'u'.*u128"):
        en.open(path).to_dataset().to_table()


def test_signed_and_unsigned_rows_are_not_joined(path: Path) -> None:
    en.write(pl.DataFrame({"u": pl.Series([MOST], dtype=pl.UInt128)}), path)
    other = path.with_suffix(".other")
    en.write(pl.DataFrame({"u": pl.Series([-1], dtype=pl.Int128)}), other)
    with pytest.raises(en.ArgumentError, match="'u'"):
        en.append(en.read(other), path)
    run = [sys.executable, "-m", "entasis", "append", str(path), str(other)]
    assert subprocess.run(run, capture_output=True, check=False).returncode == 1
    assert en.read(path)["u"].to_list() == [MOST]
    other.unlink()
