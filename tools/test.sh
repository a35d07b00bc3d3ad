#!/bin/sh
# All tests of a change. Prints the seconds of each step at the end.
# Rust, the Python package and the R package are built once, with the profile `gate`. Environments
# and R are fetched while Rust compiles.
set -eu
cd "$(dirname "$0")/.."
make=${MAKE:-make}
times=

step() {
    name=$1
    shift
    start=$(date +%s)
    "$@"
    times="$times$(printf '%6d s  %s' $(($(date +%s) - start)) "$name")
"
}

mkdir -p "${CARGO_TARGET_DIR:-target}"
fetched=${CARGO_TARGET_DIR:-target}/fetched.log
(tools/install-r.sh && $make --no-print-directory fetch) >"$fetched" 2>&1 &
fetch=$!
step "Rust" $make --no-print-directory test-rust
step "the rest of the downloads" wait "$fetch" || { cat "$fetched" >&2; exit 1; }
step "Python" $make --no-print-directory test-python
step "oldest Python, lowest versions" $make --no-print-directory test-lowest
step "R" $make --no-print-directory test-r
printf '%s' "$times"
