"""pyarrow: `write_table` of Parquet and of Feather, Vortex."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from . import RoundTrip, feather_table, parquet_table, vortex_table


def _wrapped(tables: RoundTrip) -> RoundTrip:
    """Wrap other values in a table."""

    def run(value: Any, path: Path) -> Any:
        if isinstance(value, pa.Table):
            return tables(value, path)
        if isinstance(value, pa.RecordBatch):
            back = tables(pa.Table.from_batches([value]), path).combine_chunks().to_batches()
            return back[0] if back else pa.RecordBatch.from_pylist([], value.schema)
        if isinstance(value, pa.ChunkedArray):
            return tables(pa.table({"x": value}), path).column(0)
        if isinstance(value, pa.Scalar):
            array = pa.repeat(value, 1) if value.is_valid else pa.nulls(1, value.type)
            return tables(pa.table({"x": array}), path).column(0)[0]
        return tables(pa.table({"x": value}), path).column(0).combine_chunks()

    return run


FORMATS = {
    "parquet": _wrapped(parquet_table),
    "feather": _wrapped(feather_table),
    "vortex": _wrapped(vortex_table),
}
