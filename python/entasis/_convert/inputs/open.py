"""Chooses the input for a source."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._convert import formats as _formats
from entasis._convert import libraries as _libraries
from entasis._csv.scan import CsvScan
from entasis._dataset.scan import FolderScan, scan
from entasis._file.file import File, Scan
from entasis._libraries import registry as _hosts
from entasis._open import value_of
from entasis._tree.tree import Tree
from entasis.errors import ArgumentError, UnsupportedTypeError

from . import json_lines as _json_lines
from . import numpy as _numpy
from . import text as _text
from .arrow import TableInput
from .file import FileInput
from .folder import FolderInput
from .ipc import IpcInput, StreamInput
from .parquet import ParquetInput
from .polars import PolarsInput
from .scan import ScanInput
from .text import TextInput
from .value import ValueInput

if TYPE_CHECKING:
    from .base import Input


def opened(
    source: Any,
    form: str,
    threads: int | None = None,
    text: dict[str, Any] | None = None,
    secret: Any = None,
) -> Input:
    """Open a source of a format. `secret` opens encrypted files of Entasis."""
    if isinstance(source, FolderScan):
        return ScanInput(source)
    if form == "csv":
        return TextInput(_text.scan(source, threads, text or {}))
    if isinstance(source, (list, tuple)):
        if form == "entasis":
            return ScanInput(scan([_sources.path(one) for one in source], key=secret))
        if form == "jsonl":
            contents = [_sources.source(one) for one in source]
            return ValueInput(_json_lines.read(contents, "lines of several files"), "lines of several files")
        if form not in ("parquet", "arrow", "feather"):
            raise ArgumentError(
                "several files are one table for Entasis, texts, lines of JSON, Parquet, Arrow and Feather, "
                f"not for {form}: pass one"
            )
        _libraries.need(f"several files of {form}", "pyarrow.dataset")
        return FolderInput([_sources.path(one) for one in source], form, threads)
    found = _sources.source(source)
    name = found if isinstance(found, str) else _sources.IN_MEMORY
    if isinstance(found, str) and any(mark in found for mark in "*?[") and not os.path.lexists(found):
        return opened(_formats.expand(found), form, threads, text, secret)
    if form == "entasis" and isinstance(found, str) and os.path.isdir(found):
        return ScanInput(scan(found, key=secret))
    if form in _formats.OPENED:
        return FileInput(value_of(File(found, key=secret)))
    if form in ("npy", "npz"):
        return ValueInput(_numpy.read(found, form, name), name)
    if form == "jsonl":
        return ValueInput(_json_lines.read(found, name), name)
    if isinstance(found, str) and os.path.isdir(found):
        _libraries.need("a folder of Parquet files", "pyarrow.dataset")
        return FolderInput(found, form, threads)
    module = "pyarrow.parquet" if form == "parquet" else "pyarrow"
    if _libraries.load(module) is None and isinstance(found, str):
        polars = _libraries.need(f"a file of {form}", module, "polars")
        if form == "arrow_stream":
            return ValueInput(polars.read_ipc_stream(found), name)
        return PolarsInput(found, form, polars)
    _libraries.need(f"a file of {form}", module)
    if form == "parquet":
        return ParquetInput(found, name, threads)
    return StreamInput(found, name) if form == "arrow_stream" else IpcInput(found, name)


def of_value(value: Any) -> Input:
    """A frame, an open file, or a file of any format."""
    if isinstance(value, Scan):
        value = value.view()
    if isinstance(value, Tree):
        raise UnsupportedTypeError(f"{value.path} holds a tree of values, not a table: compare parts of it")
    if isinstance(value, File):
        return FileInput(value)
    if isinstance(value, CsvScan):
        return TextInput(value)
    if isinstance(value, FolderScan):
        return ScanInput(value)
    if type(value) is dict or _hosts.is_frame(value):
        found = ValueInput(value)
        if found.host == "tree":
            raise ArgumentError("a dict is a table if its values are NumPy arrays of equal length")
        return TableInput(value) if type(value).__name__ == "Table" and found.host == "pyarrow" else found
    return opened(value, _formats.of_source(value, None))
