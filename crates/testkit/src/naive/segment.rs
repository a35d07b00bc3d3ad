//! The directory of a block, its dictionary, and the way from words to values.

use super::Cell;
use super::body::{self, Shape};
use super::bytes::{Cursor, Wrong, checksum, is_zero, range, rule, u32_at, u64_at, word};
use super::payload::{payload, validity};
use super::records::BlockRecord;
use super::types::{Type, is_var, physical, structure, width};

/// The fixed part of a directory.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Packing, transform, codec, filter.
    pub encoding: [u8; 4],
    /// Width in bits.
    pub width: u32,
    e: u8,
    f: u8,
    /// Whether vectors have patches.
    pub patches: bool,
    /// Whether vectors have a base and width each.
    pub per_vector: bool,
    validity: bool,
    /// The base.
    pub base: u128,
    n_pages: u32,
    n_dictionary: u32,
    dictionary_stored_len: u32,
    dictionary_payload_len: u32,
    dictionary_checksum: u64,
}

/// Bytes of a word (W).
fn word_len(encoding: [u8; 4], of: &Type) -> usize {
    match (encoding[0], encoding[1]) {
        (5 | 6, _) | (_, 1) => 4,
        _ if is_narrow(encoding, of) => 8,
        _ => width(of).unwrap_or(1),
    }
}

/// Whether values of 16 or 32 bytes are stored as words of 64 bits.
fn is_narrow(encoding: [u8; 4], of: &Type) -> bool {
    let is_wide = of.physical == physical::I128 || of.physical == physical::I256;
    is_wide && encoding[0] > 0 && encoding[1] == 0
}

/// Values of a full page.
fn page_values(of: &Type) -> usize {
    match width(of) {
        Some(width) if width > 0 => ((256 << 10) / width).clamp(1, 8192),
        _ => 8192,
    }
}

impl Directory {
    /// The parameters of an example of `docs/format/examples.md`: the flags are *patches* and *per
    /// vector*.
    pub fn of_example(packing: u8, width: u32, base: u128, (patches, per_vector): (bool, bool)) -> Self {
        Self {
            encoding: [packing, 0, 0, 0],
            width,
            e: 0,
            f: 0,
            patches,
            per_vector,
            validity: false,
            base,
            n_pages: 1,
            n_dictionary: 0,
            dictionary_stored_len: 0,
            dictionary_payload_len: 0,
            dictionary_checksum: 0,
        }
    }

    fn parse(bytes: &[u8], block: &BlockRecord, of: &Type) -> Result<Self, Wrong> {
        rule(bytes.len() >= 40, "the length of a directory")?;
        rule(bytes[..4] == block.encoding, "the encoding of a directory is its block's")?;
        rule(bytes[7] & !7 == 0, "flags of a directory")?;
        let directory = Self {
            encoding: block.encoding,
            width: u32::from(bytes[4]),
            e: bytes[5],
            f: bytes[6],
            patches: bytes[7] & 1 != 0,
            per_vector: bytes[7] & 2 != 0,
            validity: bytes[7] & 4 != 0,
            base: word(bytes, 8, 8),
            n_pages: u32_at(bytes, 16),
            n_dictionary: u32_at(bytes, 20),
            dictionary_stored_len: u32_at(bytes, 24),
            dictionary_payload_len: u32_at(bytes, 28),
            dictionary_checksum: u64_at(bytes, 32),
        };
        let len = 40 + 24 * u64::from(directory.n_pages);
        rule(bytes.len() as u64 == len, "the length of a directory")?;
        directory.check_encoding(of)?;
        directory.check_fields(bytes, of)?;
        Ok(directory)
    }

    /// Which packing, transform and filter go together on a type.
    fn check_encoding(&self, of: &Type) -> Result<(), Wrong> {
        let [packing, transform, _, filter] = self.encoding;
        let raw_alone = [physical::COMPLEX128, physical::LONG_DOUBLE, physical::FIXED].contains(&of.physical);
        let fits = match transform {
            0 if of.physical == physical::BOOL => packing <= 1,
            0 if is_var(of.physical) => packing == 5 || packing == 6,
            0 if raw_alone => packing == 0,
            0 => packing <= 4,
            1 => packing <= 4 && of.physical != physical::BOOL,
            _ => packing <= 4 && (of.physical == physical::F64 || of.physical == physical::F32),
        };
        rule(fits, "a packing or transform that the type does not allow")?;
        let word = word_len(self.encoding, of);
        let shuffles = packing == 0 && word > 1 && of.physical != physical::BOOL;
        rule(filter == 0 || shuffles, "byte shuffle goes with raw words of 2 bytes and more")?;
        let patches = packing == 2 && transform != 1 && !is_narrow(self.encoding, of);
        rule(!self.patches || patches, "patches go with bit-packing and without a dictionary")?;
        rule(!self.per_vector || packing == 2, "per vector goes with bit-packing")
    }

    /// Fields in their bounds, and zero where they are not used.
    fn check_fields(&self, bytes: &[u8], of: &Type) -> Result<(), Wrong> {
        let [packing, transform, ..] = self.encoding;
        let word = word_len(self.encoding, of);
        if packing <= 1 || self.per_vector {
            rule(self.width == 0, "width is zero where it is not used")?;
        }
        if packing == 0 || packing == 3 || self.per_vector {
            rule(self.base == 0, "base is zero where it is not used")?;
        }
        rule(self.width as usize <= 8 * word, "the width")?;
        rule(word >= 8 || self.base >> (8 * word) == 0, "base is a word, other bytes zero")?;
        rule(of.physical != physical::BOOL || self.base <= 1, "the base of bool is 0 or 1")?;
        if transform == 2 || transform == 3 {
            let (most, most_bits) = if of.physical == physical::F64 { (18, 12) } else { (10, 8) };
            rule(self.e <= most, "ALP exponents")?;
            rule(transform == 3 || self.f <= self.e, "ALP exponents")?;
            rule(transform == 2 || (1..=most_bits).contains(&self.f), "bits of a residual")?;
        } else {
            rule(self.e == 0 && self.f == 0, "ALP exponents without ALP")?;
        }
        if transform == 1 {
            rule((1..=65_536).contains(&self.n_dictionary), "the number of dictionary entries")
        } else {
            rule(is_zero(&bytes[20..40]), "dictionary fields without a dictionary")
        }
    }

    /// The block's dictionary.
    fn dictionary(&self, stored: &[u8], of: &Type) -> Result<Vec<Cell>, Wrong> {
        let n = self.n_dictionary as usize;
        let bytes = payload(stored, self.dictionary_payload_len, self.dictionary_checksum, self.encoding[2])?;
        let mut rest = Cursor { rest: &bytes };
        let mut entries = Vec::new();
        if let Some(width) = width(of) {
            for _ in 0..n {
                entries.push(rest.take(width)?.to_vec());
            }
        } else {
            return body::entries(&mut rest, n);
        }
        rest.end()?;
        Ok(entries)
    }

    /// The value of a word.
    fn value(&self, of: &Type, word: u128, dictionary: &[Cell]) -> Result<Cell, Wrong> {
        match self.encoding[1] {
            1 => {
                let entry = dictionary.get(word as usize);
                rule(entry.is_some(), "codes are less than n_dictionary")?;
                Ok(entry.cloned().unwrap_or_default())
            }
            2 if of.physical == physical::F64 => {
                let power = |sign, n| format!("1e{sign}{n}").parse::<f64>().unwrap_or(f64::NAN);
                let value = (word as u64 as i64) as f64 * power("", self.f) * power("-", self.e);
                Ok(value.to_le_bytes().to_vec())
            }
            2 => {
                let power = |sign, n| format!("1e{sign}{n}").parse::<f32>().unwrap_or(f32::NAN);
                let value = (word as u32 as i32) as f32 * power("", self.f) * power("-", self.e);
                Ok(value.to_le_bytes().to_vec())
            }
            3 => {
                let power = format!("1e-{}", self.e);
                let parts = |word: i128| (word.div_euclid(1 << self.f), word.rem_euclid(1 << self.f));
                let half = 1i128 << (self.f - 1);
                if word.is_multiple_of(1 << self.f) {
                    let nan = if of.physical == physical::F64 { 0x7FF8 << 48 } else { 0x7FC0_0000u64 };
                    Ok(nan.to_le_bytes()[..width(of).unwrap_or(0)].to_vec())
                } else if of.physical == physical::F64 {
                    let (d, r) = parts(i128::from(word as u64 as i64));
                    let near = (d as f64 * power.parse::<f64>().unwrap_or(f64::NAN)).to_bits();
                    Ok((i128::from(near) + r - half).rem_euclid(1 << 64).to_le_bytes()[..8].to_vec())
                } else {
                    let (d, r) = parts(i128::from(word as u32 as i32));
                    let near = (d as f32 * power.parse::<f32>().unwrap_or(f32::NAN)).to_bits();
                    Ok((i128::from(near) + r - half).rem_euclid(1 << 32).to_le_bytes()[..4].to_vec())
                }
            }
            _ => {
                let width = width(of).unwrap_or(1);
                let is_negative = is_narrow(self.encoding, of) && (word as u64 as i64) < 0;
                let mut bytes = word.to_le_bytes().to_vec();
                if is_negative {
                    bytes[8..].fill(0xFF);
                }
                bytes.resize(width, if is_negative { 0xFF } else { 0 });
                Ok(bytes)
            }
        }
    }

    /// The values of a page's body.
    fn body(
        &self,
        rest: &mut Cursor<'_>,
        of: &Type,
        n: usize,
        dictionary: &[Cell],
    ) -> Result<Vec<Cell>, Wrong> {
        if self.encoding[0] >= 5 {
            return body::strings(rest, self, n);
        }
        if self.encoding[..2] == [0, 0] && (of.physical == physical::I256 || of.physical == physical::FIXED) {
            return body::rows(rest, self, n, width(of).unwrap_or(0));
        }
        let (words, patches) = if of.physical == physical::BOOL {
            (body::bools(rest, self, n)?, Vec::new())
        } else {
            let shape = Shape { word: word_len(self.encoding, of), value: width(of).unwrap_or(0), n };
            body::words(rest, self, shape)?
        };
        let mut values = Vec::new();
        for word in words {
            values.push(self.value(of, word, dictionary)?);
        }
        for (position, bits) in patches {
            values[position] = bits.to_le_bytes()[..width(of).unwrap_or(0)].to_vec();
        }
        Ok(values)
    }
}

/// Bytes that values are counted with in `decoded_len`.
fn decoded_len(of: &Type, values: &[Cell]) -> u64 {
    match width(of) {
        Some(width) => (width * values.len()) as u64,
        None if of.physical == physical::BOOL => values.len() as u64,
        None => values.iter().map(|value| value.len() as u64).sum(),
    }
}

/// utf8 values are UTF-8 each by itself.
fn check_text(of: &Type, values: &[Cell]) -> Result<(), Wrong> {
    let sound =
        of.physical != physical::UTF8 || values.iter().all(|value| std::str::from_utf8(value).is_ok());
    rule(sound, "utf8 values are UTF-8")
}

/// Decodes all values of a block. `file` ends where the generation does.
///
/// # Errors
/// *Corrupt*, *limit*.
pub fn block(file: &[u8], block: &BlockRecord, of: &Type) -> Result<Vec<Option<Cell>>, Wrong> {
    let is_placed = (256..=file.len() as u64).contains(&block.pages_at) && block.directory_at >= 256;
    rule(is_placed, "pages and directory of a block lie after the header")?;
    let bytes = range(file, block.directory_at, u64::from(block.directory_len))?;
    rule(checksum(bytes) == block.directory_checksum, "the checksum of a directory")?;
    let directory = Directory::parse(bytes, block, of)?;
    let mut stored = Cursor { rest: range(file, block.pages_at, u64::from(block.pages_len))? };
    let mut dictionary = Vec::new();
    if directory.n_dictionary > 0 {
        let bytes = stored.take(directory.dictionary_stored_len as usize)?;
        dictionary = directory.dictionary(bytes, of)?;
        check_text(of, &dictionary)?;
    }
    let n = block.n_values as usize;
    if directory.n_pages == 0 {
        let constant = directory.encoding[0] == 1 && !directory.validity;
        rule(constant, "only a constant block without validity has no pages")?;
        let value = directory.value(of, directory.base, &dictionary)?;
        stored.end()?;
        let len = n as u64 * decoded_len(of, std::slice::from_ref(&value));
        rule(len == block.decoded_len, "decoded_len of a block")?;
        return Ok(vec![Some(value); n]);
    }
    let mut cells = Vec::new();
    let mut total = 0;
    for (i, entry) in bytes[40..].chunks_exact(24).enumerate() {
        let page_n = u32_at(entry, 8) as usize;
        rule((1..=page_values(of)).contains(&page_n), "the number of values of a page")?;
        let is_last = i + 1 == directory.n_pages as usize;
        let is_full = page_n == page_values(of);
        rule(is_var(of.physical) || is_last || is_full, "pages of fixed width are full")?;
        let page = payload(
            stored.take(u32_at(entry, 0) as usize)?,
            u32_at(entry, 4),
            u64_at(entry, 16),
            directory.encoding[2],
        )?;
        let mut rest = Cursor { rest: &page };
        let valid = if directory.validity { validity(&mut rest, page_n)? } else { vec![true; page_n] };
        let values = directory.body(&mut rest, of, page_n, &dictionary)?;
        check_text(of, &values)?;
        let len = u64::from(u32_at(entry, 12));
        rule(decoded_len(of, &values) == len, "decoded_len of a page")?;
        rule(page_n == 1 || len <= 256 << 10, "a page has at most 256 KiB decoded")?;
        total += len;
        for (value, valid) in values.into_iter().zip(valid) {
            cells.push(valid.then_some(value));
        }
        rule(cells.len() <= n, "the pages' n_values sum to the block's")?;
    }
    stored.end()?;
    rule(cells.len() == n, "the pages' n_values sum to the block's")?;
    rule(total == block.decoded_len, "decoded_len of a block")?;
    Ok(cells)
}

/// The names of the features that a block uses, for tests of coverage. `block` must be sound.
///
/// # Errors
/// As [`block`].
pub fn features(file: &[u8], block: &BlockRecord, of: &Type) -> Result<Vec<String>, Wrong> {
    let bytes = range(file, block.directory_at, u64::from(block.directory_len))?;
    let directory = Directory::parse(bytes, block, &structure(of))?;
    let [packing, transform, codec, filter] = block.encoding;
    let packings = ["raw", "constant", "bit-packed", "delta", "run-length", "strings", "fsst"];
    let name = format!(
        "{}{}{}{}",
        packings[packing as usize],
        ["", " dictionary", " alp", " residual"][transform as usize],
        ["", " lz4", " zstd"][codec as usize],
        ["", " shuffle"][filter as usize],
    );
    let mut features = vec![name];
    let flags = [
        (directory.patches, "patches"),
        (directory.per_vector, "per vector"),
        (directory.n_pages == 0, "no pages"),
        (directory.n_pages > 1, "pages"),
    ];
    features.extend(flags.into_iter().filter(|flag| flag.0).map(|flag| flag.1.to_owned()));
    let has_full_vector = bytes[40..].chunks_exact(24).any(|entry| u32_at(entry, 8) >= 1024);
    let has_width = packing == 2 && !directory.per_vector && directory.width > 0;
    if has_full_vector && has_width {
        let lane = [8, 16, 32, 64].into_iter().find(|&bits| bits >= directory.width).unwrap_or(64);
        features.push(format!("lanes of {lane} bits"));
    }
    let mut stored = Cursor { rest: range(file, block.pages_at, u64::from(block.pages_len))? };
    let dictionary = stored.take(directory.dictionary_stored_len as usize)?;
    if !dictionary.is_empty() && is_var(of.physical) {
        let sum = directory.dictionary_checksum;
        let kind = payload(dictionary, directory.dictionary_payload_len, sum, codec)?[5];
        features.push(["plain entries", "entries of symbols"][usize::from(kind)].to_owned());
    }
    for entry in bytes[40..].chunks_exact(24) {
        let stored = stored.take(u32_at(entry, 0) as usize)?;
        if directory.validity {
            let page = payload(stored, u32_at(entry, 4), u64_at(entry, 16), codec)?;
            features.push(format!("validity {}", page[0]));
        }
    }
    Ok(features)
}
