"""Texts as targets."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries
from entasis._convert import losses as _losses
from entasis._convert.inputs.file import FileInput
from entasis._convert.inputs.text import TextInput
from entasis._convert.inputs.value import ValueInput
from entasis._convert.left_out import LEFT_OUT, reason
from entasis._csv.scan import scan_csv
from entasis._csv.write import write_csv
from entasis._file.file import File, is_frame
from entasis.errors import UnsupportedTypeError

from .base import Options, Plan, counted, split_codec
from .tables import as_batches, as_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from entasis._convert.inputs.base import Input
    from entasis._convert.left_out import Loss
    from entasis._convert.target import New


def plan(given: Input, path: str, options: Options) -> Plan:
    """Decide how a table is written to a text."""
    form: dict[str, Any] = {"threads": options.threads, "nested": "json"}
    plain, codec = split_codec(path)
    codec = options.compression or codec
    form["compression"] = None if codec == "none" else codec
    if plain.endswith((".tsv", ".tab")):
        form["sep"] = "\t"
    form.update(options.writing)
    lost = _losses.of_file(given)
    spec: list[Any] = []
    given = as_batches(as_frame(given))
    if isinstance(given, (FileInput, ValueInput)):
        lost += _losses.of_index(given)
        value, more = _written_as_text(given)
        lost += more
        source = FileInput(value)
        lost += _of_text(source, _losses.in_csv)

        def write(new: New) -> None:
            with open(new.fd, "wb", closefd=False) as file, _libraries.writing(new.path):
                spec.append(write_csv(value, file, **form))
            options.done(value.n_rows)

        return Plan(lost, write, source.batches, lambda path: _reread_text(path, spec))
    if isinstance(given, TextInput):
        scan = given.scan
        lost += _of_text(given, _losses.in_csv)

        def write_scan(new: New) -> None:
            with open(new.fd, "wb", closefd=False) as file, _libraries.writing(new.path):
                spec.append(write_csv(scan, file, **form))

        return Plan(lost, write_scan, given.batches, lambda path: _reread_text(path, spec))
    lost += [*given.losses(), *_of_text(given, _losses.in_csv)]
    kept, more = _of_text_types(given.schema())
    lost += more
    import pyarrow as pa

    schema = given.schema()
    rest = pa.schema([schema.field(i) for i in kept])

    def written() -> Iterator[Any]:
        return (batch.select(kept) for batch in given.batches())

    def write_batches(new: New) -> None:
        empty = pa.Table.from_batches([], rest)
        with open(new.fd, "wb", closefd=False) as file, _libraries.writing(new.path):
            spec.append(write_csv(empty, file, **form))
            for batch in counted(written(), options):
                write_csv(batch, file, **{**form, "header": False})

    return Plan(lost, write_batches, written, lambda path: _reread_text(path, spec))


def _reread_text(path: str, spec: list[Any]) -> Input:
    return TextInput(scan_csv(path, spec=spec[0]))


def _of_text(given: Input, rule: Callable[[Any], str | None]) -> list[Loss]:
    if _libraries.load("pyarrow") is None:
        return []
    return _losses.of_text(given.schema(), rule)


def _of_text_types(schema: Any) -> tuple[list[int], list[Loss]]:
    """The columns of a schema that a text holds, and the others."""
    import pyarrow as pa

    kept, lost = [], []
    for i, field in enumerate(schema):
        try:
            write_csv(pa.Table.from_batches([], pa.schema([field])), io.BytesIO(), nested="json")
        except UnsupportedTypeError as error:
            lost.append((field.name, f"{LEFT_OUT}: {reason(error)}"))
        else:
            kept.append(i)
    return kept, lost


def _written_as_text(given: FileInput | ValueInput) -> tuple[File, list[Loss]]:
    """The columns of a file that a text holds, and the others."""
    file = given.file()
    if not is_frame(file):
        raise UnsupportedTypeError(f"{given.name} holds no table, and the target holds only tables")
    try:
        write_csv(file[:0], io.BytesIO(), nested="json")
        return file, []
    except UnsupportedTypeError:
        pass
    view = file._view
    every = list(range(view.handle.n_columns)) if view.columns is None else list(view.columns)
    kept, lost = [], []
    for number, label in zip(every, file.column_names, strict=True):
        try:
            write_csv(File._of(view.narrow([number], range(0))), io.BytesIO(), nested="json", index=False)
        except UnsupportedTypeError as error:
            lost.append((label, f"{LEFT_OUT}: {reason(error)}"))
        else:
            kept.append(number)
    return File._of(view.narrow(kept, view.rows)), lost
