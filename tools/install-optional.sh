#!/bin/sh
# Install each package of a requirements file if possible, and name the packages that failed.
# Usage: tools/install-optional.sh <venv> <requirements.txt>
set -u
pip="$1/bin/python -m pip install --quiet --disable-pip-version-check"
# A package without a wheel is not built: that takes minutes, and needs its libraries.
$pip --only-binary :all: -r "$2" 2>/dev/null && exit 0
sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$2" | while read -r requirement; do
    $pip --only-binary :all: "$requirement" 2>/dev/null || echo "note: $requirement can't be installed here; it is left out"
done
exit 0
