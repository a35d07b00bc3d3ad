"""Writes of whole objects."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from entasis.errors import ArgumentError, EntasisError, ExistingFileError

from . import failures, retry
from .content import body, in_memory
from .library import store_of
from .store import INSTALL, LARGEST_PUT, check_writable

if TYPE_CHECKING:
    from .address import Address
    from .content import Content
    from .options import Options
    from .store import Store


def put(address: Address, options: Options, content: Content, overwrite: bool = True) -> None:
    """Write an object, which is visible as a whole when all of it is there.

    Parameters
    ----------
    address
        The address of the object.
    options
        Options of the store.
    content
        Bytes, or the path of a local file as `os.PathLike`. Large content is sent in parts, several
        at the same time.
    overwrite
        Whether another object at this address is replaced. Without it the content is sent in one
        request from memory.

    Raises
    ------
    ArgumentError
        The store is only read, or content of more than 5 GiB must not replace an object.
    ExistingFileError
        The object exists, and `overwrite` is False.
    FileError
        The write failed, and nothing is visible.
    """
    check_writable(address)
    store = failures.guarded(address, "write", store_of, address, options)
    if overwrite:
        put_to(store, address, content)
    else:
        create(store, address, content)


def put_to(store: Store, address: Address, content: Content) -> None:
    """Write an object, and replace one of this address."""
    view, size = body(content)
    failures.guarded(address, "write", store.put, address, view, size)


def create(store: Store, address: Address, content: Content) -> None:
    """Write an object unless one exists.

    An answer can be lost after the store has the object. If one exists when the request is sent
    again, its content decides whether the first request wrote it.
    """
    if not store.can_create:
        raise ArgumentError(f"{address}: only obstore writes without ever replacing an object: {INSTALL}")
    view, size = body(content)
    if size > LARGEST_PUT:
        raise ArgumentError(
            f"{address}: overwrite=False sends the file in one request of 5 GiB at most, and it has {size:,} bytes; "
            "pass overwrite=True, or write a data set"
        )
    data = in_memory(view)
    for attempt in range(retry.MOST):
        try:
            store.create(address, data)
            return
        except (EntasisError, MemoryError):
            raise
        except Exception as error:
            found = failures.failure(error, address, "write")
            is_last = attempt + 1 == retry.MOST or not _can_be_sent_again(error)
        if isinstance(found, ExistingFileError) and attempt and _is_there(store, address, data):
            return
        if isinstance(found, ExistingFileError) or is_last:
            raise found
        time.sleep(random.uniform(0, min(2.0, 0.1 * 2**attempt)))


def _can_be_sent_again(error: Exception) -> bool:
    # 409 is the answer when two requests create one object at the same time.
    return failures.is_transient(error) or failures.reply(error).status == 409


def _is_there(store: Store, address: Address, content: bytes) -> bool:
    """Whether an object has this content."""

    def compare() -> bool:
        reader = store.reader(address)
        stat = reader.stat()
        if stat.size != len(content):
            return False
        return not content or memoryview(reader.read(0, stat.size, stat)) == memoryview(content)

    return failures.guarded(address, "read", compare)
