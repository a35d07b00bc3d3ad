//! A file as an in-place change would leave it. The changed bytes are in memory.

use std::io;

use entasis_format::{HEADER_LEN, Header, Result, SLOT_PAGES_END, SlotState, fallible};
use entasis_io::{MemorySink, Sink, Source};

use crate::file::File;
use crate::monitor::Monitor;
use crate::rebuild::{PARTS, Rebuild};
use crate::write::{Base, Ground};

/// New bytes begin at a multiple of this.
const ALIGN: u64 = 64;

/// The file after a change in memory.
pub(super) fn overlay(file: &File, rebuild: &Rebuild<'_>, monitor: &dyn Monitor) -> Result<File> {
    let end = file.slot().end;
    let start = end.next_multiple_of(ALIGN);
    let tail = Tail { start, bytes: MemorySink::new() };
    let ground = Ground {
        file: Some(file),
        base: Some(Base::of(file)),
        is_in_place: true,
        is_linked: true,
        ..Ground::default()
    };
    let slot = rebuild.execute(&tail, start, &ground, monitor)?.append()?;
    let has_slot_pages = file.header().has_slot_pages();
    let header = Header { first: SlotState::Valid(slot), ..*file.header() };
    let mut head = header.emit().to_vec();
    let len = if has_slot_pages { SLOT_PAGES_END as usize } else { HEADER_LEN };
    // Slots A and B are empty, so the first slot is current.
    fallible::resize(&mut head, len, 0, PARTS)?;
    let source = Overlay { head, file: file.whole(), end, start, tail: tail.bytes.into_bytes() };
    let limits = file.limits().clone();
    File::from_source(Box::new(source), file.path(), limits)
}

/// The bytes from an offset of the file on, in memory.
struct Tail {
    start: u64,
    bytes: MemorySink,
}

impl Sink for Tail {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let inside = at.checked_sub(self.start).ok_or_else(|| io::Error::other("a write before the end"))?;
        self.bytes.write_at(inside, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A file whose first and last bytes are in memory.
struct Overlay {
    head: Vec<u8>,
    file: File,
    /// The file's bytes before this offset are used. Zeros follow up to `start`.
    end: u64,
    start: u64,
    tail: Vec<u8>,
}

impl Source for Overlay {
    fn len(&self) -> u64 {
        self.start + self.tail.len() as u64
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let copy = |from: &[u8], out: &mut [u8]| {
            let n = from.len().min(out.len());
            out[..n].copy_from_slice(&from[..n]);
            n
        };
        let skip = |first: u64| usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX);
        if let Some(rest) = self.head.get(skip(0)..).filter(|rest| !rest.is_empty()) {
            return Ok(copy(rest, out));
        }
        if at < self.end {
            let n = usize::try_from(self.end - at).unwrap_or(usize::MAX).min(out.len());
            return self.file.read_source_at(at, &mut out[..n]);
        }
        if at < self.start {
            let n = ((self.start - at) as usize).min(out.len());
            out[..n].fill(0);
            return Ok(n);
        }
        Ok(self.tail.get(skip(self.start)..).map_or(0, |rest| copy(rest, out)))
    }
}
