#!/bin/sh
# Install R and the packages that its tests use, on Debian as root. Elsewhere tests skip what is
# missing. May run in the background: a second run waits for the first.
# Usage: tools/install-r.sh
set -eu
libraries="testthat bit bit64 data.table dplyr ggplot2 haven hms igraph lme4 lubridate mgcv nanotime purrr R6 readr rlang survival tibble tidyr tidyselect vctrs zoo"

[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || exit 0
if command -v flock >/dev/null 2>&1; then
    exec 9>"${TMPDIR:-/tmp}/entasis-install-r.lock"
    flock 9
fi
if command -v Rscript >/dev/null 2>&1; then
    missing=
    # shellcheck disable=SC2086 # a word for each library
    libraries=$(Rscript -e 'for (library in commandArgs(TRUE)) if (!nzchar(system.file(package = library))) cat(library, "")' $libraries)
else
    missing=r-base-core
fi
for library in $libraries; do
    missing="$missing r-cran-$(echo "$library" | tr A-Z a-z)"
done
# R CMD check needs these two.
command -v checkbashisms >/dev/null 2>&1 || missing="$missing devscripts"
command -v qpdf >/dev/null 2>&1 || missing="$missing qpdf"
# Tests use these locales too, and skip missing ones.
has_locale() { LC_ALL=$1 locale charmap 2>/dev/null | grep -qx "$2"; }
add_locale() { has_locale "de_DE.$1" "$1" || localedef -i de_DE -f "$1" "de_DE.$1" >/dev/null 2>&1 || true; }
[ -e /usr/share/i18n/locales/de_DE ] || missing="$missing locales"
if [ -n "$missing" ]; then
    echo "installing R and packages for its tests"
    # shellcheck disable=SC2086 # a word for each package
    { apt-get install --yes --no-install-recommends $missing ||
        { apt-get update && apt-get install --yes --no-install-recommends $missing; }; } >/dev/null 2>&1 || true
fi
add_locale UTF-8
add_locale ISO-8859-1
