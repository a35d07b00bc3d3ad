//! Opens a page for some of its values. Does not read the other values.

use std::ops::Range;

use entasis_format::{Directory, Error, Filter, Layout, Packing, Physical, Result, fallible};
use entasis_kernels::VECTOR;

use super::page::{Body, Packed, Page, PageScratch, parse_params, word_len};
use crate::short_body;
use crate::validity::Validity;

/// A page with at most this many stored bytes is read completely: a second read costs more.
const SHORT: usize = 2 << 10;

/// Fills memory with bytes of the stored page, starting at an offset.
pub type ReadPart<'r> = dyn FnMut(usize, &mut [u8]) -> Result<()> + 'r;

/// Whether the offset of each value of page `index` of a block is known without other values. False
/// if the page does not exist.
pub fn can_open_part(directory: &Directory, index: usize) -> bool {
    let Some(entry) = directory.pages.get(index) else { return false };
    let packing = directory.encoding.packing;
    let has_offsets = matches!(packing, Packing::Raw | Packing::Constant | Packing::BitPacked);
    let is_plain = entry.stored_len == entry.payload_len && directory.encoding.filter == Filter::None;
    has_offsets && is_plain && !directory.patches
}

impl<'a> Page<'a> {
    /// Opens page `index` of a block for the values in `range`. Calls `read` for the beginning of
    /// the page, which locates its values, and for the bytes of the range. A decoder may then
    /// decode any part of the range; other values of the page are unspecified.
    ///
    /// Returns `None` for a page that must be read completely: one with a codec, a filter or
    /// patches, or with values whose offset depends on earlier values.
    ///
    /// **The checksum is not verified.** The caller must have verified the page before.
    ///
    /// # Errors
    /// *Argument* for a range outside of the page; *corrupt*; errors of `read`.
    pub fn open_part(
        directory: &Directory,
        of: impl Into<Layout>,
        index: usize,
        range: Range<usize>,
        scratch: &'a mut PageScratch,
        read: &mut ReadPart<'_>,
    ) -> Result<Option<Self>> {
        let of = of.into();
        let entry =
            directory.pages.get(index).ok_or_else(|| Error::argument("the block has no such page"))?;
        let (n, len) = (entry.n_values as usize, entry.stored_len as usize);
        if range.is_empty() || range.end > n {
            return Err(Error::argument("the range is not one of the page's values"));
        }
        let packing = directory.encoding.packing;
        if !can_open_part(directory, index) {
            return Ok(None);
        }
        let word_len = word_len(directory, of);
        let PageScratch { payload, vectors, .. } = scratch;
        if payload.len() < len {
            fallible::resize(payload, len, 0, "a page")?;
        }
        let payload = &mut payload[..len];
        if cfg!(debug_assertions) {
            // Lets tests notice the use of bytes that were not read.
            payload.fill(0xA5);
        }
        let params = if directory.per_vector { n.div_ceil(VECTOR) * (word_len + 1) } else { 0 };
        let most = if directory.validity { 1 + n.div_ceil(8) } else { 0 } + params;
        let head = if len <= SHORT { len } else { most.min(len) };
        if head > 0 {
            read(0, &mut payload[..head])?;
        }
        let validity_len = if directory.validity { Validity::len(&payload[..head], n) } else { Some(0) };
        let Some(start) = validity_len.map(|len| len + params).filter(|start| *start <= head) else {
            return Ok(None);
        };
        let body = &payload[start - params..head];
        let (wanted, end) = match packing {
            Packing::Raw if of.physical == Physical::Bool => {
                (range.start / 8..range.end.div_ceil(8), n.div_ceil(8))
            }
            Packing::Raw => (range.start * word_len..range.end * word_len, n * word_len),
            Packing::BitPacked => {
                parse_params(body, directory, n, word_len, vectors)?;
                let end = vectors.set_bit_offsets(n, 8 * word_len as u32)?;
                (vectors.at[range.start / VECTOR]..vectors.at[range.end.div_ceil(VECTOR)], end)
            }
            _ => (0..0, 0),
        };
        if start + end != len {
            return Err(short_body());
        }
        let wanted = start + wanted.start..start + wanted.end;
        if wanted.end > head {
            let from = wanted.start.max(head);
            read(from, &mut payload[from..wanted.end])?;
        }
        let payload = &*payload;
        let validity = if directory.validity { Validity::parse(payload, n)?.0 } else { Validity::AllValid };
        let body = match packing {
            Packing::Raw => Body::Raw(&payload[start..]),
            Packing::BitPacked => Body::Packed(Packed::plain(vectors, &payload[start..])),
            _ => Body::Constant,
        };
        Ok(Some(Self { n, decoded_len: Some(entry.decoded_len as usize), validity, body }))
    }
}
