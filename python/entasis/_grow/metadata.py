"""Change the metadata of a file, and the keys of a dict in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._file.file import is_frame
from entasis._open import open_value
from entasis._write import write_whole
from entasis.errors import ArgumentError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from entasis._entasis import Destination


def set_metadata(metadata: Any, to: Destination) -> None:
    """Give the file at a path other metadata; None removes them."""
    path = to["path"]
    assert path is not None, "metadata of a file at a path change"
    change = _entasis.Change(path, to["wait"], to["secret"])
    try:
        file = open_value(path, to["secret"])
        if is_frame(file) and _set_in_place(metadata, change, to):
            return
        # Another attempt needs another change.
        change.end()
        change = _entasis.Change(path, to["wait"], to["secret"])
        change.will_replace("metadata")
        write_whole(_whole(open_value(path, to["secret"])), {**to, "change": change}, metadata, "error")
    finally:
        change.end()


def _whole(file: Any) -> Any:
    """Read a value that is stored again. Values of R would lose what is R's."""
    if is_frame(file):
        return file.read()
    value, has_foreign = file._stored()
    if has_foreign:
        raise UnsupportedTypeError("the file holds values of R: change it from there, or write it again")
    return value


def _set_in_place(metadata: Any, change: Any, to: Destination) -> bool:
    """Change the metadata without reading the values. False if the file must be written anew."""
    from entasis._tree.document import Document

    to = {**to, "change": change}
    if metadata is not None:
        document = Document("error", to)
        cell = document.add(metadata, "metadata")
    try:
        if metadata is None:
            change.remove_metadata(to["durable"])
        else:
            change.will_set_metadata()
            document.write(to, None, None, cell)
    except UnsupportedTypeError:
        return False
    return True


def update(values: Mapping[Any, Any], remove: Iterable[Any], to: Destination) -> None:
    """Set and remove keys of the dict in the file at a path."""
    path = to["path"]
    assert path is not None, "a file at a path is updated"
    change = _entasis.Change(path, to["wait"], to["secret"])
    try:
        file = open_value(path, to["secret"])
        whole = _whole(file)
        if type(whole) is not dict:
            raise ArgumentError(f"the file holds {shown(whole)}, not a dict: write it again")
        for key in remove:
            if key not in whole:
                raise ArgumentError(f"the file has no key {shown(key)}")
            del whole[key]
        whole.update(values)
        change.will_replace("update")
        write_whole(whole, {**to, "change": change}, file.metadata, "error")
    finally:
        change.end()
