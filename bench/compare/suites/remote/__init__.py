"""Files on a store: the first rows, a row by its id, and a scan, against Polars over Parquet.

A server on this machine has the objects, and each request waits as long as the network would. The
rows are compared before anything is measured, and requests are counted.
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
from .server import BUCKET, Server, server

SEED = 20171216
N_ROWS, N_DOUBLES = 600_000, 9
N_SCANNED, N_COLUMNS = 12_000_000, 10  # 1 GB
DELAY_S = 0.02
PARQUET = "parquet-zstd"


def run(context: Context) -> None:
    import polars as pl

    with server() as running:
        _make_bucket(running)
        frame = _frame(context.scaled(N_ROWS))
        url = _stored(context.work, running, frame, "first")
        row = len(frame) // 2
        first, one = frame[:3].select("id", "c8"), frame[row : row + 1].select("id", "c8")
        found: dict[str, list[Call]] = {}
        for title, kind, delay, works, expected in (
            ("3 rows of 2 columns", "first", 0.0, _first(url, running), first),
            ("3 rows, 20 ms a request", "first-20ms", DELAY_S, _first(url, running), first),
            ("a row by its id", "filter", 0.0, _filter(url, running, row), one),
            ("a row by its id, 20 ms", "filter-20ms", DELAY_S, _filter(url, running, row), one),
        ):
            running.delay(delay)
            found[title] = _measured(context, running, title, kind, works, expected)
        show(f"{len(frame):,} rows on a store", found, unit="ms")
        running.delay(0)
        long = _doubles(context.scaled(N_SCANNED))
        url = _stored(context.work, running, long, "scan")
        sums = long.select(pl.all().sum())
        works = _scan(url, running)
        show("a scan of 1 GB", {"scan": _measured(context, running, "scan", "scan", works, sums)})


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


def _stored(folder: Path, running: Server, frame: Any, name: str) -> str:
    """Store a frame in both formats. Returns the address without the suffix."""
    import entasis as en
    import obstore
    from obstore.store import S3Store

    url = f"s3://{BUCKET}/{name}"
    en.write(frame, f"{url}.entasis", storage_options=running.options)
    path = folder / f"{name}.parquet"
    frame.write_parquet(path, compression="zstd")
    options: Any = running.options
    store = S3Store(BUCKET, config=options, client_options={"allow_http": True})
    obstore.put(store, path.name, path)
    path.unlink()
    return url


def _parquet(url: str, running: Server) -> Any:
    import polars as pl

    return pl.scan_parquet(f"{url}.parquet", storage_options=running.options)


def _entasis(url: str, running: Server) -> Any:
    import entasis as en

    return en.open(f"{url}.entasis", storage_options=running.options)


def _first(url: str, running: Server) -> dict[str, Callable[[], Any]]:
    return {
        "entasis": lambda: _entasis(url, running)[:3][["id", "c8"]].to_polars(),
        PARQUET: lambda: _parquet(url, running).select("id", "c8").head(3).collect(),
    }


def _filter(url: str, running: Server, row: int) -> dict[str, Callable[[], Any]]:
    import entasis as en
    import polars as pl

    return {
        "entasis": lambda: _entasis(url, running).read(
            columns=["id", "c8"], filter=en.col("id") == row, to="polars"
        ),
        PARQUET: lambda: (
            _parquet(url, running).filter(pl.col("id") == row).select("id", "c8").collect()
        ),
    }


def _scan(url: str, running: Server) -> dict[str, Callable[[], Any]]:
    import polars as pl

    return {
        "entasis": lambda: _entasis(url, running).lazy().select(pl.all().sum()).collect(),
        PARQUET: lambda: _parquet(url, running).select(pl.all().sum()).collect(),
    }


def _measured(
    context: Context,
    running: Server,
    title: str,
    kind: str,
    works: dict[str, Callable[[], Any]],
    expected: Any,
) -> list[Call]:
    """Measure the works of both formats, and note their requests."""
    labels = {"entasis": "Entasis", PARQUET: "Parquet zstd, Polars"}
    calls = [Call(key, labels[key], work) for key, work in works.items()]
    for call in calls:
        call.checked(partial(_check, expected))
        running.n_requests()
        call.call()
        call.notes.append(f"{running.n_requests()} requests")
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
