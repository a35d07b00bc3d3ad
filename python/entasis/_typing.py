"""Types for checkers: options of the public functions, and their results for each library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    import pandas
    import polars
    import pyarrow
    import pyarrow.dataset
    import static_frame

    from ._arguments.options import MemoryMap, OnDamage, OnRefused
    from ._arguments.rows import Rows
    from ._columns.names import Columns
    from ._scan.conditions import Filter

    # For its own library, a file of a Series, Index or array gives that instead of a frame.
    PandasFrame: TypeAlias = pandas.DataFrame
    PolarsFrame: TypeAlias = polars.DataFrame
    PolarsLazyFrame: TypeAlias = polars.LazyFrame
    ArrowDataset: TypeAlias = pyarrow.dataset.Dataset
    ArrowTable: TypeAlias = pyarrow.Table
    NumpyArrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
    StaticFrame: TypeAlias = static_frame.Frame
    # Classes for records: by their own names, or by names that a file has.
    Types: TypeAlias = Iterable[type] | Mapping[str, type]


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


class Limits(TypedDict, total=False):
    """The most that a file may ask for. The documentation of `entasis.read` has the defaults."""

    metadata_len: int
    n_columns: int
    depth: int
    name_len: int
    page_payload_len: int
    n_nodes: int
    value_len: int
    decoded_len: int


class ReadOptions(PartOptions, total=False):
    """Options for reading a file."""

    memory_map: MemoryMap
    types: Types | None
    limits: Limits | None
    generation: int | None
