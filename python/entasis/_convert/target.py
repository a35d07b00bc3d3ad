"""Files that replace their targets when they are complete."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from entasis import _entasis
from entasis.errors import (
    DirectoryError,
    ExistingFileError,
    FileError,
    FilePermissionError,
    MissingFileError,
    NotADirectoryFileError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = {
    FileExistsError: ExistingFileError,
    FileNotFoundError: MissingFileError,
    IsADirectoryError: DirectoryError,
    NotADirectoryError: NotADirectoryFileError,
    PermissionError: FilePermissionError,
}


class New(NamedTuple):
    """A file that is not complete, and the path that leads to it."""

    path: str
    fd: int
    # Whether only bytes in order can be written, by the number alone.
    is_pipe: bool = False


@contextmanager
def replacing(path: str, durable: bool | None, *, overwrite: bool = True) -> Iterator[New]:
    """A new file that takes the place of the one at `path` at the end of the block.

    With `overwrite=False`, one that exists is an error, at the beginning and at the end.

    On Linux it has no name before, so that nothing is left when the process is killed. Elsewhere it
    has a name next to the target, which is removed after an error.
    """
    if not overwrite:
        _entasis.check_new(path)
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise DirectoryError(f"{path} is a folder: name a file")
    old = os.stat(target) if os.path.exists(target) else None
    temporary = f"{target}.{os.getpid()}.tmp"
    named = False
    try:
        fd = _unnamed(os.path.dirname(target))
        if fd is None:
            fd, named = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), True
    except OSError as error:
        raise _KINDS.get(type(error), FileError)(f"{path} can't be written: {error.strerror}") from error
    try:
        yield New(temporary if named else f"/proc/self/fd/{fd}", fd)
        if old is not None:
            with suppress(OSError):
                os.fchmod(fd, old.st_mode & 0o7777)
        if durable or (durable is None and old is not None):
            os.fsync(fd)
        if not named and not overwrite:
            _name(fd, target)
        else:
            if not named:
                named = True
                _name(fd, temporary)
            _move(temporary, target, overwrite)
            named = False
    except OSError as error:
        if type(error) in _KINDS or error.errno is not None:
            raise _KINDS.get(type(error), FileError)(f"{path} can't be written: {error}") from error
        raise
    finally:
        os.close(fd)
        if named:
            with suppress(OSError):
                os.remove(temporary)


@contextmanager
def beside(path: str, *, is_kept: bool = True, overwrite: bool = True) -> Iterator[str]:
    """The path of another file in the same folder, which replaces the target at the end.

    With `is_kept=False` it is removed instead. With `overwrite=False` the target must be new.
    """
    if not overwrite:
        _entasis.check_new(path)
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        yield temporary
        if is_kept:
            try:
                _move(temporary, target, overwrite)
            except FileExistsError as error:
                raise ExistingFileError(f"{path} can't be written: {error}") from error
    finally:
        with suppress(OSError):
            os.remove(temporary)


def _move(temporary: str, target: str, overwrite: bool) -> None:
    """Give a file the name of the target. With `overwrite=False` no file has this name before."""
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # The file system has no hard links: an empty file claims the name first.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        try:
            os.replace(temporary, target)
        except OSError:
            with suppress(OSError):
                os.remove(target)
            raise
    else:
        os.remove(temporary)


def _unnamed(folder: str) -> int | None:
    """A new file without a name; None where the system has no such files."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, flag | os.O_RDWR, 0o666)
    except FileNotFoundError:
        raise
    except OSError:
        return None


def _name(fd: int, path: str) -> None:
    """Give a file without a name its name."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        # With a folder Python calls `linkat`, which follows the link to the file.
        os.link(f"/proc/self/fd/{fd}", os.path.basename(path), src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
