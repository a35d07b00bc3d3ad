//! Chooses the block length of a column of strings, and symbols, from a sample.

use std::sync::Arc;

use entasis_encodings::{PAGE_TEXT, SharedSymbols, SymbolSamples, Values};
use entasis_format::{Layout, MAX_BLOCK_LEN, MAX_BLOCK_VALUES, checksum};

use super::{MAX_STRING, Scratch};
use crate::frame::{Array, HostValues};

/// The choices for a column of strings.
#[derive(Default)]
pub(crate) struct StringBlocks {
    pub most: StringBlockLen,
    /// FSST symbols for the whole column, if it is long.
    pub symbols: Option<Arc<SharedSymbols>>,
}

/// The most bytes of a block with more than one string.
///
/// Columns of long strings use short blocks, so that input and output both fit in the L2 cache.
/// Columns with repeated strings use longer blocks, because each block has a dictionary of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StringBlockLen(u64);

impl Default for StringBlockLen {
    fn default() -> Self {
        Self(MAX_BLOCK_LEN)
    }
}

impl StringBlockLen {
    /// Strings are long if a block's maximum number of them would have more bytes than this. Also
    /// the block length for long strings that repeat rarely.
    const LONG: u64 = 4 << 20;
    /// Bytes of a block of long strings that hardly repeat: four pages. Two such blocks are encoded
    /// together.
    const SHORT: u64 = 4 * PAGE_TEXT as u64;

    /// The length for a column whose sample of 512 strings has `n_repeated` repeated ones.
    fn of(n_repeated: usize) -> Self {
        match n_repeated {
            // A column of 32,000 different strings has this few repeated by chance.
            0..4 => Self(Self::SHORT),
            4..32 => Self(Self::LONG),
            _ => Self::default(),
        }
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// Bytes of a run: slightly less than four blocks, to avoid a fifth. With short runs, threads
    /// hold less until their turn, but each run without shared symbols must train its own.
    fn run(self, has_symbols: bool) -> u64 {
        let block = if has_symbols { self.0 } else { self.0.max(Self::LONG) };
        block / 4 * 15
    }

    /// Whether blocks are shorter than the format allows.
    pub(crate) fn is_short(self) -> bool {
        self != Self::default()
    }
}

impl StringBlocks {
    /// The number of strings in a run, at about `len` bytes each; `None` if blocks are as long as
    /// the format allows.
    pub(crate) fn run(&self, len: u64) -> Option<u64> {
        let bytes = self.most.run(self.symbols.is_some());
        let n = (bytes / len.max(1)).next_multiple_of(64).max(64);
        self.most.is_short().then_some(n)
    }

    /// Non-empty strings in a sample. Missing ones do not count.
    const SAMPLE: u64 = 512;
    /// The most samples that are taken if strings are missing.
    const LOOKS: u64 = 8;
    /// The most bytes of each string to train symbols, and of every fourth string to test them.
    /// Longer samples cut fewer symbols at their ends.
    const TO_TRAIN: usize = 128;
    const TO_TRY: usize = 512;
    /// The number of stretches of neighbouring strings to try codecs on, and bytes of each. Codecs
    /// that compress badly stop earlier.
    const STRETCHES: u64 = 4;
    const NEIGHBOURS: usize = 80 << 10;
    /// Columns with fewer bytes train symbols per run, because training for the whole column would
    /// take too long.
    const OWN: u64 = 32 << 20;

    pub(crate) fn of(array: &Array, of: Layout) -> Self {
        if !of.physical.is_var() || array.n_values() <= Self::SAMPLE {
            return Self::default();
        }
        let len = mean_string_len(array);
        if len * u64::from(MAX_BLOCK_VALUES) <= StringBlockLen::LONG {
            return Self::default();
        }
        let (n_repeated, [to_train, to_try]) = sample(array, of);
        let is_shared = len.saturating_mul(array.n_values()) >= Self::OWN;
        let symbols =
            is_shared.then(|| SymbolSamples { to_train, to_try, neighbours: neighbours(array, of, len) });
        Self {
            most: StringBlockLen::of(n_repeated),
            symbols: symbols.and_then(SharedSymbols::of).map(Arc::new),
        }
    }
}

/// Takes a sample of [`StringBlocks::SAMPLE`] non-empty strings. Returns the number of repeated
/// ones, and samples of them to train symbols and to test them.
fn sample(array: &Array, of: Layout) -> (usize, [Vec<u8>; 2]) {
    let mut scratch = Scratch::default();
    let (n, mut hashes, mut samples) = (array.n_values(), Vec::new(), [Vec::new(), Vec::new()]);
    let n_looks = (n / StringBlocks::SAMPLE).min(StringBlocks::LOOKS);
    for look in 0..n_looks {
        for i in 0..StringBlocks::SAMPLE {
            // One string from each of `SAMPLE` parts, at a hashed offset, because strings may
            // repeat at a regular distance.
            let (start, end) = (n * i / StringBlocks::SAMPLE, n * (i + 1) / StringBlocks::SAMPLE);
            let shift = (end - start) * look / n_looks;
            let at = start + (checksum(&i.to_le_bytes()) % (end - start) + shift) % (end - start);
            // Unreadable strings are reported when they are written.
            if scratch.load(array, of, at..at + 1).is_err() {
                return (0, samples);
            }
            if let (Values::Strings { bytes, .. }, _) = scratch.values(of, 1)
                && !bytes.is_empty()
            {
                hashes.push(checksum(bytes));
                let (of, most) =
                    if i / 8 % 4 == 3 { (1, StringBlocks::TO_TRY) } else { (0, StringBlocks::TO_TRAIN) };
                // Samples at eight positions, from the beginning of some strings to the end of
                // others.
                let from = bytes.len().saturating_sub(most) * (i % 8) as usize / 7;
                samples[of].extend_from_slice(&bytes[from..bytes.len().min(from + most)]);
            }
        }
        if hashes.len() as u64 >= StringBlocks::SAMPLE / 4 * 3 {
            break;
        }
    }
    let n_present = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    // With fewer strings, chance repetitions decrease by the square.
    let n_looked_at = StringBlocks::SAMPLE as usize;
    ((n_present - hashes.len()) * n_looked_at * n_looked_at / (n_present * n_present).max(1), samples)
}

/// Neighbouring strings of about `len` bytes each, from a few parts of a column.
fn neighbours(array: &Array, of: Layout, len: u64) -> Vec<Vec<u8>> {
    let (mut scratch, n) = (Scratch::default(), array.n_values());
    let mut load = |i: u64| {
        let at = n * (2 * i + 1) / (2 * StringBlocks::STRETCHES);
        let end = at + (StringBlocks::NEIGHBOURS as u64).div_ceil(len).min(n - at);
        let n = scratch.load(array, of, at..end).ok()?;
        let (Values::Strings { bytes, .. }, _) = scratch.values(of, n) else { return None };
        Some(bytes[..bytes.len().min(StringBlocks::NEIGHBOURS)].to_vec())
    };
    (0..StringBlocks::STRETCHES).map(|i| load(i).unwrap_or_default()).collect()
}

/// The mean length of an array's strings in bytes, from offsets or from 1,024 views per chunk.
pub(crate) fn mean_string_len(array: &Array) -> u64 {
    const SAMPLE: usize = 1024;
    let sampled = |n: usize, len: &dyn Fn(usize) -> Option<u32>| {
        let step = n.div_ceil(SAMPLE).max(1);
        let lens = (0..n).step_by(step).filter_map(len);
        lens.map(|len| u64::from(len.min(MAX_STRING as u32))).sum::<u64>() * step as u64
    };
    let (mut n_values, mut len) = (0u64, 0u64);
    for chunk in &array.chunks {
        let of_chunk = match &chunk.values {
            HostValues::Offsets32 { bytes, .. } | HostValues::Offsets64 { bytes, .. } => bytes.len() as u64,
            HostValues::Padded { width, .. } => (chunk.n * width) as u64,
            HostValues::Ucs4 { width, .. } => (chunk.n * (width / 4)) as u64,
            HostValues::Views { views, .. } => sampled(chunk.n, &|i| views.read(16 * i)),
            HostValues::Anywhere(views) => sampled(chunk.n, &|i| views.get(i).map(|(view, _)| view as u32)),
            HostValues::Encoded(_) => continue,
            HostValues::Owned(strings) => strings.text_len(),
            _ => 0,
        };
        n_values += chunk.n as u64;
        len = len.saturating_add(of_chunk);
    }
    len / n_values.max(1)
}

/// An upper bound for the bytes of an array's strings and their lengths; `None` if each string
/// would have to be examined.
pub(crate) fn max_string_len(array: &Array) -> Option<u64> {
    array.chunks.iter().try_fold(0u64, |sum, chunk| {
        let of_chunk = match &chunk.values {
            HostValues::Offsets32 { bytes, .. } | HostValues::Offsets64 { bytes, .. } => bytes.len() as u64,
            HostValues::Padded { width, .. } | HostValues::Ucs4 { width, .. } => {
                (chunk.n as u64).saturating_mul(*width as u64)
            }
            HostValues::Encoded(block) => return Some(sum + block.bytes().len() as u64),
            HostValues::Owned(strings) => strings.text_len(),
            _ => return None,
        };
        Some(sum.saturating_add(of_chunk).saturating_add(8 * chunk.n as u64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_long_texts_have_values_however_long_they_are() {
        for n_repeated in [0, 3, 4, 31] {
            let own = StringBlocks { most: StringBlockLen::of(n_repeated), symbols: None };
            for len in [0, 65, 400, 100_000, 3_932_161, 1 << 30] {
                let n = own.run(len).unwrap();
                assert!(n >= 64 && n.is_multiple_of(64));
                assert!(n == 64 || n * len < (16 << 20) + 64 * len, "{len}: {n}");
            }
        }
        assert_eq!(StringBlocks::default().run(400), None);
        // Runs with shared symbols are shorter if their blocks are.
        let run = |n_repeated, has_symbols| StringBlockLen::of(n_repeated).run(has_symbols);
        assert_eq!(
            (run(0, true), run(0, false), run(4, true)),
            (StringBlockLen::SHORT / 4 * 15, 15 << 20, 15 << 20)
        );
    }
}
