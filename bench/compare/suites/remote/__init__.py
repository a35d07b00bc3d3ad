"""Files on a store: the first rows, a row by its id, and a scan, against Polars over Parquet.

A server on this machine has the objects, and each request waits as long as the network would. The
rows are compared before anything is measured, and requests are counted. versitygw serves the scan
if it is installed, as moto alone takes most of the time of a scan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...hosts import WrongData
from .gateway import gateway, program
from .server import BUCKET, Server, server

SEED = 20171216
N_ROWS, N_DOUBLES = 600_000, 9
N_SCANNED, N_COLUMNS = 12_000_000, 10  # 1 GB
DELAY_S = 0.02
PARQUET = "parquet-zstd"

# The options of a store, by the names of obstore and Polars.
Options = dict[str, str]


def run(context: Context) -> None:
    with server() as running:
        _make_bucket(running)
        options = running.options
        frame = _frame(context.scaled(N_ROWS))
        url = _stored(context.work, running.options, frame, "first")
        row = len(frame) // 2
        first, one = frame[:3].select("id", "c8"), frame[row : row + 1].select("id", "c8")
        found: dict[str, list[Call]] = {}
        for title, kind, delay, works, expected in (
            ("3 rows of 2 columns", "first", 0.0, _first(url, options), first),
            ("3 rows, 20 ms a request", "first-20ms", DELAY_S, _first(url, options), first),
            ("a row by its id", "filter", 0.0, _filter(url, options, row), one),
            ("a row by its id, 20 ms", "filter-20ms", DELAY_S, _filter(url, options, row), one),
        ):
            running.delay(delay)
            found[title] = _measured(context, running.noted, title, kind, works, expected)
        show(f"{len(frame):,} rows on a store", found, unit="ms")
        running.delay(0)
        path = program()
        if path is None:
            _scanned(context, options, running.noted)
    if path is not None:
        with gateway(path) as options:
            _scanned(context, options, lambda: "versitygw")


def _scanned(context: Context, options: Options, note: Callable[[], str]) -> None:
    """Measure the scan on a server."""
    import polars as pl

    long = _doubles(context.scaled(N_SCANNED))
    url = _stored(context.work, options, long, "scan")
    sums = long.select(pl.all().sum())
    found = _measured(context, note, "scan", "scan", _scan(url, options), sums)
    show("a scan of 1 GB", {"scan": found})


def _frame(n_rows: int) -> Any:
    import polars as pl

    rng = np.random.default_rng(SEED)
    doubles = {f"c{i}": np.round(rng.random(n_rows) * 1000, i) for i in range(N_DOUBLES)}
    words = rng.integers(0, 1000, n_rows)
    return pl.DataFrame(
        {"id": np.arange(n_rows), **doubles, "word": [f"w{word}" for word in words]}
    )


def _doubles(n_rows: int) -> Any:
    import polars as pl

    rng = np.random.default_rng(SEED)
    return pl.DataFrame({f"c{i}": rng.random(n_rows) for i in range(N_COLUMNS)})


def _make_bucket(running: Server) -> None:
    from urllib.request import Request, urlopen

    url = f"{running.options['aws_endpoint_url']}/{BUCKET}"
    with urlopen(Request(url, method="PUT")):
        pass


def _stored(folder: Path, options: Any, frame: Any, name: str) -> str:
    """Store a frame in both formats. Returns the address without the suffix."""
    import entasis as en
    import obstore
    from obstore.store import S3Store

    url = f"s3://{BUCKET}/{name}"
    en.write(frame, f"{url}.entasis", storage_options=options)
    path = folder / f"{name}.parquet"
    frame.write_parquet(path, compression="zstd")
    store = S3Store(BUCKET, config=options, client_options={"allow_http": True})
    obstore.put(store, path.name, path)
    path.unlink()
    return url


def _parquet(url: str, options: Options) -> Any:
    import polars as pl

    return pl.scan_parquet(f"{url}.parquet", storage_options=options)


def _entasis(url: str, options: Options) -> Any:
    import entasis as en

    return en.open(f"{url}.entasis", storage_options=options)


def _first(url: str, options: Options) -> dict[str, Callable[[], Any]]:
    return {
        "entasis": lambda: _entasis(url, options)[:3][["id", "c8"]].to_polars(),
        PARQUET: lambda: _parquet(url, options).select("id", "c8").head(3).collect(),
    }


def _filter(url: str, options: Options, row: int) -> dict[str, Callable[[], Any]]:
    import entasis as en
    import polars as pl

    return {
        "entasis": lambda: _entasis(url, options).read(
            columns=["id", "c8"], filter=en.col("id") == row, to="polars"
        ),
        PARQUET: lambda: (
            _parquet(url, options).filter(pl.col("id") == row).select("id", "c8").collect()
        ),
    }


def _scan(url: str, options: Options) -> dict[str, Callable[[], Any]]:
    import polars as pl

    return {
        "entasis": lambda: _entasis(url, options).lazy().select(pl.all().sum()).collect(),
        PARQUET: lambda: _parquet(url, options).select(pl.all().sum()).collect(),
    }


def _measured(
    context: Context,
    note: Callable[[], str],
    title: str,
    kind: str,
    works: dict[str, Callable[[], Any]],
    expected: Any,
) -> list[Call]:
    """Measure the works of both formats. `note` is called before and after a call of each."""
    labels = {"entasis": "Entasis", PARQUET: "Parquet zstd, Polars"}
    calls = [Call(key, labels[key], work) for key, work in works.items()]
    for call in calls:
        call.checked(partial(_check, expected))
        note()
        call.call()
        call.notes.append(note())
    in_turn(context, title, calls)
    keep(context, "remote", kind, "polars", calls, expected.shape, 0, section="remote")
    return calls


def _check(expected: Any, got: Any) -> list[str]:
    is_same = expected.columns == got.columns and all(
        np.allclose(expected[name].to_numpy(), got[name].to_numpy(), rtol=1e-9)
        for name in expected.columns
    )
    if not is_same or len(expected) != len(got):
        raise WrongData("the rows differ")
    return []
