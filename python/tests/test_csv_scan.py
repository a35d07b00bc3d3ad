"""Texts that are read batch by batch: equal to those that are read at once."""

from __future__ import annotations

import gzip
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import pytest

import entasis as en
from entasis._csv import arguments

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))
TEXT = b"city,price,day\nOslo,3,2020-01-01\nRome,5,\nBern,4,2021-02-03\n,,\n"
# The last value of column a does not fit the type of the first 10,000 rows.
LATE = b"a,b\n" + b"1,x\n" * 20_000 + b"y,z\n"
CALL = r'sniff_csv\(source, rows="all"\)'


@pytest.fixture
def chunks(monkeypatch):
    """Sets the bytes of a chunk."""
    of = arguments.of

    def set_len(n):
        monkeypatch.setattr(arguments, "of", partial(of, chunk_len=n))

    return set_len


def random_text(rng, n):
    kinds = [
        lambda: str(rng.randrange(-100, 100)),
        lambda: f"{rng.uniform(-5, 5):.3f}",
        lambda: rng.choice(["x", "y y", '"q,""r"', "a text of more than twelve bytes", '""']),
        lambda: rng.choice(["true", "false"]),
        lambda: f"2020-0{rng.randrange(1, 9)}-1{rng.randrange(0, 9)}",
        lambda: f"2020-0{rng.randrange(1, 9)}-11T10:00:0{rng.randrange(0, 9)}",
    ]
    columns = [rng.choice(kinds) for _ in range(rng.randrange(1, 6))]
    names = [f"c{i}" for i in range(len(columns))]
    # A row of several columns is not blank, because the first field has a value.
    rows = [",".join("" if i and rng.random() < 0.1 else of() for i, of in enumerate(columns)) for _ in range(n)]
    return "\n".join([",".join(names), *rows, ""]).encode(), names


@pytest.mark.parametrize("seed", range(300 if LONG else 40))
def test_scans_equal_the_text_that_is_read_at_once(seed, chunks):
    rng = random.Random(seed)
    text, names = random_text(rng, rng.choice([0, 1, 5, 200]))
    chunks(rng.choice([None, 7, 100, 1000]))
    threads = rng.choice([1, 2, 3])
    scan = en.scan_csv(text, threads=threads)
    whole = en.read_csv(text, "polars")
    assert scan.column_names == names
    assert scan.to_polars().equals(whole)
    assert scan.count() == whole.height
    n = rng.choice([1, 3, 64, 1000])
    batches = list(scan.batches(n, to="polars"))
    assert [batch.height for batch in batches[:-1]] == [n] * (len(batches) - 1)
    if batches:
        assert pl.concat(batches).equals(whole)
    assert pl.from_arrow(pa.table(scan)).equals(whole)
    # Some columns of some rows.
    name, kept = rng.choice(names), rng.sample(names, rng.randrange(1, len(names) + 1))
    condition = en.col(name) > whole[name].drop_nulls()[0] if whole[name].count() else en.col(name).is_missing()
    some = scan.select(kept).filter(condition)
    expected = en.read_csv(text, "polars", columns=kept, filter=condition)
    assert some.to_polars().equals(expected)
    assert some.count() == expected.height
    limit = rng.choice([0, 1, 2, 500])
    assert some.limit(limit).to_polars().equals(expected.head(limit))
    assert some.limit(limit).count() == min(limit, expected.height)
    first = en.read_csv(text, "pandas", spec=scan.spec, rows=(0, limit))
    assert scan.limit(limit).to_pandas().equals(first)
    found = list(some.batches(5, to="polars"))
    assert not found or pl.concat(found).equals(expected)


def test_each_library_gets_its_own_frame():
    scan = en.scan_csv(TEXT)
    for to in ("pandas", "polars", "pyarrow"):
        whole = en.read_csv(TEXT, to)
        assert getattr(scan, f"to_{to}")().equals(whole)
        (batch,) = scan.batches(to=to)
        assert batch.equals(whole)
    assert scan.select("city").to_numpy()["city"].tolist() == ["Oslo", "Rome", "Bern", None]
    assert scan.select(["city"]).to_static_frame().shape == (4, 1)
    assert scan.head(2).equals(en.read_csv(TEXT, rows=(0, 2)))
    assert scan.read(columns="price", to="polars", limit=1).rows() == [(3,)]


def test_a_scan_describes_itself():
    scan = en.scan_csv(TEXT).filter(en.col("price") > 3).select("city", "price").limit(7)
    assert [type_name for _, type_name in scan.schema.pairs] == ["utf8", "i64"]
    assert repr(scan) == "<entasis.CsvScan of '<bytes>', 2 columns, col('price') > 3, limit=7>"
    assert scan.explain().splitlines()[1:] == ["columns: 2 of 3", "filter: col('price') > 3", "limit: 7"]
    assert scan.spec.types == ["string", "int64", "date"]
    assert en.read_csv(TEXT, "polars", spec=scan.spec).equals(en.read_csv(TEXT, "polars"))


def test_arguments_choose_columns_and_rows():
    assert en.scan_csv(TEXT, columns=["day", "city"]).column_names == ["day", "city"]
    assert en.scan_csv(TEXT, drop="day").column_names == ["city", "price"]
    assert en.scan_csv(TEXT, filter=en.col("price") > 3, columns="city").to_polars()["city"].to_list() == [
        "Rome",
        "Bern",
    ]
    for wrong in (
        lambda: en.scan_csv(TEXT, columns="x"),
        lambda: en.scan_csv(TEXT, drop="x"),
        lambda: en.scan_csv(TEXT).select("x"),
        lambda: en.scan_csv(TEXT).filter(en.col("x") > 1).count(),
        lambda: en.scan_csv(TEXT).filter(en.col(0) > 1).count(),
    ):
        with pytest.raises(en.ColumnNotFoundError):
            wrong()
    for wrong in (
        lambda: en.scan_csv(TEXT, columns="city", drop="day"),
        lambda: en.scan_csv(TEXT).select("city", "city"),
        lambda: en.scan_csv(TEXT).limit(-1),
        lambda: en.scan_csv(TEXT).batches(0),
        lambda: en.scan_csv(TEXT).limit(1).filter(en.col("price") > 1),
        lambda: en.scan_csv(TEXT).filter(en.col("price") == "x").count(),
        lambda: en.scan_csv(b""),
    ):
        with pytest.raises(en.ArgumentError):
            wrong()


@pytest.mark.parametrize("length", [None, 1000])
def test_a_late_value_that_does_not_fit_is_an_error(length, chunks):
    chunks(length)
    scan = en.scan_csv(LATE)
    assert scan.limit(10).count() == 10
    assert scan.select("b").to_polars().height == 20_001
    assert scan.count() == 20_001
    for read in (scan.to_pandas, lambda: scan.filter(en.col("a") == 1).count(), lambda: list(scan.batches(100))):
        with pytest.raises(en.ProblemError, match=f"line 20002, column 'a': 'y', expected int64; .*{CALL}") as found:
            read()
        (problem,) = found.value.problems
        assert (problem.row, problem.line, problem.column, problem.text) == (20_000, 20_002, "a", "y")
    with pytest.raises(Exception, match=CALL):
        scan.lazy().collect()
    with pytest.raises(pa.ArrowInvalid, match=CALL):
        pa.table(scan)
    with pytest.raises(en.ProblemError, match=CALL):
        scan.to_dataset().to_table()
    whole = en.scan_csv(LATE, spec=en.sniff_csv(LATE, rows="all"))
    assert whole.to_polars().equals(en.read_csv(LATE, "polars"))
    # The caller gave this type, and no other one is proposed.
    with pytest.raises(en.ProblemError) as given:
        en.scan_csv(LATE, dtypes={"a": "int64"}).to_polars()
    assert "sniff_csv" not in str(given.value)


def test_rows_before_an_error_come_first(chunks):
    chunks(1000)
    found = []
    with pytest.raises(en.ProblemError):
        found.extend(len(batch) for batch in en.scan_csv(LATE).batches(100))
    # `extend` keeps what came before the exception.
    assert 19_000 < sum(found) <= 20_000


def test_columns_without_values_have_the_type_null():
    text = b"a,b\n1,\n" + b"2,\n" * 10_000
    assert en.scan_csv(text).to_polars().equals(en.read_csv(text, "polars"))
    scan = en.scan_csv(text + b"3,x\n")
    with pytest.raises(en.ProblemError, match=f"expected a missing value.*{CALL}"):
        scan.to_polars()
    assert en.scan_csv(text + b"3,x\n", dtypes={"b": "string"}).to_polars()["b"][-1] == "x"


@pytest.mark.parametrize("on_error", ["missing", "skip"])
def test_problems_are_reported_after_the_last_row(on_error, chunks):
    chunks(16)
    text = b"a,b\n1,x\ny,2,3\nz,4\n7\n8,v\n"
    options = {"dtypes": {"a": "int64"}, "on_error": on_error}
    whole, met = en.read_csv(text, "polars", problems=True, **options)
    scan = en.scan_csv(text, **options)
    for read in (
        scan.to_polars,
        lambda: pl.concat(scan.batches(1, to="polars")),
        lambda: scan.lazy().collect(),
        lambda: pl.from_arrow(scan.to_dataset().to_table()),
    ):
        with pytest.warns(en.ProblemWarning, match="`problems` of this warning") as warned:
            assert read().equals(whole)
        assert list(warned[0].message.problems) == list(met)
    with pytest.warns(en.ProblemWarning):
        assert scan.count() == whole.height
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.ProblemWarning)
        assert scan.lazy().slice(1, 1).collect().equals(whole.slice(1, 1))
        assert scan.limit(1).count() == 1


def test_rows_with_other_numbers_of_fields_count_as_problems():
    scan = en.scan_csv(b"a,b\n" + b"1,2\n" * 20_000 + b"3\n")
    with pytest.raises(en.ProblemError, match="line 20002: '3', expected 2 fields, not 1"):
        scan.count()
    with pytest.raises(en.ProblemError) as found:
        scan.to_polars()
    assert "sniff_csv" not in str(found.value)


@pytest.mark.parametrize("seed", range(100 if LONG else 15))
def test_lazy_frames_equal_those_of_polars(seed, chunks):
    rng = random.Random(seed)
    text, names = random_text(rng, rng.choice([0, 1, 300]))
    chunks(rng.choice([None, 50]))
    scan = en.scan_csv(text, threads=2)
    own, other = scan.lazy(), scan.to_polars().lazy()
    if rng.random() < 0.3:
        limit = rng.randrange(50)
        own, other = scan.limit(limit).lazy(), other.head(limit)
    name = rng.choice(names)
    value = scan.to_polars()[name].drop_nulls()
    condition = pl.col(name) >= value[0] if len(value) else pl.col(name).is_null()
    for ask in (
        lambda frame: frame,
        lambda frame: frame.filter(condition),
        lambda frame: frame.filter(condition).select(names[0]).slice(2, 5),
        lambda frame: frame.slice(3, 10).filter(condition),
        lambda frame: frame.head(4),
        lambda frame: frame.tail(4),
        lambda frame: frame.with_row_index().filter(condition),
        lambda frame: frame.select(pl.len()),
        lambda frame: frame.group_by(name).len().sort(name),
    ):
        assert ask(own).collect().equals(ask(other).collect())
        assert ask(own).collect(engine="streaming").equals(ask(other).collect())


def test_polars_hands_over_columns_and_conditions():
    asked = []
    scan = en.scan_csv(TEXT)
    native = scan._query.text.native

    class Spied:
        names, empty = native.names, staticmethod(native.empty)

        @staticmethod
        def open(columns, filter, rows, limit, views):
            asked.append((columns, filter and filter[0], rows, limit))
            return native.open(columns, filter, rows, limit, views)

    text = scan._query.text._replace(native=Spied)
    spied = type(scan)(scan._query._replace(text=text))
    spied.lazy().filter(pl.col("price") > 3).select("city").collect()
    columns, tested, rows, limit = asked.pop()
    assert (sorted(columns), tested, rows, limit) == (["city", "price"], ["price"], None, None)
    spied.lazy().slice(1, 2).select("day").collect()
    assert asked.pop() == (["day"], None, (1, 3), None)
    spied.limit(3).lazy().filter(pl.col("price") > 3).collect()
    assert asked.pop()[1:] == (None, None, 3)


@pytest.mark.parametrize("seed", range(60 if LONG else 10))
def test_duckdb_and_datasets(seed, chunks, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    ds = pytest.importorskip("pyarrow.dataset")
    pc = pytest.importorskip("pyarrow.compute")
    rng = random.Random(seed)
    text, names = random_text(rng, 200)
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    chunks(rng.choice([None, 50]))
    scan = en.scan_csv(path)
    whole = scan.to_pyarrow()
    dataset, plain = scan.to_dataset(), ds.dataset(whole)
    assert dataset.schema == whole.schema
    assert dataset.to_table() == whole
    assert dataset.files == [str(path)]
    name = rng.choice(names)
    value = whole[name].drop_null()[0]
    columns = rng.sample(names, rng.randrange(1, len(names) + 1))
    for condition in (pc.field(name) >= value, pc.field(name).is_null(), pc.field(name) == pc.field(name)):
        expected = plain.to_table(columns=columns, filter=condition)
        assert dataset.to_table(columns=columns, filter=condition) == expected
        assert dataset.count_rows(filter=condition) == len(expected)
        limited = scan.limit(20).to_dataset().to_table(filter=condition)
        assert limited == ds.dataset(whole.slice(0, 20)).to_table(filter=condition)
    assert dataset.head(3) == whole.slice(0, 3)
    assert dataset.take([5, 1]) == whole.take(pa.array([5, 1]))
    connection = duckdb.connect()
    connection.register("scanned", dataset)
    connection.register("streamed", scan)
    connection.register("whole", whole)
    query = f'select "{name}", count(*) as n from {{}} group by 1 order by 1'
    expected = connection.sql(query.format("whole")).fetchall()
    assert connection.sql(query.format("scanned")).fetchall() == expected
    assert connection.sql(query.format("streamed")).fetchall() == expected
    own = connection.sql(f"select count(*) from read_csv('{path}', header=true, all_varchar=true)").fetchall()
    assert own == [(scan.count(),)]


def test_polars_reads_the_same_numbers(tmp_path):
    rng = random.Random(1)
    rows = "".join(f"{i},{rng.uniform(-1e3, 1e3)!r},t{i % 7}\n" for i in range(50_000))
    path = tmp_path / "t.csv"
    path.write_text("i,x,s\n" + rows)
    assert en.scan_csv(path).to_polars().equals(pl.read_csv(path))
    condition = (en.col("x") > 0) & (en.col("s") == "t3")
    expected = pl.scan_csv(path).filter((pl.col("x") > 0) & (pl.col("s") == "t3")).collect()
    assert en.scan_csv(path).filter(condition).to_polars().equals(expected)


def test_streams_of_other_layouts():
    scan = en.scan_csv(TEXT)
    wanted = pa.schema([("price", pa.int32()), ("city", pa.string())])
    assert pa.table(scan, schema=wanted).schema == wanted
    views = pa.schema([("city", pa.string_view())])
    assert pa.table(scan, schema=views)["city"].to_pylist() == ["Oslo", "Rome", "Bern", None]
    assert pa.schema(scan) == scan.to_pyarrow().schema
    assert pa.RecordBatchReader.from_stream(scan).read_all() == scan.to_pyarrow()


def test_several_files_with_their_names(tmp_path, chunks):
    chunks(10)
    (tmp_path / "a.csv").write_text("n,s\n1,x\n2,y\n")
    (tmp_path / "b.csv").write_text("n,s\n")
    with gzip.open(tmp_path / "c.csv", "wt") as file:
        file.write("n,s\n3,x\n,z\n5,x\n")
    pattern = str(tmp_path / "*.csv")
    for options in ({}, {"id": "file"}, {"id": "file", "strings": "categorical"}):
        scan = en.scan_csv(pattern, **options)
        whole = en.read_csv(pattern, "polars", **options)
        assert scan.to_polars().equals(whole)
        assert scan.column_names == whole.columns
        assert scan.lazy().collect().equals(whole)
        assert pl.from_arrow(pa.table(scan)).equals(whole)
        assert sum(len(batch) for batch in scan.batches(2, to="pandas")) == 5
        assert scan.filter(en.col("s") == "x").to_polars().equals(whole.filter(pl.col("s") == "x"))
        assert scan.lazy().slice(1, 3).collect().equals(whole.slice(1, 3))
        assert scan.limit(3).to_polars().equals(whole.head(3))
    third = en.scan_csv(pattern, id="file").filter(en.col("file") == str(tmp_path / "c.csv"))
    assert third.select("n").to_polars()["n"].to_list() == [3, None, 5]
    (tmp_path / "c.csv").write_text("n,t\n3,x\n")
    with pytest.raises(en.ArgumentError, match=r"names of the columns.*c\.csv"):
        en.scan_csv(pattern).count()


def test_dates_decimals_and_categories():
    text = b"d,x,c\n31.01.2020,1.50,u\n01.02.2020,2.25,v\n,,u\n"
    options = {"dates": "%d.%m.%Y", "dtypes": {"x": "decimal(10, 2)", "c": "category"}}
    scan, whole = en.scan_csv(text, **options), en.read_csv(text, "polars", **options)
    assert scan.to_polars().equals(whole)
    assert scan.filter(en.col("d") == "2020-01-31").to_polars().equals(whole.head(1))
    assert scan.filter(en.col("c") == "v").to_polars().equals(whole.slice(1, 1))


class Endless:
    """A stream without an end."""

    def __init__(self, most=1 << 62):
        self.n, self.most = 0, most

    def read(self, n):
        if self.n > self.most:
            return b""
        block = b"1,x\n" * 20_000
        self.n += len(block)
        return b"a,b\n" + block if self.n == len(block) else block


def test_streams_are_read_once_and_as_far_as_needed():
    endless = Endless()
    scan = en.scan_csv(endless)
    assert scan.limit(15_000).to_polars().height == 15_000
    assert endless.n < 20 << 20
    with pytest.raises(en.ArgumentError, match="a stream can be read only once"):
        scan.count()
    batches = en.scan_csv(Endless()).batches(1000, to="polars")
    assert [next(batches).height for _ in range(3)] == [1000] * 3
    batches.close()
    with gzip.open(io.BytesIO(gzip.compress(TEXT))) as file:
        assert en.scan_csv(file).to_polars().equals(en.read_csv(TEXT, "polars"))
    read, write = os.pipe()
    os.write(write, TEXT)
    os.close(write)
    with open(read, "rb") as pipe:
        assert en.scan_csv(pipe).count() == 4


def test_exceptions_of_streams_are_passed_on():
    class Failing(Endless):
        def read(self, n):
            if self.n > 4 << 20:
                raise KeyboardInterrupt
            return super().read(n)

    with pytest.raises(KeyboardInterrupt):
        en.scan_csv(Failing()).count()


@pytest.mark.skipif(sys.platform != "linux", reason="the counts are those of Linux")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_an_early_stop_closes_the_file(tmp_path, name):
    path = tmp_path / name
    text = b"a,b\n" + b"1,x\n" * 3_000_000
    path.write_bytes(gzip.compress(text, 1) if name.endswith("gz") else text)

    def is_open():
        fds = [os.path.join("/proc/self/fd", fd) for fd in os.listdir("/proc/self/fd")]
        return any(os.path.realpath(fd) == str(path) for fd in fds)

    scan = en.scan_csv(path, threads=3)
    assert not is_open()
    batches = scan.batches(1000)
    next(batches)
    assert is_open()
    del batches
    assert not is_open()
    stream = pa.RecordBatchReader.from_stream(scan)
    stream.read_next_batch()
    del stream
    assert not is_open()
    assert scan.lazy().head(3).collect().height == 3
    before, ends = threading.active_count(), time.monotonic() + 10
    dataset = scan.to_dataset().to_batches()
    next(dataset)
    dataset.close()
    while (is_open() or threading.active_count() > before) and time.monotonic() < ends:
        time.sleep(0.01)
    assert not is_open()
    assert scan.head(2).shape == (2, 2)
    assert not is_open()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is for POSIX")
@pytest.mark.parametrize(
    "work", ["scan.count()", "for _ in scan.batches(1 << 40): pass", "en.write(scan, sys.argv[1])"]
)
def test_ctrl_c_stops_it(tmp_path, work):
    code = (
        "import sys, entasis as en\n"
        "class Endless:\n"
        "    def read(self, n):\n"
        "        return b'a,b\\n' + b'1,x\\n' * 20_000\n"
        "scan = en.scan_csv(Endless(), on_error='skip', header=True, dtypes={'a': 'int64', 'b': 'string'})\n"
        "scan = scan.filter(en.col('a') == 5)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        f"    {work}\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', flush=True)\n"
    )
    path = tmp_path / "t.entasis"
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopped\n"
    assert process.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{}, {"strings": "categorical", "id": "file"}])
def test_scans_are_written_into_files(tmp_path, options, chunks):
    chunks(1000)
    text = "i,x,s\n" + "".join(f"{i},{i / 8},t{i % 1000}\n" for i in range(30_000))
    source, out = tmp_path / "t.csv", tmp_path / "t.entasis"
    source.write_text(text)
    scan = en.scan_csv(source, **options)
    whole = en.read_csv(source, "polars", **options)
    en.write(scan, out)
    assert en.read(out, to="polars").equals(whole)
    en.verify(out)
    some = scan.filter(en.col("s") == "t7").select("x", "s")
    en.write(some, out, compression={"x": 80, None: 0})
    assert en.read(out, to="polars").equals(some.to_polars())
    en.write(scan.limit(0), out)
    assert en.read(out, to="polars").equals(whole.clear())
    en.write(scan, out, metadata={"a": 1})
    assert en.open(out).metadata == {"a": 1}
    assert en.open(out).n_rows == 30_000
    buffer = io.BytesIO()
    en.write(some, buffer)
    assert en.read(buffer.getvalue(), to="polars").equals(some.to_polars())
    assert en.read(en.to_bytes(some), to="polars").equals(some.to_polars())
    en.write(some, out, index=False)
    assert en.read(out, to="polars").equals(some.to_polars())
    before = out.read_bytes()
    late = tmp_path / "late.csv"
    late.write_bytes(LATE)
    with pytest.raises(en.ProblemError, match=CALL):
        en.write(en.scan_csv(late), out)
    with pytest.raises(en.ArgumentError, match="the text that is read"):
        en.write(scan, source)
    assert out.read_bytes() == before
    assert source.read_text() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["late.csv", "t.csv", "t.entasis"]


@pytest.mark.parametrize("seed", range(40 if LONG else 8))
def test_scans_are_written_as_text(tmp_path, seed, chunks):
    rng = random.Random(seed)
    text, names = random_text(rng, rng.choice([0, 1, 500]))
    chunks(rng.choice([None, 64]))
    scan = en.scan_csv(text)
    path = tmp_path / "t.csv.gz"
    spec = en.write_csv(scan, path, sep=";")
    expected = io.BytesIO()
    of_frame = en.write_csv(scan.to_polars(), expected, sep=";")
    assert gzip.decompress(path.read_bytes()) == expected.getvalue()
    assert spec == of_frame
    some = scan.select(names[0]).limit(7)
    out = io.BytesIO()
    en.write_csv(some, out, header=False, bom=True)
    expected = io.BytesIO()
    en.write_csv(some.to_polars(), expected, header=False, bom=True)
    assert out.getvalue() == expected.getvalue()


def test_missing_values_of_one_column_are_written_once(chunks, tmp_path):
    # A missing value is a blank line, and two at the end of the text. No batch adds one.
    chunks(3)
    text = b"a\n1\n\n\n2\n\n3\n\n\n"
    out = io.BytesIO()
    en.write_csv(en.scan_csv(text), out)
    assert out.getvalue() == b"a\n1\n\n\n2\n\n3\n\n\n"
    path = tmp_path / "t.csv"
    en.write_csv(en.scan_csv(b"a\n1\n"), path)
    en.write_csv(en.scan_csv(b"a\n2\n\n3\n"), path, append=True)
    assert path.read_bytes() == b"a\n1\n2\n\n3\n"
    with pytest.raises(en.ProblemError, match=CALL):
        en.write_csv(en.scan_csv(LATE), path)
    with pytest.raises(en.ArgumentError, match="the text that is read"):
        en.write_csv(en.scan_csv(path), path)
    assert path.read_bytes() == b"a\n1\n2\n\n3\n"

    class Refusing:
        def write(self, data):
            raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        en.write_csv(en.scan_csv(TEXT), Refusing())


PEAK = """
import resource, sys, entasis as en

class Text:
    def __init__(self, n):
        self.left, self.block = n, b"".join(b"%d,%d.5,word %d\\n" % (i, i, i % 1000) for i in range(50_000))

    def read(self, n):
        if self.left <= 0:
            return b""
        is_first = not hasattr(self, "begun")
        self.begun = True
        self.left -= len(self.block)
        return (b"a,b,c\\n" if is_first else b"") + self.block

kind, n = sys.argv[1], int(sys.argv[2]) << 20
scan = en.scan_csv(Text(n), threads=2)
if kind == "count":
    scan.filter(en.col("a") > 10).count()
elif kind == "batches":
    for _ in scan.batches(to="numpy"):
        pass
elif kind == "write":
    en.write(scan, sys.argv[3], compression=0)
else:
    en.write_csv(scan, sys.argv[3])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
@pytest.mark.parametrize("kind", ["count", "batches", "write", "write_csv"] if LONG else ["batches", "write_csv"])
def test_memory_does_not_grow_with_the_text(kind, tmp_path):
    def peak(n):
        command = [sys.executable, "-c", PEAK, kind, str(n), str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stdout) / 1024

    short, long = (100, 400) if LONG else (40, 100)
    assert peak(long) < peak(short) + 12
