//! Compresses, decompresses and hashes bytes in memory on several threads
//! (`docs/format/buffers.md`). Knows neither columns nor files.

mod compress;
mod container;
mod decompress;
mod hash;

pub use compress::{Compressed, Options, compress};
pub use container::MAX_BLOCK_LEN;
use container::damaged;
pub use decompress::{Container, decompress};
pub use entasis_platform::memory::ask_for_huge_pages;
pub use hash::{LEAF_LEN, hash};

use entasis_format::{Result, fallible};
use entasis_platform::HostRead;

/// The bytes that a call works on.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Bytes that nobody changes. They are used in place.
    Slice(&'a [u8]),
    /// Bytes that the host may change during the call. Each block is copied, so that the checked
    /// and the used bytes are the same.
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

    /// Returns `len` bytes from `at` on. Copies them to `scratch` if the host may change them.
    ///
    /// # Errors
    /// *Corrupt* when the bytes are out of range; *out of memory*.
    fn part<'s>(&self, at: usize, len: usize, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        let part = match self {
            Self::Slice(bytes) => at.checked_add(len).and_then(|end| bytes.get(at..end)),
            Self::Host(host) => {
                if scratch.len() < len {
                    fallible::resize(scratch, len, 0, "a block")?;
                }
                let part = &mut scratch[..len];
                host.copy_to(at, part).then_some(&*part)
            }
        };
        part.ok_or_else(|| damaged("the input became shorter"))
    }

    /// Copies bytes from `at` on to `out`. Returns false if they are out of range.
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

/// The number of threads that the caller asks for, reduced until each thread has at least
/// `len_each` bytes.
fn worthwhile(threads: Option<usize>, len: usize, len_each: usize) -> usize {
    threads.unwrap_or_else(crate::threads::default_threads).min(len / len_each).max(1)
}
