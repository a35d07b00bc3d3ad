"""All formats on a real file in pandas: the user's, or the table `orders` of TPC-H."""

from __future__ import annotations

from ..context import Context
from ..frames import tpch, user_file


def run(context: Context) -> None:
    options = context.options
    scale = options.tpch * options.scale
    path = options.file or tpch.table(options.data, "orders", scale)
    frame, converted = user_file.pandas_frame(path)
    size = f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)"
    if options.file is None:
        size = f"TPC-H orders at scale factor {scale:g}"
    outcome = context.compare(path.stem, frame, [f"{size}, in pandas", *converted])
    outcome.remove_files()
