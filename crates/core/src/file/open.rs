//! Finds the current state of a file when it is opened (`docs/format/container.md`).

use std::path::Path;
use std::sync::Mutex;

use entasis_format::{
    Error, HEADER_LEN, Header, Kind, Limits, Order, Result, Room, Root, Runs, SLOT_PAGES_END, Slot,
    SlotState, TRAILER_LEN, Trailer, Value, checksum,
};
use entasis_io::Source;

use super::cell_columns::CellColumns;
use super::footer::{OpenFile, read};

/// Bytes read from the end of a file when it is opened. They usually hold the footer.
const TAIL: u64 = 64 << 10;

/// The first bytes of a file: all of a short one, else header and slots.
fn head(source: &dyn Source, len: u64) -> Result<(Header, [SlotState; 2], Vec<u8>)> {
    let mut head = read(source, 0, if len <= TAIL { len } else { SLOT_PAGES_END })?;
    let header = Header::parse(&head)?;
    let slots = if header.has_slot_pages() { SlotState::pages(&head)? } else { [SlotState::Empty; 2] };
    if len > TAIL {
        head.truncate(if header.has_slot_pages() { SLOT_PAGES_END as usize } else { HEADER_LEN });
    }
    Ok((header, slots, head))
}

/// Opens the bytes of a source at their current state.
pub(super) fn open(source: Box<dyn Source>, name: &Path, limits: Limits) -> Result<OpenFile> {
    let len = source.len();
    let (header, slots, head) = head(&*source, len)?;
    let Order { trailer_above, slots: order } = header.order(slots)?;
    let mut opened = OpenFile {
        path: name.to_path_buf(),
        source,
        limits,
        header,
        slots,
        slot: Slot { generation: 0, root_at: 0, root_len: 0, end: 0, root_checksum: 0, not_synced: false },
        root: Root {
            generation: 0,
            previous: None,
            value_node: 0,
            time: 0,
            operation: 0,
            file_id: [0; 16],
            program: [0; 32],
            sections: Vec::new(),
        },
        runs: Runs::default(),
        value: Value::Null,
        cells: None,
        cached: vec![(0, head)],
        parts: Mutex::default(),
        is_passed_over: false,
    };
    opened.find_state(trailer_above, &order, len)?;
    opened.runs = opened.read_runs()?;
    opened.value = opened.read_value(opened.root.value_node)?;
    opened.cells = CellColumns::of(&opened.value)?;
    Ok(opened)
}

impl OpenFile {
    /// Takes the first state of the order that is there.
    fn find_state(&mut self, trailer_above: Option<u64>, order: &[Slot], len: u64) -> Result<()> {
        if let Some(above) = trailer_above {
            match self.last_trailer(len) {
                Ok(slot) if order.is_empty() => return self.read_root(slot, len),
                Ok(slot) if slot.generation > above && self.is_intact(&slot, len)? => {
                    return self.read_root(slot, len);
                }
                Err(error) if order.is_empty() || error.kind() != Kind::Corrupt => return Err(error),
                _ => {}
            }
        }
        match order {
            [newest, older, ..] if newest.not_synced && !self.is_intact(newest, len)? => {
                self.is_passed_over = true;
                self.read_root(*older, len)
            }
            [newest, ..] => self.read_root(*newest, len),
            [] => Err(Error::corrupt("no slot is intact")),
        }
    }

    /// The trailer in the last bytes of the file.
    fn last_trailer(&self, len: u64) -> Result<Slot> {
        let at =
            len.checked_sub(TRAILER_LEN as u64).ok_or_else(|| Error::corrupt("the file is truncated"))?;
        let trailer = Trailer::parse(&read(&*self.source, at, TRAILER_LEN as u64)?)?;
        trailer.check(Room { start: self.header.room_start(), end: len }).map_err(|e| e.at(at))?;
        Ok(trailer.slot())
    }

    /// Whether the file has all bytes of a generation, and the checksum of its root holds.
    fn is_intact(&self, slot: &Slot, len: u64) -> Result<bool> {
        Ok(slot.end <= len
            && checksum(&read(&*self.source, slot.root_at, slot.root_len.into())?) == slot.root_checksum)
    }

    /// Takes the state of a slot.
    fn read_root(&mut self, slot: Slot, len: u64) -> Result<()> {
        if slot.end > len {
            let message = format!("the file is truncated: it has {len} of {} bytes", slot.end);
            return Err(Error::corrupt(message).at(len));
        }
        self.cached.truncate(1);
        if slot.end > TAIL {
            let at = slot.end - TAIL;
            self.cached.push((at, read(&*self.source, at, TAIL)?));
        }
        self.slot = slot;
        let root = self.fetch(slot.root_at, slot.root_len as usize)?;
        self.root = Root::read(&root, &slot, self.header.room_start())?;
        Ok(())
    }
}
