//! BGZF: gzip whose members carry their lengths, so that threads inflate them in parallel.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use entasis::{Error, Result};
use flate2::Decompress;

use super::ahead::Threads;
use super::fault::{check_rest, truncated};
use super::gzip::{self, Gzip, bgzf_len, inflate_bgzf};
use super::raw::{RawInput, Stage};

/// The most members of a batch. Each has up to 64 KiB of text.
const N_MEMBERS: usize = 16;
/// The most threads.
const N_THREADS: usize = 4;
/// The longest header of a member that is still recognised.
const HEADER_LEN: usize = 1 << 10;

/// Neighbouring members.
#[derive(Default)]
struct Batch {
    packed: Vec<u8>,
    /// The length and the offset of each member.
    members: Vec<(usize, u64)>,
    text: Vec<u8>,
}

impl Batch {
    fn inflate(&mut self, inflate: &mut Decompress) -> Result<()> {
        self.text.clear();
        let mut rest = &self.packed[..];
        for &(len, at) in &self.members {
            let (member, others) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            inflate_bgzf(inflate, member, &mut self.text, at)?;
            rest = others;
        }
        Ok(())
    }
}

/// A batch, and the way for its text.
type Job = (Batch, SyncSender<Result<Batch>>);

/// Reads members in the thread of the caller, and inflates them in others.
pub(super) struct Bgzf {
    /// `None` after the last member of BGZF.
    input: Option<RawInput>,
    /// Another kind of member was found: its text and that of the rest.
    serial: Option<Gzip>,
    /// The error after the last member that is in a batch.
    failure: Option<Error>,
    threads: Threads,
    n_threads: usize,
    jobs: Option<Sender<Job>>,
    pending: VecDeque<Receiver<Result<Batch>>>,
    /// For the caller's thread, if no other could be started.
    inflate: Decompress,
    batch: Batch,
    at: usize,
    spare: Vec<Batch>,
}

impl Bgzf {
    pub(super) fn new(input: RawInput, threads: usize) -> Self {
        Self {
            input: Some(input),
            serial: None,
            failure: None,
            threads: Threads::default(),
            n_threads: if threads < 2 { 0 } else { threads.min(N_THREADS) },
            jobs: None,
            pending: VecDeque::new(),
            inflate: Decompress::new(false),
            batch: Batch::default(),
            at: 0,
            spare: Vec::new(),
        }
    }

    /// Starts the threads, if there are to be some.
    fn start(&mut self) {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..self.n_threads {
            let queue = Arc::clone(&queue);
            let started = self.threads.start(move || {
                let mut inflate = Decompress::new(false);
                loop {
                    let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((mut batch, reply)) = job else { return };
                    let result = batch.inflate(&mut inflate).map(|()| batch);
                    // If the reader is gone, the next `recv` fails.
                    let _ = reply.send(result);
                }
            });
            if !started {
                break;
            }
        }
        self.n_threads = self.threads.len();
        self.jobs = (self.n_threads > 0).then_some(jobs);
    }

    /// The next members; `None` at the end of BGZF, or after an error, which is kept.
    fn next_batch(&mut self) -> Option<Batch> {
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.packed.clear();
        batch.members.clear();
        while batch.members.len() < N_MEMBERS {
            match self.add_member(&mut batch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.failure = Some(error);
                    self.input = None;
                    break;
                }
            }
        }
        (!batch.members.is_empty()).then_some(batch)
    }

    /// Whether a member was added. `input` is `None` after the last.
    fn add_member(&mut self, batch: &mut Batch) -> Result<bool> {
        let Some(input) = &mut self.input else { return Ok(false) };
        let head = input.peek(HEADER_LEN)?;
        let Some(len) = bgzf_len(head) else {
            self.serial = self.input.take().map(Gzip::new);
            return Ok(false);
        };
        // The last member is empty. Joined files have such members in the middle, too.
        let is_end = head.starts_with(&gzip::BGZF_END);
        let at = input.at();
        let mut left = len;
        while left > 0 {
            let part = input.fill()?;
            if part.is_empty() {
                return Err(truncated("BGZF", input.at()));
            }
            let n = part.len().min(left);
            batch.packed.extend_from_slice(&part[..n]);
            input.consume(n);
            left -= n;
        }
        batch.members.push((len, at));
        if !check_rest(input, "gzip", &gzip::MAGIC[..2])? {
            let at = input.at();
            self.input = None;
            if !is_end {
                return Err(truncated("BGZF", at));
            }
        }
        Ok(true)
    }
}

impl Stage for Bgzf {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.n_threads > 0 && self.jobs.is_none() {
            self.start();
        }
        while self.at == self.batch.text.len() && !into.is_empty() {
            // Before waiting for a batch, give work to all threads.
            while let Some(jobs) = &self.jobs
                && self.pending.len() < 2 * self.n_threads
                && self.input.is_some()
            {
                let jobs = jobs.clone();
                let Some(batch) = self.next_batch() else { break };
                let (reply, result) = sync_channel(1);
                if jobs.send((batch, reply)).is_err() {
                    self.failure = Some(panicked());
                    self.input = None;
                    break;
                }
                self.pending.push_back(result);
            }
            let next = match self.pending.pop_front() {
                Some(result) => result.recv().unwrap_or_else(|_| Err(panicked()))?,
                None if self.input.is_some() => match self.next_batch() {
                    Some(mut batch) => {
                        batch.inflate(&mut self.inflate)?;
                        batch
                    }
                    None => continue,
                },
                None => match (self.failure.take(), &mut self.serial) {
                    (Some(error), _) => return Err(error),
                    (None, Some(gzip)) => return gzip.read(into),
                    (None, None) => return Ok(0),
                },
            };
            self.spare.push(std::mem::replace(&mut self.batch, next));
            self.at = 0;
        }
        let n = into.len().min(self.batch.text.len() - self.at);
        into[..n].copy_from_slice(&self.batch.text[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl Drop for Bgzf {
    fn drop(&mut self) {
        self.jobs = None;
        self.pending.clear();
        self.threads.join();
    }
}

#[cold]
fn panicked() -> Error {
    Error::io(std::io::Error::other("its thread panicked"), "decompressing the source")
}
