"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tiers import RELEASE

import entasis as en
from entasis import _register
from entasis._stores import retry

# The panels are in `bench/fidelity`, whose folder is the root of the repository.
sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from moto_server import MotoServer
    from stub_server import Stub

# The files of the marker `core`, without tests marked `slow` or `release`.
CORE = {
    "append", "arenas", "array_index", "arrow_stream", "bad_input", "buffers", "change_columns", "compact", "convert",
    "cpython", "damage", "dataset", "errors", "expressions", "file", "file_protocols", "golden", "labels", "lazy",
    "map", "nested", "npz", "numpy", "other_libraries", "pandas", "polars", "process", "public_only", "pyarrow",
    "register", "scan", "scan_conditions", "scan_decimals", "scan_periods", "scan_polars", "scan_times",
    "scan_values", "search", "select", "selection", "sources", "static_frame", "struct_fields", "threads", "torch",
    "tree_classes", "tree_records", "tree_sharing", "trees", "unsupported_columns", "writer",
}  # fmt: skip
# Of these, files whose tests hardly depend on the interpreter and the versions of libraries. They
# lack the marker `lowest`: `make test-pythons` runs them on all interpreters, `make test` on the
# newest one alone.
NEWEST = {"bad_input", "buffers", "compact", "damage", "errors", "expressions", "map", "search", "threads", "writer"}


# A shell that runs the tests in the background ignores Ctrl-C for them and their child processes,
# and tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def is_core(path: Path) -> bool:
    """Tell whether the tests of a file are core tests."""
    return path.stem.removeprefix("test_") in CORE


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out other files with `-m core` and `-m lowest`, as they may import what is not installed."""
    if config.option.markexpr in ("core", "lowest") and collection_path.is_file() and not is_core(collection_path):
        return True
    return None


def leave_to_releases(items: list[pytest.Item]) -> None:
    """Mark cases of tests marked `sampled` as `release`: a change runs every n-th one and the last."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for found in cases.values():
        (n,) = found[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        for i, item in enumerate(found[:-1]):
            if i % n:
                item.add_marker("release")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark cases for releases, and the tests of the core files, except slow ones."""
    if not RELEASE:
        leave_to_releases(items)
    for item in items:
        if is_core(item.path) and not any(item.get_closest_marker(name) for name in ("slow", "release")):
            item.add_marker("core")
            if item.path.stem.removeprefix("test_") not in NEWEST:
                item.add_marker("lowest")


def pytest_collection_finish() -> None:
    """Keep the tests and the libraries out of later collections: they are there until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def registrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has registrations of classes of its own."""
    monkeypatch.setattr(_register, "_functions", {})
    monkeypatch.setattr(_register, "_classes", {})


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server on this machine that can behave badly."""
    from stub_server import Stub

    with Stub(bytes(range(256)) * 1_000) as server:
        yield server


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without options of stores."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "HF_"))]:
        monkeypatch.delenv(name)


@pytest.fixture(params=["obstore", "fsspec"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, no_credentials: None) -> str:
    """The library that reads stores, in an environment without credentials."""
    pytest.importorskip(request.param)
    if request.param == "fsspec":
        # As if obstore was not installed.
        monkeypatch.setitem(sys.modules, "entasis._stores._obstore", None)
        # Requests are sent again without pauses, by this package alone.
        monkeypatch.setattr(retry, "_FIRST", 0.001)
        with suppress(ImportError):
            monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    return str(request.param)


@pytest.fixture(scope="module")
def moto_server() -> Iterator[MotoServer]:
    """A server of S3 on this machine."""
    for module in ("moto", "flask"):
        pytest.importorskip(module)
    from moto_server import MotoServer

    server = MotoServer()
    yield server
    server.stop()


@pytest.fixture
def moto(moto_server: MotoServer, library: str, monkeypatch: pytest.MonkeyPatch) -> MotoServer:
    """A server of S3 with an empty bucket, whose options are in no variable."""
    moto_server.clear()
    # Nothing asks servers for the credentials of a machine.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return moto_server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of a test's file. The folder must hold nothing else afterwards."""
    return tmp_path / "frame.entasis"


@pytest.fixture
def round_trip(path: Path) -> Callable[..., Any]:
    """Writes a value and reads it back; the directory has nothing but the file then."""

    def run(value: Any, **how: Any) -> Any:
        en.write(value, path, **how)
        assert [child.name for child in path.parent.iterdir()] == [path.name]
        return en.read(path)

    return run


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., en.File]:
    """Write a value, and open its file."""
    number = iter(range(1_000))

    def write(value: Any, **options: Any) -> en.File:
        path = tmp_path / f"{next(number)}.entasis"
        en.write(value, path, **options)
        return en.open(path)

    return write
