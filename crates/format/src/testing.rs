//! Helpers for the tests of several files.

use std::fmt::Debug;

use crate::error::Result;

/// Every copy of these bytes with one bit flipped.
pub(crate) fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}

/// Tests a record without a checksum: it parses back, every other length is refused, and bytes with
/// a flipped bit either fail or are emitted unchanged.
pub(crate) fn exact<T: PartialEq + Debug>(
    record: &T,
    emit: impl Fn(&T, &mut Vec<u8>),
    parse: impl Fn(&[u8]) -> Result<T>,
) {
    let emitted = |record: &T| {
        let mut out = Vec::new();
        emit(record, &mut out);
        out
    };
    let bytes = emitted(record);
    assert_eq!(&parse(&bytes).unwrap(), record);
    for len in 0..bytes.len() {
        assert!(parse(&bytes[..len]).is_err());
    }
    assert!(parse(&[&bytes[..], &[0]].concat()).is_err());
    for flipped in flips(&bytes) {
        if let Ok(other) = parse(&flipped) {
            assert_eq!(emitted(&other), flipped);
        }
    }
}
