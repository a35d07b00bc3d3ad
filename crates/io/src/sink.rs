//! Writing at positions.

use std::io::{self, ErrorKind};
use std::sync::Arc;

/// A place that can be written at any position, from many threads at once.
pub trait Sink: Send + Sync {
    /// Writes some of `bytes` at position `at` and tells how many; a gap before `at` reads as zeros.
    ///
    /// # Errors
    /// Whatever the medium reports, [`ErrorKind::Interrupted`] included.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at position `at`, however short the single writes are.
    ///
    /// # Errors
    /// [`ErrorKind::WriteZero`] if nothing more is taken; otherwise what the medium reports.
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

    /// Tells about how long all will be at least, as far as it can be foreseen by now; nothing depends on it but how quickly bytes are taken.
    fn expect(&self, _len: u64) {}

    /// Returns once all that was written is on the medium to stay. A failure is final: calling again proves nothing.
    ///
    /// # Errors
    /// Whatever the medium reports.
    fn sync(&self) -> io::Result<()>;
}

impl<S: Sink + ?Sized> Sink for &S {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        (**self).write_at(at, bytes)
    }

    fn write_all_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_all_at(at, bytes)
    }

    fn expect(&self, len: u64) {
        (**self).expect(len);
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
    }
}

impl<S: Sink + ?Sized> Sink for Arc<S> {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        (**self).write_at(at, bytes)
    }

    fn write_all_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_all_at(at, bytes)
    }

    fn expect(&self, len: u64) {
        (**self).expect(len);
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes nothing, ever.
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
