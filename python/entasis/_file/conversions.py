"""The rows of a file or of a scan as values of other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, cast

from entasis._columns.fields import are_among
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from entasis._typing import (
        ArrowDataset,
        ArrowTable,
        DuckDBConnection,
        DuckDBRelation,
        Narrow,
        NumpyArrays,
        OnRefused,
        PandasFrame,
        PolarsFrame,
        PolarsLazyFrame,
        StaticFrame,
    )
    from entasis._view.query import Query


class Conversions(ABC):
    """Conversions of open files and scans: frames of each library, and engines that scan them."""

    __slots__ = ()

    @abstractmethod
    def read(self, *, to: Any = None, nan_to_null: bool | None = None) -> Any:
        """Read the rows."""

    @abstractmethod
    def _as_query(self) -> Query:
        """The rows as a query."""

    def to_pandas(self) -> PandasFrame:
        """Read as a pandas DataFrame."""
        return cast("PandasFrame", self.read(to="pandas"))

    def to_polars(self, *, nan_to_null: bool | None = None) -> PolarsFrame:
        """Read as a Polars DataFrame.

        Parameters
        ----------
        nan_to_null
            As for `entasis.read`.

        Examples
        --------
        >>> en.write(pd.DataFrame({"price": [2.5, None]}), "prices.entasis")
        >>> f = en.open("prices.entasis")
        >>> f.to_polars()["price"].to_list(), f.to_polars(nan_to_null=False)["price"].to_list()
        ([2.5, None], [2.5, nan])
        """
        return cast("PolarsFrame", self.read(to="polars", nan_to_null=nan_to_null))

    def lazy(self, *, nan_to_null: bool | None = None, on_unsupported: OnRefused = "error") -> PolarsLazyFrame:
        """Return a LazyFrame of Polars that reads only what its query asks for.

        Polars hands over the columns, slices, a row index, and the conditions that it can move to
        the start of the query. Conditions that `filter=` takes decide which blocks and pages are
        read. Polars applies all others to the rows that are left, so results equal those of
        `to_polars().lazy()`. `explain` of the LazyFrame shows what was handed over.

        Parameters
        ----------
        nan_to_null
            As for `entasis.read`. Expressions see null where the result has it.
        on_unsupported
            "error", or "skip" to leave out columns whose type Polars lacks. A warning names them.

        Raises
        ------
        MissingLibraryError
            Polars is not installed.
        UnsupportedTypeError
            Polars lacks the type of a column. `select` chooses others.

        Examples
        --------
        >>> import polars as pl
        >>> prices = pl.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
        >>> en.write(prices, "prices.entasis")
        >>> en.open("prices.entasis").lazy().filter(pl.col("price") > 3).select("city").collect()
        shape: (2, 1)
        ┌──────┐
        │ city │
        │ ---  │
        │ str  │
        ╞══════╡
        │ Rome │
        │ Bern │
        └──────┘
        """
        from entasis._engines.polars import lazy

        return lazy(_of_engines(self._as_query()).with_nan_to_null(nan_to_null), on_unsupported)

    def to_dataset(
        self,
        *,
        nan: Literal["ieee", "largest"] = "ieee",
        nan_to_null: bool | None = None,
        on_unsupported: OnRefused = "error",
        narrow: Narrow = False,
    ) -> ArrowDataset:
        """Return a dataset of pyarrow that reads only what is asked for.

        DuckDB, DataFusion, ibis and pyarrow scan it. They read the columns that they need. The
        parts of a filter with an exact counterpart are tested on the file, and pyarrow tests the
        others on the rows that are left. Comparisons with literals, `is_null`, `isin`, tests of the
        start, the end and parts of texts, and combinations of them have an exact counterpart.

        DuckDB finds it by the name of its variable. It also takes a `File` that way, but then it
        reads all columns, and the rows from the first one on.

        Parameters
        ----------
        nan
            The order of NaN in comparisons. "ieee": it equals nothing and has no order, as in
            pyarrow. "largest": it equals itself and is greater than all other floats, as
            DataFusion expects.
        nan_to_null
            As for `entasis.read`. Filters see null where the result has it.
        on_unsupported
            "error", or "skip" to leave out columns whose type Arrow lacks. A warning names them.
        narrow
            With "strings" these are `dictionary<int32, string>` if most of their rows are stored
            with a dictionary; each batch has a dictionary of its own. With True decimals of up to
            18 digits also are `decimal64`, which DuckDB sums faster. But DuckDB hands over no
            filters on them, and before version 1.3 it misread them, so they stay `decimal128` where
            such a version is installed. Values inside of nested columns, and columns of mapped
            files, keep their types.

        Raises
        ------
        MissingLibraryError
            pyarrow is not installed.
        UnsupportedTypeError
            Arrow lacks the type of a column. `select` chooses others.
        DuplicateColumnError
            Two columns have the same name.

        Examples
        --------
        >>> import pyarrow.compute as pc
        >>> prices = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
        >>> en.write(prices, "prices.entasis")
        >>> dataset = en.open("prices.entasis").to_dataset()
        >>> dataset.to_table(columns=["city"], filter=pc.field("price") > 3).to_pydict()
        {'city': ['Rome', 'Bern']}
        """
        from entasis._engines.dataset import Dataset

        query = _of_engines(self._as_query()).with_nan_to_null(nan_to_null)
        return Dataset(query, nan, on_unsupported, narrow)

    def to_duckdb(
        self,
        connection: DuckDBConnection,
        name: str | None = None,
        *,
        nan_to_null: bool | None = None,
        on_unsupported: OnRefused = "error",
    ) -> DuckDBRelation:
        """Return a relation of DuckDB that reads only what its queries ask for.

        DuckDB scans `to_dataset(narrow="strings")`. It reads the columns that a query needs, and
        the rows that pass the conditions that it hands over.

        Parameters
        ----------
        connection
            A connection, or the module `duckdb` for its default connection.
        name
            The name of a view in the connection, which queries use. It replaces a view that was
            registered with this name. None makes the relation alone.
        nan_to_null
            As for `entasis.read`. Queries see null where the result has it.
        on_unsupported
            "error", or "skip" to leave out columns whose type Arrow lacks. A warning names them.

        Returns
        -------
        duckdb.DuckDBPyRelation
            All rows. The connection keeps the file while the view is there.

        Raises
        ------
        MissingLibraryError
            pyarrow is not installed.
        UnsupportedTypeError
            Arrow lacks the type of a column. `select` chooses others.
        DuplicateColumnError
            Two columns have the same name.

        Examples
        --------
        >>> prices = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"], "price": [3, 5, 4]})
        >>> en.write(prices, "prices.entasis")
        >>> import duckdb
        >>> connection = duckdb.connect()
        >>> rows = en.open("prices.entasis").to_duckdb(connection, "prices")
        >>> connection.sql("select city from prices where price > 3 order by city").fetchall()
        [('Bern',), ('Rome',)]
        >>> rows.filter("price = 3").fetchall()
        [('Oslo', 3)]
        """
        from entasis._engines.duckdb import relation

        def dataset(narrow: Narrow) -> ArrowDataset:
            return self.to_dataset(nan_to_null=nan_to_null, on_unsupported=on_unsupported, narrow=narrow)

        return relation(connection, name, dataset)

    def to_pyarrow(self, *, nan_to_null: bool | None = None) -> ArrowTable:
        """Read as a pyarrow Table.

        Parameters
        ----------
        nan_to_null
            As for `entasis.read`.

        Examples
        --------
        >>> en.write(pd.DataFrame({"price": [2.5, None]}), "prices.entasis")
        >>> en.open("prices.entasis").to_pyarrow()["price"].null_count
        1
        """
        return cast("ArrowTable", self.read(to="pyarrow", nan_to_null=nan_to_null))

    def to_numpy(self) -> NumpyArrays:
        """Read as a dict of NumPy arrays."""
        return cast("NumpyArrays", self.read(to="numpy"))

    def to_static_frame(self) -> StaticFrame:
        """Read as a StaticFrame Frame, or as the Series or Index that was written."""
        return cast("StaticFrame", self.read(to="static_frame"))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream of the rows in batches. A batch is decoded when the consumer asks for it.

        Each call returns a new stream from the first row on. A stream holds at most about 4 million
        values or 256 MiB at a time. Missing floats of pandas are null, as for `entasis.read` by
        default.

        Parameters
        ----------
        requested_schema
            The capsule of a schema. Its names choose the columns, and text, bytes and integers get
            its types, if pyarrow is installed. A schema with other columns is ignored, and so are
            other types.

        Returns
        -------
        object
            The capsule of an `ArrowArrayStream`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> en.write(pd.DataFrame({"a": [1, 2, 3]}), "table.entasis")
        >>> reader = pa.RecordBatchReader.from_stream(en.open("table.entasis"))
        >>> [batch.num_rows for batch in reader]
        [3]
        """
        from entasis._engines.arrow_stream import stream

        return stream(_of_engines(self._as_query()), requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Return the capsule of the schema that streams of the rows have."""
        from entasis._engines.arrow_stream import schema

        return schema(_of_engines(self._as_query()).view)


def _of_engines(query: Query) -> Query:
    """Check a query for engines and streams, which take no fields of structs."""
    if are_among(query.view.columns):
        raise ArgumentError(
            "engines and streams take whole columns, and this selection has a field of a struct: select the "
            "struct, and let the engine take the field"
        )
    return query
