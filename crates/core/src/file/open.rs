//! Finds the current state of a file when it is opened (`docs/format/container.md`).

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use entasis_format::{
    Error, Features, HEADER_LEN, Header, KEY_PAGES_END, Keep, Kind, Limits, Order, Result, Room, Root, Runs,
    SLOT_PAGES_END, Slot, SlotState, TRAILER_LEN, Trailer, Value, checksum, fallible,
};
use entasis_io::Source;
use entasis_seal::{SealedSource, Unlocked};

use super::cell_columns::CellColumns;
use super::chain::{Chain, ROOTS, is_part};
use super::footer::{BYTES, LostState, OpenFile, read, read_many};
use super::known_blocks::KnownBlocks;
use super::known_pieces::KnownPieces;
use crate::opening::Opening;

/// Bytes read from the end of a file when it is opened. They usually include the footer.
const TAIL: u64 = 64 << 10;

/// How often the slots of a file are read while one looks damaged, and the pause between.
const ATTEMPTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The bytes of a file that are read before its state is known.
struct Head {
    header: Header,
    slots: [SlotState; 2],
    /// The offset and the bytes of ranges of the file: the whole file if it is short, else header
    /// and slots, and the last bytes.
    cached: Vec<(u64, Vec<u8>)>,
}

/// The head of a file. A slot looks damaged while another program writes it.
///
/// `None` for the stored bytes of a sealed file; `is_inner` says that they are those of the inner
/// file.
fn head(source: &dyn Source, len: u64, is_inner: bool) -> Result<Option<Head>> {
    let mut found = read_head(source, len, is_inner)?;
    for _ in 1..ATTEMPTS {
        let is_damaged = found.as_ref().is_some_and(|head| head.slots.contains(&SlotState::Damaged));
        if !is_damaged || source.changed().is_none() {
            break;
        }
        std::thread::sleep(PAUSE);
        found = read_head(source, len, is_inner)?;
    }
    Ok(found)
}

fn read_head(source: &dyn Source, len: u64, is_inner: bool) -> Result<Option<Head>> {
    let is_sealed = |head: &[u8]| !is_inner && Header::is_of_sealed(head);
    if len <= TAIL {
        let head = match read(source, 0, len) {
            // A chunk of an encrypted file that belongs to no generation.
            Err(error) if error.kind() == Kind::Corrupt && len > SLOT_PAGES_END => {
                read(source, 0, SLOT_PAGES_END)?
            }
            head => head?,
        };
        if is_sealed(&head) {
            return Ok(None);
        }
        let (header, slots) = parse_head(&head)?;
        return Ok(Some(Head { header, slots, cached: vec![(0, head)] }));
    }
    let mut head = fallible::defaults(SLOT_PAGES_END as usize, BYTES)?;
    let mut tail = fallible::defaults(TAIL as usize, BYTES)?;
    // The tail comes after the slots: a change that ends in between completes it first.
    let done = read_many(source, &mut [(0, &mut head), (len - TAIL, &mut tail)]);
    if done.is_err() {
        head = read(source, 0, SLOT_PAGES_END)?;
    }
    if is_sealed(&head) {
        return Ok(None);
    }
    let (header, slots) = parse_head(&head)?;
    head.truncate(if header.has_slot_pages() { SLOT_PAGES_END as usize } else { HEADER_LEN });
    let mut cached = vec![(0, head)];
    match done {
        Ok(()) => cached.push((len - TAIL, tail)),
        // The file became shorter, perhaps by bytes that belong to no generation.
        Err(error) if error.kind() == Kind::Corrupt => {}
        Err(error) => return Err(error),
    }
    Ok(Some(Head { header, slots, cached }))
}

fn parse_head(head: &[u8]) -> Result<(Header, [SlotState; 2])> {
    let header = Header::parse(head)?;
    let slots = if header.has_slot_pages() { SlotState::pages(head)? } else { [SlotState::Empty; 2] };
    Ok((header, slots))
}

/// Opens the bytes of a source at their current state.
pub(super) fn open(source: Box<dyn Source>, name: &Path, opening: Opening) -> Result<OpenFile> {
    let mut opened = without_state(source, name, opening)?;
    match opened.find_current() {
        Ok(()) => Ok(opened),
        Err(error) if error.kind() == Kind::Corrupt => Err(match opened.find_whole() {
            Ok(()) => error.advise(format!(
                "generation {0} is whole: read it by its number, or save it with repair",
                opened.slot.generation
            )),
            Err(_) => error,
        }),
        Err(error) => Err(error),
    }
}

/// Opens the bytes of a source at their current state, or else at the newest whole generation.
pub(super) fn open_whole(source: Box<dyn Source>, name: &Path, opening: Opening) -> Result<OpenFile> {
    let mut opened = without_state(source, name, opening)?;
    match opened.find_current() {
        Err(error) if error.kind() == Kind::Corrupt => {
            let generation = error.generations().first().copied();
            let lost = LostState::new(generation.unwrap_or_default(), &error);
            if opened.find_whole().is_err() {
                return Err(error);
            }
            opened.lost = Some(lost);
            Ok(opened)
        }
        found => found.map(|()| opened),
    }
}

/// A file whose header and slots were read.
fn without_state(mut source: Box<dyn Source>, name: &Path, opening: Opening) -> Result<OpenFile> {
    let Opening { limits, secret } = opening;
    if let Some(head) = head(&*source, source.len(), false)? {
        if secret.is_some() {
            return Err(Error::argument("the file is not encrypted").advise("leave out the key or password"));
        }
        // A change may have ended after the file's length was read, and the slots may name its
        // state.
        source.measure().map_err(|e| Error::io(e, "read"))?;
        return Ok(OpenFile::new(name, source.into(), None, limits, head));
    }
    let unlocked = Unlocked::of_source(&*source, secret.as_ref(), &limits)?;
    let mut sealed = SealedSource::new(source, Arc::new(unlocked))?;
    let head = head(&sealed, sealed.len(), true)?.ok_or_else(|| Error::corrupt("the file has no header"))?;
    sealed.measure().map_err(|e| Error::io(e, "read"))?;
    let sealed = Arc::new(sealed);
    Ok(OpenFile::new(name, Arc::clone(&sealed) as Arc<dyn Source>, Some(sealed), limits, head))
}

/// Opens a source at the state of a slot. The file has slot pages, whose slots may name another
/// state or none yet. A sealed file is given with what opens it.
pub(super) fn open_at(
    source: Box<dyn Source>,
    unlocked: Option<&Arc<Unlocked>>,
    name: &Path,
    limits: Limits,
    slot: Slot,
) -> Result<OpenFile> {
    let sealed = match unlocked {
        Some(unlocked) => Err(Arc::new(SealedSource::new(source, Arc::clone(unlocked))?)),
        None => Ok(Arc::<dyn Source>::from(source)),
    };
    let (source, sealed, start) = match sealed {
        Ok(plain) => (plain, None, SLOT_PAGES_END),
        Err(sealed) => (Arc::clone(&sealed) as Arc<dyn Source>, Some(sealed), KEY_PAGES_END),
    };
    let (len, header) = (source.len(), Header::whole(slot, start));
    let head = read(&*source, 0, SLOT_PAGES_END)?;
    let head = Head { header, slots: [SlotState::Empty; 2], cached: vec![(0, head)] };
    let mut opened = OpenFile::new(name, source, sealed, limits, head);
    opened.read_root(slot, len)?;
    opened.read_value_of_root()?;
    Ok(opened)
}

impl OpenFile {
    /// A file without a state yet.
    fn new(
        name: &Path,
        source: Arc<dyn Source>,
        sealed: Option<Arc<SealedSource>>,
        limits: Limits,
        head: Head,
    ) -> Self {
        let Head { header, slots, cached } = head;
        Self {
            path: name.to_path_buf(),
            source,
            sealed,
            joined: None,
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
                edition: 0,
                keep: Keep::default(),
                features: Features::OF_0_2,
                footer_at: 0,
                file_id: [0; 16],
                program: [0; 32],
                sections: Vec::new(),
            },
            runs: Runs::default(),
            value: Value::Null,
            cells: None,
            cached,
            parts: Arc::default(),
            known_blocks: KnownBlocks::default(),
            known_pieces: KnownPieces::default(),
            is_passed_over: false,
            is_earlier: false,
            lost: None,
        }
    }

    /// The file at another of its states.
    pub(super) fn at(&self, slot: Slot) -> Result<Self> {
        let head = self.cached.first().map_or(&[][..], |(_, head)| head);
        let head = fallible::copied(head, "the head of the file")?;
        let head = Head { header: self.header, slots: self.slots, cached: vec![(0, head)] };
        let mut opened =
            Self::new(&self.path, Arc::clone(&self.source), self.sealed.clone(), self.limits.clone(), head);
        opened.parts = Arc::clone(&self.parts);
        opened.joined.clone_from(&self.joined);
        opened.is_earlier = self.is_earlier || slot != self.slot;
        opened.is_passed_over = self.is_passed_over && !opened.is_earlier;
        opened.read_root(slot, self.source.len())?;
        opened.read_value_of_root()?;
        Ok(opened)
    }

    /// Takes the current state.
    fn find_current(&mut self) -> Result<()> {
        let Order { trailer, slots: order } = self.header.order(self.slots)?;
        let newest = order.iter().map(|slot| slot.generation).max();
        let found = self.find_state(trailer, &order, self.source.len());
        found
            .and_then(|()| self.read_value_of_root())
            .map_err(|e| e.of_generations(newest.into_iter().collect()))
    }

    /// Takes the newest readable state that a slot or a chain of roots names.
    fn find_whole(&mut self) -> Result<()> {
        let len = self.source.len();
        for slot in self.named_slots().into_iter().rev() {
            if !self.is_intact(&slot, len)? {
                continue;
            }
            let mut slots = Vec::new();
            for state in Chain::from(self, slot) {
                match state {
                    Ok((slot, root)) if !is_part(&root) => fallible::push(&mut slots, slot, ROOTS)?,
                    Err(lost) if lost.error.kind() != Kind::Corrupt => return Err(lost.error),
                    _ => {}
                }
            }
            for slot in slots {
                match self.read_root(slot, len).and_then(|()| self.read_value_of_root()) {
                    Err(error) if error.kind() == Kind::Corrupt => {}
                    result => return result,
                }
            }
        }
        Err(Error::corrupt("the file has no whole generation"))
    }

    fn read_value_of_root(&mut self) -> Result<()> {
        self.runs = self.read_runs()?;
        self.value = self.read_value(self.root.value_node)?;
        self.cells = CellColumns::of(&self.value)?;
        Ok(())
    }

    /// Takes the first existing state of the order.
    fn find_state(&mut self, trailer: Option<RangeInclusive<u64>>, order: &[Slot], len: u64) -> Result<()> {
        if let Some(generations) = trailer {
            match self.last_trailer(len) {
                Ok(slot) if !generations.contains(&slot.generation) => {}
                Ok(slot) if order.is_empty() || self.is_intact(&slot, len)? => {
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

    /// Whether the file has all bytes of a generation, and the root's checksum matches.
    fn is_intact(&self, slot: &Slot, len: u64) -> Result<bool> {
        if slot.end > len {
            return Ok(false);
        }
        let sum = match self.opened(slot.root_at, slot.root_len as usize) {
            Some(root) => checksum(root),
            None => match read(&*self.source, slot.root_at, slot.root_len.into()) {
                Ok(root) => checksum(&root),
                // An encrypted chunk that was not written.
                Err(error) if error.kind() == Kind::Corrupt => return Ok(false),
                Err(error) => return Err(error),
            },
        };
        Ok(sum == slot.root_checksum)
    }

    /// Takes the state of a slot.
    fn read_root(&mut self, slot: Slot, len: u64) -> Result<()> {
        if slot.end > len {
            let message = format!("the file is truncated: it has {len} of {} bytes", slot.end);
            return Err(Error::corrupt(message).at(len));
        }
        // Bytes past the end may be those of a change that goes on.
        let at = slot.end.saturating_sub(TAIL);
        if at == 0 || self.cached.get(1).is_none_or(|(tail_at, _)| *tail_at != at) {
            self.cached.truncate(1);
            if at > 0 {
                self.cached.push((at, read(&*self.source, at, TAIL)?));
            }
        }
        self.slot = slot;
        let root = self.bytes_at(slot.root_at, slot.root_len as usize)?;
        self.root = Root::read(&root, &slot, self.header.room_start())?;
        Ok(())
    }
}
