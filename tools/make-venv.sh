#!/bin/sh
# Make a virtual environment with the libraries of a requirements file.
# Usage: tools/make-venv.sh <directory> <requirements.txt> <python>...
# Takes the first interpreter for which every library has a wheel: for the newest Python some
# libraries have none yet. An environment that exists keeps its interpreter.
set -u
venv=$1
requirements=$2
shift 2

has_pip() { [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1; }

# Debian packages the parts of the venv module separately; as root, install them.
make_venv() {
    "$1" -m venv "$venv" >/dev/null 2>&1 && return 0
    package="$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        echo "installing $package, which Debian packages separately"
        { apt-get -qq update && { apt-get -qq install -y "$package" || apt-get -qq install -y python3-venv; }; } >/dev/null
        rm -rf "$venv"
        "$1" -m venv "$venv" && return 0
    fi
    echo "error: $1 can't make a virtual environment" >&2
    echo "       Debian, Ubuntu: sudo apt-get install $package" >&2
    return 1
}

install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --prefer-binary "$@" -r "$requirements"
}

if has_pip; then
    install
    exit
fi
while [ $# -gt 0 ]; do
    rm -rf "$venv"
    make_venv "$1" || exit 1
    # The last interpreter may build from source, and its errors are shown.
    if [ $# = 1 ]; then
        install
        exit
    fi
    install --only-binary :all: 2>/dev/null && exit 0
    echo "note: not every library has a wheel for $("$1" --version); trying an older Python"
    shift
done
echo "error: no Python was given" >&2
exit 1
