"""Import and export of NPZ files of NumPy and StaticFrame."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ._arguments.options import integer_between as _integer
from ._arguments.sources import path as _path
from .errors import (
    ArgumentError,
    CorruptFileError,
    DirectoryError,
    EntasisError,
    FileError,
    FilePermissionError,
    MissingFileError,
    MissingLibraryError,
    NotADirectoryFileError,
    OutOfMemoryError,
    UnsupportedTypeError,
)

if TYPE_CHECKING:
    from ._arguments.sources import Path

# The member of an archive that only StaticFrame writes.
_META = "__meta__.json"
_NPY = b"\x93NUMPY"
_KINDS = {
    FileNotFoundError: MissingFileError,
    IsADirectoryError: DirectoryError,
    NotADirectoryError: NotADirectoryFileError,
    PermissionError: FilePermissionError,
}


def read_npz(path: Path, *, max_len: int | None = None) -> Any:
    """Read an NPZ file, or a directory of NPY files or a Bus of StaticFrame.

    Nothing in a file is executed. Damage is not detected, because these formats have few checksums.

    Parameters
    ----------
    path
        A path (`str` or `os.PathLike`, `~` is expanded).
    max_len
        The largest length of all members of an archive together, in bytes. It is checked before
        memory is allocated. None accepts 4 GiB, or 1,000 times the length of the file if that is
        more.

    Returns
    -------
    Any
        A StaticFrame Frame or Bus if StaticFrame wrote the file, else a dict of NumPy arrays. The
        file does not record the class of a frame. All frames of a Bus are read at once.

    Raises
    ------
    UnsupportedTypeError
        The file has an array of objects, or a member that is not an array.
    CorruptFileError
        The file is not an NPZ file, is damaged, or an array does not have the length that its
        header says.
    LimitError
        The members are longer than `max_len`.
    OutOfMemoryError
        The arrays need more memory than there is.
    MissingLibraryError
        The file needs StaticFrame, which is not installed.

    Examples
    --------
    >>> en.write_npz({"a": np.arange(3)}, "arrays.npz")
    >>> en.read_npz("arrays.npz")
    {'a': array([0, 1, 2])}
    """
    # Imported here because the import is slow, and only NPZ files need it.
    from zipfile import BadZipFile, ZipFile

    from . import _npz_lengths as _lengths

    path = _path(path)
    if max_len is not None:
        max_len = _integer("max_len", max_len, "0 or more", 0, None)
    try:
        if os.path.isdir(path):
            if not os.path.exists(os.path.join(path, _META)):
                raise DirectoryError(f"{path} is a directory without a frame of StaticFrame in it")
            _lengths.check_directory(path)
            return _static_frame().Frame.from_npy(path)
        with ZipFile(path) as archive:
            members = archive.namelist()
            _lengths.check_archive(archive, path, max_len)
        if _META in members:
            return _static_frame().Frame.from_npz(path)
        bus = _bus_format(members)
        if bus is not None:
            return _read_bus(path, bus)
        for member in members:
            if not member.endswith(".npy"):
                raise UnsupportedTypeError(f"{path} is an archive with {member[:100]!r} in it, which is not an array")
        return _read_arrays(path)
    except EntasisError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError(f"{path} needs more memory than there is: {error}") from error
    except OSError as error:
        raise _KINDS.get(type(error), FileError)(f"{path} can't be read: {error}") from error
    except BadZipFile as error:
        if _starts_as_npy(path):
            raise ArgumentError(f"{path} is an NPY file, of one array without a name: use numpy.load") from error
        raise CorruptFileError(f"{path} is not an NPZ file: {error}") from error
    except Exception as error:
        # Damage raises errors of zlib, struct, json, tokenize and other modules.
        raise CorruptFileError(f"{path} can't be read ({type(error).__name__}: {error})") from error


def _starts_as_npy(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_NPY)) == _NPY


def _bus_format(members: list[str]) -> str | None:
    """The format of a Bus, "npz" or "npy"; None unless all members of an archive belong to
    frames."""
    if members and all(member.endswith(".npz") for member in members):
        return "npz"
    folders = {member.rpartition("/")[0] for member in members}
    is_npy = bool(members) and all(f"{folder}/{_META}" in members for folder in folders)
    return "npy" if is_npy and "" not in folders else None


def _read_bus(path: str, form: str) -> Any:
    if not path.endswith(".zip"):
        raise ArgumentError(f"{path} holds a Bus: StaticFrame reads one from a file whose name ends with '.zip'")
    bus_type = _static_frame().Bus
    bus = bus_type.from_zip_npz(path) if form == "npz" else bus_type.from_zip_npy(path)
    # Read all frames now, because the file may be replaced later.
    for _ in bus.values:
        pass
    return bus


def _read_arrays(path: str) -> dict[str, Any]:
    import numpy as np

    with np.load(path, allow_pickle=False) as archive:
        arrays = {}
        for name in archive.files:
            try:
                array = archive[name]
            except ValueError as error:
                if "allow_pickle" in str(error):
                    message = f"array {name!r} of {path} holds objects, which would have to be executed"
                    raise UnsupportedTypeError(message) from error
                raise CorruptFileError(f"array {name!r} of {path} can't be read: {error}") from error
            # NumPy returns bytes for a member without the header of an array.
            if not isinstance(array, np.ndarray):
                raise CorruptFileError(f"array {name!r} of {path} is not in the form of NumPy")
            arrays[name] = array
        return arrays


def write_npz(value: Any, path: Path) -> None:
    """Write an NPZ file without compression.

    Parameters
    ----------
    value
        A StaticFrame Frame, written in the form of StaticFrame, or a dict of NumPy arrays.
    path
        A path (`str` or `os.PathLike`, `~` is expanded). The file is replaced whole or not at all.

    Raises
    ------
    UnsupportedTypeError
        The value is something else, or has an array of objects.
    FileError
        The operating system refused to write. The old file is unchanged.

    Examples
    --------
    >>> en.write_npz({"a": np.arange(3), "b": np.zeros(2)}, "arrays.npz")
    >>> sorted(en.read_npz("arrays.npz"))
    ['a', 'b']
    """
    path = _path(path)
    root = type(value).__module__.partition(".")[0]
    is_frame = root == "static_frame" and isinstance(value, _static_frame().Frame)
    if not is_frame and type(value) is not dict:
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise UnsupportedTypeError(
            f"a {kind} has no place in an NPZ file, only a StaticFrame Frame or a dict of arrays"
        )
    temporary = f"{path}.{os.getpid()}.tmp.npz"
    try:
        try:
            if is_frame:
                write_frame(value, temporary)
            else:
                write_arrays(value, temporary)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)
    except OSError as error:
        raise _KINDS.get(type(error), FileError)(f"{path} can't be written: {error}") from error


def write_frame(frame: Any, path: Any) -> None:
    """Write a frame of StaticFrame in its own form, at a path or into a binary file."""
    try:
        frame.to_npz(path)
    # StaticFrame refuses objects, and JSON refuses names of some types.
    except (TypeError, ValueError) as error:
        raise UnsupportedTypeError(f"StaticFrame can't write this frame as NPZ: {error}") from error


def write_arrays(arrays: dict[Any, Any], path: Any) -> None:
    """Write arrays as the members of an archive, at a path or into a binary file."""
    from zipfile import ZipFile

    import numpy as np

    for name, array in arrays.items():
        if type(name) is not str:
            raise UnsupportedTypeError(
                f"array {name!r}: a name of type {type(name).__name__} has no place in an NPZ file"
            )
        if np.asarray(array).dtype.hasobject:
            raise UnsupportedTypeError(f"array {name!r}: objects have no place in an NPZ file")
    # `numpy.savez` takes names as keyword arguments, and reserves some of them.
    with ZipFile(path, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def _static_frame() -> Any:
    try:
        import static_frame
    except ImportError as error:
        message = f"static_frame is needed and can't be imported ({error}): pip install static-frame"
        raise MissingLibraryError(message) from error
    return static_frame
