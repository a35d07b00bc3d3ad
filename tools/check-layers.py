#!/usr/bin/env python3
"""Check that dependencies point down: between crates, modules of a crate, and files of R and its C.

Five rules, each of them an error with a file or a crate:

1. A crate of the workspace depends on the crates below it alone (`ALLOWED`).
2. The crates without `unsafe` say `#![forbid(unsafe_code)]` in their `lib.rs` (`SAFE`).
3. In the crates of `ACYCLIC`, modules with the same parent do not import each other in a circle. An
   import of the parent by its child, and imports in `#[cfg(test)] mod tests`, do not count.
4. The C files of `r/src` do not name each other's functions in a circle.
5. The files of `r/R` do not use each other's functions and constants in a circle. Each is in one
   layer of the table in `docs/architecture.md`, and uses files of its layer and lower ones alone.

A file of R uses a function if it calls it, passes it by its name, or registers it as a method. A
generic does not use its methods. A name does not count in a comment or a string, after `$`, `@` or
`::`, or as the name of an argument. In a function that has a parameter or variable of that name, it
counts only where it is called.

Usage: tools/check-layers.py. Needs `cargo`; builds nothing.
"""

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each crate with the crates of the workspace that it may depend on.
ALLOWED = {
    "entasis-platform": set(),
    "entasis-kernels": {"entasis-platform"},
    "entasis-format": {"entasis-kernels"},
    "entasis-io": {"entasis-platform"},
    "entasis-fault": {"entasis-io"},
    "entasis-seal": {"entasis-format", "entasis-io"},
    "entasis-encodings": {"entasis-platform", "entasis-kernels", "entasis-format"},
    "entasis": {
        "entasis-platform",
        "entasis-kernels",
        "entasis-format",
        "entasis-io",
        "entasis-seal",
        "entasis-encodings",
    },
    "entasis-query": {"entasis", "entasis-encodings", "entasis-kernels"},
    "entasis-csv": {"entasis", "entasis-io", "entasis-kernels", "entasis-platform"},
    "entasis-convert": {"entasis", "entasis-csv", "entasis-query"},
    "entasis-dataset": {"entasis"},
    "entasis-cli": {
        "entasis",
        "entasis-convert",
        "entasis-csv",
        "entasis-dataset",
        "entasis-query",
    },
    "entasis-testkit": {
        "entasis",
        "entasis-convert",
        "entasis-csv",
        "entasis-encodings",
        "entasis-format",
        "entasis-io",
        "entasis-kernels",
        "entasis-query",
        "entasis-seal",
    },
    "entasis-python": {
        "entasis",
        "entasis-convert",
        "entasis-csv",
        "entasis-dataset",
        "entasis-query",
        "entasis-cli",
    },
    "entasis-r": {"entasis", "entasis-convert", "entasis-csv", "entasis-dataset", "entasis-query"},
}

SAFE = {
    "entasis-format",
    "entasis-io",
    "entasis-seal",
    "entasis-fault",
    "entasis-encodings",
    "entasis",
    "entasis-csv",
    "entasis-convert",
    "entasis-dataset",
    "entasis-query",
}

ACYCLIC = {
    "entasis-platform",
    "entasis-kernels",
    "entasis-format",
    "entasis-io",
    "entasis-seal",
    "entasis-fault",
    "entasis-encodings",
    "entasis",
    "entasis-csv",
    "entasis-convert",
    "entasis-dataset",
    "entasis-query",
    "entasis-cli",
    "entasis-testkit",
    "entasis-python",
    "entasis-r",
}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod tests \{.*", re.S)
PATH = re.compile(r"(?<![\w:])((?:crate|super|self)(?:::(?:super|\w+))*(?:::\{)?)")
REEXPORT = re.compile(
    r"\bpub(?:\([^)]*\))? use ((?:self::|crate::)?[a-z]\w*(?:::\w+)*(?:::\{[^}]*\})?);"
)

# The head of a function that other files may call: it begins a line, and a body follows.
FUNCTION = re.compile(r"^(?!static\b)\w[\w *]*?\b(\w+)\([^;{}]*\) \{", re.M)

# Comments, strings, names, numbers, and the operators that decide what a name next to them is.
R_TOKEN = re.compile(
    r"""\#[^\n]* | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `[^`]+` | [A-Za-z.][\w.]* | [0-9][\w.]*
    | <<?- | :::? | [=!<>]= | \n | \S""",
    re.S | re.X,
)
# A row of the table of layers.
R_LAYER = re.compile(r"\| `[\w*]+\.R`")
R_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def main() -> int:
    packages = workspace()
    errors = [*crate_errors(packages)]
    for name, package in sorted(packages.items()):
        if name not in ACYCLIC:
            continue
        errors += [f"{name}: {circle}" for circle in module_circles(source_of(package))]
    for circle in circles(c_edges(ROOT / "r" / "src")):
        errors.append(f"r/src: C files call each other in a circle: {', '.join(circle)}")
    of_r = r_edges(ROOT / "r" / "R")
    for circle in circles(of_r):
        errors.append(f"r/R: files use each other's functions in a circle: {', '.join(circle)}")
    errors += r_layer_errors(of_r, (ROOT / "docs" / "architecture.md").read_text())
    for error in errors:
        print(f"check-layers: {error}", file=sys.stderr)
    return 1 if errors else 0


def workspace() -> dict[str, dict]:
    """The packages of the workspace by name."""
    command = [
        os.environ.get("CARGO", "cargo"),
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--offline",
    ]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {package["name"]: package for package in json.loads(output)["packages"]}


def source_of(package: dict) -> Path:
    """The directory of a package's `lib.rs`."""
    return Path(package["manifest_path"]).parent / "src"


def crate_errors(packages: dict[str, dict]):
    """Dependencies that are not allowed, and crates that may contain `unsafe` unnoticed."""
    for name, package in sorted(packages.items()):
        if name not in ALLOWED:
            yield f"{name} is missing in ALLOWED of tools/check-layers.py"
            continue
        used = {
            dependency["name"]
            for dependency in package["dependencies"]
            if dependency["kind"] != "dev"
        }
        for other in sorted(used & set(packages) - ALLOWED[name]):
            yield f"{name} must not depend on {other}"
        if (
            name in SAFE
            and "#![forbid(unsafe_code)]" not in (source_of(package) / "lib.rs").read_text()
        ):
            yield f"{name}: lib.rs must say #![forbid(unsafe_code)]"


def module_circles(source: Path):
    """Circles of imports among modules that have the same parent."""
    modules = {module_of(file.relative_to(source)): file for file in sorted(source.rglob("*.rs"))}
    names = set(modules) | {module[:n] for module in modules for n in range(len(module))}
    texts = {module: code_of(file) for module, file in modules.items()}
    exports = {module: reexports(module, text, names) for module, text in texts.items()}
    edges: dict[tuple, dict[str, set]] = {}
    for module, text in texts.items():
        for target in imports(module, text):
            target = resolve(target, names, exports)
            shared = shared_prefix(module, target)
            if len(module) > shared and len(target) > shared:
                siblings = edges.setdefault(module[:shared], {})
                siblings.setdefault(module[shared], set()).add(target[shared])
    for parent, siblings in sorted(edges.items()):
        for circle in circles(siblings):
            where = "::".join(("crate", *parent))
            yield f"modules of {where} import each other in a circle: {', '.join(circle)}"


def module_of(file: Path) -> tuple[str, ...]:
    """The module path of a file; empty for the root of the crate."""
    parts = file.with_suffix("").parts
    if parts in (("lib",), ("main",)):
        return ()
    return parts[:-1] if parts[-1] == "mod" else parts


def code_of(file: Path) -> str:
    """The text of a file without comments and its tests."""
    return TESTS.sub("", COMMENT.sub("", file.read_text()))


def imports(module: tuple[str, ...], text: str):
    """The full paths that a module names, as tuples."""
    for match in PATH.finditer(text):
        path = match.group(1)
        if path.endswith("::{"):
            base = path[:-3]
            for leaf in leaves(text, match.end()):
                yield absolute(module, f"{base}::{leaf}")
        else:
            yield absolute(module, path)


def leaves(text: str, start: int) -> list[str]:
    """Return the paths in a brace that opens before `start`: `{a::{B}, c}` has `a::B` and `c`."""
    found, prefixes, word = [], [""], ""
    for char in text[start:]:
        if char == "{":
            prefixes.append(prefixes[-1] + word)
            word = ""
        elif char in ",}":
            if word := word.strip():
                found.append(prefixes[-1] + word.split(" as ")[0])
            word = ""
            if char == "}":
                prefixes.pop()
                if not prefixes:
                    break
        else:
            word += char
    return [re.sub(r"\s+", "", path) for path in found]


def absolute(module: tuple[str, ...], path: str) -> tuple[str, ...]:
    """A path that begins with `crate`, `super` or `self`, from the root of the crate on."""
    first, *rest = path.split("::")
    base = {"crate": (), "self": module, "super": module[:-1]}[first]
    while rest and rest[0] == "super":
        base, rest = base[:-1], rest[1:]
    return (*base, *rest)


def reexports(module: tuple[str, ...], text: str, names: set) -> dict[str, tuple[str, ...]]:
    """The names that a module makes public for its children, each with its full path."""
    found = {}
    for match in REEXPORT.finditer(text):
        path = match.group(1)
        base, brace, _ = path.partition("::{")
        paths = (
            [f"{base}::{leaf}" for leaf in leaves(text, match.start(1) + len(base) + 3)]
            if brace
            else [path]
        )
        for one in paths:
            parts = tuple(part for part in one.split("::") if part not in ("self", "crate"))
            if (*module, parts[0]) in names:
                found[parts[-1]] = (*module, *parts)
    return found


def resolve(path: tuple[str, ...], names: set, exports: dict) -> tuple[str, ...]:
    """Return the module of a path, through one level of re-exports."""
    depth = max(n for n in range(len(path) + 1) if path[:n] in names)
    owner = path[:depth]
    if depth < len(path) and path[depth] in exports.get(owner, {}):
        target = exports[owner][path[depth]]
        return target[: max(n for n in range(len(target) + 1) if target[:n] in names)]
    return owner


def shared_prefix(one: tuple, other: tuple) -> int:
    """How many parts two paths share at their beginning."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def c_edges(source: Path) -> dict[str, set]:
    """Each C file with the other files whose functions it names."""
    texts = {file.name: COMMENT.sub("", file.read_text()) for file in sorted(source.glob("*.c"))}
    owners = {name: file for file, text in texts.items() for name in FUNCTION.findall(text)}
    return {
        file: {owners[word] for word in re.findall(r"\w+", text) if word in owners} - {file}
        for file, text in texts.items()
    }


def r_edges(source: Path) -> dict[str, set]:
    """Each file of R with the other files whose functions and constants it uses."""
    files = {file.name: r_definitions(file.read_text()) for file in sorted(source.glob("*.R"))}
    owners = {tokens[0].strip("`"): file for file, found in files.items() for tokens in found}
    return {
        file: {owners[name] for tokens in found for name in r_uses(tokens) & set(owners)} - {file}
        for file, found in files.items()
    }


def r_definitions(text: str) -> list[list[str]]:
    """The tokens of each definition at the top level, from its name on."""
    found, depth, begins_line = [], 0, True
    for token, after in pairwise([*R_TOKEN.findall(text), ""]):
        if token == "\n" or token.startswith("#"):
            begins_line = True
            continue
        if depth == 0 and begins_line and after == "<-":
            found.append([])
        if found:
            found[-1].append(token)
        depth += R_DEPTH.get(token, 0)
        begins_line = False
    return found


def r_uses(tokens: list[str]) -> set[str]:
    """The names that a definition uses and does not bind, and all names that it calls."""
    bound, used = r_bound(tokens), set()
    padded = ["", *tokens[1:], ""]
    for before, token, after in zip(padded, padded[1:], padded[2:], strict=False):
        is_member = before in ("$", "@", "::", ":::")
        is_argument = after == "=" and before in ("(", ",")
        if not is_member and not is_argument and (after == "(" or token not in bound):
            used.add(token.strip("`"))
    return used


def r_bound(tokens: list[str]) -> set[str]:
    """The parameters and variables of a definition."""
    bound = set()
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        is_assigned = after in ("<-", "<<-") and before not in ("$", "@")
        is_of_loop = before == "(" and after == "in"
        if is_assigned or is_of_loop:
            bound.add(token)
    for at, token in enumerate(tokens):
        depth = 0
        # The parameters of `function(`: the names in its own parentheses that begin an argument.
        for before, inner in pairwise(tokens[at + 1 :] if token == "function" else []):
            depth += R_DEPTH.get(before, 0)
            if depth == 0:
                break
            if depth == 1 and before in ("(", ","):
                bound.add(inner)
    return bound


def r_layer_errors(edges: dict[str, set], page: str):
    """Files of R that are not in one layer, and uses of a higher layer.

    The page has a row for each layer, the lowest first. A row begins with the names of the files,
    in which `*` stands for any text.
    """
    rows = [line.split("|")[1] for line in page.splitlines() if R_LAYER.match(line)]
    layers = [re.findall(r"`([^`]+)`", row) for row in rows]
    of_file = {}
    for file in edges:
        found = [i for i, names in enumerate(layers) if any(fnmatch(file, name) for name in names)]
        if len(found) == 1:
            of_file[file] = found[0]
        else:
            yield f"r/R/{file} is in {len(found)} layers of docs/architecture.md"
    for file, used in sorted(edges.items()):
        for other in sorted(used):
            if of_file.get(other, 0) > of_file.get(file, len(layers)):
                yield f"r/R/{file} uses {other}, which is in a higher layer"


def circles(edges: dict[str, set]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


if __name__ == "__main__":
    sys.exit(main())
