#!/bin/sh
# Check that the oldest Rust that the packages ask for is the one that builds and tests them.
set -eu
cd "$(dirname "$0")/.."
pinned=$(sed -n 's/^channel = "\([0-9]*\.[0-9]*\).*"$/\1/p' rust-toolchain.toml)
crates=$(sed -n 's/^rust-version = "\([0-9]*\.[0-9]*\).*"$/\1/p' Cargo.toml)
package=$(sed -n 's/.*rustc (>= \([0-9]*\.[0-9]*\).*/\1/p' r/DESCRIPTION)
if [ -z "$pinned" ] || [ "$pinned" != "$crates" ] || [ "$pinned" != "$package" ]; then
    echo "error: Rust $pinned in rust-toolchain.toml, $crates in Cargo.toml, $package in r/DESCRIPTION" >&2
    exit 1
fi
