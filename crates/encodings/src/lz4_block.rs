//! Blocks of LZ4: sequences of a token, literals and a match.

/// A length of 15 in a token continues in further bytes, up to the first one that is not 255.
const CONTINUED: usize = 15;

/// Decodes a block of LZ4 without a frame. Returns the length of the output; `None` for a block
/// that is not valid, or longer than `out`.
pub fn restore(block: &[u8], out: &mut [u8]) -> Option<usize> {
    /// The longest block of the C library, which is several times as fast with short matches.
    const LONGEST: usize = 0x7E00_0000;
    match i32::try_from(out.len()) {
        Ok(len) if out.len().max(block.len()) <= LONGEST => {
            if has_zero_offset(block) {
                return None;
            }
            lz4::block::decompress_to_buffer(block, Some(len), out).ok()
        }
        _ => lz4_flex::block::decompress_into(block, out).ok(),
    }
}

/// Whether a match has the offset 0. The C library writes zeros for it.
fn has_zero_offset(block: &[u8]) -> bool {
    let mut rest = block;
    while let Some((token, behind)) = rest.split_first() {
        rest = behind;
        let Some(literals) = length(token >> 4, &mut rest) else { return false };
        rest = rest.get(literals..).unwrap_or_default();
        match rest.split_first_chunk() {
            None => return false,
            Some(([0, 0], _)) => return true,
            Some(([_, _], behind)) => rest = behind,
        }
        if length(token & 15, &mut rest).is_none() {
            return false;
        }
    }
    false
}

/// The length that begins in half of a token. Moves `rest` past the bytes that continue it.
fn length(half: u8, rest: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(half);
    if length == CONTINUED {
        loop {
            let (&more, behind) = rest.split_first()?;
            *rest = behind;
            length += usize::from(more);
            if more < u8::MAX {
                break;
            }
        }
    }
    Some(length)
}

/// Appends a block that decodes to `before` followed by the contents of `block`. `before` becomes
/// additional literals of the first sequence. Match offsets are relative, so the sequences of
/// `block` stay valid.
pub(crate) fn prepend_literals(before: &[u8], block: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (&token, mut rest) = block.split_first()?;
    let n = length(token >> 4, &mut rest)? + before.len();
    out.push((n.min(CONTINUED) as u8) << 4 | token & 15);
    if let Some(more) = n.checked_sub(CONTINUED) {
        out.resize(out.len() + more / 255, u8::MAX);
        out.push((more % 255) as u8);
    }
    out.extend_from_slice(before);
    out.extend_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_zero_are_refused() {
        // Four literals, a match of 20 bytes at a distance, and the last eight literals.
        let block = |offset: u8| [&[0x4F, 1, 2, 3, 4, offset, 0, 1][..], &[0x80], &[9; 8]].concat();
        let mut out = [7; 32];
        assert_eq!(restore(&block(4), &mut out), Some(32));
        assert_eq!(out[..12], [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!((restore(&block(0), &mut out), restore(&block(5), &mut out)), (None, None));
        assert_eq!(restore(&block(4), &mut [0; 31]), None);
        for end in 0..block(4).len() {
            assert_ne!(restore(&block(4)[..end], &mut out), Some(32), "{end}");
        }
    }
}
