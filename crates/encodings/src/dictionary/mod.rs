//! The dictionary of a block: its distinct values in the order of their first appearance, and a code for each value.

mod repeat_finder;

use std::ops::Range;

use repeat_finder::Again;
use entasis_kernels::VECTOR;

use crate::profile::cost;
use crate::words::sample_ranges;

/// The most entries of a dictionary.
pub(crate) const MAX_ENTRIES: usize = 1 << 16;

/// Values that can be looked up: words, 16-byte values, short strings.
pub(crate) trait Key: Copy + Eq {
    /// Its high bits are well mixed.
    fn hash(self) -> u64;
}

/// An odd number, products with which have mixed high bits.
///
/// Of 300,000 tried it is the one with which 1,200 to 4,800 numbers at equal distances meet each other least, in tables that are a
/// seventh to three fifths full: 45 distances from 1 to the seconds, days and weeks of usual units, and eight of floats. A value takes
/// 1.64 looks for the worst of these, 1.05 on average; with 2^64 over the golden ratio it takes 21.8 and 1.32.
pub(crate) const MIX: u64 = 0xC332_1BB8_E4B6_3819;

macro_rules! word_key {
    ($($t:ty),*) => {$(
        impl Key for $t {
            fn hash(self) -> u64 {
                (self as u64).wrapping_mul(MIX)
            }
        }
    )*};
}
word_key!(u8, u16, u32, u64);

impl Key for u128 {
    fn hash(self) -> u64 {
        ((self as u64).wrapping_mul(MIX) ^ (self >> 64) as u64).wrapping_mul(MIX)
    }
}

/// A table of distinct values with open addressing.
pub(crate) struct Distinct<K> {
    slots: Vec<u32>,
    shift: u32,
    pub(crate) entries: Vec<K>,
}

const EMPTY: u32 = u32::MAX;

impl<K> Default for Distinct<K> {
    /// Without slots: it is to be cleared before it is asked.
    fn default() -> Self {
        Self { slots: Vec::new(), shift: 0, entries: Vec::new() }
    }
}

impl<K: Key> Distinct<K> {
    /// An empty table that grows beyond `n` entries.
    pub(crate) fn with_room_for(n: usize) -> Self {
        let mut distinct = Self::default();
        distinct.clear_for(n, n);
        distinct
    }

    /// Has no entries from now on, and grows beyond `n` of them, or as many as there were before, as far as these are no more than `limit`.
    pub(crate) fn clear_for(&mut self, n: usize, limit: usize) {
        let n = n.max(self.entries.len()).min(limit);
        // At least half of the slots stay empty, more where that takes little memory: fewer meet others then, and no processor can
        // predict which do.
        let len =
            if n <= 8192 { (4 * n).max((16 * n).min(4096)) } else { 2 * n }.next_power_of_two().max(256);
        self.set_slots(len);
        self.entries.clear();
        self.entries.reserve(n);
    }

    /// Has so many slots, a power of two, all of them empty.
    fn set_slots(&mut self, len: usize) {
        self.slots.clear();
        self.slots.resize(len, EMPTY);
        self.shift = 64 - len.trailing_zeros();
    }

    /// The code of `key`, a new one when it is not there yet.
    #[inline(always)]
    pub(crate) fn code(&mut self, key: K) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = (key.hash() >> self.shift) as usize & mask;
        loop {
            let code = self.slots[at];
            if code == EMPTY {
                return self.insert(at, key);
            }
            if self.entries[code as usize] == key {
                return code;
            }
            at = (at + 1) & mask;
        }
    }

    /// Writes the codes of values up to the first that is not there yet; returns which that is, and its slot.
    ///
    /// A loop that changes nothing of the table keeps all of it at hand.
    #[inline(always)]
    fn known(&self, codes: &mut [u32], value: impl Fn(usize) -> K) -> Option<(usize, usize)> {
        let (slots, entries, shift) = (self.slots.as_slice(), self.entries.as_slice(), self.shift);
        let mask = slots.len() - 1;
        for (i, code) in codes.iter_mut().enumerate() {
            let key = value(i);
            let mut at = (key.hash() >> shift) as usize & mask;
            *code = loop {
                let code = slots[at];
                match entries.get(code as usize) {
                    Some(entry) if *entry == key => break code,
                    Some(_) => at = (at + 1) & mask,
                    None => return Some((i, at)),
                }
            };
        }
        None
    }

    /// Writes the codes of as many values as `codes` has; false when there are more than `limit` entries then.
    /// `first` is told of a code and which value is the first to have it; where many are new, of the next code and each value.
    #[inline(always)]
    pub(crate) fn codes(
        &mut self,
        codes: &mut [u32],
        limit: usize,
        repeats: Repeats,
        value: impl Fn(usize) -> K,
        mut first: impl FnMut(usize, usize),
    ) -> bool {
        if repeats == Repeats::Rarely {
            self.codes_of_new(codes, value, first);
            return self.entries.len() <= limit;
        }
        if repeats == Repeats::InRuns {
            let mut last: Option<(K, u32)> = None;
            for (i, code) in codes.iter_mut().enumerate() {
                let key = value(i);
                *code = match last {
                    Some((before, code)) if before == key => code,
                    _ => {
                        let n = self.entries.len();
                        let code = self.code(key);
                        if self.entries.len() > n {
                            first(n, i);
                            if n == limit {
                                return false;
                            }
                        }
                        code
                    }
                };
                last = Some((key, *code));
            }
            return true;
        }
        let mut done = 0;
        while let Some((i, at)) = self.known(&mut codes[done..], |i| value(done + i)) {
            done += i;
            codes[done] = self.insert(at, value(done));
            first(codes[done] as usize, done);
            done += 1;
            if self.entries.len() > limit {
                return false;
            }
        }
        true
    }

    /// Writes the codes of values of which many are new: whether one is, is no branch, as none is predicted.
    #[inline(always)]
    fn codes_of_new(
        &mut self,
        codes: &mut [u32],
        value: impl Fn(usize) -> K,
        mut first: impl FnMut(usize, usize),
    ) {
        let mut n = self.entries.len();
        while (n + codes.len()) * 2 > self.slots.len() {
            self.grow();
        }
        if !codes.is_empty() {
            self.entries.resize(n + codes.len(), value(0));
        }
        let (slots, entries, shift) = (self.slots.as_mut_slice(), self.entries.as_mut_slice(), self.shift);
        let mask = slots.len() - 1;
        for (i, code) in codes.iter_mut().enumerate() {
            let key = value(i);
            let mut at = (key.hash() >> shift) as usize & mask;
            // What an empty slot would come to have.
            entries[n] = key;
            first(n, i);
            let (slot, of) = loop {
                let slot = slots[at];
                let of = (slot as usize).min(n);
                if entries[of] == key {
                    break (slot, of);
                }
                at = (at + 1) & mask;
            };
            slots[at] = of as u32;
            *code = of as u32;
            n += usize::from(slot == EMPTY);
        }
        self.entries.truncate(n);
    }

    #[inline(never)]
    fn insert(&mut self, at: usize, key: K) -> u32 {
        let code = u32::try_from(self.entries.len()).expect("fewer values than a block has");
        self.slots[at] = code;
        self.entries.push(key);
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    fn grow(&mut self) {
        /// Tables of so many slots hardly grow twice.
        const LONG: usize = 1 << 16;
        let len = self.slots.len() * if self.slots.len() < LONG { 4 } else { 2 };
        self.set_slots(len);
        for (code, key) in self.entries.iter().enumerate() {
            let mut at = (key.hash() >> self.shift) as usize & (len - 1);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = code as u32;
        }
    }
}

/// How values come back, which says how they are looked up.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Repeats {
    /// Most are those before them: they are compared with those first.
    InRuns,
    /// Most are there already.
    Often,
    /// Many are new.
    Rarely,
}

/// What a sample tells of a dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Prospect {
    /// Bytes of codes and entries.
    pub len: f64,
    /// Nanoseconds to decode the codes.
    pub ns: f64,
    /// Entries.
    pub n_entries: usize,
    /// Whether most values are those before them.
    pub runs: bool,
    /// Whether values come back after few others: a codec finds that in their codes.
    pub nearby: bool,
}

/// Why there is no dictionary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NoDictionary {
    /// Hardly any value is there twice.
    Unrepeated,
    /// It would take too much.
    Costly,
}

/// What a dictionary of `n` values with entries of `entry_len` bytes would come to, by a sample of at most 1,024 values. An error
/// when it seems to have far more than `most` entries.
///
/// The distinct values that the sample has not seen are estimated from those that it has seen once and twice (Chao, "Nonparametric
/// Estimation of the Number of Classes in a Population", 1984), runs counted once: values of any frequency may be among them.
#[inline(never)]
pub(crate) fn prospect<K: Key>(
    n: usize,
    entry_len: usize,
    most: usize,
    value: impl Fn(usize) -> K,
) -> Result<Prospect, NoDictionary> {
    let why = |unrepeated| if unrepeated { NoDictionary::Unrepeated } else { NoDictionary::Costly };
    let mut distinct = Distinct::with_room_for(n.min(SAMPLE));
    // How often each was found, and in which piece the last time.
    let (mut counts, mut pieces) = ([0u16; SAMPLE], [u16::MAX; SAMPLE]);
    let (mut seen, mut changes, mut counted, mut nearby) = (0, 0, 0, 0);
    for (i, range) in sample_ranges(n, SAMPLE / 16, 16).enumerate() {
        // A few hundred values show many repetitions when there are few thousand entries.
        let awaited = seen * seen / (2 * most.max(1));
        if seen <= FIRST_LOOK && awaited >= 8 && (seen - distinct.entries.len()) * 4 < awaited {
            return Err(why(seen >= FIRST_LOOK / 2 && (seen - distinct.entries.len()) * RARELY < seen));
        }
        let mut last = None;
        for code in range.map(|at| distinct.code(value(at))) {
            // The first value of a piece begins a run of which nothing is known; that of the block begins one.
            let is_new = last != Some(code);
            changes += usize::from(is_new && (last.is_some() || i == 0));
            counts[code as usize] += u16::from(is_new);
            counted += usize::from(is_new);
            let before = std::mem::replace(&mut pieces[code as usize], i as u16);
            nearby += usize::from(before == i as u16);
            last = Some(code);
            seen += 1;
        }
    }
    let distinct = distinct.entries.len();
    if distinct > 1 && (seen - distinct) * RARELY < seen {
        return Err(why(seen >= FIRST_LOOK / 2));
    }
    let seen_times = |times| counts.iter().filter(|&&count| count == times).count();
    let (once, twice) = (seen_times(1), seen_times(2));
    let all = match seen < n {
        true => distinct + once * once.saturating_sub(1) / (2 * (twice + 1)),
        false => distinct,
    };
    let all = all.min((n * counted).div_ceil(seen)).max(distinct);
    let width = f64::from(code_width(all)) / 8.0;
    let n_runs = (n * changes / seen) as f64;
    let packed = (n as f64 * width, n as f64 * cost::BIT_PACKED);
    let in_runs = (n_runs * (2.0 + width), n_runs * cost::RUN + n as f64 * cost::RUN_LENGTH);
    let (codes_len, ns) = if packed.0 < in_runs.0 { packed } else { in_runs };
    let len = codes_len + (all * entry_len) as f64;
    // A branch that is right seven times of eight costs less than the look-ups that it saves.
    Ok(Prospect { len, ns, n_entries: all, runs: changes * 8 <= seen, nearby: nearby * 8 > seen })
}

impl Prospect {
    /// How the values of `n` come back.
    pub(crate) fn repeats(&self, n: usize) -> Repeats {
        /// One new value of so many is a branch that is too often wrong.
        const NEW: usize = 12;
        match self.runs {
            true => Repeats::InRuns,
            false if self.n_entries * NEW > n => Repeats::Rarely,
            false => Repeats::Often,
        }
    }
}

/// How much a dictionary may come to.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub n_entries: usize,
    /// Bytes of an entry, and of all codes and entries, packed.
    pub entry_len: usize,
    pub len: f64,
}

impl Limit {
    /// Whether so many entries, of codes for `n` values, are too many.
    fn is_passed(self, n: usize, n_entries: usize) -> bool {
        let codes = n as f64 * f64::from(code_width(n_entries)) / 8.0;
        n_entries > self.n_entries || codes + (n_entries * self.entry_len) as f64 > self.len
    }
}

/// The most values of a sample.
const SAMPLE: usize = 1024;

/// Where fewer than one in so many values is there before, hardly any repeats.
const RARELY: usize = 128;

/// Values of a sample after which a dictionary may be out of the question.
const FIRST_LOOK: usize = 512;

/// Codes for all `n` values, or none when there are more distinct ones than `limit` has entries, or a quarter of the values tells
/// that they will come to more than it says: a sample knows little of values that are rare, of which there may be many. Where the
/// prospect is runs, values are compared with those before them first.
///
/// The entries are left in `distinct`. Which value is the first of each code is told to `first_of`, as [`Distinct::codes`] does.
#[inline(always)]
pub(crate) fn build<K: Key>(
    (distinct, n): (&mut Distinct<K>, usize),
    limit: Limit,
    prospect: Prospect,
    codes: &mut Vec<u32>,
    value: impl Fn(usize) -> K,
    mut first_of: impl FnMut(usize, usize),
) -> Option<()> {
    let repeats = prospect.repeats(n);
    build_by((distinct, n), limit, prospect, codes, |distinct, codes, range| {
        codes_up_to(distinct, codes, range, limit, repeats, &value, &mut first_of)
    })
}

/// The same for values that stand in memory, which are compared with those that came before where those come back.
///
/// A function of its own: its loop needs all registers.
#[inline(never)]
pub(crate) fn build_words<K: Key>(
    values: &[K],
    limit: Limit,
    prospect: Prospect,
    codes: &mut Vec<u32>,
) -> Option<Vec<K>> {
    let repeats = prospect.repeats(values.len());
    let (mut distinct, mut again) = (Distinct::default(), Again::default());
    build_by(
        (&mut distinct, values.len()),
        limit,
        prospect,
        codes,
        |distinct, codes, range| match repeats {
            Repeats::Often => distinct.codes_again(codes, values, range, limit.n_entries, &mut again),
            _ => codes_up_to(distinct, codes, range, limit, repeats, |i| values[i], |_, _| ()),
        },
    )?;
    Some(distinct.entries)
}

/// The same where `codes_up_to` writes the codes of a range of the values, and tells whether they keep to the limit.
#[inline(always)]
fn build_by<K: Key>(
    (distinct, n): (&mut Distinct<K>, usize),
    limit: Limit,
    prospect: Prospect,
    codes: &mut Vec<u32>,
    mut codes_up_to: impl FnMut(&mut Distinct<K>, &mut [u32], Range<usize>) -> bool,
) -> Option<()> {
    distinct.clear_for(prospect.n_entries, limit.n_entries);
    codes.resize(n, 0);
    // The entries after half of these values, and after all.
    let first = if prospect.runs || n < FORESEEN_FROM { 0 } else { n / 4 };
    let mut found = [0, 0];
    let mut at = 0;
    for (end, found) in [first / 2, first].into_iter().zip(&mut found) {
        if !codes_up_to(distinct, codes, at..end) {
            return None;
        }
        (at, *found) = (end, distinct.entries.len());
    }
    if first > 0 && limit.is_passed(n, foreseen(found)) {
        return None;
    }
    codes_up_to(distinct, codes, at..n).then_some(())
}

/// Writes the codes of some values, as many at a time as [`Distinct::codes`] takes.
#[inline(always)]
fn codes_up_to<K: Key>(
    distinct: &mut Distinct<K>,
    codes: &mut [u32],
    range: Range<usize>,
    limit: Limit,
    repeats: Repeats,
    value: impl Fn(usize) -> K,
    mut first_of: impl FnMut(usize, usize),
) -> bool {
    let step = if repeats == Repeats::Rarely { VECTOR } else { range.len().max(1) };
    range.clone().step_by(step).all(|start| {
        let end = (start + step).min(range.end);
        let first = |code: usize, i: usize| first_of(code, start + i);
        distinct.codes(&mut codes[start..end], limit.n_entries, repeats, |i| value(start + i), first)
    })
}

/// Values of which a part tells how many entries there will be.
const FORESEEN_FROM: usize = 8192;

/// The entries of so many values, of which an eighth has the first number of them and a quarter the second: they become more as they
/// did, twice, which is a little too few where most values are rare.
fn foreseen([eighth, quarter]: [usize; 2]) -> usize {
    (quarter as f64 * (quarter as f64 / eighth.max(1) as f64).powi(2)) as usize
}

/// Bits that codes of this many entries need.
pub(crate) fn code_width(n_entries: usize) -> u32 {
    usize::BITS - n_entries.saturating_sub(1).leading_zeros()
}

/// A limit of entries alone.
#[cfg(test)]
pub(crate) fn up_to(n_entries: usize) -> Limit {
    Limit { n_entries, entry_len: 0, len: f64::INFINITY }
}

#[cfg(test)]
pub(crate) fn model<K: Copy + Eq + std::hash::Hash>(values: &[K]) -> (Vec<K>, Vec<u32>) {
    let mut seen = std::collections::HashMap::new();
    let mut entries = Vec::new();
    let codes = values
        .iter()
        .map(|v| {
            *seen.entry(*v).or_insert_with(|| {
                entries.push(*v);
                entries.len() as u32 - 1
            })
        })
        .collect();
    (entries, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_a_hash_map() {
        let values: Vec<u64> = (0..5000u64).map(|i| (i * i) % 1501).collect();
        // One table for all: what is left of one time is no entry of the next.
        let (mut distinct, mut codes) = (Distinct::default(), Vec::new());
        for (runs, n_entries) in [(false, 0), (true, 10), (false, 10_000)] {
            let prospect = Prospect { len: 0.0, ns: 0.0, n_entries, runs, nearby: false };
            let mut build = |limit| {
                let all = (&mut distinct, values.len());
                build(all, up_to(limit), prospect, &mut codes, |i| values[i], |_, _| ())?;
                Some((distinct.entries.clone(), codes.clone()))
            };
            assert_eq!(build(MAX_ENTRIES), Some(model(&values)));
            assert_eq!(build(100), None);
            assert_eq!(build(MAX_ENTRIES), Some(model(&values)));
            let of_words = build_words(&values, up_to(MAX_ENTRIES), prospect, &mut codes).unwrap();
            assert_eq!((of_words, codes.clone()), model(&values));
            assert!(build_words(&values, up_to(100), prospect, &mut codes).is_none());
        }
    }

    #[test]
    fn a_table_serves_other_values_after_it_was_cleared() {
        let mut distinct = Distinct::default();
        // From few to many and back, past where it grows by two; the last ones are among those before.
        for (n, room) in [(3u64, 0), (70_000, 10), (500, 9000), (40_000, 1), (0, 0), (7, 100_000)] {
            distinct.clear_for(room, 50_000);
            let code = |value: u64| distinct.code(value.wrapping_mul(MIX));
            let codes: Vec<u32> = (0..n).chain(0..n).map(code).collect();
            assert!(codes.iter().copied().eq((0..n as u32).chain(0..n as u32)), "{n}");
            assert_eq!(distinct.entries.len(), n as usize);
        }
    }

    #[test]
    fn entries_are_estimated() {
        // SplitMix64 (Steele, Lea, Flood, 2014).
        let hash = |i: u64| {
            let z = i.wrapping_mul(MIX);
            let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        };
        // Values drawn from so many, alone, in runs of about four, and with every other one the same.
        for n in [30, 300, 1500, 5000] {
            let drawn = |i: usize| hash(i as u64) % n;
            let one = |i: usize| if hash(i as u64 + 77_777).is_multiple_of(2) { n } else { drawn(i) };
            for (name, value) in
                [("alone", &drawn as &dyn Fn(usize) -> u64), ("runs", &|i| drawn(i / 4)), ("one", &one)]
            {
                let estimated = prospect(40_000, 8, 65_536, value).unwrap().n_entries as f64 / n as f64;
                assert!((0.5..2.0).contains(&estimated), "{name}: {estimated} of {n}");
            }
        }
        assert_eq!(prospect(40_000, 8, 65_536, |i| i as u64).err(), Some(NoDictionary::Unrepeated));
        let few = prospect(500, 8, 65_536, |i| (i % 7) as u64).unwrap();
        assert!(few.n_entries == 7 && !few.runs && few.nearby);
        assert!(prospect(40_000, 8, 65_536, |i| (i / 1000) as u64).unwrap().runs);
        assert!(!prospect(40_000, 8, 65_536, |i| (i % 999) as u64).unwrap().nearby);
    }

    #[test]
    fn too_many_entries_are_foreseen() {
        let mut codes = Vec::new();
        let prospect = Prospect { len: 0.0, ns: 0.0, n_entries: 100, runs: false, nearby: false };
        let n = 60_000;
        // 3,000 entries, and always more of them.
        let few = |i: usize| (i * 7919 % 3000) as u64;
        let many = |i: usize| if i.is_multiple_of(10) { i as u64 } else { 1 };
        for entry_len in [0, 8] {
            let limit = Limit { n_entries: MAX_ENTRIES, entry_len, len: n as f64 * 1.5 + 3000.0 * 9.0 };
            let mut distinct = Distinct::default();
            assert!(build((&mut distinct, n), limit, prospect, &mut codes, few, |_, _| ()).is_some());
            assert_eq!(distinct.entries.len(), 3000);
            let built = build((&mut distinct, n), limit, prospect, &mut codes, many, |_, _| ());
            assert_eq!(built.is_some(), entry_len == 0);
        }
        assert_eq!((foreseen([0, 0]), foreseen([10, 10]), foreseen([10, 20])), (0, 10, 80));
    }

    #[test]
    fn widths_of_codes() {
        assert_eq!([1, 2, 3, 4, 5, 256, 257].map(code_width), [0, 1, 2, 2, 3, 8, 9]);
    }
}
