"""Folders of files in Spark: `register` adds the data source `entasis` to a session.

Importing this module imports PySpark.
"""

from ._machines.spark_source import register

__all__ = ["register"]
