"""Types for checkers: arguments of the public functions, and their results for each library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from typing import Literal, Protocol, SupportsIndex

    import duckdb
    import numpy as np
    import pandas
    import polars
    import pyarrow
    import pyarrow.dataset
    import static_frame

    class ArrayLike(Protocol):
        """A sequence, array, index or series of any library."""

        def __len__(self) -> int: ...
        def __getitem__(self, key: Any, /) -> Any: ...

    Rows: TypeAlias = tuple[int | None, int | None] | slice | range | SupportsIndex | ArrayLike
    # A label of any type, several of them, or positions in a slice or range.
    Columns: TypeAlias = Hashable | slice | Iterable[Any]

    # Whether columns and arrays are views of the file: "auto" reads data that can't be viewed.
    MemoryMap: TypeAlias = Literal["auto"] | bool
    # The treatment of columns whose type the reading library lacks.
    OnRefused: TypeAlias = Literal["error", "skip"]
    # Whether engines get narrow types: of strings alone, or of decimals too.
    Narrow: TypeAlias = Literal["strings"] | bool
    # The treatment of damaged blocks.
    OnDamage: TypeAlias = Literal["error", "missing"]

    # A file of a Series, Index or array gives that type for its own library, not a frame.
    PandasFrame: TypeAlias = pandas.DataFrame
    PolarsFrame: TypeAlias = polars.DataFrame
    PolarsLazyFrame: TypeAlias = polars.LazyFrame
    ArrowDataset: TypeAlias = pyarrow.dataset.Dataset
    ArrowTable: TypeAlias = pyarrow.Table
    DuckDBConnection: TypeAlias = duckdb.DuckDBPyConnection
    DuckDBRelation: TypeAlias = duckdb.DuckDBPyRelation
    NumpyArrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
    StaticFrame: TypeAlias = static_frame.Frame
    # Classes for records: by their own names, or by names that a file has.
    Types: TypeAlias = Iterable[type] | Mapping[str, type]


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
    derivation_len: int
