"""The tables in documents are those of the results that are kept, and of no others."""

from pathlib import Path

import pytest
from bench.compare.document import BLOCK, fill, table
from bench.compare.frames.orders import orders
from bench.compare.hosts import host
from bench.compare.peers import find
from bench.compare.records import join_json
from bench.compare.suites.grow.growth import PEERS
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
        ("write batches <= 1.15 x written at once", 1.1, True),
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


def test_marks_without_records_are_told(tmp_path):
    text = "<!-- table comparisons suite=none : frame read_s -->\nold\n<!-- end -->\n"
    document = tmp_path / "a.md"
    document.write_text(text)
    assert fill(document, {"comparisons": RECORDS}) == ["comparisons suite=none : frame read_s"]
    assert document.read_text() == text
