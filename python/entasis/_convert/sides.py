"""The tables that are compared."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError, UnsupportedTypeError

from . import keys as _keys
from .inputs.arrow import TableInput
from .inputs.file import FileInput
from .inputs.open import of_value
from .inputs.polars import PolarsInput
from .inputs.value import ValueInput
from .left_out import LEFT_OUT, of_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .inputs.base import Input

_UNNAMED = re.compile(r"__index_level_(\d+)__")


class Side:
    """A table that is compared, with the levels of its index as first columns."""

    def __init__(self, value: Any, wanted: list[str], keys: list[str]) -> None:
        self._given = of_value(value)
        if self._given.host == "tree":
            raise UnsupportedTypeError(f"{self._given.name} holds no table, and only tables are compared")
        if isinstance(self._given, PolarsInput):
            self._given = ValueInput(self._given.whole(), self._given.name)
        self.name, self.n_rows = self._given.name, self._given.n_rows
        if wanted and isinstance(self._given, (FileInput, ValueInput)):
            # Other columns may have types that Arrow lacks.
            self._given = _some(self._given, [*wanted, *keys])
        lost = of_values(self._given.losses())
        if lost:
            raise UnsupportedTypeError(
                f"{self.name}: column {shown(lost[0][0])}: {lost[0][1].removeprefix(f'{LEFT_OUT}: ')}; "
                "choose other columns with columns="
            )
        schema = self._given.schema()
        self._order, self.names = _levels_first(schema)
        for name in self.names if len(set(self.names)) < len(self.names) else ():
            if self.names.count(name) > 1:
                raise ArgumentError(f"{self.name}: several columns have the name {shown(name)}")
        self.types = {name: schema.field(i).type for name, i in zip(self.names, self._order, strict=True)}

    def batches(self) -> Iterator[Any]:
        """The rows in batches."""
        for batch in self._given.batches():
            yield batch.select(self._order).rename_columns(self.names)

    def is_sorted(self, keys: list[str]) -> bool:
        """Whether the keys ascend. Reads the columns of the keys."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        last: Any = None
        for batch in self.batches():
            part = batch.select(keys)
            whole = part if last is None else pa.concat_tables([last, part])
            order = np.asarray(pc.sort_indices(_keys.sortable(whole), [(name, "ascending") for name in keys]))
            if not (order[:-1] <= order[1:]).all():
                return False
            last = part.slice(max(part.num_rows - 1, 0))
        return True

    def sorted(self, keys: list[str]) -> Iterator[Any]:
        """The rows in the order of the keys, in batches."""
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = list(self.batches())
        if parts:
            whole = pa.concat_tables(parts).combine_chunks()
            order = pc.sort_indices(_keys.sortable(whole.select(keys)), [(name, "ascending") for name in keys])
            yield from TableInput(whole.take(order)).batches()


def _some(given: Input, wanted: list[str]) -> Input:
    """The columns of a file or frame that it has."""
    file = given.file()
    known = {*map(str, file.column_names)}
    found = FileInput(file).selected([name for name in dict.fromkeys(wanted) if name in known], None, None)
    found.name = given.name
    return found


def _levels_first(schema: Any) -> tuple[list[int], list[str]]:
    """The order of columns, and their names, as `entasis.read` has them for frames of pandas."""
    names = list(schema.names)
    metadata = (schema.metadata or {}).get(b"pandas")
    if metadata is None:
        return list(range(len(names))), names
    levels = [level for level in json.loads(metadata).get("index_columns", []) if isinstance(level, str)]
    first = [names.index(level) for level in levels if level in names]
    order = first + [i for i in range(len(names)) if i not in first]

    def renamed(name: str) -> str:
        level = _UNNAMED.fullmatch(name)
        return name if level is None else "index" if len(levels) == 1 else f"level_{level[1]}"

    return order, [renamed(names[i]) for i in order]
