"""The manifest of a folder: the files that are its table, as a file of Entasis."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from entasis._arguments.options import shown
from entasis._arguments.secrets import in_environment, of_data_set
from entasis._file.file import is_frame
from entasis._filter.conditions import Condition, col
from entasis._filter.fields import Field
from entasis._libraries import registry as _hosts
from entasis._open import open_value
from entasis._write import destination, write_whole
from entasis.errors import (
    ArgumentError,
    CorruptFileError,
    EntasisError,
    MissingFileError,
    NewerVersionError,
    WrongKeyError,
)

from .bounds import FLOATS, Bounds, arrow_type, bounded, pyarrow, scalar
from .keys import TYPES, Keys, is_of
from .part import FileFacts
from .paths import below, check_links, damaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from entasis._arguments.secrets import Secret
    from entasis._entasis import Key, Password
    from entasis._file.file import File
    from entasis._stores.listing import Folder
    from entasis._stores.reader import Stat
    from entasis._stores.remote import Remote
    from entasis._stores.store import Entry

FOLDER = "_entasis"
_NAME = re.compile(r"([0-9]{20})\.entasis")
# The last number of a manifest: readers have integers of 64 bits.
_LAST = (1 << 63) - 1
_VERSION = 1
# The columns of a manifest that say something about whole files, and the types of their values.
_OF_FILE: dict[str, type] = {
    "path": str,
    "length": int,
    "end": bytes,
    "generation": int,
    "n_rows": int,
    "is_counted": bool,
}
# The columns about each column with bounds.
_OF_COLUMN = ("min", "max", "missing", "nan", "values")
# Columns that other writers leave out, or leave empty.
_OPTIONAL = frozenset(["is_counted", "values"])
_TESTS = frozenset(["eq", "lt", "le", "gt", "ge"])
# Seconds to wait for another job that is creating a manifest.
_WAIT = 10


class Manifest(NamedTuple):
    """A manifest.

    Attributes
    ----------
    folder
        The folder of the table.
    number
        The number of the manifest, which counts up.
    job
        The random name of the job that wrote it.
    names, types
        The names and types of the columns of all files.
    keys
        The names and types of the keys, and the texts of their values by file.
    file
        The open manifest: a row for each file.
    store
        The folder on a store; None on the disk.
    secret
        Opens an encrypted manifest and its files; None for a plain one.
    """

    folder: str
    number: int
    job: str
    names: list[str]
    types: list[str]
    keys: Keys
    file: File
    store: Folder | None = None
    secret: Secret | None = None

    @property
    def path(self) -> str:
        """The path of the manifest."""
        return path_of(self.folder, self.number)

    def has(self, name: str) -> bool:
        """Whether the manifest has a column. Some are optional."""
        return name in self.file._view.names()

    def column(self, name: str) -> list[Any]:
        """A column about whole files, or the texts of a key.

        Raises
        ------
        CorruptFileError
            A value has another type, is missing or negative.
        """
        return self.columns([name])[0]

    def columns(self, names: Sequence[str]) -> list[list[Any]]:
        """Some of these columns, which are read together.

        Raises
        ------
        CorruptFileError
            As for `column`.
        """
        stored = [name for name in names if self.has(name)]
        found: Any = self.file.read(columns=stored, to=_exact()) if stored else {}
        return [self._checked(name, found[name]) if name in stored else [None] * self.file.n_rows for name in names]

    def _checked(self, name: str, column: Any) -> list[Any]:
        values: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
        kind, is_optional = _OF_FILE.get(name, str), name not in _OF_FILE or name in _OPTIONAL
        is_sound = set(map(type, values)) <= ({kind, type(None)} if is_optional else {kind})
        if not is_sound or (kind is int and min(values, default=0) < 0):
            for value in values:
                is_negative = isinstance(value, int) and value < 0
                if not (value is None and is_optional) and (type(value) is not kind or is_negative):
                    raise damaged(f"the manifest has {shown(value)} as {name} of a file", self.path)
        return values

    def paths(self, names: Sequence[str]) -> list[str]:
        """The paths of the files of these names."""
        return below(self.folder, names, self.path)

    def matching(self, condition: Condition) -> frozenset[int] | None:
        """The numbers of the files that can have rows that pass; None for all."""
        tree = _may_match(condition._tree, self, is_negated=False)
        if tree is True:
            return None
        if tree is False:
            return frozenset()
        return frozenset(self.file.scan(filter=Condition(tree)).row_numbers().tolist())


def newest(folder: str, store: Folder | None = None, secret: Secret | None = None) -> Manifest | None:
    """The newest manifest of a folder, on the disk or on a store; None if it has none."""
    found = _newest(folder, store)
    return None if found is None else opened(folder, found[0], store, found[1], secret)


def _newest(folder: str, store: Folder | None) -> tuple[int, Stat | None] | None:
    """The number of the newest manifest, and the size that a list of the store has."""
    if store is not None:
        entries = on_store(folder, store)
        return (max(entries), entries[max(entries)].stat) if entries else None
    number = newest_number(folder)
    return None if number is None else (number, None)


def exists(folder: str, store: Folder | None = None) -> bool:
    """Whether a folder has a manifest. None is opened."""
    return _newest(folder, store) is not None


def newest_source(folder: str, store: Folder | None) -> str | Remote:
    """The path of the newest manifest, or its object on a store."""
    found = _newest(folder, store)
    if found is None:
        raise missing(folder)
    return path_of(folder, found[0]) if store is None else store.open(within(found[0]), listed=found[1])


def replaced(folder: str, store: Folder | None, secret: Secret | None) -> Manifest | None:
    """As `newest`, for a table that is going to be replaced. One that does not open has no columns."""
    try:
        return newest(folder, store, secret)
    except (WrongKeyError, ArgumentError):
        found = _newest(folder, store)
        assert found is not None, "it was opened"
        # Only its number is needed.
        return Manifest(folder, found[0], "", [], [], Keys([], [], []), cast("File", None), store)


def newest_number(folder: str) -> int | None:
    """The number of the newest manifest on the disk."""
    return max(numbers(folder), default=None)


def numbers(folder: str) -> list[int]:
    """The numbers of all manifests on the disk, ascending."""
    try:
        names = os.listdir(os.path.join(folder, FOLDER))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return _numbered(folder, names)


def on_store(folder: str, store: Folder) -> dict[int, Entry]:
    """All manifests on a store by their numbers, ascending."""
    entries = {entry.path.removeprefix(f"{FOLDER}/"): entry for entry in store.list(f"{FOLDER}/")}
    return {number: entries[_name_of(number)] for number in _numbered(folder, entries)}


def _numbered(folder: str, names: Iterable[str]) -> list[int]:
    found = sorted(int(found[1]) for found in map(_NAME.fullmatch, names) if found)
    if found and found[-1] > _LAST:
        where = path_of(folder, found[-1])
        raise damaged(f"the number of {shown(where, 200)} is greater than {_LAST}", where)
    return found


def path_of(folder: str, number: int) -> str:
    """The path of a manifest."""
    return os.path.join(folder, FOLDER, _name_of(number))


def within(number: int) -> str:
    """The path of a manifest in its folder, with `/`."""
    return f"{FOLDER}/{_name_of(number)}"


def _name_of(number: int) -> str:
    return f"{number:020d}.entasis"


def joined(folder: str, name: str) -> str:
    """The address of an object in a folder, for messages."""
    return f"{folder.rstrip('/')}/{name}"


def opened(
    folder: str,
    number: int,
    store: Folder | None = None,
    listed: Stat | None = None,
    secret: Secret | None = None,
) -> Manifest:
    """Open a manifest. `listed` is the size that a list of the store has.

    A password is derived only here: its key opens the files too.

    Raises
    ------
    CorruptFileError
        It is not a manifest, or is damaged.
    """
    path = path_of(folder, number)
    if store is None:
        check_links(folder, path)
    source: Any = path if store is None else store.open(within(number), listed=listed)
    if secret is not None or in_environment():
        secret = of_data_set(source, secret)
    file: Any = open_value(source, secret)
    try:
        version = file.metadata["manifest"]
        is_later = version > _VERSION
        if not is_later:
            names, types = ([str(each) for each in file.metadata[one]] for one in ("names", "types"))
            keys = [(str(name), str(kind)) for name, kind in file.metadata["keys"]]
            job = str(file.metadata["job"])
            is_whole = is_frame(file) and _columns(names, types, keys) <= set(file._view.names())
    except (KeyError, TypeError, ValueError) as error:
        raise _other(path) from error
    if is_later:
        raise NewerVersionError(f"the manifest {shown(path, 200)} is of version {shown(version)}: update Entasis")
    if not is_whole:
        raise _other(path)
    found = Manifest(folder, number, job, names, types, Keys([], [], []), file, store, secret)
    texts = found.columns([f"key/{name}" for name, _ in keys])
    for (name, kind), values in zip(keys, texts, strict=True):
        wrong = next((text for text in values if text is not None and not is_of(text, kind)), None)
        if wrong is not None or kind not in TYPES:
            raise damaged(f"the manifest has the key {shown(name)} of type {shown(kind)} with {shown(wrong)}", path)
    return found._replace(keys=Keys([name for name, _ in keys], [kind for _, kind in keys], texts))


def _columns(names: list[str], types: list[str], keys: list[tuple[str, str]]) -> set[str]:
    """The names of the columns that each manifest has."""
    needed = {f"{of}/{name}" for name in bounded(names, types) for of in _OF_COLUMN if of not in _OPTIONAL}
    return needed | {*_OF_FILE.keys() - _OPTIONAL, *(f"key/{key}" for key, _ in keys)}


def _other(path: str) -> CorruptFileError:
    """The error for a file that is not a manifest."""
    error = CorruptFileError(f"{shown(path, 200)} is not a manifest")
    error.file = path
    return error


def store(
    folder: str,
    number: int,
    job: str,
    names: Sequence[str],
    types: Sequence[str],
    keys: Sequence[tuple[str, str]],
    parts: Sequence[FileFacts],
    durable: bool | None,
    operation: str,
    on_store: Folder | None = None,
    secret: Key | Password | None = None,
) -> None:
    """Create a manifest, on the disk or on a store.

    Raises
    ------
    ExistingFileError
        Another job created one with this number.
    """
    if number > _LAST:
        raise ArgumentError(f"{shown(folder, 200)} has no number for another manifest: write it to another folder")
    pa = pyarrow()
    columns: dict[str, Any] = {
        "path": pa.array([part.path for part in parts], pa.large_string()),
        "length": pa.array([part.length for part in parts], pa.int64()),
        "end": pa.array([part.end for part in parts], pa.large_binary()),
        "generation": pa.array([part.generation for part in parts], pa.int64()),
        "n_rows": pa.array([part.n_rows for part in parts], pa.int64()),
        "is_counted": pa.array([part.is_counted for part in parts], pa.bool_()),
    }
    for i, (name, _) in enumerate(keys):
        columns[f"key/{name}"] = pa.array([part.texts[i] for part in parts], pa.large_string())
    for name, kind in bounded(names, types).items():
        of = [part.bounds.get(name) for part in parts]
        columns[f"missing/{name}"] = pa.array([None if each is None else each.n_missing for each in of], pa.int64())
        columns[f"nan/{name}"] = pa.array([None if each is None else each.has_nan for each in of], pa.bool_())
        columns[f"values/{name}"] = pa.array([None if each is None else each.has_values for each in of], pa.bool_())
        arrow = arrow_type(kind)
        columns[f"min/{name}"] = pa.array([scalar(each and each.low, arrow) for each in of], arrow)
        columns[f"max/{name}"] = pa.array([scalar(each and each.high, arrow) for each in of], arrow)
    metadata = {
        "manifest": _VERSION,
        "job": job,
        "operation": operation,
        "names": list(names),
        "types": list(types),
        "keys": [list(key) for key in keys],
    }
    if on_store is not None:
        content = write_whole(pa.table(columns), destination(None, None, 1, False, 0, secret=secret), metadata, "error")
        assert content is not None, "it is written into memory"
        on_store.create(within(number), content)
        return
    check_links(folder, path_of(folder, number))
    os.makedirs(os.path.join(folder, FOLDER), exist_ok=True)
    to = destination(path_of(folder, number), None, 1, durable, _WAIT, overwrite=False, secret=secret)
    write_whole(pa.table(columns), to, metadata, "error")


def known(manifest: Manifest) -> list[FileFacts]:
    """The facts of the files of a manifest."""
    table = manifest.file.read(to="pyarrow")
    columns = {
        name: [table[f"{fact}/{name}"] if f"{fact}/{name}" in table.column_names else None for fact in _OF_COLUMN]
        for name in bounded(manifest.names, manifest.types)
    }
    found = []
    for i, of_file in enumerate(zip(*manifest.columns(list(_OF_FILE)), strict=True)):
        bounds = {}
        for name, facts in columns.items():
            low, high, *others = (None if fact is None else fact[i] for fact in facts)
            bounds[name] = Bounds(low, high, *(None if other is None else other.as_py() for other in others))
        texts = tuple(values[i] for values in manifest.keys.texts)
        found.append(FileFacts._make([*of_file, texts, bounds]))
    return found


def missing(folder: str) -> EntasisError:
    """The error for a folder without a manifest."""
    return MissingFileError(f"{shown(folder, 200)} has no manifest: write_dataset makes one")


def _exact() -> Any:
    return "pyarrow" if _hosts.is_installed("pyarrow") else "polars"


def _may_match(node: tuple[Any, ...], manifest: Manifest, *, is_negated: bool) -> Any:
    """A condition on a manifest that holds for each file with a row that passes; True for all files."""
    name, *rest = node
    if name in ("not", "engine"):
        return _may_match(rest[0], manifest, is_negated=is_negated ^ (name == "not"))
    if name in ("and", "or"):
        # De Morgan.
        joins = {"and": "or", "or": "and"}[name] if is_negated else name
        found = [_may_match(part, manifest, is_negated=is_negated) for part in rest[0]]
        if joins == "or":
            return True if True in found else ("or", [part for part in found if part is not False]) if found else False
        if False in found:
            return False
        found = [part for part in found if part is not True]
        return ("and", found) if found else True
    if isinstance(rest[0], Field) or not isinstance(rest[0], str):
        return True
    label = rest[0]
    kind = bounded(manifest.names, manifest.types).get(label)
    if kind is None:
        return True
    is_float = kind in FLOATS
    has_values = manifest.has(f"values/{label}")
    missing = _fact("missing", label, "gt", 0) | _is_missing("missing", label)
    nan = _fact("nan", label, "eq", True) | _is_missing("nan", label)
    values = _fact("values", label, "eq", True) | _is_missing("values", label)
    if name in ("nan", "nan if float"):
        return nan._tree if is_float and not is_negated else is_negated or name == "nan"
    if name in ("missing", "null") and not is_negated:
        # NaN of pandas is missing.
        return (missing | nan if is_float else missing)._tree
    tests = list(rest[1]) if name == "in" else [rest[1]] if name in _TESTS else None
    if tests is None or is_negated:
        # A comparison with a missing value is unknown, and its negation too. NaN differs from all
        # values.
        return (values | nan if is_float else values)._tree if has_values else True
    if not tests:
        return False
    compared = tuple(_compared("eq" if name == "in" else name, label, value)._tree for value in tests)
    whole = Condition(compared[0] if len(compared) == 1 else ("or", compared))
    whole = values & whole if has_values else whole
    try:
        # A value that the column does not compare with is an error of the file.
        manifest.file.scan(filter=whole, rows=(0, 0)).count()
        manifest.file.scan(filter=whole).explain()
    except EntasisError:
        return True
    return whole._tree


def _compared(name: str, label: str, value: Any) -> Condition:
    low = Condition(("le" if name in ("eq", "le") else "lt", f"min/{label}", value))
    high = Condition(("ge" if name in ("eq", "ge") else "gt", f"max/{label}", value))
    low, high = low | _is_missing("min", label), high | _is_missing("max", label)
    return low & high if name == "eq" else low if name in ("lt", "le") else high


def _fact(fact: str, label: str, test: str, value: Any) -> Condition:
    return Condition((test, f"{fact}/{label}", value))


def _is_missing(fact: str, label: str) -> Condition:
    return col(f"{fact}/{label}").is_missing()
