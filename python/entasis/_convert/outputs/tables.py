"""Inputs as tables for targets without the metadata of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis._convert.inputs.arrow import ArrowInput
from entasis._convert.inputs.polars import PolarsInput
from entasis._convert.inputs.value import ValueInput
from entasis.errors import ArgumentError, UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._convert.inputs.base import Input


def as_frame(given: Input) -> Input:
    """The frame that pandas reads, for a table of Arrow with metadata of pandas; or the input itself."""
    if isinstance(given, ArrowInput) and given.host == "pandas":
        return ValueInput(given.whole(), given.name)
    return given


def as_batches(given: Input) -> Input:
    """An input that has batches of Arrow."""
    if given.host == "tree":
        raise UnsupportedTypeError(f"{given.name} holds no table, and the target holds only tables")
    if isinstance(given, PolarsInput):
        raise ArgumentError(f"{given.name}: without pyarrow this format is converted to Entasis only")
    return given
