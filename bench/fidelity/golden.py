"""Files with the panels, kept for every version of the format: later releases have to read them.

`tests/golden/panels/v0.1/pandas.entasis` holds a dict of all values that come back, by their keys.
Files are written once and never again; a new version of the format gets a folder of its own.
"""

from __future__ import annotations

from pathlib import Path

from .cases import LIBRARIES, panel
from .run import ROOT

FOLDER = ROOT / "tests" / "golden" / "panels"
# Groups of values that are large, or repeat other values in another form.
_LEFT_OUT = {"shapes", "blocks", "series", "indexes", "slices", "chunks", "no rows", "matrices"}


def versions() -> list[Path]:
    """The folders of all versions."""
    return sorted(folder for folder in FOLDER.iterdir() if folder.is_dir())


def write(version: str) -> list[Path]:
    """Writes the files of a version that are not there yet."""
    import entasis as en

    folder = FOLDER / version
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for library in LIBRARIES:
        path = folder / f"{library}.entasis"
        if path.exists():
            continue
        cases = [case for case in panel(library) if case.refused is None]
        values = {case.key: case.make() for case in cases if case.group not in _LEFT_OUT}
        en.write(values, path, compression=90)
        written.append(path)
    return written
