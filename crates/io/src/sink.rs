//! Positioned writes.

use std::io::{self, ErrorKind};
use std::sync::Arc;

/// A destination that can be written at any position, from many threads at once.
pub trait Sink: Send + Sync {
    /// Writes some of `bytes` at offset `at` and returns how many. A gap before `at` reads as
    /// zeros.
    ///
    /// # Errors
    /// Errors of the medium, including [`ErrorKind::Interrupted`].
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at offset `at`, with as many writes as needed.
    ///
    /// # Errors
    /// [`ErrorKind::WriteZero`] if nothing more is accepted; otherwise errors of the medium.
    fn write_all_at(&self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(at, bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = bytes
                        .get(written..)
                        .ok_or_else(|| io::Error::other("more bytes written than handed over"))?;
                    at = at.checked_add(written as u64).ok_or(ErrorKind::FileTooLarge)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Announces a lower bound of the total length. Affects only speed.
    fn expect(&self, _len: u64) {}

    /// Whether the bytes may be mapped into memory later, so that values should be aligned.
    fn is_mappable(&self) -> bool {
        true
    }

    /// Returns when everything written is permanently on the medium. A failure is final: a later
    /// success would prove nothing.
    ///
    /// # Errors
    /// Errors of the medium.
    fn sync(&self) -> io::Result<()>;
}

/// Passes all calls on to the sink that a pointer leads to.
macro_rules! pass_on {
    ($($pointer:ty),*) => {$(
        impl<S: Sink + ?Sized> Sink for $pointer {
            fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
                (**self).write_at(at, bytes)
            }

            fn write_all_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
                (**self).write_all_at(at, bytes)
            }

            fn expect(&self, len: u64) {
                (**self).expect(len);
            }

            fn is_mappable(&self) -> bool {
                (**self).is_mappable()
            }

            fn sync(&self) -> io::Result<()> {
                (**self).sync()
            }
        }
    )*};
}

pass_on!(&S, Arc<S>);

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts no bytes.
    struct Full;

    impl Sink for Full {
        fn write_at(&self, _: u64, _: &[u8]) -> io::Result<usize> {
            Ok(0)
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_sink_that_takes_nothing_is_an_error() {
        assert_eq!(Full.write_all_at(0, b"x").unwrap_err().kind(), ErrorKind::WriteZero);
        assert!(Full.write_all_at(0, b"").is_ok());
    }
}
