//! Finds the current state of a file when it is opened (`docs/format/container.md`).

use std::path::Path;
use std::sync::{Arc, Mutex};

use entasis_format::{
    Error, HEADER_LEN, Header, Kind, Limits, Order, Result, Room, Root, Runs, SLOT_PAGES_END, Slot,
    SlotState, TRAILER_LEN, Trailer, Value, checksum,
};
use entasis_io::Source;

use super::cell_columns::CellColumns;
use super::footer::{OpenFile, read};
use super::known_blocks::KnownBlocks;

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
pub(super) fn open(mut source: Box<dyn Source>, name: &Path, limits: Limits) -> Result<OpenFile> {
    let (header, slots, head) = head(&*source, source.len())?;
    // The slots may name the state of a change that has ended since the file was measured.
    let len = source.measure().map_err(|e| Error::io(e, "read"))?;
    let Order { trailer_above, slots: order } = header.order(slots)?;
    let mut opened = OpenFile::new(name, source.into(), limits, (header, slots), head);
    opened.find_state(trailer_above, &order, len)?;
    opened.read_value_of_root()?;
    Ok(opened)
}

/// Opens a source at the state of a slot, of a file with slot pages whose slots may name another
/// state or none yet.
pub(super) fn open_at(source: Box<dyn Source>, name: &Path, limits: Limits, slot: Slot) -> Result<OpenFile> {
    let (len, header) = (source.len(), Header::whole(slot, true));
    let head = read(&*source, 0, SLOT_PAGES_END)?;
    let empty = [SlotState::Empty; 2];
    let mut opened = OpenFile::new(name, source.into(), limits, (header, empty), head);
    opened.read_root(slot, len)?;
    opened.read_value_of_root()?;
    Ok(opened)
}

impl OpenFile {
    /// A file without a state yet. `head` are its first bytes.
    fn new(
        name: &Path,
        source: Arc<dyn Source>,
        limits: Limits,
        (header, slots): (Header, [SlotState; 2]),
        head: Vec<u8>,
    ) -> Self {
        Self {
            path: name.to_path_buf(),
            source,
            limits,
            header,
            slots,
            slot: Slot {
                generation: 0,
                root_at: 0,
                root_len: 0,
                end: 0,
                root_checksum: 0,
                not_synced: false,
            },
            root: Root {
                generation: 0,
                previous: None,
                value_node: 0,
                time: 0,
                operation: 0,
                compression: 0,
                file_id: [0; 16],
                program: [0; 32],
                sections: Vec::new(),
            },
            runs: Runs::default(),
            value: Value::Null,
            cells: None,
            cached: vec![(0, head)],
            parts: Mutex::default(),
            known_blocks: KnownBlocks::default(),
            is_passed_over: false,
        }
    }

    /// The file at another of its states.
    pub(super) fn at(&self, slot: Slot) -> Result<Self> {
        let head = self.cached.first().map(|(_, head)| head.clone()).unwrap_or_default();
        let of_head = (self.header, self.slots);
        let mut opened = Self::new(&self.path, Arc::clone(&self.source), self.limits.clone(), of_head, head);
        opened.read_root(slot, self.source.len())?;
        opened.read_value_of_root()?;
        Ok(opened)
    }

    /// The slot of the state before this one, which has no slot any more.
    pub(super) fn previous(&self) -> Result<Option<Slot>> {
        let Some((root_at, root_len, root_checksum)) = self.root.previous else { return Ok(None) };
        let bytes = read(&*self.source, root_at, root_len.into())?;
        if checksum(&bytes) != root_checksum {
            let message = "the checksum of the root of an earlier generation does not match";
            return Err(Error::corrupt(message).at(root_at));
        }
        let generation = Root::parse(&bytes).map_err(|e| e.at(root_at))?.generation;
        if generation >= self.slot.generation {
            return Err(Error::corrupt("the generations of a file do not ascend").at(root_at));
        }
        // The trailer follows the root.
        let end = root_at.saturating_add(u64::from(root_len)).saturating_add(TRAILER_LEN as u64);
        Ok(Some(Slot { generation, root_at, root_len, end, root_checksum, not_synced: false }))
    }

    fn read_value_of_root(&mut self) -> Result<()> {
        self.runs = self.read_runs()?;
        self.value = self.read_value(self.root.value_node)?;
        self.cells = CellColumns::of(&self.value)?;
        Ok(())
    }

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
        let root = self.bytes_at(slot.root_at, slot.root_len as usize)?;
        self.root = Root::read(&root, &slot, self.header.room_start())?;
        Ok(())
    }
}
