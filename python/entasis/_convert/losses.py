"""Losses of a conversion, by column and with the reason."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ConversionError, ConversionWarning

from .arrays import logical
from .inputs.file import FileInput
from .inputs.value import ValueInput
from .left_out import LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .inputs.base import Input
    from .left_out import Loss


def report(losses: Sequence[Loss], form: str, strict: bool) -> None:
    """Warn of losses, or refuse them."""
    if not losses:
        return
    said = [reason if column is None else f"column {shown(column)}: {reason}" for column, reason in losses[:3]]
    more = f"; and {len(losses) - 3} more (.losses has all)" if len(losses) > 3 else ""
    message = f"a file of {form} can't hold everything: {'; '.join(said)}{more}"
    if strict:
        raise ConversionError(message, losses=losses)
    warnings.warn(ConversionWarning(message, losses), stacklevel=4)


def of_file(given: Input) -> list[Loss]:
    """Losses of parts that belong to a whole file of Entasis."""
    if not isinstance(given, FileInput) or not given.is_table:
        return []
    found: list[Loss] = []
    if given.file().metadata is not None:
        found.append((None, "the metadata of the file are lost"))
    return found


def of_index(given: Input) -> list[Loss]:
    """Labels of rows that become columns."""
    if isinstance(given, ValueInput) and given.host in ("pandas", "static_frame"):
        given = given._as_file()
    if not isinstance(given, FileInput) or not given.is_table:
        return []
    host = given.file()._view.table.host
    found: list[Loss] = []
    index = host.get("index")
    if index and index.get("kind") != "range":
        found.append((None, "the labels of rows become columns"))
    elif index and (index.get("start", 0), index.get("step", 1), index.get("name")) != (0, 1, None):
        found.append((None, "the labels of rows are lost"))
    columns = host.get("columns")
    if columns and host.get("host") == "pandas":
        if columns.get("kind") != "names" or columns.get("dtype") != "str":
            found.append((None, "the labels of columns become text"))
        elif columns.get("name") is not None:
            found.append((None, "the name of the labels of columns is lost"))
    if host.get("attrs"):
        found.append((None, "the attributes of the frame are lost"))
    return found


def of_schemas(before: Any, after: Any, *, exact: bool) -> list[Loss]:
    """Differences of two schemas of Arrow, by the columns of the first.

    Without `exact`, the layout of a type does not count: only pyarrow has types for it.
    """
    found: list[Loss] = []
    for field in before:
        i = after.get_field_index(field.name)
        if i < 0:
            if after.names.count(field.name) == 0:
                found.append((field.name, LEFT_OUT))
            continue
        other = after.field(i)
        if other.type != field.type and (exact or logical(other.type) != logical(field.type)):
            found.append((field.name, f"{field.type} becomes {other.type}"))
        elif (field.metadata or {}).items() - (other.metadata or {}).items():
            found.append((field.name, "its metadata are lost"))
    if (before.metadata or {}).items() - (after.metadata or {}).items():
        found.append((None, "the metadata of the schema are lost"))
    return found


def of_frames(before: Any, after: Any) -> list[Loss]:
    """Differences of two frames of pandas without rows."""
    found: list[Loss] = []
    labels = list(before.columns)
    if list(map(type, labels)) != list(map(type, after.columns)) or labels != list(after.columns):
        found.append((None, "the labels of columns become text"))
    elif type(before.columns) is not type(after.columns) or before.columns.dtype != after.columns.dtype:
        found.append((None, f"the labels of columns become {after.columns.dtype}"))
    if list(before.columns.names) != list(after.columns.names):
        found.append((None, "the names of the levels of columns are lost"))
    for label, one, other in zip(labels, before.dtypes, after.dtypes, strict=False):
        if one != other or str(one) != str(other) or _categories(one) != _categories(other):
            found.append((label, f"{one} becomes {other}"))
    rows, after_rows = before.index, after.index
    if list(rows.names) != list(after_rows.names):
        found.append((None, "the names of the labels of rows are lost"))
    if type(rows) is not type(after_rows) or _dtypes(rows) != _dtypes(after_rows):
        found.append((None, f"the labels of rows of type {_kind(rows)} become {_kind(after_rows)}"))
    elif getattr(rows, "freq", None) != getattr(after_rows, "freq", None):
        found.append((None, "the frequency of the labels of rows is lost"))
    if getattr(before.columns, "freq", None) != getattr(after.columns, "freq", None):
        found.append((None, "the frequency of the labels of columns is lost"))
    if repr(before.attrs) != repr(after.attrs):
        found.append((None, "the attributes of the frame are lost"))
    if before.flags.allows_duplicate_labels != after.flags.allows_duplicate_labels:
        found.append((None, "the flag against equal labels is lost"))
    return found


def of_text(given: Any, is_lossy: Callable[[Any], str | None]) -> list[Loss]:
    """Columns of a schema of Arrow whose types a text does not have."""
    return [(field.name, reason) for field in given if (reason := is_lossy(field.type)) is not None]


def in_csv(kind: Any) -> str | None:
    """Why a reader of a text sees another type; None if it does not."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return None
    if kind in (pa.bool_(), pa.int64(), pa.float64(), pa.date32()):
        return None
    if types.is_timestamp(kind):
        return None if kind.tz is None else f"{kind} is written in UTC"
    if types.is_dictionary(kind):
        return "its categories become text"
    if types.is_nested(kind):
        return f"{kind} becomes text (JSON)"
    if types.is_decimal(kind) or types.is_floating(kind) or types.is_integer(kind):
        return f"the type {kind} is not in the text"
    return f"{kind} becomes text"


def in_json(kind: Any) -> str | None:
    """Why a reader of lines of JSON sees another type; None if it does not."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind):
        return None
    if kind in (pa.bool_(), pa.int64(), pa.float64()):
        return None
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind):
        return in_json(kind.value_type)
    if types.is_struct(kind):
        return next(filter(None, (in_json(field.type) for field in kind)), None)
    if types.is_dictionary(kind):
        return "its categories become text"
    if types.is_integer(kind) or types.is_floating(kind):
        return f"the type {kind} is not in the text"
    return f"{kind} becomes text"


def _categories(dtype: Any) -> Any:
    """The categories of a dtype with their own dtype; equal dtypes of pandas may have others."""
    found = getattr(dtype, "categories", None)
    if found is None:
        return None
    return type(found).__name__, str(found.dtype), found.name, getattr(found, "freq", None), list(map(repr, found))


def _dtypes(index: Any) -> Any:
    return list(map(str, index.dtypes)) if hasattr(index, "dtypes") else str(index.dtype)


def _kind(index: Any) -> str:
    return f"{type(index).__name__} ({', '.join(_dtypes(index)) if hasattr(index, 'dtypes') else index.dtype})"
