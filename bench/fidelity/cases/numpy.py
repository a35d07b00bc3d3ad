"""Arrays of NumPy, and dicts of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Panel
from .values import F16_BITS, F32_BITS, F64_BITS, INTEGERS, NUMPY_UNITS, WORDS, cells, edges


class _Own(np.ndarray):
    pass


def panel() -> Panel:
    """All cases."""
    found = Panel()
    groups = {
        "numbers": _numbers(),
        "big-endian": _big(),
        "times": _times(),
        "text and bytes": _text(),
        "records": _records(),
    }
    for group, arrays in groups.items():
        for name, array in arrays.items():
            found.add(
                group,
                f"dict of {name}",
                lambda array=array: {"n": np.arange(len(array)), "x": array},
            )
            found.add(group, name, lambda array=array: array)
            found.add(
                "matrices", f"{group}, {name}", lambda array=array: np.stack([array, array[::-1]])
            )
    found.add_all("shapes", _shapes())
    _objects(found)
    found.add_all("subclasses", _subclasses())
    for name, make, message in (
        ("matrix", lambda: np.asmatrix([[1, 2]]), "numpy.*matrix"),
        ("record array", lambda: np.zeros(2, [("a", "i4")]).view(np.recarray), None),
        ("an own class", lambda: np.arange(3).view(_Own), "_Own"),
        ("char array", lambda: np.char.array(["a", "b"]), "chararray"),
    ):
        found.add("subclasses", name, make, message)
    found.add("records", "titles", lambda: np.zeros(2, [(("title", "a"), "i4")]))
    found.add("records", "a field of objects", lambda: np.zeros(2, [("a", "O")]))
    return found


def _numbers() -> dict[str, Any]:
    found: dict[str, Any] = {dtype: edges(dtype) for dtype in INTEGERS}
    found["bool"] = np.array([True, False, True])
    for name, bits in (("float16", F16_BITS), ("float32", F32_BITS), ("float64", F64_BITS)):
        found[f"{name}, bits of NaN"] = bits.view(name)
    for dtype in ("complex64", "complex128", "longdouble", "clongdouble"):
        found[dtype] = np.array([1, -0.0, 3, np.nan]).astype(dtype) / 7
    return found


def _big() -> dict[str, Any]:
    dtypes = (
        ">i2",
        ">i4",
        ">i8",
        ">u2",
        ">u4",
        ">u8",
        ">f2",
        ">f4",
        ">f8",
        ">c8",
        ">c16",
        ">M8[us]",
        ">m8[h]",
    )
    found = {dtype[1:]: (np.arange(4).astype(dtype)) for dtype in dtypes}
    found["longdouble"] = (np.arange(4).astype("longdouble") / 3).astype(">f16")
    found["clongdouble"] = (np.arange(4).astype("clongdouble") / 3).astype(">c32")
    found["U"] = np.array(["a", "é", ""], ">U5")
    return found


def _times() -> dict[str, Any]:
    found: dict[str, Any] = {}
    values = np.array([0, 1, -5, np.iinfo("i8").min, 10**6])
    for unit in NUMPY_UNITS:
        found[f"datetime64[{unit}]"] = values.view(f"M8[{unit}]")
        found[f"timedelta64[{unit}]"] = values.view(f"m8[{unit}]")
    found["timedelta64"] = values.view("m8")
    found["datetime64[25s]"] = values.view("M8[25s]")
    found["timedelta64[7D]"] = values.view("m8[7D]")
    found["datetime64, no unit"] = np.full(3, "NaT", "M8")
    return found


def _text() -> dict[str, Any]:
    make: Any = np.dtypes.StringDType
    words = [word for word in WORDS if not word.endswith("\0")]
    found: dict[str, Any] = {
        "U": np.array(words),
        "U wider than needed": np.array(["a", "b"], "U20"),
        "U of no characters": np.array(["", ""]),
        "U that is no Unicode text": np.array([0xD800, 65, 0x110000, 0], "u4").view("U2"),
        "S": np.array([b"", b"\xff\0a", b"abc"]),
        "S wider than needed": np.array([b"a", b"b"], "S9"),
        "V": np.frombuffer(bytes(range(12)), "V3"),
        "V of no bytes": np.zeros(3, "V0"),
        "StringDType": np.array(WORDS, make()),
        "StringDType, not coerced": np.array(WORDS, make(coerce=False)),
        "StringDType, NaN": np.array(["a", np.nan, ""], make(na_object=np.nan)),
        "StringDType, None": np.array(["a", None, ""], make(na_object=None)),
        "StringDType, a string": np.array(["a", "gone", ""], make(na_object="gone")),
    }
    import pandas as pd

    found["StringDType, NA"] = np.array(["a", pd.NA, ""], make(na_object=pd.NA))
    return found


def _records() -> dict[str, Any]:
    fields: Any = [
        ("a", "<i4"),
        ("b", ">f8", (2, 3)),
        ("c", [("d", "S3"), ("e", "M8[ns]")]),
        ("f", "U2"),
        ("g", "?"),
    ]
    nested = np.zeros(3, fields)
    nested["a"], nested["c"]["d"], nested["b"][1] = [1, 2, 3], b"abc", 0.5
    layout: Any = {"names": ["b", "a"], "formats": ["<i4", "<i2"], "offsets": [2, 0], "itemsize": 9}
    return {
        "records": np.array(
            [(1, 2.5, "x"), (3, np.nan, "yy")], [("i", "i8"), ("f", "f4"), ("s", "U3")]
        ),
        "nested, with arrays": nested,
        "aligned": np.zeros(3, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
        "fields that overlap": np.zeros(3, layout),
        "no fields": np.zeros(3, []),
        "names of any text": np.zeros(2, [("é \n", "i1")]),
    }


def _shapes() -> dict[str, Any]:
    cube = np.arange(24.0).reshape(2, 3, 4)
    return {
        "no axes": np.array(7, "i2"),
        "no axes, of text": np.array("é"),
        "no axes, of a time": np.array("2020-01", "M8[M]"),
        "no axes, of a record": np.array((1, 2.5), [("a", "i4"), ("b", "f8")]),
        "no axes, of an object": np.array(None, dtype=object),
        "no values": np.empty(0),
        "no values, two axes": np.empty((0, 3), "i4"),
        "no values, other axes": np.empty((3, 0, 2), "f4"),
        "C order": cube,
        "Fortran order": np.asfortranarray(cube),
        "neither order": cube.transpose(1, 0, 2)[:, ::-1],
        "backwards": np.arange(10)[::-1],
        "strided": np.arange(30)[::3],
        "broadcast": np.broadcast_to(np.int32(7), (3, 2)),
        "eight axes": np.arange(256).reshape((2,) * 8),
        "64 axes": np.ones((1,) * 64),
        "read-only": _read_only(),
        "100,000 values": np.arange(100_000),
        "dict of no arrays": dict,
        "dict of different lengths": {"a": np.zeros(1), "b": np.zeros(2)},
        "dict of different axes": {"a": np.zeros((2, 2)), "b": np.zeros(2)},
        "dict with keys that are no text": {1: np.zeros(2), ("a", 2): np.ones(2)},
        "dict of one array twice": _twice,
        "list of arrays": [np.arange(3), np.ones((2, 2))],
    }


def _twice() -> Any:
    array = np.arange(5)
    return {"a": array, "b": array}


def _read_only() -> Any:
    array = np.arange(4)
    array.flags.writeable = False
    return array


def _objects(found: Panel) -> None:
    for name, cell in cells().items():
        array = np.empty(3, dtype=object)
        array[0] = array[2] = cell
        found.add("object cells", name, lambda array=array: array)
        found.add(
            "object cells", f"dict of {name}", lambda array=array: {"x": array, "n": np.arange(3)}
        )
    grid = np.array([[1, "a"], [None, 2.5]], dtype=object)
    found.add("object cells", "two axes", lambda: grid)
    found.add("object cells", "two axes, Fortran order", lambda: np.asfortranarray(grid))
    found.add(
        "object cells",
        "missing ones of several kinds",
        lambda: np.array(["a", None, np.nan], dtype=object),
    )
    found.add(
        "object cells",
        "a function",
        lambda: np.array([1, len], dtype=object),
        r"value\[1\]: .*builtin",
    )
    message = r"value\['x'\]\[1\]: .*builtin"
    found.add(
        "object cells",
        "dict of a function",
        lambda: {"x": np.array([1, len], dtype=object)},
        message,
    )


def _subclasses() -> dict[str, Any]:
    make = np.ma.MaskedArray
    return {
        "masked": make([1, 2, 3], [False, True, False]),
        "masked without a mask": make([1.5, 2]),
        "masked, fill value": make([1, 2], [True, False], fill_value=-9),
        "masked, hard": make([1, 2], [True, False], hard_mask=True),
        "masked, two axes": make(np.arange(6).reshape(2, 3), np.eye(2, 3, dtype=bool)),
        "masked, times": make(np.array(["2020", "2021"], "M8[Y]"), [True, False]),
    }
