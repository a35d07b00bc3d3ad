#!/bin/sh
# Runs the Rust tests under AddressSanitizer. Arguments go to `cargo test`.
set -e
if ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo "AddressSanitizer needs a nightly compiler: rustup toolchain install nightly" >&2
    exit 1
fi
host=$(rustup run nightly rustc -vV | sed -n 's/^host: //p')
target="${CARGO_TARGET_DIR:-target}/asan"
# Tests ask for impossible sizes, which the sanitizer's allocator would report. Helpers of the
# thread pool are alive at the end, and would count as leaks.
export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export RUSTFLAGS="-Zsanitizer=address"
# The tests with hostile files take an hour without optimization.
export CARGO_PROFILE_DEV_OPT_LEVEL=3
# GCC believes that static arrays of zstd end with their scope.
export CFLAGS=-fno-sanitize-address-use-after-scope
# An explicit target keeps the flag away from build scripts and macros.
exec cargo +nightly test --target "$host" --target-dir "$target" --lib --tests \
    -p entasis-kernels -p entasis-platform -p entasis-encodings -p entasis-format -p entasis-io \
    -p entasis -p entasis-query -p entasis-testkit "$@"
