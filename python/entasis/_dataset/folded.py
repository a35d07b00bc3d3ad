"""Conditions for one file: the parts about keys are true or false there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._filter import where as _where
from entasis._filter.conditions import Condition
from entasis._filter.fields import Field
from entasis.errors import ArgumentError, EntasisError

if TYPE_CHECKING:
    from collections.abc import Collection

    from entasis._file.file import File

    # A condition as `Condition` has it, or whether it is true for all rows of a file.
    Folded = tuple[Any, ...] | bool


class Folding:
    """A condition on columns and keys.

    A missing key makes a comparison unknown, and its negation too. So negations are first moved
    down to the comparisons. There an unknown comparison rejects the row as a false one does.
    """

    def __init__(self, condition: Condition, names: Collection[str], keys: File | None) -> None:
        self._names, self._keys = frozenset(names), keys
        # For each comparison of keys the files for which it is true.
        self._true: dict[tuple[int, bool, bool], frozenset[int]] = {}
        self._tree = condition._tree
        self._columns: Collection[str] | None = None

    def of(self, number: int, columns: Collection[str] | None = None) -> Folded:
        """The condition for a file. `columns` are those of the file if it may lack some."""
        self._columns = columns
        return self._folded(self._tree, number, is_negated=False, is_engine=False)

    def numbers(self) -> frozenset[int] | None:
        """The numbers of files for which the condition is not false by their keys alone; None for all."""
        return self._numbers(self._tree, is_negated=False, is_engine=False)

    def _numbers(self, node: tuple[Any, ...], *, is_negated: bool, is_engine: bool) -> frozenset[int] | None:
        name, *rest = node
        if name == "not":
            return self._numbers(rest[0], is_negated=not is_negated, is_engine=is_engine)
        if name == "engine":
            return self._numbers(rest[0], is_negated=is_negated, is_engine=True)
        if name in ("and", "or"):
            found = [self._numbers(part, is_negated=is_negated, is_engine=is_engine) for part in rest[0]]
            # De Morgan.
            if (name == "or") ^ is_negated:
                sets = [part for part in found if part is not None]
                return frozenset().union(*sets) if len(sets) == len(found) else None
            sets = [part for part in found if part is not None]
            return frozenset.intersection(*sets) if sets else None
        if name == "where":
            is_of_key = bool(_where.names(node[1], self._names))
        else:
            is_of_key = (node[1].label if isinstance(node[1], Field) else node[1]) in self._names
        if not is_of_key:
            return None
        return self._passing(node, is_negated=is_negated, is_engine=is_engine)

    def rest(self) -> tuple[Any, ...] | None:
        """A condition with all comparisons of columns, to find out whether each can be tested."""
        found: list[tuple[Any, ...]] = []

        def add(node: tuple[Any, ...]) -> None:
            name, *rest = node
            if name in ("and", "or"):
                for part in rest[0]:
                    add(part)
            elif name in ("not", "engine"):
                add(rest[0])
            elif name == "where":
                raise ArgumentError("conditions as text are for files")
            elif node[1] not in self._names:
                found.append(node)
            else:
                # A value that its key does not compare with is an error.
                self._comparison(node, 0, is_negated=False, is_engine=True)

        add(self._tree)
        return ("and", found) if found else None

    def _folded(self, node: tuple[Any, ...], number: int, *, is_negated: bool, is_engine: bool) -> Folded:
        name, *rest = node
        if name == "not":
            return self._folded(rest[0], number, is_negated=not is_negated, is_engine=is_engine)
        if name == "engine":
            found = self._folded(rest[0], number, is_negated=is_negated, is_engine=True)
            return found if isinstance(found, bool) else ("engine", found)
        if name not in ("and", "or"):
            return self._comparison(node, number, is_negated=is_negated, is_engine=is_engine)
        # De Morgan.
        name = {"and": "or", "or": "and"}[name] if is_negated else name
        ends = name == "or"
        parts = []
        for part in rest[0]:
            found = self._folded(part, number, is_negated=is_negated, is_engine=is_engine)
            if found is ends:
                return ends
            if not isinstance(found, bool):
                parts.append(found)
        if not parts:
            return not ends
        return parts[0] if len(parts) == 1 else (name, parts)

    def _comparison(self, node: tuple[Any, ...], number: int, *, is_negated: bool, is_engine: bool) -> Folded:
        whole = ("not", node) if is_negated else node
        if node[0] == "where":
            if not _where.names(node[1], self._names):
                return whole
            return number in self._passing(node, is_negated=is_negated, is_engine=is_engine)
        label = node[1].label if isinstance(node[1], Field) else node[1]
        if label not in self._names:
            if self._columns is None or label in self._columns:
                return whole
            # The column is missing in all rows of the file.
            if node[0] in ("missing", "null"):
                return not is_negated
            if node[0] in ("nan", "nan if float"):
                raise ArgumentError(f"a file lacks column {shown(label)}: test NaN in files that have it")
            return False
        return number in self._passing(node, is_negated=is_negated, is_engine=is_engine)

    def _passing(self, node: tuple[Any, ...], *, is_negated: bool, is_engine: bool) -> frozenset[int]:
        """The files for which a comparison of a key is true."""
        assert self._keys is not None, "there are keys"
        at = id(node), is_negated, is_engine
        if at not in self._true:
            whole = ("not", node) if is_negated else node
            tested = Condition(("engine", whole) if is_engine else whole)
            try:
                self._true[at] = frozenset(self._keys.scan(filter=tested).row_numbers().tolist())
            except EntasisError as error:
                if node[0] != "where":
                    raise
                raise ArgumentError(
                    f"a condition as text that names a key can't name columns of the files too: {error}"
                ) from error
        return self._true[at]
