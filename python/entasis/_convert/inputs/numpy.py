"""The values of NPY and NPZ files."""

from __future__ import annotations

import io
import os
from typing import Any

from entasis import _npz
from entasis._convert import libraries as _libraries
from entasis.errors import ArgumentError, CorruptFileError, UnsupportedTypeError


def read(source: str | bytes, form: str, name: str) -> Any:
    """The arrays of NumPy, or the frame of StaticFrame, in a file."""
    if form == "npz":
        if not isinstance(source, str):
            raise ArgumentError("an NPZ file is read from its path, not from bytes")
        return _npz.read_npz(source)
    import numpy as np

    try:
        with _libraries.reading(name):
            if isinstance(source, str):
                _check_length(source)
                return np.load(source, allow_pickle=False)
            return np.load(io.BytesIO(source), allow_pickle=False)
    except CorruptFileError as error:
        if "allow_pickle" in str(error):
            raise UnsupportedTypeError(f"{name} has an array of objects, which would have to be executed") from error
        raise


def _check_length(path: str) -> None:
    """Check that an NPY file is as long as its header says, before memory is allocated."""
    import numpy as np

    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        n = 1
        for length in shape:
            n *= length
        there = os.path.getsize(path) - file.tell()
        if not dtype.hasobject and n * dtype.itemsize > there:
            raise CorruptFileError(f"{path}: the array needs {n * dtype.itemsize:,} bytes, and the file has {there:,}")
