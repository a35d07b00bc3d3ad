"""Entasis files as targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entasis._convert.in_memory import are_same
from entasis._convert.inputs.arrow import ArrowInput, joined
from entasis._convert.inputs.file import FileInput
from entasis._convert.inputs.open import opened
from entasis._convert.inputs.polars import PolarsInput
from entasis._convert.inputs.scan import ScanInput
from entasis._convert.inputs.text import TextInput
from entasis._convert.left_out import NAN_OF_PANDAS, of_values
from entasis._file.file import is_frame
from entasis._grow.writer import Writer, write_stream
from entasis._libraries import registry as _hosts
from entasis._write import destination, write_whole
from entasis.errors import ArgumentError

from .base import Options, Plan, counted, level

if TYPE_CHECKING:
    from entasis._convert.inputs.base import Input
    from entasis._entasis import Destination


def plan(given: Input, options: Options) -> Plan:
    """Decide how a table or value is stored."""
    compression = level(options.compression)

    def to(path: str) -> Destination:
        return destination(
            path,
            compression,
            options.threads,
            options.durable,
            options.wait,
            overwrite=options.overwrite,
            secret=options.secret,
        )

    def reopened(path: str) -> Input:
        return opened(path, "entasis", secret=options.secret)

    lost = given.losses() if isinstance(given, ArrowInput) else []
    if isinstance(given, ArrowInput) and (given.host != "pandas" or given._is_part()):
        return Plan(lost, lambda path: _write_batches(given, to(path), options), given.batches, reopened)
    if isinstance(given, TextInput):
        return Plan(lost, lambda path: given.scan._query.store(to(path)), given.batches, reopened)
    if isinstance(given, PolarsInput):

        def write_frames(path: str) -> None:
            with Writer(to(path), None, False) as writer:
                for frame in counted(given.frames(), options):
                    writer.write(frame)

        return Plan([], write_frames, compare=lambda path: are_same(given.whole(), reopened(path).whole()))
    if isinstance(given, ScanInput):
        return Plan(
            [],
            lambda path: given.store(to(path), options.done),
            compare=lambda path: are_same(given.whole(), reopened(path).whole()),
        )
    if isinstance(given, FileInput):
        file = given.file()

        def write_file(path: str) -> None:
            metadata = file.metadata
            if (
                metadata is None
                and is_frame(file)
                and write_stream(file, to(path), lambda n, total: options.done(n))[0]
            ):
                return
            write_whole(file, to(path), metadata, "error")

        def write_read(path: str) -> None:
            write_whole(file.read(), to(path), file.metadata, "error")

        lost = given.losses_of_r()
        if given.is_table and _hosts.is_foreign(file.written_by):
            if not of_values(given.losses()):
                return Plan(lost, lambda path: _write_batches(given, to(path), options), given.batches, reopened)
            if any("float" in str(kind) or kind == "double" for kind in given.schema().types):
                lost = [*lost, (None, NAN_OF_PANDAS)]
            return Plan(lost, write_read, compare=lambda path: are_same(file.read(), reopened(path).whole()))
        if given.is_table and given.losses() == lost:
            return Plan(lost, write_file, given.batches, reopened)
        return Plan(lost, write_file, compare=lambda path: are_same(file.read(), reopened(path).whole()))

    value = given.whole()
    return Plan(
        lost,
        lambda path: write_whole(value, to(path), None, "error"),
        compare=lambda path: are_same(value, reopened(path).whole()),
    )


def _write_batches(given: ArrowInput | FileInput, to: Destination, options: Options) -> None:
    """Write a table of Arrow by batches."""
    try:
        with Writer(to, given.schema(), False) as writer:
            for batch in counted(given.batches(), options):
                writer.write(batch)
    except ArgumentError:
        # Dictionaries in lists and structs differ from batch to batch.
        write_whole(joined(given), to, None, "error")
