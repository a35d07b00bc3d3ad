"""Types of a column of one library in another: tables of `docs/fidelity.md`."""

from __future__ import annotations

import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa

from .cases.across import sources
from .plain import plain_values

# Importing this registers periods with Arrow. Import it now, because other code may do so at any
# time.
import_module("pandas.core.arrays.arrow.extension_types")

TARGETS: tuple[Literal["pandas", "polars", "pyarrow", "numpy", "static_frame"], ...] = (
    "pandas",
    "polars",
    "pyarrow",
    "numpy",
    "static_frame",
)
LABELS = {
    "pandas": "pandas",
    "polars": "Polars",
    "pyarrow": "pyarrow",
    "numpy": "NumPy",
    "static_frame": "StaticFrame",
}
ERROR = "error"


def column(value: Any) -> Any:
    """The column "x"."""
    return value["x"]


def type_of(found: Any) -> str:
    """A column's type in its library's notation."""
    values = found.values if type(found).__module__.startswith("static_frame") else found
    if isinstance(found, pa.ChunkedArray):
        return str(found.type)
    if isinstance(found, pl.Series):
        return repr(found.dtype).replace("time_unit=", "").replace("time_zone=", "")
    axes = getattr(values, "ndim", 1)
    return str(values.dtype) + (f", {axes} axes" if axes > 1 else "")


def row(host: str, name: str) -> list[str]:
    """A row of a table: the source type, and its counterpart in the other libraries.

    Raises `AssertionError` when a value differs. A type that the other library lacks becomes bytes.
    """
    import entasis as en

    value = sources()[host][name]()
    cells = [name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "file"
        en.write(value, path)
        for to in TARGETS:
            if to == host:
                continue
            try:
                found = column(en.read(path, to=to))
            except en.errors.UnsupportedTypeError:
                cells.append(ERROR)
                continue
            told = type_of(found)
            was, is_ = plain_values(column(value)), plain_values(found)
            of = type_of(column(value))
            is_bytes = _is_bytes(told) and not _is_bytes(of) and (of != "object" or was != is_)
            if not is_bytes and was != is_:
                raise AssertionError(f"{host}, {name}, to {to}: {is_} instead of {was}")
            cells.append(f"{told}, its memory" if is_bytes else told)
    return cells


def _is_bytes(told: str) -> bool:
    """Whether another library has the column as bytes of its memory."""
    return "inary" in told or told.startswith(("|V", "|S")) or "bounds" in told


def table(host: str) -> str:
    """The table of a library."""
    names = [LABELS[host], *(LABELS[to] for to in TARGETS if to != host)]
    rows = [line(row(host, name)) for name in sources()[host]]
    return "\n".join([f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *rows])


def line(cells: list[str]) -> str:
    """A row as it is written."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def tables() -> str:
    """All tables."""
    parts = []
    for host in sources():
        more = " and StaticFrame" if host == "numpy" else ""
        parts += [f"### From {LABELS[host]}{more}", "", table(host), ""]
    return "\n".join(parts).rstrip()
