"""Values in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._libraries import registry as _hosts

from .file import FileInput, StagedInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._convert.left_out import Loss


class ValueInput(StagedInput):
    """A value in memory."""

    def __init__(self, value: Any, name: str = "<frame>") -> None:
        self.value, self.name = value, name
        is_table = _hosts.is_columns(value) if type(value) is dict else _hosts.is_frame(value)
        root = "numpy" if type(value) is dict else type(value).__module__.partition(".")[0]
        self.host = root if is_table else "tree"
        self._staged: FileInput | None = None

    def whole(self) -> Any:
        return self.value

    def _as_file(self) -> FileInput:
        if self._staged is None:
            self._staged = FileInput(self.file(), self.name)
        return self._staged

    def schema(self) -> Any:
        return self._as_file().schema()

    def batches(self) -> Iterator[Any]:
        return self._as_file().batches()

    def losses(self) -> list[Loss]:
        return self._as_file().losses()
