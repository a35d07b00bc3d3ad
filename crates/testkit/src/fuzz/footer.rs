//! Footers of any sections, in a file whose header, root and checksums are sound.

use entasis_encodings::{Codecs, LeafEncoder};
use entasis_format::{
    Compress, Features, Filter, HEADER_LEN, Header, Keep, Operation, Root, SectionKind, SectionRecords, Slot,
    Trailer, Version, checksum, emit_section,
};

use super::file;
use super::input::Input;
use crate::golden::{bad, folder, tree_folder};
use crate::mutate::{Dice, Map};
use crate::naive::{header, root, section::RECORD_LEN};

/// The kinds of section, in the order of their codes.
const KINDS: usize = RECORD_LEN.len();
/// The bits of an input's first byte: the node that is the file's value; whether sections are
/// compressed; whether their records are shuffled first.
const NODE: u8 = 0x3F;
const COMPRESSES: u8 = 0x40;
const SHUFFLES: u8 = 0x80;
/// The most bytes of a section in an input.
const LONGEST: usize = 8192;

/// The parts of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// The node that is the file's value, and how sections are stored.
    pub value_node: u8,
    /// The bytes between header and footer.
    pub segments: Vec<u8>,
    /// The records of each kind of section, from kind 1 on.
    pub records: [Vec<u8>; KINDS],
}

impl Sections {
    /// The parts of an input: the node, the lengths of all parts, the parts.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut input = Input::new(bytes);
        let value_node = input.u8();
        let lens = [0; KINDS + 1].map(|_| usize::from(input.u16()));
        let mut parts = lens.map(|len| input.take(len).to_vec()).into_iter();
        let segments = parts.next().unwrap_or_default();
        let mut records: [Vec<u8>; KINDS] = Default::default();
        records.iter_mut().zip(parts).for_each(|(records, part)| *records = part);
        Self { value_node, segments, records }
    }

    /// The input that has these parts.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = vec![self.value_node];
        self.parts().for_each(|part| out.extend((part.len() as u16).to_le_bytes()));
        self.parts().for_each(|part| out.extend(part));
        out
    }

    fn parts(&self) -> impl Iterator<Item = &Vec<u8>> {
        std::iter::once(&self.segments).chain(&self.records)
    }

    /// The parts of a sound file that was written whole and has no slot pages.
    pub fn of(file: &[u8]) -> Option<Self> {
        let footer_at = Map::of(file).footer_at;
        if footer_at == file.len() || file[16] & 2 != 0 {
            return None;
        }
        let header = header::header(file).ok()?;
        let room = header.room(file);
        let root = root::root(room, &header.current).ok()?;
        let value_node = u8::try_from(root.value_node).ok().filter(|node| node & !NODE == 0)?;
        let mut sections = Self { value_node, ..Self::default() };
        for section in root.sections.iter().filter(|section| section.is_known()) {
            sections.records[usize::from(section.kind) - 1] = section.read(room).ok()?.0;
        }
        sections.segments = file[256..footer_at].to_vec();
        Some(sections)
    }

    /// A file with these sections. All checksums are right, also in pages and directories.
    fn file(&self) -> Vec<u8> {
        let mut file = vec![0; 256];
        file.extend(&self.segments);
        let (mut sections, mut codecs) = (Vec::new(), Codecs::new());
        for (kind, (records, &record_len)) in (1..).zip(self.records.iter().zip(&RECORD_LEN)) {
            let Some(kind) = SectionKind::from_code(kind) else { continue };
            let at = file.len() as u64;
            if !records.is_empty() {
                let filter = if self.value_node & SHUFFLES == 0 { Filter::None } else { Filter::Shuffle };
                let mut encoder = LeafEncoder::new(&mut codecs, filter, record_len);
                let store = &mut |leaf: &[u8], out: &mut Vec<u8>| encoder.store(leaf, out);
                let compress = (self.value_node & COMPRESSES != 0).then_some(Compress { filter, store });
                let records = SectionRecords { record_len, ..SectionRecords::new(kind, 0, records) };
                sections.push(emit_section(records, at, compress, &mut file));
            }
        }
        let value_node = u64::from(self.value_node & NODE);
        let root = Root {
            generation: 1,
            previous: None,
            value_node,
            time: 0,
            operation: Operation::Write.code(),
            compression: 0,
            edition: 1,
            keep: Keep::default(),
            features: Features::CURRENT,
            footer_at: 256,
            file_id: [7; 16],
            program: [0; 32],
            sections,
        };
        let (root, root_at) = (root.emit(), file.len() as u64);
        file.extend(&root);
        let slot = Slot {
            generation: 1,
            root_at,
            root_len: root.len() as u32,
            end: file.len() as u64 + 64,
            root_checksum: checksum(&root),
            not_synced: false,
        };
        let header = Header::whole(slot, HEADER_LEN as u64);
        file.extend(Trailer::new(&slot, &header, Version::CURRENT).emit());
        file[..256].copy_from_slice(&header.emit());
        Map::of(&file).repair(&mut file);
        file
    }
}

/// Reads the file with the core and with the naive decoder.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    file::compare(&Sections::parse(bytes).file());
}

/// Lets `change` mutate one part of an input.
pub fn mutate(bytes: &[u8], dice: &mut Dice, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut sections = Sections::parse(bytes);
    match dice.below(KINDS + 2) {
        0 => sections.value_node = (dice.below(9) | dice.below(4) << 6) as u8,
        1 => change(&mut sections.segments),
        i => change(&mut sections.records[i - 2]),
    }
    sections.emit()
}

/// The parts of the golden files, good and bad, where they are short.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut files = super::files(&folder(), "entasis");
    files.extend(super::files(&tree_folder(), "entasis"));
    files.extend(bad::all().into_iter().map(|bad| bad.bytes));
    let sections = files.iter().filter_map(|file| Sections::of(file));
    sections
        .filter(|sections| sections.parts().all(|part| part.len() <= LONGEST))
        .map(|all| all.emit())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{contents, verify};

    /// Seeds that no reader accepts would test nothing but the first check.
    #[test]
    fn files_of_sound_sections_are_read() {
        let mut n = 0;
        for file in super::super::files(&folder(), "entasis") {
            let Some(sections) = Sections::of(&file) else { continue };
            let again = Sections::parse(&sections.emit());
            if again != sections {
                // A section that is too long for an input.
                assert!(sections.parts().any(|part| part.len() > usize::from(u16::MAX)));
                continue;
            }
            for form in [0, COMPRESSES, COMPRESSES | SHUFFLES] {
                let sections = Sections { value_node: sections.value_node | form, ..sections.clone() };
                let made = sections.file();
                assert_eq!(contents(&made).unwrap().columns, contents(&file).unwrap().columns);
                verify(&made).unwrap();
            }
            n += 1;
        }
        assert!(n > 30, "{n}");
    }

    /// Compressed records of more than 32 times the bytes of the file, or fewer than 4 bytes of the
    /// file for each column.
    #[test]
    fn short_files_of_many_records_are_refused() {
        let file = std::fs::read(folder().join("constant.entasis")).unwrap();
        let all = Sections::of(&file).unwrap();
        let cases = [
            (1, 20_000, 0, "more records"),
            (1, 2_000, 5_000, "more columns"),
            (7, 20_000, 0, "more records"),
        ];
        for (kind, n, padding, problem) in cases {
            let mut all = Sections { value_node: all.value_node | COMPRESSES | SHUFFLES, ..all.clone() };
            all.segments.extend(vec![0; padding]);
            all.records[kind] = all.records[kind].repeat(n);
            let error = contents(&all.file()).unwrap_err().to_string();
            assert!(error.contains(problem), "{kind} x {n}: {error}");
            run(&all.emit());
        }
    }
}
