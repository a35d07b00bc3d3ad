"""Recognises formats of files by their first bytes, then by the ends of their names."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from entasis._arguments import sources as _sources
from entasis._arguments.options import shown
from entasis._dataset.scan import FolderScan
from entasis.errors import ArgumentError, CorruptFileError, DirectoryError, MissingFileError, UnsupportedTypeError

from . import libraries as _libraries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Format: TypeAlias = Literal[
        "entasis",
        "csv",
        "parquet",
        "arrow",
        "arrow_stream",
        "feather",
        "npy",
        "npz",
        "jsonl",
        "rds",
        "rdata",
        "qs2",
        "qdata",
        "fst",
    ]

# The formats, and the ends of names of their files.
SUFFIXES: dict[str, tuple[str, ...]] = {
    "entasis": (".entasis",),
    "csv": (".csv", ".tsv", ".tab", ".psv", ".txt"),
    "parquet": (".parquet", ".pq", ".parq"),
    "arrow": (".arrow", ".ipc"),
    "arrow_stream": (".arrows",),
    "feather": (".feather",),
    "npy": (".npy",),
    "npz": (".npz",),
    "jsonl": (".jsonl", ".ndjson"),
    "rds": (".rds",),
    "rdata": (".rdata", ".rda"),
    "qs2": (".qs2",),
    "qdata": (".qdata",),
    "fst": (".fst",),
}
FORMATS = tuple(SUFFIXES)
# Formats that `entasis.open` opens. Values of R are not only tables.
OPENED = ("entasis", "rds", "rdata", "qs2", "qdata", "fst")
OF_R = OPENED[1:]
_COMPRESSED = (".gz", ".bgz", ".bz2", ".xz", ".zst")
_HEAD = 256

_MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"\x89ENT\r\n\x1a\n", "entasis"),
    (b"PAR1", "parquet"),
    (b"ARROW1\0\0", "arrow"),
    (b"\xff\xff\xff\xff", "arrow_stream"),
    (b"\x93NUMPY", "npy"),
    (b"RDX2\n", "rdata"),
    (b"RDX3\n", "rdata"),
    (b"RDA2\n", "rdata"),
    (b"RDA3\n", "rdata"),
    (b"RDB3\n", "rdata"),
    (b"\x0b\x0e\x0a\xc1", "qs2"),
    (b"\x0b\x0e\x0a\xcd", "qdata"),
)


class _Refused(NamedTuple):
    """A format that is not read: its name with an article, and the call that reads it."""

    name: str
    advice: str


_PICKLE = _Refused(
    "a pickle of Python",
    "reading one runs the code in it, so it is never read here; if you trust it: en.write(pandas.read_pickle(path), "
    "'x.entasis')",
)
_EXCEL = _Refused("an Excel workbook", "read it with pandas.read_excel(path)")
_HDF5 = _Refused("an HDF5 file", "read it with pandas.read_hdf(path), or with h5py")
_SQLITE = _Refused("an SQLite database", "read it with pandas.read_sql('SELECT * FROM name', sqlite3.connect(path))")
_SAS = _Refused("a SAS file", "read it with pandas.read_sas(path), or with pyreadstat.read_sas7bdat(path)")
_STATA = _Refused("a Stata file", "read it with pandas.read_stata(path), or with pyreadstat.read_dta(path)")
_SPSS = _Refused("an SPSS file", "read it with pandas.read_spss(path), or with pyreadstat.read_sav(path)")
_ORC = _Refused("an ORC file", "read it with pandas.read_orc(path)")
_AVRO = _Refused("an Avro file", "read it with polars.read_avro(path)")
_JSON = _Refused("a JSON document", "read it with pandas.read_json(path); files with a JSON object per line are read")

_REFUSED: tuple[tuple[bytes, _Refused], ...] = (
    (b"PARE", _Refused("an encrypted Parquet file", _libraries.DECRYPTING)),
    (
        b"FEA1",
        _Refused(
            "a Feather file of version 1",
            "pyarrow.feather.read_table(path) reads it, and pyarrow.feather.write_feather(table, path) makes it "
            "version 2",
        ),
    ),
    (b"\x89HDF\r\n\x1a\n", _HDF5),
    (b"SQLite format 3\0", _SQLITE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _Refused("an old Excel workbook", "read it with pandas.read_excel(path)")),
    (b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11", _SAS),
    (b"HEADER RECORD*******LIBRARY HEADER", _SAS),
    (b"<stata_dta>", _STATA),
    (b"$FL2", _SPSS),
    (b"$FL3", _SPSS),
    (b"ORC", _ORC),
    (b"Obj\x01", _AVRO),
    (b"VTXF", _Refused("a Vortex file", "read it with vortex.open(path)")),
    (b"\x0b\x0e\x0a\x0c", _Refused("a file of the package qs", "in R, qs::qread(path) reads it")),
    (b"%PDF-", _Refused("a PDF file", "it has no table that could be read")),
    (b"\x89ENB\r\n\x1a\n", _Refused("a buffer of entasis.compress", "read it with entasis.decompress")),
)

# Formats that are not written either, by the ends of names.
_REFUSED_NAMES: dict[str, _Refused] = {
    ".pkl": _PICKLE,
    ".pickle": _PICKLE,
    ".h5": _HDF5,
    ".hdf5": _HDF5,
    ".hdf": _HDF5,
    ".db": _SQLITE,
    ".sqlite": _SQLITE,
    ".sqlite3": _SQLITE,
    ".xlsx": _EXCEL,
    ".xlsm": _EXCEL,
    ".xls": _EXCEL,
    ".ods": _EXCEL,
    ".sas7bdat": _SAS,
    ".xpt": _SAS,
    ".dta": _STATA,
    ".sav": _SPSS,
    ".zsav": _SPSS,
    ".orc": _ORC,
    ".avro": _AVRO,
    ".json": _JSON,
}


def check(name: str, value: str | None) -> str | None:
    """Check the name of a format."""
    if value is None or value in FORMATS:
        return value
    raise ArgumentError(f"{name}={shown(value)}: one of {', '.join(map(repr, FORMATS))}")


def of_target(path: str, given: str | None) -> str:
    """The format of a file to write: the given one, or that of its name.

    A name without a known end gets an Entasis file only if it has no end at all.
    """
    found = check("target_format", given) or by_name(path)
    if found is None:
        end = os.path.splitext(path)[1].lower()
        if end in _REFUSED_NAMES:
            raise UnsupportedTypeError(f"{path}: {_REFUSED_NAMES[end].name} is not written here")
        if end:
            raise ArgumentError(f"{path}: no format has the end {end!r}: pass target_format=")
        return "entasis"
    return found


def by_name(path: str) -> str | None:
    """The format of a name, which may have the end of a compressed text."""
    end = _end(path)
    for found, ends in SUFFIXES.items():
        if end in ends:
            return found
    return None


def of_source(source: Any, given: str | None) -> str:
    """The format of a source: a path, a pattern of paths, bytes, an open file, or a list of them.

    Raises
    ------
    UnsupportedTypeError
        The format is known, and not read. The message says what reads it.
    ArgumentError
        The format is not known, or sources have different ones.
    """
    check("source_format", given)
    if isinstance(source, (list, tuple)):
        found = {of_source(one, given) for one in source}
        if len(found) > 1:
            raise ArgumentError(f"the sources are of several formats: {', '.join(sorted(found))}")
        # An empty list is an error of the text reader.
        return found.pop() if found else "csv"
    if isinstance(source, FolderScan):
        return given or "entasis"
    if isinstance(source, (bytes, bytearray, memoryview)):
        return given or _of_content(bytes(source[:_HEAD]))
    if hasattr(source, "read") and not hasattr(type(source), "__fspath__"):
        return given or _of_content(_head(source))
    path = _sources.path(source)
    if not os.path.lexists(path) and any(mark in path for mark in "*?["):
        paths = expand(path)
        return of_source(paths, given)
    if os.path.isdir(path):
        return _of_folder(path, given)
    return of_file(path, given)


def _of_content(head: bytes) -> str:
    found = of_bytes(head)
    # The reader of texts reports all other bytes.
    return "jsonl" if found == "csv" and _starts_as_lines(head) else found or "csv"


def _head(file: Any) -> bytes:
    """The first bytes of an open file; none of one that cannot seek, or has text."""
    if not getattr(file, "seekable", lambda: False)():
        return b""
    at = file.tell()
    found = file.read(_HEAD)
    file.seek(at)
    return found if isinstance(found, bytes) else b""


def expand(pattern: str) -> list[str]:
    """The paths of a pattern."""
    paths = sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))
    if not paths:
        raise MissingFileError(f"no file matches the pattern {pattern[:200]!r}")
    return paths


def of_file(path: str, given: str | None = None) -> str:
    """The format of a file."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError:
        missing = MissingFileError(f"no file {path[:200]!r}")
        missing.file, missing.errno, missing.filename = path, 2, path
        raise missing from None
    except OSError:
        # The reader of the format reports it.
        return given or by_name(path) or "entasis"
    named = by_name(path)
    if not head:
        if given in (None, "csv") and named in (None, "csv"):
            return "csv"
        raise CorruptFileError(f"{path}: the file is empty")
    found = of_bytes(head, path)
    if given is not None:
        if found in (None, given) or {found, given} == {"arrow", "feather"} or given in ("csv", "jsonl"):
            return given
        raise ArgumentError(f"{path} starts as a file of {found}, not of {given}")
    if found == "arrow" and named == "feather":
        return "feather"
    if found == "csv":
        if named == "jsonl" or (named != "csv" and _starts_as_lines(head)):
            return "jsonl"
        if os.path.splitext(path)[1].lower() == ".json":
            raise _refused(path, _JSON)
        if named in (None, "csv"):
            return "csv"
    elif found is not None:
        return found
    elif named == "csv" or named in OPENED:
        # `entasis.open` has errors of its own about damage.
        return named
    start = " ".join(f"{byte:02x}" for byte in head[:8])
    if named is not None:
        raise CorruptFileError(f"{path} is not a file of {named}: it starts with the bytes {start}")
    raise ArgumentError(
        f"{path} starts with the bytes {start}, which no known format has: pass source_format= if it has one of "
        f"{', '.join(FORMATS)}"
    )


def of_bytes(head: bytes, path: str = _sources.IN_MEMORY) -> str | None:
    """The format of a file with these first bytes; "csv" for all texts, None for others."""
    for magic, refused in _REFUSED:
        if head.startswith(magic):
            raise _refused(path, refused)
    for magic, found in _MAGICS:
        if head.startswith(magic):
            return found
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _of_archive(path)
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and (head[1:2] < b"\x04" or head[2:3] == b"\x95"):
        raise _refused(path, _PICKLE)
    if head[:1] in (b"q", b"r", b"s") and head[1:2] in (b"\x01", b"\x02") and head[2:4] == b"\x01\0":
        raise _refused(path, _STATA)
    if head[8:24] == b"\x01\0\0\0\x01\0\0\0" + b"\0" * 8 and head[44:48] == b"PAAP":
        return "fst"
    if head[:2] in (b"X\n", b"B\n", b"A\n") and _is_of_r(head):
        return "rds"
    if _is_compressed(head):
        return _of_compressed(path, head)
    return "csv" if _is_text(head) else None


def _of_folder(path: str, given: str | None) -> str:
    if given not in (None, "entasis", "parquet", "npz"):
        raise DirectoryError(f"{path} is a folder: only Entasis, Parquet and StaticFrame have folders of files")
    if os.path.exists(os.path.join(path, "__meta__.json")):
        return "npz"
    for _, _, names in os.walk(path):
        for form in ("entasis", "parquet"):
            if given in (None, form) and any(by_name(name) == form for name in names):
                return form
    raise DirectoryError(f"{path} is a folder without files of Entasis or Parquet: name a file")


def _refused(path: str, refused: _Refused) -> UnsupportedTypeError:
    error = UnsupportedTypeError(f"{path} is {refused.name}: {refused.advice}")
    error.file = None if path == _sources.IN_MEMORY else path
    return error


def _end(path: str) -> str:
    name = os.path.basename(path).lower()
    for end in _COMPRESSED:
        if name.endswith(end):
            inner = os.path.splitext(name[: -len(end)])[1]
            return inner if inner in SUFFIXES["csv"] + SUFFIXES["jsonl"] else end
    return os.path.splitext(name)[1]


def _of_archive(path: str) -> str | None:
    from zipfile import BadZipFile, ZipFile

    if path == _sources.IN_MEMORY:
        return "npz"
    try:
        with ZipFile(path) as archive:
            names: Sequence[str] = archive.namelist()
    except (BadZipFile, OSError):
        # The reader of NPZ files reports the damage.
        return "npz" if by_name(path) == "npz" else None
    if any(name.startswith(("xl/", "[Content_Types].xml")) for name in names) or "content.xml" in names:
        raise _refused(path, _EXCEL)
    return "npz"


def _is_of_r(head: bytes) -> bool:
    return head[2:6] in (b"\0\0\0\2", b"\0\0\0\3", b"\2\0\0\0", b"\3\0\0\0") or head[2:4] in (b"2\n", b"3\n")


def _is_compressed(head: bytes) -> bool:
    return head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"))


def _of_compressed(path: str, head: bytes) -> str | None:
    """Files of R and texts may be compressed."""
    named = by_name(path)
    if named in ("rds", "rdata", "csv", "jsonl"):
        return named
    inner = b"" if path == _sources.IN_MEMORY else _inner_head(path, head)
    if inner.startswith((b"RDX", b"RDA")):
        return "rdata"
    if inner[:2] in (b"X\n", b"B\n", b"A\n") and _is_of_r(inner):
        return "rds"
    # The readers of texts and of lines decompress.
    return "jsonl" if _starts_as_lines(inner) else "csv"


def _inner_head(path: str, head: bytes) -> bytes:
    """The first bytes of a compressed file; none if they are damaged."""
    import bz2
    import gzip
    import lzma

    opener: Any = gzip.open if head[:2] == b"\x1f\x8b" else bz2.open if head[:3] == b"BZh" else lzma.open
    if head[:4] == b"\x28\xb5\x2f\xfd":
        if _libraries.load("pyarrow") is None:
            return b""
        opener = _zstandard
    try:
        with opener(path, "rb") as file:
            found: bytes = file.read(_HEAD)
            return found
    except (OSError, EOFError, lzma.LZMAError, ValueError):
        return b""


def _zstandard(path: str, _: str) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(path), "zstd")


def _is_text(head: bytes) -> bool:
    """Whether bytes may be text of any encoding: they have no control characters."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return all(byte >= 0x20 or byte in b"\t\n\r\f\x1a\x1b" for byte in head)


def _starts_as_lines(head: bytes) -> bool:
    """Whether text starts with a JSON object that ends with its line."""
    import json

    line, end, _ = head.lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    if not end and len(head) == _HEAD:
        # The line is longer than these bytes.
        return line.startswith(b'{"')
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
