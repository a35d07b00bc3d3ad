"""Columns of a file that get wider types, and columns that rows to append bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._libraries import registry as _hosts
from entasis.errors import UnsupportedTypeError

from .columns import INDEX
from .earlier import read_columns, read_index

if TYPE_CHECKING:
    from entasis._entasis import Destination, Stream
    from entasis._file.file import File

    from .fitting import Fitted
    from .rules import Rules, Sources


class Replaced(NamedTuple):
    """Columns that replace those of a table, or follow them. They have as many rows as the table."""

    frame: Any
    sources: Sources
    # The new index, or None.
    index: Any


def of_file(file: File, fitted: Fitted, rules: Rules) -> Replaced:
    """Read the columns of a file that change, and convert them. Reads no others.

    Raises an error if a value would change.
    """
    view = file._view
    numbers = sorted(key for key in fitted.grown if key != INDEX)
    is_frame = view.table.host.get("class") is None
    old = read_columns(file, numbers) if numbers or is_frame else rules.blank(file.n_rows)
    frame = rules.grow(old, [fitted.grown[key] for key in numbers], _added(fitted, rules), file.n_rows)
    index = None
    if INDEX in fitted.grown:
        index = rules.grow_index(read_index(file), fitted.grown[INDEX])
    sources: Sources = [(False, i) for i in range(view.n_columns)]
    for at, key in enumerate(numbers):
        sources[key] = (True, at)
    return Replaced(frame, sources + [(True, len(numbers) + i) for i in range(fitted.n_added)], index)


def in_memory(value: Any, fitted: Fitted, rules: Rules) -> Any:
    """A value whose columns, and index, have the types of the rows to append."""
    n_columns = len(rules.labels(value))
    dtypes = [fitted.grown.get(i) for i in range(n_columns)]
    whole = rules.grow(value, dtypes, _added(fitted, rules), rules.length(value))
    if INDEX in fitted.grown:
        return rules.with_index(whole, rules.grow_index(rules.column(value, INDEX), fitted.grown[INDEX]))
    return whole


def _added(fitted: Fitted, rules: Rules) -> Any:
    """The new columns of the rows to append, without rows."""
    n_columns = len(rules.labels(fitted.part)) if fitted.n_added else 0
    none = rules.head(fitted.part) if fitted.n_added else rules.nothing()
    return rules.take(none, list(range(n_columns - fitted.n_added, n_columns)))


def put(stream: Stream, file: File, replaced: Replaced, fitted: Fitted, rules: Rules, to: Destination) -> bool:
    """Change the columns of the table in a stream, which `file` shows.

    False if the library's values cannot be stored in place. Then the stream cannot go on.
    """
    builder, host = _hosts.build(replaced.frame)
    names: list[str] = file._view.handle.names()
    for key in ("columns", "index", "class", "name"):
        host.pop(key, None)
    if fitted.n_added:
        labels = rules.renamed_labels(fitted.part, rules.labels(fitted.part), {})
        names, described = rules.encode_labels(builder, labels)
        if described is not None:
            host["columns"] = described
    if replaced.index is not None:
        host["index"] = rules.encode_index(builder, replaced.index)
    if builder.has_trees:
        return False
    stream.will_set_columns(replaced.sources, names, [], "replace columns" if fitted.grown else "add columns")
    try:
        builder.write(host, to)
    except UnsupportedTypeError:
        return False
    return True


def changed_labels(rules: Rules, head: Any, fitted: Fitted) -> list[Any]:
    """The labels of columns that are stored anew, and the name of an index that is."""
    labels = rules.labels(head)
    found = [labels[key] for key in sorted(fitted.grown) if key != INDEX]
    return found + ([rules.column(head, INDEX).name] if INDEX in fitted.grown else [])
