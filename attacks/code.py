"""Pickles, class names and expressions in every place that takes text or bytes.

They are values. Nothing of a file is imported, compiled or executed.
"""

import os
import pickle
import sys
from pathlib import Path

import entasis as en
import pandas as pd


class Payload:
    def __reduce__(self):
        return os.system, ("exit 1",)


TEXTS = ["os.system", "__import__('os')", "builtins.eval", "!!python/object/apply:os.system", "ptr"]


def attack(folder: Path) -> str:
    load = pickle.dumps(Payload())
    frame = pd.DataFrame({text: pd.Series([text, load], dtype=object) for text in TEXTS})
    frame.attrs["__class__"] = {"__reduce__": load, "module": "os", "name": "system"}
    tree = {"__reduce__": load, "py/object": "os.system", "list": TEXTS}
    en.write(frame, folder / "frame")
    en.write(tree, folder / "tree")
    # Reads once, so that libraries are imported before it counts.
    en.read(folder / "frame"), en.read(folder / "tree")
    events = []
    is_on = True

    def hook(event: str, arguments: tuple) -> None:
        if is_on and event.startswith(
            ("import", "exec", "compile", "os.", "subprocess", "pickle", "ctypes")
        ):
            events.append(event)

    sys.addaudithook(hook)
    same = en.read(folder / "frame").equals(frame) and en.read(folder / "tree") == tree
    is_on = False
    if not same or events:
        return f"values differ, or these ran: {events}"
    return "text: nothing is imported, compiled or executed"
