//! The structures before the columns, each with its hash.

use std::borrow::Cow;

use entasis::{Error, Result};
use twox_hash::XxHash64;

use super::text::{Part, Text};
use crate::bytes::{Bytes, sum};
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
pub(super) fn read(bytes: Bytes<'_>) -> Result<Header> {
    let is_legacy = bytes.array(0).is_ok_and(|start: [u8; 8]| start == LEGACY);
    if is_legacy || !bytes.array(MAGIC_AT as u64).is_ok_and(|magic: [u8; 4]| magic == MAGIC) {
        return Err(Error::unsupported("a file of fst before version 0.8")
            .advise("read it with an old version of fst in R and write it again"));
    }
    let table = Structure::read(bytes, 0, TABLE_LEN)?;
    if table.u32(24) > 1 {
        return Err(Error::unsupported("a file of a later version of fst"));
    }
    if table.u32(12) & 1 == 0 {
        return Err(Error::unsupported("an fst file of a big-endian machine"));
    }
    let n_columns = u64::from(table.u32(28));
    let keys = keys(bytes, u64::from(table.u32(40)), n_columns)?;

    let at = table.u64(32);
    let chunkset_len = CHUNKSET_LEN + 8 * n_columns;
    let chunkset = Structure::read(bytes, at, chunkset_len)?;
    let n_rows = chunkset.u64(64);
    if u64::from(chunkset.u32(72)) != n_columns {
        return Err(Error::corrupt("structures differ in the number of columns").at(at));
    }

    let names_at = at + chunkset_len;
    Structure::read(bytes, names_at, NAMES_LEN)?;
    let (mut end, mut names) = (names_at + NAMES_LEN, Part::default());
    let mut encoding = Mark::Native;
    if n_columns > 0 {
        let text = Text::open(bytes, end, n_columns)?;
        names = text.decode_all()?;
        (end, encoding) = (text.end()?, text.mark());
    }

    let index = Structure::read(bytes, end, INDEX_LEN)?;
    let data_at = index.u64(32);
    if index.u16(24) == 0 || index.u64(64) != n_rows {
        return Err(Error::unsupported("an fst file whose rows are in several chunks"));
    }
    let data = Structure::read(bytes, data_at, DATA_LEN + 8 * n_columns)?;
    // The structures have the lengths of these lists.
    let n = usize::try_from(n_columns).unwrap_or(usize::MAX);
    let facts = |i: usize| {
        let list = |number: usize| CHUNKSET_LEN as usize + 2 * (number * n + i);
        Facts {
            class: chunkset.u16(list(0)),
            of: chunkset.u16(list(1)),
            scale: chunkset.u16(list(3)).cast_signed(),
            at: data.u64(DATA_LEN as usize + 8 * i),
        }
    };
    let columns = (0..n).map(facts).collect();
    let strings = names.clone().strings(encoding)?;
    Ok(Header { names: strings, n_rows, keys, columns, raw_names: names, encoding })
}

/// The columns of a key.
fn keys(bytes: Bytes<'_>, n_keys: u64, n_columns: u64) -> Result<Vec<usize>> {
    if n_keys == 0 {
        return Ok(Vec::new());
    }
    let list = Structure::read(bytes, TABLE_LEN, 8 + n_keys.div_ceil(2) * 8)?;
    let keys: Vec<usize> = (0..n_keys as usize).map(|i| list.u32(8 + 4 * i) as usize).collect();
    if keys.iter().any(|&key| key as u64 >= n_columns) {
        return Err(Error::corrupt("a key is not a column").at(TABLE_LEN));
    }
    Ok(keys)
}

/// A structure whose hash was compared.
struct Structure<'a>(Cow<'a, [u8]>);

impl<'a> Structure<'a> {
    /// Reads a structure of at least 8 bytes, and compares its hash with its bytes.
    fn read(bytes: Bytes<'a>, at: u64, len: u64) -> Result<Self> {
        sum(at, len)?;
        let found = Self(bytes.slice(at, len)?);
        if found.u64(0) == XxHash64::oneshot(SEED, &found.0[8..]) {
            return Ok(found);
        }
        Err(Error::corrupt("the hash of a structure does not match its bytes").at(at))
    }

    /// Bytes inside of the structure.
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.0[at..at + N]);
        array
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }
}
