#!/bin/sh
# Check the sources of the R package without building them.
# Usage: tools/check-r.sh
set -eu
cd "$(dirname "$0")/.."
tools/check-rust-version.sh
tools/check-r-api.sh
# All files of R/ share one namespace, in which the last function of a name wins without a word.
twice=$(grep -hoE '^`?[[:alnum:]_.<-]+`? <- function' r/R/*.R | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "error: defined twice in r/R: $twice" >&2
    exit 1
fi
