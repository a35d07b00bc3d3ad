"""The same for a real file: the user's, or the table `orders` of TPC-H."""

from __future__ import annotations

from .. import frames
from ..context import Context


def run(context: Context) -> None:
    path = context.file or frames.tpch_orders(context.data, context.scale)
    frame, converted = frames.from_file(path)
    size = f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)"
    if context.file is None:
        size = f"TPC-H orders at scale factor {context.scale:g}"
    remarks = [f"{size}, in pandas", *converted]
    outcome = context.compare(path.stem, frame, remarks)
    for result in outcome.results:
        result.path.unlink(missing_ok=True)
