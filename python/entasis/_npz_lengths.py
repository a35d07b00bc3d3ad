"""Checks the lengths that NPZ and NPY files declare, before arrays are allocated for them."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

from .errors import CorruptFileError, LimitError

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

# The default limit of an archive's decompressed length is the greater of a number of bytes and a
# multiple of its own length.
_LEAST, _EXPANSION = 4 << 30, 1_000


def check_archive(archive: ZipFile, path: str, max_len: int | None) -> None:
    """Check that members do not overlap, are not too long, and have the lengths of their arrays.

    Raises
    ------
    LimitError
        The members are longer than `max_len`, or than its default for the file's length.
    CorruptFileError
        Members overlap, or the header of an array does not fit its length.
    """
    length = os.path.getsize(path)
    allowed = max(_LEAST, _EXPANSION * length) if max_len is None else max_len
    _check_members(archive, path, length, allowed, 0)


def check_directory(path: str) -> None:
    """Check that the arrays in a directory have the lengths of their headers."""
    for entry in os.scandir(path):
        if entry.name.endswith(".npy"):
            with open(entry.path, "rb") as file:
                _check_array(file, entry.stat().st_size, f"{entry.name!r} of {path}")


def _check_members(archive: ZipFile, path: str, length: int, allowed: int, before: int) -> int:
    """Check the members of an archive of this length. Returns their length, added to `before`."""
    from zipfile import ZipFile

    members = archive.infolist()
    # Members that share bytes multiply a small file without end.
    if sum(member.compress_size for member in members) > length:
        raise CorruptFileError(f"{path} is not an NPZ file: its members overlap")
    total = before + sum(member.file_size for member in members)
    if total > allowed:
        raise LimitError(
            f"the arrays of {path} need {total:,} bytes, and max_len allows {allowed:,}; if you trust the file, "
            "pass a greater max_len"
        )
    for member in members:
        what = f"{member.filename[:100]!r} of {path}"
        if member.filename.endswith(".npy"):
            with _opened(archive, member, what) as file:
                _check_array(file, member.file_size, what)
        elif member.filename.endswith(".npz") and before == 0:
            # A Bus of StaticFrame is an archive of archives.
            with _opened(archive, member, what) as file, ZipFile(file) as inner:
                total = _check_members(inner, path, member.file_size, allowed, total)
    return total


def _opened(archive: ZipFile, member: ZipInfo, what: str) -> IO[bytes]:
    try:
        return archive.open(member)
    # The module knows neither the method, nor the password.
    except (NotImplementedError, RuntimeError) as error:
        raise CorruptFileError(f"array {what} can't be read: {error}") from error


def _check_array(file: Any, length: int, what: str) -> None:
    from zlib import error as zlib_error

    import numpy as np

    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            # Version 3 differs only in the encoding of field names.
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    except (ValueError, EOFError, zlib_error) as error:
        raise CorruptFileError(f"array {what} can't be read: {error}") from error
    values = dtype.itemsize
    for n in shape:
        values *= n
    # Arrays of objects are refused later.
    if not dtype.hasobject and length - file.tell() != values:
        raise CorruptFileError(f"array {what} has {length - file.tell():,} bytes of values, its header says {values:,}")
