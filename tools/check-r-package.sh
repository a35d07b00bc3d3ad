#!/bin/sh
# Check the R package as CRAN does: build it from its source package, run its examples and tests.
# tools/test-r.sh runs the tests alone.
# Usage: tools/check-r-package.sh <python with the package entasis>
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
out=$target/r-package
package=$(tools/r-package.sh "$out")
cd "$out"
if [ -x "$1" ] && "$1" -c 'import entasis, pandas, pyarrow' >/dev/null 2>&1; then
    ENTASIS_PYTHON=$1
    export ENTASIS_PYTHON
fi
# --as-cran asks CRAN whether suggested packages that are not installed here are orphaned, and stops
# where CRAN is out of reach. An empty index answers it.
mkdir -p cran/web/packages
Rscript -e 'saveRDS(cbind(Package = character(), Maintainer = character()), "cran/web/packages/packages.rds")'
status=0
# Tests skip missing libraries. Without testthat only examples run.
Rscript -e 'quit(status = !requireNamespace("testthat", quietly = TRUE))' >/dev/null 2>&1 || echo "note: testthat is not installed, so only examples are run"
_R_CHECK_CRAN_INCOMING_=false _R_CHECK_FORCE_SUGGESTS_=false R_CRAN_WEB=file://$out/cran NOT_CRAN=true \
    ENTASIS_GOLDEN=$here/tests CARGO_TARGET_DIR=$out/target R CMD check --as-cran --no-manual "$package" || status=$?
find entasis.Rcheck/tests -name '*.Rout*' -exec tail -n 40 {} +
# Warnings about missing tools say nothing about the package.
warnings=$(grep -c 'WARNING$' entasis.Rcheck/00check.log || true)
tools=$(grep -c "needs the 'checkbashisms' script\|qpdf.* is needed for checks" entasis.Rcheck/00check.log || true)
if [ "$status" != 0 ] || [ "$warnings" -gt "$tools" ] || grep -q '^Status:.*ERROR' entasis.Rcheck/00check.log; then
    cat entasis.Rcheck/00install.out
    echo "error: R CMD check failed" >&2
    exit 1
fi
