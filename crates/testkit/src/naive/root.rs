//! The root.

use super::bytes::{Kind, Room, Wrong, checksum, is_zero, known, rule, u16_at, u32_at, u64_at, wrong};
use super::header::{Slot, Version, is_root_len};
use super::section::Section;

/// The first bytes of a root.
pub const MAGIC: [u8; 8] = [0x45, 0x4E, 0x54, 0x0A, 0x72, 0x6F, 0x6F, 0x74];

/// Where a root is, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootAt {
    /// The first byte.
    pub at: u64,
    /// The length.
    pub len: u32,
    /// The checksum.
    pub checksum: u64,
}

/// The root of a generation.
#[derive(Clone, Debug)]
pub struct Root {
    /// The generation.
    pub generation: u64,
    /// The root of the generation before, if it is in the file.
    pub previous: Option<RootAt>,
    /// The node that is the file's value.
    pub value_node: u64,
    /// Nanoseconds since 1970, or 0.
    pub time: i64,
    /// The code of what the generation did.
    pub operation: u16,
    /// The version whose rules the generation follows; 0.2 without feature words.
    pub version: Version,
    /// The highest edition; 0 in 0.2.
    pub edition: u8,
    /// The first byte that this generation wrote of its footer.
    pub footer_at: u64,
    /// Equal in all generations.
    pub file_id: [u8; 16],
    /// The program that wrote.
    pub program: [u8; 32],
    /// All sections, also those of unknown kinds.
    pub sections: Vec<Section>,
}

/// Reads the root that `slot` names.
///
/// # Errors
/// *Corrupt*.
pub fn root(room: Room<'_>, slot: &Slot) -> Result<Root, Wrong> {
    let at = RootAt { at: slot.root_at, len: slot.root_len, checksum: slot.root_checksum };
    let bytes = room.range(at.at, u64::from(at.len))?;
    rule(checksum(bytes) == at.checksum, "the checksum of the root")?;
    let root = parse(bytes, room.start, at.at)?;
    rule(root.generation == slot.generation, "the generation of the root is the slot's")?;
    let compressed: u128 = root.sections.iter().map(Section::compressed_len).sum();
    rule(compressed <= 32 * room.file.len() as u128, "the bytes of all compressed sections")?;
    Ok(root)
}

/// The version needed, if the program knows all features that readers must know.
fn version(bytes: &[u8]) -> Result<Version, Wrong> {
    if is_zero(&bytes[112..144]) {
        return Ok((0, 2));
    }
    if u64_at(bytes, 112) != 0 {
        return wrong(Kind::Newer, "a feature that readers must know");
    }
    let version = (u16_at(bytes, 136), u16_at(bytes, 138));
    rule(version >= (0, 3), "a version with features")?;
    Ok(version)
}

fn parse(bytes: &[u8], start: u64, at: u64) -> Result<Root, Wrong> {
    rule(bytes[..8] == MAGIC, "the magic of the root")?;
    let version = version(bytes)?;
    let is_old = version == (0, 2);
    if is_old {
        known(is_zero(&bytes[59..64]) && is_zero(&bytes[112..160]), "reserved bytes of the root")?;
    }
    known(is_zero(&bytes[61..64]) && is_zero(&bytes[140..144]), "reserved bytes of the root")?;
    let (edition, footer_at) = (bytes[59], u64_at(bytes, 144));
    rule(is_old || edition >= 1, "the edition")?;
    rule(is_old || (start..=at).contains(&footer_at), "the footer begins in the room before the root")?;
    let generation = u64_at(bytes, 8);
    rule(generation >= 1, "generations count from 1")?;
    let previous = RootAt { at: u64_at(bytes, 16), len: u32_at(bytes, 24), checksum: u64_at(bytes, 32) };
    let previous = if previous == (RootAt { at: 0, len: 0, checksum: 0 }) {
        None
    } else {
        rule(generation > 1, "generation 1 has no previous root")?;
        rule(is_root_len(previous.len), "the length of the previous root")?;
        let end = previous.at.checked_add(u64::from(previous.len));
        let is_before = previous.at >= start && end.is_some_and(|end| end <= at);
        rule(is_before, "the previous root lies in the room before the root")?;
        Some(previous)
    };
    let n_sections = u32_at(bytes, 28) as usize;
    let len = n_sections.checked_mul(48).and_then(|len| len.checked_add(160));
    rule(len == Some(bytes.len()), "the length of the root")?;
    let mut sections = Vec::new();
    let mut last = None;
    for record in bytes[160..].chunks_exact(48) {
        let key = (u16_at(record, 0), u16_at(record, 2));
        rule(last < Some(key), "sections ascend by kind and tier, none twice")?;
        last = Some(key);
        sections.push(Section::parse(record, version)?);
    }
    let (mut file_id, mut program) = ([0; 16], [0; 32]);
    file_id.copy_from_slice(&bytes[64..80]);
    program.copy_from_slice(&bytes[80..112]);
    Ok(Root {
        generation,
        previous,
        value_node: u64_at(bytes, 40),
        time: u64_at(bytes, 48) as i64,
        operation: u16_at(bytes, 56),
        version,
        edition,
        footer_at,
        file_id,
        program,
        sections,
    })
}
