//! The structures before the columns, each with its hash.

use entasis::{Error, Result};
use twox_hash::XxHash64;

use super::bytes::{array, slice, sum, u16_at, u32_at, u64_at};
use super::decoder::Decoder;
use super::text::{Part, Text};
use crate::r::{Mark, Strings};

/// The last word of the first structure.
pub(crate) const MAGIC: [u8; 4] = *b"PAAP";
/// Its position.
pub(crate) const MAGIC_AT: usize = 44;
/// The first bytes of files before version 0.8.
pub(crate) const LEGACY: [u8; 8] = 0xA91C_12F8_B245_A71D_u64.to_le_bytes();

const SEED: u64 = 912_824_571;
/// The lengths of structures.
const TABLE_LEN: u64 = 48;
const CHUNKSET_LEN: u64 = 80;
const NAMES_LEN: u64 = 24;
const INDEX_LEN: u64 = 96;
const DATA_LEN: u64 = 24;

/// The facts of a table.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) names: Strings,
    pub(super) n_rows: u64,
    pub(super) keys: Vec<usize>,
    pub(super) columns: Vec<Facts>,
    raw_names: Part,
    encoding: Mark,
}

/// The facts of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// How values are stored.
    pub(super) of: u16,
    /// Which class of R they have.
    pub(super) class: u16,
    /// The unit of times.
    pub(super) scale: i16,
    /// The position of the column.
    pub(super) at: u64,
}

impl Header {
    /// Appends the name of a column.
    pub(super) fn push_name(&self, i: usize, into: &mut Strings) {
        let mark = if self.names.codes().is_none() { Mark::Utf8 } else { self.encoding };
        match self.raw_names.get(i) {
            Some(name) => into.push(name, mark),
            None => into.push_missing(),
        }
    }
}

/// Reads and checks all structures.
pub(super) fn read(bytes: &[u8]) -> Result<Header> {
    if bytes.starts_with(&LEGACY) || bytes.get(MAGIC_AT..MAGIC_AT + 4) != Some(&MAGIC) {
        return Err(Error::unsupported("a file of fst before version 0.8")
            .advise("read it with an old version of fst in R and write it again"));
    }
    check(bytes, 0, TABLE_LEN)?;
    let flags = u32_at(bytes, 12)?;
    if u32_at(bytes, 24)? > 1 {
        return Err(Error::unsupported("a file of a later version of fst"));
    }
    if flags & 1 == 0 {
        return Err(Error::unsupported("an fst file of a big-endian machine"));
    }
    let n_columns = u64::from(u32_at(bytes, 28)?);
    let n_keys = u64::from(u32_at(bytes, 40)?);
    let keys = keys(bytes, n_keys, n_columns)?;

    let at = u64_at(bytes, 32)?;
    let chunkset_len = CHUNKSET_LEN + 8 * n_columns;
    check(bytes, at, chunkset_len)?;
    let n_rows = u64_at(bytes, at + 64)?;
    if u64::from(u32_at(bytes, at + 72)?) != n_columns {
        return Err(Error::corrupt("structures differ in the number of columns").at(at));
    }

    let names_at = at + chunkset_len;
    check(bytes, names_at, NAMES_LEN)?;
    let (mut end, mut names) = (names_at + NAMES_LEN, Part::default());
    let mut encoding = Mark::Native;
    if n_columns > 0 {
        let text = Text::open(bytes, end, n_columns)?;
        text.decode(&mut Decoder::new()?, 0..n_columns, &mut names)?;
        (end, encoding) = (text.end()?, text.mark());
    }

    check(bytes, end, INDEX_LEN)?;
    let data_at = u64_at(bytes, end + 32)?;
    if u16_at(bytes, end + 24)? == 0 || u64_at(bytes, end + 64)? != n_rows {
        return Err(Error::unsupported("an fst file whose rows are in several chunks"));
    }
    check(bytes, data_at, DATA_LEN + 8 * n_columns)?;
    let facts = |i: u64| {
        let list = |number: u64| at + CHUNKSET_LEN + 2 * (number * n_columns + i);
        Ok(Facts {
            class: u16_at(bytes, list(0))?,
            of: u16_at(bytes, list(1))?,
            scale: i16::from_le_bytes(array(bytes, list(3))?),
            at: u64_at(bytes, data_at + DATA_LEN + 8 * i)?,
        })
    };
    let columns: Result<Vec<Facts>> = (0..n_columns).map(facts).collect();
    let strings = names.clone().strings(encoding)?;
    Ok(Header { names: strings, n_rows, keys, columns: columns?, raw_names: names, encoding })
}

/// The columns of a key.
fn keys(bytes: &[u8], n_keys: u64, n_columns: u64) -> Result<Vec<usize>> {
    if n_keys == 0 {
        return Ok(Vec::new());
    }
    check(bytes, TABLE_LEN, 8 + n_keys.div_ceil(2) * 8)?;
    let (words, _) = slice(bytes, TABLE_LEN + 8, 4 * n_keys)?.as_chunks::<4>();
    let keys: Vec<usize> = words.iter().map(|&word| u32::from_le_bytes(word) as usize).collect();
    if keys.iter().any(|&key| key as u64 >= n_columns) {
        return Err(Error::corrupt("a key is not a column").at(TABLE_LEN));
    }
    Ok(keys)
}

/// Compares the hash of a structure with its bytes.
fn check(bytes: &[u8], at: u64, len: u64) -> Result<()> {
    sum(at, len)?;
    let structure = slice(bytes, at, len)?;
    if u64_at(structure, 0)? == XxHash64::oneshot(SEED, &structure[8..]) {
        return Ok(());
    }
    Err(Error::corrupt("the hash of a structure does not match its bytes").at(at))
}
