//! Positioned reads.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

/// Ranges that a source fetches ahead of their use, until this is dropped.
pub type Announced = Box<dyn Announcement>;

/// An announcement. Its end frees what was fetched.
pub trait Announcement: Send + Sync {}

/// Bytes that can be read at any position, from many threads at once.
pub trait Source: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> u64;

    /// Measures the length again, which is longer than before if the source has grown meanwhile.
    ///
    /// # Errors
    /// Errors of the medium.
    fn measure(&mut self) -> io::Result<u64> {
        Ok(self.len())
    }

    /// When the bytes were changed last, if the medium records it.
    fn changed(&self) -> Option<SystemTime> {
        None
    }

    /// Whether the length is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads some bytes at offset `at` into `out` and returns how many; 0 means the end.
    ///
    /// # Errors
    /// Errors of the medium, including [`ErrorKind::Interrupted`].
    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize>;

    /// Fills `out` from offset `at`, with as many reads as needed.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] if the source ends before `out` is full; otherwise errors of
    /// the medium.
    fn read_exact_at(&self, mut at: u64, mut out: &mut [u8]) -> io::Result<()> {
        while !out.is_empty() {
            match self.read_at(at, out) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    out = out
                        .get_mut(read..)
                        .ok_or_else(|| io::Error::other("more bytes read than asked for"))?;
                    at = at.checked_add(read as u64).ok_or(ErrorKind::UnexpectedEof)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Fills each `out` from its offset `at`. Remote sources can do it in one round of requests.
    ///
    /// Reads the parts in the order of the list, unless the bytes of the source never change while
    /// it is open: a later part may depend on the state that an earlier one shows.
    ///
    /// # Errors
    /// As [`read_exact_at`](Self::read_exact_at), for any of the parts. Their contents are then
    /// unspecified.
    fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        parts.iter_mut().try_for_each(|(at, out)| self.read_exact_at(*at, out))
    }

    /// Whether each read costs a request. It is then worth it to [`announce`](Self::announce).
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether only the thread that opened the source may read from it.
    fn is_of_one_thread(&self) -> bool {
        false
    }

    /// Announces ranges that will be read soon. A remote source fetches them ahead, several at
    /// once, in the order of their offsets.
    fn announce(&self, _ranges: &[Range<u64>]) -> Option<Announced> {
        None
    }
}

/// Passes all calls on to the source that a pointer leads to.
macro_rules! pass_on {
    ($($pointer:ty),*) => {$(
        impl<S: Source + ?Sized> Source for $pointer {
            fn len(&self) -> u64 {
                (**self).len()
            }

            fn changed(&self) -> Option<SystemTime> {
                (**self).changed()
            }

            fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(at, out)
            }

            fn read_exact_at(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
                (**self).read_exact_at(at, out)
            }

            fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
                (**self).read_many(parts)
            }

            fn is_remote(&self) -> bool {
                (**self).is_remote()
            }

            fn is_of_one_thread(&self) -> bool {
                (**self).is_of_one_thread()
            }

            fn announce(&self, ranges: &[Range<u64>]) -> Option<Announced> {
                (**self).announce(ranges)
            }
        }
    )*};
}

pass_on!(&S, Arc<S>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySource;

    /// Claims to have read more than fits.
    struct Liar;

    impl Source for Liar {
        fn len(&self) -> u64 {
            u64::MAX
        }

        fn read_at(&self, _: u64, out: &mut [u8]) -> io::Result<usize> {
            Ok(out.len() + 1)
        }
    }

    #[test]
    fn a_lying_source_is_an_error() {
        assert_eq!(Liar.read_exact_at(0, &mut [0; 3]).unwrap_err().kind(), ErrorKind::Other);
        assert!(Liar.read_exact_at(0, &mut []).is_ok());
    }

    #[test]
    fn many_parts_are_read_in_order() {
        let source = MemorySource::new(vec![1, 2, 3, 4, 5]);
        let (mut a, mut b, mut c) = ([0; 2], [0; 0], [0; 3]);
        source.read_many(&mut [(3, &mut a[..]), (9, &mut b[..]), (0, &mut c[..])]).unwrap();
        assert_eq!((a, c), ([4, 5], [1, 2, 3]));
        let mut parts = [(0, &mut a[..]), (3, &mut c[..])];
        assert_eq!(source.read_many(&mut parts).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
