"""Options of the functions that read, for checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from entasis._arguments.secrets import AnyKey
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Limits, MemoryMap, OnDamage, OnRefused, Rows, Types


class PartOptions(TypedDict, total=False):
    """Options for reading a frame."""

    columns: Columns | None
    rows: Rows | None
    filter: Filter | None
    threads: int | None
    index: bool
    nan_to_null: bool | None
    on_unsupported: OnRefused
    on_damage: OnDamage


class ReadOptions(PartOptions, total=False):
    """Options for reading a file."""

    memory_map: MemoryMap
    types: Types | None
    limits: Limits | None
    generation: int | None
    progress: bool | Callable[..., Any] | None
    storage_options: Mapping[str, Any] | None
    credentials: Callable[[], Any] | None
    prefetch: int | None
    key: AnyKey | None
    password: str | None
