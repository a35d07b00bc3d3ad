//! The shortest time in which new memory can be filled.

use std::thread;
use std::time::Instant;

use entasis::Result;

use crate::array::{Array, buffer};

/// Bytes that a thread copies at once.
const PIECE: usize = 1 << 20;

/// The seconds that `n_threads` need to copy the bytes of the table into new memory of the kind
/// that a reader uses.
pub(super) fn seconds(table: &[Array], n_threads: usize) -> Result<f64> {
    let started = Instant::now();
    let mut copies = Vec::new();
    for source in table.iter().flat_map(Array::buffers) {
        copies.push((source, buffer(source.len())?));
    }
    let n_threads = n_threads.max(1);
    let mut shares: Vec<Vec<(&[u8], &mut [u8])>> = (0..n_threads).map(|_| Vec::new()).collect();
    let pieces = copies.iter_mut().flat_map(|(from, to)| from.chunks(PIECE).zip(to.chunks_mut(PIECE)));
    for (i, piece) in pieces.enumerate() {
        shares[i % n_threads].push(piece);
    }
    let copy = |share: Vec<(&[u8], &mut [u8])>| {
        for (from, to) in share {
            to.copy_from_slice(from);
        }
    };
    let own = shares.pop();
    thread::scope(|scope| {
        for share in shares {
            scope.spawn(move || copy(share));
        }
        own.into_iter().for_each(copy);
    });
    Ok(started.elapsed().as_secs_f64())
}
