#!/bin/sh
# Fail if the package of Python, as the tests build it, has crates with other features than in
# Rust's tests: Cargo would compile them again, and all that depends on them.
# Usage: tools/check-features.sh
set -eu
cd "$(dirname "$0")/.."

# features OPTIONS...: a line for each crate of a build, with its features.
features() { cargo tree --locked --prefix none --format '{p} {f}' "$@" | sed 's/ (\*)$//' | sort -u; }

rust=$(mktemp)
trap 'rm -f "$rust"' EXIT
features --workspace --edges normal,build,dev --features entasis-python/tested >"$rust"
others=$(features --package entasis-python --edges normal,build --features tested | comm -13 "$rust" -)
if [ -n "$others" ]; then
    echo "error: the feature \`tested\` of python/Cargo.toml lacks features that Rust's tests turn on:" >&2
    echo "$others" >&2
    exit 1
fi
