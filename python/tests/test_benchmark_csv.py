"""The suite `csv` of the benchmarks: texts, readers, equality, targets and tables."""

import contextlib
import shutil

import numpy as np
import pyarrow as pa
import pytest
from bench.compare.datasets import texts
from bench.compare.document import table
from bench.compare.fwrite import fwritten, rscript
from bench.compare.hosts import WrongData
from bench.compare.run import SLOW
from bench.compare.suites.csv import fread, measure, parts, write
from bench.compare.suites.csv.equal import differences
from bench.compare.suites.csv.read import reference
from bench.compare.suites.csv.readers import HOSTS, arrow, readers
from bench.compare.targets import evaluate

TEXT = """day,time,n,gaps,x,word,none,said
2020-01-02,2020-01-02 03:04:05,1,,0.1,NA,,"a ""b"", c"
2021-12-31,1999-12-31 23:59:59,-2,7,-73.87105699999998,x,,"d
e"
"""

pytest.importorskip("polars")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "text.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("host", HOSTS)
def test_all_readers_find_the_same_values(host, path):
    expected = reference(path, 1)
    assert expected.column("said").to_pylist() == ['a "b", c', "d\ne"]
    calls = [measure.of_reader(reader, path, expected) for reader in readers(host, 1, expected)]
    assert {call.key for call in calls} >= {"entasis", "polars", "pyarrow"}
    assert [call.failure for call in calls] == [None] * len(calls)
    by_key = {call.key: call for call in calls}
    days = {"polars": [], "arrow": [], "pandas": ["date32[day] as timestamp[s] (day)"]}
    assert [note for note in by_key["entasis"].notes if "without values" not in note] == days[host]
    if host == "pandas":
        assert SLOW in by_key["pandas-c"].notes
        assert "timestamp[us] as large_string (time)" in by_key["pandas-c"].notes


def test_a_reader_takes_the_first_setting_that_is_right(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a\n" + "1\n" * 200 + "x\n")
    expected = reference(path, 1)
    polars = next(reader for reader in readers("arrow", 1, expected) if reader.key == "polars")
    call = measure.of_reader(polars, path, expected)
    assert call.failure is None
    assert call.notes[0].startswith("with types from 10,000 rows, as types from 100 rows: ")
    other = expected.set_column(0, "a", pa.array(["1"] * 200 + ["y"]))
    failure = measure.of_reader(polars, path, other).failure
    assert failure.count("row 200 has 'x' instead of 'y'") == 2


FLAT = pa.table(
    {
        "day": pa.array([18263, None], pa.date32()),
        "time": pa.array([5_000_000, 6_000_000], pa.timestamp("us")),
        "n": [1, None],
        "x": [0.5, -0.0],
        "text": ["NA", None],
        "none": pa.nulls(2),
    }
)


def test_other_types_are_notes():
    other = pa.table(
        {
            "day": ["2020-01-02", None],
            "time": pa.array([5, 6], pa.timestamp("s")),
            "n": pa.array([1.0, None]),
            "x": [0.5, -0.0],
            "text": pa.array([None, ""]),
            "none": pa.array(["", ""]),
        }
    )
    assert differences(FLAT, FLAT) == []
    assert differences(FLAT, other) == [
        "date32[day] as large_string (day)",
        "timestamp[us] as timestamp[s] (time)",
        "integers with gaps as floats (n)",
        "words for missing values (text)",
        "a type for columns without values (none)",
    ]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("day", ["2020-01-03", None]),
        ("day", [None, None]),
        ("time", ["5", "6"]),
        ("n", [1, 0]),
        ("n", [1.5, None]),
        ("x", [0.5, 0.0]),
        ("x", [np.nextafter(0.5, 1), -0.0]),
        ("text", ["x", None]),
        ("none", ["", "x"]),
    ],
)
def test_other_values_are_wrong(column, values):
    other = FLAT.set_column(FLAT.column_names.index(column), column, pa.array(values))
    with pytest.raises(WrongData, match=column):
        differences(FLAT, other)


def test_other_shapes_and_names_are_wrong():
    for other in (FLAT.slice(1), FLAT.drop_columns("x"), FLAT.rename_columns(list("abcdef"))):
        with pytest.raises(WrongData):
            differences(FLAT, other)


def test_parts_of_a_text_are_the_same(tmp_path):
    path = tmp_path / "part.csv"
    rows = "".join(f"1992-0{1 + i % 9}-15,{i},x{i}\n" for i in range(50))
    path.write_text("l_shipdate,a,b\n" + rows)
    whole = reference(path, 1)
    for columns, condition, n in ((["b", "a"], (), 50), (None, parts.CONDITION, 18)):
        for reader in parts.part_readers(1, columns, condition, whole.schema):
            got = arrow(reader.ways[0].read(path))
            if reader.key == "entasis":
                part = got
            assert got.num_rows == (50 if reader.key == parts.ALL else n)
            assert differences(whole if reader.key == parts.ALL else part, got) == []


@pytest.mark.parametrize("writer", write.WRITERS)
def test_writers_write_the_table(writer, path, tmp_path):
    pytest.importorskip(writer)
    table = reference(path, 1)
    target = tmp_path / "written.csv"
    call = write._call(writer, table, target, 1, None)
    assert call.failure is None
    assert not any("other values" in note for note in call.notes)
    call.before()
    assert not target.exists()
    call.call()
    other = table.set_column(2, "n", pa.array([1, 2]))
    changed = write._checked(call, target, other)
    assert (changed.failure is not None) == (writer == "entasis")
    assert (writer == "entasis") or "row 1 has -2 instead of 2" in changed.notes[-1]


@pytest.mark.skipif(rscript("data.table") is None, reason="R lacks data.table")
def test_fwrite_writes_a_text_again(path, tmp_path):
    target = tmp_path / "again.csv.gz"
    with fwritten(path, target, tmp_path, 1) as written:
        assert 0 <= written() < 10
        assert 0 <= written() < 10
    assert target.read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.skipif(rscript("data.table") is None, reason="R lacks data.table")
def test_fread_returns_its_values(path, tmp_path):
    path.write_text(TEXT.replace('a ""b"", c', "a, c"))  # fread keeps quotes doubled
    expected = reference(path, 1)
    with fread.process(tmp_path, 1) as process:
        call = process.call(path, expected)
        assert (call.failure, call.notes[0]) == (None, fread.NOTE)
        assert 0 <= call.measure() < 10
        base = process.call(path, expected, "base")
        assert (base.failure, base.notes[0], base.notes[-1]) == (None, fread.NOTE, SLOW)
        lost = expected.set_column(2, "n", pa.array([1, 2]))
        assert "row 1 has -2 instead of 2" in process.call(path, lost).failure
        assert process.call(tmp_path / "none.csv", expected).failure.startswith("RuntimeError")


@pytest.mark.release
def test_texts_are_the_same_each_time(tmp_path):
    found = []
    for folder in ("a", "b"):
        made = {}
        for name in ("orders", "taxi", "doubles", "quoted"):
            with contextlib.suppress(FileNotFoundError):  # TPC-H without its generator
                made[name] = texts.text(tmp_path / folder, name, 0.0005).read_bytes()
        made["gzip"] = texts.zipped(texts.text(tmp_path / folder, "taxi", 0.0005)).read_bytes()
        found.append(made)
        shutil.rmtree(tmp_path / folder)
    assert found[0] == found[1]
    assert found[0]["taxi"].split(b"\n")[0].count(b",") == 18
    assert b"\nand another" in found[0]["quoted"]
    assert b'""no""' in found[0]["quoted"]
    digits = found[0]["doubles"].split(b"\n")[1].split(b",")[4].strip(b"-0.").replace(b".", b"")
    assert 15 <= len(digits) <= 17


def test_longer_texts_repeat_rows(tmp_path):
    short = texts.repeated(tmp_path, "taxi", 0.0005, 20_000)
    long = texts.repeated(tmp_path, "taxi", 0.0005, 200_000)
    assert abs(long.stat().st_size - 200_000) < 30_000
    header, rows = short.read_bytes().split(b"\n", 1)
    assert long.read_bytes().startswith(header + b"\n" + rows)


def _read(kind, frame, format, median_s, host="arrow", **more):
    record = {"suite": "csv", "frame": frame, "kind": kind, "host": host, "format": format, "label": format}
    return record | {"n_rows": 10, "file_bytes": 10**9, "median_s": median_s} | more


RECORDS = [
    _read("read", "taxi", "entasis", 0.5, best_median_s=1.0),
    _read("read", "loans", "entasis", 1.6, best_median_s=2.0),
    _read("read", "loans", "polars", 2.0, best_median_s=2.0),
    _read("convert", "taxi", "entasis", 0.6, best_median_s=2.0),
    _read("convert", "taxi", "entasis-read", 0.5),
    _read("convert", "taxi", "duckdb", 2.0),
    _read("length-read", "1 GB", "entasis", 1.0, least_median_s=0.5),
]


def test_targets_of_texts():
    found = [(t["what"], round(t["measured"], 3), t["met"]) for t in evaluate({"csv": RECORDS})]
    assert found == [
        ("text (arrow), geometric mean <= 0.7 x the best other", 0.632, True),
        ("text (arrow) <= 1 x the best other", 0.8, True),
        ("text into a file (arrow) <= 1.25 x reading alone", 1.2, True),
        ("text into a file (arrow) <= 0.5 x DuckDB's Parquet", 0.3, True),
        ("text of 10 MB to 1 GB, time for a byte (arrow) <= 1.25 x the least for a byte", 2.0, False),
    ]


def test_tables_of_texts():
    made = table("csv kind=length-read : frame median_byte median/least", {"csv": RECORDS})
    assert made.splitlines() == [
        "|  | median, ns a byte | median / the least for a byte |",
        "|---|---|---|",
        "| 1 GB | 1.00 | 2.00 |",
    ]
