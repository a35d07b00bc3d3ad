"""The modules of the package import each other without circles, and only downwards through its layers.

Imports for type checkers count as all others do.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import entasis

PACKAGE = Path(entasis.__file__).parent

# From the bottom to the top: folders, and single modules. A module imports modules of its own layer
# and of layers below it. `_libraries.registry` finds the modules of a host by name when they are
# needed, so that values inside of values can be frames: `test_registry_names_modules` checks these
# names. The package itself does the same with the modules that it loads on demand.
LAYERS = [
    ("errors", "_damage", "_entasis", "_record", "_versions", "_typing", "_public_only"),
    ("_host_map", "_memory"),
    ("_stores",),
    ("_arguments",),
    ("_register",),
    ("_columns",),
    ("_libraries",),
    ("_values",),
    ("_hosts",),
    ("_filter",),
    ("_view",),
    ("_engines",),
    ("_file",),
    ("_tree",),
    ("_open", "_write"),
    ("_csv",),
    ("_grow",),
    ("_dataset",),
    ("_npz_lengths", "_npz"),
    ("_convert",),
    ("_command",),
    ("_api", "_buffers", "_inspection", "_cli"),
    ("_changes", "_encryption", "_history"),
    ("_torch",),
    ("_machines",),
    ("", "__main__", "dask", "ray", "spark", "torch"),
]


def name_of(path: Path) -> str:
    """The name of a module within the package; empty for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")} | {"_entasis": None}


def imports(name: str) -> set[str]:
    """Modules of the package that a module imports anywhere."""
    path = MODULES[name]
    if path is None:
        return set()
    package = ["entasis", *name.split(".")] if name else ["entasis"]
    package = package if path.name == "__init__.py" else package[:-1]
    found: set[str] = set()

    def resolve(full: str) -> None:
        inner = full.removeprefix("entasis").removeprefix(".")
        if inner in MODULES:
            found.add(inner)

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "entasis":
                    resolve(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            if base.partition(".")[0] == "entasis":
                for alias in node.names:
                    is_module = f"{base}.{alias.name}".removeprefix("entasis.") in MODULES
                    resolve(f"{base}.{alias.name}" if is_module else base)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found - {name}


@cache
def graph() -> dict[str, set[str]]:
    return {name: imports(name) for name in MODULES}


def layer(name: str) -> int:
    folder = name.partition(".")[0]
    found = [i for i, names in enumerate(LAYERS) if folder in names]
    assert len(found) == 1, f"{name} belongs to no layer, or to several: see LAYERS"
    return found[0]


def is_module(name: str) -> bool:
    """Whether a name is that of a module with code, and not of a folder that only has a docstring."""
    path = MODULES[name]
    return path is None or name == "" or path.name != "__init__.py"


def test_folders_have_no_code() -> None:
    for name, path in MODULES.items():
        if not is_module(name):
            assert path is not None
            assert len(ast.parse(path.read_text(encoding="utf-8")).body) == 1, f"{name} has more than a docstring"


def test_no_circles() -> None:
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> None:
        assert name not in way, f"a circle: {' -> '.join([*way[way.index(name) :], name])}"
        if name not in done:
            for other in sorted(graph()[name]):
                visit(other, [*way, name])
            done.add(name)

    for name in MODULES:
        visit(name, [])
    assert done == set(MODULES)


@pytest.mark.parametrize("name", [name for name in sorted(MODULES) if is_module(name)])
def test_imports_point_down(name: str) -> None:
    upwards = sorted(other for other in graph()[name] if layer(other) > layer(name))
    assert not upwards, f"{name or 'the package'} imports from layers above it: {', '.join(upwards)}"


def test_graph_is_that_of_the_code() -> None:
    """The graph has imports of all forms: relative, absolute, within functions, for checkers."""
    assert {"_api", "errors", "_file.file"} <= graph()[""]
    assert "_columns.levels" in graph()["_view.view"]
    assert "_values.codecs" in graph()["_values.cells"]
    assert "_tree.array_view" in graph()["_tree.part"]
    assert "_typing" in graph()["_file.file"]


def test_folders_are_layers() -> None:
    """Each folder is a layer of its own, and each single module is in one layer."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    for names in LAYERS:
        assert len(names) == 1 or folders.isdisjoint(names), names
    assert sorted(name for names in LAYERS for name in names) == sorted({name.partition(".")[0] for name in MODULES})


def test_registry_names_modules() -> None:
    from entasis._libraries import registry

    for host in registry.HOSTS:
        for table in (registry._READERS, registry._WRITERS):
            assert table[host].removeprefix("entasis.") in MODULES


def test_names_on_demand() -> None:
    """The package has the names that it loads on demand, and lists them."""
    for module, names in entasis._ON_DEMAND.items():
        assert module in MODULES
        for name in names:
            assert getattr(entasis, name).__name__ == name
            assert name in dir(entasis)
