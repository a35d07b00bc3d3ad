#!/bin/sh
# What `make test` leaves out. Each run is a line of docs/testing-runs.csv: commit that file.
# A run whose tool is missing says so (exit code 77) and adds no line. Several hours on two cores.
# Usage: tools/test-release.sh [RUN...], with names as in the list at the end.
set -u
cd "$(dirname "$0")/.."
make=${MAKE:-make}
python=$(pwd)/${VENV:-.venv}/bin/python
runs=docs/testing-runs.csv
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain -- . ":!$runs" 2>/dev/null)" ] || commit=$commit-dirty
failed=
# More cases than `make test` takes.
export ENTASIS_TEST_RELEASE=1

# PyTorch takes some gigabytes, so it gets a separate folder.
with_torch() {
    libraries=$(pwd)/${CARGO_TARGET_DIR:-target}/torch
    "$python" -m pip install --quiet --disable-pip-version-check --target "$libraries" torch || return 1
    PYTHONPATH=$libraries "$python" -m pytest -n auto --maxprocesses 4 \
        python/tests/test_torch.py python/tests/test_stores_torch.py
}

# Servers of stores, which Go and npm install.
stores() {
    "$python" tools/test-stores.py --folder "$(pwd)/${CARGO_TARGET_DIR:-target}/stores"
}

# Ray and Spark take a gigabyte.
with_machines() {
    java -version >/dev/null 2>&1 || echo "note: Java is not installed, so the tests with Spark are skipped"
    libraries=$(pwd)/${CARGO_TARGET_DIR:-target}/machines
    "$python" -m pip install --quiet --disable-pip-version-check --upgrade --target "$libraries" \
        'ray[data]' pyspark || return 1
    # Libraries of the environment come first: the folder has copies of some, which Ray needs too.
    PYTHONPATH=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'):$libraries \
        "$python" -m pytest python/tests/test_ray.py python/tests/test_spark.py python/tests/test_dask.py
}

miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        echo "note: Miri is not installed: rustup component add --toolchain nightly miri"
        return 77
    fi
    cargo +nightly miri test -p entasis-format -p entasis-encodings -p entasis-query --lib
}

asan() {
    rustup run nightly rustc --version >/dev/null 2>&1 || { echo "note: no nightly compiler"; return 77; }
    $make --no-print-directory test-asan
}

fuzz() {
    rustup run nightly rustc --version >/dev/null 2>&1 || { echo "note: no nightly compiler"; return 77; }
    $make --no-print-directory fuzz SECONDS=60
}

run() {
    name=$1
    shift
    echo "== $name"
    start=$(date +%s)
    "$@"
    status=$?
    [ "$status" = 77 ] && return
    result=passed
    [ "$status" = 0 ] || { result=failed; failed="$failed $name"; }
    echo "$(date +%F),$commit,make test-release: $name,,$((($(date +%s) - start + 59) / 60)),$result," >>"$runs"
}

for name in ${*:-rust python torch stores machines pythons r miri asan fuzz}; do
    case $name in
        rust) run rust $make --no-print-directory test-rust PROFILE=release ;;
        python) run python $make --no-print-directory test-python PROFILE=release ;;
        torch) $make --no-print-directory setup && run torch with_torch ;;
        stores) $make --no-print-directory setup && run stores stores ;;
        machines) $make --no-print-directory setup && run machines with_machines ;;
        pythons) run pythons $make --no-print-directory test-pythons PROFILE=release ;;
        r) run r $make --no-print-directory check-r-package ;;
        miri) run miri miri ;;
        asan) run asan asan ;;
        fuzz) run fuzz fuzz ;;
        *) echo "error: there is no run $name" >&2; exit 1 ;;
    esac
done
if [ -n "$failed" ]; then
    echo "error: failed:$failed" >&2
    exit 1
fi
