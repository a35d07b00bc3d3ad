//! Copies the pieces of columns into memory of a host, by several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use entasis::{Buffer, Error, MissingTo, Monitor, Output, Request, Result};

use crate::frame::{Lent, Values};
use crate::piece::buffer;

/// Bytes that a thread copies before it asks for more work.
const TASK: usize = 256 << 10;

/// Copies column `i` of the columns into the memory of each request for it. Requests are for all
/// rows.
///
/// # Errors
/// *Out of memory*, *interrupted*; *argument* for memory that no host of texts asks for.
pub fn fill(
    columns: &[Lent<'_>],
    requests: Vec<Request<'_>>,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<()> {
    let mut tasks = Vec::new();
    let mut group = Group::default();
    for Request { column, output, missing, .. } in requests {
        let pieces = usize::try_from(column).ok().and_then(|column| columns.get(column));
        let pieces = &pieces.ok_or_else(|| Error::argument("no such column"))?.pieces;
        let missing = match missing {
            MissingTo::Bits(bits) => {
                tasks.push(vec![Task::Validity { pieces, bits }]);
                MissingTo::Ignore
            }
            missing => missing,
        };
        split(pieces, output, missing, &mut |task, len| {
            tasks.extend(group.add(task, len));
        })?;
    }
    tasks.push(group.tasks);
    let n = tasks.len();
    let tasks = Mutex::new(tasks.into_iter());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |goes_on: &dyn Fn() -> bool| {
        while goes_on() {
            let Some(tasks) = next() else { break };
            tasks.into_iter().for_each(Task::run);
        }
    };
    let was_interrupted = AtomicBool::new(false);
    entasis_platform::thread_pool::run(
        threads.saturating_sub(1).min(n),
        &|_| work(&|| !was_interrupted.load(Ordering::Relaxed)),
        |_| {
            work(&|| {
                if monitor.interrupted() {
                    was_interrupted.store(true, Ordering::Relaxed);
                }
                !was_interrupted.load(Ordering::Relaxed)
            });
        },
    );
    if was_interrupted.into_inner() { Err(Error::interrupted()) } else { Ok(()) }
}

/// Tasks that are too short for a thread.
#[derive(Default)]
struct Group<'a> {
    tasks: Vec<Task<'a>>,
    len: usize,
}

impl<'a> Group<'a> {
    /// Adds a task that writes `len` bytes. Returns the tasks once they are long enough.
    fn add(&mut self, task: Task<'a>, len: usize) -> Option<Vec<Task<'a>>> {
        self.tasks.push(task);
        self.len += len;
        if self.len < TASK {
            return None;
        }
        self.len = 0;
        Some(std::mem::take(&mut self.tasks))
    }
}

/// The memory of a piece.
enum Task<'a> {
    /// Words of the same width as those of the piece.
    Words { from: Values<'a>, to: &'a mut [u8], missing: MissingTo<'a> },
    /// Booleans, one byte each.
    Bools { from: Values<'a>, to: &'a mut [u8], missing: MissingTo<'a> },
    /// The bytes of strings, and their ends among all bytes. `base` bytes come before.
    Strings { from: Values<'a>, ends: &'a mut [i64], base: i64, bytes: &'a mut [u8] },
    /// One bit for each value of all pieces.
    Validity { pieces: &'a [Values<'a>], bits: &'a mut [u8] },
}

/// Makes a task of each piece, with the bytes that it writes.
fn split<'a>(
    pieces: &'a [Values<'a>],
    output: Output<'a>,
    mut missing: MissingTo<'a>,
    add: &mut dyn FnMut(Task<'a>, usize),
) -> Result<()> {
    let n: usize = pieces.iter().map(|piece| piece.n).sum();
    match output {
        // Decimals are as wide as their widest type.
        Output::Words(mut rest) | Output::Wide { memory: mut rest, .. } => {
            let width = rest.len() / n.max(1);
            for &from in pieces {
                let to = take(&mut rest, width * from.n);
                let missing = of_piece(&mut missing, from.n);
                add(Task::Words { from, to, missing }, width * from.n);
            }
        }
        Output::Bools(mut rest) => {
            for &from in pieces {
                let to = take(&mut rest, from.n);
                let missing = of_piece(&mut missing, from.n);
                add(Task::Bools { from, to, missing }, from.n);
            }
        }
        Output::Text(text) => {
            let len = pieces.iter().map(|piece| piece.bytes.len()).sum();
            text.offsets = buffer(8 * (n + 1))?;
            text.bytes = vec![buffer(len)?];
            let (_, mut ends) = bytemuck::cast_slice_mut::<u8, i64>(&mut text.offsets).split_at_mut(1);
            let mut bytes: &mut [u8] = text.bytes.first_mut().map_or(&mut [], |bytes: &mut Buffer| bytes);
            let mut base = 0;
            for &from in pieces {
                let len = from.bytes.len();
                let (ends, bytes) = (take(&mut ends, from.n), take(&mut bytes, len));
                add(Task::Strings { from, ends, base, bytes }, len + 8 * from.n);
                base += len as i64;
            }
        }
        Output::Int32 { .. } | Output::Bits(_) => {
            return Err(Error::argument("a text has no values for such memory"));
        }
    }
    Ok(())
}

/// Takes the first `n` elements.
fn take<'a, T>(rest: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (first, after) = std::mem::take(rest).split_at_mut(n);
    *rest = after;
    first
}

/// The report of the missing values among the next `n` ones.
fn of_piece<'a>(missing: &mut MissingTo<'a>, n: usize) -> MissingTo<'a> {
    match missing {
        MissingTo::Mask(rest) => MissingTo::Mask(take(rest, n)),
        MissingTo::Sentinel(sentinel) => MissingTo::Sentinel(*sentinel),
        _ => MissingTo::Ignore,
    }
}

impl Task<'_> {
    fn run(self) {
        match self {
            Self::Words { from, to, missing } => {
                to.copy_from_slice(&from.values[..to.len()]);
                let width = to.len() / from.n.max(1);
                report(from, missing, |row, sentinel| {
                    to[width * row..][..width].copy_from_slice(&sentinel.to_le_bytes()[..width]);
                });
            }
            Self::Bools { from, to, missing } => {
                for (to, &bits) in to.chunks_mut(8).zip(from.values) {
                    to.iter_mut().enumerate().for_each(|(i, to)| *to = bits >> i & 1);
                }
                report(from, missing, |row, sentinel| to[row] = sentinel as u8);
            }
            Self::Strings { from, ends, base, bytes } => {
                let offsets = from.values.chunks_exact(8).skip(1);
                for (end, offset) in ends.iter_mut().zip(offsets) {
                    let offset = offset.try_into().map_or(0, i64::from_le_bytes);
                    *end = base + offset;
                }
                bytes.copy_from_slice(from.bytes);
            }
            Self::Validity { pieces, bits } => {
                let mut at = 0;
                for piece in pieces {
                    append_bits(bits, at, piece);
                    at += piece.n;
                }
            }
        }
    }
}

/// Reports the missing values of a piece, by a mask or by `set` with the sentinel.
fn report(from: Values<'_>, missing: MissingTo<'_>, mut set: impl FnMut(usize, u64)) {
    let (mut mask, sentinel) = match missing {
        MissingTo::Mask(mask) => (Some(mask), None),
        MissingTo::Sentinel(sentinel) => (None, Some(sentinel)),
        _ => return,
    };
    let Some(validity) = from.validity else {
        if let Some(mask) = mask {
            mask.fill(0);
        }
        return;
    };
    for (group, &bits) in validity.iter().enumerate().take(from.n.div_ceil(8)) {
        let rows = 8 * group..from.n.min(8 * group + 8);
        if let Some(mask) = &mut mask {
            mask[rows].iter_mut().enumerate().for_each(|(i, mask)| *mask = !bits >> i & 1);
        } else if let (Some(sentinel), true) = (sentinel, bits != u8::MAX) {
            rows.enumerate().filter(|(i, _)| bits >> i & 1 == 0).for_each(|(_, row)| set(row, sentinel));
        }
    }
}

/// Copies the validity of a piece into `bits`, which are zeros, from bit `at` on.
pub fn append_bits(bits: &mut [u8], at: usize, piece: &Values<'_>) {
    let shift = at % 8;
    for group in 0..piece.n.div_ceil(8) {
        let valid = piece.validity.map_or(u8::MAX, |validity| validity[group]);
        let left = piece.n - 8 * group;
        let valid = if left < 8 { valid & ((1 << left) - 1) } else { valid };
        let to = at / 8 + group;
        bits[to] |= valid << shift;
        if shift > 0 && to + 1 < bits.len() {
            bits[to + 1] |= valid >> (8 - shift);
        }
    }
}

/// The number of missing values of a column.
pub fn n_missing(column: &Lent<'_>) -> u64 {
    let of_piece = |piece: &Values<'_>| {
        let mut left = piece.n;
        let valid = |&bits: &u8| {
            let bits = if left < 8 { bits & ((1 << left) - 1) } else { bits };
            left = left.saturating_sub(8);
            u64::from(bits.count_ones())
        };
        piece.validity.map_or(0, |validity| piece.n as u64 - validity.iter().map(valid).sum::<u64>())
    };
    column.pieces.iter().map(of_piece).sum()
}
