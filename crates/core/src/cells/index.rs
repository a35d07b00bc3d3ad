//! The key index: finds a key of a large map without reading all keys.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{CellKind, Result, checksum, fallible};
use entasis_platform::HostRead;
use entasis_platform::memory::ScratchVec;

use super::cell::{Cell, Children, damage};
use super::layout::{BUCKETS, CELLS, INDEXED, PLACES};
use super::read::Cells;
use super::slice::Slice;
use crate::monitor::{Monitor, Silent};

/// Approximate keys per bucket.
const BUCKET: u64 = 4;
/// Maps with more keys than this are indexed. Fewer keys fit a page or two.
pub const INDEXED_FROM: usize = 4096;
/// Keys whose bytes are copied together.
const BATCH: usize = 1024;
/// Entries of `indexed` that are read together.
const TOGETHER: u64 = 1024;

/// A key to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// A string.
    Str(&'a str),
    /// An integer.
    Int(i64),
}

impl Key<'_> {
    fn hash(&self) -> u64 {
        match self {
            Key::Str(text) => checksum(text.as_bytes()),
            Key::Int(value) => checksum(&value.to_le_bytes()),
        }
    }

    fn is(&self, cell: &Cell<'_>) -> bool {
        match (self, cell) {
            (Key::Str(key), Cell::Str(CellKind::Str, text)) => key == text,
            (Key::Int(key), Cell::Int(CellKind::Int, value)) => key == value,
            _ => false,
        }
    }
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The map has no index.
    NotIndexed,
    /// The map does not have the key.
    Absent,
    /// The index of the key among the map's keys.
    At(u64),
}

fn bucket(hash: u64, n_buckets: u64) -> u64 {
    ((u128::from(hash) * u128::from(n_buckets)) >> 64) as u64
}

/// Memory for `n` numbers.
fn room(n: usize) -> ScratchVec<u32> {
    let mut memory = ScratchVec::new();
    memory.reserve(n);
    memory
}

/// The index of all maps, so far.
#[derive(Debug, Default)]
pub(super) struct IndexWriter {
    pub indexed: Vec<u64>,
    pub buckets: ScratchVec<u32>,
    pub places: ScratchVec<u32>,
    next: ScratchVec<u32>,
}

impl IndexWriter {
    /// Reserves room for a map with `n` keys.
    ///
    /// # Errors
    /// *Out of memory*.
    fn reserve(&mut self, n: usize) -> Result<()> {
        let n_buckets = n.div_ceil(BUCKET as usize) + 1;
        let has_room = self.buckets.try_reserve(n_buckets)
            && self.next.try_reserve(n_buckets)
            && self.places.try_reserve(n);
        let refused = || fallible::refused::<u32>(2 * n_buckets + n, CELLS);
        if has_room { fallible::reserve(&mut self.indexed, 3, CELLS) } else { Err(refused()) }
    }

    /// Adds a map. Its first key is cell `first`; `of` is the bucket of each key.
    pub fn add(&mut self, first: u64, of: &[u32]) {
        self.indexed.extend([first, self.buckets.len() as u64, self.places.len() as u64]);
        let n = of.len();
        let n_buckets = (n as u64).div_ceil(BUCKET);
        // `buckets` gets the start of each bucket; `next` is a copy that advances as keys are
        // added.
        let begin = self.buckets.len();
        self.buckets.reserve(n_buckets as usize + 1);
        self.buckets.resize(begin + n_buckets as usize + 1, 0);
        let buckets = &mut self.buckets[begin..];
        of.iter().for_each(|&bucket| buckets[bucket as usize + 1] += 1);
        for i in 1..buckets.len() {
            buckets[i] += buckets[i - 1];
        }
        let next = &mut self.next;
        next.clear();
        next.extend_from_slice(buckets);
        let from = self.places.len();
        self.places.reserve(n);
        self.places.resize(from + n, 0);
        for (index, &bucket) in (0u32..).zip(of) {
            let next = &mut next[bucket as usize];
            self.places[from + *next as usize] = index;
            *next += 1;
        }
    }
}

/// The buckets of `n` keys with these hashes.
pub(super) fn buckets_of(n: usize, hashes: impl Iterator<Item = u64>) -> ScratchVec<u32> {
    let n_buckets = (n as u64).div_ceil(BUCKET);
    let mut of = room(n);
    of.extend(hashes.map(|hash| bucket(hash, n_buckets) as u32));
    of
}

/// The keys of a map to index.
#[derive(Clone, Debug)]
enum Keys {
    /// Strings, by their indices.
    Strings(Range<usize>),
    /// Other keys, by their buckets.
    Others(Arc<ScratchVec<u32>>),
}

impl Keys {
    fn len(&self) -> usize {
        match self {
            Self::Strings(range) => range.len(),
            Self::Others(of) => of.len(),
        }
    }
}

/// The maps to index, each with its first key.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexPlan(Vec<(u64, Keys)>);

impl IndexPlan {
    /// Adds a map whose keys are the strings in `range`.
    pub fn add_strings(&mut self, first: u64, range: Range<usize>) {
        self.0.push((first, Keys::Strings(range)));
    }

    /// Adds a map whose keys have these hashes.
    pub fn add_hashes(&mut self, first: u64, n: usize, hashes: impl Iterator<Item = u64>) {
        self.0.push((first, Keys::Others(Arc::new(buckets_of(n, hashes)))));
    }

    /// The column `indexed`: the first key of each map, and where its buckets and places begin.
    /// Also returns the lengths of the columns of buckets and places.
    pub fn begins(&self) -> (Vec<u64>, [usize; 2]) {
        let (mut begins, mut counts) = (Vec::new(), [0, 0]);
        for (first, keys) in &self.0 {
            begins.extend([*first, counts[0] as u64, counts[1] as u64]);
            counts[0] += keys.len().div_ceil(BUCKET as usize) + 1;
            counts[1] += keys.len();
        }
        (begins, counts)
    }

    /// Computes the buckets and places of all maps; `None` if lent memory is too short.
    pub fn make(self, offsets: &HostRead, bytes: &HostRead) -> Option<[ScratchVec<u32>; 2]> {
        let mut index = IndexWriter::default();
        for (first, keys) in self.0 {
            match keys {
                Keys::Strings(range) => index.add(first, &buckets_of_strings(offsets, bytes, range)?),
                Keys::Others(of) => index.add(first, &of),
            }
        }
        Some([index.buckets, index.places])
    }
}

/// The buckets of the strings in `range`.
fn buckets_of_strings(offsets: &HostRead, bytes: &HostRead, range: Range<usize>) -> Option<ScratchVec<u32>> {
    let n_buckets = (range.len() as u64).div_ceil(BUCKET);
    let (mut of, mut text) = (room(range.len()), Vec::new());
    let mut ends = [0i64; BATCH + 1];
    for from in range.clone().step_by(BATCH) {
        let ends = &mut ends[..=BATCH.min(range.end - from)];
        let offset = |end: i64| usize::try_from(end).ok();
        if !offsets.copy_to(8 * from, bytemuck::cast_slice_mut(ends)) {
            return None;
        }
        let begin = offset(ends[0])?;
        text.resize(offset(*ends.last()?)?.checked_sub(begin)?, 0);
        if !bytes.copy_to(begin, &mut text) {
            return None;
        }
        for pair in ends.windows(2) {
            let key = text.get(offset(pair[0])?.checked_sub(begin)?..offset(pair[1])?.checked_sub(begin)?)?;
            of.push(bucket(checksum(key), n_buckets) as u32);
        }
    }
    Some(of)
}

impl Cells {
    /// Looks up a key of a map in the index. Reads a few pages, whatever the number of keys.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*.
    pub fn find_key(&self, kind: CellKind, children: &Children, key: Key<'_>) -> Result<Found> {
        self.find(kind, children, key).map_err(|e| e.in_file(self.file().path()))
    }

    fn find(&self, kind: CellKind, children: &Children, key: Key<'_>) -> Result<Found> {
        if kind != CellKind::Map || !children.has_own_keys(kind) {
            return Ok(Found::NotIndexed);
        }
        let Some([buckets, places]) = self.index_of(children.keys)? else { return Ok(Found::NotIndexed) };
        let wrong = || damage("the key index does not match its map");
        let bucket = bucket(key.hash(), children.count.div_ceil(BUCKET));
        let at = buckets.checked_add(bucket).ok_or_else(wrong)?;
        let bounds: Vec<u32> = self.words(BUCKETS, at..at.saturating_add(2))?;
        let (from, to) = (u64::from(bounds[0]), u64::from(bounds[1]));
        if from > to || to > children.count {
            return Err(wrong());
        }
        let range = places.checked_add(from).zip(places.checked_add(to)).ok_or_else(wrong)?;
        let candidates: Vec<u32> = self.words(PLACES, range.0..range.1)?;
        for index in candidates {
            let index = u64::from(index);
            if index >= children.count {
                return Err(wrong());
            }
            let number = children.keys.checked_add(index).ok_or_else(wrong)?;
            if key.is(&self.load(number..number + 1, Some(1), &Silent)?.cell(number)?) {
                return Ok(Found::At(index));
            }
        }
        Ok(Found::Absent)
    }

    /// Where the buckets and the places of a map begin. `first` is its first key.
    fn index_of(&self, first: u64) -> Result<Option<[u64; 2]>> {
        let (mut low, mut high) = (0, self.n_indexed());
        while high - low > TOGETHER {
            let middle = low + (high - low) / 2;
            let entry: Vec<u64> = self.words(INDEXED, 3 * middle..3 * middle + 1)?;
            if entry[0] <= first { low = middle } else { high = middle }
        }
        let entries: Vec<u64> = self.words(INDEXED, 3 * low..3 * high)?;
        let found = entries.chunks_exact(3).find(|entry| entry[0] == first);
        Ok(found.map(|entry| [entry[1], entry[2]]))
    }

    /// Verifies that the index has the keys of its maps. `maps` lists the first key and the number
    /// of keys of every map.
    pub(super) fn verify_index(
        &self,
        all: &Slice,
        maps: &[(u64, u64)],
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let wrong = || damage("the key index does not match its map");
        let n = |column: usize| self.n_values(column);
        let indexed: Vec<u64> = self.read_words(INDEXED, 0..n(INDEXED)?, threads, monitor)?;
        let buckets: Vec<u32> = self.read_words(BUCKETS, 0..n(BUCKETS)?, threads, monitor)?;
        let places: Vec<u32> = self.read_words(PLACES, 0..n(PLACES)?, threads, monitor)?;
        let mut wanted = IndexWriter::default();
        for entry in indexed.chunks_exact(3) {
            let first = entry[0];
            if wanted.indexed.last_chunk::<3>().is_some_and(|last| last[0] >= first) {
                return Err(damage("the key index is not in order"));
            }
            let map = maps.binary_search_by_key(&first, |&(keys, _)| keys).map_err(|_| wrong())?;
            let keys = first..first + maps[map].1;
            // Refuse more places than the file stores, so that a false number of keys needs no
            // memory.
            if wanted.places.len() as u64 + (keys.end - keys.start) > places.len() as u64 {
                return Err(wrong());
            }
            let hashes = hashes(all, keys)?;
            let n_buckets = (hashes.len() as u64).div_ceil(BUCKET);
            let of = hashes.iter().map(|&hash| bucket(hash, n_buckets) as u32);
            wanted.reserve(of.len())?;
            wanted.add(first, &fallible::collect(of, CELLS)?);
        }
        let is_same = wanted.indexed == indexed && *wanted.buckets == *buckets && *wanted.places == *places;
        if is_same { Ok(()) } else { Err(wrong()) }
    }
}

/// The hashes of keys, which must be all strings or all integers.
fn hashes(all: &Slice, keys: Range<u64>) -> Result<Vec<u64>> {
    let first = all.cell(keys.start)?;
    let mut hashes = fallible::with_capacity((keys.end - keys.start) as usize, CELLS)?;
    for number in keys {
        hashes.push(match (all.cell(number)?, first) {
            (Cell::Str(CellKind::Str, text), Cell::Str(CellKind::Str, _)) => Key::Str(text).hash(),
            (Cell::Int(CellKind::Int, value), Cell::Int(CellKind::Int, _)) => Key::Int(value).hash(),
            _ => return Err(damage("the key index has keys that are neither strings nor integers")),
        });
    }
    Ok(hashes)
}
