"""Lines of JSON as a target."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries
from entasis._convert import losses as _losses
from entasis._convert.inputs.open import opened
from entasis._convert.left_out import LEFT_OUT
from entasis.errors import ArgumentError, UnsupportedTypeError

from .base import Options, Plan, counted, split_codec
from .tables import as_batches, as_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._convert.inputs.base import Input
    from entasis._convert.left_out import Loss
    from entasis._convert.target import New


def plan(given: Input, path: str, options: Options) -> Plan:
    """Decide how a table is written to lines of JSON."""
    codec = options.compression or split_codec(path)[1] or "none"
    if codec not in ("none", "gzip", "zstd"):
        raise ArgumentError(f"{path}: compression {codec!r}: lines of JSON have 'none', 'gzip' or 'zstd'")
    lost = _losses.of_file(given)
    given = as_batches(as_frame(given))
    lost += [*_losses.of_index(given), *given.losses()]
    pa = _libraries.need("JSON lines", "pyarrow")
    schema = given.schema()
    kept = [i for i, field in enumerate(schema) if not _is_binary(field.type)]
    lost += [(schema.field(i).name, f"{LEFT_OUT}: JSON has no bytes") for i in range(len(schema)) if i not in kept]
    lost += _losses.of_text(pa.schema([schema.field(i) for i in kept]), _losses.in_json)
    names = [schema.field(i).name for i in kept]
    if len(set(names)) < len(names):
        raise UnsupportedTypeError("columns with equal names have no place in a JSON object: rename them")
    lost += _not_finite(given, [i for i in kept if pa.types.is_floating(schema.field(i).type)])

    def written() -> Iterator[Any]:
        return (batch.select(kept) for batch in given.batches())

    def write(new: New) -> None:
        polars = _libraries.load("polars")
        with _opened(new, codec) as file, _libraries.writing(new.path):
            for batch in counted(written(), options):
                if polars is not None and new.is_pipe:
                    # An error of Polars would not say that the pipe is closed.
                    text = io.BytesIO()
                    polars.from_arrow(batch).write_ndjson(text)
                    file.write(text.getvalue())
                elif polars is not None:
                    polars.from_arrow(batch).write_ndjson(file)
                else:
                    lines = batch.to_pandas().to_json(orient="records", lines=True, date_format="iso")
                    file.write(lines.rstrip("\n").encode() + b"\n")

    return Plan(lost, write, written, lambda path: opened(path, "jsonl"))


@contextmanager
def _opened(new: New, codec: str) -> Iterator[Any]:
    """The new file, or a stream that compresses into it."""
    import pyarrow as pa

    with open(new.fd, "wb", closefd=False) as file:
        if codec == "none":
            yield file
            return
        with pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec) as stream:
            yield stream


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    if types.is_nested(kind):
        return any(_is_binary(kind.field(i).type) for i in range(kind.num_fields))
    if types.is_dictionary(kind):
        return _is_binary(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _is_binary(kind.storage_type)
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _not_finite(given: Input, columns: list[int]) -> list[Loss]:
    """Columns with NaN or infinity, which JSON does not have."""
    import pyarrow.compute as pc

    found: dict[int, Loss] = {}
    if columns:
        for batch in given.batches():
            for i in columns:
                if i not in found and pc.all(pc.is_finite(batch.column(i))).as_py() is False:
                    found[i] = batch.schema.field(i).name, "NaN and infinity become null"
            if len(found) == len(columns):
                break
    return list(found.values())
