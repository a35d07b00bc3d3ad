//! Decoding of one block: a forged directory, forged pages, any type. The naive decoder judges the
//! result, and every instruction set has to give the same.

use std::ops::Range;

use entasis_encodings::{BlockDecoder, Codecs, Page, PageScratch, TextScratch};
use entasis_format::{BlockRecord, Directory, Error, HEADER_LEN, Kind, Layout, Limits, Physical, Result};
use entasis_kernels::Word;
use entasis_kernels::dispatch::on_every_isa;

use super::file;
use super::input::Input;
use crate::hostile::binds_writers_alone;
use crate::memory;
use crate::mutate::repair_segment;
use crate::naive::bytes::Room;
use crate::naive::types::{self, Type};
use crate::naive::{self, Cell, records, segment};
use crate::probe::is_fit;

/// The most values of a block in an input. More take too long.
const MOST_VALUES: u32 = 20_000;
/// The most bytes of them.
const MOST_LEN: u64 = 1 << 20;

/// A block in a file that has nothing else: its pages, its directory, its record.
#[derive(Debug)]
pub(super) struct Block {
    file: Vec<u8>,
    record_at: usize,
    of: Layout,
}

impl Block {
    /// Puts a block into a file, with its checksums.
    pub fn new(of: Layout, n_values: u32, decoded_len: u64, directory: &[u8], pages: &[u8]) -> Self {
        let mut file = vec![0; HEADER_LEN];
        file.extend(pages);
        let directory_at = file.len() as u64;
        file.extend(directory);
        let record_at = file.len();
        file.extend(0u64.to_le_bytes());
        file.extend(n_values.to_le_bytes());
        file.extend([0, 1, 2, 3].map(|i| directory.get(i).copied().unwrap_or(0)));
        file.extend(directory_at.to_le_bytes());
        file.extend((HEADER_LEN as u64).to_le_bytes());
        file.extend((directory.len() as u32).to_le_bytes());
        file.extend((pages.len() as u32).to_le_bytes());
        file.extend(decoded_len.to_le_bytes());
        file.extend([0; 16]);
        repair_segment(&mut file, record_at);
        Self { file, record_at, of }
    }

    /// The block of an input: physical type, `value_len`, values, decoded bytes, bytes of the
    /// directory, directory, pages.
    fn of(bytes: &[u8]) -> Self {
        let mut input = Input::new(bytes);
        let (physical, value_len) = (input.u8(), u32::from(input.u16()));
        // Null columns have no blocks.
        let physical = Physical::from_code(physical).filter(|&physical| physical != Physical::Null);
        let physical = physical.unwrap_or(Physical::I64);
        let value_len = if physical == Physical::FixedBytes { value_len } else { 0 };
        let (n_values, decoded_len) = (u32::from(input.u16()), u64::from(input.u32()));
        let directory_len = usize::from(input.u16());
        let directory = input.take(directory_len);
        Self::new(Layout { physical, value_len }, n_values, decoded_len, directory, input.rest())
    }

    /// The block record.
    pub fn record(&self) -> &[u8] {
        &self.file[self.record_at..]
    }

    /// The result of the core, after a comparison with the naive decoder.
    ///
    /// # Panics
    /// When they differ.
    pub fn judged(&self, result: Result<Values>) -> Result<Values> {
        judge(self, &result);
        result
    }
}

/// Decoded values, one after the other.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Values {
    /// For each value, whether it is present.
    valid: Vec<bool>,
    /// The end of each value in the bytes.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Values {
    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn push(&mut self, valid: bool, bytes: &[u8]) {
        self.valid.push(valid);
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }

    /// The number of values.
    pub fn n(&self) -> usize {
        self.ends.len()
    }

    /// Value i; none when it is missing.
    pub fn cell(&self, i: usize) -> Option<Cell> {
        self.valid[i].then(|| self.get(i).to_vec())
    }
}

/// Decodes a block by the core on each instruction set and by the naive decoder.
///
/// # Panics
/// When they do not agree, or another promise is broken.
pub fn run(bytes: &[u8]) {
    let block = Block::of(bytes);
    let record = match BlockRecord::parse(block.record()) {
        Ok(record) => record,
        Err(error) => {
            let _ = block.judged(Err(error));
            return;
        }
    };
    if record.n_values > MOST_VALUES || record.decoded_len > MOST_LEN || block.of.physical.is_nested() {
        return;
    }
    let most = (4 << 20) + 16 * (bytes.len() + record.decoded_len as usize) + 64 * record.n_values as usize;
    let mut first = None;
    on_every_isa(|isa| {
        let (result, used) = memory::peak(|| decode(&block, &record));
        assert!(used <= most, "{used} bytes were used for {} decoded ones", record.decoded_len);
        let Some(first) = &first else {
            first = Some(result);
            return;
        };
        match (first, &result) {
            (Ok(a), Ok(b)) => assert!(a == b, "{isa:?} decodes other values"),
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{isa:?} gives another error"),
            (Ok(_), Err(error)) => panic!("only {isa:?} refuses: {error}"),
            (Err(error), Ok(_)) => panic!("{isa:?} accepts, in spite of {error}"),
        }
    });
    if let Some(first) = first {
        let _ = block.judged(first);
    }
}

/// Compares with the naive decoder.
fn judge(block: &Block, result: &Result<Values>) {
    if let Err(error) = result {
        assert!(is_fit(error), "{:?}: {error}", error.kind());
        if matches!(error.kind(), Kind::Limit | Kind::OutOfMemory) {
            return;
        }
    }
    let of = Type {
        physical: block.of.physical.code(),
        value_len: block.of.value_len,
        logical: 0,
        unit: 0,
        missing: 0,
        ordered: false,
        precision: 0,
        scale: 0,
        host_variant: 0,
    };
    let naive = records::BlockRecord::parse(block.record());
    let room = Room { file: &block.file, start: 256 };
    match (result, naive.and_then(|record| segment::block(room, &record, &of))) {
        (Ok(values), Ok(cells)) => {
            assert_eq!(values.ends.len(), cells.len(), "the number of values");
            for (i, cell) in cells.iter().enumerate() {
                assert_eq!(values.cell(i), *cell, "value {i}");
            }
        }
        (Ok(_), Err(wrong)) => {
            let is_fine = binds_writers_alone(&wrong.rule) || wrong.kind == naive::Kind::Limit;
            assert!(is_fine, "only the naive decoder refuses: {wrong}");
        }
        (Err(error), Ok(_)) => panic!("only the core refuses: {error}"),
        (Err(_), Err(_)) => {}
    }
}

/// Decodes all pages. Checks that parts of a page have the values of the whole.
pub(super) fn decode(block: &Block, record: &BlockRecord) -> Result<Values> {
    let Block { file, of, .. } = block;
    let directory_at = record.directory_at as usize;
    let stored = &file[HEADER_LEN..directory_at];
    let directory = Directory::parse(&file[directory_at..block.record_at], record, *of, &limits())?;
    let mut codecs = Codecs::new();
    let (dictionary, mut rest) = stored.split_at(directory.dictionary.stored_len as usize);
    let decoder = BlockDecoder::open(&directory, *of, dictionary, &mut codecs)?;
    let mut values = Values::default();
    if directory.pages.is_empty() {
        let page = Page::constant(record.n_values as usize);
        whole(&decoder, &page, *of, &mut values)?;
    }
    let (mut scratch, mut packed_scratch) = (PageScratch::default(), PageScratch::default());
    for (i, entry) in directory.pages.iter().enumerate() {
        let (stored, after) = rest.split_at(entry.stored_len as usize);
        let page = Page::open(&directory, *of, i, stored, &mut codecs, &mut scratch)?;
        let at = values.ends.len();
        whole(&decoder, &page, *of, &mut values)?;
        let n = page.n_values();
        if of.physical.is_var() {
            let packed = Page::open_packed(&directory, *of, i, stored, &mut codecs, &mut packed_scratch)?;
            let mut again = Values::default();
            whole(&decoder, &packed, *of, &mut again)?;
            let is_same = (0..n).all(|i| again.get(i) == values.get(at + i));
            assert!(is_same, "symbols that are decoded later give other strings");
        }
        for range in [n / 3..n - n / 5, n - 1..n, n / 2..n / 2 + 1] {
            let mut some = Values::default();
            part(&decoder, &page, *of, range.clone(), &mut some)?;
            for (k, i) in range.clone().enumerate() {
                let is_same = !some.valid[k] || some.get(k) == values.get(at + i);
                assert!(is_same, "value {i} of a page depends on the range asked for");
            }
            let mut read = |from: usize, out: &mut [u8]| {
                out.copy_from_slice(&stored[from..from + out.len()]);
                Ok(())
            };
            let mut scratch = PageScratch::default();
            let opened = Page::open_part(&directory, *of, i, range.clone(), &mut scratch, &mut read)?;
            if let Some(opened) = opened {
                let mut again = Values::default();
                part(&decoder, &opened, *of, range, &mut again)?;
                assert!(again == some, "a page depends on the bytes around a range");
            }
        }
        picks(&decoder, &page, *of, |i| (values.valid[at + i], values.get(at + i)))?;
        rest = after;
    }
    // Readers of files compare the length with that of their memory.
    if of.physical.is_var() && values.bytes.len() as u64 != record.decoded_len {
        return Err(Error::corrupt("the strings of a block do not have the length in its record"));
    }
    Ok(values)
}

/// A test must not decode a page of a gigabyte.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.page_payload_len = MOST_LEN;
    limits
}

fn whole(decoder: &BlockDecoder<'_>, page: &Page<'_>, of: Layout, values: &mut Values) -> Result<()> {
    part(decoder, page, of, 0..page.n_values(), values)
}

/// Appends the values of a range of a page.
fn part(
    decoder: &BlockDecoder<'_>,
    page: &Page<'_>,
    of: Layout,
    range: Range<usize>,
    values: &mut Values,
) -> Result<()> {
    let n = range.len();
    if of.physical.is_var() {
        return strings(decoder, page, of, range, values);
    }
    let bytes = match of.physical {
        Physical::Bool => {
            let mut out = vec![0xA5; n];
            decoder.decode_bools(page, range.clone(), &mut out)?;
            assert!(out.iter().all(|&byte| byte <= 1), "booleans are 0 or 1");
            let mut bits = vec![0; n.div_ceil(8) + 1];
            decoder.decode_bool_bits(page, range.clone(), &mut bits, 3)?;
            let is_same = (0..n).all(|i| bits[(i + 3) / 8] >> ((i + 3) % 8) & 1 == out[i]);
            assert!(is_same, "bits are the booleans");
            out
        }
        _ => match of.physical.width() {
            Some(1) => words::<u8>(decoder, page, range.clone())?,
            Some(2) => words::<u16>(decoder, page, range.clone())?,
            Some(4) => words::<u32>(decoder, page, range.clone())?,
            Some(8) => words::<u64>(decoder, page, range.clone())?,
            _ => {
                let mut out = vec![0xA5; n * of.width().unwrap_or(0)];
                decoder.decode_bytes(page, range.clone(), &mut out)?;
                if of.physical.width() == Some(16) {
                    let mut wide = vec![0x5A_u128; n];
                    decoder.decode_wide(page, range.clone(), &mut wide)?;
                    assert!(bytemuck::cast_slice::<u128, u8>(&wide) == out, "wide words are the bytes");
                }
                out
            }
        },
    };
    let width = if of.physical == Physical::Bool { 1 } else { of.width().unwrap_or(0) };
    for (k, i) in range.enumerate() {
        values.push(page.validity.is_valid(i), &bytes[k * width..(k + 1) * width]);
    }
    Ok(())
}

fn words<T: Word>(decoder: &BlockDecoder<'_>, page: &Page<'_>, range: Range<usize>) -> Result<Vec<u8>> {
    let mut out = vec![T::from_u64(0xA5); range.len()];
    decoder.decode(page, range, &mut out)?;
    Ok(bytemuck::cast_slice(&out).to_vec())
}

fn strings(
    decoder: &BlockDecoder<'_>,
    page: &Page<'_>,
    of: Layout,
    range: Range<usize>,
    values: &mut Values,
) -> Result<()> {
    let mut scratch = TextScratch::default();
    let slice = decoder.strings(page, range.clone(), &mut scratch)?;
    let mut bytes = vec![0xA5; slice.total_len()];
    slice.write(&mut bytes)?;
    let lengths = slice.lengths().to_vec();
    let (mut written, mut other) = (vec![0x5A; bytes.len()], TextScratch::default());
    let memory = &mut written;
    let (again, memory) = decoder.write_strings(page, range.clone(), &mut other, |len| {
        if len == memory.len() { Ok(memory) } else { Err(Error::corrupt("another length")) }
    })?;
    assert!(again == lengths && *memory == bytes, "strings that are written are those that are read");
    let mut at = 0;
    for (i, len) in range.zip(lengths) {
        let text = &bytes[at..at + len as usize];
        let is_text = of.physical != Physical::Utf8 || std::str::from_utf8(text).is_ok();
        assert!(is_text, "utf8 values are UTF-8");
        values.push(page.validity.is_valid(i), text);
        at += len as usize;
    }
    assert_eq!(at, bytes.len(), "the lengths add up");
    Ok(())
}

/// Checks that single values are those of the page.
fn picks<'v>(
    decoder: &BlockDecoder<'_>,
    page: &Page<'_>,
    of: Layout,
    value: impl Fn(usize) -> (bool, &'v [u8]),
) -> Result<()> {
    let at: Vec<u16> = (0..page.n_values()).step_by(7).map(|i| i as u16).collect();
    let picked = match of.physical.width() {
        Some(1) => pick::<u8>(decoder, page, &at)?,
        Some(2) => pick::<u16>(decoder, page, &at)?,
        Some(4) => pick::<u32>(decoder, page, &at)?,
        Some(8) => pick::<u64>(decoder, page, &at)?,
        _ => return Ok(()),
    };
    let width = of.width().unwrap_or(1);
    for (picked, &at) in picked.chunks(width).zip(&at) {
        let (is_valid, value) = value(at.into());
        assert!(!is_valid || picked == value, "value {at} of a page depends on how it is asked for");
    }
    Ok(())
}

fn pick<T: Word>(decoder: &BlockDecoder<'_>, page: &Page<'_>, at: &[u16]) -> Result<Vec<u8>> {
    let mut out = vec![T::from_u64(0x5A); at.len()];
    decoder.pick(page, at, &mut out)?;
    Ok(bytemuck::cast_slice(&out).to_vec())
}

/// The blocks of the golden and small files.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (file, decoded) in file::decoded() {
        for column in &decoded.columns {
            let of = types::structure(&column.record.of);
            for block in column.blocks.iter().filter(|block| block.n_values <= MOST_VALUES) {
                let part = |at: u64, len: u32| &file[at as usize..at as usize + len as usize];
                let directory = part(block.directory_at, block.directory_len);
                let mut seed = vec![of.physical];
                seed.extend((of.value_len as u16).to_le_bytes());
                seed.extend((block.n_values as u16).to_le_bytes());
                seed.extend((block.decoded_len as u32).to_le_bytes());
                seed.extend((directory.len() as u16).to_le_bytes());
                seed.extend(directory);
                seed.extend(part(block.pages_at, block.pages_len));
                seeds.push(seed);
            }
        }
    }
    seeds
}
