"""Rides of New York's yellow taxis."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .draws import Array, chance, decimals, frame, pick, start, words

ROWS = 14_863_778
SECONDS = 31 * 86_400
HOURS = [
    32,
    22,
    15,
    10,
    8,
    8,
    17,
    32,
    41,
    42,
    40,
    41,
    44,
    44,
    46,
    44,
    37,
    44,
    53,
    56,
    53,
    51,
    50,
    42,
]
VENDORS = ["CMT", "VTS", "DDS"]
PAYMENTS = ["CAS", "CRE", "CSH", "CRD", "Cas", "Cre", "No ", "Dis"]


def taxi(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of the yellow taxis' rides of January 2010.

    The original has 14,863,778 rows of 19 columns: vendor, two times, passengers, distance, two
    places, rate, payment and amounts. These properties are alike:

    - The number of rows and columns, and three vendors, one with times in whole minutes.
    - Distances and amounts have two decimals, and the amounts add up to the total.
    - Longitude and latitude have six decimals around Manhattan. Every eighth is inexact in its last
      bits (-73.87105699999998), and about 2 % are zero.
    - Only one vendor has a flag, which is missing elsewhere.
    - Rows are not sorted by time. Times are datetime64[us], as `parse_dates` gives them.
    - The last column, a surcharge of later years, is all missing.
    """
    rng, n = start("taxi", ROWS, scale)
    vendor = pick(rng, [46.5, 47.5, 6], n)
    by_minute = vendor == 1
    distance = np.exp(rng.normal(0.52, 0.82, n).astype(np.float32)).astype(np.float64)
    far = chance(rng, 0.02, n)
    distance[far] += 14
    tenths = vendor == 0
    distance = np.where(tenths, decimals(distance, 1), decimals(distance, 2))
    rate = (
        np.where(far, pick(rng, [45, 50, 1, 1, 3], n), pick(rng, [99.6, 0, 0.1, 0.1, 0.2], n)) + 1
    )

    begin, lasted = _times(rng, n, distance)
    begin[by_minute] -= begin[by_minute] % 60
    lasted[by_minute] -= lasted[by_minute] % 60
    first = np.datetime64("2010-01-01", "us")

    card = chance(rng, 0.26, n)
    payment = _payments(rng, vendor, card)
    amounts = _amounts(rng, n, distance, lasted, rate == 2, begin, card)
    lost = chance(rng, 0.018, n)
    columns = {
        "vendor_id": words(vendor, VENDORS),
        "pickup_datetime": first + (begin * 1_000_000).astype("timedelta64[us]"),
        "dropoff_datetime": first + ((begin + lasted) * 1_000_000).astype("timedelta64[us]"),
        "passenger_count": np.array([1, 2, 3, 4, 5, 6, 0], np.int64)[
            pick(rng, [67, 15.5, 4.6, 2.2, 8, 2.5, 0.2], n)
        ],
        "trip_distance": distance,
    }
    del begin, lasted
    places = _places(rng, n, distance, lost)
    columns["pickup_longitude"], columns["pickup_latitude"] = places[:2]
    columns["rate_code"] = rate.astype(np.int64)
    flag = chance(rng, 0.012, n).astype(np.int8)
    columns["store_and_fwd_flag"] = words(flag, ["N", "Y"], missing=~tenths)
    columns["dropoff_longitude"], columns["dropoff_latitude"] = places[2:]
    columns["payment_type"] = payment
    columns.update(amounts)
    columns["improvement_surcharge"] = np.full(n, np.nan)
    return frame(columns)


def _times(rng: np.random.Generator, n: int, distance: Array) -> tuple[Array, Array]:
    """The start of each ride in seconds of the month, more often by day, and its duration."""
    hour = pick(rng, np.tile(HOURS, 31), n).astype(np.int64)
    begin = hour * 3_600 + rng.integers(0, 3_600, n)
    speed = rng.normal(11.5, 3, n).clip(4, 30) + np.minimum(distance, 20) * 0.6
    return begin, (distance / speed * 3_600).astype(np.int64) + rng.integers(45, 240, n)


def _payments(rng: np.random.Generator, vendor: Array, card: Array) -> pd.Series:
    """Each vendor has its own words for cash and card."""
    word = np.array([[2, 3], [0, 1], [0, 1]])[vendor, card.astype(np.int8)]
    other = chance(rng, 0.12, len(card)) & (vendor == 0)
    word[other] += 2  # the same in small letters
    odd = chance(rng, 0.004, len(card))
    word[odd] = 6 + (word[odd] & 1)
    return words(word, PAYMENTS)


def _amounts(
    rng: np.random.Generator,
    n: int,
    distance: Array,
    lasted: Array,
    flat: Array,
    begin: Array,
    card: Array,
) -> dict[str, Array]:
    """Amounts paid: by the fifth of a mile and the minute, then surcharges, tax, tip, toll."""
    units = np.rint(distance * 5 + lasted / 240 * rng.random(n))
    fare = np.where(flat, 45.0, 2.5 + 0.4 * units)
    hour = begin // 3_600 % 24
    surcharge = np.where((hour >= 20) | (hour < 6), 0.5, np.where((hour >= 16), 1.0, 0.0))
    surcharge[chance(rng, 0.03, n)] = 0.0
    tax = np.where(chance(rng, 0.996, n), 0.5, 0.0)
    share = np.array([0.0, 0.15, 0.2, 0.25, 0.1])[pick(rng, [3, 25, 40, 14, 18], n)]
    tip = np.where(chance(rng, 0.3, n), np.rint(fare * share), decimals(fare * share, 2))
    tip[~card] = 0.0
    toll = np.where((distance > 8) & chance(rng, 0.5, n), 4.57, 0.0)
    total = decimals(fare + surcharge + tax + tip + toll, 2)
    return {
        "fare_amount": decimals(fare, 2),
        "surcharge": surcharge,
        "mta_tax": tax,
        "tip_amount": tip,
        "tolls_amount": toll,
        "total_amount": total,
    }


def _places(rng: np.random.Generator, n: int, distance: Array, lost: Array) -> list[Array]:
    """Start and end of rides along Manhattan, at the given distance."""
    along = rng.normal(0, 0.021, n)
    across = rng.normal(0, 0.0075, n)
    found = [-73.9815 + 0.55 * along + across, 40.7535 + along - 0.45 * across]
    angle = rng.random(n, dtype=np.float32) * np.float32(2 * np.pi)
    found.append(found[0] + np.cos(angle) * distance * 0.0072)
    found.append(found[1] + np.sin(angle) * distance * 0.0098)
    for i, place in enumerate(found):
        rounded = decimals(place, 6)
        off = chance(rng, 0.125, n)
        rounded[off] += np.spacing(rounded[off]) * (1 + (rounded[off] * 1e6 % 2 > 1))
        rounded[lost] = 0.0
        found[i] = rounded
    return found
