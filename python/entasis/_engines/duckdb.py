"""Datasets as relations of DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._typing import ArrowDataset, DuckDBConnection, DuckDBRelation


def relation(connection: DuckDBConnection, name: str | None, dataset: Callable[..., ArrowDataset]) -> DuckDBRelation:
    """A relation of a dataset. With a name it is a view in the connection.

    Parameters
    ----------
    connection, name
        As for `File.to_duckdb`.
    dataset
        Makes the dataset, with the argument `narrow`.
    """
    # DuckDB hands over no filters on decimals of 64 bits.
    found = dataset(narrow="strings")
    if name is None:
        return connection.from_arrow(found)
    connection.register(name, found)
    return connection.view(name)
