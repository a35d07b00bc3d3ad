#!/bin/sh
# Fuzzes the Python package: tools/fuzz-python.sh SECONDS [TARGET...]. Runs each target (default:
# all) for SECONDS with Atheris. Needs the environment of `make setup`. Corpora, logs and finds are
# in target/fuzz-python, where later runs continue.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz-python.sh SECONDS [TARGET...]}
shift
python=${VENV:-.venv}/bin/python
target=${CARGO_TARGET_DIR:-target}/fuzz-python
if ! [ -x "$python" ] || ! "$python" -c 'import entasis, pandas, polars, pyarrow, static_frame' 2>/dev/null; then
    echo "note: the Python package is not fuzzed: it is not in ${VENV:-.venv} (make setup)"
    exit 0
fi
# Installed into a separate folder, so that the environment stays unchanged.
libraries=$target/$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
if ! PYTHONPATH=$libraries "$python" -c 'import atheris' 2>/dev/null; then
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$libraries" 'atheris>=3,<4' ||
        {
            echo "note: the Python package is not fuzzed: Atheris can't be installed (it has wheels for CPython 3.11 to 3.14 on Linux)"
            exit 0
        }
fi
# Polars panics for some inputs. A backtrace of each would take seconds.
export RUST_BACKTRACE=0
failed=0
for name in ${*:-read open decompress read_npz}; do
    mkdir -p "$target/finds/$name"
    status=0
    PYTHONPATH=$libraries${PYTHONPATH:+:$PYTHONPATH} "$python" -m fuzz.python.run "$name" "$target/corpus/$name" \
        -max_total_time="$seconds" -artifact_prefix="$target/finds/$name/" -rss_limit_mb=3072 -timeout=20 \
        -print_final_stats=1 >"$target/$name.log" 2>&1 || status=$?
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target/$name.log" | tail -1)
    printf '%-17s %12s executions\n' "python-$name" "${executed:-no}"
    if [ "$status" != 0 ]; then
        failed=1
        echo "           inputs in $target/finds/$name, log in $target/$name.log"
    fi
done
exit $failed
