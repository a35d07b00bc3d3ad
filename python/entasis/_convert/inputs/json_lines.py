"""The values of files with a JSON object per line."""

from __future__ import annotations

import io
import warnings
from typing import Any

from entasis._convert import libraries as _libraries


def read(source: str | bytes, name: str) -> Any:
    """Lines of JSON objects, as a frame of Polars or pandas."""
    found: Any = source if isinstance(source, str) else io.BytesIO(source)
    with _libraries.reading(name):
        polars = _libraries.load("polars")
        if polars is not None:
            return polars.read_ndjson(found, infer_schema_length=None)
        pandas = _libraries.need("JSON lines", "polars", "pandas")
        with warnings.catch_warnings():
            # pandas 3.1 announces another argument instead, which older versions lack.
            warnings.simplefilter("ignore")
            return pandas.read_json(found, lines=True, convert_dates=False, precise_float=True)
