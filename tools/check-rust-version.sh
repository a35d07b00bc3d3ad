#!/bin/sh
# Check that R's package asks for the oldest Rust that the crates need. Clippy's incompatible_msrv,
# which `make lint` runs, refuses items of the standard library that are newer.
set -eu
cd "$(dirname "$0")/.."
pinned=$(sed -n 's/^channel = "\([0-9]*\.[0-9]*\).*"$/\1/p' rust-toolchain.toml)
crates=$(sed -n 's/^rust-version = "\([0-9]*\.[0-9]*\).*"$/\1/p' Cargo.toml)
package=$(sed -n 's/.*rustc (>= \([0-9]*\.[0-9]*\).*/\1/p' r/DESCRIPTION)
if [ -z "$crates" ] || [ "$crates" != "$package" ]; then
    echo "error: Rust $crates in Cargo.toml, $package in r/DESCRIPTION" >&2
    exit 1
fi
if [ "$(printf '%s\n%s\n' "$crates" "$pinned" | sort -V | head -n 1)" != "$crates" ]; then
    echo "error: Rust $pinned in rust-toolchain.toml is older than $crates in Cargo.toml" >&2
    exit 1
fi
