"""Arrays of pyarrow of every type, which are also dtypes of pandas."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pyarrow as pa

from .values import F16_BITS, F32_BITS, F64_BITS, INTEGERS, WORDS, edges

UNITS = ("s", "ms", "us", "ns")
I32 = pa.int32()
DAY = datetime.date(2020, 2, 29)
META = {"key": "value"}


def plain() -> dict[str, Any]:
    """Arrays of types without children, with nulls."""
    found: dict[str, Any] = {"null": pa.nulls(3), "bool": pa.array([True, None, False])}
    for dtype in INTEGERS:
        found[dtype] = pa.array(edges(dtype), mask=np.arange(6) % 5 == 1)
    for name, bits in (("f2", F16_BITS), ("f4", F32_BITS), ("f8", F64_BITS)):
        found[
            f"float{name[1]}, bits of NaN".replace("2", "16")
            .replace("4,", "32,")
            .replace("8,", "64,")
        ] = pa.array(bits.view(name), from_pandas=False)
    texts = [*WORDS, None]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        found[str(kind)] = pa.array(texts, kind)
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        found[str(kind)] = pa.array([b"", None, b"\xff\0", b"y" * 50], kind)
    for width in (0, 1, 3, 16, 300):
        found[f"binary({width})"] = pa.array([b"x" * width, None], pa.binary(width))
    found["date32"] = pa.array([DAY, None, datetime.date(1, 1, 1)], pa.date32())
    found["date64"] = pa.array([DAY, None], pa.date64())
    for unit in UNITS:
        times = pa.array([0, 1, None, -1, 10**9], pa.int64())
        for zone in (None, "UTC", "+02:00", "Europe/Oslo"):
            found[f"timestamp[{unit}, {zone}]"] = times.cast(pa.timestamp(unit, zone))
        found[f"duration[{unit}]"] = times.cast(pa.duration(unit))
        width = 32 if unit in ("s", "ms") else 64
        make = pa.time32 if width == 32 else pa.time64
        found[f"time{width}[{unit}]"] = pa.array(
            [0, None, 5], pa.int32() if width == 32 else pa.int64()
        ).cast(make(unit))
    for bits, digits in ((32, 9), (64, 18), (128, 38), (256, 76)):
        kind = getattr(pa, f"decimal{bits}")(digits, 2)
        found[f"decimal{bits}"] = pa.array(
            [decimal.Decimal("1.25"), None, decimal.Decimal(-3)], kind
        )
        found[f"decimal{bits}, largest"] = pa.array(
            [decimal.Decimal("9" * (digits - 2) + ".99")], kind
        )
    found["decimal of negative scale"] = pa.array(
        [decimal.Decimal(12300), None], pa.decimal128(5, -2)
    )
    found["month_day_nano_interval"] = pa.array(
        [(1, 2, 3), None, (-1, 0, 10**12)], pa.month_day_nano_interval()
    )
    found |= _dictionaries() | _extensions()
    return found


def _dictionaries() -> dict[str, Any]:
    make = pa.DictionaryArray.from_arrays
    codes = pa.array([1, 0, None, 1], pa.int8())
    return {
        "dictionary of strings": make(codes, pa.array(["b", "a"])),
        "dictionary, ordered": make(
            codes.cast(pa.uint32()), pa.array(["b", "a"], pa.large_string()), ordered=True
        ),
        "dictionary, codes of 64 bits": make(codes.cast(pa.int64()), pa.array(["b", "a"])),
        "dictionary of ints": make(codes, pa.array([30, 10], I32)),
        "dictionary of views": make(codes, pa.array(["b", "a"], pa.string_view())),
        "dictionary of dates": make(codes, pa.array([DAY, None], pa.date32())),
        "dictionary with unused values": make(codes, pa.array(["b", "a", "z", "y"])),
        "dictionary of duplicates": make(codes, pa.array(["b", "b"])),
        "dictionary with a null": make(codes, pa.array(["b", None])),
        "dictionary of structs": make(codes, pa.array([{"a": 1}, {"a": 2}])),
    }


def _extensions() -> dict[str, Any]:
    store = pa.ExtensionArray.from_storage
    return {
        "uuid": store(pa.uuid(), pa.array([b"0" * 16, None], pa.binary(16))),
        "json": store(pa.json_(), pa.array(["{}", None, "[1]"])),
        "json of large strings": store(
            pa.json_(pa.large_string()), pa.array(["{}", None], pa.large_string())
        ),
        "bool8": pa.array([True, None, False]).cast(pa.bool8()),
        "opaque": store(pa.opaque(I32, "a", "b"), pa.array([1, 2, None], I32)),
        "tensor": store(
            pa.fixed_shape_tensor(I32, [2, 2]), pa.array([[1, 2, 3, 4]] * 3, pa.list_(I32, 4))
        ),
    }


LISTS = [[1, 2], None, [], [3, None], [4, 5, 6]]
NESTED = [[[{"a": [1, 2]}], None], [], None, [[], [None, {"a": None}]], [[{"a": []}]]]
PAIRS = [[("a", 1), ("b", 2)], None, [], [("c", None)]]


def nested() -> dict[str, Any]:
    """Arrays of types with children."""
    lists = pa.list_
    found: dict[str, Any] = {
        **{f"{kind(I32)}": pa.array(LISTS, kind(I32)) for kind in (lists, pa.large_list)},
        "list_view": pa.array(LISTS, pa.list_view(I32)),
        "large_list_view": pa.array(LISTS, pa.large_list_view(I32)),
        "list_view, out of order": pa.ListViewArray.from_arrays(
            pa.array([5, 0, 3, 5], I32),
            pa.array([3, 2, 0, 2], I32),
            pa.array([f"value {i}" for i in range(10)]),
        ),
        "fixed-size list": pa.array([[1, 2], None, [3, None]], lists(I32, 2)),
        "fixed-size list of none": pa.array([[], None, []], lists(I32, 0)),
        "struct": pa.array(
            [{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}],
            pa.struct([("x", I32), ("y", pa.string())]),
        ),
        "struct without fields": pa.array([{}, None, {}], pa.struct([])),
        "struct, one name twice": pa.StructArray.from_arrays(
            [pa.array([1]), pa.array(["a"])], ["x", "x"]
        ),
        "struct, metadata and nullability": pa.array(
            [{"x": 1, "y": [[2]]}],
            pa.struct(
                [
                    pa.field("x", I32, False, META),
                    pa.field("y", lists(pa.field("z", lists(I32), False, META))),
                ]
            ),
        ),
        "map": pa.array(PAIRS, pa.map_(pa.string(), I32)),
        "map, keys sorted": pa.array(PAIRS, pa.map_(pa.string(), I32, keys_sorted=True)),
        "map of maps": pa.array(
            [[("a", [("b", 1)])], None], pa.map_(pa.string(), pa.map_(pa.string(), I32))
        ),
        "list of lists of structs": pa.array(NESTED, lists(lists(pa.struct([("a", lists(I32))])))),
        "list of nulls": pa.array([[None, None], None, []], lists(pa.null())),
        "list of bools": pa.array([[True, None], None, [False] * 9], lists(pa.bool_())),
        "list of views": pa.array(
            [["a", "longer than twelve bytes"], None, []], lists(pa.string_view())
        ),
        "list of times": pa.array([[1, None], [2]], lists(pa.timestamp("us", "Europe/Oslo"))),
        "list of decimals": pa.array([[decimal.Decimal(1), None]], lists(pa.decimal256(5, 1))),
        "list of categories": pa.ListArray.from_arrays(
            pa.array([0, 2, 3], I32), pa.array(["x", "y", "x"]).dictionary_encode()
        ),
        "list of an extension": pa.ListArray.from_arrays(
            pa.array([0, 1], I32),
            pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16))),
        ),
        "list of floats, bits of NaN": pa.ListArray.from_arrays(
            pa.array([0, 4, 10], I32), F64_BITS.view("f8")
        ),
        "63 levels": deep(63),
    }
    return found


def deep(levels: int) -> Any:
    """A list of lists of ..., so many."""
    array = pa.array([1, None], I32)
    for _ in range(levels - 1):
        array = pa.ListArray.from_arrays(pa.array([0, len(array)], I32), array)
    return array
