//! Bytes in memory, compressed, decompressed and hashed by several threads (`docs/format/buffers.md`). No columns, no files.

mod compress;
mod container;
mod decompress;
mod hash;

pub use compress::{Compressed, Options, compress};
pub use container::MAX_BLOCK_LEN;
pub use decompress::{Container, decompress};
pub use entasis_kernels::memory::ask_for_huge_pages;
pub use hash::{LEAF_LEN, hash};

use entasis_kernels::HostRead;

/// The bytes that a call works on.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Bytes that nobody changes: they are used where they are.
    Slice(&'a [u8]),
    /// Bytes that their host may change meanwhile: they are copied a block at a time, so that what was checked is what is used.
    Host(HostRead),
}

impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Slice(bytes)
    }
}

impl From<HostRead> for Input<'_> {
    fn from(host: HostRead) -> Self {
        Self::Host(host)
    }
}

impl<'a> Input<'a> {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Slice(bytes) => bytes.len(),
            Self::Host(host) => host.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `len` bytes from byte `at` on, through `scratch` where needed; none when they don't lie inside.
    fn part<'s>(&self, at: usize, len: usize, scratch: &'s mut Vec<u8>) -> Option<&'s [u8]>
    where
        'a: 's,
    {
        match self {
            Self::Slice(bytes) => bytes.get(at..at.checked_add(len)?),
            Self::Host(host) => {
                if scratch.len() < len {
                    scratch.resize(len, 0);
                }
                let part = &mut scratch[..len];
                host.copy_to(at, part).then_some(part)
            }
        }
    }

    /// Copies bytes from byte `at` on; false when they don't lie inside.
    fn copy_to(&self, at: usize, out: &mut [u8]) -> bool {
        match self {
            Self::Slice(bytes) => {
                let part = at.checked_add(out.len()).and_then(|end| bytes.get(at..end));
                part.map(|part| out.copy_from_slice(part)).is_some()
            }
            Self::Host(host) => host.copy_to(at, out),
        }
    }
}

/// The threads to start: as many as asked for, as far as each gets `len_each` bytes.
fn worthwhile(threads: Option<usize>, len: usize, len_each: usize) -> usize {
    threads.unwrap_or_else(crate::threads::default_threads).min(len / len_each).max(1)
}
