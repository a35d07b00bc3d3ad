"""Columns of strings of well-known kinds, as Arrow arrays."""

from __future__ import annotations

import string

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ALPHANUMERIC = np.frombuffer((string.ascii_letters + string.digits).encode(), np.uint8)
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
ONSETS = ["b", "br", "c", "cl", "d", "f", "fl", "g", "gr", "h", "k", "l", "m", "n", "p", "pr"]
ONSETS += ["r", "s", "st", "t", "tr", "v", "w", "z"]
VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "io", "ou"]
CODAS = ["", "", "n", "r", "s", "t", "l", "m", "ck", "nd", "ng"]
TOP_LEVEL = ["com", "org", "net", "de", "io", "co.uk", "fr", "nl", "no", "it"]
FOLDERS = ["news", "blog", "articles", "products", "item", "user", "wiki", "docs", "img", "api"]


def random_strings(n_rows: int, width: int, rng: np.random.Generator) -> pa.Array:
    """Random alphanumeric strings of one width, with 32-bit offsets if possible."""
    total = n_rows * width
    letters = np.empty(total, np.uint8)
    step = 1 << 24
    for start in range(0, total, step):
        part = letters[start : start + step]
        part[:] = ALPHANUMERIC[rng.integers(0, len(ALPHANUMERIC), len(part), dtype=np.uint8)]
    return _fixed(letters, n_rows, width)


def low_cardinality(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """50 words, some far more often than others."""
    return _zipf(vocabulary(50, rng), n_rows, rng)


def high_cardinality(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """Words from a vocabulary of half as many words as rows, all equally likely."""
    words = vocabulary(max(50, n_rows // 2), rng)
    return words.take(pa.array(rng.integers(0, len(words), n_rows)))


def urls(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """Addresses of pages: 1,000 sites, up to three folders, a number or a name."""
    names = vocabulary(1000, rng)
    top_level = pa.array(TOP_LEVEL)
    ends = top_level.take(pa.array(rng.integers(0, len(TOP_LEVEL), 1000)))
    sites = pc.binary_join_element_wise("https://www.", names, ".", ends, "/", "")
    folders = pc.binary_join_element_wise(pa.array([*FOLDERS, ""]), pa.array(["/"] * 10 + [""]), "")
    words = vocabulary(5000, rng)
    parts = [_zipf(sites, n_rows, rng)]
    parts += [folders.take(pa.array(rng.integers(0, len(folders), n_rows))) for _ in range(2)]
    parts += [_zipf(words, n_rows, rng), pa.scalar("-"), _zipf(words, n_rows, rng)]
    parts += [pa.scalar("?id="), _numbers(rng.integers(1, 10_000_000, n_rows))]
    return pc.binary_join_element_wise(*parts, "")


def emails(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """first.last and a number at one of 200 providers."""
    first, last, hosts = vocabulary(2000, rng), vocabulary(20_000, rng), vocabulary(200, rng)
    ends = pa.array(TOP_LEVEL).take(pa.array(rng.integers(0, len(TOP_LEVEL), 200)))
    providers = pc.binary_join_element_wise("@", hosts, ".", ends, "")
    return pc.binary_join_element_wise(
        _zipf(first, n_rows, rng),
        ".",
        _zipf(last, n_rows, rng),
        _numbers(rng.integers(0, 100, n_rows)),
        _zipf(providers, n_rows, rng),
        "",
    )


def comments(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """3 to 30 words of a vocabulary of 10,000, with a full stop."""
    words = vocabulary(10_000, rng)
    counts = rng.integers(3, 31, n_rows)
    offsets = np.zeros(n_rows + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    sentences = pa.ListArray.from_arrays(
        pa.array(offsets), _zipf(words, int(offsets[-1]), rng).cast(pa.string())
    )
    return pc.binary_join_element_wise(pc.binary_join(sentences, " "), ".", "")


def uuids(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """Random UUIDs as 36 characters."""
    letters = HEX[rng.integers(0, 16, (n_rows, 36), dtype=np.uint8)]
    letters[:, [8, 13, 18, 23]] = ord("-")
    letters[:, 14] = ord("4")
    letters[:, 19] = HEX[8 + rng.integers(0, 4, n_rows, dtype=np.uint8)]
    return _fixed(letters.reshape(-1), n_rows, 36)


KINDS = {
    "words-low": low_cardinality,
    "words-high": high_cardinality,
    "urls": urls,
    "emails": emails,
    "comments": comments,
    "uuids": uuids,
}


def vocabulary(n_words: int, rng: np.random.Generator) -> pa.Array:
    """`n_words` different words of two to four syllables."""
    syllables = pa.array([a + b + c for a in ONSETS for b in VOWELS for c in CODAS]).unique()
    found: pa.Array = pa.array([], pa.string())
    while len(found) < n_words:
        n = max(1000, 2 * (n_words - len(found)))
        parts = [syllables.take(pa.array(rng.integers(0, len(syllables), n))) for _ in range(4)]
        length = pa.array(rng.integers(2, 5, n))
        blank = pa.scalar("")
        parts = [pc.if_else(pc.greater(length, i), part, blank) for i, part in enumerate(parts)]
        found = pa.concat_arrays([found, pc.binary_join_element_wise(*parts, "")]).unique()
    return found.slice(0, n_words)


def _zipf(values: pa.Array, n: int, rng: np.random.Generator) -> pa.Array:
    """`n` draws from the values, the k-th with a weight of 1/k."""
    bounds = np.cumsum(1 / np.arange(1, len(values) + 1))
    return values.take(pa.array(np.searchsorted(bounds, rng.random(n) * bounds[-1])))


def _numbers(values: np.ndarray) -> pa.Array:
    return pa.array(values).cast(pa.string())


def _fixed(letters: np.ndarray, n_rows: int, width: int) -> pa.Array:
    """Strings of one width out of their letters."""
    small = n_rows * width < 1 << 31
    offsets = np.arange(n_rows + 1, dtype=np.int32 if small else np.int64) * width
    offsets = offsets.astype(np.int32 if small else np.int64)
    kind = pa.string() if small else pa.large_string()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.Array.from_buffers(kind, n_rows, buffers)
