#!/bin/sh
# Run the core tests on interpreters other than the one of the full tests.
# `lowest`: the tests marked `lowest`, on the oldest supported interpreter of this machine, with
# exactly the versions that python/pyproject.toml names as the lowest. `all`: all core tests there,
# and on every other interpreter, with the newest versions.
# `prepare` only makes the environment of `lowest`.
# A lowest version without a wheel for that interpreter is an error, unless no other interpreter was
# found.
# Usage: tools/test-pythons.sh lowest|all|prepare <python of the full tests> [<wheel>]
set -eu
cd "$(dirname "$0")/.."
which=$1
full=$2
wheel=${3:-}
environments=${CARGO_TARGET_DIR:-target}/pythons
version='import sys; print("%d.%d" % sys.version_info[:2])'
skip=$("$full" -c "$version")

# prepare NAME PYTHON REQUIREMENT...: an environment of its own. False if a library lacks a wheel.
prepare() {
    venv=$environments/$1
    python=$2
    # The oldest DuckDB that is tested. It takes time zones from pytz.
    duckdb=duckdb
    [ "$1" = lowest ] && duckdb='duckdb==1.1.3 pytz'
    shift 2
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || return 1
    # shellcheck disable=SC2086 # a word for each requirement
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
        pytest pytest-xdist hypothesis $duckdb "$@"
}

# run NAME PYTHON REQUIREMENT...: the environment, the wheel, the core tests.
run() {
    if ! prepare "$@"; then
        echo "$1: not tested, as some libraries lack a wheel for $("$2" --version)"
        if [ "$1" = lowest ] && [ -n "$found" ]; then return 1; fi
        return 0
    fi
    venv=$environments/$1
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
    name=$1
    shift 2
    marker=core
    [ "$which" = all ] || marker=lowest
    echo "$marker tests on $("$venv/bin/python" --version), $name: $*"
    "$venv/bin/python" -m pytest -p no:cacheprovider -n auto --maxprocesses 4 -m "$marker" python/tests
}

oldest=
found=
for python in $(tools/find-pythons.sh); do
    oldest=$python
    found=$("$python" -c "$version")
    [ "$which" = all ] && [ "$found" != "$skip" ] && run "$found" "$python" -r bench/requirements.txt 'static-frame>=5.1'
done
[ -n "$oldest" ] || oldest=$full
lowest=$("$full" -c '
import tomllib
project = tomllib.load(open("python/pyproject.toml", "rb"))["project"]
wanted = project["dependencies"] + project["optional-dependencies"]["all"]
print(*(requirement.replace(">=", "==") for requirement in wanted))
')
if [ "$which" = prepare ]; then
    # Failures are reported when the tests run.
    # shellcheck disable=SC2086 # a word for each requirement
    prepare lowest "$oldest" $lowest >/dev/null 2>&1 || true
    exit 0
fi
# shellcheck disable=SC2086 # a word for each requirement
run lowest "$oldest" $lowest
