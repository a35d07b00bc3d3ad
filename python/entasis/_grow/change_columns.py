"""Add, replace, drop and rename columns of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments.options import shown
from entasis._columns.fields import FieldColumn
from entasis._libraries import registry as _hosts
from entasis._open import open_value
from entasis._write import write_whole
from entasis.errors import ArgumentError, ColumnNotFoundError, UnsupportedTypeError

from . import hosts as _hosts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from entasis._entasis import Destination
    from entasis._file.file import File

    from .rules import Rules, Sources


class Arrangement:
    """The columns of a frame after a change: where they come from, and their labels.

    `levels` are the positions of the index levels to drop, and `names` the new names of other
    levels, by position.
    """

    __slots__ = ("labels", "levels", "names", "new", "sources")

    def __init__(
        self,
        new: Any,
        sources: Sources,
        labels: Any,
        levels: Sequence[int] = (),
        names: Mapping[int, Any] | None = None,
    ) -> None:
        # A frame with the new columns, or None.
        self.new, self.sources, self.labels = new, sources, labels
        self.levels, self.names = levels, names or {}


def change_columns(to: Destination, operation: str, plan: Callable[[File, Rules], Arrangement]) -> None:
    """Change the columns of the file at a path.

    `plan` gets the file and the rules of its library.
    """
    path = to["path"]
    assert path is not None, "columns of a file at a path change"
    change = _entasis.Change(path, to["wait"], to["secret"])
    try:
        file = _hosts_of.frame_of(open_value(path, to["secret"]))
        rules = _hosts_of.rules(str(file.written_by))
        wanted = plan(file, rules)
        if _change_in_place(file, wanted, rules, {**to, "change": change}, operation):
            return
        # Another attempt needs another change.
        change.end()
        change = _entasis.Change(path, to["wait"], to["secret"])
        file = _hosts_of.frame_of(open_value(path, to["secret"]))
        wanted = plan(file, rules)
        whole = rules.with_columns(file.read(), wanted.new, wanted.sources, wanted.labels)
        if wanted.levels or wanted.names:
            whole = rules.with_levels(whole, wanted.levels, wanted.names)
        change.will_replace(operation)
        write_whole(whole, {**to, "change": change}, file.metadata, "error")
    finally:
        change.end()


def _change_in_place(file: File, wanted: Arrangement, rules: Rules, to: Destination, operation: str) -> bool:
    """Change the columns without reading kept columns. False if the file must be written anew."""
    builder, host = _hosts.build(rules.nothing() if wanted.new is None else wanted.new)
    names, labels = rules.encode_labels(builder, wanted.labels)
    host.pop("columns", None)
    host.pop("index", None)
    renamed: list[tuple[int, str]] = []
    if wanted.levels or wanted.names:
        index = rules.encode_levels(builder, file, wanted.levels, wanted.names)
        if index is None:
            return False
        host["index"], renamed = index
    if builder.has_trees:
        return False
    if labels is not None:
        host["columns"] = labels
    change = to["change"]
    assert change is not None, "columns change in a change"
    change.will_set_columns(wanted.sources, names, renamed, operation)
    try:
        builder.write(host, to)
    except UnsupportedTypeError:
        return False
    return True


def add(file: File, rules: Rules, value: Any) -> Arrangement:
    """The columns of a file, and new ones after them."""
    head = file[:0].read()
    new = rules.columns(value, file)
    old_labels, new_labels = rules.labels(head), rules.labels(new)
    known = set(old_labels)
    again = [label for label in new_labels if label in known]
    if again:
        raise ArgumentError(f"the file has a column {shown(again[0])} already: use replace_columns")
    sources = [(False, i) for i in range(len(old_labels))] + [(True, i) for i in range(len(new_labels))]
    return Arrangement(new, sources, rules.joined_labels(head, new, sources))


def replace(file: File, rules: Rules, value: Any) -> Arrangement:
    """The columns of a file, some of them replaced."""
    head = file[:0].read()
    new = rules.columns(value, file)
    old_labels, new_labels = rules.labels(head), rules.labels(new)
    position_of = {label: position for position, label in enumerate(new_labels)}
    known = set(old_labels)
    for label in new_labels:
        if label not in known and label in file._view.table.levels.labels:
            raise ColumnNotFoundError(
                f"{shown(label)} is a level of the index, which can't be replaced: write the file again"
            )
        if label not in known:
            raise ColumnNotFoundError(f"the file has no column {shown(label)}: use add_columns")
    for label in position_of:
        if old_labels.count(label) > 1 or new_labels.count(label) > 1:
            raise ArgumentError(f"the label {shown(label)} occurs twice")
    sources = [(True, position_of[label]) if label in position_of else (False, i) for i, label in enumerate(old_labels)]
    return Arrangement(new, sources, rules.renamed_labels(head, old_labels, {}))


def drop(file: File, rules: Rules, labels: Any) -> Arrangement:
    """The columns of a file without some. The index loses levels with these names."""
    listed = list(labels) if isinstance(labels, (list, set, frozenset)) or hasattr(labels, "tolist") else [labels]
    found = [_position(file, label) for label in listed]
    dropped = {position for position, is_level in found if not is_level}
    levels = sorted({position for position, is_level in found if is_level})
    sources = [(False, i) for i in range(file.n_columns) if i not in dropped]
    return Arrangement(None, sources, rules.joined_labels(file[:0].read(), None, sources), levels)


def rename(file: File, rules: Rules, names: Mapping[Any, Any] | Callable[[Any], Any]) -> Arrangement:
    """The columns of a file, and the levels of its index, with other labels."""
    head = file[:0].read()
    old_labels = rules.labels(head)
    if callable(names):
        names = {label: names(label) for label in old_labels}
    if not hasattr(names, "items"):
        raise ArgumentError(f"names={shown(names)} is neither a dict of new labels by old ones nor a function")
    after, levels, of_columns = list(old_labels), {}, {}
    for label, new in names.items():
        position, is_level = _position(file, label)
        if is_level:
            levels[position] = new
        else:
            after[position] = new
            # pandas renames parts of labels that are tuples.
            is_part = isinstance(old_labels[position], tuple) and not isinstance(label, tuple)
            of_columns[label if is_part else old_labels[position]] = new
    if len(set(after)) < len(after) and len(set(old_labels)) == len(old_labels):
        twice = next(label for label in after if after.count(label) > 1)
        raise ArgumentError(f"two columns would have the label {shown(twice)}")
    kept = [name for i, name in enumerate(file._view.table.levels.labels) if i not in levels]
    for new in levels.values():
        if new in after or new in kept or list(levels.values()).count(new) > 1:
            raise ArgumentError(f"a level of the index and a column or level would both be named {shown(new)}")
    sources = [(False, i) for i in range(len(old_labels))]
    return Arrangement(None, sources, rules.renamed_labels(head, after, of_columns), (), levels)


def _position(file: File, label: Any) -> tuple[int, bool]:
    """The position of a column, or of a level of the index, and whether it is a level."""
    columns = file._view.resolve([label])
    assert columns is not None, "a list selects columns"
    (number,) = columns
    if type(number) is FieldColumn:
        raise ArgumentError(f"{shown(label)} is a field of a struct: replace the column that holds it")
    levels = file._view.table.levels
    return (levels.position(number), True) if levels.has(number, file.n_columns) else (number, False)
