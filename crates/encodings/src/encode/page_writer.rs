//! Writes the dictionary and the pages of a block.

use std::ops::Range;

use entasis_format::{Codec, Directory, Encoding, Packing, PageEntry, Result, Stored, Transform, checksum};
use entasis_kernels::Word;

use crate::choose::integers::WordPlan;
use crate::codec::Codecs;
use crate::limits::{PAGE, PAGE_LEN};
use crate::packing::{bit_packed, delta, raw, run_length};
use crate::validity;
use crate::words::Order;

/// The properties that all pages of a block share.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// One bit per value, 1 = valid; `None` if no value is missing.
    pub bits: Option<&'a [u8]>,
    pub n_missing: u32,
    /// Called before each page, because high compression takes long per page. An error cancels the
    /// block.
    pub check: &'a dyn Fn() -> Result<()>,
}

/// The values of a page, and the length of their decoded bytes.
pub(crate) type PageRange = (Range<usize>, usize);

/// The pages of `n` values of `value_len` bytes each.
pub(crate) fn fixed_pages(n: usize, value_len: usize) -> Vec<PageRange> {
    let page = PAGE.min((PAGE_LEN / value_len.max(1)).max(1));
    let starts = (0..n).step_by(page);
    starts
        .map(|start| (start..(start + page).min(n), (start + page).min(n) * value_len - start * value_len))
        .collect()
}

/// The entries of a dictionary.
pub(crate) struct Entries<'a> {
    pub payload: Payload<'a>,
    pub n: usize,
    /// Whether a codec would find nothing in them.
    pub is_dense: bool,
}

/// The payload with the entries of a dictionary.
pub(crate) enum Payload<'a> {
    Bytes(&'a [u8]),
    /// A function that appends the payload.
    Made(&'a mut dyn FnMut(&mut Vec<u8>)),
}

/// Writes the dictionary and the pages of a block, and collects their directory entries.
pub(crate) struct PageWriter<'a> {
    codecs: &'a mut Codecs,
    codec: (Codec, i32),
    context: Context<'a>,
    out: &'a mut Vec<u8>,
    payload: Vec<u8>,
    pages: Vec<PageEntry>,
    n_dictionary: u32,
    dictionary: Stored,
}

impl<'a> PageWriter<'a> {
    pub(crate) fn new(
        codecs: &'a mut Codecs,
        codec: (Codec, i32),
        context: Context<'a>,
        out: &'a mut Vec<u8>,
    ) -> Self {
        let mut payload = std::mem::take(&mut codecs.payload);
        payload.clear();
        Self {
            codecs,
            codec,
            context,
            out,
            payload,
            pages: Vec::new(),
            n_dictionary: 0,
            dictionary: Stored::default(),
        }
    }

    /// Stores the dictionary. Call it before the first page.
    pub(crate) fn dictionary(&mut self, entries: Entries<'_>) {
        let Entries { payload, n, is_dense } = entries;
        let at = self.out.len();
        let (codec, level) = if is_dense { (Codec::None, 0) } else { self.codec };
        let payload_len = match payload {
            Payload::Bytes(bytes) => {
                self.codecs.store(codec, level, bytes, self.out);
                bytes.len()
            }
            Payload::Made(make) if codec == Codec::None => {
                make(self.out);
                self.out.len() - at
            }
            Payload::Made(make) => {
                make(&mut self.payload);
                self.codecs.store(codec, level, &self.payload, self.out);
                let len = self.payload.len();
                self.payload.clear();
                len
            }
        };
        self.n_dictionary = n as u32;
        self.dictionary = Stored {
            stored_len: (self.out.len() - at) as u32,
            payload_len: payload_len as u32,
            checksum: checksum(&self.out[at..]),
        };
    }

    /// Stores one page: its validity if the block has missing values, then the bytes that `body`
    /// appends.
    pub(crate) fn page(&mut self, page: PageRange, body: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.page_with(page, |payload| {
            body(payload);
            None
        })
    }

    /// As [`page`](Self::page). If `body` returns a length, LZ4 compresses only that many bytes at
    /// the end of the body.
    fn page_with(
        &mut self,
        (range, decoded_len): PageRange,
        body: impl FnOnce(&mut Vec<u8>) -> Option<usize>,
    ) -> Result<()> {
        (self.context.check)()?;
        let at = self.out.len();
        let (codec, level) = self.codec;
        // Without a codec the payload is written directly to the output.
        let payload = if codec == Codec::None { &mut *self.out } else { &mut self.payload };
        let before = payload.len();
        if let Some(bits) = self.context.bits {
            validity::emit(bits, range.start, range.len(), payload);
        }
        let shown = body(payload);
        let payload_len = payload.len() - before;
        if codec != Codec::None {
            match shown {
                Some(shown) => self.codecs.store_after(payload_len - shown, &self.payload, self.out),
                None => _ = self.codecs.store(codec, level, &self.payload, self.out),
            }
            self.payload.clear();
        }
        self.pages.push(PageEntry {
            stored_len: (self.out.len() - at) as u32,
            payload_len: payload_len as u32,
            n_values: range.len() as u32,
            decoded_len: decoded_len as u32,
            checksum: checksum(&self.out[at..]),
        });
        Ok(())
    }

    /// Whether pages are stored. A constant without missing values needs none.
    pub(crate) fn needs_pages(&self, packing: Packing) -> bool {
        packing != Packing::Constant || self.context.bits.is_some()
    }

    /// Stores the pages of words according to the plan and finishes the block. `exceptions` are
    /// positions per page whose values come from `physical`.
    pub(crate) fn words<T: Word, V: Word>(
        mut self,
        ranges: Vec<PageRange>,
        transform: Transform,
        (words, plan, order): (&[T], &WordPlan<T>, Order),
        (exceptions, physical): (&[Vec<u16>], &[V]),
    ) -> Result<Directory> {
        let mut widest = plan.width;
        let ranges = if self.needs_pages(plan.packing) { ranges } else { Vec::new() };
        for (i, page) in ranges.into_iter().enumerate() {
            let range = page.0.clone();
            let words = &words[range.clone()];
            if plan.packing == Packing::BitPacked && plan.patches {
                self.page_with(page, |body| {
                    let mut outside = exceptions.get(i).cloned().unwrap_or_default();
                    if plan.outliers {
                        bit_packed::add_outliers(words, plan.base, plan.width, &mut outside);
                    }
                    let patches = Some((outside.as_slice(), &physical[range]));
                    let patches = bit_packed::emit(words, plan.base, plan.width, patches, body);
                    plan.of_patches.then_some(patches)
                })?;
                continue;
            }
            self.page(page, |body| match plan.packing {
                Packing::Raw => raw::emit(bytemuck::cast_slice(words), size_of::<T>(), plan.filter, body),
                Packing::Constant | Packing::Strings | Packing::Fsst => {}
                Packing::BitPacked if plan.per_vector => bit_packed::emit_per_vector(words, order, body),
                Packing::BitPacked => _ = bit_packed::emit::<T, T>(words, plan.base, plan.width, None, body),
                Packing::Delta => widest = widest.max(delta::emit(words, body)),
                Packing::RunLength => run_length::emit(words, plan.base, plan.width, body),
            })?;
        }
        let encoding =
            Encoding { packing: plan.packing, transform, codec: plan.codec.0, filter: plan.filter };
        let base = if plan.per_vector { 0 } else { plan.base.to_u64() };
        let mut directory = self.directory(encoding, widest, base);
        directory.per_vector = plan.per_vector;
        directory.patches = plan.patches;
        Ok(directory)
    }

    /// The directory of the block.
    pub(crate) fn directory(self, encoding: Encoding, width: u32, base: u64) -> Directory {
        self.codecs.payload = self.payload;
        Directory {
            width: u8::try_from(width).expect("at most 64 bits"),
            validity: self.context.bits.is_some(),
            base,
            n_dictionary: self.n_dictionary,
            dictionary: self.dictionary,
            pages: self.pages,
            ..Directory::new(encoding)
        }
    }
}
