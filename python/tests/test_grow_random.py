"""Random sequences of changes: after each one the file has what the host's own library has in memory."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from grow_hosts import HOSTS, ID, KINDS, joined

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

LONG = os.environ.get("ENTASIS_TEST_LONG") == "1"
SEEDS = range(200 if LONG else 2)
N_STEPS = 14 if LONG else 8
SIZES = [0, 1, 5, 40, 9_000, 70_000] if LONG else [0, 1, 5, 40, 9_000]


class Sequence:
    """A file, the frame that it should hold, and the frames of its generations."""

    def __init__(self, name: str, seed: int, path: str) -> None:
        self.random = np.random.default_rng((seed, list(HOSTS).index(name)))
        self.host, self.path = HOSTS[name](self.random), path
        self.kinds = {f"c{i}": str(kind) for i, kind in enumerate(self.random.permutation(KINDS))}
        self.n = self.next_name = 0
        self.frame = self.rows(self.kinds, int(self.random.choice(SIZES[1:])))
        self.next_name = len(self.kinds)
        self.log: list[str] = [f"write {self.n} rows of {self.kinds}"]
        en.write(self.frame, path, compression=int(self.random.choice([0, 50])))
        self.generations = {1: (self.frame, dict(self.kinds))}

    def rows(self, kinds: dict[str, str], n: int) -> Any:
        start, self.n = self.n, self.n + n
        return self.host.frame(self.random, kinds, n, start)

    def step(self) -> None:
        """Make a random change in the file and in memory."""
        names = [
            "append",
            "append",
            "writer",
            "writer",
            "fill",
            "add",
            "drop",
            "rename",
            "replace",
            "rollback",
            "compact",
        ]
        name = str(self.random.choice(names))
        self.log.append(name)
        getattr(self, name)()
        found = [generation.number for generation in en.generations(self.path)]
        self.generations = {number: known for number, known in self.generations.items() if number in found}
        self.generations[found[-1]] = (self.frame, dict(self.kinds))

    def append(self) -> None:
        rows = self.rows(self.kinds, int(self.random.choice(SIZES)))
        self.frame = self.host.append(self.frame, rows)
        shuffled = [ID, *self.random.permutation(list(self.kinds)).tolist()]
        en.append(self.host.take(rows, shuffled), self.path, durable=False)

    def writer(self) -> None:
        parts = [self.rows(self.kinds, int(self.random.choice(SIZES))) for _ in range(self.random.integers(1, 4))]
        self.frame = joined(self.host, [self.frame, *parts])
        with en.writer(self.path, append=True, durable=False) as writer:
            for part in parts:
                writer.write(part)

    def fill(self) -> None:
        can_fill = [name for name, kind in self.kinds.items() if kind in self.host.can_fill]
        left_out = set(self.random.permutation(can_fill)[:2].tolist())
        rows = self.rows({name: kind for name, kind in self.kinds.items() if name not in left_out}, 3)
        self.frame = self.host.append(self.frame, rows)
        en.append(rows, self.path, fill=True, durable=False)

    def add(self) -> None:
        name, kind = f"c{self.next_name}", str(self.random.choice(KINDS))
        self.next_name += 1
        column = self.host.column(self.random, kind, self.n)
        self.frame = self.host.put(self.frame, name, column)
        self.kinds[name] = kind
        en.add_columns(self.host.new(name, column), self.path, durable=False)

    def drop(self) -> None:
        if len(self.kinds) < 3:
            return
        name = str(self.random.choice(list(self.kinds)))
        del self.kinds[name]
        self.frame = self.host.take(self.frame, [ID, *self.kinds])
        en.drop_columns(self.path, name, durable=False, compact=bool(self.random.random() < 0.3))

    def rename(self) -> None:
        first, second = self.random.permutation(list(self.kinds))[:2].tolist()
        names = {first: second, second: first} if self.random.random() < 0.5 else {first: f"c{self.next_name}"}
        self.next_name += 1
        self.kinds = {names.get(name, name): kind for name, kind in self.kinds.items()}
        self.frame = self.host.rename(self.frame, names)
        en.rename_columns(self.path, names, durable=False)

    def replace(self) -> None:
        name = str(self.random.choice(list(self.kinds)))
        self.kinds[name] = str(self.random.choice(KINDS))
        column = self.host.column(self.random, self.kinds[name], self.n)
        self.frame = self.host.put(self.frame, name, column)
        en.replace_columns(self.host.new(name, column), self.path, durable=False)

    def rollback(self) -> None:
        number = int(self.random.choice(list(self.generations)))
        self.frame, kinds = self.generations[number]
        self.kinds, self.n = dict(kinds), len(self.host.plain(self.frame, ID))
        en.rollback(self.path, number, durable=False)

    def compact(self) -> None:
        en.compact(self.path, durable=False)

    def check(self) -> None:
        """Compare the file with memory: whole, in parts, by filters, and in earlier generations."""
        self.host.check(en.read(self.path), self.frame)
        with en.open(self.path) as file:
            start, stop = sorted(self.random.integers(0, self.n + 1, 2).tolist())
            names = [ID, *self.random.permutation(list(self.kinds))[:3].tolist()]
            part = self.host.rows(self.host.take(self.frame, names), start, stop)
            if self.host.__class__.__name__ != "StaticFrame":
                self.host.check(file[start:stop].select(names).read(), part)
            for name, kind in self.kinds.items():
                self.check_filter(file, name, kind)
        en.verify(self.path)
        number = int(self.random.choice(list(self.generations)))
        with en.open(self.path, generation=number) as file:
            assert file.n_rows == len(self.host.plain(self.generations[number][0], ID))

    def check_filter(self, file: en.File, name: str, kind: str) -> None:
        plain = self.host.plain(self.frame, name)
        present = [value for value in plain if value is not None]
        if not present or kind == "flag":
            return
        literal: Any = present[int(self.random.integers(len(present)))]
        literal = pd.Timestamp(literal).to_pydatetime() if kind == "time" else literal
        compare = operator.eq if kind in ("text", "kind") else operator.lt
        ids = self.host.plain(self.frame, ID)
        wanted = [i for i, value in zip(ids, plain, strict=True) if value is not None and compare(value, literal)]
        for engine, found in self.found_by_engines(file, name, compare, literal).items():
            assert found == wanted, f"{engine}: {name} {compare.__name__} {literal!r}"

    def found_by_engines(self, file: en.File, name: str, compare: Any, literal: Any) -> dict[str, list[int]]:
        import duckdb
        import polars as pl
        import pyarrow.dataset as ds

        found = {
            "entasis": self.host.plain(en.read(self.path, columns=[ID], filter=compare(en.col(name), literal)), ID)
        }
        engine = self.random.choice(["polars", "pyarrow", "duckdb"])
        if engine == "polars":
            scan = en.scan_polars(self.path).filter(
                compare(pl.col(name).cast(pl.String) if type(literal) is str else pl.col(name), literal)
            )
            found["polars"] = scan.select(ID).collect()[ID].to_list()
        elif engine == "pyarrow":
            column = ds.field(name)
            column = column.cast("string") if type(literal) is str else column
            found["pyarrow"] = file.to_dataset().to_table(columns=[ID], filter=compare(column, literal))[ID].to_pylist()
        else:
            sign = "=" if compare is operator.eq else "<"
            query = f'select {ID} from file where "{name}" {sign} $1 order by {ID}'
            found["duckdb"] = [row[0] for row in duckdb.execute(query, [literal]).fetchall()]
        return found


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_changes(name: str, seed: int, tmp_path: Path) -> None:
    sequence = Sequence(name, seed, str(tmp_path / "rows.entasis"))
    try:
        sequence.check()
        for _ in range(N_STEPS):
            sequence.step()
            sequence.check()
    except BaseException as error:
        error.add_note(f"{name}, seed {seed}: {'; '.join(sequence.log)}")
        raise
