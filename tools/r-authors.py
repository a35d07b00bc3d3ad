"""Print the names, licences and authors of the crates that the source package of R contains.

Usage: python3 tools/r-authors.py <directory that cargo vendor made>
"""

import re
import sys
import tomllib
from pathlib import Path


def authors(crate: Path, package: dict) -> list[str]:
    """The authors that the manifest names, else the copyright lines of the licence files."""
    named = [re.sub(r"\s*<.*>", "", author) for author in package.get("authors", [])]
    if named:
        return named
    lines = []
    for file in sorted(crate.iterdir()):
        if file.is_file() and re.match(r"(?i)licen[cs]e|copying|copyright|notice", file.name):
            text = file.read_text(errors="replace")
            lines += re.findall(r"(?mi)^\s*(Copyright (?:\(c\)|©|\d{4}).*)", text)
    return list(dict.fromkeys(lines)) or [f"the authors of {package['name']}"]


print("The source package contains these Rust crates. Their licences are in src/vendor.tar.xz.\n")
for manifest in sorted(Path(sys.argv[1]).glob("*/Cargo.toml")):
    package = tomllib.loads(manifest.read_text())["package"]
    licence = package.get("license", "see its licence file")
    print(f"{package['name']} {package['version']} ({licence})")
    for author in authors(manifest.parent, package):
        print(f"  {author}")
