//! Where a change is written: after the end of the file, or into a new file that replaces it.

use std::path::Path;

use entasis_format::{Error, Header, Kind, Limits, Result, Slot};
use entasis_io::{FileSource, InPlace, Replacement, Sink};

use super::{check_change, next_slot_at, now, secure};
use crate::file::File;
use crate::file_sink::FileSink;
use crate::monitor::{Monitor, Quiet};
use crate::retain::{Blocks, Destination, copy, kept_generations, kept_if_mostly_dead};
use crate::write::WriteOptions;

/// Where a change is written.
pub(crate) enum To {
    /// The end of the file that changes.
    InPlace(Box<FileSink<InPlace>>),
    /// A new file.
    New(Box<FileSink<Replacement>>),
}

impl To {
    /// Prepares a change that adds to the file's value. A file without slot pages, or a short one
    /// whose bytes are mostly dead, is copied to a new file that replaces it. Returns the file that
    /// gets the change, with the state before it.
    pub(crate) fn prepare(
        mut in_place: InPlace,
        file: File,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Self, File)> {
        let has_slot_pages = file.header().has_slot_pages();
        let keep = options.keep.unwrap_or(file.root().keep);
        check_change(&file, has_slot_pages)?;
        if !has_slot_pages {
            let replacement = in_place.replace(options.durable).map_err(|e| Error::io(e, "change"))?;
            let sink = FileSink::instead_of(replacement, &file)?;
            let earlier = kept_generations(&file, keep, now())?;
            let copied = copied(&sink, &file, &earlier, Blocks::Same, options, monitor)?;
            return Ok((Self::New(Box::new(sink)), copied));
        }
        if let Some(earlier) = kept_if_mostly_dead(&file, keep, now())? {
            match in_place.replace_unasked(options.durable) {
                Ok(replacement) => {
                    let sink = FileSink::instead_of(replacement, &file)?;
                    match copied(&sink, &file, &earlier, Blocks::Merged, options, monitor) {
                        Ok(copied) => return Ok((Self::New(Box::new(sink)), copied)),
                        Err(error) if error.kind() == Kind::Interrupted => return Err(error),
                        // A damaged file, or one with records of a later version, can still grow.
                        Err(_) => {
                            let back = InPlace::instead_of(sink.give_up());
                            in_place = back.map_err(|e| Error::io(e, "change"))?;
                        }
                    }
                }
                Err(back) => in_place = *back,
            }
        }
        Ok((Self::after(in_place, &file)?, file))
    }

    /// Prepares a change after the end of a file.
    pub(crate) fn after(in_place: InPlace, file: &File) -> Result<Self> {
        secure(file, &in_place)?;
        Ok(Self::InPlace(Box::new(FileSink::in_place(in_place, file)?)))
    }

    /// The path of the file that changes.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::InPlace(in_place) => in_place.file().target(),
            Self::New(replacement) => replacement.file().target(),
        }
    }

    /// Where the first generation of a new file begins.
    pub(crate) fn first_start(&self) -> u64 {
        match self {
            Self::InPlace(in_place) => in_place.first_start(),
            Self::New(replacement) => replacement.first_start(),
        }
    }

    pub(crate) fn sink(&self) -> &dyn Sink {
        match self {
            Self::InPlace(in_place) => &**in_place,
            Self::New(replacement) => &**replacement,
        }
    }

    /// Returns an error in a forked child of the process that began the change.
    pub(crate) fn check_process(&self) -> Result<()> {
        let checked = match self {
            Self::InPlace(in_place) => in_place.file().check_process(),
            Self::New(replacement) => replacement.file().check_process(),
        };
        checked.map_err(|e| Error::io(e, "write").in_file(self.path()))
    }

    /// Opens what is written so far, at a slot that is in no file yet.
    pub(crate) fn open(&self, slot: Slot) -> Result<File> {
        match self {
            Self::InPlace(in_place) => open(in_place, in_place.file().target(), self.path(), slot),
            Self::New(new) => open(new, new.file().temp(), self.path(), slot),
        }
    }

    /// Makes `slot` the current state. `old` is the state before it, if there is one. It must not
    /// be open elsewhere: Windows renames no open file.
    pub(crate) fn commit(self, old: Option<File>, slot: Slot, is_durable: bool) -> Result<()> {
        match self {
            Self::InPlace(in_place) => {
                let Some(old) = old else { return Ok(()) };
                in_place.commit(next_slot_at(&old), &slot, is_durable)
            }
            Self::New(replacement) => {
                drop(old);
                let header = Header::whole(slot, replacement.first_start()).emit();
                replacement.write_all_at(0, &header).map_err(|e| Error::io(e, "write"))?;
                replacement.commit().map_err(|e| Error::io(e, "replace"))
            }
        }
    }
}

/// Opens what a sink has written to the file `written`, at a slot.
fn open<S: Sink>(sink: &FileSink<S>, written: &Path, path: &Path, slot: Slot) -> Result<File> {
    sink.flush().map_err(|e| Error::io(e, "write"))?;
    let source = FileSource::open(written).map_err(|e| Error::io(e, "open"))?;
    File::open_at(Box::new(source), sink.unlocked(), path, Limits::default(), slot)
}

/// Copies the `earlier` generations of `file` and the current one to a new file, and opens it.
/// `blocks` says how those of the current one are copied if it is the only one.
fn copied(
    sink: &FileSink<Replacement>,
    file: &File,
    earlier: &[Slot],
    blocks: Blocks,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<File> {
    let blocks = if earlier.is_empty() { blocks } else { Blocks::Same };
    let open = |slot| open(sink, sink.file().temp(), sink.file().target(), slot);
    let is_sealed = sink.unlocked().is_some();
    let destination = Destination { sink, is_sealed, open: &open };
    let slot = copy(file, earlier, blocks, &destination, options.threads, &Quiet(monitor))?;
    open(slot)
}
