//! Where a change is written: after the end of the file, or into a new file that replaces it.

use std::path::Path;

use entasis_format::{Error, Header, Kind, Limits, Result, Slot};
use entasis_io::{FileSource, InPlace, Replacement, Sink};

use super::{check_change, next_slot_at, now, secure};
use crate::file::File;
use crate::monitor::{Monitor, Quiet};
use crate::retain::{Blocks, Destination, copy, kept_generations, kept_if_mostly_dead};
use crate::write::WriteOptions;

/// Where a change is written.
pub(super) enum To {
    /// The end of the file that changes.
    InPlace(Box<InPlace>),
    /// A new file.
    New(Box<Replacement>),
}

impl To {
    /// Prepares a change that adds to the file's value. A file without slot pages, or a short one
    /// whose bytes are mostly dead, is copied to a new file that replaces it. Returns the file that
    /// gets the change, with the state before it.
    pub(super) fn prepare(
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
            let earlier = kept_generations(&file, keep, now())?;
            let copied = copied(&replacement, &file, &earlier, Blocks::Same, options, monitor)?;
            return Ok((Self::New(Box::new(replacement)), copied));
        }
        if let Some(earlier) = kept_if_mostly_dead(&file, keep, now())? {
            match in_place.replace_unasked(options.durable) {
                Ok(replacement) => {
                    match copied(&replacement, &file, &earlier, Blocks::Merged, options, monitor) {
                        Ok(copied) => return Ok((Self::New(Box::new(replacement)), copied)),
                        Err(error) if error.kind() == Kind::Interrupted => return Err(error),
                        // A damaged file, or one with records of a later version, can still grow.
                        Err(_) => {
                            let back = InPlace::instead_of(replacement);
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
    pub(super) fn after(mut in_place: InPlace, file: &File) -> Result<Self> {
        secure(file, &in_place)?;
        in_place.start_at(file.slot().end).map_err(|e| Error::io(e, "change"))?;
        Ok(Self::InPlace(Box::new(in_place)))
    }

    /// The path of the file that changes.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::InPlace(in_place) => in_place.target(),
            Self::New(replacement) => replacement.target(),
        }
    }

    pub(super) fn sink(&self) -> &dyn Sink {
        match self {
            Self::InPlace(in_place) => &**in_place,
            Self::New(replacement) => &**replacement,
        }
    }

    /// Returns an error in a forked child of the process that began the change.
    pub(super) fn check_process(&self) -> Result<()> {
        let checked = match self {
            Self::InPlace(in_place) => in_place.check_process(),
            Self::New(replacement) => replacement.check_process(),
        };
        checked.map_err(|e| Error::io(e, "write").in_file(self.path()))
    }

    /// Opens what is written so far, at a slot that is in no file yet.
    pub(super) fn open(&self, slot: Slot) -> Result<File> {
        match self {
            Self::InPlace(in_place) => open(in_place.target(), in_place.target(), slot),
            Self::New(replacement) => open(replacement.temp(), replacement.target(), slot),
        }
    }

    /// Makes `slot` the current state. `old` is the state before it, if there is one. It must not
    /// be open elsewhere: Windows renames no open file.
    pub(super) fn commit(self, old: Option<File>, slot: Slot, is_durable: bool) -> Result<()> {
        match self {
            Self::InPlace(in_place) => {
                let Some(old) = old else { return Ok(()) };
                let failed = |source| Error::io(source, "change");
                in_place.commit(next_slot_at(&old), &slot.emit(), is_durable).map_err(failed)
            }
            Self::New(replacement) => {
                drop(old);
                let header = Header::whole(slot, true).emit();
                let mut at = 0;
                while let Some(rest) = header.get(at..).filter(|rest| !rest.is_empty()) {
                    let written = replacement.write_at(at as u64, rest);
                    at += written.map_err(|e| Error::io(e, "write"))?;
                }
                replacement.commit().map_err(|e| Error::io(e, "replace"))
            }
        }
    }
}

fn open(written: &Path, path: &Path, slot: Slot) -> Result<File> {
    let source = FileSource::open(written).map_err(|e| Error::io(e, "open"))?;
    File::open_at(Box::new(source), path, Limits::default(), slot)
}

/// Copies the `earlier` generations of `file` and the current one to a new file, and opens it.
/// `blocks` says how those of the current one are copied if it is the only one.
fn copied(
    replacement: &Replacement,
    file: &File,
    earlier: &[Slot],
    blocks: Blocks,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<File> {
    let blocks = if earlier.is_empty() { blocks } else { Blocks::Same };
    let open = |slot| open(replacement.temp(), replacement.target(), slot);
    let destination = Destination { sink: replacement, open: &open };
    let slot = copy(file, earlier, blocks, &destination, options.threads, &Quiet(monitor))?;
    open(slot)
}
