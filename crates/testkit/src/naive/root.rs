//! The root.

use super::bytes::{Wrong, checksum, is_zero, range, rule, u16_at, u32_at, u64_at};
use super::header::Slot;
use super::section::Section;

/// The first bytes of a root.
pub const MAGIC: [u8; 8] = [0x45, 0x4E, 0x54, 0x0A, 0x72, 0x6F, 0x6F, 0x74];

/// The root of a generation.
#[derive(Clone, Debug)]
pub struct Root {
    /// The node that is the file's value.
    pub value_node: u64,
    /// All sections, also those of unknown kinds.
    pub sections: Vec<Section>,
}

/// Reads the root that `slot` names.
///
/// # Errors
/// *Corrupt*.
pub fn root(file: &[u8], slot: &Slot) -> Result<Root, Wrong> {
    let bytes = range(file, slot.root_at, u64::from(slot.root_len))?;
    rule(checksum(bytes) == slot.root_checksum, "the checksum of the root")?;
    rule(bytes[..8] == MAGIC, "the magic of the root")?;
    rule(u64_at(bytes, 8) == slot.generation, "the generation of the root is the slot's")?;
    if slot.generation == 1 {
        let none = is_zero(&bytes[16..28]) && is_zero(&bytes[32..40]);
        rule(none, "generation 1 has no previous root")?;
    }
    rule(is_zero(&bytes[52..64]), "reserved bytes of the root")?;
    let n_sections = u32_at(bytes, 28) as usize;
    rule(n_sections.checked_mul(48).is_some_and(|len| len + 64 == bytes.len()), "the length of the root")?;
    let mut sections = Vec::new();
    let mut last = None;
    for record in bytes[64..].chunks_exact(48) {
        let key = (u16_at(record, 0), u16_at(record, 2));
        rule(last < Some(key), "sections ascend by kind and tier, none twice")?;
        last = Some(key);
        sections.push(Section::parse(record)?);
    }
    Ok(Root { value_node: u64_at(bytes, 40), sections })
}
