"""Append rows to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.progress import Steady
from entasis._file.file import File, is_frame
from entasis._libraries import registry as _hosts
from entasis._open import open_value
from entasis._view.table import OpenTable
from entasis._view.view import View
from entasis._write import write_whole
from entasis.errors import ArgumentError, UnsupportedTypeError

from . import hosts as _hosts_of
from .earlier import Earlier
from .fitting import Fitted, Options
from .growth import changed_labels, in_memory, of_file, put

if TYPE_CHECKING:
    from entasis._entasis import Destination
    from entasis.errors import EntasisError

    from .rules import Rules

# Entries of host maps that need not be equal: an append keeps those of the file, and extends the
# index.
_OF_FILE = ("index", "attrs", "allows_duplicate_labels", "class", "name")
# Other entries of host maps, in errors.
_MEANINGS = {
    "categories": "the kinds of categories",
    "columns": "the labels of the columns",
    "dtype_metadata": "the metadata of dtypes",
    "missing_kinds": "the columns with missing values of several kinds",
}


def append(value: Any, to: Destination, fill: bool, widen: bool) -> list[Any]:
    """Append rows to the file at a path. Returns the labels of columns that were stored anew."""
    path = to["path"]
    assert path is not None, "rows are appended to a path"
    change = _entasis.Change(path, to["wait"], to["secret"])
    try:
        file = open_value(path, to["secret"])
        rules = _hosts_of.rules(_hosts_of.host_of(file))
        new = rules.collect(rules.loaded(value))
        if is_frame(file) and not rules.IS_WHOLE and rules.is_direct(file, new):
            # The core compares the types, faster than the library.
            if append_in_place(file, new, rules, {**to, "change": change}, change) is None:
                return []
            # Another attempt needs another change.
            change.end()
            change = _entasis.Change(path, to["wait"], to["secret"])
            file = open_value(path, to["secret"])
        if is_frame(file) and not rules.IS_WHOLE:
            head = file[:0].read()
            fitted = rules.fit(head, new, Options(fill, widen, Earlier(rules, lambda: file, [], file.n_rows)))
            if not fitted.changes:
                if append_in_place(file, fitted.part, rules, {**to, "change": change}, change) is None:
                    return []
            elif _append_to_changed(file, fitted, rules, to, change):
                return changed_labels(rules, head, fitted)
            # Another attempt needs another change.
            change.end()
            change = _entasis.Change(path, to["wait"], to["secret"])
            file = open_value(path, to["secret"])
        old = file.read()
        n = rules.length(old)
        fitted = rules.fit(rules.head(old), new, Options(fill, widen, Earlier(rules, lambda: old, [], n)))
        whole = rules.concat(in_memory(old, fitted, rules) if fitted.changes else old, fitted.part)
        # The earlier generation has the narrower types, so it stays.
        change.will_replace("replace columns" if fitted.changes else "append")
        write_whole(whole, {**to, "change": change}, file.metadata, "error")
        return list(rules.labels(whole))
    finally:
        change.end()


def _append_to_changed(file: File, fitted: Fitted, rules: Rules, to: Destination, change: _entasis.Change) -> bool:
    """Change columns and append rows, as one generation. False if the file has to be written anew."""
    replaced = of_file(file, fitted, rules)
    stream = _entasis.Stream.extend(change, to["durable"], to["edition"])
    to = {**to, "stream": stream}
    progress = to["progress"]
    if isinstance(progress, Steady):
        # The values that are stored anew come first.
        anew = file.n_rows * (len(fitted.grown) + fitted.n_added)
        rest = rules.length(fitted.part) * file.n_columns
        to["progress"] = progress.share(0, anew, anew + rest)
    try:
        if not put(stream, file, replaced, fitted, rules, to):
            return False
        if isinstance(progress, Steady):
            to["progress"] = progress.share(anew, rest, anew + rest)
        handle = stream.view()
        assert handle is not None, "the file has a table"
        file = File._of(View(OpenTable(handle, str(to["path"]))))
        if append_in_place(file, fitted.part, rules, to, stream) is not None:
            return False
        # Windows replaces no open file.
        del handle, file
        stream.finish()
        return True
    finally:
        stream.end()


def append_in_place(file: File, part: Any, rules: Rules, to: Destination, change: Any) -> EntasisError | None:
    """Append rows of the file's types. Returns the reason if the file has to be written anew.

    `change` is the change or the stream that receives the rows.
    """
    builder, new = _hosts.build(part)
    if builder.has_trees:
        return ArgumentError("objects and labels of any kind are stored with all rows at once")
    try:
        map_ = _joined(file._view.handle.host(), new, file, part, rules)
        change.will_append(_columns_of_rows(new))
        builder.write(map_, to)
    except (ArgumentError, UnsupportedTypeError) as error:
        # The core compares columns and categories once more.
        return error
    return None


def _joined(old: Any, new: dict[str, Any], file: File, part: Any, rules: Rules) -> dict[str, Any]:
    """The host map after the append. Fails if columns would have to change.

    Entries refer to columns whose order may differ in the file, so the core matches the columns.
    """
    if not isinstance(old, dict):
        raise ArgumentError("the file was not written from Python")
    for key in sorted((old.keys() | new.keys()) - set(_OF_FILE)):
        # In a map to write, column numbers count only extra columns. In the map of a file they
        # count all columns.
        firsts = (0, file.n_columns) if key == "categories" else (None, None)
        if _plain(old.get(key), firsts[0]) != _plain(new.get(key), firsts[1]):
            what = _MEANINGS.get(key, f"the entry {key!r} of the host map")
            raise ArgumentError(f"{what} of the rows to append differ from those of the file")
    joined = {key: value for key, value in new.items() if key not in _OF_FILE}
    joined |= {key: old[key] for key in _OF_FILE if key in old and key != "index"}
    if "index" in old:
        index = rules.joined_index(_plain(old["index"]), _plain(new["index"]), file, part)
        if index is None:
            raise ArgumentError(
                "the labels of the rows cannot follow those of the file: they are not the rest of its range, or are "
                "stored as a whole, as those of several levels"
            )
        whole = {**new["index"], **index}
        joined["index"] = {key: value for key, value in whole.items() if key != "freq" or value is not None}
    return joined


def _columns_of_rows(host: dict[str, Any]) -> list[int]:
    """The extra columns with a value for each row: labels, and kinds of missing values."""
    found: list[int] = []

    def visit(value: Any) -> None:
        if type(value) is _entasis.ColumnRef:
            found.append(value.index)
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            visit(item)

    visit([host.get("index"), host.get("missing_kinds")])
    return found


def _plain(value: Any, first: int | None = None) -> Any:
    """A part of a host map in a form to compare. Cells equal nothing.

    With `first`, column numbers are compared too, after adding `first`.
    """
    if isinstance(value, dict):
        return {key: _plain(item, first) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, first) for item in value]
    if type(value) is _entasis.ColumnRef:
        return ("column", None if first is None else first + value.index)
    if type(value) is _entasis.CellRef:
        return object()
    return value
