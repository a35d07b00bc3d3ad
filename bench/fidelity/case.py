"""A named value of a panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Case:
    """A value that is written and read back.

    `refused` is a pattern of the error with which Entasis refuses it; None: it comes back the same.
    """

    group: str
    name: str
    make: Callable[[], Any]
    refused: str | None = None

    @property
    def key(self) -> str:
        """Group and name, unique in a library."""
        return f"{self.group}: {self.name}"


def _itself(value: Any) -> Any:
    return value


class Panel:
    """The cases of a library, in groups."""

    def __init__(self) -> None:
        self._cases: dict[str, Case] = {}

    def add(
        self, group: str, name: str, make: Callable[[], Any], refused: str | None = None
    ) -> None:
        """Adds a case, whose name is unique in its group."""
        case = Case(group, name, make, refused)
        if case.key in self._cases:
            raise ValueError(f"there is a case {case.key!r} already")
        self._cases[case.key] = case

    def add_all(self, group: str, values: dict[str, Any]) -> None:
        """Adds finished values, or functions that make them."""
        for name, value in values.items():
            self.add(group, name, value if callable(value) else partial(_itself, value))

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, key: str) -> Case:
        return self._cases[key]
