//! From stored bytes to the body, and validity.

use super::bytes::{Cursor, Kind, Wrong, checksum, rule, wrong};
use super::lz4;

/// The largest payload that is decoded, so that tests on hostile files stay small.
const LIMIT: u32 = 64 << 20;

/// The payload of stored bytes.
///
/// # Errors
/// *Corrupt*; *limit* for payloads above 64 MiB.
pub fn payload(stored: &[u8], payload_len: u32, sum: u64, codec: u8) -> Result<Vec<u8>, Wrong> {
    rule(checksum(stored) == sum, "the checksum of stored bytes")?;
    if stored.len() == payload_len as usize {
        return Ok(stored.to_vec());
    }
    rule(codec != 0 && stored.len() < payload_len as usize, "the stored length")?;
    if payload_len > LIMIT {
        return wrong(Kind::Limit, "a payload of more than 64 MiB");
    }
    restored(stored, payload_len as usize, codec)
}

/// The `len` bytes that a codec gives.
///
/// # Errors
/// *Corrupt*.
pub fn restored(stored: &[u8], len: usize, codec: u8) -> Result<Vec<u8>, Wrong> {
    const WRONG: &str = "what the codec gives";
    if codec == 1 {
        return lz4::block(stored, len).map_or_else(|| wrong(Kind::Corrupt, WRONG), Ok);
    }
    one_frame(stored)?;
    let mut out = vec![0; len];
    let n = zstd_safe::decompress(out.as_mut_slice(), stored).ok();
    rule(n == Some(len), WRONG)?;
    Ok(out)
}

/// Checks that bytes are one Zstandard frame and nothing more.
///
/// # Errors
/// *Corrupt*.
pub fn one_frame(stored: &[u8]) -> Result<(), Wrong> {
    let len = zstd_safe::find_frame_compressed_size(stored).ok();
    rule(len == Some(stored.len()), "one Zstandard frame")
}

/// Takes the validity of `n` values from a payload.
///
/// # Errors
/// *Corrupt*.
pub fn validity(payload: &mut Cursor<'_>, n: usize) -> Result<Vec<bool>, Wrong> {
    match payload.word(1)? {
        0 => Ok(vec![true; n]),
        1 => bits(payload, n),
        2 => Ok(vec![false; n]),
        3 => {
            let mut valid = vec![true; n];
            let count = payload.word(2)? as usize;
            rule((1..=n).contains(&count), "the count of sparse validity")?;
            let mut last = None;
            for _ in 0..count {
                let position = payload.word(2)? as usize;
                rule(position < n && last < Some(position), "positions of sparse validity ascend")?;
                valid[position] = false;
                last = Some(position);
            }
            Ok(valid)
        }
        _ => wrong(Kind::Unsupported, "the kind of validity"),
    }
}

/// Takes one bit per value. Unused bits are zero.
///
/// # Errors
/// *Corrupt*.
pub fn bits(payload: &mut Cursor<'_>, n: usize) -> Result<Vec<bool>, Wrong> {
    let bytes = payload.take(n.div_ceil(8))?;
    let bit = |i: usize| bytes[i / 8] >> (i % 8) & 1 == 1;
    for i in n..8 * bytes.len() {
        rule(!bit(i), "unused bits are zero")?;
    }
    Ok((0..n).map(bit).collect())
}

/// Undoes filter 1, which stores byte 0 of all words, then byte 1 of all words, and so on.
pub fn unshuffle(body: &[u8], width: usize) -> Vec<u8> {
    let n = body.len() / width;
    let mut out = vec![0; body.len()];
    for byte in 0..width {
        for i in 0..n {
            out[i * width + byte] = body[byte * n + i];
        }
    }
    out
}
