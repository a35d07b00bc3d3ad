//! The root of a generation (`docs/format/container.md`).

use crate::bytes::{Reader, len32, put};
use crate::checksum::checksum;
use crate::error::{Error, Result};
use crate::fallible;
use crate::features::{Features, Keep, Version};
use crate::limits::{HEADER_LEN, MAX_ROOT_LEN, ROOT_HEAD_LEN, Room, is_root_len};
use crate::section::{MAX_RATIO, Section, SectionKind};
use crate::slot::Slot;

/// The first bytes of a root.
const MAGIC: [u8; 8] = *b"ENT\nroot";

/// The sections and the value of a generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Equal to that of the slot.
    pub generation: u64,
    /// Offset, length and checksum of the root before this one.
    pub previous: Option<(u64, u32, u64)>,
    /// The node that is the file's value.
    pub value_node: u64,
    /// The time of the commit in nanoseconds since 1970; 0 when unknown.
    pub time: i64,
    /// The operation of the commit: the code of an [`Operation`], or an unknown one.
    pub operation: u16,
    /// The compression with which values were written last, plus 1; 0 when unknown.
    pub compression: u8,
    /// The highest edition of encodings in the generation; 0 for the rules of 0.2.
    pub edition: u8,
    /// How many earlier generations to keep.
    pub keep: Keep,
    /// The features that a program must know.
    pub features: Features,
    /// The offset of the first part that this generation wrote; that of the root if it wrote none.
    /// 0 for the rules of 0.2.
    pub footer_at: u64,
    /// Equal in all generations of a file.
    pub file_id: [u8; 16],
    /// The program that wrote, in UTF-8, then zeros.
    pub program: [u8; 32],
    /// Ascending by kind and tier, none twice.
    pub sections: Vec<Section>,
}

codes! {
    /// The operation of a commit.
    Operation: u16 {
        /// Not known.
        Unknown = 0, "unknown";
        /// Wrote all values.
        Write = 1, "write";
        /// Appended rows.
        Append = 2, "append";
        /// Added columns.
        AddColumns = 3, "add columns";
        /// Replaced columns.
        ReplaceColumns = 4, "replace columns";
        /// Dropped columns.
        DropColumns = 5, "drop columns";
        /// Renamed columns.
        RenameColumns = 6, "rename columns";
        /// Changed metadata.
        Metadata = 7, "metadata";
        /// Changed parts of a tree.
        Update = 8, "update";
        /// Went back to an earlier generation.
        Rollback = 9, "rollback";
        /// Stored the values of an earlier generation anew.
        Compact = 10, "compact";
        /// Wrote a part of a stream. It never was the current state.
        Part = 11, "part";
    }
}

impl Root {
    /// The version whose rules the generation follows.
    pub const fn version(&self) -> Version {
        self.features.needed
    }

    /// The program that wrote.
    pub fn program(&self) -> &str {
        let len = self.program.iter().position(|byte| *byte == 0).unwrap_or(self.program.len());
        self.program.get(..len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The compression, from 0 to 100, with which values were written last; none when unknown.
    pub fn compression(&self) -> Option<u8> {
        self.compression.checked_sub(1).filter(|&compression| compression <= 100)
    }

    /// The number of tiers.
    pub fn n_tiers(&self) -> u16 {
        let has_tiers = |kind| SectionKind::from_code(kind).is_some_and(SectionKind::has_tiers);
        let tiers = self.sections.iter().filter(|section| has_tiers(section.kind));
        tiers.map(|section| section.tier.saturating_add(1)).max().unwrap_or(0)
    }

    /// The section of this kind and tier.
    pub fn section(&self, kind: SectionKind, tier: u16) -> Option<&Section> {
        self.sections.iter().find(|section| (section.kind, section.tier) == (kind.code(), tier))
    }

    /// The bytes of the root, its sections sorted. Readers refuse more than [`MAX_ROOT_LEN`].
    pub fn emit(&self) -> Vec<u8> {
        let mut sections: Vec<&Section> = self.sections.iter().collect();
        sections.sort_by_key(|section| (section.kind, section.tier));
        let mut out = Vec::with_capacity(ROOT_HEAD_LEN + Section::LEN * sections.len());
        let (at, len, sum) = self.previous.unwrap_or((0, 0, 0));
        out.extend_from_slice(&MAGIC);
        put!(out, self.generation, at, len, len32(sections.len()), sum, self.value_node);
        put!(out, self.time, self.operation, self.compression, self.edition, self.keep.kind);
        out.extend_from_slice(&[0; 3]);
        out.extend_from_slice(&self.file_id);
        out.extend_from_slice(&self.program);
        self.features.emit(&mut out);
        put!(out, self.footer_at, self.keep.value);
        for section in sections {
            section.emit(&mut out);
        }
        out
    }

    /// Parses the root that a slot names, in a file whose room starts at `start`. Checks its
    /// length, checksum, generation and the offsets of its sections.
    pub fn read(bytes: &[u8], slot: &Slot, start: u64) -> Result<Self> {
        let at = |error: Error| error.at(slot.root_at);
        if len32(bytes.len()) != slot.root_len {
            return Err(at(Error::corrupt("the file ends within its root: it is truncated")));
        }
        if checksum(bytes) != slot.root_checksum {
            return Err(at(Error::corrupt("the checksum of the root does not match")));
        }
        Self::parse(bytes).map_err(at)?.checked(slot, start)
    }

    /// The root, if it fits the slot that names it, in a file whose room starts at `start`: its
    /// generation, and the offsets of the previous root and of the sections.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*.
    pub fn checked(self, slot: &Slot, start: u64) -> Result<Self> {
        let root = self;
        let at = |error: Error| error.at(slot.root_at);
        if root.generation != slot.generation {
            return Err(at(Error::corrupt("the generation of the root differs from that of its slot")));
        }
        if let Some((previous_at, len, _)) = root.previous
            && !(Room { start, end: slot.root_at }).has(previous_at, len.into())
        {
            return Err(at(Error::corrupt("the previous root is not before this one")));
        }
        if root.version() > Version::OLDEST && !(start..=slot.root_at).contains(&root.footer_at) {
            return Err(at(Error::corrupt("the footer does not begin between header and root")));
        }
        for section in &root.sections {
            section.check_flags(root.version()).map_err(at)?;
            if SectionKind::from_code(section.kind).is_some() {
                section.check(Room { start, end: slot.end }).map_err(at)?;
                section.check_version(root.version()).map_err(at)?;
            }
        }
        if !sections_fit(&root.sections, slot.end) {
            return Err(at(Error::corrupt(
                "compressed sections have more records than the file has room for",
            )));
        }
        Ok(root)
    }

    /// Parses the root in exactly these bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some((head, records)) = bytes.split_first_chunk::<ROOT_HEAD_LEN>() else {
            return Err(Error::corrupt("the root is too short"));
        };
        let mut reader = Reader::exact(head, ROOT_HEAD_LEN, "the root")?;
        if reader.array::<8>()? != MAGIC {
            return Err(Error::corrupt("the root is not where the slot says"));
        }
        let (generation, at, len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let (n_sections, sum) = (reader.u32()?, reader.u64()?);
        let (value_node, time, operation) = (reader.u64()?, reader.u64()?.cast_signed(), reader.u16()?);
        let (compression, edition, kind) = (reader.u8()?, reader.u8()?, reader.u8()?);
        let reserved = reader.reserved::<3>();
        let (file_id, program) = (reader.array::<16>()?, reader.array::<32>()?);
        // The features come first: a later version may use the reserved bytes.
        let features = Features::parse(&mut reader)?;
        reserved?;
        let (footer_at, value) = (reader.u64()?, reader.u64()?);
        let keep = Keep { kind, value };
        check_edition(&features, edition, keep, footer_at)?;
        if generation == 0 {
            return Err(Error::corrupt("the generation is 0"));
        }
        let previous = match (at, len, sum) {
            (0, 0, 0) => None,
            _ if generation > 1
                && at >= HEADER_LEN as u64
                && is_root_len(len)
                && at.checked_add(len.into()).is_some() =>
            {
                Some((at, len, sum))
            }
            _ => return Err(Error::corrupt("the place of the previous root is impossible")),
        };
        let (records, rest) = records.as_chunks::<{ Section::LEN }>();
        if bytes.len() > MAX_ROOT_LEN || !rest.is_empty() || len32(records.len()) != n_sections {
            return Err(Error::corrupt("the length of the root does not match its sections"));
        }
        let mut sections: Vec<Section> = fallible::with_capacity(records.len(), "the sections")?;
        for record in records {
            let section = Section::parse(record)?;
            if sections.last().is_some_and(|last| (last.kind, last.tier) >= (section.kind, section.tier)) {
                return Err(Error::corrupt("the sections of the root are out of order"));
            }
            sections.push(section);
        }
        Ok(Self {
            generation,
            previous,
            value_node,
            time,
            operation,
            compression,
            edition,
            keep,
            features,
            footer_at,
            file_id,
            program,
            sections,
        })
    }
}

/// A generation of 0.2 has none of the fields that came later; all others have an edition.
fn check_edition(features: &Features, edition: u8, keep: Keep, footer_at: u64) -> Result<()> {
    if *features != Features::OF_0_2 {
        return if edition == 0 { Err(Error::corrupt("the root has no edition")) } else { Ok(()) };
    }
    if (edition, keep, footer_at) == (0, Keep::default(), 0) {
        return Ok(());
    }
    Err(Error::unsupported("the root has fields of a later version").advise("update Entasis"))
}

/// Whether a file of `end` bytes has room for the records of the compressed sections of known kinds
/// among these.
pub fn sections_fit(sections: &[Section], end: u64) -> bool {
    let compressed = sections.iter().filter(|section| section.is_known() && section.is_compressed());
    let records_len = |section: &Section| section.records_len().unwrap_or(u64::MAX);
    let len = compressed.map(records_len).fold(0, u64::saturating_add);
    len <= end.saturating_mul(MAX_RATIO)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Kind;
    use crate::testing::{exact, flips};

    fn section(kind: u16, tier: u16) -> Section {
        Section {
            kind,
            tier,
            record_len: if kind == 1 { 96 } else { 64 },
            n_records: 2,
            part_at: 300,
            part_len: if kind == 1 { 192 } else { 128 },
            checksum: 11,
            ..Section::default()
        }
    }

    fn root() -> Root {
        Root {
            generation: 3,
            previous: Some((256, 160, 5)),
            value_node: 0,
            time: -5,
            operation: Operation::Append.code(),
            compression: 51,
            edition: 1,
            keep: Keep { kind: 1, value: 9 },
            features: Features { may_ignore: 3, ..Features::CURRENT },
            footer_at: 300,
            file_id: [7; 16],
            program: *b"entasis 1.2.3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            sections: vec![section(1, 0), section(6, 0), section(77, 1), section(77, 9)],
        }
    }

    fn slot_of(bytes: &[u8], generation: u64) -> Slot {
        let root_len = len32(bytes.len());
        Slot {
            generation,
            root_at: 1000,
            root_len,
            end: 1000 + u64::from(root_len) + 64,
            root_checksum: checksum(bytes),
            not_synced: false,
        }
    }

    #[test]
    fn layout() {
        let bytes = root().emit();
        assert_eq!(bytes.len(), 160 + 4 * 48);
        assert_eq!(bytes[..16], *b"ENT\nroot\x03\0\0\0\0\0\0\0");
        assert_eq!(bytes[28..32], [4, 0, 0, 0]);
        assert_eq!(bytes[48..59], [0xFB, 255, 255, 255, 255, 255, 255, 255, 2, 0, 51]);
        assert_eq!((&bytes[64..80], &bytes[80..94]), (&[7; 16][..], &b"entasis 1.2.3\0"[..]));
        assert_eq!(bytes[59..64], [1, 1, 0, 0, 0]);
        assert_eq!((bytes[128], &bytes[136..144]), (3, &[0, 0, 3, 0, 0, 0, 0, 0][..]));
        assert_eq!((&bytes[144..148], bytes[152]), (&[44, 1, 0, 0][..], 9));
        assert_eq!(bytes[160..168], [1, 0, 0, 0, 96, 0, 0, 0]);
        assert_eq!(root().program(), "entasis 1.2.3");
    }

    #[test]
    fn roots_of_0_2() {
        let old =
            Root { edition: 0, keep: Keep::default(), features: Features::OF_0_2, footer_at: 0, ..root() };
        let bytes = old.emit();
        assert!(bytes[59..64].iter().chain(&bytes[112..160]).all(|byte| *byte == 0));
        assert_eq!(Root::parse(&bytes).unwrap(), old);
        assert_eq!(old.version(), Version::OLDEST);
        let kind = |root: &Root| Root::parse(&root.emit()).unwrap_err().kind();
        assert_eq!(kind(&Root { edition: 1, ..old.clone() }), Kind::Unsupported);
        assert_eq!(kind(&Root { footer_at: 256, ..old.clone() }), Kind::Unsupported);
        assert_eq!(kind(&Root { edition: 0, ..root() }), Kind::Corrupt);
        let slot = slot_of(&bytes, 3);
        assert!(Root::read(&bytes, &slot, 256).is_ok());
        // Only files of 0.2 have short column records.
        let columns = Section { record_len: 104, part_len: 208, ..section(2, 0) };
        let with = |root: Root| {
            let root = Root { sections: vec![columns], ..root };
            Root::read(&root.emit(), &slot_of(&root.emit(), 3), 256).map_err(|error| error.kind())
        };
        assert!(with(old).is_ok());
        assert_eq!(with(root()).unwrap_err(), Kind::Corrupt);
    }

    #[test]
    fn the_footer_begins_before_the_root() {
        for (footer_at, is_good) in [(255, false), (256, true), (1000, true), (1001, false)] {
            let bytes = Root { footer_at, ..root() }.emit();
            assert_eq!(Root::read(&bytes, &slot_of(&bytes, 3), 256).is_ok(), is_good);
        }
    }

    #[test]
    fn compression_may_be_unknown() {
        let found = [0, 1, 101, 102, 255].map(|compression| Root { compression, ..root() }.compression());
        assert_eq!(found, [None, Some(0), Some(100), None, None]);
    }

    #[test]
    fn records_are_exact() {
        exact(&root(), |root, out| out.extend(root.emit()), Root::parse);
        exact(
            &Root { previous: None, sections: vec![], ..root() },
            |root, out| out.extend(root.emit()),
            Root::parse,
        );
    }

    #[test]
    fn what_the_slot_says_is_checked() {
        let bytes = root().emit();
        let slot = slot_of(&bytes, 3);
        assert_eq!(Root::read(&bytes, &slot, 256).unwrap(), root());
        assert_eq!(root().section(SectionKind::Blocks, 0), Some(&section(6, 0)));
        let later = Root { sections: vec![section(6, 23)], ..root() };
        assert_eq!((later.n_tiers(), root().n_tiers()), (24, 1));
        assert!(Root::read(&later.emit(), &slot_of(&later.emit(), 3), 256).is_ok());
        let later = Root { sections: vec![section(6, 24)], ..root() }.emit();
        assert_eq!(Root::read(&later, &slot_of(&later, 3), 256).unwrap_err().kind(), Kind::Corrupt);
        assert_eq!(root().section(SectionKind::Names, 0), None);
        for flipped in flips(&bytes) {
            assert!(Root::read(&flipped, &slot, 256).is_err());
        }
        for len in 0..bytes.len() {
            assert!(Root::read(&bytes[..len], &slot, 256).is_err());
            assert!(Root::read(&bytes[..len], &slot_of(&bytes[..len], 3), 256).is_err());
        }
        assert!(Root::read(&bytes, &slot_of(&bytes, 4), 256).is_err());
        // The known sections are outside of the file; an unknown one alone would be ignored.
        assert!(Root::read(&bytes, &Slot { end: 400, ..slot }, 256).is_err());
        let unknown = Root { previous: None, sections: vec![section(77, 9)], ..root() }.emit();
        assert!(Root::read(&unknown, &Slot { end: 400, ..slot_of(&unknown, 3) }, 256).is_ok());
    }

    #[test]
    fn previous_and_order() {
        let bad = |root: Root| assert!(Root::parse(&root.emit()).is_err());
        bad(Root { generation: 1, ..root() });
        bad(Root { generation: 0, previous: None, ..root() });
        bad(Root { previous: Some((0, 160, 1)), ..root() });
        bad(Root { previous: Some((256, 161, 1)), ..root() });
        bad(Root { previous: Some((u64::MAX, 160, 1)), ..root() });
        bad(Root { sections: vec![section(1, 0); 2], ..root() });
        bad(Root { sections: (0..1361).map(|tier| section(6, tier)).collect(), ..root() });
        let sections: Vec<_> = (0..1360).map(|tier| section(6, tier)).collect();
        assert_eq!(Root::parse(&Root { sections, ..root() }.emit()).unwrap().sections.len(), 1360);
        // `emit` sorts the sections.
        let sections = root().sections.into_iter().rev().collect();
        assert_eq!(Root { sections, ..root() }.emit(), root().emit());
    }

    proptest! {
        #[test]
        fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Root::parse(&bytes);
            bytes.splice(..MAGIC.len().min(bytes.len()), MAGIC);
            let _ = Root::parse(&bytes);
        }
    }
}
