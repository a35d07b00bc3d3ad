"""Runs verbs on folders of stores. The command itself opens objects of stores alone."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentError as WrongWords
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._arguments import sources as _sources
from entasis._arguments.progress import shown
from entasis._dataset import maintain
from entasis.errors import EntasisError, printable

from . import folder as _folder
from . import messages as _messages
from .host import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from entasis._stores.listing import Folder

VERBS = ("info", "verify", "compact")
_INTERRUPTED = 130


def run(words: Sequence[str]) -> int | None:
    """Run a verb if one of its files is the address of a folder, and return the exit code.

    None leaves the words to the command.
    """
    if not words or words[0] not in VERBS or not any(_may_be_folder(word) for word in words[1:]):
        return None
    verb = words[0]
    args, options = _parsed(verb, words[1:])
    if args is None:
        return None
    code = 0
    try:
        with interruptible():
            for file in args.files:
                code = max(code, _one(verb, file, options, args))
    except KeyboardInterrupt:
        print("entasis: stopped", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        return 0
    return code


def _may_be_folder(word: str) -> bool:
    return _sources.is_address(word) and not word.endswith(".entasis")


def _parsed(verb: str, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The arguments, and the options among them; None if they are not for folders on stores."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("files", nargs="+")
    if verb == "compact":
        parser.add_argument("--wait", type=int, default=10)
    else:
        parser.add_argument("--json", action="store_true")
    if verb == "verify":
        parser.add_argument("--threads", type=int)
    try:
        args, others = parser.parse_known_args(words)
    except WrongWords:
        return None, []
    if others:
        return None, []
    return args, [word for word in words if word not in args.files]


def _one(verb: str, file: str, options: list[str], args: Any) -> int:
    """Run a verb on one file or folder."""
    work: dict[str, Callable[[Folder, Any], str]] = {"info": _info, "verify": _verify, "compact": _compact}
    try:
        store = _sources.folder_on_store(file, None, None, may_be_file=verb != "compact")
        if store is None:
            sys.stdout.flush()
            return _entasis.cli_main([verb, *options, file])
        print(work[verb](store, args), flush=True)
    except EntasisError as error:
        print(f"entasis: {printable(_messages.of_error(error))}", file=sys.stderr)
        return 1
    return 0


def _info(store: Folder, args: Any) -> str:
    found = maintain.info(store.name, store)
    if args.json:
        return json.dumps(found.to_dict())
    lines = [
        printable(store.name),
        f"{_count(found.n_rows, 'row')}, {_size(found.file_len)} in {_count(found.n_files, 'file')}",
    ]
    if found.keys:
        lines.append("keys " + ", ".join(f"{printable(key['name'])} ({key['type']})" for key in found.keys))
    none = "no manifest: the table is all files below the folder"
    lines.append(none if found.manifest is None else f"manifest {found.manifest}")
    return "\n".join(lines)


def _verify(store: Folder, args: Any) -> str:
    started = time.perf_counter()
    with shown(_is_shown(), "verifying", "files") as show:
        report = maintain.verify(store.name, args.threads, show, store)
    if args.json:
        names = ("n_columns", "n_blocks", "n_values", "checked_len", "n_generations", "leftover_len")
        return json.dumps({"file": store.name, "sound": True, **{name: getattr(report, name) for name in names}})
    counts = f"{_count(report.n_blocks, 'block')}, {_count(report.n_values, 'value')}, {_size(report.checked_len)}"
    return f"{printable(store.name)}: sound ({counts}; checked in {time.perf_counter() - started:.2f} s)"


def _compact(store: Folder, args: Any) -> str:
    before = _folder.n_files(store.name, store)
    with shown(_is_shown(), "compacting", "rows") as show:
        maintain.compact(store.name, None, None, args.wait, show, store)
    after = _folder.n_files(store.name, store)
    return f"{printable(store.name)}: {_count(after, 'file')}, before {before:,}"


def _is_shown() -> bool:
    return sys.stderr.isatty()


def _count(n: int, name: str) -> str:
    return f"{n:,} {name}{'' if n == 1 else 's'}"


def _size(n: int) -> str:
    """A number of bytes with about three digits. 1 MB is 10^6 bytes."""
    if n < 1000:
        return f"{n} B"
    value = float(n)
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        value /= 1000
        # A value that would be rounded to 1000 gets the next unit.
        if value < 999.5:
            return f"{value:.{2 if value < 9.995 else int(value < 99.95)}f} {unit}"
    return f"{value / 1000:.0f} EB"
