#!/bin/sh
# Attack the Python package with Atheris, each target for some seconds.
# Usage: tools/fuzz-python.sh SECONDS [TARGET...]
# Needs the environment of `make setup`. Inputs that fail are kept in
# fuzz/regressions/python-TARGET, where the tests of Python replay them. The corpus and the logs are
# in the target directory.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz-python.sh SECONDS [TARGET...]}
shift
python=${VENV:-.venv}/bin/python
target=${CARGO_TARGET_DIR:-target}/fuzz-python
if ! [ -x "$python" ] || ! "$python" -c 'import entasis, pandas, polars, pyarrow, static_frame' 2>/dev/null; then
    echo "note: the Python package is not attacked: it is not in ${VENV:-.venv} (make setup)"
    exit 0
fi
# In a folder of its own, so that the environment stays as it is.
libraries=$target/$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
if ! PYTHONPATH=$libraries "$python" -c 'import atheris' 2>/dev/null; then
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$libraries" 'atheris>=3,<4' ||
        {
            echo "note: the Python package is not attacked: Atheris can't be installed (it has wheels for CPython 3.11 to 3.14 on Linux)"
            exit 0
        }
fi
status=0
for name in ${*:-read open decompress read_npz}; do
    kept=fuzz/regressions/python-$name
    mkdir -p "$kept" "$target"
    echo "python-$name, $seconds seconds"
    PYTHONPATH=$libraries${PYTHONPATH:+:$PYTHONPATH} "$python" -m fuzz.python.run "$name" "$target/corpus-$name" \
        -max_total_time="$seconds" -artifact_prefix="$kept/" -rss_limit_mb=3072 -timeout=20 -print_final_stats=1 \
        >"$target/$name.log" 2>&1 || status=$?
    rmdir "$kept" 2>/dev/null || true
    grep -E '^stat::number_of_executed_units|^stat::peak_rss_mb|Test unit written' "$target/$name.log" || true
    if [ "$status" != 0 ]; then
        tail -n 40 "$target/$name.log"
        echo "error: python-$name found the input above; the log is $target/$name.log" >&2
        exit 1
    fi
done
