"""Integers of 128 bits. Unsigned ones have the order of unsigned numbers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import forks
import polars as pl
import pytest

import entasis as en
from entasis import col

OLD = Path(__file__).parents[2] / "tests" / "golden" / "v0.2" / "unsigned-128.entasis"
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


def test_round_trips_in_nested_values(path: Path) -> None:
    values = [0, 1, 2**127 - 1, 2**127, MOST, None]
    lists = [values, [], None, [MOST], [None], [0, 1]]

    def series(name: str, values: list[int | None]) -> pl.Series:
        return pl.Series(name, values, dtype=pl.UInt128)

    u = pl.col("u")
    of_lists = pl.Series("l", [None if of is None else series("", of) for of in lists], dtype=pl.List(pl.UInt128))
    once = pl.DataFrame([series("u", values), of_lists]).with_columns(
        s=pl.when(u == 1).then(None).otherwise(pl.struct("u", "l")),
        f=pl.concat_list(u, u.shift(1)).list.to_array(2),
        n=pl.concat_list(pl.struct(u), pl.struct(u.shift(1))),
    )
    for times in (1, 3_000):
        frame = pl.concat([once] * times)
        for compression in (0, 50, 100):
            en.write(frame, path, compression=compression)
            assert en.read(path).equals(frame)
            assert en.read(path).schema == frame.schema
            en.verify(path)
    assert en.open(path)[1:3].read().equals(frame[1:3])
    en.append(frame, path)
    assert en.read(path).equals(pl.concat([frame, frame]))
    en.verify(path)


def test_extensions(path: Path) -> None:
    of = pl.Series("u", [0, None, MOST], dtype=pl.UInt128)
    frame = pl.DataFrame([of.ext.to(pl.Extension("a.wide", pl.UInt128, None)), of.alias("v")])
    en.write(frame, path)
    back = en.read(path)
    assert back.schema == frame.schema
    assert back["u"].ext.storage().equals(of)


def test_files_of_version_0_2(path: Path) -> None:
    """They store these numbers as signed ones, also their statistics."""
    path.write_bytes(OLD.read_bytes())
    f = en.open(path)
    frame = f.read(to="polars")
    assert frame.schema["not nullable"] == pl.UInt128
    assert frame["not nullable"].max() == MOST
    for name in ("near", "far", "not nullable"):
        assert all(block["min"] is None and block["order"] is None for block in f.stats(name))
        for value in EDGES:
            literal = pl.lit(value, dtype=pl.UInt128)
            for wanted, found in (
                (pl.col(name) < literal, col(name) < value),
                (pl.col(name) > literal, col(name) > value),
                (pl.col(name) == literal, col(name) == value),
            ):
                assert f.count(found) == frame.filter(wanted).height, found
    with pytest.raises(en.ArgumentError, match="not known to be in ascending order"):
        f.search("near", 1)
    path.write_bytes(path.read_bytes() + b"not compact")
    en.compact(path)
    en.verify(path)
    assert en.open(path).read(to="polars").equals(frame)
    assert en.open(path).count(col("not nullable") > 2**127) == frame["not nullable"].to_list().count(MOST)


def test_fields_of_structs(path: Path) -> None:
    frame = pl.DataFrame({"s": [{"u": value} for value in EDGES]}, schema={"s": pl.Struct({"u": pl.UInt128})})
    en.write(frame, path)
    assert en.open(path).count(en.field("s", "u") >= 2**127) == 4
    assert en.open(path).count(en.field("s", "u") < 0) == 0


@pytest.mark.parametrize("rest", [[], ["i"]], ids=["alone", "bundled"])
def test_statistics_and_searches(rest: list[str], path: Path) -> None:
    """Blocks of bundled columns describe the values of all members."""
    for dtype, least in ((pl.UInt128, 0), (pl.Int128, -(2**127))):
        for numbers in (range(5), range(2**127 - 3, 2**127 + 3), range(2**127, 2**127 + 5), EDGES):
            values = [number + least for number in numbers]
            frame = pl.DataFrame({name: pl.Series(values, dtype=dtype) for name in ["u", *rest]})
            en.write(frame, path)
            f = en.open(path)
            (block,) = f.stats("u")
            known = (values[0], values[-1], "ascending") if not rest else (None, None, None)
            assert (block["min"], block["max"], block["order"]) == known
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
        done = forks.command(*arguments)
        assert done.returncode == 0
        return done.stdout.decode()

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
    assert forks.command("append", path, other).returncode == 1
    assert en.read(path)["u"].to_list() == [MOST]
    other.unlink()
