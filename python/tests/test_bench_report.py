"""The HTML report of the benchmarks."""

import re
from html.parser import HTMLParser

import pytest
from bench.compare import options
from bench.compare.report.charts import Bars, Lines, bar_chart, line_chart
from bench.compare.report.page import write_html

TIMES = "\N{MULTIPLICATION SIGN}"
VOID = {"meta", "br", "img"}
MEMORY = 8 * 10**8


def _record(format, write_s, read_s, file_bytes, **more):
    record = {"suite": "headline", "frame": "orders", "host": "pandas", "format": format}
    record |= {"label": format.title(), "n_rows": 10**6, "n_columns": 4, "threads": 2}
    record |= {"write_s": write_s, "read_s": read_s, "file_bytes": file_bytes}
    return record | {"memory_bytes": MEMORY, "floor_s": 0.1, "notes": [], "failure": None} | more


COMPARISONS = [
    _record("entasis", 0.2, 0.16, 10**8, every_read_s=[0.1] * 5),
    _record("npz", 0.8, 0.4, 7 * 10**8, notes=["categories <lost>"]),
    _record("vortex", None, None, None, failure="refused & failed"),
]
TARGETS = [
    {"suite": "headline", "frame": "orders", "n_frames": 1, "n_met": met, "quantity": "read_s"}
    | {"what": f"{what} <= 0.5 x npz", "over": "npz", "limit": 0.5, "measured": measured, "met": met}
    for what, measured, met in (("size", 0.25, True), ("read", 0.55, False), ("write", 0.75, False))
]
SECTIONS = {
    "comparisons": COMPARISONS,
    "targets": TARGETS,
    "compression": [
        _record(f"entasis-{level}", 0.1, 0.05, 10**8 - level * 500_000, compression=level) for level in (0, 50, 100)
    ],
    "threads": [_record("entasis", 0.4 / n, 0.2 / n, 1, threads=n, frame=f"orders-{n}-threads") for n in (1, 2)],
    "sweep": [_record("entasis", n * 7e-9, n * 3e-9, 1, n_rows=n, suite="sweep") for n in (10**4, 10**6)],
    "access": [
        _record("entasis", None, None, None, kind=kind, n_rows=n, median_s=0.0123, p95_s=0.0345, max_s=0.0567)
        for kind, n in (("rows", 1), ("rows", 1000), ("take", 500))
    ],
    "grow": [_record("entasis", 0.5, None, 10**8, kind="bulk", once_write_s=0.4, once_file_bytes=10**8)],
}


class _Page(HTMLParser):
    """Text of each table row and chart, after a check that elements nest."""

    def __init__(self, path):
        super().__init__()
        self.stack, self.ids, self.links, self.rows, self.charts, self.outside = [], [], [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        uses = [attrs.get("href"), attrs.get("xlink:href"), attrs.get("src"), *re.findall(r"url\((.*?)\)", str(attrs))]
        self.links += filter(None, uses)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if attrs.get("class") == "chart":
            self.charts.append([])
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.stack.pop() == tag

    def handle_data(self, data):
        if "svg" in self.stack and self.stack[-1] == "text":
            self.charts[-1].append(data)
        elif "td" in self.stack or "th" in self.stack:
            self.rows[-1][-1] += data
        elif "style" not in self.stack and data.strip():
            self.outside.append(data.strip())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(path, {"processor": "Some <CPU>", "memory_bytes": 16 * 10**9, "commit": None}, SECTIONS)
    return _Page(path)


def test_page_needs_nothing_else(page):
    assert len(page.ids) == len(set(page.ids))
    assert {link for link in page.links if link.lstrip("#") not in page.ids} == set()


def test_charts_show_the_measurements(page):
    first, compression, threads, reads, take, sweep, grow = page.charts
    for text in ("Write, GB/s", "Read, GB/s", "File, MB", "Entasis", "Npz", "4.00", "1.00", "5.00", "2.00", "100"):
        assert text in first
    assert {"700", "floor 8.00", "in memory 800"} < set(first)
    assert "Vortex" not in first
    assert {"File, MB", "compression", "Entasis", "floor"} < set(compression)
    assert {"Write, GB/s", "threads", "1", "2"} < set(threads)
    assert {"rows selected", "1 k"} < set(reads)
    assert {"500 scattered rows, ms", "12.3"} < set(take)
    assert {"Write, ns per row", "10 k", "1 M"} < set(sweep)
    assert {"Time, s", "0.500"} < set(grow)


def test_tables_show_the_measurements(page):
    for row in (
        ["Entasis", "200 ms", "160 ms", "100 MB", "1.00", "1.00", "1.00", "1.60"],
        ["Npz1", "800 ms", "400 ms", "700 MB", "4.00", "2.50", "7.00", "4.00"],
        ["File, MB: Entasis", "100", "75.0", "50.0"],
        ["Read, GB/s: floor", "8.00", "8.00"],
        ["Write, ns per row: Entasis", "7.00", "7.00"],
        ["Entasis", "500", "12.3 ms", "34.5 ms", "56.7 ms"],
        ["Entasis", "500 ms", "1.25", "100 MB", "1.00"],
    ):
        assert row in page.rows


def test_page_says_what_failed_and_what_is_lost(page):
    for text in ("Some <CPU>", "16.0 GB", "categories <lost>", "Vortex", ": refused & failed"):
        assert text in page.outside
    assert any("Medians of 5 interleaved rounds" in text for text in page.outside)
    assert {"5.00 GB/s", "4.00 GB/s", "12.5 %", f"2.50 {TIMES}"} < set(page.outside)


def test_page_says_that_the_commit_is_unknown(page):
    assert page.outside[page.outside.index("commit") + 1] == "unknown"


def test_targets_are_ranked_by_verdict(page):
    assert "1 of 3 met, 1 near (missed by at most 15%), 1 missed." in page.outside
    assert [row for row in page.rows if row[0] in ("miss", "near", "pass")] == [
        ["miss", "write ≤ 0.5 x npzheadline: orders", f"0.75 {TIMES}", f"0.5 {TIMES}"],
        ["near", "read ≤ 0.5 x npzheadline: orders", f"0.55 {TIMES}", f"0.5 {TIMES}"],
        ["pass", "size ≤ 0.5 x npzheadline: orders", f"0.25 {TIMES}", f"0.5 {TIMES}"],
    ]


def test_many_frames_have_an_overview(tmp_path):
    path = tmp_path / "report.html"
    frames = [
        _record(format, write_s, 0.1 * n, 100, frame=f"frame {n}")
        for n in range(1, 5)
        for format, write_s in (("entasis", 0.1), ("npz", 0.1 * n))
    ]
    write_html(path, {}, {"comparisons": frames})
    rows = _Page(path).rows
    assert [row[1] for row in rows if row[0].startswith("frame ")][4:8] == ["1.00", "2.00", "3.00", "4.00"]


def test_parts_without_records_are_left_out(tmp_path):
    path = tmp_path / "report.html"
    write_html(path, {}, {"comparisons": [COMPARISONS[2]], "threads": SECTIONS["threads"][:1]})
    page = _Page(path)
    assert page.charts == []
    assert page.links == ["#suite-headline"]


def test_charts_are_the_same_each_time():
    bars = [Bars("Read", "time", [(COMPARISONS[1], 2.0), (COMPARISONS[0], 1.0)])]
    lines = [Lines("Read", "", {"Entasis": {1.0: 2.0, 8.0: 1.0}, "npz": {1.0: 3.0}})]
    assert bar_chart(bars) == bar_chart(bars)
    assert line_chart(lines, "threads") == line_chart(lines, "threads")


def test_best_bar_comes_first():
    values = [(record, value) for record, value in zip(COMPARISONS, (3e9, 5e9, 4e9), strict=True)]
    for quantity, order in (("speed", ["Npz", "Vortex", "Entasis"]), ("size", ["Entasis", "Vortex", "Npz"])):
        chart = bar_chart([Bars("x", quantity, values)])
        assert [text for text in re.findall(r">(\w+)</text>", chart) if text in order] == order


def test_matplotlib_is_asked_for_before_anything_is_measured(monkeypatch):
    given = options.parser().parse_args(["--html", "a.html"])
    assert options.complaint(given) is None
    monkeypatch.setattr(options, "find_spec", lambda name: None)
    assert "matplotlib" in options.complaint(given)
