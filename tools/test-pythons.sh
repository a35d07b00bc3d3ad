#!/bin/sh
# Run the core tests on every other supported interpreter of this machine, then on the oldest
# with exactly the versions that python/pyproject.toml names as the lowest. A lowest version without
# a wheel for that interpreter is an error, unless no other interpreter was found.
# Usage: tools/test-pythons.sh <python of the full tests> <wheel>
set -eu
cd "$(dirname "$0")/.."
full=$1
wheel=$2
environments=${CARGO_TARGET_DIR:-target}/pythons
version='import sys; print("%d.%d" % sys.version_info[:2])'
skip=$("$full" -c "$version")

# run NAME PYTHON REQUIREMENT...: an environment of its own, the wheel, the core tests.
run() {
    name=$1
    python=$2
    shift 2
    venv=$environments/$name
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || return 1
    # The oldest DuckDB that is tested. It takes time zones from pytz.
    duckdb=duckdb
    [ "$name" = lowest ] && duckdb='duckdb==1.1.3 pytz'
    pip="$venv/bin/python -m pip install --quiet --disable-pip-version-check"
    # shellcheck disable=SC2086 # a word for each requirement
    if ! $pip --only-binary :all: pytest pytest-xdist hypothesis $duckdb "$@"; then
        echo "$name: not tested, as some libraries lack a wheel for $("$python" --version)"
        if [ "$name" = lowest ] && [ -n "$found" ]; then return 1; fi
        return 0
    fi
    $pip --no-deps --force-reinstall "$wheel"
    echo "core tests on $("$venv/bin/python" --version), $name: $*"
    "$venv/bin/python" -m pytest -p no:cacheprovider -n auto --maxprocesses 4 -m core python/tests
}

oldest=
found=
for python in $(tools/find-pythons.sh); do
    oldest=$python
    found=$("$python" -c "$version")
    [ "$found" = "$skip" ] && continue
    run "$found" "$python" -r bench/requirements.txt 'static-frame>=5.1'
done
[ -n "$oldest" ] || oldest=$full
lowest=$("$full" -c '
import tomllib
project = tomllib.load(open("python/pyproject.toml", "rb"))["project"]
wanted = project["dependencies"] + project["optional-dependencies"]["all"]
print(*(requirement.replace(">=", "==") for requirement in wanted))
')
# shellcheck disable=SC2086 # a word for each requirement
run lowest "$oldest" $lowest
