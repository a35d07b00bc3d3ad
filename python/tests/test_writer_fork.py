"""A writer belongs to the process that made it, and lets go of its file when it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import static_frame as sf

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

N = 70_000


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "frame.entasis")


def rows(start: int, stop: int) -> pa.Table:
    return pa.table({"a": np.arange(start, stop)})


def in_child(act: Callable[[], None]) -> None:
    """Run a function in a forked child. Its failure fails the test."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        except BaseException as error:
            sys.stderr.write(f"in the child: {error!r}\n")
        finally:
            sys.stderr.flush()
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


# How a process ends its copy of a writer.
ENDS = {
    "exit": "sys.exit(0)",
    "exception": "raise RuntimeError('the child')",
    "collected": "del w; gc.collect(); sys.exit(0)",
    "left": "w.__exit__(None, None, None); sys.exit(0)",
    "left with an error": "w.__exit__(ValueError, ValueError(), None); sys.exit(0)",
    "another writer": "en.write(pa.table({'b': [1]}), p + '.other'); sys.exit(0)",
}
SCRIPT = """
import gc, os, sys
import numpy as np, pyarrow as pa
import entasis as en

def run(p, end, append):
    # A batch that is stored at once, and one that waits.
    n, w = (70_000 if append else 0), en.writer(p, append=append)
    w.write(pa.table({"a": np.arange(n, n + 70_000)}))
    w.write(pa.table({"a": np.arange(n + 70_000, n + 70_010)}))
    child = os.fork()
    if child == 0:
        sys.stderr = open(os.devnull, "w")
        exec(end)
    os.waitpid(child, 0)
    w.write(pa.table({"a": np.arange(n + 70_010, n + 70_020)}))
    w.close()
    assert en.read(p)["a"].to_numpy().tolist() == list(range(n + 70_020)), (end, append)
    en.verify(p)

for i, end in enumerate(sys.argv[2:]):
    for append in (False, True):
        p = f"{sys.argv[1]}/{i}{append}"
        if append:
            en.write(pa.table({"a": np.arange(70_000)}), p)
        run(p, end, append)
print(sorted(name for name in os.listdir(sys.argv[1]) if name.startswith(".")))
"""


@needs_fork
def test_the_end_of_a_child_does_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), *ENDS.values()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@needs_fork
@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("host", ["pyarrow", "static_frame"])
def test_a_child_cannot_use_the_writer_of_its_parent(host: str, append: bool, path: str) -> None:
    def make(start: int, stop: int) -> Any:
        return rows(start, stop) if host == "pyarrow" else sf.Frame.from_dict({"a": np.arange(start, stop)})

    if append:
        en.write(make(0, N), path)
    start = N if append else 0
    w = en.writer(path, append=append)
    w.write(make(start, start + N))

    def use() -> None:
        for call in (lambda: w.write(make(0, 1)), w.close, w.abort, lambda: w.write(make(0, N)), w.close):
            with pytest.raises(en.FileError, match=f"fork of process {os.getppid()}, which is writing the file"):
                call()
        if append:
            with pytest.raises(en.BusyError):
                en.append(make(0, 1), path, wait=0)

    in_child(use)
    w.write(make(start + N, start + N + 1))
    w.close()
    assert len(en.open(path)) == start + N + 1
    assert os.listdir(Path(path).parent) == [Path(path).name]
    # Once the writer is closed, a child may do anything with the file.
    in_child(lambda: w.close())
    in_child(lambda: en.write(make(0, 3), path))
    assert len(en.open(path)) == 3


@needs_fork
def test_a_child_inside_of_a_call(path: str) -> None:
    """The iterator of a batch forks, and the child leaves through the call."""
    children = []

    def batches() -> Any:
        yield rows(0, N)
        child = os.fork()
        if child == 0:
            raise KeyboardInterrupt
        os.waitpid(child, 0)
        children.append(child)
        yield rows(N, 2 * N)

    pid = os.getpid()
    try:
        with en.writer(path) as w:
            w.write(batches())
    except KeyboardInterrupt:
        if os.getpid() != pid:
            os._exit(0)
        raise
    assert len(children) == 1
    assert en.read(path).equals(rows(0, 2 * N))


class TestFailures:
    """The file can be changed at once, although the error and its frames are kept."""

    def check(self, path: str) -> None:
        en.append(pa.table({"a": [2]}), path, wait=0)
        assert en.read(path)["a"].to_pylist() == [1, 2]
        assert os.listdir(Path(path).parent) == [Path(path).name]

    @pytest.fixture(autouse=True)
    def file(self, path: str) -> None:
        en.write(pa.table({"a": [1]}), path)

    @pytest.mark.parametrize("schema", [pa.schema([("b", pa.int64())]), pa.schema([("a", pa.string())])])
    def test_a_writer_that_cannot_be_made(self, schema: Any, path: str) -> None:
        with pytest.raises(en.EntasisError) as kept:
            en.writer(path, append=True, schema=schema)
        self.check(path)
        assert kept.value.__traceback__ is not None

    @pytest.mark.parametrize("append", [False, True])
    def test_a_schema_that_is_none(self, append: bool, path: str) -> None:
        with pytest.raises(en.ArgumentError) as kept:
            en.writer(path, append=append, schema=3)
        self.check(path)
        assert kept.value.__traceback__ is not None

    def test_a_stream_of_refused_types(self, path: str) -> None:
        words = pa.dictionary(pa.int8(), pa.dictionary(pa.int8(), pa.string()))
        schema = pa.schema([("x", pa.struct([("f", words)]))])
        kept = []
        for value in (pa.RecordBatchReader.from_batches(schema, []), pa.Table.from_batches([], schema)):
            with pytest.raises(en.UnsupportedTypeError, match=r"'x\.f'") as error:
                en.write(value, path)
            kept.append(error)
        with pytest.raises(en.UnsupportedTypeError, match=r"'x\.f'") as error:
            en.writer(path, schema=schema)
        self.check(path)
        assert all(error.value.__traceback__ is not None for error in [*kept, error])

    def test_a_stream_that_fails(self, path: str) -> None:
        schema = pa.schema([("a", pa.int64())])

        def batches() -> Any:
            yield pa.record_batch([pa.array(np.arange(2_000_000))], schema=schema)
            raise OSError("network gone")

        with pytest.raises(Exception, match="network gone") as kept:
            en.write(pa.RecordBatchReader.from_batches(schema, batches()), path)
        self.check(path)
        assert kept.value.__traceback__ is not None

    def test_other_calls(self, path: str) -> None:
        kept = []
        calls = [
            lambda: en.append(pa.table({"b": [1]}), path),
            lambda: en.append(object(), path),
            lambda: en.add_columns({"b": [1, 2, 3]}, path),
            lambda: en.add_columns({"a": [1]}, path),
            lambda: en.drop_columns(path, "b"),
            lambda: en.rename_columns(path, {"b": "c"}),
            lambda: en.replace_columns({"b": [1]}, path),
            lambda: en.write(pd.DataFrame({"a": [1], "o": [object()]}), path),
            lambda: en.rollback(path, 100),
        ]
        for call in calls:
            with pytest.raises(en.EntasisError) as error:
                call()
            kept.append(error)
        self.check(path)
