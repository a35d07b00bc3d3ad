#!/bin/sh
# List the missing tools of the build, and how to get them.
# Usage: tools/check-tools.sh [rust] [python <interpreter>]
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

complain() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    failed=1
}

# at_least WANTED FOUND: true when version FOUND is WANTED or newer.
at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

check_rust() {
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    how='curl --proto "=https" --tlsv1.2 -sSf https://sh.rustup.rs | sh'
    if ! command -v cargo >/dev/null 2>&1; then
        if [ -x "$HOME/.cargo/bin/cargo" ]; then
            complain "cargo is installed but not on the PATH" \
                'Run: . "$HOME/.cargo/env"'
        else
            complain "no Rust toolchain found (Rust $wanted or newer is needed)" \
                "Get it from https://rustup.rs, for example:" "  $how"
        fi
        return
    fi
    found=$(rustc --version 2>/dev/null | awk '{print $2}')
    if [ -z "$found" ]; then
        complain "rustc does not run" \
            "With rustup: rustup toolchain install" "Without it: see https://rustup.rs"
    elif ! at_least "$wanted" "${found%%-*}"; then
        complain "Rust $found is too old ($wanted or newer is needed)" \
            "Get a newer one from https://rustup.rs, for example:" "  $how"
    fi
    if ! command -v cc >/dev/null 2>&1; then
        complain "no C compiler found (Rust links with it, Zstandard is built with it)" \
            "Debian, Ubuntu: apt-get install build-essential" \
            "Fedora: dnf install gcc    macOS: xcode-select --install"
    fi
}

check_python() {
    if ! command -v "$1" >/dev/null 2>&1; then
        complain "no Python found (3.11 or newer is needed)" \
            "Debian, Ubuntu: apt-get install python3 python3-venv" \
            "Elsewhere: https://www.python.org/downloads/" \
            "Or name one: make PYTHON=/path/to/python3.12 ..."
    elif ! "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        complain "$("$1" --version) is too old (3.11 or newer is needed)" \
            "Install a newer one, then: make PYTHON=/path/to/python3.12 ..."
    fi
}

while [ $# -gt 0 ]; do
    case $1 in
        rust) check_rust ;;
        python) shift; check_python "${1:-python3}" ;;
        *) printf 'usage: %s [rust] [python <interpreter>]\n' "$0" >&2; exit 2 ;;
    esac
    shift
done
exit $failed
