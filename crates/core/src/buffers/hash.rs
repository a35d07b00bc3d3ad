//! The hash of a buffer (`docs/format/buffers.md`): a hash of the hashes of its leaves, computed by
//! threads.

use entasis_format::{Error, Result, fallible};
use entasis_kernels::hash::{of_host, of_slice};

use super::{Input, worthwhile};
use crate::monitor::{Control, Monitor};
use crate::threads::run;

/// Bytes of a leaf. The hash of a buffer with at most one leaf is its XXH3-64.
pub const LEAF_LEN: usize = 1 << 20;
/// The use of the memory, in messages.
const LEAVES: &str = "the hashes of the leaves";
/// Bytes that justify one more thread. Hashing them takes about a quarter of a millisecond.
const LEN_EACH: usize = 8 << 20;

/// The hash of bytes. It does not depend on the number of threads.
///
/// # Errors
/// *Interrupted*.
pub fn hash(input: Input<'_>, seed: u64, threads: Option<usize>, monitor: &dyn Monitor) -> Result<u64> {
    if input.len() <= LEAF_LEN {
        return leaf(input, 0, input.len(), seed);
    }
    let mut leaves: Vec<u64> = fallible::with_capacity(input.len().div_ceil(LEAF_LEN) + 1, LEAVES)?;
    leaves.resize(input.len().div_ceil(LEAF_LEN), 0);
    let control = Control::new(monitor, input.len() as u64);
    run(
        fallible::collect(leaves.iter_mut().enumerate(), LEAVES)?,
        worthwhile(threads, input.len(), LEN_EACH),
        &control,
        || (),
        |(), (i, hash)| {
            let at = i * LEAF_LEN;
            let len = (input.len() - at).min(LEAF_LEN);
            *hash = leaf(input, at, len, seed)?;
            control.advance(len as u64);
            Ok(())
        },
    )?;
    let mut root = fallible::with_capacity((leaves.len() + 1) * 8, LEAVES)?;
    leaves.push(input.len() as u64);
    leaves.iter().for_each(|word| root.extend_from_slice(&word.to_le_bytes()));
    Ok(of_slice(&root, seed))
}

/// The XXH3-64 of `len` bytes.
fn leaf(input: Input<'_>, at: usize, len: usize, seed: u64) -> Result<u64> {
    let hash = match input {
        Input::Slice(bytes) => bytes.get(at..at + len).map(|leaf| of_slice(leaf, seed)),
        Input::Host(host) => host.sub(at, len).map(|leaf| of_host(leaf, seed)),
    };
    hash.ok_or_else(|| Error::argument("the input became shorter"))
}
