"""Tables of TPC-H, made by tpchgen-cli once per scale factor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def table(folder: Path, name: str, scale: float) -> Path:
    """The path of a table as Parquet."""
    target = folder / f"tpch-sf{scale:g}"
    path = target / f"{name}.parquet"
    if path.exists():
        return path
    target.mkdir(parents=True, exist_ok=True)
    program = Path(sys.executable).with_name("tpchgen-cli")
    if not program.exists():
        raise FileNotFoundError(
            "tpchgen-cli is not installed; name a file of your own: make demo FILE=..."
        )
    unfinished = target / "unfinished"
    arguments = ["parquet", "-s", f"{scale:g}", "-T", name, "-o", str(unfinished)]
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)
    (unfinished / f"{name}.parquet").replace(path)
    unfinished.rmdir()
    return path


def plain_strings(table: pa.Table) -> pa.Table:
    """The table with `string` instead of `string_view`, and without Parquet's metadata.

    tpchgen-cli writes both, but few Arrow tables have them.
    """
    import pyarrow as pa

    fields = [
        pa.field(
            field.name,
            pa.string() if field.type == pa.string_view() else field.type,
            field.nullable,
        )
        for field in table.schema
    ]
    columns = [column.cast(field.type) for column, field in zip(table.columns, fields, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))
