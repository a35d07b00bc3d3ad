//! Bit-packed frame of reference (packing 2), with patches for values that do not fit.

use entasis_kernels::{VECTOR, Word, bitpack, column_stats};

use crate::words::{Order, bits_of, put};

/// Appends the body of a page with one base and one width. `exceptions` are the ascending positions
/// of words that are replaced by the values at the same positions of `physical`; they must include
/// all words that exceed the width. Returns the bytes of these values, which come last.
pub(crate) fn emit<T: Word, V: Word>(
    words: &[T],
    base: T,
    width: u32,
    patches: Option<(&[u16], &[V])>,
    out: &mut Vec<u8>,
) -> usize {
    if let Some((exceptions, _)) = patches {
        let mut rest = exceptions;
        for end in (VECTOR..words.len() + VECTOR).step_by(VECTOR) {
            let count = rest.partition_point(|&at| usize::from(at) < end);
            rest = &rest[count..];
            out.extend_from_slice(&narrow(count).to_le_bytes());
        }
    }
    for vector in words.chunks(VECTOR) {
        bitpack::pack(vector, base, width, out);
    }
    if let Some((exceptions, physical)) = patches {
        for &at in exceptions {
            out.extend_from_slice(&narrow(usize::from(at) % VECTOR).to_le_bytes());
        }
        for &at in exceptions {
            put(physical[usize::from(at)], out);
        }
    }
    patches.map_or(0, |(exceptions, _)| exceptions.len() * size_of::<V>())
}

/// Appends the body of a page with a base and a width per vector.
pub(crate) fn emit_per_vector<T: Word>(words: &[T], order: Order, out: &mut Vec<u8>) {
    let mut bits = Vec::new();
    for vector in words.chunks(VECTOR) {
        let (min, max) = order.min_max(vector);
        let width = bits_of(max.wrapping_sub(min));
        put(min, out);
        out.push(u8::try_from(width).expect("at most 64 bits"));
        bitpack::pack(vector, min, width, &mut bits);
    }
    out.extend_from_slice(&bits);
}

/// Words that are tested together.
const BATCH: usize = 256;

/// Adds the positions of words that exceed `width` bits to the ascending positions in `exceptions`.
pub(crate) fn add_outliers<T: Word>(words: &[T], base: T, width: u32, exceptions: &mut Vec<u16>) {
    if width >= T::BITS {
        return;
    }
    let before = exceptions.len();
    let is_outside = |&word: &T| word.wrapping_sub(base).to_u64() >> width != 0;
    for (i, batch) in words.chunks(BATCH).enumerate() {
        // Most batches have no such word, which a single test of the batch shows.
        if column_stats::max_bits(batch, base) <= width {
            continue;
        }
        let outside = batch.iter().enumerate().filter(|(_, word)| is_outside(word));
        exceptions.extend(outside.map(|(at, _)| narrow(i * BATCH + at)));
    }
    if before > 0 && exceptions.len() > before {
        exceptions.sort_unstable();
        exceptions.dedup();
    }
}

fn narrow(n: usize) -> u16 {
    u16::try_from(n).expect("a page has at most 8,192 values")
}
