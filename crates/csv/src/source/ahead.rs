//! Runs a decoder in a thread of its own, a few MiB ahead of its reader.
//!
//! A stream belongs to its caller, who may allow only one thread to use it. So the thread does not
//! read streams itself. It asks for their bytes, and they are read when its reader waits for it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use entasis::{Error, Result};
use entasis_platform::{Process, thread_pool};

use super::raw::{Raw, Stage, read_full};

/// Length of a buffer of decoded bytes.
const LEN: usize = 1 << 20;
/// The number of these buffers.
const N_BUFFERS: usize = 4;
/// Length of a buffer of bytes that are to be decoded.
const FED_LEN: usize = 256 << 10;
/// The number of these buffers.
const N_FED: usize = 4;

/// A message of the thread.
enum Message {
    /// A buffer and the length of its content.
    Filled(Vec<u8>, usize),
    /// A buffer for bytes of the stream.
    Hungry(Vec<u8>),
    Failed(Error),
    End,
}

/// A buffer and the length of its content.
type Filled = (Vec<u8>, usize);

/// The stream, and the way for its bytes.
type Feeder = (Raw, Sender<Filled>);

/// Decoded bytes from a thread.
pub(super) struct Ahead {
    thread: Threads,
    messages: Receiver<Message>,
    /// Gives buffers back; `None` after the end.
    free: Option<Sender<Vec<u8>>>,
    feeder: Option<Feeder>,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
}

impl Ahead {
    /// Runs `stage` in a thread. If none can be started, returns the stage.
    pub(super) fn start(stage: Box<dyn Stage>) -> std::result::Result<Self, Box<dyn Stage>> {
        let (sender, messages) = channel();
        Self::start_with(stage, sender, messages, None)
    }

    /// Runs the stage that `decode` makes in a thread, and reads `stream` for it. `decode` gets the
    /// other end of the stream, which gives the same bytes. If no thread can be started, the stage
    /// comes back and would wait forever, so this is an error.
    pub(super) fn start_fed(stream: Raw, decode: impl FnOnce(Raw) -> Box<dyn Stage>) -> Result<Self> {
        let (sender, messages) = channel();
        let (feed, chunks) = channel();
        let fed = Fed {
            chunks,
            hungry: sender.clone(),
            buffer: Vec::new(),
            at: 0,
            end: 0,
            is_asked: false,
            ended: false,
        };
        let stage = decode(Raw::Fed(Box::new(fed)));
        Self::start_with(stage, sender, messages, Some((stream, feed))).map_err(|_| no_thread())
    }

    fn start_with(
        stage: Box<dyn Stage>,
        sender: Sender<Message>,
        messages: Receiver<Message>,
        feeder: Option<Feeder>,
    ) -> std::result::Result<Self, Box<dyn Stage>> {
        let (free, buffers) = channel();
        for _ in 0..N_BUFFERS {
            // The receiver is alive, here and in the thread as long as it works.
            let _ = free.send(Vec::new());
        }
        // A thread that cannot be started drops its closure, and the stage must survive.
        let slot = Arc::new(Mutex::new(Some(stage)));
        let of_thread = Arc::clone(&slot);
        let mut thread = Threads::default();
        let started = thread.start(move || {
            let stage = of_thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(stage) = stage {
                run(stage, &buffers, &sender);
            }
        });
        if !started {
            let stage = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(stage) = stage {
                return Err(stage);
            }
        }
        Ok(Self { thread, messages, free: Some(free), feeder, buffer: Vec::new(), at: 0, end: 0 })
    }
}

/// The same bytes from a thread, or from this one if no other can be started.
pub(super) fn ahead(stage: Box<dyn Stage>) -> Box<dyn Stage> {
    Ahead::start(stage).map_or_else(|stage| stage, |ahead| Box::new(ahead))
}

fn no_thread() -> Error {
    Error::io(std::io::ErrorKind::WouldBlock.into(), "starting a thread that decompresses")
        .advise("read it with threads=1")
}

/// Fills buffers until the end, an error, or the drop of the reader.
fn run(mut stage: Box<dyn Stage>, buffers: &Receiver<Vec<u8>>, sender: &Sender<Message>) {
    while let Ok(mut buffer) = buffers.recv() {
        buffer.resize(LEN, 0);
        let message = match read_full(&mut stage, &mut buffer) {
            Ok(0) => Message::End,
            Ok(n) => Message::Filled(buffer, n),
            Err(error) => Message::Failed(error),
        };
        let is_last = !matches!(message, Message::Filled(..));
        if sender.send(message).is_err() || is_last {
            return;
        }
    }
}

impl Stage for Ahead {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while self.at == self.end && !into.is_empty() {
            let Some(free) = &self.free else { return Ok(0) };
            match self.messages.recv() {
                Ok(Message::Filled(buffer, n)) => {
                    let former = std::mem::replace(&mut self.buffer, buffer);
                    (self.at, self.end) = (0, n);
                    if !former.is_empty() {
                        let _ = free.send(former);
                    }
                }
                Ok(Message::Hungry(mut buffer)) => {
                    let Some((stream, feed)) = &mut self.feeder else { continue };
                    buffer.resize(FED_LEN, 0);
                    let n = stream.read(&mut buffer)?;
                    let _ = feed.send((buffer, n));
                }
                Ok(Message::Failed(error)) => {
                    self.free = None;
                    return Err(error);
                }
                Ok(Message::End) => self.free = None,
                Err(_) => {
                    self.free = None;
                    return Err(Error::io(
                        std::io::Error::other("its thread panicked"),
                        "decompressing the source",
                    ));
                }
            }
        }
        let n = into.len().min(self.end - self.at);
        into[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // Without the other ends, the thread waits for nothing.
        self.free = None;
        self.feeder = None;
        self.thread.join();
    }
}

/// The bytes of a stream that the reader of [`Ahead`] reads.
struct Fed {
    chunks: Receiver<Filled>,
    hungry: Sender<Message>,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    is_asked: bool,
    ended: bool,
}

impl Stage for Fed {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while self.at == self.end && !self.ended && !into.is_empty() {
            let spare = std::mem::take(&mut self.buffer);
            self.ask(spare)?;
            for _ in 1..if self.is_asked { 0 } else { N_FED } {
                self.ask(Vec::new())?;
            }
            self.is_asked = true;
            let (buffer, n) = self.chunks.recv().map_err(|_| Error::interrupted())?;
            self.buffer = buffer;
            (self.at, self.end) = (0, n);
            self.ended = n == 0;
        }
        let n = into.len().min(self.end - self.at);
        into[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl Fed {
    fn ask(&self, spare: Vec<u8>) -> Result<()> {
        self.hungry.send(Message::Hungry(spare)).map_err(|_| Error::interrupted())
    }
}

/// Threads that end on their own once their channels are closed.
pub(super) struct Threads {
    process: Process,
    handles: Vec<JoinHandle<()>>,
}

impl Default for Threads {
    fn default() -> Self {
        Self { process: Process::current(), handles: Vec::new() }
    }
}

impl Threads {
    /// Whether a thread could be started.
    pub(super) fn start(&mut self, work: impl FnOnce() + Send + 'static) -> bool {
        match thread_pool::start(work) {
            Ok(handle) => self.handles.push(handle),
            Err(_) => return false,
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.handles.len()
    }

    /// Waits for the threads. Their channels must be closed.
    pub(super) fn join(&mut self) {
        for handle in self.handles.drain(..) {
            // A forked child does not have the threads of its parent.
            if self.process.is_current() {
                // A panic was reported to the reader.
                let _ = handle.join();
            }
        }
    }
}
