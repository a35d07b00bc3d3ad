"""Frames in files of R: R gets the bytes of the columns, and saves them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from . import qs2
from .r_process import run_script

SEED = 20171216
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
WIDTH = 12  # bytes of each text
MISSING = -(2**31)  # of integers and logical values

# The bytes of the columns become a frame, which is saved plain, in gzip, or as a stream of bytes.
SCRIPT = f"""
given <- commandArgs(TRUE)
column <- function(name, what, n) readBin(file.path(given[1], name), what, n)
n <- as.numeric(given[3])
frame <- if (given[2] == "texts") {{
  text <- readChar(file.path(given[1], "texts"), rep({WIDTH}, n), useBytes = TRUE)
  data.frame(text = text)
}} else {{
  data.frame(count = column("count", "integer", n), price = column("price", "double", n),
             x = column("x", "double", n), is_new = as.logical(column("is_new", "integer", n)))
}}
if (given[5] == "stream") {{
  to <- file(given[4], "wb")
  serialize(frame, to, xdr = FALSE)
  close(to)
}} else saveRDS(frame, given[4], compress = given[5] == "gzip")
"""


def numbers(n_rows: int) -> pa.Table:
    """24 bytes a row: a count, two doubles, and a logical value that may be missing."""
    rng = np.random.default_rng(SEED)
    is_new = rng.integers(0, 3, n_rows, dtype=np.int8)
    return pa.table(
        {
            "count": rng.integers(0, 1000, n_rows, dtype=np.int32),
            "price": np.round(rng.random(n_rows) * 1000, 2),
            "x": rng.standard_normal(n_rows),
            "is_new": pa.array(is_new == 1, mask=is_new == 2),
        }
    )


def texts(n_rows: int) -> pa.Table:
    """Different texts of the same length."""
    letters = np.random.default_rng(SEED).integers(0, 26, n_rows * WIDTH, dtype=np.uint8)
    offsets = np.arange(0, (n_rows + 1) * WIDTH, WIDTH, dtype=np.int32)
    buffers = [pa.py_buffer(offsets), pa.py_buffer(LETTERS[letters])]
    return pa.table({"text": pa.StringArray.from_buffers(n_rows, *buffers)})


FRAMES = {"numbers": numbers, "texts": texts}


def saved(folder: Path, frame: str, form: str, n_rows: int) -> tuple[Path, pa.Table]:
    """The path of a file, made once, and its values. The form is `rds`, `gzip` or `qs2`."""
    table = FRAMES[frame](n_rows)
    path = folder / f"{frame}-{n_rows}.{form}{'' if form == 'qs2' else '.rds'}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        _save(folder, frame, table, new, "stream" if form == "qs2" else form)
        if form == "qs2":
            stream = new.rename(path.with_suffix(".stream"))
            qs2.pack(stream, new)
            stream.unlink()
        new.rename(path)
    return path.resolve(), table


def _save(folder: Path, frame: str, table: pa.Table, path: Path, form: str) -> None:
    parts = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        array = column.combine_chunks()
        part = folder / ("texts" if frame == "texts" else name)
        if frame == "texts":
            part.write_bytes(array.buffers()[2])
        elif pa.types.is_boolean(array.type):
            array.cast(pa.int32()).fill_null(MISSING).to_numpy().tofile(part)
        else:
            array.to_numpy().tofile(part)
        parts.append(part)
    run_script(SCRIPT, str(folder), frame, str(len(table)), str(path), form)
    for part in parts:
        part.unlink()
