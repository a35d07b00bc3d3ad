//! One pass over a text by several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use entasis::{Error, Monitor, Result};

use super::Plan;
use super::header::Header;
use crate::cut::{Chunk, Cutter, Failure, count_lines, described};
use crate::fields::{Fields, Uneven};
use crate::problems::OnError;

/// The time between two calls of the monitor.
const INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of a chunk, so that it and its values stay in a core's cache.
const CHUNK: usize = 1 << 20;

/// A chunk as a thread gets it.
pub struct Part<'a> {
    /// The chunk.
    pub chunk: &'a Chunk,
    /// The places of its fields.
    pub fields: &'a mut Fields,
}

/// The facts about a chunk after the pass.
#[derive(Debug)]
pub struct Done<T> {
    /// The product of the thread.
    pub made: T,
    /// Line ends of the chunk.
    pub n_lines: u64,
}

/// A pass over a text, window by window.
pub struct Pass<'a, 'c> {
    shared: Mutex<Shared<'c>>,
    header: &'a Header,
    plan: &'a Plan,
    /// Line ends before the next window.
    n_lines: u64,
    /// The last call of the monitor. Windows may be shorter than the time between two calls. Each
    /// text begins with a call, because texts may be as short.
    polled: Mutex<Option<Instant>>,
}

struct Shared<'a> {
    cutter: Cutter<'a>,
    first: Option<Chunk>,
    failure: Option<Failure>,
    /// The number of rows of the chunks so far, if only some rows are read.
    n_rows: u64,
    /// Bytes that the window still takes.
    left: usize,
    is_done: bool,
}

/// The products of chunks, or the errors that stopped them, and whether the pass goes on.
type Results<T> = Mutex<Vec<Option<(std::result::Result<Done<T>, Failure>, bool)>>>;

/// A pass between two of its windows, without the header and the plan.
pub struct Paused<'a> {
    cutter: Cutter<'a>,
    first: Option<Chunk>,
    failure: Option<Failure>,
    /// The number of rows so far, if only some rows are read.
    pub n_rows: u64,
    /// Line ends so far.
    pub n_lines: u64,
    polled: Option<Instant>,
    is_done: bool,
}

impl<'a> Paused<'a> {
    /// A pass before its first window. See [`Pass::new`].
    pub fn new(cutter: Cutter<'a>, first: Chunk, header: &Header) -> Self {
        let n_lines = header.n_lines;
        let first = Some(first);
        Self { cutter, first, failure: None, n_rows: 0, n_lines, polled: None, is_done: false }
    }

    /// Bytes of a chunk, unless a row is longer.
    pub fn chunk_len(&self) -> usize {
        self.cutter.chunk_len()
    }

    /// Goes on with the header and the plan of the pass before.
    pub fn go_on<'p>(self, header: &'p Header, plan: &'p Plan) -> Pass<'p, 'a> {
        let Self { cutter, first, failure, n_rows, n_lines, polled, is_done } = self;
        let shared = Shared { cutter, first, failure, n_rows, left: 0, is_done };
        Pass { shared: Mutex::new(shared), header, plan, n_lines, polled: Mutex::new(polled) }
    }
}

impl<'a, 'c> Pass<'a, 'c> {
    /// A pass over the chunks of a cutter from `first` on, which has the header.
    pub fn new(cutter: Cutter<'c>, first: Chunk, header: &'a Header, plan: &'a Plan) -> Self {
        Paused::new(cutter, first, header).go_on(header, plan)
    }

    /// Calls `work` for each chunk of the next `len` bytes, and returns its products in order.
    /// `work` also returns whether the pass goes on after its chunk. The list is empty at the end
    /// of the text.
    ///
    /// # Errors
    /// The error of the first chunk that has one.
    pub fn window<T: Send>(
        &mut self,
        len: usize,
        monitor: &dyn Monitor,
        work: &(dyn Fn(Part<'_>) -> Result<(T, bool)> + Sync),
    ) -> Result<Vec<Done<T>>> {
        let (done, error) = self.part(len, monitor, work)?;
        error.map_or(Ok(done), Err)
    }

    /// As [`Pass::window`]. Returns also the error of the first chunk that has one, after the
    /// products of the chunks before.
    ///
    /// # Errors
    /// *Interrupted*.
    pub fn part<T: Send>(
        &mut self,
        len: usize,
        monitor: &dyn Monitor,
        work: &(dyn Fn(Part<'_>) -> Result<(T, bool)> + Sync),
    ) -> Result<(Vec<Done<T>>, Option<Error>)> {
        let shared = self.shared.get_mut().unwrap_or_else(PoisonError::into_inner);
        shared.left = len;
        let first = shared.first.as_ref().map_or(shared.cutter.number(), |chunk| chunk.number);
        let (results, stopped) = (Results::default(), AtomicBool::new(false));
        let was_interrupted = AtomicBool::new(false);
        let poll = || {
            let mut polled = self.polled.lock().unwrap_or_else(PoisonError::into_inner);
            if polled.is_some_and(|at| at.elapsed() < INTERVAL) {
                return false;
            }
            *polled = Some(Instant::now());
            let progress = self.shared.try_lock().map(|shared| shared.cutter.progress());
            if let Ok((done, total)) = progress {
                monitor.progress(done, total.unwrap_or(0));
            }
            let interrupted = monitor.interrupted();
            was_interrupted.fetch_or(interrupted, Ordering::Relaxed);
            interrupted
        };
        let run = |poll: &dyn Fn() -> bool| self.run(first, &results, &stopped, poll, work);
        entasis_platform::thread_pool::run(self.plan.threads.saturating_sub(1), &|_| run(&|| false), |_| {
            run(&poll);
        });
        if was_interrupted.into_inner() {
            return Err(Error::interrupted());
        }
        let mut done: Vec<Done<T>> = Vec::new();
        // Chunks are taken in order, so those before one that stopped the pass are there.
        for (result, goes_on) in
            results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().map_while(|of| of)
        {
            let next = match result {
                Ok(next) => next,
                Err(failure) => return Ok((done, Some(described(failure, self.n_lines)))),
            };
            self.n_lines += next.n_lines;
            done.push(next);
            if !goes_on {
                // Whether other threads read later chunks must not matter.
                break;
            }
        }
        let shared = self.shared.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Chunks before the one that stopped the pass decide, whatever other threads met.
        let is_reached = first + done.len() == shared.cutter.number() && !stopped.into_inner();
        let failure = shared.failure.take_if(|_| is_reached);
        Ok((done, failure.map(|failure| described(failure, self.n_lines))))
    }

    /// Ends the use of the header and the plan for a while.
    pub fn pause(self) -> Paused<'c> {
        let n_lines = self.n_lines;
        let polled = self.polled.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Shared { cutter, first, failure, n_rows, is_done, .. } =
            self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Paused { cutter, first, failure, n_rows, n_lines, polled, is_done }
    }

    /// Line ends so far.
    pub fn n_lines(&self) -> u64 {
        self.n_lines
    }

    /// The number of rows so far, if only some rows are read.
    pub fn n_rows(&self) -> u64 {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).n_rows
    }

    /// The share of the text that was read; 1 if its length is not known.
    pub fn share(&self) -> f64 {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.cutter.progress() {
            (done, Some(total)) if total > 0 => done as f64 / total as f64,
            _ => 1.0,
        }
    }

    /// Works on chunks until there is none.
    fn run<T>(
        &self,
        first: usize,
        results: &Results<T>,
        stopped: &AtomicBool,
        poll: &dyn Fn() -> bool,
        work: &(dyn Fn(Part<'_>) -> Result<(T, bool)> + Sync),
    ) {
        let (mut memory, mut fields) = (Vec::new(), Fields::default());
        while !stopped.load(Ordering::Relaxed) {
            if poll() {
                stopped.store(true, Ordering::Relaxed);
                return;
            }
            let Some(chunk) = self.take(memory, &mut fields) else { return };
            if self.plan.rows.is_none() {
                self.find(&chunk, &mut fields);
            }
            let too_long = fields.too_long.take();
            if let Some(at) = too_long {
                // Rows before the one with the field come first.
                fields.keep_before(at);
            }
            let mut made = work(Part { chunk: &chunk, fields: &mut fields }).map_err(Failure::Error);
            let mut goes_on = made.as_ref().is_ok_and(|&(_, goes_on)| goes_on);
            if let (Some(at), true) = (too_long, goes_on) {
                let (most, dialect) = (self.plan.max_field, &self.plan.dialect);
                made = Err(Failure::long(chunk.rows(), at, chunk.offset, most, dialect));
                goes_on = false;
            }
            if !goes_on {
                stopped.store(true, Ordering::Relaxed);
            }
            let n_lines = count_lines(chunk.rows());
            let place = chunk.number - first;
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if results.len() <= place {
                results.resize_with(place + 1, || None);
            }
            results[place] = Some((made.map(|(made, _)| Done { made, n_lines }), goes_on));
            drop(results);
            memory = chunk.into_memory();
        }
    }

    /// Finds the fields of a chunk. The first one begins with the header.
    fn find(&self, chunk: &Chunk, fields: &mut Fields) {
        let plan = self.plan;
        let fills = plan.fill || plan.on_error == OnError::Missing;
        let uneven = if fills { Uneven::Fill } else { Uneven::Skip };
        let from = if chunk.number == self.header.chunk { self.header.len } else { 0 };
        fields.find(chunk, from, self.header.names.len(), &plan.dialect, uneven, plan.max_field);
    }

    /// Takes the next chunk; `None` at the end of the window, and of the text.
    fn take(&self, memory: Vec<u8>, fields: &mut Fields) -> Option<Chunk> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = &mut *shared;
        if shared.is_done || shared.left == 0 {
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
                shared.failure = Some(failure);
                return None;
            }
        };
        shared.left = shared.left.saturating_sub(chunk.rows().len());
        if let Some(rows) = &self.plan.rows {
            // The rows of a chunk have numbers only if those of all chunks before were counted.
            self.find(&chunk, fields);
            let first = shared.n_rows;
            shared.n_rows += fields.n_rows() as u64;
            shared.is_done = shared.n_rows >= rows.end;
            let inside = |row: u64| usize::try_from(row.saturating_sub(first)).unwrap_or(usize::MAX);
            fields.limit(inside(rows.start)..inside(rows.end));
        }
        Some(chunk)
    }
}

/// Bytes of a chunk of a text whose first row has `n_columns` fields.
pub fn chunk_len(plan: &Plan) -> usize {
    plan.chunk_len.unwrap_or(CHUNK)
}
