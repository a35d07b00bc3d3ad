//! Keeps the parts of a changed file that this release does not know, as their flags say, or
//! refuses the change (`docs/format/container.md`).

use entasis_format::{
    COPY, Error, Result, Root, Section, SectionKind, emit_like, fallible, read_whole_records,
};

use crate::file::File;

/// Records of an unknown section that are read together, in bytes.
const STEP: u64 = 1 << 20;
/// The use of memory, in messages.
const WHAT: &str = "sections of a later version";

/// Sections of unknown kinds that a new generation keeps.
#[derive(Default)]
pub(crate) struct Unknown {
    /// Sections whose parts stay where they are.
    stay: Vec<Section>,
    /// Sections whose records are stored anew.
    copied: Vec<(Section, Vec<u8>)>,
}

impl Unknown {
    /// The sections that a change of `file` in place keeps.
    pub(crate) fn staying(file: &File) -> Self {
        Self { stay: kept(file.root()).copied().collect(), copied: Vec::new() }
    }

    /// The sections that a new file with the value of `file` keeps.
    ///
    /// # Errors
    /// *Unsupported* for a section whose parts are stored in an unknown way; otherwise as for
    /// reading.
    pub(crate) fn copied(file: &File) -> Result<Self> {
        let mut copied = Vec::new();
        for section in kept(file.root()) {
            let records = records(file, section).map_err(|e| e.in_section(section.name()))?;
            fallible::push(&mut copied, (*section, records), WHAT)?;
        }
        Ok(Self { stay: Vec::new(), copied })
    }

    /// Appends the parts of the sections to a footer whose next byte has the offset `at`. Returns
    /// the section records.
    pub(super) fn emit(self, at: u64, out: &mut Vec<u8>) -> Vec<Section> {
        let start = out.len();
        let mut sections = self.stay;
        for (section, records) in &self.copied {
            let offset = at + (out.len() - start) as u64;
            sections.push(emit_like(section, records, offset, out));
        }
        sections
    }
}

/// The sections of unknown kinds that every writer keeps.
fn kept(root: &Root) -> impl Iterator<Item = &Section> {
    root.sections.iter().filter(|section| !section.is_known() && section.flags & COPY != 0)
}

/// All records of a section of an unknown kind.
fn records(file: &File, section: &Section) -> Result<Vec<u8>> {
    section.check(file.room())?;
    let mut records = Vec::new();
    let step = (STEP / u64::from(section.record_len.max(1))).max(1);
    let mut from = 0;
    while from < section.n_records {
        let range = from..section.n_records.min(from + step);
        let fetch = &mut |part: &_| file.fetch(part);
        let some = read_whole_records(section, range.clone(), file.room(), file.limits(), fetch)?;
        fallible::extend(&mut records, some.into_iter(), WHAT)?;
        from = range.end;
    }
    Ok(records)
}

/// Checks that this release can change a file: that it knows what writers must know.
///
/// # Errors
/// *Newer*.
pub(crate) fn check_writer(root: &Root) -> Result<()> {
    root.features.check_writer()?;
    root.sections.iter().try_for_each(|section| section.check_writer(root.version()))
}

/// Checks that a change can keep the further bytes of longer records: those of columns, tables,
/// blocks and statistics. A change makes all other records anew.
///
/// # Errors
/// *Unsupported*.
pub(crate) fn check_record_lens(root: &Root) -> Result<()> {
    use SectionKind::{Blocks, Columns, Statistics, Tables};
    for section in &root.sections {
        let Some(kind) = SectionKind::from_code(section.kind) else { continue };
        let are_kept = matches!(kind, Columns | Tables | Blocks | Statistics);
        if !are_kept && section.record_len > kind.record_len() {
            let message = "records of a later version would be lost by a change";
            return Err(Error::unsupported(message).in_section(kind.name()).advise("update Entasis"));
        }
    }
    Ok(())
}
