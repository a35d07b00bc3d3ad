"""Text files: dates and times in formats of the user."""

from __future__ import annotations

import random
import warnings
from datetime import date

import pytest
from csv_texts import read, set_chunk_len

import entasis as en

pl = pytest.importorskip("polars")


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
