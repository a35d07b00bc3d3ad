"""Texts of the tests of CSV, their columns, and how they are compared."""

from __future__ import annotations

import math
import struct
import warnings
from datetime import date

import pytest

import entasis as en

pytest.importorskip("polars")

NAN = math.nan

# Texts that readers disagree about: the text, and the columns that it means.
TEXTS = {
    "empty": ('a,b\n1,x\n,""\n3,\n', {"a": [1, None, 3], "b": ["x", "", None]}),
    "NA": ("a,b\n1,NA\nNA,y\n", {"a": [1, None], "b": ["NA", "y"]}),
    "zeros": ("a\n007\n010\n", {"a": ["007", "010"]}),
    "large integers": (
        "a\n9007199254740993\n18446744073709551615\n",
        {"a": [9007199254740993, 18446744073709551615]},
    ),
    "infinities": ("a\n1.5\ninf\nNaN\n-Infinity\n", {"a": [1.5, math.inf, NAN, -math.inf]}),
    "hexadecimal": ("a\n0x10\n0x20\n", {"a": ["0x10", "0x20"]}),
    "plus": ("a\n+1\n+2\n", {"a": ["+1", "+2"]}),
    "exponents": ("a\n1e3\n2E-2\n", {"a": [1000.0, 0.02]}),
    "booleans": (
        "a,b,c\nTRUE,true,yes\nFALSE,false,no\n",
        {"a": [True, False], "b": [True, False], "c": ["yes", "no"]},
    ),
    "times with and without offsets": (
        "a,b\n2020-01-02,2020-01-02T03:04:05Z\n2020-02-03,2020-01-02 03:04:05.123456\n",
        {
            "a": [date(2020, 1, 2), date(2020, 2, 3)],
            "b": ["2020-01-02T03:04:05Z", "2020-01-02 03:04:05.123456"],
        },
    ),
    "doubled quotes": ('a,b\n"x ""y"" z",1\n', {"a": ['x "y" z'], "b": [1]}),
    "quote inside": ('a,b\nx"y,1\nz,2\n', {"a": ['x"y', "z"], "b": [1, 2]}),
    "quotes not doubled": ('a,b\n"x "y" z",1\n"p",2\n', {"a": ['x y" z"', "p"], "b": [1, 2]}),
    "line end in quotes": ('a,b\n"x\ny",1\n', {"a": ["x\ny"], "b": [1]}),
    "blanks": ('a, b\n 1, x \n 2, "q" \n', {"a": [1, 2], " b": [" x ", ' "q" ']}),
    "repeated names": ("a,a,\n1,2,3\n", {"a": [1], "a_1": [2], "column_3": [3]}),
    "carriage returns": ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "mixed line ends": ("a,b\r\n1,2\n3,4\r\n", {"a": [1, 3], "b": [2, 4]}),
    "semicolons": ("a;b\n1,5;x\n2,5;y\n", {"a": [1.5, 2.5], "b": ["x", "y"]}),
    "tabs": ("a\tb\n1\tx\n", {"a": [1], "b": ["x"]}),
    "byte order mark": ("\ufeffa,b\n1,2\n", {"a": [1], "b": [2]}),
    "NUL": ("a,b\n1,x\0y\n", {"a": [1], "b": ["x\0y"]}),
    "blank line": ("a,b\n1,2\n\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "comment": ("# hi\na,b\n1,2\n", {"a": [1], "b": [2]}),
    "late text": ("a\n" + "1\n" * 30_000 + "x\n", {"a": ["1"] * 30_000 + ["x"]}),
    "header alone": ("a,b\n", {"a": [], "b": []}),
    "quoted number": ('a\n"1,234"\n"5,678"\n', {"a": ["1,234", "5,678"]}),
    "no last line end": ("a,b\n1,2", {"a": [1], "b": [2]}),
    "blank line of one column": ("a\n1\n\n3\n", {"a": [1, None, 3]}),
    "many digits": ("a\n0.1234567890123456789\n", {"a": [0.12345678901234568]}),
    "negative years": ("a\n-0044-03-15\n", {"a": None}),
    "name NA": ("NA,b\n1,2\n", {"NA": [1], "b": [2]}),
    "zero without sign": ("a\n-0\n1\n", {"a": [-0.0, 1.0]}),
    "integers with gaps": (
        "a,b\n-9223372036854775808,18446744073709551615\n,\n",
        {"a": [-9223372036854775808, None], "b": [18446744073709551615, None]},
    ),
    "too large for a double": ("a\n1e400\n1\n", {"a": ["1e400", "1"]}),
    "integer that a double rounds": ("a\n9007199254740993\n0.5\n", {"a": ["9007199254740993", "0.5"]}),
    "one column": ("c0\nv0\na;b\n", {"c0": ["v0", "a;b"]}),
    "numbers as names": ("country,2019,2020\nOslo,1,2\n", {"country": ["Oslo"], "2019": [1], "2020": [2]}),
    "thousands without the option": ("a;b\n1,234;2\n5,678;3\n", {"a": ["1,234", "5,678"], "b": [2, 3]}),
    "0x1A at the end": ("a,b\n1,2\n\x1a", {"a": [1], "b": [2]}),
    "all quoted": ('"a","b"\n"1","x"\n"","y"\n', {"a": [1, None], "b": ["x", "y"]}),
    "quotes mean text": ('a,b\n"1",2\n"3",4\n', {"a": ["1", "3"], "b": [2, 4]}),
}


# Rows with too few and too many fields.
UNEVEN = "a,b\n1,2\n3\n4,5,6\n7,8\n"


def read(text: str | bytes, **options: object) -> dict[str, list[object]]:
    """The columns of a text, through Polars."""
    data = text.encode() if isinstance(text, str) else text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.errors.CsvWarning)
        return en.read_csv(data, "polars", **options).to_dict(as_series=False)


def same(a: object, b: object) -> bool:
    """Whether two values are equal: NaN equals itself, and zeros have signs."""
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("d", a) == struct.pack("d", b) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


def same_columns(a: dict[str, list[object]], b: dict[str, list[object]]) -> bool:
    return list(a) == list(b) and all(len(a[name]) == len(b[name]) and all(map(same, a[name], b[name])) for name in a)


def set_chunk_len(monkeypatch, chunk_len, window_len=None):
    """Make the reader cut texts into chunks of this length, and `convert` write this length at once."""
    from entasis._csv import arguments

    of = arguments.of
    lens = {"chunk_len": chunk_len, "window_len": window_len}
    monkeypatch.setattr(arguments, "of", lambda **options: of(**options) | lens)
