"""Entasis: the default setting, or a compression from 0 to 100."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..conditions import columns as columns_of
from ..conditions import for_arrow, for_entasis
from .base import Filters, Opened, Peer, Refused


class Entasis(Peer):
    modules = ("entasis",)
    hosts = ("pandas", "arrow", "static_frame")
    exact = True
    has_threads = True
    is_durable = True

    def __init__(self, compression: int | None = None) -> None:
        self.key = "entasis" if compression is None else f"entasis-{compression}"
        self.label = "Entasis" if compression is None else f"Entasis {compression}"
        self.options: dict[str, Any] = {} if compression is None else {"compression": compression}

    def set_threads(self, threads: int) -> None:
        import entasis

        entasis.set_threads(threads)

    def write(self, value: Any, path: Path) -> None:
        import entasis
        from entasis.errors import UnsupportedTypeError

        try:
            entasis.write(value, str(path), **self.options)
        except UnsupportedTypeError as error:
            raise Refused(str(error)) from error

    def read(self, path: Path) -> Any:
        import entasis

        return entasis.read(str(path))  # the kind of frame that was written

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        _function("append")(value, str(path), durable=durable, **self.options)

    def add_columns(self, value: Any, path: Path) -> None:
        function = _function("add_columns")
        function(frame=value, path=str(path), **_without_wait(function))

    def compact(self, path: Path) -> None:
        function = _function("compact")
        function(str(path), **_without_wait(function))

    def stream(self, batches: Iterable[Any], path: Path) -> None:
        with _function("writer")(str(path), **self.options) as writer:
            for batch in batches:
                writer.write(batch)

    def schema(self, path: Path) -> Any:
        import entasis

        return entasis.File(str(path)).schema

    def column(self, path: Path, label: str) -> Any:
        import entasis

        return entasis.read(str(path), columns=[label])

    def open(self, path: Path, frame: Any) -> Opened:
        import entasis

        file = entasis.File(str(path))
        return Opened(
            lambda columns, start, stop: file.read(columns=columns, rows=(start, stop)),
            lambda columns, rows: file.read(columns=columns, rows=rows),
        )

    def filters(self, path: Path, schema: Any) -> Filters:
        import entasis

        file = entasis.File(str(path))

        def count(condition: Any) -> Callable[[], int]:
            expression = for_entasis(condition)
            return lambda: file.count(expression)

        def rows(condition: Any, columns: list[str]) -> Callable[[], Any]:
            expression = for_entasis(condition)
            return lambda: file.filter(expression).select(columns).to_pyarrow()

        return Filters(count, rows)


class EntasisInMemory(Entasis):
    """The reference for filters: reads all rows of the columns, and lets Arrow filter them."""

    def __init__(self) -> None:
        super().__init__()
        self.key = "entasis-in-memory"
        self.label = "all read, filtered by Arrow"

    def filters(self, path: Path, schema: Any) -> Filters:
        import entasis

        file = entasis.File(str(path))

        def filtered(condition: Any, columns: list[str]) -> Callable[[], Any]:
            expression = for_arrow(condition, schema)
            needed = list(dict.fromkeys([*columns, *columns_of(condition)]))

            def call() -> Any:
                return file.select(needed).to_pyarrow().filter(expression).select(columns)

            return call

        def count(condition: Any) -> Callable[[], int]:
            rows = filtered(condition, [])
            return lambda: rows().num_rows  # type: ignore[no-any-return]

        return Filters(count, filtered)


def _function(name: str) -> Callable[..., Any]:
    """A function that older builds of the package lack."""
    import entasis

    function: Callable[..., Any] | None = getattr(entasis, name, None)
    if function is None:
        raise Refused(f"this build of entasis has no {name}")
    return function


def _without_wait(function: Callable[..., Any]) -> dict[str, Any]:
    """An option not to wait for the disk, as other formats do not."""
    return {"durable": False} if "durable" in inspect.signature(function).parameters else {}
