"""The locale of the process changes neither the text that is written nor the values that are read."""

from __future__ import annotations

import locale
import subprocess
import sys

import pytest

# A comma as decimal mark, and a point or a blank between groups of digits.
LOCALES = ["de_DE.UTF-8", "de_DE.utf8", "de_DE.ISO8859-1", "de_DE", "fr_FR.UTF-8", "de_AT.UTF-8", "nl_NL.UTF-8"]

CODE = """
import ctypes, datetime, io, locale, os, sys
wanted = sys.argv[1]
if wanted != "C":
    locale.setlocale(locale.LC_ALL, wanted)
    ctypes.CDLL(None).setlocale(locale.LC_ALL, wanted.encode())
    assert locale.localeconv()["decimal_point"] == ","
import entasis as en, numpy as np, polars as pl

frame = pl.DataFrame({
    "x": [0.1, -1234567.5, 1e300, float("inf"), None],
    "f": pl.Series([0.1, 1.5, None, -0.0, 1e10], dtype=pl.Float32),
    "i": [1234567, None, -1, 0, 2**63 - 1],
    "m": pl.Series(["1.50", "-1234567.25", None, "0.00", "3.00"]).str.to_decimal(scale=2),
    "t": [datetime.datetime(2026, 3, 31, 12, 30, 1, 500), None, None, None, None],
    "d": [datetime.date(2026, 12, 31)] * 5,
    "s": ["1,5", "1.5", "\\u00e9", "1.234,5", ""],
})
for options in ({}, {"digits": 15}, {"sep": ";", "decimal": ","}, {"dates": {"d": "%d %b %Y"}}):
    out = io.BytesIO()
    spec = en.write_csv(frame, out, **options)
    print(out.getvalue())
    for read in (
        lambda text: en.read_csv(text, "polars", spec=spec),
        lambda text: en.read_csv(text, "polars"),
        lambda text: en.scan_csv(text).to_polars(),
    ):
        print(read(out.getvalue()).to_dict(as_series=False))
text = b"a;b\\n1.234,5;Mar\\n2,25;Dec\\n"
print(en.sniff_csv(text).to_json(), en.read_csv(text, "polars", thousands=".").rows())
print(en.read_csv(b"a\\n1.5\\n", "polars").rows())
print(en.read_csv(b"d\\n31 Dec 2026\\n", "polars", dates="%d %b %Y").rows())
"""


def said(name):
    command = [sys.executable, "-X", "utf8", "-c", CODE, name]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def available():
    """The first locale with a decimal comma that the system has."""
    before = locale.setlocale(locale.LC_ALL)
    try:
        for name in LOCALES:
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
            if locale.localeconv()["decimal_point"] == ",":
                return name
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return None


@pytest.mark.skipif(sys.platform == "win32", reason="needs the C library of POSIX")
def test_a_locale_with_a_decimal_comma_changes_nothing():
    pytest.importorskip("polars")
    name = available()
    if name is None:
        pytest.skip("the system has no locale with a decimal comma")
    assert said(name) == said("C")
