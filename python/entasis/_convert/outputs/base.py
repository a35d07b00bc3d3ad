"""Plans and options of all targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._arguments.options import DEFAULT_COMPRESSION, shown
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from entasis._convert.inputs.base import Input
    from entasis._convert.left_out import Loss
    from entasis._entasis import Key, Password


class Plan(NamedTuple):
    """How a target is written.

    Attributes
    ----------
    losses
        What the target can't hold.
    write
        Writes it to a new file.
    written
        The rows as they are written, in batches, to compare them with those that are read back.
        None for values without batches.
    reread
        Reads the rows of a written file back.
    compare
        Whether a written file has the value, for values without batches.
    """

    losses: list[Loss]
    write: Callable[[Any], object]
    written: Callable[[], Iterator[Any]] | None = None
    reread: Callable[[str], Input] | None = None
    compare: Callable[[str], bool] | None = None


# Ends of names and compressions. Texts are not written in the last two.
_ENDS = ((".gz", "gzip"), (".bgz", "gzip"), (".zst", "zstd"), (".bz2", "bzip2"), (".xz", "xz"))


class Options(NamedTuple):
    """Options of a conversion."""

    compression: Any
    threads: int | None
    durable: bool | None
    wait: float
    # Whether a file at the path is replaced.
    overwrite: bool
    # Is called with the number of rows that were written.
    done: Callable[[int], None]
    # Options of `write_csv` for a text.
    writing: Mapping[str, Any] = {}
    # The secret of a target of Entasis, and of a file that is staged for another one.
    secret: Key | Password | None = None

    def codec(self, default: str, known: tuple[str, ...], form: str) -> str:
        """The name of a compression of another format."""
        found = default if self.compression is None else self.compression
        if found not in known:
            raise ArgumentError(
                f"compression={shown(found)}: a file of {form} has one of {', '.join(map(repr, known))}"
            )
        return str(found)


def split_codec(path: str) -> tuple[str, str | None]:
    """A path in lower case without the suffix of its compression, and the compression."""
    path = path.lower()
    for end, codec in _ENDS:
        if path.endswith(end):
            return path.removesuffix(end), codec
    return path, None


def level(compression: Any) -> Any:
    """The compression of an Entasis file."""
    if isinstance(compression, str):
        raise ArgumentError(f"compression={shown(compression)}: an Entasis file has a number from 0 to 100")
    return DEFAULT_COMPRESSION if compression is None else compression


def counted(batches: Iterator[Any], options: Options) -> Iterator[Any]:
    """Batches, with the number of rows reported after each is written."""
    n = 0
    for batch in batches:
        yield batch
        n += batch.num_rows if hasattr(batch, "num_rows") else len(batch)
        options.done(n)
