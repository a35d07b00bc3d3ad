"""Expressions of pyarrow on datasets over files, generated, against a table in memory."""

from __future__ import annotations

import datetime
import decimal
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from tiers import by_tier

import entasis as en
from entasis._engines import expressions

if TYPE_CHECKING:
    from pathlib import Path

DAY = datetime.datetime(2024, 1, 1)
NAN = float("nan")
# Columns with values that tests compare them with.
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i": (pa.int64(), [None, -(2**63), -3, 0, 1, 2**53 + 1, 2**63 - 1]),
    "small": (pa.int8(), [None, -128, -1, 0, 127]),
    "u": (pa.uint64(), [None, 0, 7, 2**64 - 1]),
    "f": (pa.float64(), [None, 0.0, -0.0, 1.0, 0.1, -2.5, float("inf"), float("-inf"), NAN, 5e-324]),
    "f32": (pa.float32(), [None, 0.0, -0.0, 1.0, 0.5, 0.1, float("inf"), NAN]),
    "s": (pa.string(), [None, "", "a", "ab", "é", "x" * 15, "x" * 15 + "b", "\U0010ffff"]),
    "big": (pa.large_string(), [None, "", "b", "ba"]),
    "raw": (pa.binary(), [None, b"", b"\0", b"a\xff"]),
    "b": (pa.bool_(), [None, True, False]),
    "t": (pa.timestamp("ms"), [None, DAY, DAY + datetime.timedelta(hours=5)]),
    "z": (pa.timestamp("us", "Europe/Zurich"), [None, DAY, DAY + datetime.timedelta(hours=5)]),
    "d": (pa.date32(), [None, datetime.date(2024, 1, 1), datetime.date(1969, 12, 31)]),
    "clock": (pa.time64("us"), [None, datetime.time(0), datetime.time(23, 59, 59)]),
    "span": (pa.duration("ns"), [None, datetime.timedelta(0), datetime.timedelta(days=-1)]),
    "m": (pa.decimal128(10, 2), [None, decimal.Decimal("1.50"), decimal.Decimal("-2.25"), decimal.Decimal("0.00")]),
    "none": (pa.int32(), [None]),
}
ORDERED = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


def whole(n: int = 3000) -> pa.Table:
    random = np.random.default_rng(7)
    columns = {
        name: pa.array([values[k] for k in random.integers(0, len(values), n)], of)
        for name, (of, values) in COLUMNS.items()
    }
    columns["c"] = columns["s"].dictionary_encode()
    columns["p"] = pa.array([None if k % 5 == 0 else {"x": k % 3 or None, "f": 0.5 * k} for k in range(n)])
    return pa.table(columns)


def leaves() -> st.SearchStrategy[pc.Expression]:
    """Conditions on one column."""

    def of_column(name: str) -> st.SearchStrategy[pc.Expression]:
        of, values = COLUMNS[name]
        some = st.sampled_from([value for value in values if value is not None] or [1])
        field = pc.field(name)
        literal = some.map(lambda value: pc.scalar(pa.scalar(value, of)))
        found = [
            st.builds(lambda op, value: getattr(pc, op)(field, value), st.sampled_from(ORDERED), literal),
            st.builds(lambda op, value: getattr(pc, op)(value, field), st.sampled_from(ORDERED), literal),
            st.sampled_from([field.is_null(), field.is_valid()]),
            st.lists(st.sampled_from(values), max_size=4).map(lambda some: field.isin(pa.array(some, of))),
        ]
        if pa.types.is_floating(of):
            found.append(st.sampled_from([field.is_nan(), field.is_null(nan_is_null=True)]))
        if name in ("s", "big"):
            texts = st.sampled_from(["", "a", "x" * 14, "b", "é"])
            matches = st.sampled_from([pc.starts_with, pc.ends_with, pc.match_substring])
            found.append(st.builds(lambda match, text: match(field, text), matches, texts))
        if name == "s":
            found.append(literal.map(lambda value: pc.field("c") == value))
        return st.one_of(found)

    other = st.sampled_from(
        [
            pc.field("b"),
            pc.field("p", "x") == 1,
            pc.field("p", "f") < 700.0,
            pc.field("small") + pc.field("small") > pa.scalar(3, pa.int8()),
            pc.field("f") * 2.0 > 1.0,
            pc.field("small") < 100.5,
            # pyarrow compares these in 64 bits.
            pc.field("f32") < 0.1,
            pc.field("f32") == 0.1,
            pc.field("f32") >= 0.5,
            pc.field("f32") < 2**24 + 1,
            pc.scalar(True),
        ]
    )
    return st.one_of([of_column(name) for name in COLUMNS] + [other])


CONDITIONS = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda both: both[0] & both[1]),
        st.tuples(inner, inner).map(lambda both: both[0] | both[1]),
        inner.map(lambda one: ~one),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, ds.Dataset]:
    path = tmp_path_factory.mktemp("expressions") / "table.entasis"
    table = whole()
    table = table.append_column("row", pa.array(range(len(table))))
    en.write(table, path)
    return table, en.open(path).to_dataset()


@settings(max_examples=by_tier(150, 400), deadline=None)
@given(condition=CONDITIONS)
def test_generated_conditions(both: tuple[pa.Table, ds.Dataset], condition: pc.Expression) -> None:
    table, dataset = both
    try:
        expected = ds.dataset(table).to_table(columns=["row"], filter=condition)
    except pa.ArrowException:
        # pyarrow can't compare these types, or overflows. The core may.
        return
    assert dataset.to_table(columns=["row"], filter=condition)["row"].to_pylist() == expected["row"].to_pylist()
    assert dataset.count_rows(filter=condition) == len(expected)


def test_what_is_translated() -> None:
    schema = whole(10).schema
    a, f = pc.field("i"), pc.field("f")

    def parts(condition: pc.Expression) -> list[Any]:
        return [part.tree for part in expressions.parts_of(condition, schema, nan_is_largest=False)]

    assert parts((a > 3) & (a + a < 9) & a.is_valid()) == [("gt", "i", 3), None, ("not", ("null", "i"))]
    assert parts(~(a > 3) | (pc.field("s") == "a")) == [("or", (("not", ("gt", "i", 3)), ("eq", "s", "a")))]
    for name, (of, values) in COLUMNS.items():
        value = pa.scalar(values[-1] if name not in ("f", "f32", "none") else 1, of)
        assert parts(pc.field(name) == value) != [None], name
        assert parts(pc.field(name) < value) != [None], name
    # Rounded, unknown, of another type, or different by the sign of zero.
    for condition in (
        a < 2.0**60,
        f == NAN,
        f.isin([0.0]),
        pc.field("nothing") == 1,
        pc.field(0) == 1,
        a.cast("int8") == 1,
    ):
        assert parts(condition) == [None], str(condition)


def test_names_that_look_like_metadata(tmp_path: Path) -> None:
    names = ["end: 'less'", "a'\nend: 'less", "b\n", "é", ""]
    table = pa.table({name: range(10) for name in names})
    en.write(table, tmp_path / "table.entasis")
    dataset = en.open(tmp_path / "table.entasis").to_dataset()
    for name in names:
        for condition in (pc.field(name) < 3, (pc.field(name) < 3) & (pc.field("é") != 1)):
            expected = ds.dataset(table).to_table(filter=condition)
            assert dataset.to_table(filter=condition).equals(expected), name


def test_windows_in_which_most_rows_pass(tmp_path: Path) -> None:
    n = 400_000
    order = np.random.default_rng(3).permutation(n)
    table = pa.table({"k": np.arange(n) % 100, "x": order, "s": [f"text {row % 977}" for row in range(n)]})
    en.write(table, tmp_path / "table.entasis")
    f = en.open(tmp_path / "table.entasis")
    few = order[:50_000]
    blocks = np.concatenate([np.arange(1000, 3000), np.arange(200, 900), [5, 7, 6, 8]])
    for view, part in [
        (f, table),
        (f[1000:390_000], table.slice(1000, 389_000)),
        (f[::-1], table.take(np.arange(n)[::-1])),
        (f[few], table.take(few)),
        (f[blocks], table.take(blocks)),
    ]:
        for condition in (
            pc.field("k") > 0,
            pc.field("k") > 40,
            pc.field("k") >= 0,
            (pc.field("k") > 1) & (pc.field("x") * 2 > 9),
        ):
            expected = part.filter(condition)
            assert view.to_dataset().to_table(filter=condition).equals(expected)
            assert view.to_dataset().count_rows(filter=condition) == len(expected)
    en.write(table.select(["k", "x"]), tmp_path / "plain.entasis", compression=0)
    of_map = en.open(tmp_path / "plain.entasis", memory_map=True).to_dataset()
    for condition in (pc.field("k") > 0, pc.field("k") == 3, pc.field("k") < 0):
        assert of_map.to_table(filter=condition).equals(table.select(["k", "x"]).filter(condition))


def test_largest_nan(tmp_path: Path) -> None:
    values = [0.0, -0.0, 1.0, NAN, None, float("inf"), 7.5]
    table = pa.table({"f": pa.array(values, pa.float64()), "g": pa.array(values, pa.float32()), "i": range(7)})
    table = table.append_column("p", pa.StructArray.from_arrays([table["f"].combine_chunks()], ["x"]))
    en.write(table, tmp_path / "table.entasis")
    dataset = en.open(tmp_path / "table.entasis").to_dataset(nan="largest")
    for name in ("f", "g"):
        field = pc.field(name)
        for condition, rows in [
            (field > 1.0, [3, 5, 6]),
            (field >= 7.5, [3, 5, 6]),
            (field < 1.0, [0, 1]),
            (field == NAN, [3]),
            (field != NAN, [0, 1, 2, 5, 6]),
            (field >= NAN, [3]),
            (field > NAN, []),
            (field < NAN, [0, 1, 2, 5, 6]),
            (field <= NAN, [0, 1, 2, 3, 5, 6]),
            (~(field > 1.0), [0, 1, 2]),
            (~(field > NAN), [0, 1, 2, 3, 5, 6]),
        ]:
            assert dataset.to_table(columns=["i"], filter=condition)["i"].to_pylist() == rows, str(condition)
    with pytest.raises(en.ArgumentError, match=r"column .f..*ieee"):
        dataset.to_table(filter=pc.field("f") * 2.0 > 1.0)
    with pytest.raises(en.ArgumentError, match="column 'p'"):
        dataset.to_table(filter=pc.field("p", "x") * 2.0 > 1.0)
    assert dataset.count_rows(filter=pc.field("i") * 2 > 5) == 4
    with pytest.raises(en.ArgumentError, match="ieee"):
        en.open(tmp_path / "table.entasis").to_dataset(nan="first")
