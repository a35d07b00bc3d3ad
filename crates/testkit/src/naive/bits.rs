//! The bits in a vector.

use super::bytes::{Cursor, Wrong, rule};

/// Takes the bits of a vector of `m` values from the payload.
///
/// # Errors
/// *Corrupt*.
pub fn vector(payload: &mut Cursor<'_>, m: usize, width: u32) -> Result<Vec<u128>, Wrong> {
    if m < 1024 { partial(payload, m, width) } else { full(payload, width) }
}

/// The layout of 1,024 values: interleaved lanes.
fn full(payload: &mut Cursor<'_>, width: u32) -> Result<Vec<u128>, Wrong> {
    let width = width as usize;
    let bytes = payload.take(128 * width)?;
    let lane_bits = [8, 16, 32, 64].into_iter().find(|&bits| bits >= width).unwrap_or(64);
    let n_lanes = 1024 / lane_bits;
    let mut values = Vec::new();
    for i in 0..1024 {
        let (lane, row) = (i % n_lanes, i / n_lanes);
        let mut value = 0;
        for b in 0..width {
            let at = row * width + b;
            let (word, bit) = (at / lane_bits, at % lane_bits);
            let byte = (word * n_lanes + lane) * (lane_bits / 8) + bit / 8;
            value |= u128::from(bytes[byte] >> (bit % 8) & 1) << b;
        }
        values.push(value);
    }
    Ok(values)
}

/// The layout of any number of values: one stream of bits.
///
/// # Errors
/// *Corrupt*.
pub fn partial(payload: &mut Cursor<'_>, m: usize, width: u32) -> Result<Vec<u128>, Wrong> {
    let width = width as usize;
    let bytes = payload.take((m * width).div_ceil(8))?;
    let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1;
    let mut values = Vec::new();
    for i in 0..m {
        let mut value = 0;
        for b in 0..width {
            value |= u128::from(bit(i * width + b)) << b;
        }
        values.push(value);
    }
    for at in m * width..8 * bytes.len() {
        rule(bit(at) == 0, "unused bits of a vector are zero")?;
    }
    Ok(values)
}
