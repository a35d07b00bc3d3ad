//! Fetches announced ranges ahead of their use, with a bound on the memory for them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Ranges, pieces};

/// No further request is made ahead while this many bytes were fetched and not read.
const HELD: u64 = 256 << 20;

/// Announced ranges, and the bytes that were fetched of these.
pub(super) struct Ahead<R> {
    pub ranges: R,
    state: Mutex<State>,
    /// Notified when a request is done.
    done: Condvar,
}

/// The end of it ends an announcement.
pub(super) struct Ticket<R: Ranges> {
    ahead: Arc<Ahead<R>>,
    number: u64,
}

#[derive(Default)]
struct State {
    n_tickets: u64,
    n_threads: usize,
    /// The requests by their first byte. They do not overlap.
    requests: BTreeMap<u64, Request>,
    /// The first bytes of requests in the order of announcement.
    queue: VecDeque<u64>,
    /// The first bytes of requests whose announced bytes were read, in that order.
    read: VecDeque<u64>,
    /// Bytes of requests that were made and not forgotten.
    n_held: u64,
}

struct Request {
    ticket: u64,
    end: u64,
    /// How many announced bytes were not read yet.
    n_unread: u64,
    state: Fetch,
}

enum Fetch {
    Queued,
    Running,
    Done(Arc<Vec<u8>>),
    /// The first reader gets the error. Later ones make the request again.
    Failed(io::Error),
}

/// The next step of a reader.
enum Next {
    Copy(Arc<Vec<u8>>, usize),
    /// Make the queued request with these bytes.
    Make(Range<u64>),
    /// Fetch the first bytes that are wanted, which no request has.
    Fetch(usize),
}

impl<R: Ranges> Ahead<R> {
    pub fn new(ranges: R) -> Self {
        Self { ranges, state: Mutex::default(), done: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to fetch ascending ranges, without those that another announcement has. Returns
    /// `None` if nothing is left to fetch.
    pub fn announce(this: &Arc<Self>, wanted: &[Range<u64>]) -> Option<Ticket<R>> {
        let mut state = this.lock();
        let known = pieces::sorted_all(state.requests.iter().map(|(start, of)| *start..of.end));
        let wanted_here = pieces::without(wanted.to_vec(), known.clone());
        let joined = pieces::requests(wanted_here, this.ranges.n_parallel());
        // Bytes between wanted ranges may belong to other requests.
        let requests = pieces::without(joined, known);
        if requests.is_empty() {
            return None;
        }
        state.n_tickets += 1;
        let ticket = state.n_tickets;
        for range in requests {
            let n_unread = pieces::n_inside(wanted, &range);
            if n_unread > 0 {
                state.queue.push_back(range.start);
                let request = Request { ticket, end: range.end, n_unread, state: Fetch::Queued };
                state.requests.insert(range.start, request);
            }
        }
        Self::start_threads(this, &mut state);
        drop(state);
        Some(Ticket { ahead: Arc::clone(this), number: ticket })
    }

    /// Starts threads for queued requests. Without new threads, readers make the requests.
    fn start_threads(this: &Arc<Self>, state: &mut State) {
        if this.ranges.is_of_one_thread() {
            return;
        }
        let n = this.ranges.n_parallel().min(state.n_threads + state.queue.len());
        while state.n_threads < n && state.n_held < HELD {
            let ahead = Arc::clone(this);
            let thread = std::thread::Builder::new().name("entasis-fetch".to_owned());
            if thread.spawn(move || Self::work(&ahead)).is_err() {
                return;
            }
            state.n_threads += 1;
        }
    }

    /// Makes queued requests on this thread, until enough bytes wait for their readers. A request
    /// that fails is the last one.
    pub fn make_all(&self) {
        loop {
            let Some(range) = self.lock().next_queued() else { return };
            let start = range.start;
            self.make(range);
            let state = self.lock();
            let request = state.requests.get(&start);
            if !request.is_some_and(|request| matches!(request.state, Fetch::Done(_))) {
                return;
            }
        }
    }

    /// Makes queued requests until none is left, or enough bytes wait for their readers.
    fn work(this: &Arc<Self>) {
        loop {
            let mut state = this.lock();
            let Some(range) = state.next_queued() else {
                state.n_threads -= 1;
                return;
            };
            drop(state);
            this.make(range);
        }
    }

    /// Makes a request, which is marked as running.
    fn make(&self, range: Range<u64>) {
        let result = self.fetched(&range);
        let mut state = self.lock();
        match state.requests.get_mut(&range.start) {
            Some(request) if request.end == range.end && matches!(request.state, Fetch::Running) => {
                request.state = match result {
                    Ok(bytes) => Fetch::Done(Arc::new(bytes)),
                    Err(error) => Fetch::Failed(error),
                };
            }
            // Its announcement ended.
            _ => state.n_held = state.n_held.saturating_sub(range.end - range.start),
        }
        drop(state);
        self.done.notify_all();
    }

    fn fetched(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let len = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(len, 0);
        self.ranges.fetch(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads some bytes at `at`, and returns how many: from a request, or by one of its own. Waits
    /// for requests of other threads.
    pub fn read(self: &Arc<Self>, at: u64, out: &mut [u8]) -> io::Result<usize> {
        if self.lock().has(at) {
            return self.read_or_wait(at, out);
        }
        let mut result = Ok(0);
        self.ranges.while_waiting(&mut || result = self.read_or_wait(at, out));
        result
    }

    fn read_or_wait(self: &Arc<Self>, at: u64, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let next = self.next(at, out.len())?;
            match next {
                Next::Copy(bytes, skip) => {
                    let n = (bytes.len() - skip).min(out.len());
                    out[..n].copy_from_slice(&bytes[skip..skip + n]);
                    return Ok(n);
                }
                Next::Make(range) => self.make(range),
                Next::Fetch(n) => {
                    self.ranges.fetch(at, &mut out[..n])?;
                    return Ok(n);
                }
            }
        }
    }

    fn next(self: &Arc<Self>, at: u64, len: usize) -> io::Result<Next> {
        let mut state = self.lock();
        loop {
            let Some((start, request)) =
                state.requests.range_mut(..=at).next_back().filter(|(_, r)| r.end > at)
            else {
                let next = state.requests.range(at..).next().map_or(u64::MAX, |(start, _)| *start);
                return Ok(Next::Fetch(len.min(usize::try_from(next - at).unwrap_or(usize::MAX))));
            };
            let start = *start;
            match &request.state {
                Fetch::Running => {
                    state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                Fetch::Queued => {
                    let range = start..request.end;
                    request.state = Fetch::Running;
                    state.n_held += range.end - range.start;
                    return Ok(Next::Make(range));
                }
                Fetch::Failed(_) => {
                    let failed = std::mem::replace(&mut request.state, Fetch::Queued);
                    let len = request.end - start;
                    state.n_held = state.n_held.saturating_sub(len);
                    if let Fetch::Failed(error) = failed {
                        return Err(error);
                    }
                }
                Fetch::Done(bytes) => {
                    let next = Next::Copy(Arc::clone(bytes), (at - start) as usize);
                    let n = (request.end - at).min(len as u64);
                    let was_unread = request.n_unread > 0;
                    request.n_unread = request.n_unread.saturating_sub(n);
                    if was_unread && request.n_unread == 0 {
                        state.read.push_back(start);
                    }
                    if state.n_threads == 0 && !state.queue.is_empty() {
                        state.make_room();
                        Self::start_threads(self, &mut state);
                    }
                    return Ok(next);
                }
            }
        }
    }
}

impl State {
    /// Whether the byte at `at` was fetched.
    fn has(&self, at: u64) -> bool {
        let before = self.requests.range(..=at).next_back();
        before.is_some_and(|(_, request)| request.end > at && matches!(request.state, Fetch::Done(_)))
    }

    /// Marks the next queued request as running, if there is room for its bytes.
    fn next_queued(&mut self) -> Option<Range<u64>> {
        self.make_room();
        while self.n_held < HELD {
            let start = self.queue.pop_front()?;
            let Some(request) = self.requests.get_mut(&start) else { continue };
            if matches!(request.state, Fetch::Queued) {
                request.state = Fetch::Running;
                self.n_held += request.end - start;
                return Some(start..request.end);
            }
        }
        None
    }

    /// Forgets requests whose bytes were read, as far as the memory is needed.
    fn make_room(&mut self) {
        while self.n_held >= HELD {
            let Some(start) = self.read.pop_front() else { return };
            if self.requests.get(&start).is_some_and(|request| request.n_unread == 0) {
                self.forget(start);
            }
        }
    }

    fn forget(&mut self, start: u64) {
        if let Some(request) = self.requests.remove(&start)
            // The thread of a running request counts its bytes.
            && matches!(request.state, Fetch::Done(_) | Fetch::Failed(_))
        {
            self.n_held = self.n_held.saturating_sub(request.end - start);
        }
    }
}

impl<R: Ranges> Drop for Ticket<R> {
    fn drop(&mut self) {
        let mut state = self.ahead.lock();
        let of_ticket = state.requests.iter().filter(|(_, request)| request.ticket == self.number);
        let starts = Vec::from_iter(of_ticket.map(|(start, _)| *start));
        starts.into_iter().for_each(|start| state.forget(start));
        drop(state);
        // A reader of another announcement may wait for one of them.
        self.ahead.done.notify_all();
    }
}
