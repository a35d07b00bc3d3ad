//! Blocks: a length, and a frame of Zstandard whose content may be shuffled.

use entasis::{Error, Result, prefault};
use zstd_safe::{DCtx, get_error_name, get_frame_content_size};

use crate::input::Decoder;

/// The longest content of a block.
const BLOCK_LEN: usize = 1 << 20;
/// The bit of a length that marks shuffled content.
const SHUFFLED: u32 = 1 << 31;
/// Blocks that a thread decompresses at a time.
const PER_THREAD: usize = 4;
/// The least bytes of a stored block.
const LEAST_STORED: usize = 13;

/// A block as it is stored.
#[derive(Clone, Copy)]
struct Packed<'a> {
    frame: &'a [u8],
    is_shuffled: bool,
    /// Its offset in the file.
    at: u64,
}

/// The content of all blocks.
pub(super) struct Blocks<'a> {
    rest: &'a [u8],
    at: u64,
    n_threads: usize,
    limit: Option<u64>,
    len: u64,
    /// Contents that were not read yet, the next one last.
    ready: Vec<Vec<u8>>,
    read: usize,
    spare: Vec<Vec<u8>>,
}

impl<'a> Blocks<'a> {
    /// Blocks that begin at offset `at` of the file.
    pub(super) fn new(bytes: &'a [u8], at: u64, threads: usize, limit: Option<u64>) -> Self {
        let n_threads = if bytes.len() < BLOCK_LEN / 4 { 1 } else { threads.max(1) };
        Self { rest: bytes, at, n_threads, limit, len: 0, ready: Vec::new(), read: 0, spare: Vec::new() }
    }

    /// The next block; `None` at the end.
    fn next(&mut self) -> Result<Option<Packed<'a>>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let truncated = || Error::corrupt("the file ends in the middle of a block").at(self.at);
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(truncated)?;
        let head = u32::from_le_bytes(*head);
        let len = (head & !SHUFFLED) as usize;
        let (frame, rest) = rest.split_at_checked(len).ok_or_else(truncated)?;
        let block = Packed { frame, is_shuffled: head & SHUFFLED != 0, at: self.at };
        self.rest = rest;
        self.at += 4 + len as u64;
        Ok(Some(block))
    }

    /// Decompresses the next blocks.
    fn decode(&mut self) -> Result<()> {
        let n = if self.n_threads == 1 { 1 } else { self.n_threads * PER_THREAD };
        let mut jobs = Vec::new();
        while jobs.len() < n
            && let Some(block) = self.next()?
        {
            jobs.push((block, self.spare.pop().unwrap_or_default()));
        }
        self.share(&mut jobs, |context, scratch, (block, content)| {
            let room = BLOCK_LEN.saturating_sub(content.len());
            content.try_reserve_exact(room).map_err(|_| Error::out_of_memory(BLOCK_LEN, "blocks"))?;
            content.resize(BLOCK_LEN, 0);
            let len = block.unpack(context, scratch, content)?;
            content.truncate(len);
            Ok(())
        })?;
        self.ready = jobs.into_iter().rev().map(|(_, content)| content).collect();
        self.count(self.ready.iter().map(|content| content.len() as u64).sum())
    }

    /// Runs work on all jobs, by several threads. Each has a decompressor and scratch memory.
    fn share<T: Send>(
        &self,
        jobs: &mut [T],
        work: impl Fn(&mut DCtx<'static>, &mut Vec<u8>, &mut T) -> Result<()> + Sync,
    ) -> Result<()> {
        let run = |jobs: &mut [T]| {
            let none = || Error::out_of_memory(1 << 17, "the decompressor");
            let (mut context, mut scratch) = (DCtx::try_create().ok_or_else(none)?, Vec::new());
            jobs.iter_mut().try_for_each(|job| work(&mut context, &mut scratch, job))
        };
        if jobs.len() <= 1 {
            return run(jobs);
        }
        let share = jobs.len().div_ceil(self.n_threads);
        std::thread::scope(|scope| {
            let mut parts = jobs.chunks_mut(share);
            let first = parts.next();
            let others: Vec<_> = parts.map(|part| scope.spawn(|| run(part))).collect();
            let mut result = first.map_or(Ok(()), run);
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
            let n = into.len().min(content.len() - self.read);
            if n > 0 {
                into[..n].copy_from_slice(&content[self.read..self.read + n]);
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
                0 if into.is_empty() || (self.ready.is_empty() && self.rest.is_empty()) => return Ok(0),
                0 => self.decode()?,
                n => return Ok(n),
            }
        }
    }

    fn most_left(&self) -> Option<u64> {
        let ready = self.ready.iter().map(|content| content.len() as u64).sum::<u64>();
        Some(ready + (self.rest.len() / LEAST_STORED + 1) as u64 * BLOCK_LEN as u64)
    }

    fn read_long(&mut self, into: &mut [u8]) -> Result<usize> {
        match self.take_ready(into) {
            0 => {}
            n => return Ok(n),
        }
        let n = self.n_threads * PER_THREAD;
        let (mut jobs, mut left, mut len) = (Vec::new(), into, 0);
        while jobs.len() < n {
            let before = (self.rest, self.at);
            let Some(block) = self.next()? else { break };
            let content = get_frame_content_size(block.frame).ok().flatten();
            let content = content.and_then(|len| usize::try_from(len).ok());
            let Some(content) = content.filter(|&len| len > 0 && len <= BLOCK_LEN.min(left.len())) else {
                (self.rest, self.at) = before;
                break;
            };
            let (own, rest) = left.split_at_mut(content);
            jobs.push((block, own));
            (left, len) = (rest, len + content);
        }
        self.count(len as u64)?;
        self.share(&mut jobs, |context, scratch, (block, own)| {
            prefault(own);
            if block.unpack(context, scratch, own)? == own.len() {
                return Ok(());
            }
            Err(Error::corrupt("a block has another length than its header says").at(block.at))
        })?;
        Ok(len)
    }
}

impl Packed<'_> {
    /// Decompresses the block to the beginning of `into`. Returns the length of the content.
    fn unpack(&self, context: &mut DCtx<'static>, scratch: &mut Vec<u8>, into: &mut [u8]) -> Result<usize> {
        let result = if self.is_shuffled {
            scratch.resize(BLOCK_LEN, 0);
            context.decompress(&mut scratch[..], self.frame)
        } else {
            context.decompress(into, self.frame)
        };
        let len = result.map_err(|code| {
            let name = get_error_name(code);
            Error::corrupt(format!("the zstd data is not valid: {name}")).at(self.at)
        })?;
        if self.is_shuffled {
            let Some(into) = into.get_mut(..len) else {
                return Err(Error::corrupt("a block has another length than its header says").at(self.at));
            };
            unshuffle(&scratch[..len], into);
        }
        Ok(len)
    }
}

/// Joins the bytes of words of 8 bytes, which are stored plane by plane, the least significant
/// first. Bytes after the last whole word follow unchanged. `into` is as long as `shuffled`.
fn unshuffle(shuffled: &[u8], into: &mut [u8]) {
    let n = shuffled.len() / 8;
    let plane = |i: usize| &shuffled[i * n..(i + 1) * n];
    let [a, b, c, d, e, f, g, h] = std::array::from_fn(plane);
    let (words, rest) = into.as_chunks_mut::<8>();
    for (i, word) in words.iter_mut().enumerate() {
        *word = [a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]];
    }
    rest.copy_from_slice(&shuffled[n * 8..]);
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
        unshuffle(&shuffled, &mut joined);
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
            let open = |stored| Input::of_decoder(Box::new(Blocks::new(stored, 24, threads, None)), &Silent);
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
            let limited = Blocks::new(&stored, 24, threads, Some(content.len() as u64 - 1));
            let mut input = Input::of_decoder(Box::new(limited), &Silent);
            let read = input.vector(n as u64 + 1, u64::from_le_bytes);
            assert_eq!(read.unwrap_err().kind(), Kind::Limit);
        }
    }
}
