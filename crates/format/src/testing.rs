//! What tests of several files share.

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

/// A record without a checksum of its own: it comes back, every other length is refused, and what parses after a bit
/// has flipped emits just those bytes.
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
