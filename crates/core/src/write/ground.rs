//! The state that a new generation builds on.

use entasis_format::{Keep, Root, Slot};

use crate::file::File;

/// The state that a new generation builds on.
#[derive(Default)]
pub(crate) struct Ground<'a> {
    /// A view of all columns of the changed file; `None` for a new file.
    pub file: Option<&'a File>,
    /// The committed generation before; none for a new file.
    pub base: Option<Base>,
    /// Whether the new generation refers to bytes of `file`.
    pub is_in_place: bool,
    /// Whether the generation before is in the same file.
    pub is_linked: bool,
    /// The code of the operation.
    pub operation: u16,
    /// The compression of new values; `None` uses the file's compression.
    pub compression: Option<u8>,
    /// How many earlier generations to keep; `None` if the file's wish stays.
    pub keep: Option<Keep>,
    /// The time of the change; 0 when unknown.
    pub time: i64,
    /// Whether the bytes will not be synced.
    pub not_synced: bool,
}

impl Ground<'_> {
    pub(super) fn compression(&self) -> Option<u8> {
        self.compression.or_else(|| self.file?.compression())
    }

    /// The number of the new generation.
    pub(super) fn generation(&self) -> u64 {
        self.base.map_or(0, |base| base.generation) + 1
    }
}

/// The generation before a new one.
#[derive(Clone, Copy)]
pub(crate) struct Base {
    pub(super) generation: u64,
    pub(super) file_id: [u8; 16],
    /// Offset, length and checksum of its root.
    pub(super) root: (u64, u32, u64),
}

impl Base {
    /// Makes the next generation equal to that of `root`, in a file where `previous` comes before
    /// it.
    pub(crate) fn before(root: &Root, previous: Option<Slot>) -> Self {
        let place = |slot: Slot| (slot.root_at, slot.root_len, slot.root_checksum);
        let generation = root.generation.saturating_sub(1);
        Self { generation, file_id: root.file_id, root: previous.map(place).unwrap_or_default() }
    }

    /// The current generation of a file.
    pub(crate) fn of(file: &File) -> Self {
        let slot = file.slot();
        Self {
            generation: slot.generation,
            file_id: file.root().file_id,
            root: (slot.root_at, slot.root_len, slot.root_checksum),
        }
    }
}
