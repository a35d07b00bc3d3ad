//! Blocks: a length, and a frame of Zstandard whose content may be shuffled.

use std::sync::{Mutex, PoisonError};

use entasis::{Error, Result, prefault, unshuffle};
use zstd_safe::{DCtx, get_error_name, get_frame_content_size};

use crate::bytes::Bytes;
use crate::input::Decoder;

/// The longest content of a block.
const BLOCK_LEN: usize = 1 << 20;
/// The bit of a length that marks shuffled content.
const SHUFFLED: u32 = 1 << 31;
/// Blocks that a thread decompresses into buffers at a time.
const BUFFERED: usize = 4;
/// Blocks that a thread decompresses into a vector at a time.
const IN_PLACE: usize = 16;
/// The least bytes of a stored block.
const LEAST_STORED: u64 = 13;
/// The most bytes of the header of a frame.
const FRAME_HEADER: u64 = 18;

/// A block as it is stored.
#[derive(Clone, Copy)]
struct Packed {
    /// The offset and the length of its frame in the file.
    at: u64,
    len: u64,
    /// The length of the content, if the frame records it.
    content: Option<usize>,
    is_shuffled: bool,
}

/// The memory of a thread that decompresses.
struct Worker {
    context: DCtx<'static>,
    stored: Vec<u8>,
    shuffled: Vec<u8>,
}

/// A buffer of a block, and the length of its content.
#[derive(Default)]
struct Content {
    buffer: Vec<u8>,
    len: usize,
}

/// The content of all blocks.
pub(super) struct Blocks<'a> {
    bytes: Bytes<'a>,
    /// The offset of the next block.
    at: u64,
    n_threads: usize,
    workers: Vec<Worker>,
    limit: Option<u64>,
    len: u64,
    /// Contents that were not read yet, the next one last.
    ready: Vec<Content>,
    read: usize,
    spare: Vec<Content>,
}

impl<'a> Blocks<'a> {
    /// Blocks that begin at offset `at` of the file.
    pub(super) fn new(bytes: Bytes<'a>, at: u64, threads: usize, limit: Option<u64>) -> Self {
        let n_threads = if bytes.len() < BLOCK_LEN as u64 / 4 { 1 } else { threads.max(1) };
        let (workers, ready, spare) = (Vec::new(), Vec::new(), Vec::new());
        Self { bytes, at, n_threads, workers, limit, len: 0, ready, read: 0, spare }
    }

    /// The bytes of blocks that were not decompressed yet.
    fn rest(&self) -> u64 {
        self.bytes.len().saturating_sub(self.at)
    }

    /// The next block; `None` at the end.
    fn next(&self) -> Result<Option<Packed>> {
        let rest = self.rest();
        if rest == 0 {
            return Ok(None);
        }
        let truncated = || Error::corrupt("the file ends in the middle of a block").at(self.at);
        let start = self.bytes.slice(self.at, rest.min(4 + FRAME_HEADER))?;
        let (head, frame) = start.split_first_chunk().ok_or_else(truncated)?;
        let head = u32::from_le_bytes(*head);
        let len = u64::from(head & !SHUFFLED);
        if len > rest - 4 {
            return Err(truncated());
        }
        let frame = &frame[..frame.len().min(len as usize)];
        let content = get_frame_content_size(frame).ok().flatten().and_then(|len| usize::try_from(len).ok());
        Ok(Some(Packed { at: self.at + 4, len, content, is_shuffled: head & SHUFFLED != 0 }))
    }

    /// Goes past a block.
    fn pass(&mut self, block: Packed) {
        self.at = block.at + block.len;
    }

    /// Decompresses the next blocks.
    fn decode(&mut self) -> Result<()> {
        let n = if self.n_threads == 1 { 1 } else { self.n_threads * BUFFERED };
        let mut jobs = Vec::new();
        while jobs.len() < n
            && let Some(block) = self.next()?
        {
            self.pass(block);
            jobs.push((block, self.spare.pop().unwrap_or_default()));
        }
        self.share(&mut jobs, |worker, bytes, (block, Content { buffer, len })| {
            let room = BLOCK_LEN.saturating_sub(buffer.len());
            buffer.try_reserve_exact(room).map_err(|_| Error::out_of_memory(BLOCK_LEN, "blocks"))?;
            buffer.resize(BLOCK_LEN, 0);
            *len = worker.unpack(bytes, *block, buffer)?;
            Ok(())
        })?;
        self.ready = jobs.into_iter().rev().map(|(_, content)| content).collect();
        self.count(self.ready.iter().map(|content| content.len as u64).sum())
    }

    /// Runs work on all jobs, by several threads.
    fn share<T: Send>(
        &mut self,
        jobs: &mut [T],
        work: impl Fn(&mut Worker, Bytes<'_>, &mut T) -> Result<()> + Sync,
    ) -> Result<()> {
        let n = self.n_threads.min(jobs.len());
        while self.workers.len() < n {
            self.workers.push(Worker::new()?);
        }
        let bytes = self.bytes;
        let queue = Mutex::new(jobs.iter_mut());
        let run = |worker: &mut Worker| {
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(job) = next() {
                work(worker, bytes, job)?;
            }
            Ok(())
        };
        let Some((first, others)) = self.workers.split_first_mut() else { return Ok(()) };
        std::thread::scope(|scope| {
            let others = others.iter_mut().take(n.saturating_sub(1));
            let others: Vec<_> = others.map(|worker| scope.spawn(|| run(worker))).collect();
            let mut result = run(first);
            for other in others {
                let panicked = |_| Err(Error::corrupt("a thread that decompresses panicked"));
                result = result.and(other.join().unwrap_or_else(panicked));
            }
            result
        })
    }

    /// Counts decompressed bytes.
    fn count(&mut self, len: u64) -> Result<()> {
        self.len = self.len.saturating_add(len);
        match self.limit {
            Some(limit) if self.len > limit => {
                let message =
                    format!("the decompressed content is longer than max_bytes allows ({limit} bytes)");
                Err(Error::limit(message).advise("raise max_bytes if you trust the source"))
            }
            _ => Ok(()),
        }
    }

    /// Copies decompressed bytes that were not read yet.
    fn take_ready(&mut self, into: &mut [u8]) -> usize {
        while let Some(content) = self.ready.last() {
            let n = into.len().min(content.len - self.read);
            if n > 0 {
                into[..n].copy_from_slice(&content.buffer[self.read..self.read + n]);
                self.read += n;
                return n;
            }
            self.spare.extend(self.ready.pop());
            self.read = 0;
        }
        0
    }
}

impl Decoder for Blocks<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            match self.take_ready(into) {
                0 if into.is_empty() || (self.ready.is_empty() && self.rest() == 0) => return Ok(0),
                0 => self.decode()?,
                n => return Ok(n),
            }
        }
    }

    fn most_left(&self) -> Option<u64> {
        let ready = self.ready.iter().map(|content| content.len as u64).sum::<u64>();
        Some(ready + (self.rest() / LEAST_STORED + 1).saturating_mul(BLOCK_LEN as u64))
    }

    fn read_long(&mut self, into: &mut [u8]) -> Result<usize> {
        match self.take_ready(into) {
            0 => {}
            n => return Ok(n),
        }
        let n = self.n_threads * IN_PLACE;
        let (mut jobs, mut left, mut len) = (Vec::new(), into, 0);
        while jobs.len() < n {
            let Some(block) = self.next()? else { break };
            let content = block.content.filter(|&len| len > 0 && len <= BLOCK_LEN.min(left.len()));
            let Some(content) = content else { break };
            self.pass(block);
            let (own, rest) = left.split_at_mut(content);
            jobs.push((block, own));
            (left, len) = (rest, len + content);
        }
        self.count(len as u64)?;
        self.share(&mut jobs, |worker, bytes, (block, own)| {
            prefault(own);
            if worker.unpack(bytes, *block, own)? == own.len() {
                return Ok(());
            }
            Err(other_length(*block))
        })?;
        Ok(len)
    }
}

impl Worker {
    fn new() -> Result<Self> {
        let none = || Error::out_of_memory(1 << 17, "the decompressor");
        let context = DCtx::try_create().ok_or_else(none)?;
        Ok(Self { context, stored: Vec::new(), shuffled: Vec::new() })
    }

    /// Decompresses a block to the beginning of `into`. Returns the length of the content.
    fn unpack(&mut self, bytes: Bytes<'_>, block: Packed, into: &mut [u8]) -> Result<usize> {
        let frame = bytes.read(block.at, block.len, &mut self.stored)?;
        let result = if block.is_shuffled {
            self.shuffled.resize(BLOCK_LEN, 0);
            self.context.decompress(&mut self.shuffled[..], frame)
        } else {
            self.context.decompress(into, frame)
        };
        let len = result.map_err(|code| {
            let name = get_error_name(code);
            Error::corrupt(format!("the zstd data is not valid: {name}")).at(block.at - 4)
        })?;
        if block.is_shuffled {
            join_planes(&self.shuffled[..len], into.get_mut(..len).ok_or_else(|| other_length(block))?);
        }
        Ok(len)
    }
}

fn other_length(block: Packed) -> Error {
    Error::corrupt("a block has another length than its header says").at(block.at - 4)
}

/// Joins the bytes of words of 8 bytes, which are stored plane by plane, the least significant
/// first. Bytes after the last whole word follow unchanged. `into` is as long as `shuffled`.
fn join_planes(shuffled: &[u8], into: &mut [u8]) {
    let n = shuffled.len() / 8 * 8;
    let (words, rest) = into.split_at_mut(n);
    let is_joined = unshuffle(&shuffled[..n], 8, words);
    debug_assert!(is_joined, "whole words");
    rest.copy_from_slice(&shuffled[n..]);
}

#[cfg(test)]
mod tests {
    use entasis::{Kind, Silent};

    use super::*;
    use crate::input::Input;

    #[test]
    fn words_are_joined_from_planes() {
        let words: Vec<u8> = (0..83).collect();
        let mut shuffled = Vec::new();
        for plane in 0..8 {
            shuffled.extend((0..10).map(|i| words[i * 8 + plane]));
        }
        shuffled.extend_from_slice(&words[80..]);
        let mut joined = vec![0; words.len()];
        join_planes(&shuffled, &mut joined);
        assert_eq!(joined, words);
    }

    /// Blocks with this content, the first one of the given length, every other one shuffled.
    fn packed(content: &[u8], first: usize) -> Vec<u8> {
        let (start, rest) = content.split_at(first);
        let mut out = Vec::new();
        for (i, part) in std::iter::once(start).chain(rest.chunks(BLOCK_LEN)).enumerate() {
            let mut plain = part.to_vec();
            if i % 2 == 1 {
                let n = part.len() / 8;
                (0..8 * n).for_each(|at| plain[at] = part[at % n * 8 + at / n]);
            }
            let mut frame = vec![0; zstd_safe::compress_bound(plain.len())];
            let len = zstd_safe::compress(&mut frame[..], &plain, 1).unwrap();
            out.extend_from_slice(&(len as u32 | if i % 2 == 1 { SHUFFLED } else { 0 }).to_le_bytes());
            out.extend_from_slice(&frame[..len]);
        }
        out
    }

    #[test]
    fn long_vectors_are_decompressed_in_place() {
        let n = (20 << 20) / 8 + 5;
        let words = (0..n as u64).flat_map(|i| (i * i).to_le_bytes());
        let content: Vec<u8> = [7; 3].into_iter().chain(words).chain([8; 5]).collect();
        for (threads, first) in [(1, 3), (2, 1 << 20), (3, 100_000)] {
            let stored = packed(&content, first);
            let open = |stored| {
                Input::of_decoder(Box::new(Blocks::new(Bytes::Memory(stored), 0, threads, None)), &Silent)
            };
            let mut input = open(&stored);
            assert_eq!(input.array().unwrap(), [7; 3]);
            let values = input.vector(n as u64, u64::from_le_bytes).unwrap();
            assert!(values.iter().zip(0u64..).all(|(&value, i)| value == i * i));
            assert_eq!(input.array().unwrap(), [8; 5]);
            assert_eq!(input.position(), content.len() as u64);
            let mut input = open(&stored);
            assert_eq!(input.array().unwrap(), [7; 3]);
            let values = input.vector(n as u64, u64::from_be_bytes).unwrap();
            assert!(values.iter().zip(0u64..).all(|(&value, i)| value == (i * i).swap_bytes()));
            for end in [stored.len() / 2, stored.len() - 1] {
                let mut input = open(&stored[..end]);
                assert_eq!(input.vector(n as u64, u64::from_le_bytes).unwrap_err().kind(), Kind::Corrupt);
            }
            let limited = Blocks::new(Bytes::Memory(&stored), 0, threads, Some(content.len() as u64 - 1));
            let mut input = Input::of_decoder(Box::new(limited), &Silent);
            let read = input.vector(n as u64 + 1, u64::from_le_bytes);
            assert_eq!(read.unwrap_err().kind(), Kind::Limit);
        }
    }
}
