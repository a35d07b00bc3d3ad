"""Joins rows of files in memory, by the rules that `entasis.append` follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._grow import growth as _growth
from entasis._grow import hosts as _hosts_of
from entasis._grow.earlier import Earlier
from entasis._grow.fitting import Options
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from entasis._grow.rules import Rules


def in_types_of(head: Any, part: Any, host: str, path: str) -> Any:
    """The rows of a file with the types of the first one, which `head` has without rows.

    Raises
    ------
    ArgumentError
        A column of the first file does not hold all values exactly.
    """
    rules: Rules = _hosts_of.rules(host)
    reason: Exception | None = None
    try:
        fitted = rules.fit(head, part, Options(False, False, Earlier(rules, lambda: None, [], 1), True))
        if not fitted.changes:
            return fitted.part
    except ArgumentError as error:
        reason = error
    types = rules.types
    for number, label in enumerate(rules.labels(part)):
        first = types.type_of(rules.column(head, rules.labels(head).index(label)))
        other = types.type_of(rules.column(part, number))
        if not types.is_same(first, other):
            raise ArgumentError(
                f"column {shown(label)} is {types.name(other)} in {shown(path, 200)}, and {types.name(first)} in the "
                "first file, which does not hold all of its values: read() gives such columns a type for both"
            ) from reason
    raise ArgumentError(f"{shown(path, 200)} does not follow the files before it: {reason}") from reason


class Together:
    """Rows of a library, to which those of other files are added. The first ones set the columns."""

    def __init__(self, host: str, *, fills: bool) -> None:
        self.rules: Rules = _hosts_of.rules(host)
        self._fills = fills
        self._parts: list[Any] = []
        self._n, self._is_declared = 0, False
        # The columns without rows.
        self._proto: Any = None

    def declare(self, head: Any) -> None:
        """Set the columns and their types, which `head` has without rows."""
        self._proto, self._is_declared = head, True
        self._parts.append(head)

    def add(self, part: Any, path: str) -> None:
        """Add the rows of a file."""
        rules = self.rules
        if self._proto is None:
            self._proto = rules.head(part)
        else:
            earlier = Earlier(rules, lambda: None, self._parts, self._n)
            try:
                fitted = rules.fit(self._proto, part, Options(self._fills, True, earlier, self._is_declared))
                if fitted.changes:
                    self._parts = [_growth.in_memory(each, fitted, rules) for each in self._parts]
            except ArgumentError as error:
                raise ArgumentError(f"{shown(path, 200)} does not follow the files before it: {error}") from error
            part = fitted.part
            self._proto = rules.head(part) if fitted.changes else rules.known(self._proto, part)
        self._parts.append(part)
        self._n += rules.length(part)

    def joined(self) -> Any:
        """All rows; None if there were no files."""
        parts, self._parts = self._parts, []
        if self._is_declared and len(parts) > 1:
            # The declaration has no rows, and its index may have another type.
            parts = parts[1:]
        if len(parts) < 2:
            return parts[0] if parts else None
        return self.rules.joined(parts)
