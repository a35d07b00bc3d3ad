"""Manifests whose numbers do not fit into 64 bits, or leave no number for the next one.

A change after such a manifest would have a number that readers do not see.
"""

from pathlib import Path

import entasis as en
import polars as pl

from tools import newest_manifest, said


def attack(folder: Path) -> str:
    table = folder / "table"
    en.write_dataset(pl.DataFrame({"a": [1]}), table)
    content = newest_manifest(table).read_bytes()
    for number in ("99999999999999999999", f"{1 << 63:020}"):
        path = table / "_entasis" / f"{number}.entasis"
        path.write_bytes(content)
        for call in (lambda: en.read(table), lambda: en.append(pl.DataFrame({"a": [2]}), table)):
            if number not in said(call):
                return f"{number} is accepted, or the error is about something else: {said(call)}"
        path.unlink()
    path = table / "_entasis" / f"{(1 << 63) - 1:020}.entasis"
    path.write_bytes(content)
    message = said(lambda: en.append(pl.DataFrame({"a": [2]}), table))
    if "no number" not in message or en.read(table)["a"].to_list() != [1]:
        return f"rows are lost: {message}"
    # Digits of other scripts do not make a number.
    (table / "_entasis" / f"{chr(0x661) * 20}.entasis").write_bytes(content)
    return "refused" if en.scan(table).count() == 1 else "accepted"
