"""Folders of files in Ray Data: `datasource` reads one, `datasink` writes one.

Importing this module imports Ray.
"""

from ._machines.ray_read import datasource
from ._machines.ray_write import datasink

__all__ = ["datasink", "datasource"]
