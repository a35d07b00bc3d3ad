//! The directory of a block: how its pages are encoded and stored (`docs/format/encodings.md`).

use crate::block::BlockRecord;
use crate::bytes::{Reader, len32, len64, put};
use crate::checksum::checksum;
use crate::encoding::{Codec, Encoding, Packing, Transform};
use crate::error::{Error, Result, Thousands};
use crate::fallible;
use crate::limits::{
    DIRECTORY_HEAD_LEN, Limits, MAX_DICTIONARY, MAX_PAGE_LEN, MAX_PARAMETERS_LEN, PAGE_ENTRY_LEN,
    VECTOR_VALUES,
};
use crate::types::{Layout, Physical};

const PATCHES: u8 = 1;
const PER_VECTOR: u8 = 2;
const VALIDITY: u8 = 4;

/// Bytes in the file, with their length before the codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stored {
    /// Bytes in the file.
    pub stored_len: u32,
    /// Bytes before the codec.
    pub payload_len: u32,
    /// Checksum of the bytes in the file.
    pub checksum: u64,
}

/// A page of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageEntry {
    /// Bytes in the file.
    pub stored_len: u32,
    /// Bytes before the codec.
    pub payload_len: u32,
    /// The number of values.
    pub n_values: u32,
    /// Bytes of the decoded values.
    pub decoded_len: u32,
    /// Checksum of the bytes in the file.
    pub checksum: u64,
}

impl PageEntry {
    /// How the page is stored.
    pub const fn stored(&self) -> Stored {
        Stored { stored_len: self.stored_len, payload_len: self.payload_len, checksum: self.checksum }
    }
}

/// How the pages of a block are encoded and stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directory {
    /// Equal to that of the block record.
    pub encoding: Encoding,
    /// Bits of a packed word.
    pub width: u8,
    /// The e of ALP.
    pub exponent: u8,
    /// The f of ALP, or the bits of a residual.
    pub factor: u8,
    /// Whether vectors have patches.
    pub patches: bool,
    /// Whether each vector has a base and a width.
    pub per_vector: bool,
    /// Whether pages start with validity.
    pub validity: bool,
    /// The base of packed words, or the constant.
    pub base: u64,
    /// Entries of the block's dictionary.
    pub n_dictionary: u32,
    /// The dictionary; all zero without one.
    pub dictionary: Stored,
    /// The pages, in order.
    pub pages: Vec<PageEntry>,
}

impl Directory {
    /// A directory with this encoding, everything else zero or absent.
    pub const fn new(encoding: Encoding) -> Self {
        Self {
            encoding,
            width: 0,
            exponent: 0,
            factor: 0,
            patches: false,
            per_vector: false,
            validity: false,
            base: 0,
            n_dictionary: 0,
            dictionary: Stored { stored_len: 0, payload_len: 0, checksum: 0 },
            pages: Vec::new(),
        }
    }

    /// Bytes of a directory with `n_pages` pages.
    pub const fn len(n_pages: usize) -> usize {
        (PAGE_ENTRY_LEN as usize).saturating_mul(n_pages).saturating_add(DIRECTORY_HEAD_LEN as usize)
    }

    /// Appends the directory.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags =
            flag(self.patches, PATCHES) | flag(self.per_vector, PER_VECTOR) | flag(self.validity, VALIDITY);
        out.reserve(Self::len(self.pages.len()));
        out.extend_from_slice(&self.encoding.codes());
        out.extend_from_slice(&[self.width, self.exponent, self.factor, flags]);
        put!(out, self.base, len32(self.pages.len()), self.n_dictionary);
        put!(out, self.dictionary.stored_len, self.dictionary.payload_len, self.dictionary.checksum);
        for page in &self.pages {
            put!(out, page.stored_len, page.payload_len, page.n_values, page.decoded_len, page.checksum);
        }
    }

    /// Parses the directory in exactly these bytes. Checks it against its block record, the type,
    /// and every rule that does not need the pages.
    pub fn parse(bytes: &[u8], record: &BlockRecord, of: impl Into<Layout>, limits: &Limits) -> Result<Self> {
        let of = of.into();
        Self::parse_fields(bytes, record)
            .and_then(|directory| directory.check(record, of, limits).map(|()| directory))
            .map_err(|error| error.at(record.directory_at))
    }

    fn parse_fields(bytes: &[u8], record: &BlockRecord) -> Result<Self> {
        if len32(bytes.len()) != record.directory_len {
            return Err(Error::corrupt("the file ends within a directory: it is truncated"));
        }
        if checksum(bytes) != record.directory_checksum {
            return Err(Error::corrupt("the checksum of a directory does not match"));
        }
        let head_len = usize::try_from(DIRECTORY_HEAD_LEN).unwrap_or(usize::MAX);
        let Some((head, entries)) = bytes.split_at_checked(head_len) else {
            return Err(Error::corrupt("a directory is too short"));
        };
        let mut reader = Reader::exact(head, head_len, "a directory")?;
        if reader.array::<4>()? != record.encoding.codes() {
            return Err(Error::corrupt("a directory has another encoding than its block record"));
        }
        let [width, exponent, factor, flags] = reader.array::<4>()?;
        let (base, n_pages, n_dictionary) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let (stored_len, payload_len, sum) = (reader.u32()?, reader.u32()?, reader.u64()?);
        if flags & !(PATCHES | PER_VECTOR | VALIDITY) != 0 {
            return Err(Error::unsupported(format!("a directory has unknown flags ({flags:#x})"))
                .advise("update Entasis, or read other columns"));
        }
        // Later encodings may have parameters after the page entries.
        let entries_len =
            usize::try_from(n_pages).ok().and_then(|n| n.checked_mul(usize::try_from(PAGE_ENTRY_LEN).ok()?));
        let Some(entries) = entries_len.and_then(|len| entries.get(..len)) else {
            return Err(Error::corrupt("a directory is too short for its pages"));
        };
        let (entries, _) = entries.as_chunks::<{ PAGE_ENTRY_LEN as usize }>();
        let parameters_len = head.len().saturating_add(entries.as_flattened().len());
        if len32(bytes.len().saturating_sub(parameters_len)) > MAX_PARAMETERS_LEN {
            return Err(Error::corrupt("a directory is too long for its pages"));
        }
        let page = |entry: &[u8; 24]| {
            let mut reader = Reader::exact(entry, entry.len(), "a page entry")?;
            Ok(PageEntry {
                stored_len: reader.u32()?,
                payload_len: reader.u32()?,
                n_values: reader.u32()?,
                decoded_len: reader.u32()?,
                checksum: reader.u64()?,
            })
        };
        Ok(Self {
            encoding: record.encoding,
            width,
            exponent,
            factor,
            patches: flags & PATCHES != 0,
            per_vector: flags & PER_VECTOR != 0,
            validity: flags & VALIDITY != 0,
            base,
            n_dictionary,
            dictionary: Stored { stored_len, payload_len, checksum: sum },
            pages: fallible::try_collect(entries.iter().map(page), "the pages of a directory")?,
        })
    }

    /// Checks every rule that does not need the pages.
    fn check(&self, record: &BlockRecord, of: Layout, limits: &Limits) -> Result<()> {
        let problem = self
            .encoding
            .problem(of)
            .or_else(|| self.parameters_problem(of))
            .or_else(|| self.dictionary_problem(of))
            .or_else(|| self.sums_problem(record, of));
        if let Some(problem) = problem {
            return Err(Error::corrupt(problem));
        }
        for (number, page) in (0u64..).zip(&self.pages) {
            let is_last = number.checked_add(1) == Some(len64(self.pages.len()));
            if let Some(problem) = self.page_problem(page, is_last, of) {
                return Err(Error::corrupt(problem).in_page(number));
            }
        }
        let longest =
            self.pages.iter().map(|page| page.payload_len).fold(self.dictionary.payload_len, u32::max);
        if u64::from(longest) > limits.page_payload_len {
            let asked = format!("a page needs {} bytes", Thousands(longest.into()));
            return Err(Error::over_limit("page_payload_len", limits.page_payload_len, asked));
        }
        Ok(())
    }

    /// Checks width, base, exponents and flags.
    fn parameters_problem(&self, of: Layout) -> Option<&'static str> {
        let packing = self.encoding.packing;
        let bits = word_bytes(self.encoding, of).saturating_mul(8);
        let packed = match packing {
            Packing::Raw | Packing::Constant => false,
            Packing::BitPacked => !self.per_vector,
            Packing::Delta | Packing::RunLength | Packing::Strings | Packing::Fsst => true,
        };
        if u64::from(self.width) > if packed { bits } else { 0 } {
            return Some("the width of packed words is impossible");
        }
        let base_bits = match packing {
            Packing::Raw | Packing::Delta => 0,
            Packing::BitPacked if self.per_vector => 0,
            Packing::Constant
                if of.physical == Physical::Bool && self.encoding.transform == Transform::None =>
            {
                1
            }
            _ => bits,
        };
        if base_bits < 64 && self.base >> base_bits != 0 {
            return Some("the base of packed words is impossible");
        }
        let transform = self.encoding.transform;
        let (most, most_bits) = match of.physical {
            _ if !transform.is_decimal() => (0, 0),
            Physical::F64 => (18, 12),
            _ => (10, 8),
        };
        let factors = match transform {
            Transform::Residual => 1..=most_bits,
            _ => 0..=self.exponent,
        };
        if self.exponent > most || !factors.contains(&self.factor) {
            return Some("the exponents of decimals are impossible");
        }
        if self.per_vector && packing != Packing::BitPacked {
            return Some("only bit-packed vectors have bases of their own");
        }
        let is_coded = self.encoding.transform == Transform::Dictionary;
        if self.patches && (packing != Packing::BitPacked || is_coded || self.encoding.is_narrow(of)) {
            return Some("this encoding cannot have patches");
        }
        if self.pages.is_empty() && (packing != Packing::Constant || self.validity) {
            return Some("a block without pages is not constant");
        }
        None
    }

    fn dictionary_problem(&self, of: Layout) -> Option<&'static str> {
        if self.encoding.transform != Transform::Dictionary {
            let none = self.n_dictionary == 0 && self.dictionary == Stored::default();
            return if none { None } else { Some("a block has a dictionary that it does not use") };
        }
        if self.n_dictionary == 0 || self.n_dictionary > MAX_DICTIONARY {
            return Some("the number of entries of a dictionary is impossible");
        }
        let (entries, len) = (u64::from(self.n_dictionary), u64::from(self.dictionary.payload_len));
        let right = match of.width() {
            Some(width) => len == entries.saturating_mul(len64(width)),
            // Base, width and kind; lengths of no bits and no bytes.
            None => len >= 8,
        };
        if !right {
            return Some("the length of a dictionary does not match its entries");
        }
        self.stored_problem(&self.dictionary)
    }

    /// Checks the rules on lengths in `docs/format/encodings.md`.
    fn stored_problem(&self, stored: &Stored) -> Option<&'static str> {
        let &Stored { stored_len, payload_len, .. } = stored;
        if stored_len > payload_len || (stored_len == 0 && payload_len != 0) {
            return Some("a stored length is impossible");
        }
        if self.encoding.codec == Codec::None && stored_len != payload_len {
            return Some("a stored length differs from that of the payload, but there is no codec");
        }
        None
    }

    fn sums_problem(&self, record: &BlockRecord, of: Layout) -> Option<&'static str> {
        // At most 65,536 pages with numbers below 2^32, so the sums fit.
        let sum =
            |field: fn(&PageEntry) -> u32| self.pages.iter().map(|page| u64::from(field(page))).sum::<u64>();
        let stored = sum(|page| page.stored_len).saturating_add(self.dictionary.stored_len.into());
        if stored != u64::from(record.pages_len) {
            return Some("the lengths of the pages do not add up to that of the block");
        }
        if !self.pages.is_empty() && sum(|page| page.n_values) != u64::from(record.n_values) {
            return Some("the values of the pages are not as many as those of the block");
        }
        if !self.pages.is_empty() && sum(|page| page.decoded_len) != record.decoded_len {
            return Some("the decoded lengths of the pages do not add up to that of the block");
        }
        if !decoded_len_fits(of, record.n_values, record.decoded_len) {
            return Some("the decoded length of a block does not match its values");
        }
        None
    }

    fn page_problem(&self, page: &PageEntry, is_last: bool, of: Layout) -> Option<&'static str> {
        let full = page.n_values == of.page_values();
        if page.n_values == 0
            || page.n_values > of.page_values()
            || !(full || is_last || of.physical.is_var())
        {
            return Some("the number of values of a page is impossible");
        }
        if page.decoded_len > MAX_PAGE_LEN && page.n_values != 1 {
            return Some("a page is too long");
        }
        if !decoded_len_fits(of, page.n_values, page.decoded_len.into()) {
            return Some("the decoded length of a page does not match its values");
        }
        let (least, most) = self.payload_bounds(page, of);
        if !(least..=most).contains(&page.payload_len.into()) {
            return Some("the payload length of a page does not match its values");
        }
        self.stored_problem(&page.stored())
    }

    /// The least and the most length of a page's payload.
    fn payload_bounds(&self, page: &PageEntry, of: Layout) -> (u64, u64) {
        // All numbers are small: n at most 8,192, W at most 256 KiB, widths at most 64.
        let n = u64::from(page.n_values);
        let word = word_bytes(self.encoding, of);
        let vectors = n.div_ceil(VECTOR_VALUES.into());
        let packed = bits_len(n, self.width.into());
        let (least, most) = match self.encoding.packing {
            Packing::Raw if of.physical == Physical::Bool => (n.div_ceil(8), n.div_ceil(8)),
            Packing::Raw => (n * word, n * word),
            Packing::Constant => (0, 0),
            Packing::BitPacked => {
                let (heads, least, most) = match self.per_vector {
                    true => (vectors * (word + 1), 0, bits_len(n, word * 8)),
                    false => (0, packed, packed),
                };
                let value = len64(of.width().unwrap_or(0));
                let (counts, patches) = if self.patches { (vectors * 2, n * (2 + value)) } else { (0, 0) };
                (heads + counts + least, heads + counts + most + patches)
            }
            // No vector is wider than the width in the directory.
            Packing::Delta => (vectors * (2 * word + 1), vectors * (2 * word + 1) + packed),
            Packing::RunLength => {
                let runs = |n: u64| 2 + n * 2 + (n * u64::from(self.width)).div_ceil(8);
                (runs(1), runs(n))
            }
            Packing::Strings => {
                let len = vectors * 4 + packed + u64::from(page.decoded_len);
                (len, len)
            }
            Packing::Fsst => {
                // The heads are counts of symbols and lengths of streams. A code gives up to 8
                // bytes, or half of a byte for an escape and its literal.
                let (heads, decoded) = (vectors * 4 + packed + 8 + 16, u64::from(page.decoded_len));
                (heads + decoded.div_ceil(8), heads + 255 * 8 + 2 * decoded)
            }
        };
        // Validity: a byte for its kind, then nothing, bits, or a count and positions of up to n
        // values.
        if self.validity { (least + 1, most + 1 + 2 + 2 * n) } else { (least, most) }
    }
}

/// Bytes of a packed word, or of the length of a string.
fn word_bytes(encoding: Encoding, of: Layout) -> u64 {
    len64(encoding.word_len(of).unwrap_or(if of.physical.is_var() { 4 } else { 0 }))
}

/// Bytes of `n` words of this many bits, vector by vector.
fn bits_len(n: u64, width: u64) -> u64 {
    let vector = u64::from(VECTOR_VALUES);
    (n / vector) * (vector / 8) * width + ((n % vector) * width).div_ceil(8)
}

/// Whether `n_values` can decode to `decoded_len` bytes.
fn decoded_len_fits(of: Layout, n_values: u32, decoded_len: u64) -> bool {
    match of.width() {
        Some(width) => Some(decoded_len) == u64::from(n_values).checked_mul(len64(width)),
        None => of.physical.is_var() || decoded_len == u64::from(n_values),
    }
}

#[cfg(test)]
mod tests;
