//! One pass over a text by several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use entasis::{Error, Monitor, Result};

use super::Plan;
use super::header::Header;
use crate::cut::{Chunk, Cutter, Failure, count_lines};
use crate::fields::{Fields, Uneven};
use crate::problems::OnError;

/// The time between two calls of the monitor.
const INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of a chunk, so that it and its values stay in a core's cache.
const CHUNK: usize = 1 << 20;

/// What a thread gets of a chunk.
pub struct Part<'a> {
    /// The chunk.
    pub chunk: &'a Chunk,
    /// The places of its fields.
    pub fields: &'a mut Fields,
}

/// What is known of a chunk after the pass.
#[derive(Debug)]
pub struct Done<T> {
    /// What the thread made.
    pub made: T,
    /// Line ends of the chunk.
    pub n_lines: u64,
}

struct Shared<'a> {
    cutter: Cutter<'a>,
    first: Option<Chunk>,
    failure: Option<(usize, Failure)>,
    /// The number of rows of the chunks so far, if only some rows are read.
    n_rows: u64,
    is_done: bool,
}

/// Calls `work` for each chunk, and returns what it made, in order. `work` returns whether the pass
/// goes on after its chunk.
///
/// # Errors
/// The error of the first chunk that has one.
pub fn pass<T: Send>(
    cutter: Cutter<'_>,
    first: Option<Chunk>,
    header: &Header,
    plan: &Plan,
    monitor: &dyn Monitor,
    work: &(dyn Fn(Part<'_>) -> Result<(T, bool)> + Sync),
) -> Result<Vec<Done<T>>> {
    let (from, n_columns) = (header.len, header.names.len());
    let shared = Mutex::new(Shared { cutter, first, failure: None, n_rows: 0, is_done: false });
    let results: Mutex<Vec<Option<Result<Done<T>>>>> = Mutex::default();
    let stopped = AtomicBool::new(false);
    let uneven = if plan.fill || plan.on_error == OnError::Missing { Uneven::Fill } else { Uneven::Skip };
    let loops = |poll: Option<&dyn Fn() -> bool>| {
        let (mut memory, mut fields) = (Vec::new(), Fields::default());
        while !stopped.load(Ordering::Relaxed) {
            if poll.is_some_and(|poll| poll()) {
                stopped.store(true, Ordering::Relaxed);
                return;
            }
            let Some(chunk) = take(&shared, memory, &mut fields, from, n_columns, plan, uneven) else {
                return;
            };
            let start = if chunk.number == 0 { from } else { 0 };
            if plan.rows.is_none() {
                fields.find(&chunk, start, n_columns, &plan.dialect, uneven);
            }
            let made = work(Part { chunk: &chunk, fields: &mut fields });
            let goes_on = made.as_ref().is_ok_and(|&(_, goes_on)| goes_on);
            if !goes_on {
                stopped.store(true, Ordering::Relaxed);
            }
            let n_lines = count_lines(chunk.rows());
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if results.len() <= chunk.number {
                results.resize_with(chunk.number + 1, || None);
            }
            results[chunk.number] = Some(made.map(|(made, _)| Done { made, n_lines }));
            drop(results);
            memory = chunk.into_memory();
        }
    };
    let polled = Mutex::new(Instant::now());
    let was_interrupted = AtomicBool::new(false);
    let poll = || {
        let mut polled = polled.lock().unwrap_or_else(PoisonError::into_inner);
        if polled.elapsed() < INTERVAL {
            return false;
        }
        *polled = Instant::now();
        if let Ok(shared) = shared.try_lock() {
            let (done, total) = shared.cutter.progress();
            monitor.progress(done, total.unwrap_or(0));
        }
        let interrupted = monitor.interrupted();
        was_interrupted.fetch_or(interrupted, Ordering::Relaxed);
        interrupted
    };
    entasis_platform::thread_pool::run(plan.threads.saturating_sub(1), &|_| loops(None), |_| {
        loops(Some(&poll));
    });
    if was_interrupted.into_inner() {
        return Err(Error::interrupted());
    }
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut done = Vec::with_capacity(results.len());
    // Chunks are taken in order, so those before one that stopped the pass are there.
    for result in results.into_iter().map_while(|result| result) {
        done.push(result?);
    }
    match shared.failure {
        Some((number, failure)) if number <= done.len() => {
            let lines: u64 = done.iter().map(|done| done.n_lines).sum();
            Err(described(failure, plan.skip as u64 + lines))
        }
        _ => Ok(done),
    }
}

/// Takes the next chunk; `None` at the end.
fn take(
    shared: &Mutex<Shared<'_>>,
    memory: Vec<u8>,
    fields: &mut Fields,
    from: usize,
    n_columns: usize,
    plan: &Plan,
    uneven: Uneven,
) -> Option<Chunk> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = &mut *shared;
    if shared.is_done {
        return None;
    }
    let next = shared.first.take().map_or_else(|| shared.cutter.next(memory), |first| Ok(Some(first)));
    let chunk = match next {
        Ok(Some(chunk)) => chunk,
        Ok(None) => {
            shared.is_done = true;
            return None;
        }
        Err(failure) => {
            shared.is_done = true;
            shared.failure = Some((shared.cutter.number(), failure));
            return None;
        }
    };
    if let Some(rows) = &plan.rows {
        // The rows of a chunk have numbers only if those of all chunks before were counted.
        fields.find(&chunk, if chunk.number == 0 { from } else { 0 }, n_columns, &plan.dialect, uneven);
        let (first, n) = (shared.n_rows, fields.n_rows() as u64);
        shared.n_rows += n;
        shared.is_done = shared.n_rows >= rows.end;
        let inside = |row: u64| row.saturating_sub(first).min(n) as usize;
        fields.limit(inside(rows.start)..inside(rows.end));
    }
    Some(chunk)
}

/// The error of a text that cannot be cut. `lines` are before its chunk.
pub fn described(failure: Failure, lines: u64) -> Error {
    match failure {
        Failure::Error(error) => error,
        Failure::Unclosed { at, lines: inside } => {
            let line = lines + inside + 1;
            let message = format!("the quoted field that opens in line {line}, byte {at}, does not end");
            Error::argument(message)
                .advise("pass quote=None if quotes have no meaning, or raise max_field if it is very long")
        }
    }
}

/// Bytes of a chunk of a text whose first row has `n_columns` fields.
pub fn chunk_len(plan: &Plan) -> usize {
    plan.chunk_len.unwrap_or(CHUNK)
}
