"""Any arrays of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from .cells import CELL, TEXT

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
WORDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def bits(dtype: Any, n: int) -> Any:
    """`n` values of a dtype, of any bits."""
    size = np.dtype(dtype).itemsize * n
    return st.binary(min_size=size, max_size=size).map(lambda memory: np.frombuffer(memory, dtype).copy())


def _objects(n: int) -> Any:
    def make(cells: list[Any]) -> Any:
        array = np.empty(n, dtype=object)
        for i, cell in enumerate(cells):
            array[i] = cell
        return array

    return st.lists(CELL, min_size=n, max_size=n).map(make)


def _strings(n: int) -> Any:
    text = TEXT.map(lambda text: text.rstrip("\0"))
    return st.lists(text, min_size=n, max_size=n)


def _fields(draw: Any, depth: int) -> Any:
    formats = st.sampled_from([*WORDS, ">i4", "S3", "U2", "V5", "M8[us]", "m8[3D]", "?"])
    found = []
    for i in range(draw(st.integers(1, 3))):
        inner = _fields(draw, depth + 1) if depth < 2 and draw(st.booleans()) else draw(formats)
        shape = draw(st.sampled_from([(), (2,), (1, 3)]))
        found.append((f"f{i}", inner, shape))
    return np.dtype(found, align=draw(st.booleans()))


@st.composite
def arrays(draw: Any, n: int) -> Any:
    """An array of one dimension."""
    kind = draw(st.sampled_from(["words", "big", "bool", "times", "U", "S", "V", "long", "T", "object", "record"]))
    if kind in ("words", "big"):
        return draw(bits((">" if kind == "big" else "<") + draw(st.sampled_from(WORDS)), n))
    if kind == "bool":
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), "?")
    if kind == "times":
        step = draw(st.sampled_from(["", "7"]))
        order = draw(st.sampled_from("<>"))
        return draw(bits(f"{order}{draw(st.sampled_from('mM'))}8[{step}{draw(st.sampled_from(UNITS))}]", n))
    if kind == "U":
        order, wider = draw(st.sampled_from("<>")), draw(st.integers(0, 3))
        array = np.array(draw(_strings(n)), "U")
        return array.astype(f"{order}U{array.dtype.itemsize // 4 + wider}")
    if kind == "S":
        return draw(bits(f"S{draw(st.integers(1, 9))}", n))
    if kind == "V":
        return draw(bits(f"V{draw(st.integers(1, 9))}", n))
    if kind == "long":
        return draw(bits("f8", n)).astype(draw(st.sampled_from(["g", "G", ">g"])))
    if kind == "T":
        make: Any = np.dtypes.StringDType
        dtype = draw(st.sampled_from([make(), make(coerce=False), make(na_object=None), make(na_object=np.nan)]))
        missing = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        cells = [
            dtype.na_object if gone and hasattr(dtype, "na_object") else text
            for text, gone in zip(draw(_strings(n)), missing, strict=True)
        ]
        return np.array(cells, dtype)
    if kind == "object":
        return draw(_objects(n))
    return draw(bits(_fields(draw, 0), n))


@st.composite
def values(draw: Any) -> Any:
    """An array of any shape and order, or a dict of arrays of one length."""
    if draw(st.booleans()):
        n = draw(st.integers(0, 5))
        return {name: draw(arrays(n)) for name in draw(st.lists(TEXT, max_size=4, unique=True))}
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    array = draw(arrays(int(np.prod(shape)))).reshape(shape)
    if draw(st.booleans()):
        array = array.T
    return np.asfortranarray(array) if array.ndim > 1 and draw(st.booleans()) else array
