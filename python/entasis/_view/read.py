"""Reads views: plain columns, levels of an index, and fields of structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns.fields import are_among
from entasis._memory import reported
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from .view import View


def read(
    view: View,
    to: str | None = None,
    threads: int | None = None,
    index: bool | None = None,
    *,
    is_restored: bool = True,
    skips: bool = False,
) -> Any:
    """Read a view. The parameters are those of `View.read`."""
    if are_among(view.columns):
        return _read_fields(view, to, threads, index, skips=skips)
    return view.read(to, threads, index, is_restored=is_restored, skips=skips)


@reported
def _read_fields(view: View, to: str | None, threads: int | None, index: bool | None, *, skips: bool) -> Any:
    from . import struct_fields as _struct_fields

    if skips:
        raise ArgumentError("on_unsupported='skip' leaves out columns, and fields of structs are asked for by name")
    return _struct_fields.read(view, to, threads, index)
