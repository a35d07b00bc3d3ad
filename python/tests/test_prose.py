"""The check of comments and pages finds the phrases that the rules of text exclude, and no others."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools/check-prose.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_prose", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(tool, monkeypatch, tmp_path, name, text):
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    return [(line, phrase) for line, phrase, _ in tool.findings(name)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.rs", "// What is read is checked.\nfn what() {}\n", [(1, "What is read is checked.")]),
        ("a.rs", "/// Pages. Who reads them\n/// waits.\n", [(1, "Who reads them waits.")]),
        ("a.rs", 'let s = "as any, told"; // fine\n', []),
        ("a.rs", 'let s = "a value that is no \\\n    list";\n', [(1, "is no")]),
        ("a.rs", "let c = '\"'; // a value of \"that is no list\n", [(1, "is no")]),
        ("a.py", 'raise E(f"{x} is no list of\\n values", "the value is no list")\n', [(1, "is no")]),
        ("a.py", 'raise E("there is no list here")\n', []),
        ("a.R", "stop('the value is no list') # \"\n", [(1, "is no")]),
        ("a.Rd", "\\value{\n  The values, of which\n  some are kept.\n}\n", [(2, "of which")]),
        ("a.rs", "// A dict as any.\n", [(1, "as any")]),
        ("a.c", "/* The list, of\n * which two are kept. */\n", [(1, "of which")]),
        ("a.py", 'def f():\n    """Values are told.\n\n    It is no list.\n    """\n', [(2, "told"), (4, "is no")]),
        ("a.py", '# The page behind it.\nx = "behind"\n', [(1, "behind")]),
        ("a.py", "# " + "x" * 99 + "\n", [(1, "101 columns")]),
        ("a.py", "value = 1  # it is no longer used\n", []),
        ("a.R", "# What is kept? Nothing.\n", []),
        ("a.md", "# What comes back\n\nRows stand here.\n\n```\ntold behind\n```\n", [(3, "stand")]),
        ("a.md", "| `told` stands for | behind |\n", [(1, "behind")]),
    ],
)
def test_phrases(tool, monkeypatch, tmp_path, name, text, expected):
    assert found(tool, monkeypatch, tmp_path, name, text) == expected
