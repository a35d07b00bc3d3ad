"""Specs: what a reader needs to read a text the same way again."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._arguments import sources as _sources
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Protocol, TypeAlias

    class TextFile(Protocol):
        """An object that returns bytes or text."""

        def read(self, size: int = ..., /) -> bytes | str: ...

    Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | TextFile


class Reason(NamedTuple):
    """Why a part of a spec is what it is."""

    what: str
    """The part: "separator", "quote", "header", ..."""
    value: str
    """The decision."""
    reason: str
    """The reason for it."""
    confidence: float
    """From 0 to 1."""


class Spec:
    """Dialect, encoding, names, types and missing words of a text file.

    `read_csv(source, spec=spec)` reads a text as the spec says. The attributes are those of its
    JSON: `separator`, `quote`, `escape`, `comment`, `encoding`, `skip`, `header`, `all_quoted`,
    `names`, `types`, `missing`, `missing_in_text` (whether the words are missing among strings
    too), `decimal`, `thousands`, `dates` (for all columns), `column_dates`.

    Attributes
    ----------
    reasons
        For a spec of `sniff_csv`: a `Reason` for each part.

    Examples
    --------
    >>> spec = en.sniff_csv(b"id;price\\n1;2,5\\n2;3,25\\n")
    >>> spec.separator, spec.decimal, spec.types
    (';', ',', ['int64', 'float64'])
    >>> en.Spec.of(spec.to_json()) == spec
    True
    """

    __slots__ = ("_parts", "reasons")

    def __init__(self, parts: dict[str, Any], reasons: list[Reason] | None = None) -> None:
        self._parts = parts
        self.reasons = reasons or []

    @classmethod
    def of(cls, value: Spec | str | os.PathLike[str]) -> Spec:
        """Return a spec from its JSON, or from the path of a file with its JSON.

        Raises
        ------
        ArgumentError
            The text is not the JSON of a spec.
        """
        if isinstance(value, Spec):
            return value
        text = os.fspath(value)
        if not text.lstrip().startswith("{"):
            with open(_sources.path(value), encoding="utf-8") as file:
                text = file.read()
        try:
            parts = json.loads(text)
        except ValueError as error:
            raise ArgumentError(f"the spec is not JSON ({error})") from error
        if not isinstance(parts, dict):
            raise ArgumentError("the JSON of a spec is an object")
        return cls(parts)

    def to_json(self) -> str:
        """Return the spec as JSON, for `Spec.of` and `--spec` of the command."""
        return json.dumps(self._parts, indent=2, ensure_ascii=False) + "\n"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"a spec has no {name!r}, only {', '.join(self._parts)}")
        return self._parts[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parts})

    def __eq__(self, other: object) -> bool:
        return self._parts == other._parts if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> Any:
        return Spec, (self._parts, self.reasons)

    def __repr__(self) -> str:
        """Show the call that reads a text as the spec says."""
        return f"read_csv(source, {', '.join(f'{name}={value!r}' for name, value in self._arguments().items())})"

    def _arguments(self) -> dict[str, Any]:
        """The arguments of `read_csv` that stand for the spec."""
        parts = self._parts
        found = {
            "sep": parts.get("separator", ","),
            "quote": parts.get("quote", '"'),
            "escape": parts.get("escape"),
            "comment": parts.get("comment"),
            "skip": parts.get("skip", 0),
            "header": parts.get("header", True),
            "encoding": parts.get("encoding", "utf-8"),
        }
        if parts.get("missing_in_text"):
            found["na"] = parts.get("missing", [])
        if parts.get("decimal", ".") != ".":
            found["decimal"] = parts["decimal"]
        if parts.get("thousands") is not None:
            found["thousands"] = parts["thousands"]
        names, types = parts.get("names", []), parts.get("types", [])
        if names and not found["header"]:
            found["names"] = names
        if names and types:
            found["dtypes"] = dict(zip(names, types, strict=False))
        of_all, of_columns = parts.get("dates", []), parts.get("column_dates", {})
        if of_columns:
            # None names all columns.
            found["dates"] = {**({None: of_all} if of_all else {}), **of_columns}
        elif of_all:
            found["dates"] = of_all
        return found
