"""Text that compresses as English does: words by Zipf's law, and repeated phrases."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .draws import Array, listed, pick, zipf

COMMON = listed("""
the I and a to it of is this for in my that but have with was are not you as on they
so these them like good very be great taste just product had one flavor coffee at or all from love
would can has we really more when if out will than up no other food use too much get also some me
about because an there buy only time don't it's were after been do tried make which what
little even your by find better then well price best eat how he try dog order first their got
drink could now made tea any she water sweet box don't chocolate who bag way found over sugar did
two think find day bought into years am always cup used our give still nice never store since long
free know cat most every recommend while bit want stuff add healthy snack something each both few
enough pack off through quality where brand hot different same again organic works ingredients
milk happy makes mix being chips looking enjoy favorite delicious thing before high around many
easy small perfect bad natural wonderful old dogs people fresh local treats need work big going
cups oil lot part strong butter fat flavors tastes keep sauce rice salt regular couple
morning cookies real eating size stars money bars right sure texture half pretty least back
gluten bottle bags come anything protein popcorn shipping cheaper disappointed expensive full
cans vanilla drinking smell gave took getting green without however though
quite usually less""")
BEGIN = listed("b c d f g h l m n p r s t w br ch cl cr dr fl fr gr pl pr sh sl sp st str th tr")
MIDDLE = listed("a e i o u a e i o ai ea ee ie oo ou")
END = ["", "", "", "", "", "n", "r", "l", "s", "t", "m", "nd", "ng", "ck", "st", "rt", "d"]
LAST = ["", "", "", "s", "ed", "ing", "er", "y", "ly", "ion", "al", "e"]
JOINTS = (" ", ", ", ". ", "! ", "... ", ".<br /><br />", ".", "!", "")  # what follows a word
PAUSE, STOP, END_OF_TEXT = 1, 2, 6  # joints from here on: pauses, sentence ends, text ends
CHUNK = 1 << 22  # phrases drawn at once


class Prose:
    """Texts of sentences, which consist of phrases. Texts of one topic share some phrases."""

    def __init__(
        self,
        rng: np.random.Generator,
        n_words: int = 50_000,
        n_phrases: int = 1_500_000,
        topic_share: float = 0.05,
        hidden: float = 0.0,  # the share of words that read XXXX
    ) -> None:
        self.rng = rng
        self.topic_share = topic_share
        vocabulary = [*_vocabulary(rng, n_words), "XXXX"]
        self.n_words = len(vocabulary)
        capital = [word[:1].upper() + word[1:] for word in vocabulary]
        entries = [w + j for form in (vocabulary, capital) for j in JOINTS for w in form]
        self.entries = pa.array(entries, pa.large_string())
        word_weights = zipf(self.n_words, 1.05, 2.0)
        word_weights[: len(COMMON)] *= 1.6
        word_weights[-1] = hidden / (1 - hidden) * word_weights[:-1].sum()
        word_weights = np.cumsum(word_weights)
        lengths = rng.choice([1, 2, 3, 4, 5], n_phrases, p=[0.3, 0.34, 0.2, 0.1, 0.06])
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        drawn = rng.random(self.starts[-1]) * word_weights[-1]
        self.words = np.searchsorted(word_weights, drawn).astype(np.int32)
        self.phrase_weights = np.cumsum(zipf(n_phrases, 1.0, 10.0))

    def texts(self, lengths: Array, topics: Array | None = None) -> pa.Array:
        """Texts of about this many letters; texts of one topic share phrases."""
        per_phrase = 12.5
        counts = np.maximum(1, np.rint(lengths / per_phrase)).astype(np.int64)
        ends = np.cumsum(counts)
        parts = [pa.array([], pa.large_string())]
        at = 0
        while at < len(counts):
            base = ends[at - 1] if at else 0
            stop = max(at + 1, int(np.searchsorted(ends, base + CHUNK)))
            parts.append(self._part(counts[at:stop], None if topics is None else topics[at:stop]))
            at = stop
        return pa.concat_arrays(parts)

    def _part(self, counts: Array, topics: Array | None) -> pa.Array:
        rng = self.rng
        n = int(counts.sum())
        phrases = np.searchsorted(self.phrase_weights, rng.random(n) * self.phrase_weights[-1])
        if topics is not None:
            local = np.flatnonzero(rng.random(n, dtype=np.float32) < self.topic_share)
            topic = np.repeat(topics, counts)[local].astype(np.uint64)
            choice = (rng.random(len(local)) ** 2 * 40).astype(np.uint64)
            mixed = (topic * np.uint64(40) + choice) * np.uint64(0x9E3779B97F4A7C15)
            phrases[local] = mixed >> np.uint64(33)
            phrases[local] %= len(self.phrase_weights)
        # Expand phrases to words, by the positions of each phrase's consecutive words.
        lengths = self.starts[phrases + 1] - self.starts[phrases]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(self.starts[phrases] - (ends - lengths), lengths)
        codes = self.words[places].astype(np.int64)
        last = ends[np.cumsum(counts) - 1] - 1  # the last word of each text
        stops = np.zeros(len(codes), np.bool_)
        stops[ends - 1] = rng.random(n, dtype=np.float32) < 0.2
        stops[last] = True
        joints = np.zeros(len(codes), np.int64)
        pauses = ends[rng.random(n, dtype=np.float32) < 0.14] - 1
        joints[pauses] = PAUSE
        finals = np.flatnonzero(stops)
        joints[finals] = STOP + pick(rng, [85, 8, 2, 5], len(finals))
        joints[last] = END_OF_TEXT + pick(rng, [82, 12, 6], len(last))
        capital = np.concatenate([[True], stops[:-1]])
        codes += joints * self.n_words
        codes[capital] += len(JOINTS) * self.n_words
        flat = self.entries.take(pa.array(codes))
        offsets = np.frombuffer(flat.buffers()[1], np.int64)[: len(codes) + 1]
        # The letters are already consecutive, so texts only need other offsets.
        cuts = np.concatenate([[0], offsets[last + 1]])
        return pa.LargeStringArray.from_buffers(len(counts), pa.py_buffer(cuts), flat.buffers()[2])


def names(rng: np.random.Generator, n: int, least: int = 1) -> list[str]:
    """Distinct made-up names of people, towns and companies, with at least `least` syllables."""
    return [name.capitalize() for name in _made_up(rng, n, least, listed("n r y el us"))]


def _vocabulary(rng: np.random.Generator, n_words: int) -> list[str]:
    made = _made_up(rng, n_words, 1)
    return list(dict.fromkeys([*COMMON, *made]))[:n_words]


def _made_up(rng: np.random.Generator, n: int, least: int, endings: list[str] = LAST) -> list[str]:
    """Words of a few syllables, longer ones later, none twice."""
    found: dict[str, None] = {}
    while len(found) < n:
        count = 2 * n
        syllables = least + (rng.random(count) * np.linspace(0.8, 2.4, count)).astype(int)
        begin = rng.integers(0, len(BEGIN), (count, 4))
        middle = rng.integers(0, len(MIDDLE), (count, 4))
        end = rng.integers(0, len(END), (count, 4))
        last = rng.integers(0, len(endings), count)
        for i in range(count):
            parts = (
                BEGIN[begin[i, k]] + MIDDLE[middle[i, k]] + END[end[i, k]]
                for k in range(min(4, syllables[i]))
            )
            found["".join(parts) + endings[last[i]]] = None
    return list(found)[:n]
