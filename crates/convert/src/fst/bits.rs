//! Values from their forms in blocks.

use super::decoder::Form;

/// The order of 8 values in a plane of words of 4 bytes, and of codes in 8 bytes.
const ORDER_8: [usize; 8] = [6, 4, 2, 0, 7, 5, 3, 1];
/// The order of 4 codes of two bytes.
const ORDER_4: [usize; 4] = [2, 0, 3, 1];
/// A missing value.
const NA: i32 = i32::MIN;

/// Values as in memory. `stored` has the length that belongs to `into`.
pub(super) fn unpack(stored: &[u8], form: Form, into: &mut [u8]) {
    match form {
        Form::Plain => into.copy_from_slice(stored),
        Form::Planes4 => planes_4(stored, into),
        Form::Planes8 => planes_8(stored, into),
        Form::Logicals => logicals(stored, into),
        Form::Bytes => bytes(stored, into),
        Form::Shorts => shorts(stored, into),
    }
}

/// Planes from the most significant byte down, each with 8 bytes for 8 words.
fn planes_8(stored: &[u8], into: &mut [u8]) {
    let (groups, rest) = into.as_chunks_mut::<64>();
    let n = groups.len();
    let (planes, tail) = stored.split_at(n * 64);
    let (planes, _) = planes.as_chunks::<8>();
    for (i, group) in groups.iter_mut().enumerate() {
        let plane: [&[u8; 8]; 8] = std::array::from_fn(|p| &planes[p * n + i]);
        let (words, _) = group.as_chunks_mut::<8>();
        for (j, word) in words.iter_mut().enumerate() {
            *word = std::array::from_fn(|byte| plane[7 - byte][7 - j]);
        }
    }
    rest.copy_from_slice(tail);
}

/// The same for words of 4 bytes, in another order.
fn planes_4(stored: &[u8], into: &mut [u8]) {
    let (groups, rest) = into.as_chunks_mut::<32>();
    let n = groups.len();
    let (planes, tail) = stored.split_at(n * 32);
    let (planes, _) = planes.as_chunks::<8>();
    for (i, group) in groups.iter_mut().enumerate() {
        let plane: [&[u8; 8]; 4] = std::array::from_fn(|p| &planes[p * n + i]);
        let (words, _) = group.as_chunks_mut::<4>();
        for (j, &to) in ORDER_8.iter().enumerate() {
            words[to] = std::array::from_fn(|byte| plane[3 - byte][j]);
        }
    }
    rest.copy_from_slice(tail);
}

/// 32 logicals in two halves: those with even and with odd numbers. Values are from the lowest bit
/// up, missing ones from the highest bit down.
fn logicals(stored: &[u8], into: &mut [u8]) {
    let (words, _) = into.as_chunks_mut::<4>();
    let (halves, _) = stored.as_chunks::<4>();
    for (group, halves) in words.chunks_mut(32).zip(halves.chunks(2)) {
        for (i, word) in group.iter_mut().enumerate() {
            let half = u32::from_le_bytes(halves[i % 2]);
            let (value, missing) = (half >> (i / 2) & 1, half >> (31 - i / 2) & 1);
            *word = (value as i32 & (missing as i32 - 1) | (missing << 31) as i32).to_le_bytes();
        }
    }
}

/// Codes of 7 bits, the last bit for missing ones.
fn bytes(stored: &[u8], into: &mut [u8]) {
    let (words, _) = into.as_chunks_mut::<4>();
    let (groups, _) = stored.as_chunks::<8>();
    let code = |byte: u8| (if byte & 0x80 == 0 { i32::from(byte) } else { NA }).to_le_bytes();
    for (words, group) in words.chunks_mut(8).zip(groups) {
        match words {
            [_, _, _, _, _, _, _, _] => {
                for (&byte, &to) in group.iter().zip(&ORDER_8) {
                    words[to] = code(byte);
                }
            }
            _ => {
                for (&byte, &to) in group.iter().zip(&ORDER_8) {
                    if let Some(word) = words.get_mut(to) {
                        *word = code(byte);
                    }
                }
            }
        }
    }
}

/// Codes of 15 bits.
fn shorts(stored: &[u8], into: &mut [u8]) {
    let (words, _) = into.as_chunks_mut::<4>();
    let (codes, _) = stored.as_chunks::<2>();
    for (words, group) in words.chunks_mut(4).zip(codes.chunks(4)) {
        for (&code, &to) in group.iter().zip(&ORDER_4) {
            let code = u16::from_le_bytes(code);
            let code = if code & 0x8000 == 0 { i32::from(code) } else { NA };
            if let Some(word) = words.get_mut(to) {
                *word = code.to_le_bytes();
            }
        }
    }
}
