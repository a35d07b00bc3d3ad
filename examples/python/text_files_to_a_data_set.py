"""Read a folder of text files on Dask, write a data set, and ask it from Polars and DuckDB.

The same program runs on a cluster after `distributed.Client(address)`, if all workers reach the
folders by the same paths.
"""

import tempfile
from pathlib import Path

import dask.dataframe as dd
import duckdb
import entasis as en
import entasis.dask
import numpy as np
import pandas as pd
import polars as pl

with tempfile.TemporaryDirectory() as folder:
    texts, sales = Path(folder, "texts"), Path(folder, "sales")
    texts.mkdir()
    random = np.random.default_rng(0)
    for month in range(1, 4):
        n = 10_000
        pd.DataFrame(
            {
                "time": pd.date_range(f"2024-{month:02}-01", periods=n, freq="min"),
                "city": random.choice(["Bern", "Oslo", "Rome"], n),
                "price": np.round(random.gamma(2, 50, n), 2),
                "quantity": random.integers(1, 10, n),
            }
        ).to_csv(texts / f"2024-{month:02}.csv", index=False)

    # Each task reads a text file, and writes the files of its rows: one for each city.
    rows = dd.read_csv(texts / "*.csv", parse_dates=["time"])
    rows = rows[rows["price"] >= 1]
    rows = rows.assign(total=rows["price"] * rows["quantity"])
    entasis.dask.write(rows, sales, partition_by="city")

    # A later month follows, by another commit.
    later = rows.assign(time=rows["time"] + pd.Timedelta(days=366))
    entasis.dask.write(later, sales, mode="append")
    en.verify(sales)

    # Dask again: a filter on the key opens the files of one city.
    rome = entasis.dask.read(sales, filter=en.col("city") == "Rome")
    total = float(rome["total"].sum().compute())

    # Polars and DuckDB ask the same folder, on one machine and without Dask.
    scan = en.scan(sales)
    by_city = scan.lazy().group_by("city").agg(pl.sum("total")).sort("city").collect()
    assert by_city["city"].to_list() == ["Bern", "Oslo", "Rome"]
    assert abs(by_city["total"][2] - total) < 0.01
    connection = duckdb.connect()
    scan.to_duckdb(connection, "sales")
    ((n, first, last),) = connection.sql(
        "select count(*), min(time), max(time) from sales where city = 'Rome'"
    ).fetchall()
    assert n == len(rome)
    assert (first.year, last.year) == (2024, 2025)
