//! A file that is written, plain or encrypted.

use std::io;
use std::sync::Arc;

use entasis_format::{Error, KEY_PAGES_END, Kind, Result, SLOT_LEN, SLOT_PAGES_END, Slot};
use entasis_io::{InPlace, Replacement, Sink};
use entasis_seal::{Sealer, Unlocked};

use crate::file::File;

/// A file that is written. Bytes of an encrypted one are encrypted on their way.
pub(crate) struct FileSink<S> {
    to: S,
    sealer: Option<Sealer>,
}

impl<S: Sink> FileSink<S> {
    /// A new file. Writes its key pages.
    pub(crate) fn new(to: S, unlocked: Option<Unlocked>) -> Result<Self> {
        let sealer = unlocked.map(|unlocked| Sealer::new(Arc::new(unlocked))).transpose()?;
        if let Some(sealer) = &sealer {
            sealer.write_key_pages(&to).map_err(|error| Error::io(error, "write"))?;
        }
        Ok(Self { to, sealer })
    }

    /// A new file that replaces `file`, with the same keys.
    pub(crate) fn instead_of(to: S, file: &File) -> Result<Self> {
        let Some(sealed) = file.sealed() else { return Self::new(to, None) };
        let renewed = match sealed.current_keys(file.limits()) {
            // Damage since the file was opened.
            Err(error) if error.kind() == Kind::Corrupt => sealed.unlocked().renewed()?,
            current => current?.renewed()?,
        };
        Self::new(to, Some(renewed))
    }

    /// Where the first generation of a new file begins, if it begins at `plain` in a plain file.
    pub(crate) fn start(&self, plain: u64) -> u64 {
        if self.sealer.is_some() { KEY_PAGES_END } else { plain }
    }

    /// Where the first generation of a new file with slot pages begins.
    pub(crate) fn first_start(&self) -> u64 {
        self.start(SLOT_PAGES_END)
    }

    /// The keys of the file, if it is encrypted.
    pub(crate) fn unlocked(&self) -> Option<&Arc<Unlocked>> {
        self.sealer.as_ref().map(Sealer::unlocked)
    }

    /// The length of the stored file whose inner file has a length.
    pub(crate) fn stored_len(&self, len: u64) -> u64 {
        self.sealer.as_ref().map_or(len, |sealer| sealer.stored_len(len))
    }

    /// The file itself. Bytes that were written to this sink may not be in it yet.
    pub(crate) fn file(&self) -> &S {
        &self.to
    }

    /// Writes what is held back.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.sealer.as_ref().map_or(Ok(()), |sealer| sealer.flush(&self.to))
    }
}

impl FileSink<InPlace> {
    /// A change of `file` in place.
    pub(crate) fn in_place(mut to: InPlace, file: &File) -> Result<Self> {
        let sealer = file.unlocked().map(|unlocked| Sealer::new(Arc::clone(unlocked))).transpose()?;
        let end = file.slot().end;
        let end = sealer.as_ref().map_or(end, |sealer| sealer.stored_len(end));
        to.start_at(end).map_err(|e| Error::io(e, "change"))?;
        Ok(Self { to, sealer })
    }

    /// Makes a slot, which is written at `at`, the current one.
    pub(crate) fn commit(self, at: u64, slot: &Slot, is_durable: bool) -> Result<()> {
        let failed = |source| Error::io(source, "change");
        self.flush().map_err(failed)?;
        let slot = self.slot(at, slot);
        self.to.commit(at, &slot, is_durable).map_err(failed)
    }

    fn slot(&self, at: u64, slot: &Slot) -> [u8; SLOT_LEN] {
        stored_slot(self.sealer.as_ref(), at, slot)
    }
}

impl FileSink<Replacement> {
    /// The file, whose bytes are not used.
    pub(crate) fn give_up(self) -> Replacement {
        self.to
    }

    /// Puts the new file in the place of the old one.
    pub(crate) fn commit(self) -> io::Result<()> {
        self.flush()?;
        self.to.commit()
    }
}

/// Overwrites a slot of `file`.
pub(crate) fn rewrite_slot(to: &InPlace, file: &File, at: u64, slot: &Slot) -> Result<()> {
    let sealer = file.unlocked().map(|unlocked| Sealer::new(Arc::clone(unlocked))).transpose()?;
    to.rewrite(at, &stored_slot(sealer.as_ref(), at, slot)).map_err(|e| Error::io(e, "change"))
}

/// The stored bytes of a slot.
fn stored_slot(sealer: Option<&Sealer>, at: u64, slot: &Slot) -> [u8; SLOT_LEN] {
    let slot = slot.emit();
    sealer.map_or(slot, |sealer| sealer.slot(at, &slot))
}

impl<S: Sink> Sink for FileSink<S> {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        match &self.sealer {
            None => self.to.write_at(at, bytes),
            Some(sealer) => sealer.write_all_at(&self.to, at, bytes).map(|()| bytes.len()),
        }
    }

    fn write_all_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.sealer {
            None => self.to.write_all_at(at, bytes),
            Some(sealer) => sealer.write_all_at(&self.to, at, bytes),
        }
    }

    fn expect(&self, len: u64) {
        self.to.expect(self.stored_len(len));
    }

    fn is_mappable(&self) -> bool {
        self.sealer.is_none()
    }

    fn sync(&self) -> io::Result<()> {
        self.flush()?;
        self.to.sync()
    }
}
