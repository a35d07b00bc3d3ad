//! Writes the footer of a new file: sections, root and trailer, then the header that names them.

use entasis_format::{
    EDITION, Features, Header, Result, Root, Section, SectionKind, SectionRecords, Slot, TRAILER_LEN,
    Trailer, Value, checksum,
};

use super::block_records::BlockRecords;
use super::column_records::ColumnRecords;
use super::contents::Contents;
use super::ground::Ground;
use super::numbers::Numbers;
use super::placement::{Placed, Placement};
use super::sections;
use super::table_records::TableRecords;
use super::unknown::Unknown;
use super::values::Values;
use super::{Plan, Stored};
use crate::file::File;
use entasis_io::Sink;

/// Parts and roots begin at multiples of this.
const PART_ALIGN: u64 = 8;

/// In a file with more columns, columns of the old footer keep their numbers in a change, and names
/// and values their places. A shorter footer is stored anew in the order of its tables. Fuzzing
/// starts from files of few columns.
pub(crate) const LONG: u64 = if cfg!(fuzzing) { 3 } else { 1 << 10 };

/// Writes the root of a new generation that takes all sections from an earlier generation. Returns
/// the slot that makes it current.
pub(crate) fn write_root(sections_of: &Root, ground: &Ground<'_>, sink: &dyn Sink, at: u64) -> Result<Slot> {
    let root = Root {
        generation: ground.generation(),
        previous: ground.base.map(|base| base.root),
        time: ground.time,
        operation: ground.operation,
        program: program(),
        footer_at: at.next_multiple_of(PART_ALIGN),
        keep: ground.keep.unwrap_or_else(|| ground.file.map_or(sections_of.keep, |file| file.root().keep)),
        ..sections_of.clone()
    };
    finish(&root, at, Vec::new(), ground, Placement::new(sink, at, 0, 0)).append()
}

/// The footer of a new generation, with root and trailer.
pub(crate) struct Footer<'a> {
    bytes: Vec<u8>,
    slot: Slot,
    placement: Placement<'a>,
}

impl Footer<'_> {
    /// Writes the footer of a whole file, then its header. Returns the length of the file.
    pub(crate) fn commit(self, start: u64) -> Result<u64> {
        let header = Header::whole(self.slot, start);
        self.placement.finish(&self.bytes, &header.emit())?;
        Ok(self.slot.end)
    }

    /// Writes the footer of a change. Returns the slot that makes it current.
    pub(crate) fn append(self) -> Result<Slot> {
        self.placement.append(&self.bytes)?;
        Ok(self.slot)
    }
}

/// Makes the footer of a new generation. `placed` has the blocks of all stored columns.
pub(super) fn make<'p>(
    plan: &Plan<'_>,
    stored: &[Stored<'_>],
    placed: &[Vec<Placed>],
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Result<Footer<'p>> {
    let old = ground.file.filter(|file| ground.is_in_place && file.n_columns_total() > LONG);
    if let Some(file) = old
        && let Some(numbers) = Numbers::kept(plan, file)?
    {
        let contents = Contents::new(plan, stored, placed, numbers);
        let records = Records::of(&contents, ground, old)?;
        if !records.are_wasteful() {
            return records.seal(ground, placement);
        }
    }
    let contents = Contents::new(plan, stored, placed, Numbers::in_order(&plan.parts));
    Records::of(&contents, ground, None)?.seal(ground, placement)
}

/// The records of a new footer.
struct Records<'a> {
    blocks: BlockRecords,
    columns: ColumnRecords<'a>,
    tables: TableRecords,
    values: Values,
    value_node: u64,
}

impl<'a> Records<'a> {
    /// Makes the records. Names, values and name indexes of `old` stay where they are.
    fn of(contents: &Contents<'_>, ground: &Ground<'a>, old: Option<&'a File>) -> Result<Self> {
        let plan = contents.plan;
        // The bytes of the file depend on the order in which values are added.
        let mut values = Values::after(old)?;
        let old_value = old.map(|file| (file.root().value_node, file.value()));
        let value_node = match plan.parts.value {
            None => values.add(&Value::Table(0), old_value),
            Some(value) => {
                let first_loose = plan.parts.n_columns - plan.parts.loose.len();
                values.add(&contents.in_file(value, first_loose), old_value)
            }
        };
        let blocks = BlockRecords::of(contents, ground)?;
        let first_ranges = &blocks.ranges.first_ranges;
        let columns = ColumnRecords::of(contents, first_ranges, ground, old, &mut values)?;
        let tables = TableRecords::of(contents, ground.file, old, &mut values)?;
        Ok(Self { blocks, columns, tables, values, value_node })
    }

    /// Whether most bytes of a section are of no record.
    fn are_wasteful(&self) -> bool {
        let (names, indexes) = (&self.columns.names, &self.tables.name_indexes);
        names.is_wasteful() || indexes.is_wasteful() || self.values.is_wasteful()
    }

    /// Makes the footer.
    fn seal<'p>(self, ground: &Ground<'_>, placement: Placement<'p>) -> Result<Footer<'p>> {
        let Self { blocks, columns, tables, values, value_node } = self;
        let (nodes, heap) = values.into_parts();
        let new_tier = blocks.new_tier(ground);
        let [blocks_len, statistics_len] = blocks.record_lens;
        let of = |kind, bytes| SectionRecords::new(kind, 0, bytes);
        let in_tier =
            |kind, record_len, bytes| SectionRecords { kind, tier: new_tier.number, record_len, bytes };
        let sections = [
            SectionRecords { record_len: tables.record_len, ..of(SectionKind::Tables, &tables.tables) },
            SectionRecords { record_len: columns.record_len, ..of(SectionKind::Columns, &columns.columns) },
            of(SectionKind::Names, &columns.names.bytes),
            of(SectionKind::NameIndex, &tables.name_indexes.bytes),
            of(SectionKind::Ranges, &blocks.ranges.bytes),
            in_tier(SectionKind::Blocks, blocks_len, &blocks.blocks),
            in_tier(SectionKind::Statistics, statistics_len, &blocks.statistics),
            of(SectionKind::Nodes, &nodes),
            of(SectionKind::ValueHeap, &heap),
            of(SectionKind::Runs, &columns.runs),
            of(SectionKind::Pieces, &tables.pieces),
            of(SectionKind::ColumnRanges, &tables.column_ranges.bytes),
        ];
        let unknown = match ground.file {
            Some(file) if ground.is_in_place => Unknown::staying(file),
            Some(file) => Unknown::copied(file)?,
            None => Unknown::default(),
        };
        seal(&sections, new_tier.earlier, unknown, value_node, ground, placement)
    }
}

/// Emits the records of all sections, the root and the trailer.
///
/// # Errors
/// As for reading the changed file.
pub(crate) fn seal<'p>(
    sections: &[SectionRecords<'_>],
    earlier: Vec<Section>,
    unknown: Unknown,
    value_node: u64,
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Result<Footer<'p>> {
    let at = placement.end();
    let old_file = ground.file.filter(|_| ground.is_in_place);
    // Unknown parts come first, so that the known index parts stay next to the root.
    let mut footer = Vec::new();
    let unknown = unknown.emit(at, &mut footer);
    let known_at = at + footer.len() as u64;
    let (known, mut sections) = sections::emit(sections, ground.compression(), old_file, known_at)?;
    let file_id = ground.base.map_or_else(|| file_id(&known), |base| base.file_id);
    if footer.is_empty() {
        footer = known;
    } else {
        footer.extend_from_slice(&known);
    }
    sections.extend(earlier);
    sections.extend(unknown);
    let old = ground.file.map(File::root);
    let root = Root {
        generation: ground.generation(),
        previous: ground.base.filter(|_| ground.is_linked).map(|base| base.root),
        value_node,
        time: ground.time,
        operation: ground.operation,
        compression: ground.compression().map_or(0, |compression| compression.saturating_add(1)),
        edition: old.map_or(EDITION, |root| root.edition.max(EDITION)),
        keep: ground.keep.or_else(|| Some(old?.keep)).unwrap_or_default(),
        // A bit that every program may ignore describes one generation, and no other bit is known.
        features: Features::CURRENT,
        footer_at: at.next_multiple_of(PART_ALIGN),
        file_id,
        program: program(),
        sections,
    };
    Ok(finish(&root, at, footer, ground, placement))
}

/// Adds root and trailer to a footer.
fn finish<'p>(
    root: &Root,
    at: u64,
    mut footer: Vec<u8>,
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Footer<'p> {
    let end = at + footer.len() as u64;
    footer.resize(footer.len() + (end.next_multiple_of(PART_ALIGN) - end) as usize, 0);
    let root_at = at + footer.len() as u64;
    let bytes = root.emit();
    footer.extend_from_slice(&bytes);
    let slot = Slot {
        generation: root.generation,
        root_at,
        root_len: bytes.len() as u32,
        end: at + (footer.len() + TRAILER_LEN) as u64,
        root_checksum: checksum(&bytes),
        not_synced: ground.not_synced,
    };
    let header = match ground.file {
        Some(file) if ground.is_in_place => *file.header(),
        _ => Header::whole(slot, placement.room_start()),
    };
    footer.extend_from_slice(&Trailer::new(&slot, &header, root.version()).emit());
    Footer { bytes: footer, slot, placement }
}

/// A file's id is made from its first footer, so equal values give equal bytes.
fn file_id(footer: &[u8]) -> [u8; 16] {
    let half = checksum(footer);
    let other = checksum(&[footer.len() as u64, half].map(u64::to_le_bytes).concat());
    bytemuck::cast([half.to_le(), other.to_le()])
}

/// This program and its version, as roots store them.
fn program() -> [u8; 32] {
    let mut out = [0; 32];
    let name = concat!("entasis ", env!("CARGO_PKG_VERSION")).bytes();
    out.iter_mut().zip(name).for_each(|(out, byte)| *out = byte);
    out
}
