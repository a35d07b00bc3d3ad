"""RDS files as targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._convert import losses as _losses
from entasis._convert import target as _target
from entasis.errors import ConversionError

from . import entasis_file as _entasis_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._convert.inputs.base import Input
    from entasis._convert.left_out import Loss
    from entasis._entasis import Key, Password

    from .base import Options

COMPRESSIONS = ("gzip", "none", "xz")


def store(
    source: Input | str | bytes,
    path: str,
    options: Options,
    progress: Callable[[int, int | None], Any] | None,
    strict: bool,
    verify: bool,
    secret: Key | Password | None,
) -> None:
    """Write a value as `read_entasis()` of R returns it.

    Files of Entasis and of R are read by the core. Other sources become a file of Entasis first,
    next to the target. `secret` opens the file that is read, and encrypts the one between.
    """
    if isinstance(source, (str, bytes)):
        _store(source, path, options, progress, strict, verify, secret, [])
        return
    plan = _entasis_file.plan(source, options._replace(compression=None, overwrite=True, secret=secret))
    with _target.beside(f"{path}.entasis", is_kept=False) as staged:
        plan.write(staged)
        _store(staged, path, options, progress, strict, verify, secret, plan.losses)


def _store(
    source: str | bytes,
    path: str,
    options: Options,
    progress: Callable[[int, int | None], Any] | None,
    strict: bool,
    verify: bool,
    secret: Key | Password | None,
    lost: list[Loss],
) -> None:
    compression = options.codec("gzip", COMPRESSIONS, "rds")
    with _target.replacing(path, options.durable, overwrite=options.overwrite) as new:
        more = _entasis.store_rds(source, new.path, compression, options.threads, progress, secret)
        losses = lost + [loss for loss in more if loss not in lost]
        _losses.report(losses, "rds", strict)
        if verify and not _entasis.is_rds_of(source, new.path, secret):
            raise ConversionError(f"{path}: what is read back differs from the source", losses=losses)
