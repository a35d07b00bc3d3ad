"""Frames, series, indexes and buses of StaticFrame."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import static_frame as sf

from ..case import Panel
from .values import F64_BITS, NUMPY_UNITS, cells, names

TIMES = {
    "Year": "Y", "YearMonth": "M", "Date": "D", "Hour": "h", "Minute": "m", "Second": "s",
    "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns",
}  # fmt: skip
FIVE = np.arange(5)
WIDE = np.random.default_rng(5).normal(size=(5, 40))
DATES = np.array(["2020-01-01", "2020-01-03", "1960-02-29", "2021-01-01", "2300-01-01"], "M8[D]")
OBJECTS = np.array(["a", None, "long string", "", "é\U0001f600"], dtype=object)
KINDS = np.array(["a", None, np.nan, "b", None], dtype=object)
NANS = F64_BITS[:5].view("f8")


def frame(*blocks: Any, cls: Any = sf.Frame, **how: Any) -> Any:
    """A frame of these blocks."""
    return cls(sf.TypeBlocks.from_blocks(blocks), **how)


def ih(*labels: Any, cls: Any = sf.IndexHierarchy, **how: Any) -> Any:
    """A hierarchy of labels."""
    return cls.from_labels(labels, **how)


def rowwise(array: Any) -> Any:
    """In the order of rows."""
    return np.ascontiguousarray(array)


def columnwise(array: Any) -> Any:
    """In the order of columns."""
    return np.asfortranarray(array)


class _OwnFrame(sf.Frame):
    pass


class _OwnIndex(sf.Index):
    pass


def panel() -> Panel:
    """All cases."""
    found = Panel()
    found.add_all("dtypes", DTYPES)
    found.add_all("blocks", BLOCKS)
    found.add_all("labels", LABELS)
    found.add_all("classes", CLASSES)
    _objects(found)
    for name, label in names().items():
        found.add("names", f"of a frame, {name}", lambda label=label: _named(label))
        found.add(
            "names", f"of a series, {name}", lambda label=label: sf.Series((1, 2), name=label)
        )
    found.add_all("indexes", INDEXES)
    found.add_all("series", SERIES)
    found.add_all("buses", _buses())
    found.add("classes", "an own class", lambda: _OwnFrame(WIDE), "can't be kept")
    mine = lambda: frame(FIVE[:1], index=_OwnIndex(("a",)))  # noqa: E731
    found.add("labels", "an own class of index", mine, "the index: .*OwnIndex is not supported")
    return found


def times(unit: str, letter: str = "M") -> Any:
    """Five times, one of them missing."""
    values = np.arange(5)
    values[1] = np.iinfo("i8").min
    return values.view(f"{letter}8[{unit}]")


def _dtypes() -> dict[str, Any]:
    numbers = np.random.default_rng(5).integers(0, 100, (5, 3))
    kinds = [
        "i1",
        "i2",
        "i4",
        "i8",
        "u1",
        "u2",
        "u4",
        "u8",
        "f2",
        "f4",
        "f8",
        "c8",
        "c16",
        "?",
        "g",
        "G",
    ]
    found = {kind: frame(numbers.astype(kind), numbers[:, 0].astype(kind)) for kind in kinds}
    for unit in NUMPY_UNITS:
        found[f"M8[{unit}]"] = frame(times(unit), np.stack([times(unit)] * 2, axis=1))
        found[f"m8[{unit}]"] = frame(times(unit, "m"))
    found["m8"] = frame(np.arange(5).view("m8"))
    found["M8[25s]"] = frame(np.arange(5).view("M8[25s]"))
    for kind in (">i2", ">i8", ">u4", ">f4", ">f8", ">c16", ">M8[s]"):
        found[kind] = frame(numbers.astype(kind), numbers[:, 0].astype(kind))
    found[">U"] = frame(np.array(["x", "é", "", "a", "b"], ">U2"), FIVE)
    found["V"] = frame(np.frombuffer(bytes(range(15)), "V3"), FIVE)
    found["V, two axes"] = frame(np.frombuffer(bytes(range(30)), "V3").reshape(5, 2))
    found["records"] = frame(np.zeros(5, [("a", "i4"), ("b", "U2")]), FIVE)
    found["no Unicode text"] = frame(np.array(["\ud800", "a", "b", "c", "d"]))
    found["StringDType"] = frame(
        np.array(["a", "bb", "", "é", "x" * 40], np.dtypes.StringDType()), FIVE
    )
    return found


DTYPES = _dtypes()
BLOCKS: dict[str, Any] = {
    "empty": sf.Frame(),
    "rows alone": sf.Frame(index=list("abc")),
    "columns alone": sf.Frame(columns=list("abc")),
    "no rows, typed": frame(np.empty((0, 2), "i4"), np.empty(0, "U3"), columns=list("abc")),
    "one cell": frame(np.array([7])),
    "one row": frame(np.arange(10.0).reshape(1, 10)),
    "one column of two axes": frame(np.arange(5.0).reshape(5, 1)),
    "signalling NaN": frame(NANS, np.stack([NANS] * 9, axis=1)),
    "rows' order": frame(rowwise(WIDE)),
    "columns' order": frame(columnwise(WIDE)),
    "both orders": frame(
        rowwise(WIDE), columnwise(WIDE), rowwise(WIDE * 2), FIVE, rowwise(WIDE)[:, :3]
    ),
    "rows' order of many types": frame(
        *(rowwise(WIDE.astype(t)) for t in ("f8", "i8", "?", "c16", "f2", "i1", "M8[s]"))
    ),
    "slices of a wider array": frame(
        rowwise(WIDE)[:, 3:17], rowwise(WIDE)[::-1], rowwise(WIDE)[:, ::-2]
    ),
    "tall, rows' order": frame(rowwise(np.random.default_rng(1).normal(size=(20_000, 11)))),
    "tall, both": frame(
        rowwise(np.arange(81_000).reshape(9_000, 9)),
        columnwise(np.arange(27_000.0).reshape(9_000, 3)),
    ),
    "wide": frame(rowwise(np.random.default_rng(2).normal(size=(100, 1_003)))),
    "wide, interleaved": frame(*([np.arange(30), np.ones((30, 2)), np.arange(30) > 9] * 70)),
    "wide, irregular": frame(
        *(np.ones((20, n)) / n for n in (1, 2, 3, 9, 2, 1, 30)), np.arange(20)
    ),
    "wide, one-dimensional": frame(*(np.arange(20.0) + i for i in range(300))),
    "strings": frame(
        np.array(["", "abc", "é\U0001f600", "x", "y"]), np.array([["a", "bc"]] * 5), FIVE
    ),
    "strings wider than needed": frame(np.array(["a"] * 5, "U20")),
    "bytes": frame(
        np.array([b"", b"abc", b"\xff", b"x", b"y"]), np.array([[b"a", b"bc"]] * 5, "S7")
    ),
    "wide strings": frame(
        *(np.array(["a", "bc", str(i)]) for i in range(50)), np.array([["x"] * 40] * 3)
    ),
}
LABELS: dict[str, Any] = {
    "auto labels with names": sf.Frame(WIDE, name="f").rename("f", index="i", columns="c"),
    "strings": frame(WIDE, index=list("abcde"), columns=[f"c{i}" for i in range(40)]),
    "ints": frame(WIDE[:, :3], index=[5, 3, 1, -2, 0], columns=[10, 0, 7]),
    "floats": frame(WIDE[:, :3], index=[0.5, -0.0, np.nan, np.inf, 3], columns=[0.5, 1, 2]),
    "bools": frame(WIDE[:2, :2], index=[True, False], columns=[False, True]),
    "bytes": frame(
        WIDE[:, :2], index=np.array([b"a", b"b", b"", b"d", b"e"]), columns=np.array([b"u", b"v"])
    ),
    "objects": frame(WIDE[:, :2], index=OBJECTS, columns=np.array(["u", None], dtype=object)),
    "objects, strings alone": frame(WIDE[:, :2], columns=np.array(["u", "long"], dtype=object)),
    "missing ones of several kinds": frame(
        WIDE[:3, :2], index=np.array(["a", None, np.nan], dtype=object)
    ),
    "durations": frame(WIDE[:, :2], index=np.arange(5).astype("m8[s]")),
    "tuples": frame(FIVE[:2], index=sf.Index([("a", 1), ("b", 2)])),
    "mixed": frame(
        WIDE[:3, :3], index=sf.Index((1, "a", None)), columns=sf.Index(("x", 2, (3, 4)))
    ),
    "dates as objects": frame(FIVE[:1], columns=sf.Index([datetime.date(2020, 1, 1)])),
    "big-endian": frame(FIVE, index=np.arange(5).astype(">i4")),
    "longdouble": frame(FIVE, index=np.arange(5).astype("longdouble")),
    "dates": frame(WIDE[:, :5], index=sf.IndexDate(DATES, name="d"), columns=sf.IndexDate(DATES)),
    "hierarchy": frame(FIVE, index=ih(("a", 1), ("a", 2), ("b", 1), ("c", 9), ("c", 1))),
    "hierarchy with names": frame(
        WIDE[:2, :2],
        index=ih(("a", 1), ("b", 2), name=("x", "y")),
        columns=ih((1, 2), (3, 4), name=7),
    ),
    "hierarchy with typed levels": frame(
        WIDE[:2, :2],
        index=ih(
            ("2020", "2020-01-02", 1.5),
            ("2021", "2020-01-02", 2.5),
            index_constructors=[sf.IndexYear, sf.IndexDate, sf.Index],
        ),
        columns=ih(
            ("2020-05", "x"), ("2020-06", "x"), index_constructors=[sf.IndexYearMonth, sf.Index]
        ),
    ),
    "hierarchy of named levels": frame(
        np.arange(4),
        index=sf.IndexHierarchy.from_product(
            sf.Index(("a", "b"), name="l"), sf.Index((1, 2), name="r")
        ),
    ),
    "hierarchy of objects": frame(FIVE[:2], index=ih(((1, 2), 1), (None, 2))),
    "hierarchy, missing ones of several kinds": frame(FIVE[:2], index=ih((None, 1), (np.nan, 1))),
    "hierarchy, some of": sf.Frame(
        WIDE[:, :10], columns=ih(*((i, j) for i in range(5) for j in "ab"))
    ).iloc[1:, ::3],
    "grow-only, hierarchy": sf.FrameGO(
        WIDE[:, :2], columns=ih(("a", 1), ("b", 1), cls=sf.IndexHierarchyGO)
    ),
    "grow-only, dates": sf.FrameGO(WIDE[:, :5], columns=sf.IndexDateGO(DATES)),
}


def _grown() -> Any:
    found = sf.FrameGO(np.arange(6).reshape(3, 2), columns=("a", "b"))
    found["c"] = np.array(["x", "y", "z"])
    found["d"] = np.arange(3) * 0.5
    return found


CLASSES: dict[str, Any] = {
    "grow-only": sf.FrameGO(rowwise(WIDE), columns=[f"c{i}" for i in range(40)], name="go"),
    "grow-only, auto": sf.FrameGO(WIDE[:, :3]),
    "grown": _grown(),
    "hashable": sf.FrameHE(WIDE[:, :3], columns=list("abc"), name=("h", 1)),
    "from a dict": sf.Frame.from_dict(
        {"a": [1, 2], "b": [0.5, np.nan], "c": ["x", "yy"], "d": [True, False]}
    ),
    "names are labels": sf.Frame(WIDE[:, :2], name=0).rename(index=("a", None), columns=b"c"),
}


def _objects(found: Panel) -> None:
    for name, array in {
        "strings": OBJECTS,
        "missing ones of several kinds": KINDS,
        "mixed": np.array([1, "a", None, 2.5, b"x"], dtype=object),
        "dates": np.array([datetime.date(2020, 1, 1)] * 5, dtype=object),
    }.items():
        found.add("object cells", f"{name}", lambda array=array: frame(array, FIVE))
        found.add(
            "object cells",
            f"{name}, two axes",
            lambda array=array: frame(np.stack([array, array[::-1]], axis=1)),
        )
    for name, cell in cells().items():
        if name in ("list", "dict", "set", "dict of any keys", "bytearray"):
            continue
        found.add("object cells", name, lambda cell=cell: sf.Series(_filled(cell), name="o"))
    found.add(
        "object cells",
        "a function",
        lambda: frame(_filled(len)),
        r"frame\['0'\]\.iloc\[0\]: a value of type builtin",
    )


def _filled(cell: Any) -> Any:
    array = np.empty(3, dtype=object)
    array[0] = array[2] = cell
    return array


def _named(label: Any) -> Any:
    return sf.Frame(np.arange(4).reshape(2, 2), name=label).rename(
        label, index=label, columns=label
    )


def _index_cases() -> dict[str, Any]:
    found: dict[str, Any] = {
        "auto": sf.Index(range(5), loc_is_iloc=True),
        "auto, empty": sf.IndexAutoFactory.from_optional_constructor(
            0, default_constructor=sf.Index
        ),
        "ints": sf.Index((3, 1, 2), name="n"),
        "grow-only": sf.IndexGO(("a", "bb")),
        "empty strings": sf.Index(np.array([], "U3")),
        "mixed": sf.Index((1, "a", None, (1, 2))),
        "big-endian": sf.Index(np.arange(3).astype(">i2")),
        "hierarchy": ih(("a", 1), ("b", 2), name=("x", "y")),
        "hierarchy, grow-only": ih(("a", 1), ("b", 2), cls=sf.IndexHierarchyGO),
        "hierarchy with NaT": ih(
            *zip(np.array(["2020", "NaT"], "M8[D]"), (1, 2), strict=True),
            index_constructors=[sf.IndexDate, sf.Index],
        ),
        "hierarchy of objects": ih(((1, 2), 1), (None, 2)),
    }
    for time, unit in TIMES.items():
        found[time] = getattr(sf, f"Index{time}")(
            np.array([5, 0, -3]).astype(f"M8[{unit}]"), name=time
        )
        found[f"{time}GO"] = getattr(sf, f"Index{time}GO")(
            np.array([5, 0, -3]).astype(f"M8[{unit}]")
        )
    return found


INDEXES = _index_cases()
SERIES: dict[str, Any] = {
    "auto": sf.Series(np.arange(5.0)),
    "named": sf.Series(("a", "bb", ""), index=list("xyz"), name=("n", 1)),
    "hashable": sf.SeriesHE((1, 2), index=sf.IndexYear(("2020", "1999"))),
    "hierarchy": sf.Series((True, False), index=ih(("a", 1), ("b", 2))),
    "objects": sf.Series(KINDS, name="k"),
    "mixed objects": sf.Series((1, "a", None, (1, 2)), name="k"),
    "empty": sf.Series((), dtype="M8[ns]"),
    "signalling NaN": sf.Series(NANS),
    "big-endian": sf.Series(np.arange(3).astype(">f8")),
}


def _buses() -> dict[str, Any]:
    one, two = (
        sf.Frame(WIDE[:, :3], name="x"),
        sf.Frame(np.arange(4).reshape(2, 2), columns=("a", "b"), name="y"),
    )
    return {
        "two frames": sf.Bus.from_frames((one, two)),
        "named": sf.Bus.from_frames((one, two), name="b"),
        "typed labels": sf.Bus.from_items(
            ((label, f) for label, f in zip(DATES[:2], (one, two), strict=True)),
            index_constructor=sf.IndexDate,
        ),
        "no frames": sf.Bus.from_frames(()),
    }
