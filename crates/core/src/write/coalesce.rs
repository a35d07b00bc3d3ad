//! Coalesces writes, so that a file is written in units of [`WRITE_UNIT`] bytes.

use std::ops::Range;

use entasis_io::WRITE_UNIT;

/// Bytes that are not written yet. They end at an offset in the file.
#[derive(Default)]
pub(super) struct Coalescer(Vec<u8>);

/// A write that is due: `front`, then the part `direct` of the bytes passed to [`Coalescer::take`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// The offset of `front` in the file.
    pub at: u64,
    pub front: Vec<u8>,
    pub direct: Range<usize>,
}

impl Coalescer {
    /// Takes `bytes` for offset `at`, the end of the held bytes. Returns the whole units to write,
    /// and holds the rest.
    pub fn take(&mut self, at: u64, bytes: &[u8]) -> Option<Due> {
        let from = at - self.0.len() as u64;
        let end = at + bytes.len() as u64;
        let cut = end - end % WRITE_UNIT as u64;
        if cut < at || cut <= from {
            self.0.extend_from_slice(bytes);
            return None;
        }
        let now = (cut - at) as usize;
        // Bytes that complete the unit of the held bytes.
        let first =
            if self.0.is_empty() { 0 } else { (at.next_multiple_of(WRITE_UNIT as u64) - at) as usize };
        // Room for a whole unit, because most of it will follow.
        let mut rest = Vec::with_capacity(WRITE_UNIT);
        rest.extend_from_slice(&bytes[now..]);
        let mut front = std::mem::replace(&mut self.0, rest);
        front.extend_from_slice(&bytes[..first]);
        Some(Due { at: from, front, direct: first..now })
    }

    /// Skips `n` bytes, which read as zeros. Writes zeros only if bytes are held.
    pub fn skip(&mut self, n: usize) {
        if !self.0.is_empty() {
            self.0.resize(self.0.len() + n, 0);
        }
    }

    /// The number of held bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Hands over the held bytes to be written.
    pub fn release(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes bytes with these lengths. Returns the file's bytes, and the range of each write.
    fn written(start: u64, lengths: &[usize]) -> (Vec<u8>, Vec<Range<u64>>) {
        let (mut coalescer, mut at) = (Coalescer::default(), start);
        let (mut file, mut writes) = (vec![0; start as usize], Vec::new());
        let mut write = |at: u64, bytes: &[u8]| {
            assert_eq!(at, file.len() as u64);
            file.extend_from_slice(bytes);
            writes.push(at..at + bytes.len() as u64);
        };
        let mut byte = 0u8;
        for &n in lengths {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                byte = byte.wrapping_mul(5).wrapping_add(1);
                byte
            })
            .take(n)
            .collect();
            if let Some(due) = coalescer.take(at, &bytes) {
                assert!(due.front.len() < 2 * WRITE_UNIT);
                if !due.front.is_empty() {
                    write(due.at, &due.front);
                }
                write(due.at + due.front.len() as u64, &bytes[due.direct]);
            }
            at += n as u64;
            assert!(coalescer.len() < 2 * WRITE_UNIT);
        }
        let rest = coalescer.release();
        write(at - rest.len() as u64, &rest);
        (file, writes)
    }

    #[test]
    fn all_bytes_are_written_in_whole_units() {
        let unit = WRITE_UNIT;
        for start in [256, 0, 77] {
            for lengths in [
                vec![100, 200, 300],
                vec![25_118; 20],
                vec![unit],
                vec![unit - 256, unit, 1],
                vec![5, 3 * unit, 7, 0, unit - 1, unit + 1],
                vec![10 * unit + 9, 1, 10 * unit],
            ] {
                let (file, writes) = written(start, &lengths);
                let all: usize = lengths.iter().sum();
                let expected = written(start, &[all]).0;
                assert!(file == expected && file.len() == start as usize + all);
                // All writes but the last one end at a multiple of the unit.
                for write in &writes[..writes.len() - 1] {
                    assert_eq!(write.end % unit as u64, 0);
                }
            }
        }
    }

    #[test]
    fn zeros_count_where_something_is_held() {
        let mut coalescer = Coalescer::default();
        coalescer.skip(5);
        assert_eq!(coalescer.len(), 0);
        assert_eq!(coalescer.take(100, b"abc"), None);
        coalescer.skip(25);
        assert_eq!(coalescer.take(128, b"d"), None);
        assert_eq!(coalescer.release(), [b"abc".as_slice(), &[0; 25], b"d"].concat());
    }
}
