"""Records of deaths: many small codes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .draws import Array, chance, frame, listed, pick, start, words, zipf

ROWS = 2_631_171
N_CAUSES = 4_000
EXTERNAL = "VWXY"  # the letters of causes that are accidents and the like


def deaths(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of DeathRecords.csv, the deaths of one year in the United States.

    The original has 2,631,171 rows of 38 columns: 32 numeric columns and 6 of characters. Nothing
    is missing, and it takes 251 MB as CSV. These properties are alike:

    - The number of rows, and the number and kinds of the columns.
    - An id that counts, ages, and a year that never changes.
    - Other columns are codes of few values. Most have one value that is far more frequent than the
      others. About 4,000 causes follow Zipf's law.
    - Some codes follow from others: groups of ages, of causes and of races.
    - Rows are sorted by month within places.
    """
    rng, n = start("deaths", ROWS, scale)
    columns: dict[str, Array | pd.Series] = {"Id": np.arange(1, n + 1)}
    columns["ResidentStatus"] = 1 + pick(rng, [80.5, 16.2, 3.1, 0.2], n)
    new_form = chance(rng, 0.93, n)
    columns["Education1989Revision"] = np.where(new_form, 0, pick(rng, zipf(18), n))
    schooling = [14, 11, 42, 12, 6, 11, 5, 2.5]
    columns["Education2003Revision"] = np.where(new_form, 1 + pick(rng, schooling, n), 0)
    columns["EducationReportingFlag"] = new_form.astype(np.int64)
    places = np.sort(pick(rng, zipf(51, 0.8, 3.0), n))
    columns["MonthOfDeath"] = 1 + np.sort(places * 12 + pick(rng, _months(), n)) % 12
    columns["Sex"] = words(pick(rng, [50.4, 49.6], n), ["M", "F"])
    age = _add_ages(rng, n, columns)
    columns["PlaceOfDeathAndDecedentsStatus"] = 1 + pick(rng, [30, 7, 0.4, 33, 7, 20, 2.5], n)
    married = pick(rng, [36, 37, 13, 13.4, 0.6], n)
    columns["MaritalStatus"] = words(np.where(age < 18, 3, married), ["M", "W", "D", "S", "U"])
    columns["DayOfWeekOfDeath"] = 1 + pick(rng, [14.2] * 7 + [0.02], n)
    columns["CurrentDataYear"] = np.full(n, 2014)
    _add_causes(rng, n, columns)
    _add_races(rng, n, columns)
    order = ["Id", *(name for name in ORDER if name != "Id")]
    return frame({name: _wide(columns[name]) for name in order})


ORDER = listed("""
ResidentStatus Education1989Revision Education2003Revision EducationReportingFlag
MonthOfDeath Sex AgeType Age AgeSubstitutionFlag AgeRecode52 AgeRecode27 AgeRecode12
InfantAgeRecode22 PlaceOfDeathAndDecedentsStatus MaritalStatus DayOfWeekOfDeath CurrentDataYear
InjuryAtWork MannerOfDeath MethodOfDisposition Autopsy ActivityCode PlaceOfInjury Icd10Code
CauseRecode358 CauseRecode113 InfantCauseRecode130 CauseRecode39 NumberOfEntityAxisConditions
NumberOfRecordAxisConditions Race BridgedRaceFlag RaceImputationFlag RaceRecode3 RaceRecode5
HispanicOrigin HispanicOriginRaceRecode""")


def _wide(column: Array | pd.Series) -> Array | pd.Series:
    return column if isinstance(column, pd.Series) else column.astype(np.int64, copy=False)


def _months() -> Array:
    """More deaths in winter."""
    return 1 + 0.09 * np.cos(np.arange(12) / 6 * np.pi)


def _add_ages(rng: np.random.Generator, n: int, columns: dict[str, Array | pd.Series]) -> Array:
    """Ages in years (of infants in months, days or hours), and age groups."""
    old = chance(rng, 0.86, n)
    years = np.where(old, rng.normal(79, 12.5, n), rng.normal(48, 17, n))
    years = np.clip(np.rint(years), 1, 113).astype(np.int64)
    unit = pick(rng, [99.1, 0.28, 0.24, 0.34, 0.01], n)
    infant = (unit > 0) & (unit < 4)
    age = np.where(infant, rng.integers(1, 27, n), np.where(unit == 4, 999, years))
    columns["AgeType"] = np.array([1, 2, 4, 5, 9])[unit]
    columns["Age"] = age
    columns["AgeSubstitutionFlag"] = chance(rng, 0.0002, n).astype(np.int64)
    for groups, edges in ((52, np.arange(5, 115, 2.6)), (27, np.arange(5, 120, 5.5))):
        group = groups - 1 - len(edges) + np.searchsorted(edges, years)
        columns[f"AgeRecode{groups}"] = np.where(infant, 1 + unit, group)
    columns["AgeRecode12"] = np.where(infant, 1, 2 + np.minimum(9, (years + 5) // 10))
    columns["InfantAgeRecode22"] = np.where(infant, np.minimum(22, 1 + age), 0)
    return np.where(infant, 0, age)


def _add_causes(rng: np.random.Generator, n: int, columns: dict[str, Array | pd.Series]) -> None:
    """The cause by its code, columns that follow from it, and columns of accidents alone."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXY"
    numbers = rng.permutation(len(letters) * 1_000)[:N_CAUSES].tolist()
    codes = (f"{letters[number // 1_000]}{number % 1_000:03d}" for number in numbers)
    known = sorted({code[:3] if code.endswith("0") else code for code in codes})
    weight = rng.permutation(zipf(len(known), 1.15, 2.0))
    external = np.array([code[0] in EXTERNAL for code in known])
    weight[external] *= 0.07 * weight[~external].sum() / weight[external].sum()
    cause = pick(rng, weight, n)
    columns["Icd10Code"] = words(cause, known)
    for groups in (358, 113, 39):
        columns[f"CauseRecode{groups}"] = 1 + cause * groups // len(known)
    by_accident = external[cause]
    columns["InfantCauseRecode130"] = np.where(
        np.asarray(columns["InfantAgeRecode22"]) > 0, 1 + cause * 130 // len(known), 0
    )
    columns["MannerOfDeath"] = np.where(by_accident, 1 + pick(rng, [64, 22, 8, 2, 4], n), 7)
    columns["MannerOfDeath"][chance(rng, 0.13, n)] = 0
    columns["ActivityCode"] = np.where(
        by_accident, pick(rng, [3, 1, 1, 1, 2, 1, 1, 1, 3, 85], n), 99
    )
    columns["PlaceOfInjury"] = np.where(
        by_accident, pick(rng, [45, 4, 2, 2, 6, 6, 2, 1, 12, 20], n), 99
    )
    columns["InjuryAtWork"] = words(np.where(by_accident, pick(rng, [13, 85, 2], n), 0), "UNY")
    columns["MethodOfDisposition"] = words(pick(rng, [45, 41, 0.6, 0.4, 0.5, 3, 9], n), "BCDEORU")
    columns["Autopsy"] = words(pick(rng, [85.6, 7.4, 6.7, 0.2, 0.1], n), "NYUny")
    conditions = np.clip(1 + rng.poisson(1.9, n), 1, 20)
    columns["NumberOfEntityAxisConditions"] = conditions
    columns["NumberOfRecordAxisConditions"] = np.maximum(1, conditions - chance(rng, 0.22, n))


def _add_races(rng: np.random.Generator, n: int, columns: dict[str, Array | pd.Series]) -> None:
    race = pick(rng, [85, 11.7, 0.7, 0.5, 0.3, 0.2, 0.4, 0.1, 0.3, 0.3, 0.2, 0.2, 0.1], n)
    columns["Race"] = np.array([1, 2, 3, 4, 5, 6, 7, 18, 28, 38, 48, 58, 68])[race]
    columns["BridgedRaceFlag"] = chance(rng, 0.004, n).astype(np.int64)
    columns["RaceImputationFlag"] = pick(rng, [99.4, 0.4, 0.2], n)
    columns["RaceRecode3"] = np.array([1, 3, *[2] * 11])[race]
    columns["RaceRecode5"] = np.array([1, 2, 3, *[4] * 10])[race]
    hispanic = chance(rng, 0.055, n)
    origin = np.array([210, 225, 260, 270, 282, 998])[pick(rng, [55, 3, 14, 12, 10, 6], n)]
    columns["HispanicOrigin"] = np.where(hispanic, origin, 100)
    columns["HispanicOriginRaceRecode"] = np.where(
        hispanic, 1 + pick(rng, [60, 14, 10, 8, 8], n), np.array([6, 7, *[8] * 11])[race]
    )
