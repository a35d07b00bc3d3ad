"""The rows of scans of texts and folders as frames of each library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from entasis._typing import ArrowTable, NumpyArrays, PandasFrame, PolarsFrame, StaticFrame


class Frames(ABC):
    """Methods of scans that read all rows that pass."""

    __slots__ = ()

    @abstractmethod
    def read(self, *, to: Any = None) -> Any:
        """Read the rows."""

    def to_pandas(self) -> PandasFrame:
        """Read as a pandas DataFrame."""
        return cast("PandasFrame", self.read(to="pandas"))

    def to_polars(self) -> PolarsFrame:
        """Read as a Polars DataFrame."""
        return cast("PolarsFrame", self.read(to="polars"))

    def to_pyarrow(self) -> ArrowTable:
        """Read as a pyarrow Table."""
        return cast("ArrowTable", self.read(to="pyarrow"))

    def to_numpy(self) -> NumpyArrays:
        """Read as a dict of NumPy arrays."""
        return cast("NumpyArrays", self.read(to="numpy"))

    def to_static_frame(self) -> StaticFrame:
        """Read as a StaticFrame Frame."""
        return cast("StaticFrame", self.read(to="static_frame"))
