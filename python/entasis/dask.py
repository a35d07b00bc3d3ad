"""Folders of files in Dask: `read` makes a data frame of partitions, `write` stores one.

Importing this module imports Dask.

>>> import entasis.dask
>>> en.write_dataset(pd.DataFrame({"a": [1, 2, 3]}), "numbers")
>>> frame = entasis.dask.read("numbers")
>>> int(frame["a"].sum().compute())
6
"""

from ._machines.dask_read import read
from ._machines.dask_write import write

__all__ = ["read", "write"]
