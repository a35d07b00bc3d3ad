"""The tables in documents show the stored results, and no others."""

import datetime
import subprocess
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from bench.compare.conditions import Term
from bench.compare.document import BLOCK, fill, table
from bench.compare.frames.orders import orders
from bench.compare.hosts import WrongData, host
from bench.compare.machine import commit
from bench.compare.peers import find
from bench.compare.records import join_json
from bench.compare.suites.engines import counties, head, sums, tpch
from bench.compare.suites.engines.engine import ENTASIS, MEMORY, PARQUET, DuckDb, Polars
from bench.compare.suites.engines.plans import duckdb_plan, polars_plan
from bench.compare.suites.engines.query import check
from bench.compare.suites.grow.growth import PEERS
from bench.compare.suites.scan import questions
from bench.compare.targets import evaluate

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/performance").glob("*.md"))]


@pytest.fixture(scope="module")
def sections():
    sections = {}
    for path in sorted((ROOT / "bench/results").glob("*/*.json")):
        join_json(path, sections)
    sections["targets"] = evaluate(sections)
    return sections


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_are_what_was_measured(page, sections, tmp_path):
    copy = tmp_path / "copy.md"
    copy.write_text(page.read_text())
    missing = fill(copy, sections)
    assert copy.read_text() == page.read_text()
    # A table is empty until its section is measured.
    assert [mark for mark in missing if mark.split()[0] in sections] == []
    assert all(f"<!-- table {mark} -->\n<!-- end -->" in page.read_text() for mark in missing)


def test_all_results_are_in_a_table(sections):
    marks = " ".join(mark for page in PAGES for _, mark, _ in BLOCK.findall(page.read_text()))
    assert {name for name in sections if name not in marks.split()} == set()
    suites = {record["suite"] for record in sections["comparisons"]}
    assert {suite for suite in suites if f"suite={suite} " not in marks} == set()


def _record(frame, format, write_s, **more):
    record = {"suite": "s", "frame": frame, "host": "pandas", "format": format, "label": format.title()}
    return record | {"write_s": write_s, "read_s": None, "n_rows": 1000, "floor_s": 0.001} | more


RECORDS = [
    _record("a", "entasis", 0.002),
    _record("a", "npz", 0.004, host="static_frame"),
    _record("a", "npz", 0.001),
    _record("b", "entasis", 0.25),
    _record("b", "npz", 0.5, failure="refused"),
]


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        (
            "suite=s host=pandas : frame write_ms write_ms@npz:static_frame write/npz:static_frame",
            [
                "|  | write, ms | Npz: write, ms | write / Npz |",
                "|---|---|---|---|",
                "| a | 2.00 | 4.00 | 0.50 |",
                "| b | 250 |  |  |",
            ],
        ),
        (
            "frame=a host=pandas : format=by write_row=a_row read_s write/npz",
            [
                "| by | a row | read, s | write / Npz |",
                "|---|---|---|---|",
                "| Entasis | 2,000 |  | 2.00 |",
                "| Npz | 1,000 |  | 1.00 |",
            ],
        ),
    ],
)
def test_marks(what, lines):
    assert table(f"comparisons {what}", {"comparisons": RECORDS}) == "\n".join(lines)


GROWN = [
    {
        "suite": "grow",
        "frame": "orders",
        "kind": kind,
        "host": "pandas",
        "format": format,
        "label": format.title(),
        "n_rows": 1000,
        "write_s": write_s,
        "once_write_s": 2.0,
        "max_s": 0.02,
        "write_peak_bytes": 2**27,
    }
    for kind, format, write_s in (
        ("bulk", "entasis", 2.5),
        ("writer", "entasis", 2.2),
        ("writer", "lance", 5.0),
    )
]


def test_ratios_to_the_same_rows_at_once():
    found = table("grow kind=writer : format write/once slowest_ms peak_MiB", {"grow": GROWN})
    assert found == "\n".join(
        [
            "|  | write / written at once | slowest, ms | peak, MiB |",
            "|---|---|---|---|",
            "| Entasis | 1.10 | 20.0 | 128 |",
            "| Lance | 2.50 | 20.0 | 128 |",
        ]
    )


def test_targets_of_growing_files():
    found = evaluate({"grow": GROWN})
    assert [(target["what"], target["measured"], target["met"]) for target in found] == [
        ("append as many rows as a frame has <= 1.1 x written at once", 1.25, False),
        ("write batches <= 1.5 x written at once", 1.1, True),
        ("memory to write batches <= 256 MiB", 2**27, True),
    ]
    shown = table("targets : ", {"targets": found})
    assert "| grow | orders | memory to write batches ≤ 256 MiB | 128 MiB | yes |" in shown


@pytest.mark.parametrize("key", PEERS)
def test_appended_rows_come_back(key, tmp_path):
    peer = find(key)
    if reason := peer.missing():
        pytest.skip(reason)
    whole = orders(3_000)
    parts = [whole.iloc[first : first + 1_000].reset_index(drop=True) for first in range(0, 3_000, 1_000)]
    first, *rest = [peer.prepare(part) for part in parts]
    path = tmp_path / "grown"
    peer.write(first, path)
    for rows in rest:
        peer.append(rows, path)
    lost = host("pandas").differences(whole, peer.restore(peer.read(path), whole))
    assert lost == [] or not peer.exact


FLAT = pa.table(
    {
        "key": pa.array([5, 1, None, 3, 2, 4], pa.int32()),
        "price": pa.array(["1.05", "0.07", "0.06", None, "0.05", "0.04"]).cast(pa.decimal128(15, 2)),
        "day": pa.array([datetime.date(1994, 1, day) for day in (1, 2, 3, 4, 5, 6)]),
        "text": ["air", "rail", None, "fair", "air", "ship air"],
        "city": pa.array(["Bern", "Oslo", "Bern", None, "Rome", "Oslo"]).dictionary_encode(),
        "x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5],
    }
)
CONDITIONS = {
    "integer": ((Term("key", "<", 4),), [1, 3, 4]),
    "decimals": ((Term("price", "between", (Decimal("0.05"), Decimal("0.07"))),), [1, 2, 4]),
    "days": (
        (Term("day", ">=", datetime.date(1994, 1, 2)), Term("day", "<=", datetime.date(1994, 1, 4))),
        [1, 2, 3],
    ),
    "equal": ((Term("text", "=", "air"),), [0, 4]),
    "category": ((Term("city", "=", "Oslo"),), [1, 5]),
    "in": ((Term("key", "in", [5, 2, 9]),), [0, 4]),
    "starts with": ((Term("text", "starts with", "ai"),), [0, 4]),
    "contains": ((Term("text", "contains", "air"),), [0, 3, 4, 5]),
    "several columns": ((Term("x", ">", 1.0), Term("key", "<=", 2)), [1, 4]),
    "none": ((Term("key", ">", 99),), []),
}


@pytest.mark.parametrize("key", [*questions.PEERS, questions.IN_MEMORY])
def test_filters_of_formats_find_the_same_rows(key, tmp_path):
    peer = find(key)
    if reason := peer.missing():
        pytest.skip(reason)
    peer = peer.at("arrow")
    path = tmp_path / "flat"
    peer.write(peer.prepare(FLAT), path)
    filters = peer.filters(path, FLAT.schema)
    for name, (condition, rows) in CONDITIONS.items():
        columns = ["x", "text", "key"]
        question = questions.Question("kind", name, condition, columns)
        expected = questions.answer(FLAT, question)
        assert expected.column("x").to_pylist() == [0.5 + row for row in rows]
        got = questions.prepared(filters, question)()
        assert questions.UNORDERED not in questions.differences(expected, got, exact=peer.exact)
        count = questions.Question("kind", name, condition)
        assert questions.prepared(filters, count)() == questions.answer(FLAT, count) == len(rows)


def test_other_rows_of_a_filter_are_wrong():
    rows = FLAT.select(["key", "text"])
    turned = rows.take([1, 0, 2, 3, 4, 5])
    assert questions.differences(rows, turned, exact=False) == [questions.UNORDERED]
    for other in (turned, rows.slice(1)):
        with pytest.raises(WrongData):
            questions.differences(rows, other, exact=True)
    with pytest.raises(WrongData):
        questions.differences(rows, rows.take([0, 0, 2, 3, 4, 5]), exact=False)
    with pytest.raises(WrongData):
        questions.differences(3, 4, exact=False)


def _scanned(format, work, median_s):
    record = {"suite": "scan", "frame": "shuffled", "kind": "share", "work": work, "host": "arrow"}
    record |= {"format": format, "label": format, "n_rows": 10, "median_s": median_s}
    return record | {"best_median_s": 0.004}


SCANNED = [
    _scanned("entasis", "1 %", 0.002),
    _scanned("vortex", "1 %", 0.004),
    _scanned("entasis-in-memory", "1 %", 0.001),
    _scanned("entasis", "99 %", 0.003),
    _scanned("entasis-in-memory", "99 %", 0.003),
]


def test_ratios_to_the_fastest_other_format():
    found = table("scan frame=shuffled : work median_ms=ms median/best median/entasis-in-memory", {"scan": SCANNED})
    assert found == "\n".join(
        [
            "|  | ms | median / the best other | median / entasis-in-memory |",
            "|---|---|---|---|",
            "| 1 % | 2.00 | 0.50 | 2.00 |",
            "| 99 % | 3.00 | 0.75 | 1.00 |",
        ]
    )


def test_targets_of_filters():
    found = evaluate({"scan": SCANNED})
    assert [(target["what"], target["frame"], target["measured"], target["n_met"]) for target in found] == [
        ("all columns of a share of the rows <= 0.7 x the best other", "shuffled: 99 %", 0.75, 1),
        ("all columns of a share of the rows <= 1.1 x entasis-in-memory", "shuffled: 1 %", 2.0, 1),
    ]


COUNTIES = pa.table(
    {
        "date": ["2020-05-31", "2020-06-01", "2020-07-02", "2020-08-31", "2020-09-01", "2020-07-03"],
        "county": ["Travis", "Travis", "Bexar", None, "Bexar", "Kings"],
        "state": ["Texas", "Texas", "Texas", "Texas", "Texas", "New York"],
        "cases": pa.array([1, 20_000, 3, 10_000, 30_000, 40_000], pa.int32()),
        "deaths": pa.array([0, 1, None, 2, 3, None], pa.int32()),
    }
)


def _asked(name, folder):
    """The tables and the queries of a part of the suite."""
    if name == "counties":
        return {"counties": COUNTIES}, counties.queries()
    if name == "tpch":
        try:
            return tpch.tables(folder, 0.001), tpch.queries()
        except FileNotFoundError as error:
            pytest.skip(str(error))
    table = pa.Table.from_pandas(orders(3_000), preserve_index=False).replace_schema_metadata()
    return {"orders": table, "tall": table}, [*sums.queries(), head.query()]


@pytest.mark.parametrize("name", ["orders", "counties", pytest.param("tpch", marks=pytest.mark.release)])
def test_engines_answer_the_same_from_all_formats(name, tmp_path):
    pytest.importorskip("polars.io.external_reader", reason="lazy scans need Polars 2.0 or later")
    pytest.importorskip("duckdb")
    tables, queries = _asked(name, tmp_path)
    engines = [DuckDb(find(DuckDb.parquet).at("arrow")), Polars()]
    columns = {column: key for key, table in tables.items() for column in table.column_names}
    answers = {query.title: [] for query in queries}
    for engine in engines:
        for format, peer in ((ENTASIS, "entasis"), (PARQUET, engine.parquet), (MEMORY, None)):
            named = tables
            if peer is not None:
                named = {key: tmp_path / f"{name}.{key}.{peer}" for key in tables}
                for key, path in named.items():
                    find(peer).at("arrow").write(tables[key], path)
            opened = engine.open(format, named)
            for query in queries:
                answers[query.title].append(engine.answer(engine.call(opened, query)()))
                plan = engine.plan(opened, query, columns)
                assert plan.has_joins == (query.kind == "join")
                if plan.has_joins and format != MEMORY:
                    assert {"lineitem"} < set(plan.order) - {"?"}
    for first, *others in answers.values():
        assert first.num_rows
        for other in others:
            check(first, other)


def test_other_answers_are_wrong():
    answer = pa.table({"state": ["Texas", None], "n": [1, 2], "x": [0.1, 0.2]})
    check(answer, answer.take([1, 0]).set_column(1, "n", pa.array([2, 1]).cast(pa.decimal128(38, 0))))
    check(answer, answer.set_column(2, "x", pa.array([0.1, 0.2 * (1 + 1e-12)])))
    for other in (
        answer.slice(1),
        answer.select(["state", "n"]),
        answer.set_column(1, "n", pa.array([1, None])),
        answer.set_column(2, "x", pa.array([0.1, 0.2001])),
        answer.set_column(2, "x", pa.array([0.1, None])),
    ):
        with pytest.raises(WrongData):
            check(answer, other)


def test_plans_have_the_order_of_joins():
    scans = [
        {"name": "READ_PARQUET", "extra_info": {"Projections": ["l_partkey", "l_tax"], "Estimated Cardinality": "9"}},
        {"name": "PYTHON_ARROW_SCAN ", "extra_info": {"Projections": "p_partkey"}},
    ]
    join = {"name": "HASH_JOIN", "children": scans, "extra_info": {"Conditions": "l_partkey = p_partkey"}}
    columns = {"l_partkey": "lineitem", "l_tax": "lineitem", "p_partkey": "part"}
    plan = duckdb_plan([{"name": "PROJECTION", "children": [join]}], columns)
    assert plan.order == ("lineitem", "part")
    assert plan.text.splitlines() == [
        "HASH_JOIN: l_partkey = p_partkey",
        "  READ_PARQUET lineitem: 9 rows expected",
        "  PYTHON_ARROW_SCAN part: ? rows expected",
    ]
    plan = polars_plan("INNER JOIN:\nBUILD SIDE: PreferRight\n  Parquet SCAN [/a b/tpch.part.polars-zstd]\n  x")
    assert plan.order == ("BUILD SIDE: PreferRight", "part")
    assert plan.text.splitlines()[-1] == "  Parquet SCAN part"


def _engine(host, work, format, median_s):
    record = {"suite": "engines", "frame": "tpch", "kind": "tpch", "work": work, "host": host}
    return record | {"format": format, "label": format.title(), "n_rows": 10, "median_s": median_s}


ENGINES = [
    _engine("duckdb", "Q1", "entasis", 0.002),
    _engine("duckdb", "Q1", "parquet-zstd", 0.004),
    _engine("polars", "Q1", "entasis", 0.002),
    _engine("polars", "Q1", "parquet-zstd", 0.001),
    _engine("polars", "Q6", "entasis", 0.027),
    _engine("polars", "Q6", "parquet-zstd", 0.001) | {"failure": "refused", "median_s": None},
]


def test_ratios_of_an_engine():
    found = table("engines host=polars : work median_ms=ms median/parquet-zstd=ratio", {"engines": ENGINES})
    assert found.splitlines()[2:] == ["| Q1 | 2.00 | 2.00 |", "| Q6 | 27.0 |  |"]


def test_targets_of_engines():
    found = evaluate({"engines": ENGINES})
    assert [(target["what"], target["frame"], target["measured"], target["n_met"]) for target in found] == [
        ("TPC-H Q1 and Q6, each engine, geometric mean <= 0.9 x parquet-zstd", "the mean of 2", 1.0, 0),
        ("TPC-H Q1 and Q6, each engine <= 1.15 x parquet-zstd", "tpch: Q1, Polars", 2.0, 1),
    ]


def test_results_name_the_commit(tmp_path):
    assert commit(tmp_path) is None

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-m", "a")
    named = commit(tmp_path)
    assert named is not None
    assert not named.endswith("-dirty")
    (tmp_path / "b").write_text("a file that git does not know")
    assert commit(tmp_path) == named
    (tmp_path / "a").write_text("2")
    assert commit(tmp_path) == f"{named}-dirty"


def test_marks_without_records_are_told(tmp_path):
    text = "<!-- table comparisons suite=none : frame read_s -->\nold\n<!-- end -->\n"
    document = tmp_path / "a.md"
    document.write_text(text)
    assert fill(document, {"comparisons": RECORDS}) == ["comparisons suite=none : frame read_s"]
    assert document.read_text() == text
