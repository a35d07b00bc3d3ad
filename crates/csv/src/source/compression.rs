//! Recognises compression by content.

use entasis::Result;

use super::bgzf::Bgzf;
use super::bzip2::Bzip2;
use super::gzip::{self, Gzip};
use super::raw::{RawInput, Stage};
use super::xz::Xz;
use super::zstd::Zstd;

/// How a source is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Bgzf,
    Bzip2,
    Xz,
    Zstd,
}

impl Compression {
    /// The most bytes that [`recognise`](Self::recognise) looks at.
    pub(super) const HEAD_LEN: usize = 1 << 10;

    /// The compression of a source that begins with these bytes, or consists of them.
    ///
    /// The first block of bzip2 and the empty stream are recognised, not the three letters of its
    /// magic number, which a text may begin with.
    pub(super) fn recognise(head: &[u8]) -> Option<Self> {
        let is = |magic: &[u8]| head.starts_with(magic);
        if gzip::bgzf_len(head).is_some() {
            return Some(Self::Bgzf);
        }
        // A file that was cut in its first bytes is not a text either.
        if is(&gzip::MAGIC) || (!head.is_empty() && gzip::MAGIC.starts_with(head)) {
            return Some(Self::Gzip);
        }
        if is(b"\xFD7zXZ\0") {
            return Some(Self::Xz);
        }
        if is(b"\x28\xB5\x2F\xFD") || matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]) {
            return Some(Self::Zstd);
        }
        if let [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] = head {
            let block: &[u8] = b"\x31\x41\x59\x26\x53\x59";
            let end: &[u8] = b"\x17\x72\x45\x38\x50\x90";
            let n = rest.len().min(block.len());
            if n > 0 && (rest[..n] == block[..n] || rest[..n] == end[..n]) {
                return Some(Self::Bzip2);
            }
        }
        None
    }

    /// The usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bgzf => "BGZF",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// The decoder.
    pub(super) fn decoder(self, input: RawInput, threads: usize) -> Result<Box<dyn Stage>> {
        Ok(match self {
            Self::Gzip => Box::new(Gzip::new(input)),
            Self::Bgzf => Box::new(Bgzf::new(input, threads)),
            Self::Bzip2 => Box::new(Bzip2::new(input)),
            Self::Xz => Box::new(Xz::new(input)),
            Self::Zstd => Box::new(Zstd::new(input)?),
        })
    }
}
