//! gzip (RFC 1952), with any number of members.

use entasis::Result;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::fault::{check_rest, damaged, truncated};
use super::raw::{RawInput, Stage};

const NAME: &str = "gzip";

/// The first bytes of a member: the magic number, and deflate as the only method.
pub(super) const MAGIC: [u8; 3] = [0x1F, 0x8B, 8];

const HAS_HEADER_CRC: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const RESERVED: u8 = 0xE0;

/// Inflates members one after the other.
pub(super) struct Gzip {
    input: RawInput,
    inflate: Decompress,
    member: Option<Member>,
    ended: bool,
}

/// The checks of the member that is being read.
#[derive(Default)]
struct Member {
    crc: Crc,
    len: u32,
}

impl Gzip {
    pub(super) fn new(input: RawInput) -> Self {
        Self { input, inflate: Decompress::new(false), member: None, ended: false }
    }

    /// Compares the checksum and the length at the end of a member.
    fn check_footer(&mut self, member: &Member) -> Result<()> {
        let footer = self.input.peek(8)?;
        let Some(&[a, b, c, d, e, f, g, h]) = footer.first_chunk() else {
            return Err(truncated(NAME, self.input.at()));
        };
        let (crc, len) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        if crc != member.crc.sum() || len != member.len {
            return Err(damaged(NAME, "a checksum does not match", self.input.at()));
        }
        self.input.consume(8);
        Ok(())
    }
}

impl Stage for Gzip {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while !self.ended && !into.is_empty() {
            let Some(member) = &mut self.member else {
                skip_header(&mut self.input)?;
                self.inflate.reset(false);
                self.member = Some(Member::default());
                continue;
            };
            let at = self.input.at();
            let packed = self.input.fill()?;
            let is_last = packed.is_empty();
            let (from, to) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(packed, into, FlushDecompress::None)
                .map_err(|_| damaged(NAME, "the bytes are not deflated", at))?;
            let (read, n) = (self.inflate.total_in() - from, (self.inflate.total_out() - to) as usize);
            self.input.consume(read as usize);
            member.crc.update(&into[..n]);
            member.len = member.len.wrapping_add(n as u32);
            if status == Status::StreamEnd {
                let member = self.member.take().unwrap_or_default();
                self.check_footer(&member)?;
                self.ended = !check_rest(&mut self.input, NAME, &MAGIC[..2])?;
            } else if is_last && n == 0 {
                return Err(truncated(NAME, self.input.at()));
            }
            if n > 0 {
                return Ok(n);
            }
        }
        Ok(0)
    }
}

/// Goes past the header of a member.
fn skip_header(input: &mut RawInput) -> Result<()> {
    let mut crc = Crc::new();
    let mut next = |input: &mut RawInput, n: usize| -> Result<Vec<u8>> {
        let bytes = input.peek(n)?.get(..n).map(<[u8]>::to_vec);
        let Some(bytes) = bytes else { return Err(truncated(NAME, input.at())) };
        crc.update(&bytes);
        input.consume(n);
        Ok(bytes)
    };
    let header = next(input, 10)?;
    let flags = header[3];
    if header[..3] != MAGIC || flags & RESERVED != 0 {
        return Err(damaged(NAME, "a header is not valid", input.at()));
    }
    if flags & HAS_EXTRA != 0 {
        let len = next(input, 2)?;
        // A length of 64 KiB may not fit the buffer at once.
        let mut left = usize::from(u16::from_le_bytes([len[0], len[1]]));
        while left > 0 {
            left -= next(input, left.min(1 << 10))?.len();
        }
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        while flags & flag != 0 && next(input, 1)?[0] != 0 {}
    }
    if flags & HAS_HEADER_CRC != 0 {
        let sum = crc.sum() as u16;
        let stored = input.peek(2)?.first_chunk().map(|&stored| u16::from_le_bytes(stored));
        let Some(stored) = stored else { return Err(truncated(NAME, input.at())) };
        if stored != sum {
            return Err(damaged(NAME, "the checksum of a header does not match", input.at()));
        }
        input.consume(2);
    }
    Ok(())
}

/// The length of the member at the start of `head`, if it is one of BGZF and its header is whole.
///
/// BGZF (section 4.1 of the SAM specification) writes members of at most 64 KiB. The first extra
/// field `BC` has their length, minus 1. Others put more extra fields before it.
pub(super) fn bgzf_len(head: &[u8]) -> Option<usize> {
    let extra_len = match head.first_chunk::<12>()? {
        &[0x1F, 0x8B, 8, HAS_EXTRA, _, _, _, _, _, _, low, high] => u16::from_le_bytes([low, high]),
        _ => return None,
    };
    let mut extra = head.get(12..12 + usize::from(extra_len))?;
    while let Some((&[a, b, low, high], rest)) = extra.split_first_chunk() {
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([low, high])))?;
        if (a, b) == (b'B', b'C') {
            let &[low, high] = value.first_chunk()?;
            let len = usize::from(u16::from_le_bytes([low, high])) + 1;
            // The header, at least one byte of deflated data, and the footer.
            return (value.len() == 2 && len > 12 + usize::from(extra_len) + 8).then_some(len);
        }
        extra = rest;
    }
    None
}

/// Inflates one whole member of BGZF to the end of `into`. `at` is its offset.
pub(super) fn inflate_bgzf(
    inflate: &mut Decompress,
    member: &[u8],
    into: &mut Vec<u8>,
    at: u64,
) -> Result<()> {
    let extra_len = member.get(10..12).map_or(0, |len| usize::from(u16::from_le_bytes([len[0], len[1]])));
    let packed = member.get(12 + extra_len..).and_then(|rest| rest.split_last_chunk::<8>());
    let Some((packed, &[a, b, c, d, e, f, g, h])) = packed else { return Err(truncated(NAME, at)) };
    let (crc, len) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]) as usize);
    if len > 1 << 16 {
        return Err(damaged(NAME, "a member is longer than 64 KiB", at));
    }
    let start = into.len();
    into.resize(start + len, 0);
    inflate.reset(false);
    let status = inflate.decompress(packed, &mut into[start..], FlushDecompress::Finish);
    if !matches!(status, Ok(Status::StreamEnd))
        || (inflate.total_in(), inflate.total_out()) != (packed.len() as u64, len as u64)
    {
        return Err(damaged(NAME, "the bytes are not deflated", at));
    }
    let mut sum = Crc::new();
    sum.update(&into[start..]);
    if sum.sum() != crc {
        return Err(damaged(NAME, "a checksum does not match", at));
    }
    Ok(())
}

/// The member without content that ends a file of BGZF.
pub(super) const BGZF_END: [u8; 28] =
    [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0, 0x1B, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
