//! Decides which earlier generations a file keeps, and when a change writes a new file without the
//! others (`docs/guides/changes.md`, "What is kept").

mod copy;
mod live;

use entasis_format::{Keep, Operation, Result, Slot, SlotState, fallible};

use crate::file::{File, is_part};
pub(crate) use copy::{Blocks, Destination, copy};
use live::live_len;

/// Files with more live bytes are never replaced unasked.
const MOST_LIVE: u64 = 8 << 20;
/// A file may always have this many dead bytes. Fuzzing starts from shorter files.
const MOST_DEAD: u64 = if cfg!(fuzzing) { 1 << 10 } else { 2 << 20 };
/// Changes look for dead bytes where the file passes a multiple of this, or of a 32nd of its
/// length.
const STEP: u64 = if cfg!(fuzzing) { 1 } else { 256 << 10 };

/// Shorter files are not worth compacting, nor are files shorter than this many times their live
/// bytes.
const LONG: u64 = 64 << 20;
const TIMES: u64 = 4;

/// The use of the memory, in messages.
const GENERATIONS: &str = "the list of generations";

/// A committed state of a file.
struct State {
    slot: Slot,
    time: i64,
    operation: u16,
}

impl State {
    fn is_append(&self) -> bool {
        self.operation == Operation::Append.code()
    }
}

/// The earlier generations that a new file has to keep, oldest first. `now` is in nanoseconds since
/// 1970.
///
/// Without a wish, a generation that was followed by appends alone goes, because the current one
/// has all its rows.
///
/// # Errors
/// *Corrupt* when an earlier generation is damaged; *io*.
pub(crate) fn kept_generations(file: &File, keep: Keep, now: i64) -> Result<Vec<Slot>> {
    let mut states = Vec::new();
    for state in file.chain() {
        let (slot, root) = state.map_err(|lost| lost.error)?;
        if !is_part(&root) {
            let state = State { slot, time: root.time, operation: root.operation };
            fallible::push(&mut states, state, GENERATIONS)?;
        }
    }
    let mut kept = chosen(&states, keep, now);
    kept.reverse();
    Ok(kept)
}

/// The earlier generations to keep. `states` and the result are in the order from the newest on.
fn chosen(states: &[State], keep: Keep, now: i64) -> Vec<Slot> {
    let mut only_appends = true;
    let mut is_kept = |i: usize, later: &State, state: &State| match keep.kind {
        Keep::NONE => {
            only_appends &= later.is_append();
            // Without such a generation, those before it would be followed by appends alone.
            let separates = !state.is_append() && i + 1 < states.len();
            !only_appends || separates
        }
        Keep::GENERATIONS => i as u64 <= keep.value,
        // A state was current until the next one came.
        Keep::NANOSECONDS => {
            // The clock may have gone back since then.
            let age = u64::try_from(now.saturating_sub(later.time)).unwrap_or(0);
            later.time == 0 || age <= keep.value
        }
        _ => true,
    };
    let pairs = states.iter().zip(states.iter().skip(1));
    (1..)
        .zip(pairs)
        .filter(|(i, (later, state))| is_kept(*i, later, state))
        .map(|(_, (_, s))| s.slot)
        .collect()
}

/// The earlier generations that a change has to copy to a new file, because most of this short file
/// is dead: named neither by the current generation nor by one that is kept. `None` if it is not.
///
/// Looks at the generations only where the last change has passed a step.
///
/// # Errors
/// As for reading.
pub(crate) fn kept_if_mostly_dead(file: &File, keep: Keep, now: i64) -> Result<Option<Vec<Slot>>> {
    let len = file.file_len();
    let step = STEP.max(len.next_power_of_two() / 32);
    if file.root().previous.is_none() || len <= MOST_DEAD || end_before(file) / step == len / step {
        return Ok(None);
    }
    // A damaged generation stays, and so does the file.
    let Ok(kept) = kept_generations(file, keep, now) else { return Ok(None) };
    let most = MOST_LIVE.min((len - MOST_DEAD) / 3);
    Ok(live_len(file, &kept, most)?.map(|_| kept))
}

/// The end of the generation before the current one, if a slot names it.
fn end_before(file: &File) -> u64 {
    let [a, b] = file.slots();
    let ends = [file.header().first, a, b].into_iter().filter_map(|state| match state {
        SlotState::Valid(slot) if slot.generation < file.generation() => Some(slot.end),
        _ => None,
    });
    ends.max().unwrap_or(0)
}

impl File {
    /// Whether [`compact`](crate::compact()) is worth its time: the file has at least 64 MiB, and
    /// at least four times the bytes that the current generation uses.
    ///
    /// Reads the footer, as far as needed.
    ///
    /// # Errors
    /// As for reading.
    pub fn is_worth_compacting(&self) -> Result<bool> {
        let len = self.file_len();
        let is_long = len >= LONG && self.root().previous.is_some();
        Ok(is_long && live_len(self, &[], len / TIMES)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the kept generations of a file with these operations, oldest first.
    fn kept(operations: &[Operation], keep: Keep) -> Vec<u64> {
        let slot = |generation| Slot {
            generation,
            root_at: 0,
            root_len: 0,
            end: 0,
            root_checksum: 0,
            not_synced: false,
        };
        let state = |(number, operation): (u64, &Operation)| State {
            slot: slot(number),
            time: number as i64 * 10,
            operation: operation.code(),
        };
        let mut states: Vec<State> = (1..).zip(operations).map(state).collect();
        states.reverse();
        let mut found: Vec<u64> =
            chosen(&states, keep, 61).iter().map(|slot: &Slot| slot.generation).collect();
        found.reverse();
        found
    }

    use Operation::{Append, DropColumns, Rollback, Write};

    #[test]
    fn generations_followed_by_appends_alone_go() {
        let none = Keep::default();
        assert_eq!(kept(&[Write, Append, Append], none), []);
        assert_eq!(kept(&[Write], none), []);
        assert_eq!(kept(&[Write, DropColumns], none), [1]);
        assert_eq!(kept(&[Write, Append, DropColumns], none), [1, 2]);
        assert_eq!(kept(&[Write, DropColumns, Append, Append], none), [1, 2]);
        assert_eq!(kept(&[Write, DropColumns, Append, Append, Rollback, Append], none), [1, 2, 3, 4, 5]);
        // The list stays the same once the others are gone.
        assert_eq!(kept(&[Write, DropColumns, Append], none), [1, 2]);
    }

    #[test]
    fn a_wish_holds_for_any_operation() {
        let all = [Write, DropColumns, Append, Append, Append, Append];
        assert_eq!(kept(&all, Keep { kind: Keep::GENERATIONS, value: 2 }), [4, 5]);
        assert_eq!(kept(&all, Keep { kind: Keep::GENERATIONS, value: 20 }), [1, 2, 3, 4, 5]);
        // Generation 5 was current until 60, generation 4 until 50.
        assert_eq!(kept(&all, Keep { kind: Keep::NANOSECONDS, value: 1 }), [5]);
        assert_eq!(kept(&all, Keep { kind: Keep::NANOSECONDS, value: 11 }), [4, 5]);
        assert_eq!(kept(&all, Keep { kind: 9, value: 0 }), [1, 2, 3, 4, 5]);
        // The last two changes came after the clock went back.
        let seven = [Write, Append, Append, Append, Append, Append, Append, Append];
        assert_eq!(kept(&seven, Keep { kind: Keep::NANOSECONDS, value: 1 }), [5, 6, 7]);
    }
}
