//! Strings of blocks with a dictionary, as views that refer to the dictionary itself.

use entasis_encodings::{BlockDecoder, TextScratch};
use entasis_format::{BlockRecord, Error, Result, Transform, fallible};
use entasis_kernels::gather;
use entasis_platform::Buffer;

use super::alloc::{STRINGS, buffer};
use super::layout;
use super::pages::OpenPage;

/// Whether the strings of a block are stored as codes.
pub(super) fn is_dictionary(block: &BlockRecord) -> bool {
    block.encoding.transform == Transform::Dictionary
}

/// The entries of a block's dictionary, as views, and the bytes that these refer to.
pub(super) struct DictionaryViews {
    /// The entries of the block that was opened last.
    views: Vec<u128>,
    /// The first value of that block.
    block: Option<u64>,
    /// The bytes of the dictionaries of all blocks so far.
    buffers: Vec<Buffer>,
    /// The number of the first buffer.
    first: usize,
}

impl DictionaryViews {
    /// No entries yet. The first dictionary will be the buffer `first`.
    pub(super) fn new(first: usize) -> Self {
        Self { views: Vec::new(), block: None, buffers: Vec::new(), first }
    }

    /// The bytes of the dictionaries of all blocks so far.
    pub(super) fn into_buffers(self) -> Vec<Buffer> {
        self.buffers
    }

    /// Reads the entries of a block, unless it was opened last.
    pub(super) fn open(&mut self, decoder: &BlockDecoder<'_>, block: &BlockRecord) -> Result<()> {
        if self.block == Some(block.first_value) {
            return Ok(());
        }
        self.block = Some(block.first_value);
        let (lengths, bytes) = decoder.entries()?;
        // Entries that fit inline need no buffer, but use up its number.
        let outside = if layout::any_outside(lengths.iter().copied()) { bytes } else { &[] };
        let mut copy = buffer(Some(outside.len()), STRINGS)?;
        copy.copy_from_slice(outside);
        let number = self.first + self.buffers.len();
        fallible::push(&mut self.buffers, copy, STRINGS)?;
        self.views.clear();
        fallible::resize(&mut self.views, lengths.len(), 0, STRINGS)?;
        layout::views(bytes, &lengths, number as u32, 0, &mut self.views);
        Ok(())
    }

    /// The views of ascending rows. The range of `opened` goes from the first to the last row.
    pub(super) fn take(
        &self,
        opened: &OpenPage<'_>,
        rows: &[u64],
        scratch: &mut TextScratch,
        out: &mut [u128],
    ) -> Result<()> {
        let codes = opened.decoder.codes(opened.page, opened.range.clone(), scratch)?;
        let first = rows.first().map_or(0, |row| *row);
        for (out, row) in out.iter_mut().zip(rows) {
            let view = self.views.get(codes[(row - first) as usize] as usize);
            *out = *view.ok_or_else(bad_code)?;
        }
        Ok(())
    }

    /// The views of all rows in the range of `opened`.
    pub(super) fn look_up(
        &self,
        opened: &OpenPage<'_>,
        scratch: &mut TextScratch,
        out: &mut [u128],
    ) -> Result<()> {
        // The views don't depend on the page's decoded_len. Comparing it would need another pass
        // over the views, so only other reads and `verify` do that.
        let codes = opened.decoder.codes(opened.page, opened.range.clone(), scratch)?;
        if gather::gather(&self.views, codes, out) { Ok(()) } else { Err(bad_code()) }
    }
}

pub(super) fn bad_code() -> Error {
    Error::corrupt("a code is not in the dictionary")
}
