//! Reads little-endian fields one after the other and never beyond the end.

use crate::error::{Error, Result};

/// Stands for "none" in the number of a column or a node, and in an offset.
pub(crate) const NONE: u64 = u64::MAX;

/// The unread rest of a record.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// A reader of a record of exactly `len` bytes.
    pub(crate) fn exact(bytes: &'a [u8], len: usize, what: &'static str) -> Result<Self> {
        if bytes.len() == len { Ok(Self { rest: bytes, what }) } else { Err(short(what, bytes.len(), len)) }
    }

    /// The next `N` bytes.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(short(self.what, self.rest.len(), N)),
        }
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn i8(&mut self) -> Result<i8> {
        Ok(i8::from_le_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The number of a column or node or an offset, or none.
    #[inline]
    pub(crate) fn optional(&mut self) -> Result<Option<u64>> {
        let number = self.u64()?;
        Ok((number != NONE).then_some(number))
    }

    /// Skips `N` bytes, which must be zero. Under a checksum that holds, other values are fields of
    /// a later release.
    ///
    /// # Errors
    /// *Unsupported* when they are not zero; *corrupt* when they are missing.
    #[inline]
    pub(crate) fn reserved<const N: usize>(&mut self) -> Result<()> {
        if self.array::<N>()? == [0; N] {
            Ok(())
        } else {
            Err(Error::unsupported(format!(
                "reserved bytes of {} are not zero: this release does not know what they mean",
                self.what
            ))
            .advise("update Entasis"))
        }
    }
}

#[cold]
fn short(what: &str, len: usize, expected: usize) -> Error {
    Error::corrupt(format!("{what} has {len} bytes where {expected} are needed"))
}

/// Appends a number or none.
#[inline]
pub(crate) fn put_optional(out: &mut Vec<u8>, number: Option<u64>) {
    out.extend_from_slice(&number.unwrap_or(NONE).to_le_bytes());
}

/// Appends records field by field.
macro_rules! put {
    ($out:expr $(, $field:expr)+ $(,)?) => {{ $( $out.extend_from_slice(&$field.to_le_bytes()); )+ }};
}
pub(crate) use put;

/// Converts a length in memory to a number of the file.
#[inline]
pub(crate) fn len64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// The same, at most `u32::MAX`.
#[inline]
pub(crate) fn len32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Converts a number of the file to a length in memory.
#[inline]
pub(crate) fn to_usize(number: u64, what: &'static str) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::out_of_memory(usize::MAX, what))
}
