//! Writes the footer of a new file: sections, root and trailer, then the header that names them.

use entasis_format::{
    Header, Result, Root, SLOT_PAGES_END, SectionKind, Slot, TRAILER_LEN, Trailer, Value, ValueTree, checksum,
};

use super::block_records::BlockRecords;
use super::column_records::ColumnRecords;
use super::contents::Contents;
use super::ground::Ground;
use super::placement::{Placed, Placement};
use super::sections;
use super::table_records::TableRecords;
use super::tiers::NewTier;
use super::{Plan, Stored};
use entasis_io::Sink;

/// Writes the root of a new generation that takes all sections from an earlier generation. Returns
/// the slot that makes it current.
pub(crate) fn write_root(sections_of: &Root, ground: &Ground<'_>, sink: &dyn Sink, at: u64) -> Result<Slot> {
    let root = Root {
        generation: ground.generation(),
        previous: ground.base.map(|base| base.root),
        time: ground.time,
        operation: ground.operation,
        program: program(),
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
        let header = Header::whole(self.slot, start == SLOT_PAGES_END);
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
    let contents = Contents::new(plan, stored, placed);
    // The bytes of the file depend on the order in which values are added to the tree.
    let mut tree = ValueTree::new();
    let value_node = match plan.parts.value {
        None => tree.add(&Value::Table(0)),
        Some(value) => {
            let first_loose = plan.parts.n_columns - plan.parts.loose.len();
            tree.add(&contents.in_file(value, first_loose))
        }
    };
    let columns = ColumnRecords::of(&contents, &mut tree)?;
    let blocks = BlockRecords::of(&contents, ground.file)?;
    let tables = TableRecords::of(&contents, &mut tree)?;
    let (nodes, heap) = tree.into_parts();
    let runs = contents.emit_runs();
    let sections = [
        (SectionKind::Tables, &*tables.tables),
        (SectionKind::Columns, &columns.columns),
        (SectionKind::Names, &columns.names),
        (SectionKind::NameIndex, &tables.name_index),
        (SectionKind::Ranges, &blocks.ranges),
        (SectionKind::Blocks, &blocks.blocks),
        (SectionKind::Statistics, &blocks.statistics),
        (SectionKind::Nodes, &nodes),
        (SectionKind::ValueHeap, &heap),
        (SectionKind::Runs, &runs),
    ];
    Ok(seal(&sections, blocks.new_tier(ground), value_node, ground, placement))
}

/// Emits the records of all sections, the root and the trailer.
pub(crate) fn seal<'p>(
    sections: &[(SectionKind, &[u8])],
    tier: NewTier,
    value_node: u64,
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Footer<'p> {
    let at = placement.end();
    let (footer, mut sections) = sections::emit(sections, tier.number, ground.compression(), at);
    sections.extend(tier.earlier);
    let root = Root {
        generation: ground.generation(),
        previous: ground.base.filter(|_| ground.is_linked).map(|base| base.root),
        value_node,
        time: ground.time,
        operation: ground.operation,
        compression: ground.compression().map_or(0, |compression| compression.saturating_add(1)),
        file_id: ground.base.map_or_else(|| file_id(&footer), |base| base.file_id),
        program: program(),
        sections,
    };
    finish(&root, at, footer, ground, placement)
}

/// Adds root and trailer to a footer.
fn finish<'p>(
    root: &Root,
    at: u64,
    mut footer: Vec<u8>,
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Footer<'p> {
    footer.resize(footer.len() + (at + footer.len() as u64).wrapping_neg() as usize % 8, 0);
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
    footer.extend_from_slice(&Trailer::from(slot).emit());
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
