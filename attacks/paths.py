"""Column names that are paths. A reader uses a name for nothing but itself."""

import sys
from pathlib import Path

import entasis as en
import pandas as pd

NAMES = [
    "../../escape",
    "/etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "CON",
    "file:///etc/passwd",
    "~root",
    "",
]


def attack(folder: Path) -> str:
    path = folder / "table"
    en.write(pd.DataFrame([range(len(NAMES))], columns=NAMES), path)
    en.read(path)
    opened = []
    is_on = True

    def hook(event: str, arguments: tuple) -> None:
        if is_on and event in (
            "open",
            "os.listdir",
            "os.scandir",
            "os.mkdir",
            "os.rename",
            "os.remove",
        ):
            opened.append(arguments[0])

    sys.addaudithook(hook)
    found = list(en.read(path).columns)
    one = en.read(path, columns="../../escape")
    is_on = False
    others = [name for name in opened if str(name) != str(path)]
    if found != NAMES or len(one.columns) != 1 or others or len(list(folder.iterdir())) != 1:
        return f"these were opened: {others}"
    return "text: no other file is opened"
