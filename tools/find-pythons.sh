#!/bin/sh
# Print this machine's CPython interpreters that Entasis supports: one per minor version, newest
# first. Interpreters on the path come before those of pyenv. Pre-releases and builds without the
# global lock are left out: the extension is one module for the stable ABI.
set -u
probe='
import sys, sysconfig
v = sys.version_info
if sys.implementation.name != "cpython" or v < (3, 11) or v.releaselevel != "final":
    sys.exit(1)
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(1)
print("%d.%d" % v[:2], sys.executable)
'
{
    command -v python3
    for minor in $(seq 20 -1 11); do command -v "python3.$minor"; done
    for found in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
        [ -x "$found" ] && echo "$found"
    done
} 2>/dev/null | while read -r candidate; do
    "$candidate" -c "$probe" 2>/dev/null
done | awk '!seen[$1]++' | sort -t. -k2,2nr -s | awk '{ $1 = ""; print substr($0, 2) }'
exit 0
