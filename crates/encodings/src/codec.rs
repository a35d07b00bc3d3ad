//! The general codecs, one page at a time: LZ4 (block format) and Zstandard, with reused contexts.

use entasis_format::{Codec, Error, Result, fallible};
use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{CCtx, CParameter, DCtx};

use crate::lz4_block::{self, prepend_literals};

/// Zstandard levels that are tried together with a higher level.
const LOWER_LEVELS: [i32; 3] = [1, 12, 16];
/// The highest level that estimates use.
const HIGHEST_JUDGE: i32 = 12;
/// The size of a decoder of Zstandard, for messages.
const ZSTD_DECODER_LEN: usize = 96 << 10;
/// The error code of Zstandard when the system refuses memory.
const ZSTD_NO_MEMORY: usize = (ZSTD_ErrorCode::ZSTD_error_memory_allocation as usize).wrapping_neg();

/// The first `written` bytes of `spare` if the payload is longer, else the payload.
fn shorter<'a>(written: Option<usize>, spare: &'a [u8], payload: &'a [u8]) -> &'a [u8] {
    written.filter(|&n| n < payload.len()).map_or(payload, |n| &spare[..n])
}

/// Reusable contexts of the general codecs. Use one per thread: creating one costs more than
/// compressing a small page.
#[derive(Default)]
pub struct Codecs {
    lz4_tables: [Option<CompressTable>; 2],
    zstd_encoder: Option<(CCtx<'static>, i32)>,
    zstd_decoder: Option<DCtx<'static>>,
    spare: Vec<u8>,
    /// The frame of a second level.
    other: Vec<u8>,
    /// The output of the last trial, and the length of its input.
    trial: Vec<u8>,
    trial_of: usize,
    /// Memory for the payload of a page.
    pub(crate) payload: Vec<u8>,
}

impl Codecs {
    /// Creates no context yet: each is created at its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `payload` to `out`, compressed by `codec` if this is shorter, else unchanged.
    ///
    /// Returns the number of bytes appended. `payload.len()` means that the payload is stored
    /// unchanged.
    pub fn store(&mut self, codec: Codec, level: i32, payload: &[u8], out: &mut Vec<u8>) -> usize {
        let mut spare = std::mem::take(&mut self.spare);
        let mut written = self.compress(codec, level, payload, &mut spare);
        // A higher level gives some payloads a longer frame.
        for lower in LOWER_LEVELS.into_iter().filter(|&lower| codec == Codec::Zstd && lower < level) {
            let mut other = std::mem::take(&mut self.other);
            let n = self.compress(codec, lower, payload, &mut other);
            if n.is_some_and(|n| written.is_none_or(|written| n < written)) {
                written = n;
                std::mem::swap(&mut spare, &mut other);
            }
            self.other = other;
        }
        let stored = shorter(written, &spare, payload);
        out.extend_from_slice(stored);
        let len = stored.len();
        self.spare = spare;
        len
    }

    /// Appends `payload` compressed by LZ4, which reads only the bytes after the first `n`. The
    /// first bytes are dense (bit-packed): a search for matches would take longer than packing, and
    /// find nothing.
    pub(crate) fn store_after(&mut self, n: usize, payload: &[u8], out: &mut Vec<u8>) {
        let mut spare = std::mem::take(&mut self.spare);
        let at = out.len();
        let (before, behind) = payload.split_at(n);
        let written = self.compress_lz4(behind, &mut spare);
        let made = written.and_then(|len| prepend_literals(before, &spare[..len], out));
        if made.is_none() || out.len() - at >= payload.len() {
            out.truncate(at);
            out.extend_from_slice(payload);
        }
        self.spare = spare;
    }

    /// Approximately the number of bytes that [`store`](Self::store) would append. A lower level
    /// is used for high levels of Zstandard, so all high levels make the same choices.
    pub(crate) fn stored_len(&mut self, codec: Codec, level: i32, payload: &[u8]) -> usize {
        let mut spare = std::mem::take(&mut self.spare);
        let written = self.compress(codec, level.min(HIGHEST_JUDGE), payload, &mut spare);
        self.trial.clear();
        self.trial.extend_from_slice(shorter(written, &spare, payload));
        self.trial_of = payload.len();
        self.spare = spare;
        self.trial.len()
    }

    /// Estimates the ratio of an entropy coder after LZ4: the entropy of the last trial's output,
    /// as a fraction of the trial's input.
    pub(crate) fn entropy_of_trial(&self) -> f64 {
        entropy_len(&self.trial) as f64 / self.trial_of as f64
    }

    /// Compresses a payload into `spare`. `None` if that is impossible.
    fn compress(&mut self, codec: Codec, level: i32, payload: &[u8], spare: &mut Vec<u8>) -> Option<usize> {
        match codec {
            Codec::None => None,
            Codec::Lz4 => self.compress_lz4(payload, spare),
            Codec::Zstd => self.compress_zstd(level, payload, spare),
        }
    }

    fn compress_lz4(&mut self, payload: &[u8], spare: &mut Vec<u8>) -> Option<usize> {
        // Payloads below 64 KiB use a table of half the size, because the table is cleared for each
        // payload.
        let is_long = payload.len() >= usize::from(u16::MAX);
        let table = self.lz4_tables[usize::from(is_long)].get_or_insert_with(|| match is_long {
            true => CompressTable::large(),
            false => CompressTable::small(),
        });
        compress_into_with_table(payload, room(spare, get_maximum_output_size(payload.len())), table).ok()
    }

    fn compress_zstd(&mut self, level: i32, payload: &[u8], spare: &mut Vec<u8>) -> Option<usize> {
        if self.zstd_encoder.is_none() {
            self.zstd_encoder = Some((CCtx::try_create()?, 0));
        }
        let (context, of) = self.zstd_encoder.as_mut()?;
        if *of != level {
            context.set_parameter(CParameter::CompressionLevel(level)).ok()?;
            *of = level;
        }
        context.compress2(room(spare, zstd_safe::compress_bound(payload.len())), payload).ok()
    }

    /// Decompresses a payload of exactly `payload_len` bytes into `out`, whose old contents are
    /// dropped.
    ///
    /// # Errors
    /// *Corrupt* when the stored bytes do not decompress to exactly this length; *out of memory*.
    pub fn restore(
        &mut self,
        codec: Codec,
        stored: &[u8],
        payload_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        // Zeros instead of an earlier page: a decoder that writes less than it reports cannot
        // expose old bytes.
        out.clear();
        fallible::resize(out, payload_len, 0, "a page")?;
        let restored = self.restore_into(codec, stored, out);
        if restored.is_err() {
            out.clear();
        }
        restored
    }

    /// Decompresses a payload of exactly `out.len()` bytes. After an error the contents of `out`
    /// are unspecified.
    ///
    /// # Errors
    /// *Corrupt* when the stored bytes do not decompress to exactly this length; *out of memory*.
    pub fn restore_into(&mut self, codec: Codec, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let written = match codec {
            Codec::None => return Err(Error::corrupt("a page without a codec has two lengths")),
            Codec::Lz4 => lz4_block::restore(stored, out),
            Codec::Zstd => {
                if self.zstd_decoder.is_none() {
                    self.zstd_decoder = DCtx::try_create();
                }
                let no_memory = || Error::out_of_memory(ZSTD_DECODER_LEN, "a context of Zstandard");
                let context = self.zstd_decoder.as_mut().ok_or_else(no_memory)?;
                // The decoder would accept several frames and skip some, but the format allows only
                // one.
                let frame_len = zstd_safe::find_frame_compressed_size(stored).ok();
                if frame_len != Some(stored.len()) {
                    return Err(Error::corrupt(
                        "the codec can't restore a page: it is not one Zstandard frame",
                    ));
                }
                match context.decompress(out, stored) {
                    Err(code) if code == ZSTD_NO_MEMORY => return Err(no_memory()),
                    decompressed => decompressed.ok(),
                }
            }
        };
        if written == Some(out.len()) {
            Ok(())
        } else {
            Err(Error::corrupt("the codec can't restore a page"))
        }
    }
}

/// Estimated length of these bytes after order-0 entropy coding.
pub(crate) fn entropy_len(bytes: &[u8]) -> usize {
    let mut counts = [0u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let n = bytes.len() as f64;
    let bits = counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) * (n / f64::from(count)).log2());
    (bits.sum::<f64>() / 8.0) as usize
}

/// The first `len` bytes of a buffer. The buffer never shrinks, so it need not be cleared again.
fn room(memory: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if memory.len() < len {
        memory.resize(len, 0);
    }
    &mut memory[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_bytes_become_literals_before_the_matches() {
        let mut codecs = Codecs::new();
        let dense: Vec<u8> = (0..70_000u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        for n in [0, 1, 2, 14, 15, 16, 254, 255, 269, 270, 271, 510, 525, 8000, 70_000] {
            // The number of other bytes between the dense and the repeating bytes.
            for first in [0, 3, 15, 300] {
                let payload = [&dense[..n], &dense[dense.len() - first..], &[7; 2000]].concat();
                let mut stored = vec![1, 2];
                codecs.store_after(n, &payload, &mut stored);
                let stored = &stored[2..];
                assert!(stored.len() < n + n / 250 + first + 50, "{n} {first}: {}", stored.len());
                let mut back = Vec::new();
                codecs.restore(Codec::Lz4, stored, payload.len(), &mut back).unwrap();
                assert_eq!(back, payload);
            }
            // Nothing repeats, or nothing follows: the payload is stored unchanged.
            for behind in [0, 1, 100] {
                let mut stored = Vec::new();
                codecs.store_after(n, &dense[..(n + behind).min(dense.len())], &mut stored);
                assert_eq!(stored, dense[..(n + behind).min(dense.len())]);
            }
        }
    }

    #[test]
    fn stores_what_is_smaller_and_restores_it() {
        let repeating: Vec<u8> = (0..10_000u32).map(|i| (i % 7) as u8).collect();
        let mut state = 1u64;
        let mut noise = vec![0; 1000];
        noise.fill_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        });
        let mut codecs = Codecs::new();
        for codec in [Codec::Lz4, Codec::Zstd] {
            let mut stored = Vec::new();
            let len = codecs.store(codec, 3, &repeating, &mut stored);
            assert!(len == stored.len() && len < 1000, "{codec:?} {len}");
            let mut back = vec![9; 3];
            codecs.restore(codec, &stored, repeating.len(), &mut back).unwrap();
            assert_eq!(back, repeating);
            assert!(codecs.restore(codec, &stored, repeating.len() + 1, &mut back).is_err());
            assert!(codecs.restore(codec, &stored, repeating.len() - 1, &mut back).is_err());
            assert!(codecs.restore(codec, &stored[..len - 1], repeating.len(), &mut back).is_err());
            stored.clear();
            assert_eq!(codecs.store(codec, 3, &noise, &mut stored), noise.len());
            assert_eq!(stored, noise);
        }
    }

    #[test]
    fn the_entropy_of_a_trial_is_near_what_zstandard_makes() {
        let mut codecs = Codecs::new();
        // Sums of dice rolls. Every third stretch repeats an earlier one.
        let mut state = 1u64;
        let mut die = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 61) as u8
        };
        let sums: Vec<u8> = (0..16_384).map(|_| die() + die() + die()).collect();
        let payload: Vec<u8> =
            (0..sums.len()).map(|i| sums[if i / 64 % 3 == 0 { i % 64 } else { i }]).collect();
        let len = payload.len() as f64;
        let by_lz4 = codecs.stored_len(Codec::Lz4, 0, &payload) as f64;
        let expected = codecs.entropy_of_trial() * len;
        let by_zstd = codecs.stored_len(Codec::Zstd, 1, &payload) as f64;
        assert!(by_zstd < by_lz4 && (expected / by_zstd - 1.0).abs() < 0.2, "{by_lz4} {expected} {by_zstd}");
        assert_eq!(entropy_len(&[7; 1000]), 0);
        assert_eq!(entropy_len(&(0..=255).collect::<Vec<u8>>()), 256);
    }
}
