"""Object columns with several markers for missing values (None, NaN, NaT, NA)."""

from __future__ import annotations

from typing import Any

from entasis._columns.index_spec import number_of
from entasis._host_map import interpretation


@interpretation()
def kinds_of_missing(host: dict[str, Any], columns: list[int]) -> dict[int, int]:
    """Columns with several markers, each with the column that records the marker of each value."""
    kinds = dict(host.get("missing_kinds", ()))
    return {column: number_of(kinds[column]) for column in columns if column in kinds}


def restore_missing(array: Any, kinds: Any) -> None:
    """Write the recorded markers into an array of objects."""
    import numpy as np

    for code, name in ((2, "NA"), (3, "NaN"), (4, "NaT"), (5, "None")):
        at = np.flatnonzero(kinds == code)
        if len(at) == 0:
            continue
        if name in ("NA", "NaT"):
            import pandas as pd

            array[at] = pd.NA if name == "NA" else pd.NaT
        else:
            array[at] = np.nan if name == "NaN" else None
