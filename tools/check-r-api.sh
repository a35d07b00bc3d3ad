#!/bin/sh
# Check that r/src uses only R's documented interface for C, so that it compiles with R 4.6, which
# is not installed here.
# Usage: tools/check-r-api.sh [directory of r/src]
set -eu
cd "$(dirname "$0")/.."
src=${1:-r/src}
api=tools/r-api
cc=${CC:-cc}
flags="-fsyntax-only -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-cast-function-type -Werror -I$src"
status=0

if ! command -v "$cc" >/dev/null 2>&1; then
    echo "note: there is no C compiler, so the use of R's interface is not checked"
    exit 0
fi

# Each C file, with flags that come before it. Prints errors.
compile() {
    for file in "$src"/*.c; do
        # shellcheck disable=SC2086 # a word for each flag
        "$cc" $flags "$@" "$file" || { echo "error: $file does not compile with $*" >&2; status=1; }
    done
}

# Whether the compiler refuses a line of C.
refuses() {
    # shellcheck disable=SC2086 # a word for each flag
    if printf '%s\n' "$1" | "$cc" $flags -x c "-I$api" -DR_API_MINOR=6 -include "$src/compat.h" -include "$api/removed.h" - 2>/dev/null; then
        echo "error: the check lets pass: $1" >&2
        status=1
    fi
}

# Tests of the check: a name that was removed, and a name that is not declared.
refuses 'int f(SEXP x); int f(SEXP x) { return OBJECT(x); }'
refuses 'int f(SEXP x); int f(SEXP x) { return Rf_isFactor(x); }'

# R 4.6 and 4.5, by declarations of their own, as C17 and as R 4.6 compiles by default.
for standard in gnu17 gnu2x; do
    compile "-std=$standard" "-I$api" -DR_API_MINOR=6 -include "$src/compat.h" -include "$api/removed.h"
done
compile -std=gnu17 "-I$api" -DR_API_MINOR=5 -include "$src/compat.h" -include "$api/removed.h"

# The installed version of R, by its own headers.
if command -v R >/dev/null 2>&1; then
    # shellcheck disable=SC2046 # a word for each flag
    compile -std=gnu17 $(R CMD config --cppflags) -include "$src/compat.h" -include "$api/removed.h"
fi
exit "$status"
