#!/bin/sh
# Make a virtual environment. Usage: tools/make-venv.sh <python> <directory>
# Where Python lacks the venv module's parts (Debian ships them apart), it is
# installed when we are root, else we say how.
set -u
python=$1
venv=$2

[ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 && exit 0
"$python" -m venv "$venv" >/dev/null 2>&1 && exit 0

package="$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing $package, which Debian ships apart from Python"
    { apt-get -qq update && { apt-get -qq install -y "$package" || apt-get -qq install -y python3-venv; }; } >/dev/null
    rm -rf "$venv"
    "$python" -m venv "$venv" && exit 0
fi
echo "error: $python can't make a virtual environment" >&2
echo "       Debian, Ubuntu: sudo apt-get install $package" >&2
exit 1
