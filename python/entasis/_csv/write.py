"""Writes tables as text files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from entasis import _entasis
from entasis._arguments import options as _options
from entasis._arguments import progress as _progress
from entasis._arguments import sources as _sources
from entasis._columns.fields import FieldColumn
from entasis._columns.levels import with_labels
from entasis._file.file import File
from entasis._file.opened import Opened
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._view.table import OpenTable
from entasis._view.view import View
from entasis._write import destination, of_scan, write_whole
from entasis.errors import ArgumentError

from . import arguments as _arguments
from .scan import CsvScan
from .spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Protocol

    from entasis._entasis import Builder

    class Writable(Protocol):
        """An object that takes bytes."""

        def write(self, data: bytes, /) -> Any:
            """Take bytes."""


# Types of columns, and their names in specs. Other types but times, decimals and categoricals are
# strings.
_TYPES = {
    "null": "null",
    "bool": "bool",
    "date": "date",
    "f32": "float32",
    "f64": "float64",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}


def write_csv(
    value: Any,
    target: _sources.Path | Writable,
    *,
    sep: str = ",",
    quote: Literal["auto", "all", "non_numeric", "never"] = "auto",
    na: str = "",
    decimal: Literal[".", ","] = ".",
    header: bool = True,
    line_end: Literal["\n", "\r\n"] = "\n",
    bom: bool = False,
    digits: Literal[15] | None = None,
    formulas: Literal["keep", "quote"] = "keep",
    dates: str
    | Iterable[str]
    | Mapping[str, str | Iterable[str]]
    | Mapping[str | None, str | Iterable[str]]
    | None = None,
    nested: Literal["json"] | None = None,
    append: bool = False,
    index: bool = True,
    compression: Literal["gzip", "zstd"] | None = None,
    threads: int | None = None,
    durable: bool | None = None,
    progress: bool | Callable[..., Any] | None = None,
    overwrite: bool = True,
) -> Spec:
    r"""Write a table as a text file with separated fields.

    The text is exact: floats have the fewest digits that read back as them, `""` is an empty text
    and nothing a missing value, and a text that a reader would take for a number, a date or a word
    gets quotes. The spec that is returned reads the same types back.

    Parameters
    ----------
    value
        A frame of any library, a dict of arrays, or a `File`, a `Scan` or a `CsvScan`, whose rows
        are written without holding all of them in memory.
    target
        A path, whose file is replaced when all is written, or an object with `write`, which gets
        bytes.
    sep
        The separator, one ASCII character.
    quote
        Which fields are quoted: "auto", where it is needed; "all", all that are not missing;
        "non_numeric", all but numbers and booleans; "never": then a text with a separator, a quote
        or a line end is an error.
    na
        The word for missing values. A text that equals it is quoted.
    decimal
        The decimal mark.
    header
        Whether the first row has the names.
    line_end
        The end of each line.
    bom
        Whether the text begins with a byte order mark, which some spreadsheets need.
    digits
        15 writes floats with at most 15 significant digits, as other programs do. Such floats do
        not all come back.
    formulas
        "quote" puts an apostrophe before texts that begin with `=`, `+`, `-`, `@`, a tab or a
        carriage return, so that a spreadsheet does not run them.
    dates
        A format of dates and times in place of ISO 8601, such as "%d.%m.%Y", with the parts that
        `read_csv` knows. It is for columns of dates, or of times if it has a time of day, and with
        `%z` of times with a zone. A list has several formats. A dict has formats for single
        columns: `{"day": "%m/%d/%Y"}`. Its key None stands for all other columns. A format without
        a time of day for a column of times at midnight makes them dates.
    nested
        "json" writes the values of columns of lists, structs and maps as JSON. None refuses such
        columns. The spec reads them back as text.
    append
        Whether to add the rows to an old file. It must begin with the same header, unless
        `header=False`. The old file is copied, and replaced when all is written.
    index
        Whether to write the levels of an index as first columns. The positions of rows are never
        written.
    compression
        "gzip" or "zstd". None takes it from the end of the path: ".gz", ".zst".
    threads
        The number of threads. None means one per processor.
    durable
        Whether to force the file to the disk. None does so only if the file replaces one.
    progress
        True shows a bar after one second. A function is called with the rows that were written,
        with all rows, and with `unit="rows"`. For a `CsvScan` it is called as by `CsvScan.read`,
        with the bytes that were read. An exception of the function ends the writing.
    overwrite
        False never replaces a file: one that exists is an error at once, and also if another
        process makes it meanwhile. It is for paths, without `append`.

    Returns
    -------
    Spec
        The form, names and types of the text: `read_csv(target, spec=spec)` returns the same
        values. `to_json()` keeps it in a file of its own. Types that `read_csv` does not give, such
        as durations, are strings in it.

    Raises
    ------
    UnsupportedTypeError
        A column has a type that a text does not have, such as lists or bytes.
    ArgumentError
        An argument does not fit, a text needs quotes that `quote="never"` forbids, or a format of
        `dates` does not hold a value exactly.
    ColumnNotFoundError
        `dates` has the name of a column that is not written.
    ExistingFileError
        The file exists, and `overwrite=False`.
    FileError
        The operating system refused to write.

        After any error the old file is unchanged.

    Notes
    -----
    The cost is one pass over the values. A frame and a file on the disk take memory for some
    windows of about 4 MiB.

    Times are written by ISO 8601: those with a time zone in UTC, as `2026-01-31T12:00:00Z`, and
    durations as `P1DT2H0M0S`. Categories are written as their values. NaN of pandas is a missing
    value, as for `read(to="polars")`.

    Examples
    --------
    >>> import io
    >>> text = io.BytesIO()
    >>> spec = en.write_csv(pd.DataFrame({"city": ["Oslo", None, "7"], "x": [0.1, -0.0, 3]}), text)
    >>> print(text.getvalue().decode(), end="")
    city,x
    Oslo,0.1
    ,-0.0
    "7",3.0
    """
    with reported:
        to = _target(target)
        form = {
            "sep": ord(_ascii("sep", sep)),
            "quote": _one_of("quote", quote, ("auto", "all", "non_numeric", "never")),
            "na": _text("na", na),
            "decimal": ord(_one_of("decimal", decimal, (".", ","))),
            "header": bool(header),
            "has_returns": _one_of("line_end", line_end, ("\n", "\r\n")) == "\r\n",
            "bom": bool(bom),
            "is_short": _one_of("digits", digits, (None, 15)) == 15,
            "dates": _formats(dates),
            "disarms": _one_of("formulas", formulas, ("keep", "quote")) == "quote",
            "nested": _one_of("nested", nested, (None, "json")) == "json",
            "compression": _one_of("compression", compression, (None, "gzip", "zstd")),
            "threads": _options.threads(threads),
        }
        if append and not isinstance(to, str):
            raise ArgumentError("append= adds to a file: pass its path")
        if not overwrite:
            if not isinstance(to, str):
                raise ArgumentError("overwrite=False is for paths: an object with write gets all bytes")
            if append:
                raise ArgumentError("overwrite=False is for new files, and append=True adds to one that exists")
            _entasis.check_new(to)
        old = "append" if append else "replace" if overwrite else "refuse"
        if type(value) is CsvScan:
            query = value._query
            query.write(form, to, old=old, durable=_options.durable(durable), progress=progress)
            empty = query.view()
            return _spec(empty.handle, _columns(empty, index=False), form)
        view, rows, builder = _rows(value, threads, index=bool(index), as_file=form["nested"])
        columns = _columns(view, index=bool(index))
        with _progress.shown(progress, "writing", "rows") as show:
            _entasis.write_csv(view.handle, columns, rows, form, to, old, _options.durable(durable), show, builder)
        return _spec(view.handle, columns, form)


def _target(target: Any) -> Any:
    if isinstance(target, (str, bytes)) or hasattr(type(target), "__fspath__"):
        return os.fspath(_sources.path(target))
    if not callable(getattr(target, "write", None)):
        raise ArgumentError(f"write_csv writes into a path or an object with write, not a {type(target).__name__}")
    return target


def _rows(
    value: Any, threads: int | None, *, index: bool, as_file: bool
) -> tuple[View, tuple[int, int], Builder | None]:
    """A view whose columns are written, its consecutive rows, and the values if they are in memory.

    With `as_file`, all values are those of a file.
    """
    given = value = of_scan(value)
    if isinstance(value, File):
        view = value._view
        rows = view.rows
        is_stored = type(view.handle) is _entasis.Handle and not any(
            type(column) is FieldColumn or column < 0 for column in view.columns or ()
        )
        is_plain = is_stored and view.handle.is_table
        if is_plain and (rows is None or (isinstance(rows, range) and rows.step == 1)):
            return view, (0, view.handle.n_rows) if rows is None else (rows.start, rows.stop), None
    if isinstance(value, Opened):
        # Rows that are not consecutive, mapped files, fields of structs.
        value = value._to_store(index=index)
    elif type(value) is not dict:
        value = _hosts.collect(value)
    if not (_hosts.is_columns(value) if type(value) is dict else _hosts.is_frame(value)):
        what = "a file without a table" if isinstance(given, Opened) else f"a {type(value).__name__}"
        raise ArgumentError(f"write_csv writes frames, dicts of arrays, files and scans, not {what}")
    builder, host = _hosts.build(value)
    n_rows, memory = builder.n_rows, destination(None, 0, threads, None, 0)
    # Trees are columns of objects.
    if as_file := as_file or builder.has_trees:
        content = write_whole(value, memory, None, "error", is_table=True)
    else:
        content = builder.schema(host, memory)
    assert content is not None, "a file in memory has bytes"
    view = View(OpenTable(_entasis.Handle(content, None, False), "<frame>"))
    return view, (0, n_rows), None if as_file else builder


def _columns(view: View, *, index: bool) -> list[tuple[int, str]]:
    """The numbers and names of the columns, after the levels of the index."""
    host = view.table.host if index else {}
    numbers, renamed = with_labels(view.handle, host, view.columns)
    if numbers is None:
        numbers = list(range(view.handle.n_columns))
    infos = view.handle.columns(numbers)
    return [(number, renamed.get(i, info.name)) for i, (number, info) in enumerate(zip(numbers, infos, strict=True))]


def _spec(handle: _entasis.Handle, columns: list[tuple[int, str]], form: dict[str, Any]) -> Spec:
    """The spec that reads a text back."""
    infos = handle.columns([number for number, _ in columns])
    of = {name: text for name, text in form["dates"] if name is not None}
    # A reader renames columns with the name of another.
    names = _entasis.names_of_spec([name for _, name in columns])
    dates = {made: [of[name]] for (_, name), made in zip(columns, names, strict=True) if name in of}
    return Spec(
        {
            "separator": chr(form["sep"]),
            "quote": '"',
            "escape": None,
            "comment": None,
            "encoding": "utf-8",
            "skip": 0,
            "header": form["header"],
            # The types are given, so that quotes tell texts from missing values and nothing else.
            "all_quoted": False,
            "names": names,
            "types": [_type(info.type_name, of.get(name)) for info, (_, name) in zip(infos, columns, strict=True)],
            "missing": [form["na"]] if form["na"] else [],
            "missing_in_text": True,
            "decimal": chr(form["decimal"]),
            "thousands": None,
            "dates": [text for name, text in form["dates"] if name is None],
            "column_dates": dates,
        }
    )


def _type(name: str, form: str | None) -> str:
    """The type of a column in a spec. `form` is the format of its dates, if it has one of its own."""
    kind, _, rest = name.partition("[")
    if kind == "timestamp" and form is not None and "%H" not in form and "%I" not in form:
        return "date"
    if kind == "timestamp":
        # Times with a zone are written in UTC.
        unit, _, zone = rest.rstrip("]").partition(", ")
        return f"datetime[{unit}, UTC]" if zone else f"datetime[{unit}]"
    if name.startswith(("categorical", "decimal(")):
        return "categorical" if name.startswith("categorical") else name
    return _TYPES.get(name, "string")


def _formats(
    dates: str | Iterable[str] | Mapping[str, str | Iterable[str]] | Mapping[str | None, str | Iterable[str]] | None,
) -> list[tuple[str | None, str]]:
    """Formats of dates for columns by their names, and for None those of all columns."""
    found = _arguments.formats(dates)
    for name, texts in found:
        if name is not None and len(texts) != 1:
            raise ArgumentError(f"dates= has {len(texts)} formats for column {_options.shown(name)}: pass one")
    return [(name, text) for name, texts in found for text in texts]


def _one_of(what: str, value: Any, choices: tuple[Any, ...]) -> Any:
    if value not in choices:
        raise ArgumentError(f"{what}={_options.shown(value)}: one of {', '.join(map(repr, choices))}")
    return value


def _ascii(what: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii():
        raise ArgumentError(f"{what}={_options.shown(value)}: one ASCII character")
    return value


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{what}={_options.shown(value)}: a word")
    return value
