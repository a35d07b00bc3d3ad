"""Cases of one library through one format, in a separate process, which a format may crash.

`python -m bench.fidelity.child LIBRARY FORMAT FIRST RESULTS` appends a line of JSON for each
case from the case number FIRST on.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import warnings
from pathlib import Path

from .case import Case
from .cases import panel
from .formats import RoundTrip, round_trip
from .same import Different, check


def outcome(case: Case, run: RoundTrip, folder: Path) -> tuple[str, str]:
    """Whether a value comes back the same, changed, or not at all; and the reason."""
    value = case.make()
    try:
        back = run(value, folder / "file")
    except BaseException as error:
        # Panics of Rust are BaseException, not Exception.
        if isinstance(error, KeyboardInterrupt):
            raise
        return "refused", f"{type(error).__name__}: {error}"
    try:
        check(case.make(), back, layout=False)
    except Different as different:
        return "changed", str(different)
    except Exception as error:
        # A value that cannot be compared counts as changed.
        return "changed", f"{type(error).__name__}: {error}"
    return "same", ""


def main() -> None:
    library, key, first, results = sys.argv[1:]
    warnings.simplefilter("ignore")
    run = round_trip(library, key)
    with Path(results).open("a", encoding="utf-8") as file:
        for case in itertools.islice(panel(library), int(first), None):
            with tempfile.TemporaryDirectory() as folder:
                found, why = outcome(case, run, Path(folder))
            file.write(json.dumps([case.key, found, why[:500]]) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
