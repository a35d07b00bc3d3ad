"""Text files: what a text means, and what the options change."""

from __future__ import annotations

import csv
import io
import random
import warnings

import pytest
from csv_texts import TEXTS, UNEVEN, read, same_columns, set_chunk_len

import entasis as en

pl = pytest.importorskip("polars")


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


class TestProblems:
    text = UNEVEN

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
