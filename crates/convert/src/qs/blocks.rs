//! Blocks: a length, and a frame of Zstandard whose content may be shuffled.

use entasis::{Error, Result};
use zstd_safe::{DCtx, get_error_name};

use crate::input::Decoder;

/// The longest content of a block.
const BLOCK_LEN: usize = 1 << 20;
/// The bit of a length that marks shuffled content.
const SHUFFLED: u32 = 1 << 31;
/// Blocks that a thread decompresses at a time.
const PER_THREAD: usize = 4;

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
        if jobs.len() <= 1 {
            run(&mut jobs)?;
        } else {
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
            })?;
        }
        self.ready = jobs.into_iter().rev().map(|(_, content)| content).collect();
        self.len += self.ready.iter().map(|content| content.len() as u64).sum::<u64>();
        match self.limit {
            Some(limit) if self.len > limit => {
                let message =
                    format!("the decompressed content is longer than max_bytes allows ({limit} bytes)");
                Err(Error::limit(message).advise("raise max_bytes if you trust the source"))
            }
            _ => Ok(()),
        }
    }
}

impl Decoder for Blocks<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            if let Some(content) = self.ready.last() {
                let n = into.len().min(content.len() - self.read);
                if n > 0 {
                    into[..n].copy_from_slice(&content[self.read..self.read + n]);
                    self.read += n;
                    return Ok(n);
                }
                self.spare.extend(self.ready.pop());
                self.read = 0;
            }
            if self.ready.is_empty() {
                if self.rest.is_empty() {
                    return Ok(0);
                }
                self.decode()?;
            }
        }
    }
}

/// Decompresses blocks, each into its buffer.
fn run(jobs: &mut [(Packed<'_>, Vec<u8>)]) -> Result<()> {
    let mut context = DCtx::try_create().ok_or_else(|| Error::out_of_memory(1 << 17, "the decompressor"))?;
    let mut shuffled = Vec::new();
    for (block, content) in jobs {
        let into = if block.is_shuffled { &mut shuffled } else { &mut *content };
        let room = BLOCK_LEN.saturating_sub(into.len());
        into.try_reserve_exact(room).map_err(|_| Error::out_of_memory(BLOCK_LEN, "blocks"))?;
        into.resize(BLOCK_LEN, 0);
        let len = context.decompress(&mut into[..], block.frame).map_err(|code| {
            let name = get_error_name(code);
            Error::corrupt(format!("the zstd data is not valid: {name}")).at(block.at)
        })?;
        into.truncate(len);
        if block.is_shuffled {
            content.clear();
            unshuffle(&shuffled, content);
        }
    }
    Ok(())
}

/// Joins the bytes of words of 8 bytes, which are stored plane by plane, the least significant
/// first. Bytes after the last whole word follow unchanged.
fn unshuffle(shuffled: &[u8], into: &mut Vec<u8>) {
    let n = shuffled.len() / 8;
    let plane = |i: usize| &shuffled[i * n..(i + 1) * n];
    let [a, b, c, d, e, f, g, h] = std::array::from_fn(plane);
    into.resize(n * 8, 0);
    let (words, _) = into.as_chunks_mut::<8>();
    for (i, word) in words.iter_mut().enumerate() {
        *word = [a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]];
    }
    into.extend_from_slice(&shuffled[n * 8..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_from_planes() {
        let words: Vec<u8> = (0..83).collect();
        let mut shuffled = Vec::new();
        for plane in 0..8 {
            shuffled.extend((0..10).map(|i| words[i * 8 + plane]));
        }
        shuffled.extend_from_slice(&words[80..]);
        let mut joined = Vec::new();
        unshuffle(&shuffled, &mut joined);
        assert_eq!(joined, words);
    }
}
