"""Text files: what a text means, in each library."""

from __future__ import annotations

import csv
import gzip
import io
import math
import random
import signal
import struct
import subprocess
import sys
import time
import warnings
from datetime import UTC, date

import pytest

import entasis as en

pl = pytest.importorskip("polars")

NAN = math.nan
UTC = UTC

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


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("chunk_len", [None, 1, 7])
def test_texts_mean_what_the_guide_says(name, chunk_len, monkeypatch):
    text, expected = TEXTS[name]
    if len(text) > 1000 and chunk_len == 1:
        chunk_len = 1000
    set_chunk_len(monkeypatch, chunk_len)
    if expected == {"a": None}:
        # Python has no dates before year 1.
        days = en.read_csv(text.encode(), "numpy")["a"]
        assert days[0] == __import__("numpy").datetime64("-0044-03-15")
        return
    found = read(text)
    assert same_columns(found, expected), found


def set_chunk_len(monkeypatch, chunk_len, window_len=None):
    """Make the reader cut texts into chunks of this length, and `convert` write this length at once."""
    from entasis._csv import arguments

    of = arguments.of
    lens = {"chunk_len": chunk_len, "window_len": window_len}
    monkeypatch.setattr(arguments, "of", lambda **options: of(**options) | lens)


@pytest.mark.parametrize(("encoding", "text"), [("latin-1", "a\ncafé\n"), ("utf-16", "a\né\n"), ("cp1252", "a\n€5\n")])
def test_other_encodings_are_read(encoding, text):
    expected = {"a": [text.split()[1]]}
    assert read(text.encode(encoding), encoding=None if encoding == "utf-16" else encoding) == expected


def test_a_guessed_encoding_warns():
    with pytest.warns(en.errors.CsvWarning, match="windows-1252"):
        frame = en.read_csv("name\nJosé García café\nMünchen Straße\n".encode("cp1252"), "polars")
    assert frame["name"].to_list() == ["José García café", "München Straße"]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_empty_texts_are_refused(text):
    with pytest.raises(en.errors.ArgumentError, match=r"empty|no rows"):
        read(text)


def test_other_formats_are_refused_by_name(tmp_path):
    path = tmp_path / "x.entasis"
    en.write({"a": __import__("numpy").arange(3)}, path)
    with pytest.raises(en.errors.EntasisError, match="Entasis"):
        en.read_csv(path)
    with pytest.raises(en.errors.MissingFileError):
        en.read_csv(tmp_path / "none.csv")
    with pytest.raises(en.errors.DirectoryError):
        en.read_csv(tmp_path)


class TestProblems:
    text = "a,b\n1,2\n3\n4,5,6\n7,8\n"

    def test_they_are_an_error(self):
        with pytest.raises(en.errors.ProblemError, match="line 3: '3', expected 2 fields, not 1") as caught:
            read(self.text)
        first, second = caught.value.problems
        assert first == en.Problem(1, 3, 8, None, "3", "2 fields, not 1")
        assert second.line == 4
        assert caught.value.problems.n == 2

    def test_they_are_made_missing(self):
        with pytest.warns(en.errors.ProblemWarning, match="2 places") as caught:
            found = en.read_csv(self.text.encode(), "polars", on_error="missing")
        assert found.to_dict(as_series=False) == {"a": [1, 3, 7], "b": [2, None, 8]}
        assert [problem.line for problem in caught[0].message.problems] == [3, 4]

    def test_rows_are_left_out(self):
        frame, problems = en.read_csv(self.text.encode(), "polars", on_error="skip", problems=True)
        assert frame.to_dict(as_series=False) == {"a": [1, 7], "b": [2, 8]}
        assert (problems.n, [problem.row for problem in problems]) == (2, [1, 2])

    def test_rows_are_filled(self):
        frame, problems = en.read_csv(b"a,b\n1,2\n3\n", "polars", fill=True, problems=True)
        assert frame.to_dict(as_series=False) == {"a": [1, 3], "b": [2, None]}
        assert problems.n == 0

    def test_values_of_another_type(self):
        text = b"a,b\n1,x\nq,y\n2,z\n"
        with pytest.raises(en.errors.ProblemError, match=r"line 3, column 'a': 'q', expected int8"):
            en.read_csv(text, "polars", dtypes={"a": "int8"})
        frame, problems = en.read_csv(text, "polars", dtypes={"a": "int8"}, on_error="missing", problems=True)
        assert frame["a"].to_list() == [1, None, 2]
        assert frame["a"].dtype == pl.Int8
        assert problems == [en.Problem(1, 3, 8, "a", "q", "int8")]
        frame, _ = en.read_csv(text, "polars", dtypes={"a": "int8"}, on_error="skip", problems=True)
        assert frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "z"]}

    @pytest.mark.parametrize("at", [1, 100, 2046, 2047])
    def test_no_row_is_lost_where_rows_get_longer(self, at):
        rows = ["1,2" if i < at else "1,2,3" for i in range(30_000)]
        _, problems = en.read_csv(("a,b\n" + "\n".join(rows)).encode(), "polars", on_error="skip", problems=True)
        assert problems.n == 30_000 - at

    @pytest.mark.parametrize("chunk_len", [1, 3, 8, 100])
    def test_they_do_not_depend_on_chunks(self, chunk_len, monkeypatch):
        text = "a,b\n1,2\n3\n\n\n'\n4,5,6\r\n7,8\n" * 3
        whole = en.read_csv(text.encode(), "polars", sep=",", quote='"', header=True, on_error="skip", problems=True)
        set_chunk_len(monkeypatch, chunk_len)
        cut = en.read_csv(text.encode(), "polars", sep=",", quote='"', header=True, on_error="skip", problems=True)
        assert cut[0].equals(whole[0])
        assert cut[1] == whole[1]

    def test_bytes_that_are_not_utf8(self):
        text = b"a,b\n1,x\n2,\xff\n"
        with pytest.raises(en.errors.ProblemError, match="line 3, column 'b'"):
            en.read_csv(text, "polars", encoding="utf-8")
        frame, _ = en.read_csv(text, "polars", encoding="utf-8", on_error="missing", problems=True)
        assert frame["b"].to_list() == ["x", None]

    def test_an_open_quote(self):
        with pytest.raises(en.errors.ArgumentError, match="opens in line 3, byte 10"):
            en.read_csv(b'a,b\n1,2\n3,"x\n4,5\n', "polars", quote='"', sep=",")


class TestDecimals:
    text = b'price;n\n9,99;1\n"10";2\n;3\n-0,5;4\n'
    expected = ("9.99", "10.00", None, "-0.50")

    @pytest.mark.parametrize("name", ["decimal(10,2)", "decimal(10, 2)", "Decimal128(10, 2)"])
    def test_their_names(self, name):
        frame = en.read_csv(self.text, "polars", dtypes={"price": name})
        assert frame["price"].dtype == pl.Decimal(10, 2)
        assert [value and str(value) for value in frame["price"]] == list(self.expected)

    def test_dtypes_of_libraries(self):
        pa = pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        for dtype in (pa.decimal128(10, 2), pl.Decimal(10, 2), pd.ArrowDtype(pa.decimal128(10, 2))):
            found = en.read_csv(self.text, "pyarrow", dtypes={"price": dtype})
            assert found["price"].type == pa.decimal128(10, 2)
            assert [value and str(value) for value in found["price"].to_pylist()] == list(self.expected)

    @pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow"])
    @pytest.mark.parametrize("digits", [(5, 2), (18, 4), (38, 10)])
    def test_each_library_gets_what_a_file_has(self, to, digits, tmp_path):
        path = tmp_path / "out.entasis"
        dtypes = {"price": f"decimal{digits}"}
        en.convert(self.text, path, dtypes=dtypes)
        found, expected = en.read_csv(self.text, to, dtypes=dtypes), en.read(path, to=to)
        assert found.equals(expected)
        assert str(expected["price"].dtype if to != "pyarrow" else expected["price"].type).startswith(
            ("Decimal", "decimal128")
        )
        en.verify(path)
        low = en.read_csv(self.text, to, dtypes=dtypes, filter=en.col("price") < 5)
        assert len(low) == 1

    def test_values_that_do_not_fit_are_problems(self):
        text = b"a\n1.505\n1000\n+1\n007\nNaN\n1e-3\n"
        frame, problems = en.read_csv(text, "polars", dtypes={"a": "decimal(5, 2)"}, on_error="missing", problems=True)
        assert frame["a"].null_count() == problems.n == 6
        assert problems[0].expected == "decimal(5, 2)"
        with pytest.raises(en.ProblemError, match=r"line 2, column 'a': '1.505', expected decimal\(5, 2\)"):
            en.read_csv(text, "polars", dtypes={"a": "decimal(5, 2)"})
        for wrong in ("decimal(39, 2)", "decimal(0, 0)", "decimal(2, 3)", "decimal", "decimal(9, -2)"):
            with pytest.raises(en.ArgumentError, match="is not a type of a text file"):
                en.read_csv(text, "polars", dtypes={"a": wrong})

    def test_a_spec_has_them(self):
        spec = en.Spec.of(
            '{"separator": ";", "decimal": ",", "names": ["price", "n"], "types": ["decimal(10, 2)", "int64"]}'
        )
        assert en.read_csv(self.text, "polars", spec=spec)["price"].dtype == pl.Decimal(10, 2)
        assert en.Spec.of(spec.to_json()) == spec


@pytest.mark.parametrize("chunk_len", [None, 1, 9, 20])
def test_each_field_may_be_as_long_as_max_field(chunk_len, tmp_path, monkeypatch):
    set_chunk_len(monkeypatch, chunk_len)
    text = b'a,b\n1,2\n3,12345678\n"12,\n567",4\n'
    assert len(read(text, max_field=9)["a"]) == 3
    for most, place in [(7, "line 3, byte 10"), (6, "line 3, byte 10")]:
        with pytest.raises(en.ProblemError, match=f"{place}, has more than {most} bytes; raise max_field"):
            read(text, max_field=most)
        with pytest.raises(en.ProblemError, match=place):
            en.convert(text, tmp_path / "out.entasis", max_field=most)
    with pytest.raises(en.ProblemError, match="quoted field that opens in line 2, byte 4, has more than 7 bytes"):
        read(text[:4] + text[19:], max_field=7)


class TestDecimalCommas:
    texts = (
        b"a;b;c\n1,234;2;x\n5,678;3;1,5 m\n;;\nNA;4;z\n",
        b"a;b;c\n1,2;0.5;x\n3,4;1.5;y\n5,6;2.5;z\n7,8;3.5;u\n",
    )

    @pytest.mark.parametrize("text", texts)
    def test_columns_of_text_warn_once(self, text, tmp_path):
        pattern = r"the column 'a' is text, although its values look like numbers with a comma: pass decimal=\",\""
        with pytest.warns(en.errors.CsvWarning, match=pattern) as caught:
            frame = en.read_csv(text, "polars")
        assert frame["a"].dtype == pl.String
        assert len(caught) == 1
        with pytest.warns(en.errors.CsvWarning, match=pattern):
            en.convert(text, tmp_path / "out.entasis")
        with pytest.warns(en.errors.CsvWarning, match=pattern):
            en.read_csv(text, "polars", strings="categorical")

    def test_several_columns(self):
        text = b"a|b|c\n" + b"1,234|5,678|9,012\n" * 5
        with pytest.warns(en.errors.CsvWarning, match="the columns 'a', 'c' are text, although their values"):
            en.read_csv(text, "polars", columns=["c", "a"])

    @pytest.mark.parametrize(
        ("text", "options"),
        [
            (texts[0], {"decimal": "."}),
            (texts[0], {"decimal": ","}),
            (texts[0], {"thousands": ","}),
            (texts[0], {"dtypes": {"a": "string"}}),
            (texts[0], {"columns": ["b", "c"]}),
            (b'a,b\n"1,234",2\n"5,678",3\n', {}),
            (b'a;b\n"1,234";2\n"5,678";3\n', {}),
            (b"a;b\n1,5 kg;2\n2,5 kg;3\n", {}),
            (b"a;b\n1,5;2\n2,5;3\n", {}),
            (b"a;b\nx;2\ny;3\n" + b"z;1\n" * 30 + b"1,234;1\n", {}),
        ],
    )
    def test_other_columns_do_not_warn(self, text, options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            en.read_csv(text, "polars", **options)


@pytest.mark.parametrize("chunk_len", [None, 1, 12])
def test_a_selection_leaves_out_the_same_rows(chunk_len, tmp_path, monkeypatch):
    set_chunk_len(monkeypatch, chunk_len)
    text = b"a,b,c\n1,x,5\n2,caf\xe9,6\n3,y,q\n4,z,8\n"
    options = {"encoding": "utf-8", "on_error": "skip", "dtypes": {"c": "int64"}, "problems": True}
    whole, expected = en.read_csv(text, "polars", **options)
    assert whole["a"].to_list() == [1, 4]
    assert [(problem.line, problem.column, problem.expected) for problem in expected] == [
        (3, "b", "UTF-8"),
        (4, "c", "int64"),
    ]
    for columns in (["a"], ["b"], ["c", "a"]):
        frame, problems = en.read_csv(text, "polars", columns=columns, **options)
        assert frame.equals(whole.select(columns))
        assert problems == expected
        assert en.convert(text, tmp_path / "out.entasis", columns=columns, **options) == expected
        assert en.read(tmp_path / "out.entasis", to="polars").equals(frame)


class TestSpecsOfDates:
    text = (
        b"day;n;at;us\n1.2.2026;20260201;01/02/2026;01/02/2026\n2.2.2026;20260202;02/02/2026;02/02/2026\n"
        b"3.2.2026;20260203;13/02/2026;02/13/2026\n"
    )

    @pytest.mark.parametrize(
        "dates",
        [
            "%d.%m.%Y",
            ["%d.%m.%Y", "%d/%m/%Y"],
            {"n": "%Y%m%d"},
            {"n": ["%Y%m%d"], "at": ["%m/%d/%Y", "%d/%m/%Y"]},
            {None: ["%d/%m/%Y"], "n": ["%Y%m%d"]},
            {"at": "%d/%m/%Y", "us": "%m/%d/%Y"},
        ],
    )
    def test_they_have_the_formats(self, dates, tmp_path):
        expected = en.read_csv(self.text, "polars", dates=dates)
        spec = en.sniff_csv(self.text, dates=dates)
        assert pl.Date in expected.dtypes
        assert en.read_csv(self.text, "polars", spec=spec).equals(expected)
        assert en.Spec.of(spec.to_json()) == spec
        (tmp_path / "spec.json").write_text(spec.to_json())
        en.convert(self.text, tmp_path / "out.entasis", spec=tmp_path / "spec.json")
        assert en.read(tmp_path / "out.entasis", to="polars").equals(expected)
        # The spec shows the call that repeats it.
        call = {"read_csv": lambda source, **options: en.read_csv(source, "polars", **options), "source": self.text}
        assert eval(repr(spec), call).equals(expected)

    def test_a_spec_without_formats_of_columns_is_read(self):
        old = '{"separator": ";", "names": ["day", "n", "at", "us"], '
        old += '"types": ["date", "int64", "string", "string"], "dates": ["%d.%m.%Y"]}'
        frame = en.read_csv(self.text, "polars", spec=old)
        assert frame["day"].to_list() == [date(2026, 2, 1), date(2026, 2, 2), date(2026, 2, 3)]
        with pytest.raises(en.ArgumentError, match="column_dates of the spec must be an object"):
            en.read_csv(self.text, spec='{"column_dates": ["%d"]}')


class TestBlanks:
    aligned = b"  name   age  city\n   Ann    12  Oslo\n 'Rob'     7\tRome  \n\"Al B\"  100  Bern\n"

    @pytest.mark.parametrize("chunk_len", [None, 1, 10])
    def test_runs_of_blanks_are_one_separator(self, chunk_len, tmp_path, monkeypatch):
        set_chunk_len(monkeypatch, chunk_len)
        expected = {"name": ["Ann", "'Rob'", "Al B"], "age": [12, 7, 100], "city": ["Oslo", "Rome", "Bern"]}
        assert read(self.aligned) == expected
        assert read(self.aligned, sep="blanks", columns=["city"]) == {"city": expected["city"]}
        spec = en.sniff_csv(self.aligned)
        assert spec.separator == "blanks"
        assert "sep='blanks'" in repr(spec)
        assert read(self.aligned, spec=spec.to_json()) == expected
        en.convert(self.aligned, tmp_path / "out.entasis")
        assert en.read(tmp_path / "out.entasis", to="polars").to_dict(as_series=False) == expected

    def test_they_are_those_of_pandas(self):
        pd = pytest.importorskip("pandas")
        generator = random.Random(3)
        for _ in range(50):
            n = generator.randint(2, 6)
            rows = [[f"c{i}" for i in range(n)]]
            rows += [[str(generator.randint(0, 99999)) for _ in range(n)] for _ in range(20)]
            lines = [" " * generator.randint(0, 3) + (" " * generator.randint(1, 5)).join(row) for row in rows]
            text = "\n".join(lines)
            expected = pd.read_csv(io.StringIO(text), sep=r"\s+")
            assert en.read_csv(text.encode(), "pandas", sep="blanks").equals(expected)

    @pytest.mark.parametrize("chunk_len", [None, 1, 10])
    def test_blanks_before_quotes_are_left_out(self, chunk_len, monkeypatch):
        set_chunk_len(monkeypatch, chunk_len)
        text = b'"a", "b", "c"\n"1, 2", "x", 5\n"3", "y, ""z""",   6\n'
        expected = {"a": ["1, 2", "3"], "b": ["x", 'y, "z"'], "c": [5, 6]}
        assert read(text) == read(text, sep=", ") == expected
        assert en.sniff_csv(text).separator == ", "
        rows = list(csv.reader(io.StringIO(text.decode()), skipinitialspace=True))
        assert rows[1:] == [["1, 2", "x", "5"], ["3", 'y, "z"', "6"]]

    def test_wrong_separators_are_refused(self):
        for wrong in ("  ", "ab", " ,", "", "é", "blank"):
            with pytest.raises(en.ArgumentError, match="one ASCII character, one and a blank, 'blanks'"):
                read("a,b\n1,2\n", sep=wrong)
        with pytest.raises(en.ArgumentError, match="has two meanings"):
            read("a b\n1 2\n", sep="blanks", quote=" ")


def test_arguments_are_checked():
    text = b"a,b\n1,2\n"
    for options, match in [
        ({"sep": ",,"}, "sep"),
        ({"columns": ["x"]}, "no column 'x'"),
        ({"columns": ["a"], "drop": ["b"]}, "not both"),
        ({"names": ["x"]}, "1 names for 2 columns"),
        ({"dtypes": {"a": "complex"}}, "'complex'"),
        ({"dtypes": {"z": "int8"}}, "no column 'z'"),
        ({"on_error": "raise"}, "on_error"),
        ({"sep": ",", "quote": ","}, "two meanings"),
        ({"index_col": 0}, "pandas"),
    ]:
        with pytest.raises(en.errors.EntasisError, match=match):
            en.read_csv(text, "polars", **options)


def test_columns_are_chosen():
    text = b'a,b,c\n1,abc",x\n2,y,z\n'
    assert read(text, columns=["c", "a"]) == {"c": ["x", "z"], "a": [1, 2]}
    assert read(text, drop="b") == {"a": [1, 2], "c": ["x", "z"]}
    assert read(text, columns="b") == {"b": ['abc"', "y"]}


def test_names_and_headers():
    assert read(b"1,2\n3,4\n", header=False) == {"column_1": [1, 3], "column_2": [2, 4]}
    assert read(b"1,2\n3,4\n", header=False, names=["x", "y"]) == {"x": [1, 3], "y": [2, 4]}
    assert read(b"a,b\n3,4\n", names=["x", "y"]) == {"x": [3], "y": [4]}
    with pytest.warns(en.errors.CsvWarning, match="header=False"):
        en.read_csv(b"1,2\n3,4\n5,6\n", "polars")
    with pytest.raises(en.errors.ArgumentError, match="index_col=0"):
        read(b"a,b\nr1,1,2\nr2,3,4\n")


def test_rows_are_chosen():
    text = ("a\n" + "".join(f"{i}\n" for i in range(1000)) + "x\n").encode()
    assert read(text, rows=(0, 3)) == {"a": [0, 1, 2]}
    assert read(text, rows=slice(998, None)) == {"a": ["998", "999", "x"]}
    assert read(text, rows=(5, 5)) == {"a": []}
    assert read(text, rows=[3, 1]) == {"a": ["3", "1"]}


def test_missing_words():
    assert read(b"a,b\n-,x\n1,-\n", na="-") == {"a": [None, 1], "b": ["x", None]}
    assert read(b"a,b\nNA,x\n1,y\n", na=[]) == {"a": ["NA", "1"], "b": ["x", "y"]}
    assert read(b"a,b\nNA,x\n,y\n") == {"a": ["NA", None], "b": ["x", "y"]}


def test_thousands():
    assert read(b"a;b\n1.234;1\n1.234.567,5;2\n", thousands=".", decimal=",") == {
        "a": [1234.0, 1234567.5],
        "b": [1, 2],
    }
    assert read(b"a;b\n1,234;1\n2;2\n", thousands=",", decimal=".") == {"a": [1234, 2], "b": [1, 2]}
    assert read(b"a\n000000000010084566\n", thousands=",", decimal=".") == {"a": ["000000000010084566"]}


def test_specs_repeat_a_reading(tmp_path):
    text = b"id;when;price\n1;2020-01-01;2,5\n2;2020-01-02;3,75\n"
    spec = en.sniff_csv(text)
    assert spec.separator == ";"
    assert spec.types == ["int64", "date", "float64"]
    assert {reason.what for reason in spec.reasons} >= {"separator", "header"}
    path = tmp_path / "spec.json"
    path.write_text(spec.to_json())
    for one in (spec, path, spec.to_json()):
        assert read(text, spec=one) == read(text)
    assert eval(repr(spec), {"read_csv": lambda source, **options: read(source, **options), "source": text}) == read(
        text
    )
    with pytest.raises(en.errors.ProblemError, match="column 'id'"):
        read(text.replace(b"\n2;", b"\nx;"), spec=spec)


@pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
def test_each_library_gets_what_a_file_of_the_text_gives(to, tmp_path):
    pytest.importorskip(to)
    text = (
        b"i,u,f,b,d,t,z,s,n,g\n"
        b"1,18446744073709551615,1.5,true,2020-01-01,2020-01-01T00:00:01,2020-01-01T00:00:00Z,x,,7\n"
        b"-2,1,NaN,false,1969-12-31,2020-01-01T00:00:00.123456,2020-01-01T01:00:00+01:00,,,\n"
    )
    # NumPy and StaticFrame have no missing integers, StaticFrame no time zones.
    drop = {"numpy": ["g"], "static_frame": ["z", "g"]}.get(to, [])
    path = tmp_path / "t.entasis"
    en.write(en.read_csv(text, "polars", drop=drop), path)
    found, expected = en.read_csv(text, to, drop=drop), en.read(path, to=to)
    if to == "static_frame":
        assert found.equals(expected, compare_dtype=True, compare_class=True)
    elif to == "pandas":
        import pandas as pd

        pd.testing.assert_frame_equal(found, expected)
    elif to == "numpy":
        assert list(found) == list(expected)
        for name in found:
            assert found[name].dtype == expected[name].dtype
            assert str(found[name]) == str(expected[name])
    else:
        assert found.equals(expected) or to == "pyarrow"
        assert found.schema == expected.schema


def test_filters_do_not_change_types():
    text = b"a,b\n1,x\n2,y\n3.5,z\n"
    for to in ("polars", "pandas"):
        whole = en.read_csv(text, to)
        part = en.read_csv(text, to, filter=en.col("b") != "z")
        assert list(part["a"]) == [1.0, 2.0]
        assert part["a"].dtype == whole["a"].dtype


def test_row_labels_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = en.read_csv(b"k,v\nx,1\ny,2\n", "pandas", index_col="k")
    pd.testing.assert_frame_equal(
        frame, pd.DataFrame({"v": [1, 2]}, index=pd.Index(["x", "y"], name="k", dtype=frame.index.dtype))
    )
    frame = en.read_csv(b"v,w\nx,1,3\ny,2,4\n", "pandas", index_col=0)
    assert list(frame.index) == ["x", "y"]
    assert frame.index.name is None
    assert list(frame.columns) == ["v", "w"]


EXPECTED = {"a": [1, 2], "b": ["x", "y"]}


class TestSources:
    text = b"a,b\n1,x\n2,y\n"

    def test_files_and_objects(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(self.text)
        assert en.read_csv(path, "polars").to_dict(as_series=False) == EXPECTED
        assert en.read_csv(str(path), "polars").to_dict(as_series=False) == EXPECTED
        for source in (io.BytesIO(self.text), io.StringIO(self.text.decode()), path.open("rb"), path.open()):
            with source:
                assert en.read_csv(source, "polars").to_dict(as_series=False) == EXPECTED

    def test_compressed(self, tmp_path):
        import bz2
        import lzma

        for compress in (gzip.compress, bz2.compress, lzma.compress):
            path = tmp_path / "t.csv"
            path.write_bytes(compress(self.text))
            assert en.read_csv(path, "polars").to_dict(as_series=False) == EXPECTED
            assert en.read_csv(io.BytesIO(compress(self.text)), "polars").to_dict(as_series=False) == EXPECTED
            with pytest.raises(en.errors.EntasisError):
                en.read_csv(compress(self.text * 100)[:-9], "polars")

    def test_streams_with_late_text(self):
        text = b"a,b\n" + b"1,0.5\n" * 300_000 + b"x,y\n"
        frame = en.read_csv(io.BytesIO(gzip.compress(text)), "polars")
        assert frame["a"].to_list() == ["1"] * 300_000 + ["x"]
        assert frame["b"].to_list() == ["0.5"] * 300_000 + ["y"]

    def test_errors_of_objects_are_passed_on(self):
        class Broken:
            def read(self, n):
                raise RuntimeError("the line went dead")

        with pytest.raises(en.errors.FileError, match="the line went dead"):
            en.read_csv(Broken(), "polars")


def test_reading_a_text_as_an_entasis_file_names_read_csv(tmp_path):
    text = b"a,b\n1,x\n"
    for name, content in [
        ("x.csv", text),
        ("x.data", text),
        ("x.txt", b"hello"),
        ("x.csv.gz", gzip.compress(text)),
        ("x.tsv", b"a\tb\n"),
        ("x.csv", b""),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        for function in (en.read, en.open):
            with pytest.raises((en.NotEntasisError, en.CorruptFileError), match=r"en\.read_csv\(path\)"):
                function(path)
    with pytest.raises(en.NotEntasisError, match="read_csv"):
        en.read(text)


def converted(text, path, **options):
    """The file of a text, read with Polars."""
    assert en.convert(text.encode() if isinstance(text, str) else text, path, **options) is None
    return en.read(path, to="polars")


class TestConvert:
    def test_a_file_has_what_reading_gives(self, tmp_path):
        path = tmp_path / "t.entasis"
        for text, _ in TEXTS.values():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", en.errors.CsvWarning)
                found, expected = converted(text, path), en.read_csv(text.encode(), "polars")
            assert found.schema == expected.schema
            assert found.equals(expected)

    @pytest.mark.parametrize("seed", range(30))
    def test_windows_do_not_matter(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        columns = [rng.choice(["i", "f", "mixed", "text", "missing", "late"]) for _ in range(4)]
        n = rng.randrange(1, 200)
        late = rng.randrange(n)

        def field(kind: str, row: int) -> str:
            if kind == "late":
                return rng.choice(["x", "0.5", "", "NA", "2020-01-01"]) if row == late else str(row)
            return {
                "i": str(rng.randrange(-9, 99)),
                "f": rng.choice([str(rng.random()), str(rng.randrange(100))]),
                "mixed": rng.choice(["1", "-5", "9223372036854775808", "1.5", "", "NA", "9007199254740993"]),
                "text": rng.choice(["a", "b c", "1"]),
                "missing": rng.choice(["", "NA"]),
            }[kind]

        rows = [",".join(field(kind, row) for kind in columns) for row in range(n)]
        text = "a,b,c,d\n" + "".join(row + "\n" for row in rows)
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        expected = en.read_csv(text.encode(), "polars", **options)
        set_chunk_len(monkeypatch, rng.choice([1, 10, 100]), rng.choice([1, 50, 500]))
        found = converted(text, tmp_path / "t.entasis", **options)
        assert found.schema == expected.schema
        assert found.equals(expected)
        assert [child.name for child in tmp_path.iterdir()] == ["t.entasis"]

    def test_problems_are_those_of_reading(self, monkeypatch, tmp_path):
        path = tmp_path / "t.entasis"
        text = TestProblems.text.encode() * 3
        options = {"sep": ",", "quote": '"', "header": True}
        frame, expected = en.read_csv(text, "polars", on_error="skip", problems=True, **options)
        set_chunk_len(monkeypatch, 3, 9)
        assert en.convert(text, path, on_error="skip", problems=True, **options) == expected
        assert en.read(path, to="polars").equals(frame)
        with pytest.warns(en.errors.ProblemWarning, match="places") as caught:
            en.convert(text, path, on_error="missing", **options)
        assert caught[0].filename == __file__

    def test_errors_leave_the_old_file(self, tmp_path):
        path = tmp_path / "t.entasis"
        with pytest.raises(en.errors.ProblemError) as caught:
            en.convert(TestProblems.text.encode(), path)
        assert caught.value.problems[0].line == 3
        with pytest.raises(en.errors.ArgumentError, match="does not end"):
            en.convert(b'a,b\n1,2\n3,"x\n4,5\n', path, quote='"', sep=",")
        assert list(tmp_path.iterdir()) == []
        en.convert(b"a\n1\n", path)
        with pytest.raises(en.errors.ProblemError):
            en.convert(b"a\nx\n", path, dtypes={"a": "int8"})
        assert en.read(path, to="polars").to_dict(as_series=False) == {"a": [1]}
        assert list(tmp_path.iterdir()) == [path]

    def test_arguments(self, tmp_path):
        path = tmp_path / "t.entasis"
        text = b"a,b\n1,x\n2,y\n3,z\n"
        found = converted(text, path, columns=["b"], rows=(1, None), compression={"b": 80}, threads=1, durable=False)
        assert found.to_dict(as_series=False) == {"b": ["y", "z"]}
        with pytest.raises(en.errors.ArgumentError, match="rows="):
            en.convert(text, path, rows=[0, 2])
        with pytest.raises(en.errors.ArgumentError, match="BytesIO"):
            en.convert(text, io.BytesIO())
        with pytest.raises(en.errors.ArgumentError, match='"c"'):
            en.convert(text, path, compression={"c": 80})
        source = tmp_path / "t.csv"
        source.write_bytes(text)
        with pytest.raises(en.errors.ArgumentError, match="the text that is read"):
            en.convert(source, source, target_format="entasis")
        assert source.read_bytes() == text

    @pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is for POSIX")
    def test_ctrl_c_stops_it(self, tmp_path):
        code = (
            "import sys, itertools, entasis as en\n"
            "class Endless:\n"
            "    def read(self, n):\n"
            "        return b'a,b\\n' + b'1,x\\n' * 20_000\n"
            "print('ready', flush=True)\n"
            "try:\n"
            "    en.convert(Endless(), sys.argv[1], spill_limit=0, on_error='skip', header=True)\n"
            "except KeyboardInterrupt:\n"
            "    print('stopped', flush=True)\n"
        )
        path = tmp_path / "t.entasis"
        process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(20) == 0
        assert list(tmp_path.iterdir()) == []


class TestCategories:
    text = b"a,b,c,d,e\nx,1,q,,NA\ny,2,,,x\nx,z,q,,\n,,p,,y\n"

    @pytest.mark.parametrize("to", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
    @pytest.mark.parametrize("chunk_len", [None, 8])
    def test_each_library_gets_its_own_kind(self, to, chunk_len, monkeypatch, tmp_path):
        pytest.importorskip(to)
        set_chunk_len(monkeypatch, chunk_len, 8)
        path = tmp_path / "t.entasis"
        drop = ["d"] if to == "numpy" else []
        found = en.read_csv(self.text, to, strings="categorical", drop=drop)
        en.convert(self.text, path, strings="categorical", drop=drop)
        kept = en.read(path, to=to)
        if to == "pandas":
            import pandas as pd

            pd.testing.assert_frame_equal(found, kept)
            assert list(found["a"].cat.categories) == ["x", "y"]
            assert list(found["b"].cat.categories) == ["1", "2", "z"]
            assert list(found["a"].cat.codes) == [0, 1, 0, -1]
            assert list(found["e"].cat.categories) == ["NA", "x", "y"]
        elif to == "polars":
            assert found.equals(kept)
            assert found.schema == kept.schema
            assert found["a"].dtype == pl.Categorical
            assert found["b"].to_list() == ["1", "2", "z", None]
            assert found["d"].dtype == pl.Null
        elif to == "pyarrow":
            import pyarrow as pa

            assert found.equals(kept)
            assert found.schema.field("a").type == pa.dictionary(pa.int32(), pa.large_string())
            assert found["c"].combine_chunks().dictionary.to_pylist() == ["q", "p"]

    def test_one_column(self):
        frame = en.read_csv(self.text, "polars", dtypes={"b": "category", "c": "string"})
        assert [frame[name].dtype for name in "abc"] == [pl.String, pl.Categorical, pl.String]
        frame = en.read_csv(self.text, "polars", strings="categorical", dtypes={"a": "string"})
        assert [frame[name].dtype for name in "abc"] == [pl.String, pl.Categorical, pl.Categorical]
        for dtype in (pl.Categorical, __import__("pandas").CategoricalDtype()):
            assert en.read_csv(self.text, "polars", dtypes={"a": dtype})["a"].dtype == pl.Categorical
        with pytest.raises(en.errors.ArgumentError, match="'text'"):
            en.read_csv(self.text, strings="text")
        spec = '{"names": ["a", "b"], "types": ["categorical", "int64"]}'
        assert en.read_csv(b"a,b\nx,1\n", "polars", spec=spec)["a"].dtype == pl.Categorical

    @pytest.mark.parametrize("seed", range(10))
    def test_they_hold_the_strings(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        n = rng.randrange(1, 300)
        words = [rng.choice(["", "a", "bc", "1", '"x,y"', "a long text of more than twelve bytes"]) for _ in range(n)]
        words += [str(i) for i in range(rng.randrange(3))]
        rng.shuffle(words)
        text = "a,b\n" + "".join(f"{word},{i}\n" for i, word in enumerate(words))
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        plain = en.read_csv(text.encode(), "polars", **options)
        set_chunk_len(monkeypatch, rng.choice([None, 1, 20]), rng.choice([1, 100]))
        found = en.read_csv(text.encode(), "polars", strings="categorical", **options)
        assert found.with_columns(pl.col(pl.Categorical).cast(pl.String)).equals(plain)
        path = tmp_path / "t.entasis"
        en.convert(text.encode(), path, strings="categorical", **options)
        assert en.verify(path)
        kept = en.read(path, to="pandas")
        frame = en.read_csv(text.encode(), "pandas", strings="categorical", **options)
        __import__("pandas").testing.assert_frame_equal(kept, frame)


class TestSeveralFiles:
    def write(self, folder, texts):
        for name, text in texts.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def test_patterns_and_lists(self, tmp_path):
        self.write(tmp_path, {"b.csv": "k,v\n3,x\n4,\n", "a.csv": "k,v\n1,y\n2,z\n", "c.txt": "no\n"})
        for source in (
            str(tmp_path / "*.csv"),
            tmp_path / "[ab].csv",
            [tmp_path / "a.csv", tmp_path / "b.csv"],
            (tmp_path / "a.csv", b"k,v\n3,x\n4,\n"),
            [io.BytesIO(b"k,v\n1,y\n2,z\n"), tmp_path / "b.csv"],
        ):
            found = en.read_csv(source, "polars").to_dict(as_series=False)
            assert found == {"k": [1, 2, 3, 4], "v": ["y", "z", "x", None]}
        reverse = en.read_csv([tmp_path / "b.csv", tmp_path / "a.csv"], "polars")
        assert reverse["k"].to_list() == [3, 4, 1, 2]
        with pytest.raises(en.errors.MissingFileError, match="no file matches"):
            en.read_csv(tmp_path / "*.tsv")
        with pytest.raises(en.errors.ArgumentError, match="empty"):
            en.read_csv([])
        (tmp_path / "x[1].csv").write_text("a\n1\n")
        assert en.read_csv(tmp_path / "x[1].csv", "polars")["a"].to_list() == [1]

    def test_types_hold_for_all_files(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k,v\n1,2\n", "b.csv": "k,v\nx,2.5\n", "c.csv": "k,v\n,\n"})
        found = en.read_csv(tmp_path / "*.csv", "polars")
        assert found.to_dict(as_series=False) == {"k": ["1", "x", None], "v": [2.0, 2.5, None]}
        en.convert(tmp_path / "*.csv", tmp_path / "t.entasis")
        assert en.read(tmp_path / "t.entasis", to="polars").equals(found)
        cut = en.read_csv(tmp_path / "*.csv", "polars", rows=(1, 3))
        assert cut.to_dict(as_series=False) == {"k": ["x", None], "v": [2.5, None]}
        assert en.read_csv(tmp_path / "*.csv", "polars", rows=(0, 1)).schema["k"] == pl.Int64

    def test_origins(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k\n1\n2\n", "b.csv": "k\n", "c.csv": "k\n3\n"})
        paths = [str(tmp_path / f"{name}.csv") for name in "abc"]
        for to in ("pandas", "polars", "pyarrow"):
            found = en.read_csv(tmp_path / "*.csv", to, id="file")
            columns = found.to_pydict() if to == "pyarrow" else {name: list(found[name]) for name in found.columns}
            assert list(columns) == ["file", "k"]
            assert columns["file"] == [paths[0], paths[0], paths[2]]
        path = tmp_path / "t.entasis"
        en.convert(tmp_path / "*.csv", path, id="file")
        assert en.read(path, to="polars").equals(en.read_csv(tmp_path / "*.csv", "polars", id="file"))
        assert en.read_csv(paths[0], "polars", id="file")["file"].to_list() == [paths[0]] * 2
        with pytest.raises(en.errors.ArgumentError, match="has a column 'k'"):
            en.read_csv(tmp_path / "*.csv", id="k")

    def test_names_must_be_the_same(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k,v\n1,2\n", "b.csv": "k,w\n1,2\n", "c.csv": "v,k\n1,2\n"})
        for pattern, match in [("[ab].csv", "lacks 'v'; it has also 'w'.*b.csv"), ("[ac].csv", "order.*c.csv")]:
            for read in (en.read_csv, lambda source: en.convert(source, tmp_path / "t.entasis")):
                with pytest.raises(en.errors.ArgumentError, match=match):
                    read(tmp_path / pattern)
        assert not (tmp_path / "t.entasis").exists()

    def test_problems_name_the_file(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k,v\n1,2\n", "b.csv": "k,v\n3\n1,2\n"})
        with pytest.raises(en.errors.ProblemError, match=r"line 2 of '.*b.csv': '3'"):
            en.read_csv(tmp_path / "*.csv", header=True)
        _, problems = en.read_csv(tmp_path / "*.csv", "polars", on_error="skip", problems=True, header=True)
        assert problems == [en.Problem(0, 2, 4, None, "3", "2 fields, not 1", str(tmp_path / "b.csv"))]
        found = en.convert(tmp_path / "*.csv", tmp_path / "t", on_error="skip", problems=True, header=True)
        assert found == problems

    @pytest.mark.parametrize("seed", range(15))
    def test_they_are_one_text(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        parts = []
        for i in range(rng.randrange(1, 5)):
            kinds = [rng.choice(["1", "2.5", "x", "", "NA", "true", "2020-01-01"]) for _ in range(rng.randrange(1, 3))]
            rows = [f"{rng.choice(kinds)},{i},{rng.choice(['p', 'q', ''])}\n" for _ in range(rng.randrange(20))]
            parts.append("".join(rows))
        header = "a,b,c\n"
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        options["strings"] = rng.choice(["plain", "categorical"])
        whole = en.read_csv((header + "".join(parts)).encode(), "polars", **options)
        for i, part in enumerate(parts):
            text = (header + part).encode()
            (tmp_path / f"{i}.csv").write_bytes(gzip.compress(text) if rng.random() < 0.3 else text)
        set_chunk_len(monkeypatch, rng.choice([None, 1, 10]), rng.choice([1, 30]))
        found = en.read_csv(tmp_path / "*.csv", "polars", **options)
        assert found.schema == whole.schema
        assert found.equals(whole)
        en.convert(tmp_path / "*.csv", tmp_path / "t.entasis", **options)
        kept = en.read(tmp_path / "t.entasis", to="polars")
        assert kept.schema == whole.schema
        assert kept.equals(whole)


class TestProgress:
    text = b"a,b\n" + b"1,x\n" * 1_000_000

    def test_functions_are_called(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(self.text)
        for call in (
            lambda source, **options: en.read_csv(source, "polars", **options),
            lambda source, **options: en.convert(source, tmp_path / "t.entasis", **options),
        ):
            for source, n in ((path, 1), (self.text, 1), ([path, path], 2)):
                calls = []
                call(source, progress=lambda done, total, unit, calls=calls: calls.append((done, total, unit)))
                assert calls[-1] == (n * len(self.text), n * len(self.text), "bytes")
                assert all(total == n * len(self.text) for _, total, _ in calls)
                assert sorted(calls) == calls

    def test_errors_of_functions_stop_the_reading(self, tmp_path):
        def fail(done, total, unit):
            raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            en.read_csv(self.text, progress=fail)
        with pytest.raises(RuntimeError, match="stop"):
            en.convert(self.text * 8, tmp_path / "t.entasis", progress=fail)
        with pytest.raises(en.errors.ArgumentError, match="progress"):
            en.read_csv(self.text, progress=3)

    @pytest.mark.parametrize("has_tqdm", [True, False])
    def test_a_bar_appears(self, has_tqdm, monkeypatch, capsys):
        from entasis._arguments import progress

        if has_tqdm:
            pytest.importorskip("tqdm")
        else:
            monkeypatch.setitem(sys.modules, "tqdm", None)
        en.read_csv(b"a\n1\n", progress=True)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(progress, "_PATIENCE", 0)
        en.read_csv(self.text, progress=True)
        assert "reading" in capsys.readouterr().err


class TestDates:
    def test_one_format(self):
        text = b"a,b,c\n31/01/2020,x,1\n,01/02/2020,2\nNA,y,3\n"
        found = read(text, dates="%d/%m/%Y")
        assert found == {"a": [date(2020, 1, 31), None, None], "b": ["x", "01/02/2020", "y"], "c": [1, 2, 3]}
        assert read(text)["a"] == ["31/01/2020", None, "NA"]
        assert read(text, dates={"a": "%d/%m/%Y"}) == found
        assert read(text, dates="%m/%d/%Y")["a"] == ["31/01/2020", None, "NA"]

    def test_a_value_that_does_not_fit_leaves_text(self):
        text = b"a\n31/01/2020\n31/02/2020\n"
        with pytest.warns(en.errors.CsvWarning, match="'a' stays text"):
            found = en.read_csv(text, "polars", dates={"a": "%d/%m/%Y"})
        assert found["a"].to_list() == ["31/01/2020", "31/02/2020"]
        assert read(text, dates="%d/%m/%Y")["a"] == ["31/01/2020", "31/02/2020"]

    def test_several_formats(self):
        formats = ["%d/%m/%Y", "%m/%d/%Y"]
        assert read(b"a\n01/02/2020\n13/02/2020\n", dates=formats)["a"] == [date(2020, 2, 1), date(2020, 2, 13)]
        assert read(b"a\n01/02/2020\n02/13/2020\n", dates=formats)["a"] == [date(2020, 1, 2), date(2020, 2, 13)]
        assert read(b"a\n01/02/2020\n03/02/2020\n", dates=formats)["a"] == ["01/02/2020", "03/02/2020"]
        assert read(b"a\n02/02/2020\n", dates=formats)["a"] == [date(2020, 2, 2)]
        assert read(b"a\n13/02/2020\n02/13/2020\n", dates=formats)["a"] == ["13/02/2020", "02/13/2020"]

    def test_numbers_are_dates_only_by_name(self):
        text = b"a,b\n20200131,20200131\n20200201,20200132\n"
        assert read(text, dates="%Y%m%d")["a"] == [20200131, 20200201]
        found = read(text, dates={"a": "%Y%m%d"})
        assert found == {"a": [date(2020, 1, 31), date(2020, 2, 1)], "b": [20200131, 20200132]}

    def test_iso_stays(self):
        text = b"a\n2020-01-31\n2020-02-01\n"
        assert read(text, dates={"a": "%d/%m/%Y"})["a"] == [date(2020, 1, 31), date(2020, 2, 1)]
        assert read(text, dates="%Y-%d-%m")["a"] == [date(2020, 1, 31), date(2020, 2, 1)]

    def test_times(self):
        text = b"a,b\n31.01.2020 23:59:01,1/2/20 5:00 PM +0100\n1.2.2020 00:00:00,1/2/20 12:00 AM +0100\n"
        frame = en.read_csv(text, "polars", dates=["%d.%m.%Y %H:%M:%S", "%m/%d/%y %I:%M %p %z"])
        assert frame.dtypes == [pl.Datetime("us"), pl.Datetime("us", "UTC")]
        assert [str(value) for value in frame["a"]] == ["2020-01-31 23:59:01", "2020-02-01 00:00:00"]
        assert [str(value) for value in frame["b"]] == ["2020-01-02 16:00:00+00:00", "2020-01-01 23:00:00+00:00"]
        frame = en.read_csv(b"a\n1.1.1970 00:00:00.123456789\n", "polars", dates="%d.%m.%Y %H:%M:%S.%f")
        assert frame["a"].dtype == pl.Datetime("ns")

    def test_given_types(self):
        text = b"a,b\n31/01/2020,1\n2020-01-01,2\n32/01/2020,3\n,4\n"
        with pytest.raises(en.errors.ProblemError, match="line 4, column 'a': '32/01/2020', expected date"):
            en.read_csv(text, "polars", dates="%d/%m/%Y", dtypes={"a": "date"})
        frame, problems = en.read_csv(
            text, "polars", dates="%d/%m/%Y", dtypes={"a": "date"}, on_error="missing", problems=True
        )
        assert frame["a"].to_list() == [date(2020, 1, 31), date(2020, 1, 1), None, None]
        assert problems.n == 1
        assert read(text, dates="%d/%m/%Y", dtypes={"a": "string"})["a"][0] == "31/01/2020"

    def test_arguments(self):
        for dates, match in [("%d/%m", "one date"), ("%Q", "directive"), (3, "dates"), ({"x": "%d/%m/%Y"}, "'x'")]:
            with pytest.raises(en.errors.EntasisError, match=match):
                en.read_csv(b"a\n1\n", dates=dates)

    @pytest.mark.parametrize("seed", range(25))
    def test_chunks_and_windows_do_not_matter(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        formats = rng.sample(["%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%d/%m/%Y %H:%M", "%Y%m%d"], rng.randrange(1, 4))
        written = rng.choice([*formats, "%Y-%m-%d"])
        n = rng.randrange(1, 60)
        days = [date(rng.choice([1999, 2020]), rng.randrange(1, 13), rng.choice([1, 5, 12, 13, 28])) for _ in range(n)]
        fields = [day.strftime(written) for day in days]
        for _ in range(rng.choice([0, 0, 1, 3])):
            fields[rng.randrange(n)] = rng.choice(["", "NA", "x", "7", "2020-01-01", "01/01/2020", "1.5"])
        if rng.random() < 0.3:
            fields[: n // 2] = [""] * (n // 2)
        text = ("a,b\n" + "".join(f"{field},{i}\n" for i, field in enumerate(fields))).encode()
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        options["dates"] = formats if rng.random() < 0.5 else {"a": formats}
        options["strings"] = rng.choice(["plain", "categorical"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", en.errors.CsvWarning)
            whole = en.read_csv(text, "polars", **options)
            set_chunk_len(monkeypatch, rng.choice([1, 10, 100]), rng.choice([1, 50, 200]))
            cut = en.read_csv(text, "polars", **options)
            en.convert(text, tmp_path / "t.entasis", **options)
        kept = en.read(tmp_path / "t.entasis", to="polars")
        for found in (cut, kept):
            assert found.schema == whole.schema
            assert found.equals(whole)


def random_field(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return str(rng.choice([0, 1, -1, 7, 10**9, 2**53 + 1, -(2**63), 2**64 - 1, rng.randrange(10**18)]))
    if kind < 0.5:
        return repr(rng.choice([0.5, -1.25e300, rng.random(), 1e-7, rng.uniform(-1e9, 1e9)]))
    if kind < 0.6:
        return rng.choice(["", "NA", "true", "False", "2020-02-29", "2020-01-01T00:00:00Z", "inf"])
    return "".join(rng.choice('ab ",\n\r\té0') for _ in range(rng.randrange(6)))


@pytest.mark.parametrize("seed", range(30))
def test_fields_are_those_of_the_csv_module(seed, monkeypatch):
    rng = random.Random(seed)
    n_columns = rng.randrange(2, 5)
    rows = [[random_field(rng) for _ in range(n_columns)] for _ in range(rng.randrange(1, 60))]
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=rng.choice(["\n", "\r\n"])).writerows(rows)
    set_chunk_len(monkeypatch, rng.choice([1, 5, 64, 1000, None]))
    names = [f"c{i}" for i in range(n_columns)]
    types = dict.fromkeys(names, "string")
    text = (",".join(names) + "\n" + file.getvalue()).encode()
    found = en.read_csv(
        text, "polars", sep=",", quote='"', escape=None, comment=None, skip=0, header=True, dtypes=types
    )
    expected = [row for row in csv.reader(io.StringIO(file.getvalue(), newline="")) if row]
    assert [list(row) for row in found.fill_null("").rows()] == expected


@pytest.mark.parametrize("seed", range(20))
def test_types_do_not_depend_on_chunks_or_threads(seed, monkeypatch):
    rng = random.Random(seed)
    kinds = [rng.choice(["i", "f", "mixed", "text"]) for _ in range(3)]

    def field(kind: str) -> str:
        if kind == "i":
            return str(rng.randrange(-9, 99))
        if kind == "f":
            return rng.choice([str(rng.random()), str(rng.randrange(100))])
        if kind == "mixed":
            return rng.choice(["1", "-5", "9223372036854775808", "1.5", "", "NA", "9007199254740993"])
        return rng.choice(["a", "b c", "1"])

    text = "a,b,c\n" + "".join(",".join(map(field, kinds)) + "\n" for _ in range(rng.randrange(1, 40)))
    options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
    set_chunk_len(monkeypatch, None)
    whole = en.read_csv(text.encode(), "polars", threads=1, **options)
    for chunk_len in (1, 3, 10, 50, 200):
        set_chunk_len(monkeypatch, chunk_len)
        for threads in (1, 2, 4):
            cut = en.read_csv(text.encode(), "polars", threads=threads, **options)
            assert cut.schema == whole.schema
            assert cut.equals(whole)
