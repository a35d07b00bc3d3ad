//! The records of the footer: tables, columns, ranges, blocks, statistics.

use super::bytes::{Kind, Wrong, is_zero, known, maybe_at, rule, u16_at, u32_at, u64_at, wrong};
use super::header::Version;
use super::types::{self, Type, physical};

/// A table record.
#[derive(Clone, Copy, Debug)]
pub struct TableRecord {
    /// The number of the first column.
    pub first_column: u64,
    /// The number of columns.
    pub n_columns: u64,
    /// The number of rows.
    pub n_rows: u64,
    /// The first slot in the name index.
    pub first_slot: u64,
    /// The number of slots.
    pub n_slots: u64,
    /// The host node.
    pub host_node: Option<u64>,
    /// The node of the sort order.
    pub sort_order: Option<u64>,
    /// The node of the user's metadata.
    pub metadata: Option<u64>,
    /// The first piece, and the number of pieces.
    pub pieces: (u64, u32),
    /// The first column range, and the number of column ranges.
    pub column_ranges: (u64, u32),
}

impl TableRecord {
    /// Parses a record.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse(bytes: &[u8], version: Version) -> Result<Self, Wrong> {
        let is_old = version == (0, 2);
        let table = Self {
            first_column: u64_at(bytes, 0),
            n_columns: u64_at(bytes, 8),
            n_rows: u64_at(bytes, 16),
            first_slot: u64_at(bytes, 24),
            n_slots: u64_at(bytes, 32),
            host_node: maybe_at(bytes, 40),
            sort_order: maybe_at(bytes, 48),
            metadata: if is_old { None } else { maybe_at(bytes, 56) },
            pieces: if is_old { (0, 0) } else { (u64_at(bytes, 64), u32_at(bytes, 72)) },
            column_ranges: if is_old { (0, 0) } else { (u64_at(bytes, 80), u32_at(bytes, 88)) },
        };
        for (first, n) in [table.pieces, table.column_ranges] {
            rule(n > 0 || first == 0, "the first of no pieces or column ranges")?;
            rule(first.checked_add(n.into()).is_some(), "the numbers of pieces or column ranges")?;
        }
        known(is_old || is_zero(&bytes[76..80]) && is_zero(&bytes[92..96]), "reserved bytes of a table")?;
        known(!is_old || is_zero(&bytes[56..64]), "reserved bytes of a table")?;
        let n = table.n_slots;
        let enough = n.is_power_of_two() && u128::from(n) >= 2 * u128::from(table.n_columns);
        rule(n == 0 || enough, "the number of slots of a table")?;
        Ok(table)
    }
}

/// A column record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRecord {
    /// The id.
    pub id: u64,
    /// Where the name is in the names heap.
    pub name_at: u64,
    /// Its length.
    pub name_len: u32,
    /// The type.
    pub of: Type,
    /// Whether the values are in a storage column.
    pub is_bundled: bool,
    /// Whether this is a storage column.
    pub is_bundle: bool,
    /// The number of values.
    pub n_values: u64,
    /// The storage column.
    pub storage: Option<u64>,
    /// The index of the first value in the storage column.
    pub first_value: u64,
    /// The dictionary column.
    pub dictionary: Option<u64>,
    /// The detail node.
    pub detail: Option<u64>,
    /// The number of missing values.
    pub n_missing: u64,
    /// The parent of a child.
    pub parent: Option<u64>,
    /// The first child.
    pub first_child: Option<u64>,
    /// The number of children.
    pub n_children: u32,
    /// The node of the user's metadata.
    pub metadata: Option<u64>,
    /// The first range.
    pub first_range: Option<u64>,
    /// The node of the host's detail.
    pub host_detail: Option<u64>,
}

impl ColumnRecord {
    /// Parses a record.
    ///
    /// # Errors
    /// *Corrupt*; *unsupported* for unknown types and flags.
    pub fn parse(bytes: &[u8]) -> Result<Self, Wrong> {
        let flags = u32_at(bytes, 28);
        let is_child = flags & 8 != 0;
        let related = maybe_at(bytes, 40);
        let of = Type {
            physical: bytes[20],
            logical: bytes[21],
            unit: bytes[22],
            missing: bytes[23],
            value_len: u32_at(bytes, 24),
            ordered: flags & 1 != 0,
            precision: bytes[68],
            scale: bytes[69],
            host_variant: bytes[70],
        };
        types::check_codes(&of)?;
        if flags & !15 != 0 {
            return wrong(Kind::Unsupported, "an unknown flag of a column");
        }
        types::check(&of)?;
        rule(!is_child || flags & 6 == 0, "a child is not bundled")?;
        rule(!is_child || related.is_some(), "a child has a parent")?;
        known(bytes[71] == 0, "reserved bytes of a column")?;
        let column = Self {
            id: u64_at(bytes, 0),
            name_at: u64_at(bytes, 8),
            name_len: u32_at(bytes, 16),
            of,
            is_bundled: flags & 2 != 0,
            is_bundle: flags & 4 != 0,
            n_values: u64_at(bytes, 32),
            storage: related.filter(|_| !is_child),
            parent: related.filter(|_| is_child),
            first_value: u64_at(bytes, 48),
            dictionary: maybe_at(bytes, 72),
            detail: maybe_at(bytes, 80),
            n_missing: u64_at(bytes, 88),
            first_child: maybe_at(bytes, 56),
            n_children: u32_at(bytes, 64),
            metadata: maybe_at(bytes, 96),
            first_range: maybe_at(bytes, 104),
            host_detail: maybe_at(bytes, 112),
        };
        let n = column.n_children;
        let fits = match column.of.physical {
            physical::LIST | physical::FIXED_LIST | physical::MAP | physical::RUN_END => n == 1,
            physical::STRUCT => true,
            physical::UNION if column.of.value_len == 1 => n <= 128,
            physical::UNION => (1..=129).contains(&n),
            physical::VALUES => (1..=256).contains(&n),
            _ => n == 0,
        };
        rule(fits, "children of a column")?;
        rule(column.first_child.is_some() == (n > 0), "the first child of a column")?;
        let is_nested = types::is_nested(column.of.physical);
        rule(!is_nested || !(column.is_bundled || column.is_bundle), "nested columns are not bundled")?;
        let is_all_there = [physical::UNION, physical::RUN_END].contains(&column.of.physical);
        rule(!is_all_there || column.n_missing == 0, "unions and runs have no missing values")?;
        let is_categorical = column.of.logical == types::CATEGORICAL;
        rule(
            column.dictionary.is_some() == is_categorical,
            "a categorical has a dictionary, no other column",
        )?;
        rule(
            column.storage.is_some() == column.is_bundled,
            "a bundled column has a storage column, no other",
        )?;
        rule(
            column.is_bundled || column.first_value == 0,
            "the first value of a column that is not bundled",
        )?;
        rule(!column.is_bundle || column.name_len == 0, "a storage column has no name")?;
        let apart = !column.is_bundled || !(column.is_bundle || is_categorical);
        rule(apart, "a bundled column is neither a bundle nor categorical")?;
        rule(column.n_missing <= column.n_values, "more missing values than values")?;
        let is_null = column.of.physical == physical::NULL;
        rule(!is_null || column.n_missing == column.n_values, "a column of type null has values")?;
        Ok(column)
    }
}

/// A record of the section *ranges*: consecutive blocks of a column in a tier.
#[derive(Clone, Copy, Debug)]
pub struct BlockRange {
    /// The column.
    pub column: u64,
    /// The first block.
    pub first: u64,
    /// The number of blocks.
    pub n_blocks: u32,
    /// The tier.
    pub tier: u16,
}

impl BlockRange {
    /// Parses a record.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse(bytes: &[u8]) -> Result<Self, Wrong> {
        let range = Self {
            column: u64_at(bytes, 0),
            first: u64_at(bytes, 8),
            n_blocks: u32_at(bytes, 16),
            tier: u16_at(bytes, 20),
        };
        known(is_zero(&bytes[22..24]), "reserved bytes of a range")?;
        rule(range.n_blocks >= 1, "a range has a block")?;
        Ok(range)
    }
}

/// A block record.
#[derive(Clone, Copy, Debug)]
pub struct BlockRecord {
    /// The first value.
    pub first_value: u64,
    /// The number of values.
    pub n_values: u32,
    /// Packing, transform, codec, filter.
    pub encoding: [u8; 4],
    /// Where the directory is.
    pub directory_at: u64,
    /// Where the pages are.
    pub pages_at: u64,
    /// Bytes of the directory.
    pub directory_len: u32,
    /// Bytes of the pages.
    pub pages_len: u32,
    /// Bytes when decoded.
    pub decoded_len: u64,
    /// The checksum of the directory.
    pub directory_checksum: u64,
    /// Where its values begin in the child.
    pub first_child: u64,
}

impl BlockRecord {
    /// Parses a record.
    ///
    /// # Errors
    /// *Corrupt*; *unsupported* for unknown codes.
    pub fn parse(bytes: &[u8]) -> Result<Self, Wrong> {
        let block = Self {
            first_value: u64_at(bytes, 0),
            n_values: u32_at(bytes, 8),
            encoding: [bytes[12], bytes[13], bytes[14], bytes[15]],
            directory_at: u64_at(bytes, 16),
            pages_at: u64_at(bytes, 24),
            directory_len: u32_at(bytes, 32),
            pages_len: u32_at(bytes, 36),
            decoded_len: u64_at(bytes, 40),
            directory_checksum: u64_at(bytes, 48),
            first_child: u64_at(bytes, 56),
        };
        let [packing, transform, codec, filter] = block.encoding;
        if packing > 6 || transform > 3 || codec > 2 || filter > 1 {
            return wrong(Kind::Unsupported, "an unknown encoding");
        }
        rule((1..=65_536).contains(&block.n_values), "the number of values of a block")?;
        rule(block.n_values == 1 || block.decoded_len <= 16 << 20, "a block has at most 16 MiB decoded")?;
        Ok(block)
    }
}

/// A statistics record.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// The number of missing values.
    pub n_missing: u32,
    /// The flags.
    pub flags: u16,
    /// The number of NaN; 0 without the flag *NaN counted*.
    pub n_nan: u32,
    /// The number of distinct values, or 0.
    pub n_distinct: u32,
    /// The least value.
    pub min: [u8; 16],
    /// The greatest value.
    pub max: [u8; 16],
}

impl Statistics {
    /// Parses a record.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse(bytes: &[u8], version: Version) -> Result<Self, Wrong> {
        let mut statistics = Self {
            n_missing: u32_at(bytes, 0),
            flags: u16_at(bytes, 4),
            n_nan: u32_at(bytes, 12),
            n_distinct: u32_at(bytes, 8),
            min: [0; 16],
            max: [0; 16],
        };
        statistics.min.copy_from_slice(&bytes[16..32]);
        statistics.max.copy_from_slice(&bytes[32..48]);
        let is_counted = version != (0, 2) && statistics.flags & 32 != 0;
        let flags = if is_counted { 63 } else { 31 };
        known(
            is_zero(&bytes[6..8]) && (is_counted || statistics.n_nan == 0),
            "reserved bytes of statistics",
        )?;
        known(statistics.flags & !flags == 0, "flags of statistics")?;
        let has_nan = statistics.flags & 16 != 0;
        rule(!is_counted || has_nan == (statistics.n_nan > 0), "has NaN is set if there are some")?;
        if statistics.flags & 1 == 0 {
            let none = statistics.flags & 2 == 0 && is_zero(&bytes[16..48]);
            rule(none, "statistics without min and max have zeros there")?;
        }
        Ok(statistics)
    }

    /// Statistics of u128 in version 0.2, without min, max and order, which are those of signed
    /// numbers.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn without_order(self) -> Result<Self, Wrong> {
        let is_sorted = self.flags & 12 != 0;
        rule(!is_sorted || (self.n_missing == 0 && self.flags & 16 == 0), "values in order are all there")?;
        Ok(Self { flags: self.flags & !13, min: [0; 16], max: [0; 16], ..self })
    }
}
