"""Conditions in the language of the command: `entasis select --where`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis import _entasis

from .conditions import Condition

if TYPE_CHECKING:
    from collections.abc import Collection


def where(text: str) -> Condition:
    """The condition that a text is. Its columns and values are checked with the file."""
    return Condition(("where", text))


def names(text: str, known: Collection[str]) -> list[str]:
    """The known columns that a condition may read, and those whose name is a keyword in it."""
    found = []
    for word in _entasis.where_words(text):
        # A field of a struct has the name of its column before a point.
        while word not in known and "." in word:
            word = word.rpartition(".")[0]
        if word in known:
            found.append(word)
    return found
