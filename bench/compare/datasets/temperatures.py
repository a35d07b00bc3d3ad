"""Temperatures of cities, month by month."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .draws import Array, decimals, frame, months, pick, start, words, zipf
from .prose import names

ROWS = 8_599_212
N_CITIES = 3_510
N_CELLS = 1_600  # squares of the map; cities of one square have the same temperatures
MONTHS = 3_239  # 1743-11 to 2013-09


def temperatures(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of GlobalLandTemperaturesByCity.csv, by month from 1743 to 2013.

    The original has 8,599,212 rows of 7 columns: date, average temperature, its uncertainty, city,
    country, latitude and longitude. About 700,000 values are missing, and it takes 508 MB as CSV.
    These properties are alike:

    - The number of rows, sorted by city and date. All cities end in the same month.
    - Dates, cities, countries and places ("57.05N") are strings that repeat.
    - Temperature and uncertainty are missing in the same 362,000 rows, mostly in early ones and one
      after the other.
    - Both have three decimals but result from sums. So 40 % and 25 % of them are inexact in their
      last bits (1.7369999999999999).
    - Cities in one square of the map share their values.

    A smaller scale has fewer cities.
    """
    rng, n = start("temperatures", ROWS, scale)
    n_cities = max(1, round(N_CITIES * n / ROWS))
    cell = np.minimum(pick(rng, zipf(N_CELLS, 0.45), n_cities), N_CELLS - 1)
    length = _lengths(rng, n, cell)
    city = np.repeat(np.arange(n_cities, dtype=np.int32), length)
    month = np.arange(n, dtype=np.int32) - np.repeat(np.cumsum(length) - MONTHS, length)
    month = month.astype(np.int32)
    average, doubt = _values(cell[city], month, length)

    latitude, longitude = _places(rng)
    country = cell * 159 // N_CELLS
    known = names(rng, n_cities + 159)
    return frame(
        {
            "dt": words(month, months("1743-11-01", MONTHS, "%Y-%m-%d")),
            "AverageTemperature": average,
            "AverageTemperatureUncertainty": doubt,
            "City": words(city, sorted(known[:n_cities])),
            "Country": words(country[city], known[n_cities:]),
            "Latitude": words(cell[city], latitude),
            "Longitude": words(cell[city], longitude),
        }
    )


def _lengths(rng: np.random.Generator, n: int, cell: Array) -> Array:
    """Months of each city, equal within a square. Their sum is `n`."""
    starts = np.array([3239, 3119, 2397, 2277, 2141, 1965, 1893])
    of_cell = starts[pick(rng, [30, 2, 22, 18, 14, 8, 6], N_CELLS)]
    length = of_cell[cell]
    # Spread the difference from the wanted number of rows in equal parts.
    cuts = np.linspace(0, n - length.sum(), len(cell) + 1).astype(np.int64)
    return np.clip(length + np.diff(cuts), 1, MONTHS) + _rest(length + np.diff(cuts))


def _rest(length: Array) -> Array:
    """Distribute the months that clipping removed among cities that can have more."""
    lost = int((length - np.clip(length, 1, MONTHS)).sum())
    room = MONTHS - np.clip(length, 1, MONTHS)
    given = np.minimum(room, np.maximum(0, lost - (np.cumsum(room) - room)))
    return given.astype(np.int64)


def _places(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Latitude and longitude of each square, on a grid of 1.6 degrees."""
    north = decimals(rng.integers(-28, 44, N_CELLS) * 1.607 + 0.8, 2)
    east = decimals(rng.integers(-1100, 1130, N_CELLS) * 0.155 + 0.08, 2)
    return (
        [f"{abs(value):.2f}{'N' if value >= 0 else 'S'}" for value in north],
        [f"{abs(value):.2f}{'E' if value >= 0 else 'W'}" for value in east],
    )


def _values(cell: Array, month: Array, length: Array) -> tuple[Array, Array]:
    """Temperature and uncertainty of each month in a square.

    They are drawn with a fixed seed, so equal months of equal squares have equal values.
    """
    rng = np.random.default_rng(N_CELLS)
    normal = rng.normal(17, 8, N_CELLS)
    swing = rng.gamma(4, 2, N_CELLS)
    season = np.cos(np.arange(12) / 6 * np.pi - 2.8)
    usual = decimals(normal, 3)[:, None] + decimals(swing[:, None] * season, 3)
    unusual = decimals(rng.normal(0, 1.6, (N_CELLS, MONTHS)).astype(np.float32), 3)
    early = np.linspace(1, 0, MONTHS) ** 1.5
    spread = decimals(rng.gamma(2, 1, (N_CELLS, MONTHS)) * (0.07 + 0.75 * early), 3)
    error = decimals(np.linspace(0.35, 0.02, MONTHS), 3) + 0.117
    # Gaps of some months, far more likely in the first years.
    share = 0.52 * np.linspace(1, 0, MONTHS) ** 4.6
    gaps = np.repeat(rng.random((N_CELLS, MONTHS // 6 + 1)), 6, axis=1)[:, :MONTHS] < share
    gaps |= rng.random((N_CELLS, MONTHS)) < 0.0008

    place = cell.astype(np.int64) * MONTHS + month
    average = usual.ravel()[cell.astype(np.int64) * 12 + month % 12]
    average += unusual.ravel()[place]
    doubt = spread.ravel()[place] + error[month]
    missing = gaps.ravel()[place]
    average[missing] = np.nan
    doubt[missing] = np.nan
    return average, doubt
