"""The frame in a file of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def pandas_frame(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The frame in a file, by its extension, and notes on what was converted.

    pandas holds decimals as one Python object per cell; they become float64 here, and
    dates become datetime64[ms], so that formats are compared, not Python objects.
    """
    table = arrow_table(path)
    notes = []
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            notes.append(f"{field.name}: {field.type} as float64")
            table = table.set_column(i, field.name, table[field.name].cast(pa.float64()))
        elif pa.types.is_date(field.type):
            notes.append(f"{field.name}: date as datetime64[ms]")
    return table.to_pandas(date_as_object=False), notes


def arrow_table(path: Path) -> pa.Table:
    """The Arrow table in a file, by the file's extension, without conversion."""
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        return pq.read_table(path)
    if name.endswith((".feather", ".arrow", ".ipc")):
        import pyarrow.feather as feather

        return feather.read_table(path)
    if name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        from pyarrow import csv

        delimiter = "\t" if ".tsv" in name else ","
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
    raise ValueError(f"{path}: expected .parquet, .feather, .arrow, .csv or .tsv")
