#!/usr/bin/env bash
# Fuzzes: tools/fuzz.sh SECONDS [TARGET...]. Runs each target (default: all) for SECONDS, JOBS (2)
# at a time. An input that takes more than TIMEOUT (1) seconds is a find. Corpora, logs and finds
# are in target/fuzz, where later runs continue.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz.sh SECONDS [TARGET...]}
shift
jobs=${JOBS:-2}
folder=$PWD/${CARGO_TARGET_DIR:-target}/fuzz
case ${CARGO_TARGET_DIR:-} in /*) folder=$CARGO_TARGET_DIR/fuzz ;; esac

if ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo "fuzz: needs a nightly compiler: rustup toolchain install nightly --profile minimal" >&2
    exit 1
fi
if ! command -v c++ >/dev/null; then
    echo "fuzz: needs a C++ compiler, called c++, for libFuzzer" >&2
    exit 1
fi
host=$(rustup run nightly rustc -vV | sed -n 's/^host: //p')

# The flags that cargo-fuzz sets: coverage of edges and of comparisons, AddressSanitizer, checks.
flags=(--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares)
echo "building the fuzz targets"
cargo run --quiet -p entasis-testkit --bin seeds -- "$folder/seeds"
# GCC believes that static arrays of zstd end with their scope.
RUSTFLAGS="${flags[*]}" CFLAGS=-fno-sanitize-address-use-after-scope \
    rustup run nightly cargo build --quiet --release --locked \
    --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$folder/build"
binaries=$folder/build/$host/release
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    mapfile -t targets < <(cd fuzz/fuzz_targets && printf '%s\n' *.rs | sed 's/\.rs$//')
fi

# Small quarantine and no leak check: libFuzzer watches the memory, other tests watch for leaks.
export ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=0:allocator_may_return_null=1
run() {
    local target=$1
    local corpus=("$folder/corpus/$target" "$folder/seeds/$target")
    [ ! -d "fuzz/regressions/$target" ] || corpus+=("fuzz/regressions/$target")
    mkdir -p "$folder/corpus/$target" "$folder/finds/$target"
    exec "$binaries/$target" -max_total_time="$seconds" -rss_limit_mb=512 -timeout="${TIMEOUT:-1}" -max_len=32000 \
        -print_final_stats=1 -artifact_prefix="$folder/finds/$target/" "${corpus[@]}"
}
pids=()
stop() {
    trap - INT TERM
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait
    exit 130
}
trap stop INT TERM
mkdir -p "$folder/logs"
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n || true
    done
    (run "$target") >"$folder/logs/$target" 2>&1 &
    pids+=($!)
done
wait || true

failed=0
for target in "${targets[@]}"; do
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/logs/$target" | tail -1)
    finds=$(find "$folder/finds/$target" -type f | wc -l)
    printf '%-10s %12s executions, %s finds\n' "$target" "${executed:-no}" "$finds"
    if [ "$finds" -gt 0 ] || [ -z "$executed" ]; then
        failed=1
        echo "           inputs in $folder/finds/$target, log in $folder/logs/$target"
    fi
done
exit $failed
