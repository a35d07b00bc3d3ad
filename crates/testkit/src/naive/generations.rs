//! The readable generations of a file, and the rules between them.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::{Room, Wrong, checksum, rule, u64_at};
use super::check::state;
use super::file::{Decoded, decode_at};
use super::header::{Slot, State};
use super::root::{RootAt, root};
use super::{cells, records};

/// The code of a part of a stream.
const PART: u16 = 11;

/// The ranges by first byte: each end, and the records naming it.
type Ranges = BTreeMap<u64, (u64, String)>;

/// Checks all earlier generations of a file that can be read.
///
/// # Errors
/// The first rule that is broken.
pub fn check(file: &[u8], newest: &Decoded) -> Result<(), Wrong> {
    let mut ranges = Ranges::new();
    add(&mut ranges, newest)?;
    for slot in earlier(file, newest)? {
        let decoded = decode_at(file, newest.header, slot)?;
        add(&mut ranges, &decoded)?;
        state(file, &decoded)?;
        cells::cells(&decoded)?;
    }
    let mut end = 0;
    for (&from, &(to, _)) in &ranges {
        rule(end <= from, "ranges of two generations overlap")?;
        end = to;
    }
    Ok(())
}

/// The slots of all earlier generations, newest first.
fn earlier(file: &[u8], newest: &Decoded) -> Result<Vec<Slot>, Wrong> {
    let header = &newest.header;
    let mut starts = vec![header.current];
    starts.extend(header.slots.iter().filter_map(|state| match state {
        State::Valid(slot) if slot.generation < header.current.generation => Some(*slot),
        _ => None,
    }));
    starts.sort_by_key(|slot| std::cmp::Reverse(slot.generation));
    let (mut found, mut met) = (Vec::new(), BTreeSet::new());
    for start in starts {
        let mut next = Some(start);
        while let Some(slot) = next.filter(|slot| met.insert(slot.root_at)) {
            rule(slot.end <= file.len() as u64, "the file is truncated")?;
            let room = Room { file: &file[..slot.end as usize], start: header.room(file).start };
            let root = root(room, &slot)?;
            rule(root.file_id == newest.root.file_id, "all generations have one file id")?;
            if slot != header.current && root.operation != PART {
                found.push(slot);
            }
            next = root.previous.map(|root| slot_of(room, slot.generation, root)).transpose()?;
        }
    }
    Ok(found)
}

/// The slot that would name the root before a generation.
fn slot_of(room: Room<'_>, generation: u64, root: RootAt) -> Result<Slot, Wrong> {
    let bytes = room.range(root.at, u64::from(root.len))?;
    rule(checksum(bytes) == root.checksum, "the previous root is intact")?;
    let number = u64_at(bytes, 8);
    rule(number < generation, "the previous root has a smaller generation")?;
    Ok(Slot {
        generation: number,
        root_at: root.at,
        root_len: root.len,
        not_synced: false,
        end: root.at + u64::from(root.len) + 64,
        root_checksum: root.checksum,
    })
}

/// Adds the ranges of a generation. Equal ones have equal records.
fn add(ranges: &mut Ranges, decoded: &Decoded) -> Result<(), Wrong> {
    let slot = decoded.header.current;
    let mut all = vec![
        (slot.root_at, u64::from(slot.root_len), "root".to_owned()),
        (slot.end - 64, 64, "trailer".to_owned()),
    ];
    all.extend(decoded.parts.iter().map(|&(at, len)| (at, len, "part".to_owned())));
    for column in &decoded.columns {
        let of = format!("{} {}", column.record.of.physical, column.record.of.value_len);
        for (i, block) in column.blocks.iter().enumerate() {
            let records::BlockRecord { pages_at, pages_len, directory_at, directory_len, .. } = *block;
            let records = format!("{of} {block:?} {:?}", column.statistics.get(i));
            all.push((pages_at, pages_len.into(), records.clone()));
            all.push((directory_at, directory_len.into(), records));
        }
    }
    for (at, len, of) in all.into_iter().filter(|(_, len, _)| *len > 0) {
        let known = ranges.entry(at).or_insert_with(|| (at + len, of.clone()));
        rule(*known == (at + len, of), "a range has one use in all generations")?;
    }
    Ok(())
}
