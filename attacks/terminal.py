"""Escape sequences, line ends and characters that reverse text, in names that are shown."""

import subprocess
import sys
from pathlib import Path

import entasis as en
import pandas as pd

NAMES = [
    "\x1b]0;title\x07",
    "\x1b[2J",
    "line\nend",
    "\rback",
    "\u202eright to left",
    "\x9b31m",
    "tab\t",
]


def is_plain(text: str) -> bool:
    return all(c == "\n" or c.isprintable() for c in text)


def attack(folder: Path) -> str:
    path = folder / "table"
    en.write(pd.DataFrame([NAMES], columns=NAMES), path)
    tree = folder / "tree"
    en.write({name: [name] for name in NAMES}, tree, metadata={name: name for name in NAMES})
    opened = [en.open(path), en.open(tree)]
    shown = [
        *map(repr, opened),
        repr(opened[0].schema),
        *(repr(en.info(file.path)) for file in opened),
    ]
    try:
        en.read(path, columns="missing")
    except en.EntasisError as error:
        shown.append(str(error))
    for verb, of in (("info", path), ("schema", path), ("head", path), ("info", tree)):
        command = [sys.executable, "-m", "entasis", verb, str(of)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        shown += [done.stdout, done.stderr]
    bad = [text for text in shown if not is_plain(text)]
    return f"control characters in {bad!r}" if bad else "escaped: no control character is printed"
