#!/bin/sh
# All tests of a change. Prints the seconds of each step at the end.
# Rust, the Python package and the R package are built once, with the profile `gate`. Environments
# and R are fetched while Rust compiles. R's tests run at the same time as those with the lowest
# versions, as both begin and end with work for one core.
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

lowest_and_r() {
    log=${CARGO_TARGET_DIR:-target}/test-r.log
    $make --no-print-directory test-r >"$log" 2>&1 &
    r=$!
    status=0
    $make --no-print-directory test-lowest || status=1
    wait "$r" || status=1
    cat "$log"
    return "$status"
}

mkdir -p "${CARGO_TARGET_DIR:-target}"
fetched=${CARGO_TARGET_DIR:-target}/fetched.log
(tools/install-r.sh && $make --no-print-directory fetch) >"$fetched" 2>&1 &
fetch=$!
step "Rust" $make --no-print-directory test-rust
step "the rest of the downloads" wait "$fetch" || { cat "$fetched" >&2; exit 1; }
step "Python" $make --no-print-directory test-python
step "oldest Python with the lowest versions, and R" lowest_and_r
printf '%s' "$times"
