#!/bin/sh
# Install pyright, the type checker of most editors, into a virtual environment. The tests check the
# examples of the docs with it.
# Usage: tools/install-pyright.sh <venv>
set -eu
if ! command -v npm >/dev/null 2>&1; then
    echo "note: npm is not there, so the examples are not checked with pyright"
    exit 0
fi
npm install --silent --no-audit --no-fund --prefix "$1" pyright@1.1.414 ||
    echo "note: pyright could not be installed, so the examples are not checked with it"
