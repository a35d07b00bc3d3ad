"""Text files that are written: exact, and read back by us and by others."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import math
import random
import struct
import warnings
from datetime import UTC, date, datetime, timedelta

import pytest

import entasis as en

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

WORDS = ["", "x", " x", "x ", "a,b", 'a"b', "a\nb", "a\rb", "\r\n", "NA", "null", "1", "-2.5", "1e5", "007", "+1"]
WORDS += ["true", "2020-01-01", "2020-01-01T00:00:00Z", "inf", "NaN", "#x", "%x", "é", "'x", "=1+1", "\t", ";"]
WORDS += ["1,5", "\x1a", "\0"]


def written(value, **options):
    target = io.BytesIO()
    en.write_csv(value, target, **options)
    return target.getvalue().decode()


def test_texts():
    frame = pl.DataFrame(
        {
            "i": [1, -2, None],
            "f": [0.1, -0.0, 1e300],
            "s": ["x", "", None],
            "b": [True, False, None],
            "d": [date(2020, 1, 31), date(1, 2, 3), None],
            "t": [datetime(2020, 1, 31, 12, 30), datetime(2020, 1, 31, 0, 0, 0, 500), None],
        }
    )
    assert written(frame) == (
        "i,f,s,b,d,t\n"
        "1,0.1,x,true,2020-01-31,2020-01-31T12:30:00\n"
        '-2,-0.0,"",false,0001-02-03,2020-01-31T00:00:00.000500\n'
        ",1e+300,,,,\n"
    )
    assert written(frame[["i", "s"]], sep=";", na="NA", line_end="\r\n") == 'i;s\r\n1;x\r\n-2;""\r\nNA;NA\r\n'
    assert written(frame[["f"]], decimal=",", sep="\t", header=False) == "0,1\n-0,0\n1e+300\n"
    assert written(frame[["s", "i"]], quote="all", bom=True) == '\ufeff"s","i"\n"x","1"\n"","-2"\n,\n'
    assert written(frame[["s", "i"]], quote="non_numeric") == '"s","i"\n"x",1\n"",-2\n,\n'
    assert written(pl.DataFrame({"f": [1 / 3, 0.1 + 0.2, 100.0]}), digits=15) == "f\n0.333333333333333\n0.3\n100\n"
    assert written(pl.DataFrame({"s": ["=1", "-x", "a"]}), formulas="quote") == "s\n'=1\n'-x\na\n"
    assert written(pl.DataFrame({"s": ["x", None]})) == "s\nx\n\n\n"
    assert written(pl.DataFrame({"s": []})) == "s\n"


def test_formats_of_dates(tmp_path):
    frame = pl.DataFrame(
        {
            "d": [date(2020, 1, 31), date(1999, 12, 1), None],
            "t": [datetime(2020, 1, 31, 12, 30), datetime(2020, 2, 1), None],
            "z": pl.Series([datetime(2020, 1, 31, 23, 30), None, None], dtype=pl.Datetime("us", "UTC")),
            "s": ["31.01.2020", "x", None],
        }
    )
    text = written(frame[["d", "t", "s"]], dates="%d.%m.%Y")
    assert text.splitlines()[1] == "31.01.2020,2020-01-31T12:30:00,31.01.2020"
    text = written(frame, dates=["%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M%z"])
    assert text.splitlines()[1:] == [
        "31.01.2020,31.01.2020 12:30,31.01.2020 23:30+0000,31.01.2020",
        "01.12.1999,01.02.2020 00:00,,x",
        ",,,",
    ]
    for dates in (
        "%d/%m/%y",
        ["%b %d %Y", "%I:%M:%S.%f %p %Y %j", "%Y-%m-%dT%H:%M%z"],
        {"d": "%Y%m%d", "t": "%Y%m%d %H%M", "z": "%H:%M%z %d.%m.%Y"},
        {"d": "%Y%m%d", None: "%d.%m.%Y %H:%M:%S"},
    ):
        path = tmp_path / "t.csv"
        spec = en.write_csv(frame, path, dates=dates)
        assert en.read_csv(path, "polars", spec=spec).equals(frame)
        assert en.scan_csv(path, spec=spec).to_polars().equals(frame)
        en.write(frame, tmp_path / "t.entasis")
        en.write_csv(en.scan_csv(path, spec=spec), tmp_path / "again.csv", dates=dates)
        assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    # Times at midnight are dates by the format of their column.
    days = pd.DataFrame({"t": pd.to_datetime(["2020-01-31", "2020-02-01"])})
    path = tmp_path / "days.csv"
    spec = en.write_csv(days, path, dates={"t": "%d.%m.%Y"})
    assert path.read_text() == "t\n31.01.2020\n01.02.2020\n"
    assert spec.types == ["date"]
    assert en.read_csv(path, "polars", spec=spec)["t"].to_list() == [date(2020, 1, 31), date(2020, 2, 1)]
    assert written(frame[["d"]], dates="%d.%m.%Y", quote="all").splitlines()[1] == '"31.01.2020"'
    for wrong, message in (
        ({"t": "%d.%m.%Y"}, "row 0 of column 't'"),
        ({"t": "%d.%m.%Y %H"}, "row 0 of column 't'"),
        ({"t": "%d.%m.%Y %H:%M%z"}, "%z"),
        ({"z": "%d.%m.%Y %H:%M"}, "%z"),
        ({"d": "%d.%m.%Y %H"}, "time of day"),
        ({"s": "%d.%m.%Y"}, "neither dates nor times"),
        ({"d": ["%d.%m.%Y", "%d/%m/%Y"]}, "2 formats"),
        ("%d", "does not give one date"),
        ("%d,%m,%Y", "need quotes"),
        ("%Y-%d-%m", None),
        ({"x": "%d.%m.%Y"}, "x"),
    ):
        if message is None:
            # ISO 8601 gives another day, and the reader would refuse it.
            with pytest.raises(en.ArgumentError, match="row 1 of column 'd'"):
                written(frame[["d"]], dates=wrong)
            continue
        with pytest.raises((en.ArgumentError, en.ColumnNotFoundError), match=message):
            written(frame, dates=wrong)


def test_other_types():
    frame = pl.DataFrame(
        {
            "z": pl.Series([datetime(2020, 1, 1, tzinfo=UTC)]).dt.convert_time_zone("Europe/Berlin"),
            "e": pl.Series([timedelta(days=1, seconds=3.5)]),
            "c": pl.Series(["1"], dtype=pl.Categorical),
            "n": pl.Series([None], dtype=pl.Null),
            "m": pl.Series(["1.50"]).str.to_decimal(scale=2),
            "u": pl.Series([2**64 - 1], dtype=pl.UInt64),
            "g": pl.Series([0.1], dtype=pl.Float32),
        }
    )
    assert written(frame) == ('z,e,c,n,m,u,g\n2020-01-01T00:00:00Z,P1DT0H0M3.500S,"1",,1.50,18446744073709551615,0.1\n')


def test_nested_values_as_json(tmp_path):
    frame = pl.DataFrame(
        {
            "k": ["a", "b", "c"],
            "list": [[1, None], [], None],
            "struct": [{"x": 'q"', "y": [0.5]}, None, {"x": None, "y": None}],
        }
    )
    with pytest.raises(en.errors.UnsupportedTypeError, match="list"):
        written(frame)
    text = written(frame, nested="json")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["list"] for row in rows] == ["[1,null]", "[]", ""]
    assert json.loads(rows[0]["struct"]) == {"x": 'q"', "y": [0.5]}
    assert json.loads(rows[2]["struct"]) == {"x": None, "y": None}
    en.write(frame, tmp_path / "t.entasis")
    file = en.open(tmp_path / "t.entasis")
    assert written(file, nested="json") == text
    assert written(file.filter(en.col("k") == "c").select(["k", "list"]), nested="json") == "k,list\nc,\n"
    spec = en.write_csv(file, tmp_path / "t.csv", nested="json")
    assert spec.types == ["string"] * 3
    assert en.read_csv(tmp_path / "t.csv", "polars", spec=spec)["list"].to_list() == ["[1,null]", "[]", None]
    with pytest.raises(en.errors.ArgumentError, match="nested"):
        written(frame, nested="text")


def test_memory_of_every_form(tmp_path):
    pa, np = pytest.importorskip("pyarrow"), pytest.importorskip("numpy")
    n = 70_000
    numbers = np.arange(n)
    texts = pa.array([f"é{i}" if i % 3 else None for i in range(n)])
    table = pa.table(
        {
            "wide": pa.chunked_array([pa.array(numbers[: n // 3]), pa.array(numbers[n // 3 :])]),
            "part": pa.array(np.arange(2 * n))[n:],
            "bits": pa.array(numbers % 7 == 0),
            "text": texts,
            "views": texts.cast(pa.string_view()),
            "code": texts.dictionary_encode(),
            "money": pa.array([f"{i}.25" for i in range(n)]).cast(pa.decimal128(20, 2)),
        }
    ).slice(5)
    frame = pd.DataFrame(np.arange(3 * n, dtype=">i4").reshape(3, n).T, columns=list("abc"))
    frame["u"] = pd.Series(np.array(["x", "yz"])[numbers % 2], dtype=object)
    frame["t"] = pd.Series(pd.date_range("2000", periods=n, freq="h")).where(numbers % 5 != 0)
    frame["i"] = pd.array(np.where(numbers % 2, numbers, -1), dtype="Int32")
    frame.loc[3, "i"] = pd.NA
    arrays = {"strided": numbers.reshape(-1, 2)[:, 1], "u": numbers[: n // 2].astype("U8")}
    for value in (table, frame[::-2], arrays):
        path = tmp_path / "t.entasis"
        en.write(value, path)
        # A file is printed from its blocks, and a frame from its own memory.
        assert written(value, threads=2) == written(en.open(path))


def test_texts_of_a_library_that_are_not_utf8():
    pa = pytest.importorskip("pyarrow")
    for texts in ([b"a\xff"], [b"\xc3", b"\xa9"]):
        offsets = pa.py_buffer(struct.pack(f"<{len(texts) + 1}i", 0, *itertools.accumulate(map(len, texts))))
        broken = pa.Array.from_buffers(pa.string(), len(texts), [None, offsets, pa.py_buffer(b"".join(texts))])
        with pytest.raises(en.errors.UnsupportedTypeError, match=r"(?s)UTF-8.*bad"):
            en.write_csv(pa.table({"bad": broken}), io.BytesIO())


def random_frame(rng, n):
    def column(kind):
        values = {
            "int": lambda: rng.choice([0, -1, 2**63 - 1, -(2**63), rng.randrange(1000)]),
            "small": lambda: rng.randrange(-128, 128),
            "float": lambda: rng.choice([0.0, -0.0, math.inf, math.nan, rng.random(), 5e-324, 1e22, 3.0]),
            "bits": lambda: struct.unpack("<d", rng.randbytes(8))[0],
            "string": lambda: rng.choice(WORDS[:-1]),
            "word": lambda: rng.choice("ab1"),
            "bool": lambda: rng.random() < 0.5,
            "date": lambda: date(rng.choice([1, 1969, 2020, 9999]), rng.randrange(1, 13), rng.randrange(1, 29)),
            "time": lambda: datetime(1970, 1, 1) + timedelta(microseconds=rng.randrange(-5 * 10**16, 10**17)),
        }[kind]
        return [None if rng.random() < 0.2 else values() for _ in range(n)]

    dtypes = {
        "int": pl.Int64,
        "small": pl.Int8,
        "float": pl.Float64,
        "bits": pl.Float64,
        "string": pl.String,
        "word": pl.Categorical,
        "bool": pl.Boolean,
        "date": pl.Date,
        "time": pl.Datetime("us"),
    }
    kinds = [rng.choice(list(dtypes)) for _ in range(rng.randrange(1, 6))]
    names = rng.sample([*WORDS[1:-1], "a", "b"], len(kinds))
    return pl.DataFrame([pl.Series(name, column(kind), dtypes[kind]) for name, kind in zip(names, kinds, strict=True)])


def same(found, expected):
    assert found.schema == expected.schema
    assert found.height == expected.height
    for name in expected.columns:
        assert repr(found[name].to_list()) == repr(expected[name].to_list()), name


@pytest.mark.parametrize("seed", range(200))
def test_frames_come_back_by_their_spec(seed, tmp_path):
    rng = random.Random(seed)
    frame = random_frame(rng, rng.choice([0, 1, 3, 30]))
    options = {
        "sep": rng.choice([",", ";", "\t", "|"]),
        "quote": rng.choice(["auto", "auto", "all", "non_numeric"]),
        "na": rng.choice(["", "", "-", "NULL"]),
        "decimal": ".",
        "line_end": rng.choice(["\n", "\r\n"]),
        "bom": rng.random() < 0.2,
        "compression": rng.choice([None, None, "gzip", "zstd"]),
        "threads": rng.choice([1, 3]),
    }
    if options["sep"] != ",":
        options["decimal"] = rng.choice([".", ","])
    path = tmp_path / "t.csv"
    source = frame
    if rng.random() < 0.5:
        en.write(frame, tmp_path / "t.entasis")
        source = en.open(tmp_path / "t.entasis")
    spec = en.write_csv(source, path, **options)
    same(en.read_csv(path, "polars", spec=en.Spec.of(spec.to_json())), frame)


@pytest.mark.parametrize("seed", range(100))
def test_frames_come_back_without_a_spec(seed):
    rng = random.Random(seed)
    frame = random_frame(rng, rng.choice([1, 3, 30]))
    frame = frame.select(pl.exclude(pl.Int8, pl.Categorical))
    # Where all values are missing, a text does not tell a type.
    frame = frame.select([name for name in frame.columns if frame[name].null_count() < frame.height])
    # NaN and infinities alone are words.
    floats = [name for name in frame.columns if frame[name].dtype == pl.Float64]
    frame = frame.drop([name for name in floats if not frame[name].drop_nulls().is_finite().any()])
    if not frame.columns:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.errors.CsvWarning)
        found = en.read_csv(written(frame).encode(), "polars", sep=",", header=True, comment=None, skip=0, decimal=".")
    same(found.rename(dict(zip(found.columns, frame.columns, strict=True))), frame)


def test_fields_are_those_of_the_csv_module():
    frame = pl.DataFrame({"a": WORDS, "b": [*WORDS[1:], "x"]})
    for options in ({}, {"quote": "all"}, {"sep": ";"}):
        text = written(frame, **options)
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=options.get("sep", ",")))
        assert found == [["a", "b"], *map(list, frame.rows())]


def test_each_library_is_written():
    pd, pa, np = pytest.importorskip("pandas"), pytest.importorskip("pyarrow"), pytest.importorskip("numpy")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    text = "a,b\n1,x\n2,\n"
    assert written(frame) == text
    assert written(pa.table({"a": [1, 2], "b": ["x", None]})) == text
    assert written({"a": np.array([1, 2]), "c": np.array([0.5, 1.0])}) == "a,c\n1,0.5\n2,1.0\n"
    assert written(pd.DataFrame({"x": [0.5, np.nan]})) == "x\n0.5\n\n\n"
    assert written({"x": np.array([0.5, np.nan])}) == "x\n0.5\nNaN\n"
    labelled = frame.set_index(pd.Index(["p", "q"], name="k"))
    assert written(labelled) == "k,a,b\np,1,x\nq,2,\n"
    assert written(labelled, index=False) == text


def test_files_and_scans(tmp_path):
    path = tmp_path / "t.entasis"
    en.write(pl.DataFrame({"a": range(200_000), "b": [str(i) for i in range(200_000)]}), path)
    file = en.open(path)
    whole = written(file)
    assert whole.count("\n") == 200_001
    assert whole.startswith('a,b\n0,"0"\n')
    assert whole.endswith('199999,"199999"\n')
    assert written(file.select(["b"]).iloc[5:7]) == 'b\n"5"\n"6"\n'
    assert written(file.filter(en.col("a").is_in([3, 70_000]))) == 'a,b\n3,"3"\n70000,"70000"\n'
    en.write(pl.DataFrame({"a": [1, 2], "s": [{"x": 1}, {"x": 2}]}), tmp_path / "u.entasis", compression=0)
    assert written(en.open(tmp_path / "u.entasis").select([en.col("s").field("x")])) == "x\n1\n2\n"
    assert written(en.open(tmp_path / "u.entasis", memory_map="auto").select(["a"])) == "a\n1\n2\n"
    for threads in (1, 2, 5):
        assert written(file, threads=threads) == whole
    assert gzip.decompress(zipped(file)).decode() == whole


def zipped(file):
    target = io.BytesIO()
    en.write_csv(file, target, compression="gzip")
    return target.getvalue()


def test_append(tmp_path):
    frame = pl.DataFrame({"a": [1], "b": ["x"]})
    for name in ("t.csv", "t.csv.gz", "t.csv.zst"):
        path = tmp_path / name
        for _ in range(3):
            en.write_csv(frame, path, append=True)
        assert en.read_csv(path, "polars").rows() == [(1, "x")] * 3
    path.write_bytes(b"a,b\n2,y")
    with pytest.raises(en.errors.ArgumentError, match="compression"):
        en.write_csv(frame, path, append=True)
    single = pl.DataFrame({"a": ["x", None]})
    en.write_csv(single, tmp_path / "v.csv.gz")
    with pytest.raises(en.errors.ArgumentError, match="one column"):
        en.write_csv(single, tmp_path / "v.csv.gz", append=True)
    (tmp_path / "v.csv.gz").unlink()
    for _ in range(3):
        en.write_csv(single, tmp_path / "v.csv", append=True)
    assert en.read_csv(tmp_path / "v.csv", "polars")["a"].to_list() == ["x", None] * 3
    (tmp_path / "v.csv").unlink()
    for other in (frame.rename({"a": "c"}), frame.select("b", "a"), frame.select("a")):
        with pytest.raises(en.errors.ArgumentError, match="other names"):
            en.write_csv(other, tmp_path / "t.csv.gz", append=True)
    en.write_csv(frame.rename({"a": "c"}), tmp_path / "t.csv.gz", append=True, header=False)
    assert en.read_csv(tmp_path / "t.csv.gz", "polars").rows() == [(1, "x")] * 4
    path = tmp_path / "u.csv"
    path.write_bytes(b"a,b\n2,y")
    en.write_csv(frame, path, append=True)
    assert path.read_bytes() == b"a,b\n2,y\n1,x\n"
    assert sorted(child.name for child in tmp_path.iterdir()) == ["t.csv", "t.csv.gz", "t.csv.zst", "u.csv"]


def test_errors_leave_the_old_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"old")
    for value, options, error, match in [
        (pl.DataFrame({"a": [[1]]}), {}, en.errors.UnsupportedTypeError, "'a'|\"a\""),
        (pl.DataFrame({"a": [b"x"]}), {}, en.errors.UnsupportedTypeError, "'a'|\"a\""),
        (pl.DataFrame({"a": ["x", "y,z"]}), {"quote": "never"}, en.errors.ArgumentError, "row 1 of column 'a'"),
        (pl.DataFrame({"a,b": [1]}), {"quote": "never"}, en.errors.ArgumentError, "'a,b'"),
        (pl.DataFrame({"a": [1]}), {"sep": ",", "decimal": ","}, en.errors.ArgumentError, "both"),
        (pl.DataFrame({"a": [1]}), {"sep": '"'}, en.errors.ArgumentError, "both"),
        (pl.DataFrame({"a": [1]}), {"sep": ",,"}, en.errors.ArgumentError, "sep"),
        (pl.DataFrame({"a": [1]}), {"na": "a,b"}, en.errors.ArgumentError, "quotes"),
        (pl.DataFrame({"a": [1]}), {"digits": 7}, en.errors.ArgumentError, "digits"),
        (pl.DataFrame({"a": [1]}), {"compression": "xz"}, en.errors.ArgumentError, "compression"),
    ]:
        with pytest.raises(error, match=match):
            en.write_csv(value, path, **options)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(en.errors.FileError):
        en.write_csv(pl.DataFrame({"a": [1]}), tmp_path / "none" / "t.csv")
    with pytest.raises(en.errors.ArgumentError, match="append"):
        en.write_csv(pl.DataFrame({"a": [1]}), io.BytesIO(), append=True)
    with pytest.raises(en.errors.ArgumentError, match="int"):
        en.write_csv(pl.DataFrame({"a": [1]}), 7)
    for value in ([1, 2], 5, {"a": 1}, None):
        with pytest.raises(en.errors.ArgumentError, match="frames"):
            en.write_csv(value, io.BytesIO())


def test_errors_of_objects_are_passed_on():
    class Broken:
        def write(self, data):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        en.write_csv(pl.DataFrame({"a": [1]}), Broken())


def test_progress():
    calls = []
    en.write_csv(
        pl.DataFrame({"a": range(300_000)}),
        io.BytesIO(),
        progress=lambda done, total, unit: calls.append((done, total, unit)),
    )
    assert calls[-1][1:] == (300_000, "rows")
    assert [done for done, *_ in calls] == sorted(done for done, *_ in calls)
