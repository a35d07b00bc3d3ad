#!/usr/bin/env python3
"""Flags phrases that CONTRIBUTING.md rules out, and long lines.

It looks at comments, docstrings, pages, and string literals of four words or more in one line.

Usage: tools/check-prose.py [PATH ...]. Prints all findings, in these files and folders or in all.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100
# Texts that the project does not write: licences, results, generated files, tables of odd strings.
SKIPPED = ("LICENSE", "bench/results/", "tests/golden", "docs/fidelity.md")
KINDS = {".rs": "c", ".c": "c", ".h": "c", ".py": "python", ".pyi": "python"}
KINDS |= {".R": "hash", ".sh": "hash", ".toml": "hash"}
KINDS |= {".md": "page", ".Rmd": "page", ".Rd": "page"}
# Strings of these files are data: names of odd values, and the phrases themselves.
DATA = ("bench/fidelity/cases", "crates/testkit", "python/tests/test_prose.py", "tools/check-prose")

PHRASES = [
    (re.compile(pattern, re.IGNORECASE), advice)
    for pattern, advice in (
        (r"\bas any\b", "name the kind of thing, or leave it out"),
        (
            r"\bof (?:which|whom)\b|(?:^|(?<=[.,;:] ))of them\b",
            "begin a new sentence with its subject",
        ),
        (r"\b(?:told|tells)\b", "say recorded, stored or reported"),
        (r"\b(?:is|are) no (?!longer\b|more\b|less\b)", "say is not a, or has none"),
        (r"\b(?:has|have) not\b(?! (?:yet )?been\b)", "say lacks, or does not have"),
        (r"\bbehind\b", "say after, or next"),
        (r"\bbeside\b", "say next to, or with"),
        (r"\b(?:stands?|stood)\b(?! for\b)", "say is, or name the place"),
        (r"\bso[.;]", "say how at the place of the verb"),
    )
]
FRONTED = re.compile(
    r"(?:^|(?<=[.!?;:] ))(?:What|Who|Whoever|Whatever)\b(?! if\b)[^.!?]*(?:[.!](?!\w)|$)"
)
COMMENTS = {
    "c": re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\\n])\'|(//[^\n]*|/\*.*?\*/)', re.DOTALL),
    "hash": re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|(#[^\n]*)'),
}
LITERALS = {
    ".rs": re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])\'|"((?:\\.|[^"\\])*)"', re.DOTALL),
    ".R": re.compile(r'#[^\n]*|"((?:\\.|[^"\\])*)"|\'((?:\\.|[^\'\\])*)\''),
}
FEWEST_WORDS = 4
MARKS = re.compile(r"^\s*(?:///?|//!|/\*+|\*/|\*(?=\s|$)|#+'?)\s?")

Line = tuple[int, str]
Finding = tuple[int, str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="only these files and folders")
    is_clean = True
    for path in files(parser.parse_args().paths):
        for line, text, advice in findings(path):
            print(f"{path}:{line}: {text!r}: {advice}")
            is_clean = False
    return 0 if is_clean else 1


def files(paths: list[str]) -> list[str]:
    """Files that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = (name for name in sorted(set(names.splitlines())) if Path(name).suffix in KINDS)
    return [name for name in known if not name.startswith(SKIPPED) and (ROOT / name).is_file()]


def findings(path: str) -> list[Finding]:
    text = (ROOT / path).read_text(encoding="utf-8")
    kind = KINDS[Path(path).suffix]
    found: list[Finding] = []
    for block in blocks(text, kind):
        if Path(path).suffix != ".Rd":
            found += long_lines(block, kind)
        found += phrases(
            [(number, MARKS.sub("", line) if kind != "page" else line) for number, line in block]
        )
    if not path.startswith(DATA):
        for number, string in literals(text, Path(path).suffix):
            if len(string.split()) >= FEWEST_WORDS and "\n" not in string:
                # Messages may begin with these words.
                found += phrases([(number, re.sub(r"\bthere (?:is|are) no\b", "", string))])
    return sorted(set(found))


def literals(text: str, suffix: str) -> Iterator[Line]:
    """The string literals of a program, without docstrings, each with its first line."""
    if suffix == ".py":
        tree = ast.parse(text)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in docs:
                yield node.lineno, node.value
    elif suffix in LITERALS:
        for match in LITERALS[suffix].finditer(text):
            if match.lastindex is not None:
                # A backslash at the end of a line joins it with the next.
                string = re.sub(r"\\\n\s*", "", match.group(match.lastindex))
                yield text.count("\n", 0, match.start()) + 1, string


def blocks(text: str, kind: str) -> Iterator[list[Line]]:
    """Comments, docstrings or paragraphs, each as its numbered lines."""
    if kind == "page":
        return paragraphs(text)
    if kind == "python":
        return python_blocks(text)
    return joined(comment_lines(text, COMMENTS[kind]))


def comment_lines(text: str, pattern: re.Pattern[str]) -> Iterator[Line]:
    lines = text.split("\n")
    number, at = 1, 0
    for match in pattern.finditer(text):
        if match.group(1) is None:
            continue
        number += text.count("\n", at, match.start())
        at = match.start()
        for i, part in enumerate(match.group(1).split("\n")):
            # The whole line's width counts, but only if the comment is alone on the line.
            alone = lines[number + i - 1].strip() == part.strip()
            yield number + i, lines[number + i - 1] if alone else part


def python_blocks(text: str) -> Iterator[list[Line]]:
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line.strip() == token.string.strip()
            comments.append((token.start[0], token.line.rstrip("\n") if alone else token.string))
    yield from joined(iter(comments))
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                begin, end = first.lineno, first.end_lineno or first.lineno
                quoted = [(n, lines[n - 1].replace('"""', "")) for n in range(begin, end + 1)]
                yield from split_at_blanks(quoted)


def joined(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Comments on lines that follow one another are one block."""
    block: list[Line] = []
    for line in lines:
        if block and line[0] != block[-1][0] + 1:
            yield from split_at_blanks(block)
            block = []
        block.append(line)
    yield from split_at_blanks(block)


def split_at_blanks(lines: list[Line]) -> Iterator[list[Line]]:
    block: list[Line] = []
    for number, line in lines:
        if block and not MARKS.sub("", line).strip():
            yield block
            block = []
        block.append((number, line))
    if block:
        yield block


def paragraphs(text: str) -> Iterator[list[Line]]:
    """Paragraphs, items and rows of tables, without code and headings."""
    block: list[Line] = []
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.lstrip().startswith("```")
        starts = re.match(r"\s*(?:[-*] |\d+\. |\|)", line)
        if block and (fence or starts or not line.strip()):
            yield block
            block = []
        fenced ^= fence
        if not (fence or fenced or line.startswith(("#", "<!--"))):
            block.append(
                (number, re.sub(r"`[^`]*`", "code", line) if line.startswith("|") else line)
            )
    if block:
        yield block


def long_lines(block: list[Line], kind: str) -> Iterator[Finding]:
    for number, line in block:
        is_row = kind == "page" and line.startswith("|")
        if len(line) > WIDTH and not is_row and "http" not in line:
            yield number, f"{len(line)} columns", f"wrap at {WIDTH}"


def phrases(block: list[Line]) -> Iterator[Finding]:
    text, starts = "", []
    for number, line in block:
        starts.append((len(text), number))
        text += re.sub(r"\s+", " ", line.strip()) + " "
    text = re.sub(r"`[^`]*`", lambda code: "x" * len(code.group()), text)
    text = re.sub(r"^(\s*(?:[-*]|\d+\.|\|) )", lambda item: " " * len(item.group()), text)

    def line_of(at: int) -> int:
        return max(number for start, number in starts if start <= at)

    for pattern, advice in PHRASES:
        for match in pattern.finditer(text):
            yield line_of(match.start()), match.group().strip(), advice
    body = text.lstrip()
    shift = len(text) - len(body)
    for match in FRONTED.finditer(body):
        yield line_of(match.start() + shift), match.group()[:40], "begin with the thing that acts"


if __name__ == "__main__":
    sys.exit(main())
