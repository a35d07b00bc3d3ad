//! Estimates the size of a block dictionary from a sample of the values.

use super::code_width;
use super::table::{CodeTable, Key, Repeats};
use crate::profile::cost;
use crate::words::sample_ranges;

/// The largest number of values in a sample.
const SAMPLE: usize = 1024;

/// Values count as unrepeated if fewer than one in this many repeats.
const RARELY: usize = 128;

/// A dictionary can be excluded early within this many sampled values. After half as many, values
/// can count as unrepeated.
const FIRST_LOOK: usize = 512;

/// The estimate of a dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Estimate {
    /// Bytes of codes and entries.
    pub len: f64,
    /// Nanoseconds to decode the codes.
    pub ns: f64,
    /// The number of entries.
    pub n_entries: usize,
    /// Whether most values equal their predecessors.
    pub runs: bool,
    /// Whether values repeat at short distances, so a codec shrinks their codes further.
    pub nearby: bool,
}

/// The reason against a dictionary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NoDictionary {
    /// Hardly any value repeats.
    Unrepeated,
    /// It would take more than the alternatives.
    Costly,
}

/// Estimates a dictionary of `n` values, with entries of `entry_len` bytes, from at most 1,024
/// values. Returns an error if values hardly repeat, or if it seems to have far more than `most`
/// entries.
///
/// The number of unseen values is estimated from the numbers of values that occur once and twice in
/// the sample (Chao, "Nonparametric Estimation of the Number of Classes in a Population", 1984).
/// Each run counts once, so values of any frequency are represented.
#[inline(never)]
pub(crate) fn estimate<K: Key>(
    n: usize,
    entry_len: usize,
    most: usize,
    value: impl Fn(usize) -> K,
) -> Result<Estimate, NoDictionary> {
    let why = |unrepeated| if unrepeated { NoDictionary::Unrepeated } else { NoDictionary::Costly };
    let mut distinct = CodeTable::with_room_for(n.min(SAMPLE));
    // How often each value occurred, and the last range that contains it.
    let (mut counts, mut last_ranges) = ([0u16; SAMPLE], [u16::MAX; SAMPLE]);
    let (mut seen, mut changes, mut counted, mut nearby) = (0, 0, 0, 0);
    for (i, range) in sample_ranges(n, SAMPLE / 16, 16).enumerate() {
        // Among a few thousand entries, a few hundred values contain many repetitions.
        let awaited = seen * seen / (2 * most.max(1));
        if seen <= FIRST_LOOK && awaited >= 8 && (seen - distinct.entries.len()) * 4 < awaited {
            return Err(why(seen >= FIRST_LOOK / 2 && (seen - distinct.entries.len()) * RARELY < seen));
        }
        let mut last = None;
        for code in range.map(|at| distinct.code(value(at))) {
            // The first value of a range may continue a run, except at the start of the block.
            let is_new = last != Some(code);
            changes += usize::from(is_new && (last.is_some() || i == 0));
            counts[code as usize] += u16::from(is_new);
            counted += usize::from(is_new);
            let before = std::mem::replace(&mut last_ranges[code as usize], i as u16);
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
    // A branch that is predicted correctly seven times in eight costs less than the saved look-ups.
    Ok(Estimate { len, ns, n_entries: all, runs: changes * 8 <= seen, nearby: nearby * 8 > seen })
}

impl Estimate {
    /// How the `n` values repeat.
    pub(crate) fn repeats(&self, n: usize) -> Repeats {
        /// If more than one value in this many is new, the branch for new values is predicted
        /// badly.
        const NEW: usize = 12;
        match self.runs {
            true => Repeats::InRuns,
            false if self.n_entries * NEW > n => Repeats::Rarely,
            false => Repeats::Often,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::MIX;
    use super::*;

    #[test]
    fn entries_are_estimated() {
        // SplitMix64 (Steele, Lea, Flood, 2014).
        let hash = |i: u64| {
            let z = i.wrapping_mul(MIX);
            let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        };
        // Values drawn from `n`: independent, in runs of about four, and with every second value
        // the same.
        for n in [30, 300, 1500, 5000] {
            let drawn = |i: usize| hash(i as u64) % n;
            let one = |i: usize| if hash(i as u64 + 77_777).is_multiple_of(2) { n } else { drawn(i) };
            for (name, value) in
                [("alone", &drawn as &dyn Fn(usize) -> u64), ("runs", &|i| drawn(i / 4)), ("one", &one)]
            {
                let estimated = estimate(40_000, 8, 65_536, value).unwrap().n_entries as f64 / n as f64;
                assert!((0.5..2.0).contains(&estimated), "{name}: {estimated} of {n}");
            }
        }
        assert_eq!(estimate(40_000, 8, 65_536, |i| i as u64).err(), Some(NoDictionary::Unrepeated));
        let few = estimate(500, 8, 65_536, |i| (i % 7) as u64).unwrap();
        assert!(few.n_entries == 7 && !few.runs && few.nearby);
        assert!(estimate(40_000, 8, 65_536, |i| (i / 1000) as u64).unwrap().runs);
        assert!(!estimate(40_000, 8, 65_536, |i| (i % 999) as u64).unwrap().nearby);
    }
}
