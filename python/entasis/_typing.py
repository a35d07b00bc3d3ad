"""Types that only checkers read: what options functions take, and what they return for each library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import pandas
    import polars
    import pyarrow
    import static_frame

    from ._arguments.options import OnRefused
    from ._arguments.rows import Rows
    from ._columns.names import Columns

    # A file of a Series, Index or array gives that for its own library.
    PandasFrame: TypeAlias = pandas.DataFrame
    PolarsFrame: TypeAlias = polars.DataFrame
    ArrowTable: TypeAlias = pyarrow.Table
    NumpyArrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
    StaticFrame: TypeAlias = static_frame.Frame


class PartOptions(TypedDict, total=False):
    """What is read of a frame, and how."""

    columns: Columns | None
    rows: Rows | None
    threads: int | None
    index: bool
    on_unsupported: OnRefused


class ReadOptions(PartOptions, total=False):
    """What is read of a file, and how."""

    memory_map: bool
    types: Iterable[type] | None
