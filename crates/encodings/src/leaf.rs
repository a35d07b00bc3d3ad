//! Compressed leaves of sections (`docs/format/container.md`): LZ4, after a byte shuffle of records
//! with several fields.

use entasis_format::{Codec, Error, Filter, Part, Result, fallible};
use entasis_kernels::shuffle::{shuffle, unshuffle};

use crate::codec::Codecs;

/// The use of the memory, in messages.
const LEAF: &str = "a part of a section";

/// Compresses the leaves of a section.
pub struct LeafEncoder<'a> {
    codecs: &'a mut Codecs,
    record_len: usize,
    filter: Filter,
    planes: Vec<u8>,
}

impl<'a> LeafEncoder<'a> {
    /// For records of this length.
    pub fn new(codecs: &'a mut Codecs, filter: Filter, record_len: u32) -> Self {
        Self { codecs, record_len: record_len as usize, filter, planes: Vec::new() }
    }

    /// Appends the stored bytes of a leaf to `out` if they are at least an eighth fewer. Otherwise
    /// returns false and leaves `out` unchanged.
    pub fn store(&mut self, leaf: &[u8], out: &mut Vec<u8>) -> bool {
        let payload = match self.filter {
            Filter::None => leaf,
            Filter::Shuffle => {
                self.planes.clear();
                if !shuffle(leaf, self.record_len, &mut self.planes) {
                    return false;
                }
                &self.planes
            }
        };
        let start = out.len();
        let stored_len = self.codecs.store(Codec::Lz4, 0, payload, out);
        let saves = stored_len <= leaf.len() - leaf.len().div_ceil(8);
        if !saves {
            out.truncate(start);
        }
        saves
    }
}

/// Restores the bytes of a section part from its stored bytes, whose checksum the caller must have
/// checked.
///
/// # Errors
/// *Corrupt* when LZ4 does not decode to exactly the bytes of the part.
pub fn restore_part(part: &Part, stored: Vec<u8>) -> Result<Vec<u8>> {
    if !part.is_compressed() {
        return Ok(stored);
    }
    let mut payload = fallible::defaults(part.len as usize, LEAF)?;
    Codecs::new()
        .restore_into(Codec::Lz4, &stored, &mut payload)
        .map_err(|_| Error::corrupt("LZ4 can't restore a part of a section"))?;
    if part.shuffle_len == 0 {
        return Ok(payload);
    }
    let mut bytes = fallible::defaults(payload.len(), LEAF)?;
    if unshuffle(&payload, part.shuffle_len as usize, &mut bytes) {
        Ok(bytes)
    } else {
        Err(Error::corrupt("the length of a shuffled part of a section is not that of whole records"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(stored: &[u8], len: usize, shuffle_len: u32) -> Part {
        Part { at: 0, len: len as u32, stored_len: stored.len() as u32, checksum: 0, shuffle_len }
    }

    #[test]
    fn leaves_come_back() {
        let mut codecs = Codecs::new();
        for (filter, record_len, shuffle_len) in [
            (Filter::None, 1, 0),
            (Filter::None, 104, 0),
            (Filter::Shuffle, 104, 104),
            (Filter::Shuffle, 8, 8),
        ] {
            for n in [1, 2, 77, 630] {
                // A first byte that changes after every nine records; all other bytes are equal.
                let byte = |i: usize, k: usize| if k == 0 { (i / 9) as u8 } else { 3 };
                let record = |i: usize| (0..record_len as usize).map(move |k| byte(i, k));
                let leaf: Vec<u8> = (0..n).flat_map(record).collect();
                let mut out = vec![9];
                let mut encoder = LeafEncoder::new(&mut codecs, filter, record_len);
                if encoder.store(&leaf, &mut out) {
                    let part = part(&out[1..], leaf.len(), shuffle_len);
                    assert!(part.is_compressed());
                    assert_eq!(restore_part(&part, out[1..].to_vec()).unwrap(), leaf);
                    for len in 0..out.len() - 1 {
                        assert!(restore_part(&part, out[1..=len].to_vec()).is_err(), "{len}");
                    }
                } else {
                    assert!(leaf.len() < 100);
                    assert_eq!(out, [9]);
                }
            }
        }
    }

    #[test]
    fn noise_stays_as_it_is() {
        let mut state = 1u64;
        let noise: Vec<u8> = (0..65_536)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let mut codecs = Codecs::new();
        let mut out = Vec::new();
        assert!(!LeafEncoder::new(&mut codecs, Filter::Shuffle, 16).store(&noise, &mut out));
        assert!(!LeafEncoder::new(&mut codecs, Filter::None, 1).store(&noise, &mut out));
        // A shuffle needs records of two bytes.
        assert!(!LeafEncoder::new(&mut codecs, Filter::Shuffle, 1).store(&[0; 9000], &mut out));
        assert!(out.is_empty());
    }

    #[test]
    fn no_whole_records() {
        let mut codecs = Codecs::new();
        let mut stored = Vec::new();
        assert!(LeafEncoder::new(&mut codecs, Filter::None, 1).store(&[7; 1000], &mut stored));
        assert!(restore_part(&part(&stored, 1000, 16), stored.clone()).is_err());
        assert!(restore_part(&part(&stored, 1000, 1), stored.clone()).is_err());
        assert!(restore_part(&part(&stored, 1001, 0), stored.clone()).is_err());
        assert_eq!(restore_part(&part(&stored, 1000, 0), stored).unwrap(), [7; 1000]);
    }
}
