"""StaticFrame's nine frames of 10^6 elements (10^8 too with --large), into pandas and StaticFrame.

As in its articles a reading ends with the look-up of one element. In the newly drawn frames,
columns share no sequence that a compressor could find.
"""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..frames import fixtures
from ..peers.plain import as_pandas
from ..run import Comparison
from ..summary import pivot

FACTORS = {"1e6": 1, "1e8": 10}  # each dimension
QUICK = 10**6  # frames up to this many elements get a minimum of rounds
ROUNDS = 5
PEERS = (
    "entasis",
    "npz",
    "feather-raw",
    "feather-lz4",
    "parquet-none",
    "parquet-snappy",
    "pickle",
)


def run(context: Context) -> None:
    import frame_fixtures  # noqa: F401  without it the suite is left out
    import static_frame  # noqa: F401

    for size, factor in FACTORS.items():
        if factor > 1 and not context.options.large:
            continue
        found: dict[tuple[str, str], list[Comparison]] = {}
        for name in fixtures.names():
            shrink = context.options.scale**0.5
            frame = fixtures.fixture(name, factor * shrink, context.options.data)
            for kind, value in (("fixture", frame), ("drawn", fixtures.drawn(frame))):
                for host in ("pandas", "static_frame"):
                    outcome = _compare(context, f"{kind}-{name}-{size}", value, host)
                    found.setdefault((kind, host), []).append(outcome)
        for (kind, _), outcomes in found.items():
            what = "the fixtures" if kind == "fixture" else "drawn anew"
            title = f"nine frames of {size} elements, {what}, {outcomes[0].host.label}"
            print(pivot(title, outcomes), end="\n\n", flush=True)


def _compare(context: Context, name: str, frame: Any, host: str) -> Comparison:
    value = as_pandas(frame) if host == "pandas" else frame
    is_quick = frame.size <= QUICK
    outcome = context.compare(
        name,
        value,
        host=host,
        peers=PEERS,
        rounds=max(ROUNDS, context.options.rounds) if is_quick else None,
        repeats=None,
        touch=True,
        quiet=True,
    )
    outcome.remove_files()
    return outcome
