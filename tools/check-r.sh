#!/bin/sh
# Check the sources of the R package without building them.
# Usage: tools/check-r.sh
set -eu
cd "$(dirname "$0")/.."
tools/check-rust-version.sh
tools/check-r-api.sh
# All files of R/ share one namespace, where a later function silently replaces one of the same
# name.
twice=$(grep -hoE '^`?[[:alnum:]_.<-]+`? <- function' r/R/*.R | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "error: defined twice in r/R: $twice" >&2
    exit 1
fi
