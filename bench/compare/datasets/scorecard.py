"""Colleges and the careers of their students: a very wide table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .draws import (
    Array,
    chance,
    frame,
    glue,
    holes,
    listed,
    numerals,
    pick,
    series,
    start,
    words,
    zipf,
)
from .prose import names

ROWS = 124_699
N_COLUMNS = 1_731
N_COLLEGES = 7_793
YEARS = 18
GROUPS = """ LO_INC_ MD_INC_ HI_INC_ DEP_ IND_ FEMALE_ MALE_ PELL_ NOPELL_ LOAN_ NOLOAN_ FIRSTGEN_
NOT1STGEN_""".replace("\n", " ").split(" ")
OUTCOMES = listed("""
DEATH COMP_ORIG COMP_4YR_TRANS COMP_2YR_TRANS WDRAW_ORIG WDRAW_4YR_TRANS
WDRAW_2YR_TRANS ENRL_ORIG ENRL_4YR_TRANS ENRL_2YR_TRANS UNKN_ORIG UNKN_4YR_TRANS
UNKN_2YR_TRANS""")
SUPPRESSED = "PrivacySuppressed"
ACCREDITED = ["", *(f"Commission on {word} Schools" for word in listed("Higher Career Art Law"))]


def scorecard(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of Scorecard.csv, 18 years of the "College Scorecard".

    The original has 124,699 rows of 1,731 columns of numbers and characters, almost 20 million
    missing values, and takes about 1.2 GB as CSV. These properties are alike:

    - The number of rows and columns, with a row for each college and year.
    - Names, addresses and ids repeat every year.
    - Shares have four decimals and follow from counts of people. So small colleges repeat a few
      values, and many shares are zero.
    - Other columns are flags, counts and dollars.
    - A quarter of the columns are strings: the digits of a share, "PrivacySuppressed", or the empty
      string, which does not count as missing.
    - Columns are missing in whole years, almost everywhere, or everywhere.
    """
    rng, n = start("scorecard", ROWS, scale)
    year, college = _rows(rng, n)
    size = np.exp(rng.normal(5.6, 1.6, N_COLLEGES))[college]
    size = np.maximum(8, size * (1 + 0.02 * year) * rng.normal(1, 0.05, n)).astype(np.float32)
    columns = _identity(rng, year, college)
    draw = _Draw(rng, year, college, size)
    for name, kind in _kinds(len(columns)):
        columns[name] = getattr(draw, kind)()
    return frame(columns)


def _kinds(n_before: int) -> list[tuple[str, str]]:
    """Names and kinds of the columns after the columns that identify the college."""
    found = [(name, "flag") for name in ("HBCU", "PBI", "ANNHI", "TRIBAL", "AANAPII", "HSI")]
    found += [(f"SAT{subject}{cut}", "score") for subject in ("VR", "MT", "WR") for cut in (25, 75)]
    found += [(f"ACT{subject}{cut}", "score") for subject in ("CM", "EN", "MT") for cut in (25, 75)]
    found += [(f"PCIP{i:02d}", "seldom") for i in range(1, 39)]
    degrees = ("CERT1", "CERT2", "ASSOC", "CERT4", "BACHL")
    found += [(f"CIP{i:02d}{degree}", "offer") for i in range(1, 39) for degree in degrees]
    found += [(f"UGDS_{i:02d}", "share") for i in range(1, 31)]
    found += [(f"NPT4{i}_{kind}", "dollars") for i in range(1, 31) for kind in ("PUB", "PRIV")]
    for outcome in OUTCOMES:
        hidden = outcome.endswith("2YR_TRANS")
        for group in GROUPS:
            kind = "hidden" if hidden and group else "rate"
            found += [(f"{group}{outcome}_YR{years}_RT", kind) for years in (2, 3, 4, 6, 8)]
    for years in (1, 3, 5, 7):
        found += [(f"{group}RPY_{years}YR_RT", "hidden") for group in GROUPS]
        found += [(f"{group}RPY_{years}YR_N", "count") for group in GROUPS]
    found += [(f"{group}DEBT_MDN", "hidden_dollars") for group in GROUPS]
    found += [(f"{group}DEBT_N", "count") for group in GROUPS]
    found += [
        (f"OVERALL_YR{years}_{group}N", "count") for years in (2, 3, 4, 6) for group in GROUPS
    ]
    found += [(f"EARN_{group}P{years}", "late") for years in (6, 8, 10) for group in GROUPS]
    found += [(f"PLUS_{i:02d}", "empty") for i in range(46)]
    lacking = N_COLUMNS - n_before - len(found)
    found += [(f"FAM_{i:03d}", ("share", "rate", "hidden")[i % 3]) for i in range(lacking)]
    return found


def _rows(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Year and college of each row, sorted by year, then college."""
    share = np.linspace(0.85, 1, YEARS)
    ends = np.rint(np.cumsum([0, *share]) * n / share.sum())
    counts: Array = np.diff(ends).astype(np.int64)
    there = rng.permutation(N_COLLEGES)
    college = np.concatenate([np.sort(there[:count]) for count in counts])
    return np.repeat(np.arange(YEARS), counts), college


def _identity(rng: np.random.Generator, year: Array, college: Array) -> dict[str, Any]:
    """The identity of a college, the same every year."""
    every = np.arange(N_COLLEGES)
    town = pick(rng, zipf(2_500, 0.7), N_COLLEGES)
    kinds = [
        "College",
        "University",
        "Institute",
        "Academy of Beauty",
        "Technical College",
        "School",
    ]
    made = names(rng, N_COLLEGES)
    called = [
        f"{x} {kinds[k]}" for x, k in zip(made, pick(rng, zipf(6, 0.5), N_COLLEGES), strict=True)
    ]
    site = pa.array([f"www.{x.lower()}.edu" for x in made], pa.large_string())
    unit = 100_654 + np.cumsum(rng.integers(1, 95, N_COLLEGES))
    code = (town * 39 + every % 7) % 99_999
    state = town % 59
    control = pick(rng, [27, 25, 48], N_COLLEGES) + 1
    degree = pick(rng, [8, 48, 18, 12, 14], N_COLLEGES)
    lost = chance(rng, 0.15, len(college)) | (year < 6)
    columns: dict[str, Any] = {
        "UNITID": unit[college],
        "OPEID": unit[college] // 7 * 100,
        "opeid6": unit[college] // 7,
        "INSTNM": words(college, called),
        "CITY": words(town[college], names(rng, 2_500)),
        "STABBR": words(
            state[college], [f"{chr(65 + i // 8)}{chr(65 + i % 26)}" for i in range(59)]
        ),
        "ZIP": words(college, glue(numerals(code, 5), "-", numerals(every % 9_999, 4))),
        "AccredAgency": words(np.where(lost, 0, 1 + college % 4), ACCREDITED),
        "INSTURL": words(college, site, missing=year < YEARS - 2),
        "NPCURL": series(
            glue(words(college, site, missing=year < YEARS - 2).array._pa_array, "/cost")
        ),
        "sch_deg": holes(degree[college], chance(rng, 0.05, len(college))),
        "main": (college % 5 > 0).astype(np.int64),
        "NUMBRANCH": 1 + (college % 23 == 0) * (college % 11),
        "PREDDEG": degree[college].astype(np.int64),
        "HIGHDEG": np.minimum(degree[college] + 1, 4).astype(np.int64),
        "CONTROL": control[college].astype(np.int64),
        "st_fips": state[college].astype(np.int64) + 1,
        "region": state[college].astype(np.int64) // 6,
        "LATITUDE": holes((24e6 + town[college] * 9_731 % 25e6) / 1e6, year < YEARS - 1),
        "LONGITUDE": holes((-124e6 + town[college] * 39_119 % 57e6) / 1e6, year < YEARS - 1),
        "Year": 1996 + year,
    }
    return columns


class _Draw:
    """A column of a kind, drawn anew at every call."""

    def __init__(self, rng: np.random.Generator, year: Array, college: Array, size: Array) -> None:
        self.rng, self.year, self.college, self.size = rng, year, college, size
        self.n = len(year)

    def _share(self, size: Array, often: float) -> tuple[Array, Array]:
        """Random numerators and denominators, denominators at most `size`."""
        rng = self.rng
        usual = rng.beta(2 * often + 0.05, 2 * (1 - often) + 0.05, N_COLLEGES).astype(np.float32)
        chance_of = usual[self.college]
        noise = rng.standard_normal(self.n, dtype=np.float32)
        whole = np.rint(size)
        count = np.rint(whole * chance_of + noise * np.sqrt(whole * chance_of * (1 - chance_of)))
        return np.clip(count, 0, whole), whole

    def _four(self, size: Array, often: float) -> Array:
        count, whole = self._share(size, often)
        return np.rint(count.astype(np.float64) / whole * 1e4) / 1e4

    def _absent(self, share: float) -> Array:
        """Colleges without answers, and years without the question."""
        rng = self.rng
        silent = rng.random(N_COLLEGES, dtype=np.float32) < share
        return silent[self.college] | (self.year < (rng.random() < 0.1))

    def share(self) -> Array:
        return holes(self._four(self.size, self.rng.uniform(0.03, 0.5)), self._absent(0.03))

    def rate(self) -> Array:
        part = np.maximum(4, self.size * np.float32(self.rng.uniform(0.03, 0.4)))
        return holes(self._four(part, self.rng.uniform(0.01, 0.25)), self._absent(0.01))

    def seldom(self) -> Array:
        value = self._four(self.size, 0.1)
        value[(self.rng.random(N_COLLEGES) < 0.7)[self.college]] = 0.0
        return holes(value, self._absent(0.02))

    def offer(self) -> Array:
        kind = pick(self.rng, [90, 9, 1], N_COLLEGES)
        return holes(kind[self.college], self._absent(0.02))

    def flag(self) -> Array:
        return holes(chance(self.rng, 0.03, N_COLLEGES)[self.college], self.year < YEARS - 2)

    def score(self) -> Array:
        centre = self.rng.normal(500, 60, N_COLLEGES)[self.college]
        value = np.rint((centre + self.rng.normal(0, 12, self.n)) / 5) * 5
        return holes(value, chance(self.rng, 0.8, N_COLLEGES)[self.college] | (self.year < 5))

    def count(self) -> Array:
        count, _ = self._share(self.size, self.rng.uniform(0.1, 0.5))
        return holes(count, self._absent(0.02))

    def dollars(self) -> Array:
        value = np.rint(self.rng.gamma(6, 2_500, self.n))
        return holes(value, self.rng.random(self.n) < 0.56)

    def late(self) -> Array:
        value = np.rint(self.rng.gamma(9, 35, self.n)) * 100
        return holes(value, (self.year < YEARS - 2) | self._absent(0.2))

    def empty(self) -> Array:
        return np.full(self.n, np.nan)

    def hidden(self) -> pd.Series:
        """Shares as digits, or the reason why they are suppressed."""
        small = np.clip(self.size * np.float32(self.rng.uniform(0.02, 0.25)), 1, 600)
        count, whole = self._share(small, self.rng.uniform(0.1, 0.6))
        value = np.rint(count.astype(np.float64) / whole * 1e8) / 1e8
        return self._or_suppressed(value, whole < 11)

    def hidden_dollars(self) -> pd.Series:
        value = np.rint(self.rng.gamma(5, 2_400, self.n) * 2) / 2
        return self._or_suppressed(value, self.size < 60)

    def _or_suppressed(self, value: Array, few: Array) -> pd.Series:
        distinct, code = np.unique(value, return_inverse=True)
        known = pa.array(distinct).cast(pa.large_string())
        known = pa.concat_arrays([pa.array(["", SUPPRESSED], pa.large_string()), known])
        return words(np.where(self._absent(0.12), 0, np.where(few, 1, code + 2)), known)
