//! Blocks whose single values were read, and which of their pages were verified.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use entasis_encodings::can_open_part;
use entasis_format::{BlockRecord, Directory, Layout, PageEntry, Result, fallible};

use super::{File, lock};

/// The use of the memory, in messages.
const PAGES: &str = "the verified pages";

/// The most memory of all known blocks, in bytes.
const MOST: usize = 16 << 20;

/// A block with its verified directory.
pub(crate) struct KnownBlock {
    block: BlockRecord,
    of: Layout,
    pub directory: Directory,
    /// One bit per page.
    verified: Vec<AtomicU64>,
}

impl KnownBlock {
    fn new(block: &BlockRecord, of: Layout, directory: Directory) -> Result<Self> {
        let n_words = directory.pages.len().div_ceil(64);
        let mut verified = fallible::with_capacity(n_words, PAGES)?;
        verified.resize_with(n_words, AtomicU64::default);
        Ok(Self { block: *block, of, directory, verified })
    }

    /// Whether the checksum of page `index` was verified.
    fn is_verified(&self, index: usize) -> bool {
        self.verified[index / 64].load(Ordering::Relaxed) >> (index % 64) & 1 == 1
    }

    /// Whether the values in this range of page `index` can be read alone: the page was verified,
    /// its values have known offsets, and the range holds fewer than half of its values.
    pub fn may_read_part(&self, index: usize, range: &Range<usize>) -> bool {
        let is_few = range.len() * 2 < self.directory.pages[index].n_values as usize;
        is_few && self.is_verified(index) && can_open_part(&self.directory, index)
    }

    /// The number of pages that must be read completely for these ascending rows of the column.
    pub fn n_whole(&self, rows: &[u64]) -> usize {
        let (mut first, mut k) = (self.block.first_value, 0);
        let is_whole = |&(i, entry): &(usize, &PageEntry)| {
            let end = first + u64::from(entry.n_values);
            let of_page = &rows[k..];
            let of_page = &of_page[..of_page.partition_point(|row| *row < end)];
            k += of_page.len();
            let inside = |row: &u64| (row - first) as usize;
            let range = of_page.first().zip(of_page.last()).map(|(a, b)| inside(a)..inside(b) + 1);
            first = end;
            range.is_some_and(|range| !self.may_read_part(i, &range))
        };
        self.directory.pages.iter().enumerate().filter(is_whole).count()
    }

    /// Records that the checksum of page `index` was verified.
    pub fn set_verified(&self, index: usize) {
        self.verified[index / 64].fetch_or(1 << (index % 64), Ordering::Relaxed);
    }
}

/// The known blocks of an open file, by the offset of their pages.
#[derive(Default)]
pub(crate) struct KnownBlocks(Mutex<State>);

#[derive(Default)]
struct State {
    blocks: HashMap<u64, Arc<KnownBlock>>,
    /// The memory of the blocks, in bytes.
    len: usize,
    /// The time of the file's last change, as of the last check.
    changed: Option<SystemTime>,
}

impl File {
    /// Prepares to read single values. Forgets the known blocks if the file changed since the last
    /// call, because another program may have overwritten them.
    ///
    /// Returns false if the source does not know when it changed. Each page must then be verified
    /// again.
    pub(crate) fn renew_known_blocks(&self) -> bool {
        let changed = self.opened.source.changed();
        let mut state = lock(&self.opened.known_blocks.0);
        if state.changed != changed {
            *state = State { changed, ..State::default() };
        }
        changed.is_some()
    }

    /// The block, if it is known.
    pub(crate) fn known_block(&self, block: &BlockRecord, of: Layout) -> Option<Arc<KnownBlock>> {
        let state = lock(&self.opened.known_blocks.0);
        let known = state.blocks.get(&block.pages_at)?;
        // The records of a damaged file may use one offset twice.
        (known.block == *block && known.of == of).then(|| Arc::clone(known))
    }

    /// Makes a block known.
    pub(crate) fn add_known_block(
        &self,
        block: &BlockRecord,
        of: Layout,
        directory: Directory,
    ) -> Result<Arc<KnownBlock>> {
        // Count the block itself too, because it may have no pages.
        let len = size_of::<KnownBlock>() + size_of_val(directory.pages.as_slice());
        let known = Arc::new(KnownBlock::new(block, of, directory)?);
        let mut state = lock(&self.opened.known_blocks.0);
        if state.len + len > MOST {
            state.blocks.clear();
            state.len = 0;
        }
        state.len += len;
        fallible::insert(&mut state.blocks, block.pages_at, Arc::clone(&known), PAGES)?;
        Ok(known)
    }
}
