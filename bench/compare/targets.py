"""Targets as data, and their evaluation for a run.

A target bounds a time or a size, or its ratio to another format's on the same frame. Where it
covers several frames, the worst counts, or their geometric mean.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from .table import Column, aligned

# Of suites that have their own.
SECTIONS = (
    "access",
    "grow",
    "scan",
    "engines",
    "csv",
    "convert",
    "dataset",
    "remote",
    "machines",
    "encryption",
)


@dataclass(frozen=True)
class Target:
    """`quantity` of `format` is at most `limit` times the quantity of `over`.

    `over` is one of these:

    - a format, with "@host" if it is measured into another host
    - "floor"
    - "once" for the same rows written at once by the same format
    - "best" for the fastest other format
    - "least" for the text of other length that takes the least time for a byte
    - None for a limit in seconds or bytes
    """

    suite: str
    frames: str  # a pattern
    host: str  # a pattern; in the suite engines the engine
    quantity: str  # a key of WORDS
    limit: float
    over: str | None
    format: str = "entasis"
    kind: str | None = None  # of suites with a section of their own
    n_rows: int | None = None  # of access
    is_mean: bool = False  # the geometric mean counts instead of the worst

    @property
    def section(self) -> str:
        return self.suite if self.suite in SECTIONS else "comparisons"


def _each(
    suite: str, frames: str, host: str, quantity: str, bounds: dict[str, float]
) -> list[Target]:
    return [Target(suite, frames, host, quantity, limit, over) for over, limit in bounds.items()]


def _grow(kind: str, quantity: str, limit: float, over: str | None) -> Target:
    return Target("grow", "*", "pandas", quantity, limit, over, kind=kind)


def _scan(kind: str, limit: float, over: str | None = "best") -> Target:
    return Target("scan", "*", "arrow", "median_s", limit, over, kind=kind)


def _engines(kind: str, limit: float, host: str = "*", *, is_mean: bool = False) -> Target:
    over, quantity = "parquet-zstd", "median_s"
    return Target("engines", "*", host, quantity, limit, over, kind=kind, is_mean=is_mean)


def _csv(
    kind: str, limit: float, over: str, host: str = "arrow", *, is_mean: bool = False
) -> Target:
    return Target("csv", "*", host, "median_s", limit, over, kind=kind, is_mean=is_mean)


def _convert(kind: str, limit: float, over: str | None, quantity: str = "median_s") -> Target:
    return Target("convert", "*", "arrow", quantity, limit, over, kind=kind)


def _dataset(
    kind: str,
    limit: float,
    over: str | None = "parquet-zstd",
    host: str = "polars",
    quantity: str = "median_s",
    *,
    is_mean: bool = False,
) -> Target:
    return Target("dataset", "*", host, quantity, limit, over, kind=kind, is_mean=is_mean)


def _remote(kind: str) -> Target:
    return Target("remote", "*", "polars", "median_s", 1.0, "parquet-zstd", kind=kind)


def _machines(
    kind: str, limit: float, over: str, quantity: str = "median_s", host: str = "dask"
) -> Target:
    return Target("machines", "*", host, quantity, limit, over, kind=kind)


def _encryption(kind: str, limit: float) -> Target:
    return Target("encryption", "headline", "pandas", "median_s", limit, "plain", kind=kind)


NPZ = "npz@static_frame"
TARGETS: list[Target] = [
    *_each("headline", "headline", "pandas", "read_s", {"npz": 1.0, "feather-lz4": 0.1}),
    *_each("headline", "headline", "pandas", "read_s", {"floor": 1.5}),
    *_each("headline", "headline", "pandas", "write_s", {"feather-raw": 0.35}),
    *_each("headline", "headline", "pandas", "file_bytes", {"parquet-zstd": 1.1}),
    Target("headline", "headline", "pandas", "file_bytes", 0.97, "parquet-zstd", "entasis-80"),
    # StaticFrame's nine shapes of 10^6 elements, from the fixtures and drawn anew.
    *_each("nine", "*-uniform-*-1e6", "static_frame", "read_s", {"npz": 1.0}),
    *_each("nine", "*-uniform-*-1e6", "pandas", "read_s", {NPZ: 1.3}),
    *_each("nine", "*-mixed-wide-1e6", "static_frame", "read_s", {"npz": 0.1}),
    *_each("nine", "*-columnar-wide-1e6", "static_frame", "read_s", {"npz": 0.1}),
    *_each("nine", "*-mixed-wide-1e6", "pandas", "read_s", {NPZ: 0.1}),
    *_each("nine", "*-columnar-wide-1e6", "pandas", "read_s", {NPZ: 0.1}),
    *_each("nine", "*-1e6", "static_frame", "write_s", {"npz": 0.5}),
    *_each("nine", "*-1e6", "pandas", "write_s", {NPZ: 0.5}),
    *_each("nine", "*-mixed-wide-1e6", "static_frame", "write_s", {"npz": 0.15}),
    *_each("nine", "*-columnar-wide-1e6", "static_frame", "write_s", {"npz": 0.15}),
    *_each("nine", "*-mixed-wide-1e6", "pandas", "write_s", {NPZ: 0.15}),
    *_each("nine", "*-columnar-wide-1e6", "pandas", "write_s", {NPZ: 0.15}),
    *_each("nine", "fixture-*-1e6", "static_frame", "file_bytes", {"npz": 0.5}),
    *_each("nine", "fixture-*-1e6", "pandas", "file_bytes", {NPZ: 0.5}),
    *_each("nine", "drawn-*-1e6", "static_frame", "file_bytes", {"npz": 0.9}),
    *_each("nine", "drawn-*-1e6", "pandas", "file_bytes", {NPZ: 0.9}),
    *_each("shootout", "*", "pandas", "read_s", {"feather-lz4": 0.5}),
    *_each("shootout", "*", "pandas", "write_s", {"feather-lz4": 0.5, "fwrite": 0.3}),
    *_each("shootout", "*", "pandas", "file_bytes", {"parquet-snappy": 1.0}),
    *_each("real", "tpch-lineitem", "arrow", "read_s", {"vortex": 0.5, "parquet-zstd": 0.3}),
    *_each("real", "tpch-lineitem", "arrow", "write_s", {"polars-zstd": 0.4}),
    *_each("real", "tpch-lineitem", "arrow", "file_bytes", {"vortex": 1.05}),
    Target("real", "tpch-lineitem", "arrow", "file_bytes", 1.0, "parquet-zstd", "entasis-80"),
    *_each("strings", "qs-table", "arrow", "read_s", {"feather-lz4": 1.0}),
    *_each("strings", "qs-table", "arrow", "write_s", {"feather-lz4": 1.0}),
    *_each("strings", "qs-table", "arrow", "file_bytes", {"vortex": 1.05}),
    *_each("wide", "wide-100x10000", "pandas", "read_s", {"npz": 0.1}),
    *_each("wide", "wide-100x10000", "pandas", "write_s", {"npz": 0.15}),
    *_each("wide", "wide-100x10000", "pandas", "file_bytes", {"npz": 1.0}),
    Target("access", "headline", "pandas", "median_s", 0.0002, None, kind="rows", n_rows=1000),
    Target("access", "wide-10x100000", "pandas", "median_s", 0.005, None, kind="column"),
    Target("access", "headline", "pandas", "median_s", 0.2, "vortex", kind="take"),
    *_each("objects", "list of int64 arrays*", "python", "write_s", {"pickle": 0.3}),
    *_each("objects", "list of int64 arrays*", "python", "read_s", {"pickle": 0.3}),
    *_each("objects", "list of int64 arrays*", "python", "file_bytes", {"pickle": 0.6}),
    # CPython inserts each key into a dict, which is most of the time of reading one.
    *_each("objects", "dict of floats", "python", "write_s", {"pickle": 0.5}),
    *_each("objects", "dict of floats", "python", "read_s", {"pickle": 0.8}),
    *[
        target
        for value in ("list of integers", "records of 8 fields")
        for quantity in ("write_s", "read_s")
        for target in _each("objects", value, "python", quantity, {"pickle": 0.5})
    ],
    *_each("objects", "sets, arrays*", "python", "write_s", {"pickle": 1.0}),
    *_each("objects", "sets, arrays*", "python", "read_s", {"pickle": 1.0}),
    *_each("objects", "sets, arrays*", "python", "file_bytes", {"pickle": 0.4}),
    Target("objects", "one array*", "python", "read_s", 0.005, None),
    *_each("objects", "random tree", "python", "write_s", {"pickle": 1.0}),
    *_each("objects", "random tree", "python", "read_s", {"pickle": 1.0}),
    *_each("small", "small-new", "pandas", "read_s", {"pickle": 1.0}),
    *_each("small", "small-new", "pandas", "write_s", {"pickle": 1.5}),
    _grow("append", "median_s", 0.0015, None),
    _grow("bulk", "write_s", 1.1, "once"),
    _grow("many", "write_s", 0.5, "lance"),
    _grow("many", "max_s", 0.01, None),
    _grow("many", "read_s", 1.3, "once"),
    _grow("many", "file_bytes", 3, "once"),
    _grow("compact", "file_bytes", 1.05, "once"),
    _grow("column", "write_s", 1.1, "once"),
    _grow("row", "median_s", 0.001, None),
    _grow("row", "max_s", 0.02, None),
    _grow("row", "file_bytes", 5e6, None),
    _grow("wide-row", "median_s", 0.015, None),
    _grow("wide-row", "file_bytes", 20e6, None),
    _grow("writer", "write_s", 1.5, "once"),
    _grow("writer", "write_peak_bytes", 256 * 2**20, None),
    _scan("q6", 0.6),
    _scan("range", 0.3),
    _scan("equal", 0.6),
    _scan("in", 0.6),
    _scan("starts-with", 0.6),
    _scan("contains", 0.6),
    _scan("share", 0.7),
    _scan("share", 1.1, "entasis-in-memory"),
    _scan("count-statistics", 0.001, None),
    _scan("sample", 0.006, None),
    _scan("sample-blocks", 0.003, None),
    _scan("key", 0.00015, None),
    _engines("sum", 0.7, "duckdb"),
    _engines("tpch", 0.9, is_mean=True),
    _engines("tpch", 1.15),
    _engines("group", 0.8, "polars"),
    Target("engines", "tall", "polars", "median_s", 0.003, None, kind="head"),
    *[
        _csv("read", limit, "best", host, is_mean=is_mean)
        for host in ("polars", "arrow", "pandas")
        for limit, is_mean in ((0.7, True), (1.0, False))
    ],
    _csv("threads", 0.6, "entasis-1-thread"),
    _csv("columns", 0.5, "entasis-all", "polars"),
    _csv("filter", 0.5, "entasis-all", "polars"),
    _csv("gzip", 1.3, "inflate"),
    _csv("convert", 1.25, "entasis-read"),
    _csv("convert", 0.5, "duckdb"),
    _csv("write", 0.7, "best", is_mean=True),
    _csv("write", 1.0, "best"),
    _csv("write-gzip", 1.2, "fwrite"),
    _csv("read-r", 0.8, "fread", "r", is_mean=True),
    _csv("read-r", 1.0, "fread", "r"),
    _csv("length-read", 1.25, "least"),
    _csv("length-convert", 1.25, "least"),
    Target("convert", "*", "pandas", "median_s", 0.5, None, kind="read-fst"),
    _convert("read-rds", 1.0, "readRDS"),
    _convert("read-gzip", 1.3, "inflate"),
    _convert("read-qs2", 1.25, "inflate-blocks"),
    _convert("from-parquet", 1.15, "polars"),
    _convert("from-parquet", 512 * 2**20, None, "write_peak_bytes"),
    _convert("to-parquet", 1.15, "polars"),
    _convert("to-parquet", 512 * 2**20, None, "write_peak_bytes"),
    _dataset("open", 0.5),
    _dataset("count", 0.5),
    _dataset("key", 0.5),
    _dataset("query", 0.8, host="*", is_mean=True),
    _dataset("tpch", 0.8, host="duckdb", is_mean=True),
    _dataset("tpch", 1.15, host="duckdb"),
    _dataset("write", 0.5, "pyarrow", "arrow"),
    _dataset("write", 2**30, None, "arrow", "write_peak_bytes"),
    _machines("sum", 0.6, "parquet"),
    _machines("write", 0.8, "parquet"),
    _machines("write", 0.8, "parquet", host="ray"),
    _machines("memory", 2.0, "partition", "write_peak_bytes"),
    _encryption("write", 1.3),
    _encryption("read", 1.3),
    _encryption("rows", 1.5),
    _encryption("append", 1.5),
    _remote("first-20ms"),
    _remote("filter-20ms"),
    _remote("scan"),
]

WORDS = {
    "write_s": "write",
    "read_s": "read",
    "file_bytes": "size",
    "median_s": "time",
    "max_s": "slowest",
    "write_peak_bytes": "memory",
}
ONCE = "written at once"
BEST = "the best other"
LEAST = "the least for a byte"
GROW = {  # by kind and quantity
    ("append", "median_s"): "append 1,000 rows",
    ("bulk", "write_s"): "append as many rows as a frame has",
    ("many", "write_s"): "1,000 appends",
    ("many", "max_s"): "slowest of 1,000 appends",
    ("many", "read_s"): "read after 1,000 appends",
    ("many", "file_bytes"): "size after 1,000 appends",
    ("compact", "file_bytes"): "size after compact",
    ("column", "write_s"): "add a column",
    ("row", "median_s"): "append one row",
    ("row", "max_s"): "slowest of 4,000 appends of one row",
    ("row", "file_bytes"): "size after 4,000 appends of one row",
    ("wide-row", "median_s"): "append one row of 1,000 columns",
    ("wide-row", "file_bytes"): "size after 250 appends of one row of 1,000 columns",
    ("writer", "write_s"): "write batches",
    ("writer", "write_peak_bytes"): "memory to write batches",
}
SCAN = {  # by kind
    "q6": "filter of TPC-H Q6",
    "range": "range of a sorted column",
    "equal": "one value of few",
    "in": "one of 20 values",
    "starts-with": "strings that start with",
    "contains": "strings that contain",
    "share": "all columns of a share of the rows",
    "count-statistics": "count that statistics decide, 10^8 rows",
    "sample": "sample of 10,000 of 10^8 rows",
    "sample-blocks": "sample by blocks of 10^8 rows",
    "key": "one key of 10^8 rows",
}
ENGINES = {  # by kind
    "sum": "sum of one column out of ten",
    "tpch": "TPC-H Q1 and Q6",
    "group": "filter and group",
    "head": "first rows of 10^8",
}
CSV = {  # by kind
    "read": "text",
    "threads": "text, all threads",
    "columns": "2 of 74 columns of a text",
    "filter": "1 % of the rows of a text",
    "gzip": "text in gzip",
    "convert": "text into a file",
    "write": "table into a text",
    "read-r": "text",
    "write-gzip": "table into a text in gzip",
    "length-read": "text of 10 MB to 1 GB, time for a byte",
    "length-convert": "text of 10 MB to 1 GB into a file, time for a byte",
}
CSV_OVER = {
    "entasis-1-thread": "one thread",
    "entasis-all": "reading all",
    "entasis-read": "reading alone",
    "inflate": "inflating alone",
    "duckdb": "DuckDB's Parquet",
    "fwrite": "fwrite",
    "fread": "fread",
}
CONVERT = {  # by kind
    "read-fst": "50 million rows of fst into pandas",
    "read-rds": "RDS, uncompressed",
    "read-gzip": "RDS in gzip",
    "read-qs2": "qs2",
    "from-parquet": "Parquet to Entasis",
    "to-parquet": "Entasis to Parquet",
}
CONVERT_OVER = {
    "inflate": "inflating alone",
    "inflate-blocks": "decompressing alone",
    "polars": "Polars and Entasis, one after the other",
}
DATASET = {  # by kind
    "open": "open 1,000 files",
    "count": "count the rows of 1,000 files",
    "key": "rows of one of 1,000 files, by its key",
    "query": "filter and group over 100 files",
    "tpch": "TPC-H Q1, Q6, Q12 and Q14",
    "write": "write 10^8 rows by 100 keys",
}
REMOTE = {  # by kind
    "first-20ms": "3 rows of 2 columns, 20 ms a request",
    "filter-20ms": "a row by its id, 20 ms a request",
    "scan": "a scan of 1 GB",
}
ENCRYPTION = {  # by kind
    "write": "encrypted: write",
    "read": "encrypted: read",
    "rows": "encrypted: single rows, file open",
    "append": "encrypted: append of 1,000 rows",
}
MACHINES = {  # by kind
    "sum": "sum of one of ten columns of 10^8 rows",
    "write": "write 10^8 rows",
    "memory": "memory of a worker",
}
ENGINE = {
    "duckdb": "DuckDB",
    "polars": "Polars",
    "dask": "Dask",
    "ray": "Ray",
    "*": "each engine",
}


def evaluate(sections: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The targets that a run has measured: the worst value, the limit, whether it is met."""
    found = []
    for target in TARGETS:
        records = [r for r in sections.get(target.section, []) if r.get("suite") == target.suite]
        measured = [m for r in records if (m := _measured(target, r, records)) is not None]
        if not measured:
            continue
        if target.is_mean:
            ratios = [ratio for ratio, _ in measured]
            measured = [(statistics.geometric_mean(ratios), f"the mean of {len(ratios)}")]
        worst, frame = max(measured)
        found.append(
            {
                "suite": target.suite,
                "frame": frame,
                "frames": target.frames,
                "n_frames": len(measured),
                "n_met": sum(value <= target.limit for value, _ in measured),
                "host": target.host,
                "format": target.format,
                "quantity": WORDS[target.quantity],
                "what": _what(target),
                "over": target.over,
                "limit": target.limit,
                "measured": worst,
                "met": worst <= target.limit,
            }
        )
    return found


def _measured(
    target: Target, record: dict[str, Any], records: list[dict[str, Any]]
) -> tuple[float, str] | None:
    """The measurement of one record (a ratio or seconds), and its frame."""
    frame = record["frame"]
    if record["format"] != target.format or not fnmatch(frame, target.frames):
        return None
    work = record.get("work")
    title = f"{frame}: {work}" if work else frame
    if not fnmatch(record.get("host", target.host), target.host) or record.get("failure"):
        return None
    if target.kind is not None and record["kind"] != target.kind:
        return None
    if target.n_rows is not None and record["n_rows"] != target.n_rows:
        return None
    if target.host == "*":
        title += f", {ENGINE[record['host']]}"
    value = record[target.quantity]
    if value is None or target.over is None:
        return None if value is None else (value, title)
    if target.over == "floor":
        base = record["floor_s"]
    elif target.over in ("once", "best", "least"):
        base = record[f"{target.over}_{target.quantity}"]
    else:
        key, _, host = target.over.partition("@")
        same = {"frame": frame, "format": key}
        if "host" in record:
            same["host"] = host or record["host"]
        if target.kind is not None:
            same |= {"kind": target.kind, "n_rows": record["n_rows"]}
        if work:
            same |= {"work": work}
        base = next(
            (r[target.quantity] for r in records if same.items() <= r.items()),
            None,
        )
    return (value / base, title) if base else None


def _what(target: Target) -> str:
    """A title, such as: read (pandas) <= 0.1 x feather-lz4."""
    words = WORDS[target.quantity]
    if target.section == "grow":
        words = GROW[target.kind or "", target.quantity]
    elif target.section == "scan":
        words = SCAN[target.kind or ""]
    elif target.section == "engines":
        words = f"{ENGINES[target.kind or '']}, {ENGINE[target.host]}"
        words += ", geometric mean" if target.is_mean else ""
    elif target.section == "csv":
        words = f"{CSV[target.kind or '']} ({target.host})"
        words += ", geometric mean" if target.is_mean else ""
    elif target.section == "convert":
        memory = "memory of " if target.quantity == "write_peak_bytes" else ""
        words = memory + CONVERT[target.kind or ""]
    elif target.section == "dataset":
        memory = "memory of " if target.quantity == "write_peak_bytes" else ""
        words = memory + DATASET[target.kind or ""]
        words += f", {ENGINE[target.host]}" if target.host in ENGINE else ""
        words += ", geometric mean" if target.is_mean else ""
    elif target.section == "encryption":
        words = ENCRYPTION[target.kind or ""]
    elif target.section == "machines":
        words = f"{MACHINES[target.kind or '']}, {ENGINE[target.host]}"
    elif target.section == "remote":
        words = REMOTE[target.kind or ""]
    elif target.kind == "rows":
        words = f"{target.n_rows:,} rows, file open"
    elif target.kind == "column":
        words = "open and read one column"
    elif target.kind == "take":
        words = "scattered rows, file open"
    elif words != "size":
        words += f" ({target.host})"
    if target.format != "entasis":
        words = f"{target.format}: {words}"
    if target.over is None:
        return f"{words} <= {amount_text(target.limit, WORDS[target.quantity])}"
    known = {"once": ONCE, "best": BEST, "least": LEAST}
    known |= {"csv": CSV_OVER, "convert": CONVERT_OVER}.get(target.section, {})
    over = known.get(target.over, target.over.replace("@", " into "))
    return f"{words} <= {target.limit:g} x {over}"


def amount_text(value: float, quantity: str) -> str:
    """A limit that is not a ratio, or its measurement, with the unit."""
    if quantity == "size":
        return f"{value / 1e6:.3g} MB"
    if quantity == "memory":
        return f"{value / 2**30:.3g} GiB" if value >= 2**30 else f"{value / 2**20:.3g} MiB"
    return f"{value * 1e3:.3g} ms"


def targets_text(found: list[dict[str, Any]]) -> str:
    """The table that ends a run."""
    rows = []
    for record in found:
        if record["over"] is None:
            measured = amount_text(record["measured"], record["quantity"])
        else:
            measured = f"{record['measured']:.3f} x"
        frame = record["frame"]
        if record["n_frames"] > 1:
            frame += f" (worst of {record['n_frames']}, {record['n_met']} met)"
        verdict = "met" if record["met"] else "MISSED"
        rows.append([record["suite"], record["what"], measured, verdict, frame])
    columns = [
        Column("suite", left=True),
        Column("target", left=True),
        Column("measured"),
        Column("", left=True),
        Column("frame", left=True),
    ]
    n_met = sum(record["met"] for record in found)
    return f"Targets: {n_met} of {len(found)} met\n\n{aligned(columns, rows)}"
