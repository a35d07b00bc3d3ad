//! The pages of a block: its dictionary, and the way from words to values.

use super::Cell;
use super::body::{self, Shape};
use super::bytes::{Cursor, Room, Wrong, checksum, range, rule, u32_at, u64_at};
use super::directory::{Directory, is_narrow, word_len};
use super::payload::{payload, validity};
use super::records::BlockRecord;
use super::types::{Type, is_var, physical, structure, width};

/// Values of a full page.
fn page_values(of: &Type) -> usize {
    match width(of) {
        Some(width) if width > 0 => ((256 << 10) / width).clamp(1, 8192),
        _ => 8192,
    }
}

impl Directory {
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

/// The bytes of values as `decoded_len` counts them.
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

/// Decodes all values of a block.
///
/// # Errors
/// *Corrupt*, *limit*.
pub fn block(room: Room<'_>, block: &BlockRecord, of: &Type) -> Result<Vec<Option<Cell>>, Wrong> {
    let is_placed = (room.start..=room.file.len() as u64).contains(&block.pages_at);
    rule(is_placed, "the pages of a block lie in the room")?;
    let bytes = room.range(block.directory_at, u64::from(block.directory_len))?;
    rule(checksum(bytes) == block.directory_checksum, "the checksum of a directory")?;
    let directory = Directory::parse(bytes, block, of)?;
    let mut stored = Cursor { rest: room.range(block.pages_at, u64::from(block.pages_len))? };
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
    for (i, entry) in bytes[40..].chunks_exact(24).take(directory.n_pages as usize).enumerate() {
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
    let mut entries = bytes[40..].chunks_exact(24).take(directory.n_pages as usize);
    let has_full_vector = entries.any(|entry| u32_at(entry, 8) >= 1024);
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
    for entry in bytes[40..].chunks_exact(24).take(directory.n_pages as usize) {
        let stored = stored.take(u32_at(entry, 0) as usize)?;
        if directory.validity {
            let page = payload(stored, u32_at(entry, 4), u64_at(entry, 16), codec)?;
            features.push(format!("validity {}", page[0]));
        }
    }
    Ok(features)
}
