//! LZ4 blocks, by the rules of the block format. End-of-block rules bind readers too.

/// The last bytes of a block are literals, and its last match begins before the last twelve.
const LAST_LITERALS: usize = 5;
const LAST_MATCH: usize = 12;
/// The length of the shortest match.
const MATCH: usize = 4;

/// Decodes a block that holds `len` bytes; `None` if it breaks a rule.
pub fn block(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut bytes = bytes.iter().copied();
    let mut out = Vec::new();
    loop {
        let token = bytes.next()?;
        for _ in 0..length(token >> 4, &mut bytes)? {
            out.push(bytes.next()?);
        }
        if out.len() > len {
            return None;
        }
        let Some(low) = bytes.next() else { break };
        let offset = usize::from(low) | usize::from(bytes.next()?) << 8;
        let start = out.len();
        let n = length(token & 15, &mut bytes)? + MATCH;
        if offset == 0 || offset > start || start + LAST_MATCH > len || start + n + LAST_LITERALS > len {
            return None;
        }
        for at in start - offset..start - offset + n {
            out.push(out[at]);
        }
    }
    (out.len() == len).then_some(out)
}

fn length(half: u8, bytes: &mut impl Iterator<Item = u8>) -> Option<usize> {
    let mut length = usize::from(half);
    if half == 15 {
        loop {
            let more = bytes.next()?;
            length += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    Some(length)
}
