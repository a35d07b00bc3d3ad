#!/bin/sh
# Install the R package with a library of Rust that was built before, and run its tests with two
# workers. tools/check-r-package.sh checks the source package too, and takes longer.
# Usage: [ENTASIS_STATICLIB=<libentasis_r.a>] tools/test-r.sh [python with entasis]
# Without ENTASIS_STATICLIB, cargo builds the library in release mode.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
tools/install-r.sh
tools/check-r.sh
if ! command -v R >/dev/null 2>&1; then
    echo "note: R is not installed, so its package is not tested (Debian: apt-get install r-base-core r-cran-testthat)"
    exit 0
fi

target=${CARGO_TARGET_DIR:-$here/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
if [ -z "${ENTASIS_STATICLIB:-}" ]; then
    cargo build --release --quiet --package entasis-r
    ENTASIS_STATICLIB=$target/release/libentasis_r.a
fi
ENTASIS_STATICLIB=$(realpath "$ENTASIS_STATICLIB")
export ENTASIS_STATICLIB

# A copy, so that nothing is built in the checkout.
out=$target/r-quick
rm -rf "$out"
mkdir -p "$out/library"
git ls-files --cached --others --exclude-standard r | while read -r file; do
    [ -f "$file" ] || continue
    mkdir -p "$out/$(dirname "$file")"
    cp "$file" "$out/$file"
done
# Compiler warnings are errors, except warnings that R's interface causes.
echo "CFLAGS = -O2 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-cast-function-type -Werror" >"$out/Makevars"
R_MAKEVARS_USER=$out/Makevars MAKEFLAGS=-j2 R CMD INSTALL --no-docs --no-test-load --library="$out/library" "$out/r" >"$out/install.log" 2>&1 || {
    cat "$out/install.log" >&2
    echo "error: the R package can't be installed" >&2
    exit 1
}

if [ -n "${1:-}" ] && "$1" -c 'import entasis, pandas, pyarrow' >/dev/null 2>&1; then
    ENTASIS_PYTHON=$1
    export ENTASIS_PYTHON
fi
R_LIBS=$out/library${R_LIBS:+:$R_LIBS} NOT_CRAN=true ENTASIS_GOLDEN=$here/tests TESTTHAT_CPUS=${TESTTHAT_CPUS:-2} \
    Rscript tools/run-r-tests.R "$out/r/tests/testthat"
