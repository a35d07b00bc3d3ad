#!/bin/sh
# Make the source package of R with all its sources: the crates of the core and, in an archive,
# their dependencies.
# Usage: tools/r-package.sh <directory>; prints the path of the package.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
package=$out/entasis
tools=$(pwd)/tools
rm -rf "$package" "$out"/entasis_*.tar.gz
mkdir -p "$package"

# The tracked and new files of r/.
git ls-files --cached --others --exclude-standard r | while read -r file; do
    [ -f "$file" ] || continue
    mkdir -p "$package/$(dirname "${file#r/}")"
    cp "$file" "$package/${file#r/}"
done

# The workspace without the parts that R does not need.
mkdir "$package/src/crates"
for crate in platform kernels format encodings io seal core query csv convert dataset; do
    mkdir "$package/src/crates/$crate"
    cp -r "crates/$crate/Cargo.toml" "crates/$crate/src" "$package/src/crates/$crate"
done
sed -e 's|^members = .*|members = ["crates/*", "rust"]|' -e '/^default-members/d' -e '/^entasis-cli/d' Cargo.toml >"$package/src/Cargo.toml"
for manifest in "$package"/src/crates/*/Cargo.toml "$package/src/rust/Cargo.toml"; do
    # Without tests, and the dependencies of tests.
    awk '/^\[/ { skip = $0 == "[dev-dependencies]" || $0 == "[[example]]" || $0 == "[[test]]" || $0 == "[[bench]]" } !skip' "$manifest" >"$manifest.new"
    mv "$manifest.new" "$manifest"
done
cp Cargo.lock "$package/src"

(
    cd "$package/src"
    cargo metadata --format-version 1 >/dev/null 2>&1
    mkdir .cargo
    # With --quiet, cargo would not print the configuration that keeps a build from asking the
    # registry.
    cargo vendor --locked vendor >.cargo/config.toml 2>"$out/vendor.log" || { cat "$out/vendor.log" >&2; exit 1; }
    grep -q '^directory = "vendor"' .cargo/config.toml || { echo "error: cargo vendor printed no configuration" >&2; exit 1; }
    python3 "$tools/r-authors.py" vendor >../inst/AUTHORS
    tar cJf vendor.tar.xz vendor .cargo/config.toml
    rm -r vendor .cargo
)
# Building the vignette needs the package, which has the engine.
mkdir -p "$out/library"
R CMD INSTALL --no-docs --no-test-load --library="$out/library" r >"$out/install.log" 2>&1 || { cat "$out/install.log" >&2; exit 1; }
(cd "$out" && R_LIBS=$out/library CARGO_TARGET_DIR=$out/target R CMD build --no-manual entasis >build.log 2>&1) || { cat "$out/build.log" >&2; exit 1; }
ls "$out"/entasis_*.tar.gz
