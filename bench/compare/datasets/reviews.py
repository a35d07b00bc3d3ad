"""Reviews of groceries: long texts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .draws import chance, frame, glue, marks, numerals, pick, series, start, words, zipf
from .prose import Prose, names

ROWS = 568_454
DIGITS = "0123456789"
LETTERS = DIGITS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DAYS = (10_880, 15_640)  # since 1970: 1999 to 2012


def reviews(scale: float = 1.0) -> pd.DataFrame:
    """Look-alike of "Amazon Fine Food Reviews".

    The original has 568,454 rows of 10 columns: ids, user, product, votes, score, time, summary and
    text. Almost nothing is missing, and it takes 287 MB as CSV. These properties are alike:

    - The number of rows and columns, about 256,000 users and 74,000 products.
    - Texts have 436 letters on average, most of them fewer, and compress as English does.
    - Rows are grouped by product. About 30 % of them repeat the review of another product word for
      word.
    """
    rng, n = start("reviews", ROWS, scale)
    n_products, n_users = max(1, n * 74_258 // ROWS), max(1, n * 256_059 // ROWS)
    product = np.sort(rng.permutation(n_products)[pick(rng, zipf(n_products, 0.8, 20.0), n)])
    copied = _copies(rng, product)

    user = pick(rng, zipf(n_users // 4 + 1, 0.6, 30.0), n) * 4 + rng.integers(0, 4, n)
    user = np.minimum(user, n_users - 1)
    votes = np.minimum(rng.geometric(0.36, n) - 1, 900) * chance(rng, 0.55, n)
    helpful = rng.binomial(votes, 0.8)
    score = pick(rng, [9.2, 5.2, 7.5, 14.2, 63.9], n) + 1
    age = rng.random(n) ** 2.2
    time = (DAYS[1] - (age * (DAYS[1] - DAYS[0])).astype(np.int64)) * 86_400

    prose = Prose(rng)
    text = prose.texts(rng.lognormal(np.log(303), 0.85, n), product)
    summary = prose.texts(rng.lognormal(np.log(18), 0.6, n))
    first, last = names(rng, 6_000), names(rng, 20_000)
    profile = _profiles(rng, first, last, n_users)
    product_ids = glue("B00", marks(rng, LETTERS, n_products, 7))
    user_ids = glue("A", marks(rng, LETTERS, n_users, 13))
    return frame(
        {
            "Id": np.arange(1, n + 1),
            "ProductId": words(product, product_ids),
            "UserId": words(user[copied], user_ids),
            "ProfileName": words(user[copied], profile),
            "HelpfulnessNumerator": helpful[copied],
            "HelpfulnessDenominator": votes[copied],
            "Score": score[copied].astype(np.int64),
            "Time": time[copied],
            "Summary": series(summary.take(copied)),
            "Text": series(text.take(copied)),
        }
    )


def _copies(rng: np.random.Generator, product: np.ndarray) -> np.ndarray:
    """For each row, the row that it repeats. Most rows only repeat themselves.

    Products with similar numbers of reviews form pairs; in most pairs, the second product repeats
    the first one's reviews.
    """
    first = np.searchsorted(product, np.arange(product[-1] + 2))
    size = np.diff(first)
    order = rng.permutation(len(size))
    order = order[np.argsort(size[order], kind="stable")]
    pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
    pairs = pairs[chance(rng, 0.62, len(pairs))]
    model = np.arange(len(size))
    model[pairs[:, 1]] = pairs[:, 0]
    source = model[product]
    place = np.minimum(np.arange(len(product)) - first[product], size[source] - 1)
    return np.where(size[source] > 0, first[source] + place, np.arange(len(product)))


def _profiles(rng: np.random.Generator, first: list[str], last: list[str], n: int) -> list[str]:
    """Names as people give them: nicknames, names, names with a number or in quotes."""
    a = pick(rng, zipf(len(first), 0.9), n)
    b = pick(rng, zipf(len(last), 0.9), n)
    kind = pick(rng, [30, 25, 25, 12, 8], n)
    number = numerals(rng.integers(1, 2000, n)).to_pylist()
    return [
        (
            f"{first[x].lower()}{no}",
            f"{first[x]} {last[y]}",
            f"{first[x]} {last[y][0]}. {last[y]}",
            first[x],
            f'{first[x]} {last[y]} "{first[y % len(first)].lower()}"',
        )[k]
        for x, y, k, no in zip(a.tolist(), b.tolist(), kind.tolist(), number, strict=True)
    ]
