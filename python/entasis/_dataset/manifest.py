"""The manifest of a folder: the files that are its table, as a file of Entasis."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._arguments.options import shown
from entasis._file.file import is_frame
from entasis._filter.conditions import Condition, col
from entasis._filter.fields import Field
from entasis._libraries import registry as _hosts
from entasis._open import open_value
from entasis._write import destination, write_whole
from entasis.errors import ArgumentError, CorruptFileError, EntasisError, MissingFileError, MissingLibraryError

from .keys import Keys
from .part import Bounds, FileFacts, bounded
from .paths import below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entasis._file.file import File

FOLDER = "_entasis"
_NAME = re.compile(r"(\d{20})\.entasis")
_VERSION = 1
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
    """

    folder: str
    number: int
    job: str
    names: list[str]
    types: list[str]
    keys: Keys
    file: File

    @property
    def path(self) -> str:
        """The path of the manifest."""
        return path_of(self.folder, self.number)

    def column(self, name: str) -> list[Any]:
        """A column of facts."""
        found: Any = self.file.read(columns=[name], to=_exact())[name]
        values: list[Any] = found.to_pylist() if hasattr(found, "to_pylist") else found.to_list()
        return values

    def paths(self) -> list[str]:
        """The paths of the files."""
        where = self.path
        return [below(self.folder, path, where) for path in self.column("path")]

    def matching(self, condition: Condition) -> frozenset[int] | None:
        """The numbers of the files that can have rows that pass; None for all."""
        tree = _may_match(condition._tree, self, is_negated=False)
        if tree is True:
            return None
        if tree is False:
            return frozenset()
        return frozenset(self.file.scan(filter=Condition(tree)).row_numbers().tolist())


def newest(folder: str) -> Manifest | None:
    """The newest manifest of a folder; None if it has none."""
    number = newest_number(folder)
    return None if number is None else opened(folder, number)


def newest_number(folder: str) -> int | None:
    """The number of the newest manifest."""
    return max(numbers(folder), default=None)


def numbers(folder: str) -> list[int]:
    """The numbers of all manifests, ascending."""
    try:
        names = os.listdir(os.path.join(folder, FOLDER))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(int(found[1]) for found in map(_NAME.fullmatch, names) if found)


def path_of(folder: str, number: int) -> str:
    """The path of a manifest."""
    return os.path.join(folder, FOLDER, f"{number:020d}.entasis")


def opened(folder: str, number: int) -> Manifest:
    """Open a manifest.

    Raises
    ------
    CorruptFileError
        It is not a manifest, or is damaged.
    """
    path = path_of(folder, number)
    file: Any = open_value(path)
    metadata = file.metadata
    try:
        if not is_frame(file) or metadata["manifest"] > _VERSION:
            raise ArgumentError(f"the manifest {shown(path, 200)} is of a later version: update Entasis")
        names, types = list(metadata["names"]), list(metadata["types"])
        keys = [(str(name), str(kind)) for name, kind in metadata["keys"]]
        job = str(metadata["job"])
    except (KeyError, TypeError, ValueError) as error:
        damaged = CorruptFileError(f"{shown(path, 200)} is not a manifest")
        damaged.file = path
        raise damaged from error
    found = Manifest(folder, number, job, names, types, Keys([], [], []), file)
    texts = [found.column(f"key/{name}") for name, _ in keys]
    return found._replace(keys=Keys([name for name, _ in keys], [kind for _, kind in keys], texts))


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
) -> None:
    """Create a manifest.

    Raises
    ------
    ExistingFileError
        Another job created one with this number.
    """
    pa = _pyarrow()
    columns: dict[str, Any] = {
        "path": pa.array([part.path for part in parts], pa.large_string()),
        "length": pa.array([part.length for part in parts], pa.int64()),
        "end": pa.array([part.end for part in parts], pa.large_binary()),
        "generation": pa.array([part.generation for part in parts], pa.int64()),
        "n_rows": pa.array([part.n_rows for part in parts], pa.int64()),
    }
    for i, (name, _) in enumerate(keys):
        columns[f"key/{name}"] = pa.array([part.texts[i] for part in parts], pa.large_string())
    for name, kind in zip(names, types, strict=True):
        if not bounded(kind):
            continue
        of = [part.bounds.get(name) for part in parts]
        columns[f"missing/{name}"] = pa.array([None if each is None else each.n_missing for each in of], pa.int64())
        columns[f"nan/{name}"] = pa.array([None if each is None else each.has_nan for each in of], pa.bool_())
        arrow = _arrow_type(kind)
        columns[f"min/{name}"] = pa.array([_scalar(each and each.low, arrow) for each in of], arrow)
        columns[f"max/{name}"] = pa.array([_scalar(each and each.high, arrow) for each in of], arrow)
    metadata = {
        "manifest": _VERSION,
        "job": job,
        "operation": operation,
        "names": list(names),
        "types": list(types),
        "keys": [list(key) for key in keys],
    }
    os.makedirs(os.path.join(folder, FOLDER), exist_ok=True)
    to = destination(path_of(folder, number), None, 1, durable, _WAIT, overwrite=False)
    write_whole(pa.table(columns), to, metadata, "error")


def known(manifest: Manifest) -> list[FileFacts]:
    """The facts of the files of a manifest."""
    table = manifest.file.read(to="pyarrow")
    rows = {name: table[name].to_pylist() for name in ("path", "length", "end", "generation", "n_rows")}
    found = []
    for i in range(table.num_rows):
        bounds = {}
        for name, kind in zip(manifest.names, manifest.types, strict=True):
            if bounded(kind):
                found_bounds = [table[f"{fact}/{name}"][i] for fact in ("min", "max", "missing", "nan")]
                bounds[name] = Bounds(
                    found_bounds[0], found_bounds[1], found_bounds[2].as_py(), found_bounds[3].as_py()
                )
        texts = tuple(values[i] for values in manifest.keys.texts)
        found.append(
            FileFacts(
                rows["path"][i],
                rows["length"][i],
                rows["end"][i],
                rows["generation"][i],
                rows["n_rows"][i],
                texts,
                bounds,
            )
        )
    return found


def missing(folder: str) -> EntasisError:
    """The error for a folder without a manifest."""
    return MissingFileError(f"{shown(folder, 200)} has no manifest: write_dataset makes one")


def _exact() -> Any:
    return "pyarrow" if _hosts.is_installed("pyarrow") else "polars"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingLibraryError("data sets need pyarrow: pip install pyarrow") from error
    return pyarrow


def _arrow_type(kind: str) -> Any:
    """The type of bounds."""
    pa = _pyarrow()
    simple = {
        **{
            f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
        },
        "f32": "float32",
        "f64": "float64",
        "date": "date32",
        "utf8": "large_string",
    }
    if kind in simple:
        return getattr(pa, simple[kind])()
    unit, _, zone = kind.removeprefix("timestamp[").removesuffix("]").partition(", ")
    return pa.timestamp(unit, zone or None) if unit in ("s", "ms", "us", "ns") else pa.null()


def _scalar(value: Any, of: Any) -> Any:
    """A bound as a scalar of a type; None if it has no exact counterpart."""
    import numpy as np

    pa = _pyarrow()
    if value is None or pa.types.is_null(of):
        return None
    try:
        if isinstance(value, pa.Scalar):
            return value.cast(of).as_py() if not pa.types.is_timestamp(of) else value.cast(of)
        if isinstance(value, np.datetime64):
            if pa.types.is_date(of):
                return value.astype("M8[D]").astype(object)
            return pa.scalar(value.astype(f"M8[{of.unit}]").astype("i8").item(), pa.int64()).cast(of)
        return pa.scalar(value, of).as_py()
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None


def _may_match(node: tuple[Any, ...], manifest: Manifest, *, is_negated: bool) -> Any:
    """A condition on a manifest that holds for each file with a row that passes; True for all files."""
    name, *rest = node
    if name == "not":
        return _may_match(rest[0], manifest, is_negated=not is_negated)
    if name == "engine":
        return _may_match(rest[0], manifest, is_negated=is_negated)
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
    if is_negated or isinstance(rest[0], Field) or not isinstance(rest[0], str):
        return True
    label = rest[0]
    kind = dict(zip(manifest.names, manifest.types, strict=True)).get(label)
    if kind is None or not bounded(kind):
        return True
    if name in ("missing", "null"):
        # NaN of pandas is missing.
        return (
            _fact("missing", label, "gt", 0) | _is_missing("missing", label) | _fact("nan", label, "eq", True)
        )._tree
    values = list(rest[1]) if name == "in" else [rest[1]] if name in _TESTS else None
    if values is None:
        return True
    tests = [_compared("eq" if name == "in" else name, label, value) for value in values]
    if not tests:
        return False
    has_nan = _fact("nan", label, "eq", True)
    whole = tests[0]
    for test in tests[1:]:
        whole = whole | test
    whole = whole | has_nan if kind in ("f32", "f64") else whole
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
