//! Follows the roots of a file from the current one back through earlier generations.

use std::collections::HashMap;

use entasis_format::{Error, Operation, Result, Root, Slot, SlotState, TRAILER_LEN, checksum, fallible};

use super::footer::{OpenFile, read};

/// The use of memory, in messages.
pub(super) const ROOTS: &str = "the roots of the generations";

/// A generation that cannot be read.
#[derive(Debug)]
pub(crate) struct Lost {
    /// The generation's number. If no slot names a damaged root, its number is assumed to be one
    /// less than the number of the generation that names it.
    pub generation: u64,
    /// The damage.
    pub error: Error,
}

/// A generation (the slot that would name it, and its root), or the loss of an unreadable one.
type State = std::result::Result<(Slot, Root), Lost>;

/// The states that slots name, and the previous states that roots name. Each state comes once.
/// Within a chain the newest state comes first.
pub(crate) struct Chain<'a> {
    file: &'a OpenFile,
    /// Slots that were not followed yet. The last one is next.
    starts: Vec<Slot>,
    next: Option<State>,
    /// The offsets of the roots that were met.
    met: HashMap<u64, ()>,
}

impl<'a> Chain<'a> {
    /// The states of a file from its current one on.
    pub(crate) fn new(file: &'a OpenFile) -> Self {
        Self::from(file, file.slot)
    }

    /// The states of a file, starting with a slot's state. Earlier states of other slots follow.
    pub(super) fn from(file: &'a OpenFile, slot: Slot) -> Self {
        let mut starts: Vec<Slot> = file.named_slots();
        starts.retain(|other| other.generation < slot.generation);
        starts.push(slot);
        Self { file, starts, next: None, met: HashMap::new() }
    }

    /// Remembers the offset of a root. Returns false if it was known already.
    fn meet(&mut self, root_at: u64) -> Result<bool> {
        if self.met.contains_key(&root_at) {
            return Ok(false);
        }
        fallible::insert(&mut self.met, root_at, (), ROOTS)?;
        Ok(true)
    }

    /// The next slot whose root was not met.
    fn start(&mut self) -> Option<State> {
        while let Some(slot) = self.starts.pop() {
            let lost = |error| Lost { generation: slot.generation, error };
            match self.meet(slot.root_at) {
                Ok(true) => return Some(self.file.root_of(&slot).map(|root| (slot, root)).map_err(lost)),
                Ok(false) => {}
                Err(error) => return Some(Err(lost(error))),
            }
        }
        None
    }
}

impl Iterator for Chain<'_> {
    type Item = State;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.next.take().or_else(|| self.start())?;
        if let Ok((slot, root)) = &found
            && let Some(previous) = root.previous
        {
            let number = slot.generation.saturating_sub(1);
            match self.meet(previous.0) {
                Ok(true) => self.next = Some(self.file.before(slot.generation, previous)),
                Ok(false) => {}
                Err(error) => self.next = Some(Err(Lost { generation: number, error })),
            }
        }
        Some(found)
    }
}

/// Whether this is the root of a part of a stream. Such a root never was the current state.
pub(crate) fn is_part(root: &Root) -> bool {
    root.operation == Operation::Part.code()
}

impl OpenFile {
    /// The generations that valid slots name, oldest first.
    pub(super) fn named_slots(&self) -> Vec<Slot> {
        let [a, b] = self.slots;
        let states = [self.header.first, a, b].into_iter();
        let valid =
            states.filter_map(|state| if let SlotState::Valid(slot) = state { Some(slot) } else { None });
        let mut slots: Vec<Slot> = valid.collect();
        slots.sort_unstable_by_key(|slot| slot.generation);
        slots
    }

    /// The root of a generation.
    fn root_of(&self, slot: &Slot) -> Result<Root> {
        if *slot == self.slot && self.root.generation == slot.generation {
            return Ok(self.root.clone());
        }
        let bytes = read(&*self.source, slot.root_at, slot.root_len.into())?;
        Root::read(&bytes, slot, self.header.room_start())
    }

    /// The state before a generation. Its root has this offset, length and checksum.
    fn before(&self, generation: u64, root: (u64, u32, u64)) -> State {
        let lost = |error| Lost { generation: generation.saturating_sub(1), error };
        let (root_at, root_len, root_checksum) = root;
        let bytes = read(&*self.source, root_at, root_len.into()).map_err(lost)?;
        if checksum(&bytes) != root_checksum {
            let message = "the checksum of the root of an earlier generation does not match";
            return Err(lost(Error::corrupt(message).at(root_at)));
        }
        let root = Root::parse(&bytes).map_err(|e| lost(e.at(root_at)))?;
        let number = root.generation;
        if number >= generation {
            return Err(lost(Error::corrupt("the generations of a file do not ascend").at(root_at)));
        }
        // The trailer follows the root.
        let end = root_at.saturating_add(u64::from(root_len)).saturating_add(TRAILER_LEN as u64);
        let slot = Slot { generation: number, root_at, root_len, end, root_checksum, not_synced: false };
        let lost = |error| Lost { generation: number, error };
        root.checked(&slot, self.header.room_start()).map(|root| (slot, root)).map_err(lost)
    }
}
