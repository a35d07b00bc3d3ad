//! Finds the current state of a file when it is opened (`docs/format/container.md`).

use std::path::Path;
use std::sync::Mutex;

use entasis_format::{
    Error, HEADER_LEN, Header, Limits, Order, Result, Root, Runs, SLOT_PAGES_END, Slot, SlotState,
    TRAILER_LEN, Trailer, Value,
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
        let mut problem = None;
        if let Some(above) = trailer_above {
            match self.read_trailer(len, above) {
                Ok(()) => return Ok(()),
                Err(error) => problem = Some(error),
            }
        }
        for slot in order {
            match self.read_root(*slot, len) {
                Ok(()) => return Ok(()),
                Err(error) if !slot.not_synced => return Err(error),
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| Error::corrupt("no slot is intact")))
    }

    /// Takes the state in the last bytes of the file, if its generation is above this one.
    fn read_trailer(&mut self, len: u64, above: u64) -> Result<()> {
        let at =
            len.checked_sub(TRAILER_LEN as u64).ok_or_else(|| Error::corrupt("the file is truncated"))?;
        let slot = Trailer::parse(&read(&*self.source, at, TRAILER_LEN as u64)?)?.slot();
        if slot.generation <= above {
            return Err(Error::corrupt("the trailer is not newer than the slot").at(at));
        }
        self.read_root(slot, len)
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
