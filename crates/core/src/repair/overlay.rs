//! A file as an in-place change would leave it. The changed bytes are in memory.

use entasis_format::{HEADER_LEN, Header, Result, SLOT_PAGES_END, SlotState, fallible};

use crate::file::File;
use crate::monitor::Monitor;
use crate::rebuild::{PARTS, Rebuild};
use crate::segments::{Segments, Tail};
use crate::write::{Base, Ground};

/// New bytes begin at a multiple of this.
const ALIGN: u64 = 64;

/// The file after a change in memory.
pub(super) fn overlay(file: &File, rebuild: &Rebuild<'_>, monitor: &dyn Monitor) -> Result<File> {
    let end = file.slot().end;
    let start = end.next_multiple_of(ALIGN);
    let tail = Tail::new(start);
    let ground = Ground {
        file: Some(file),
        base: Some(Base::of(file)),
        is_in_place: true,
        is_linked: true,
        ..Ground::default()
    };
    let slot = rebuild.execute(&tail, start, &ground, monitor)?.append()?;
    let has_slot_pages = file.header().has_slot_pages();
    let header = Header { first: SlotState::Valid(slot), ..file.header().unsealed() };
    let mut head = header.emit().to_vec();
    let len = if has_slot_pages { SLOT_PAGES_END as usize } else { HEADER_LEN };
    // Slots A and B are empty, so the first slot is current.
    fallible::resize(&mut head, len, 0, PARTS)?;
    let mut segments = Segments::default();
    segments.push_memory(0, head);
    segments.push_file(len as u64, file.whole(), len as u64..end);
    segments.push_memory(start, tail.into_bytes());
    File::from_source(Box::new(segments), file.path(), file.limits().clone())
}
