//! Packings, from the body of a page to words.

use super::bits;
use super::bytes::{Cursor, Wrong, known, rule};
use super::directory::Directory;
use super::payload::{self, unshuffle};

/// The words of a page.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of a word.
    pub word: usize,
    /// Bytes of a value of the physical type (for patches).
    pub value: usize,
    /// Values in the page.
    pub n: usize,
}

/// The words of a page, and the values that replace some of them: (position in the page, bits).
pub type Words = (Vec<u128>, Vec<(usize, u128)>);

fn mask(width: usize) -> u128 {
    if width >= 16 { u128::MAX } else { (1 << (8 * width)) - 1 }
}

/// The lengths of the vectors of a page.
pub fn vectors(n: usize) -> Vec<usize> {
    (0..n).step_by(1024).map(|start| (n - start).min(1024)).collect()
}

/// Decodes the words of a body, which has no bytes after them.
///
/// # Errors
/// *Corrupt*.
pub fn words(body: &mut Cursor<'_>, of: &Directory, shape: Shape) -> Result<Words, Wrong> {
    let words = match of.encoding[0] {
        0 => (raw(body, of, shape)?, Vec::new()),
        1 => (vec![of.base; shape.n], Vec::new()),
        2 => bit_packed(body, of, shape)?,
        3 => (delta(body, of, shape)?, Vec::new()),
        _ => (run_length(body, of, shape)?, Vec::new()),
    };
    body.end()?;
    Ok(words)
}

fn raw(body: &mut Cursor<'_>, of: &Directory, shape: Shape) -> Result<Vec<u128>, Wrong> {
    let mut bytes = body.take(shape.n * shape.word)?.to_vec();
    if of.encoding[3] == 1 {
        bytes = unshuffle(&bytes, shape.word);
    }
    let mut words = Cursor { rest: &bytes };
    (0..shape.n).map(|_| words.word(shape.word)).collect()
}

fn bit_packed(body: &mut Cursor<'_>, of: &Directory, shape: Shape) -> Result<Words, Wrong> {
    let vectors = vectors(shape.n);
    let mut frames = vec![(of.base, of.width); vectors.len()];
    if of.per_vector {
        for (base, width) in &mut frames {
            *base = body.word(shape.word)?;
            *width = body.word(1)? as u32;
            rule(*width as usize <= 8 * shape.word, "the width of a vector")?;
        }
    }
    let mut n_patches = vec![0; vectors.len()];
    if of.patches {
        for (n, m) in n_patches.iter_mut().zip(&vectors) {
            *n = body.word(2)? as usize;
            rule(*n <= *m, "more patches than values")?;
        }
    }
    let mut words = Vec::new();
    for (&m, (base, width)) in vectors.iter().zip(frames) {
        for bits in bits::vector(body, m, width)? {
            words.push(base.wrapping_add(bits) & mask(shape.word));
        }
    }
    let mut positions = Vec::new();
    for (vector, (&n, &m)) in n_patches.iter().zip(&vectors).enumerate() {
        let mut last = None;
        for _ in 0..n {
            let position = body.word(2)? as usize;
            rule(position < m && last < Some(position), "positions of patches ascend")?;
            positions.push(1024 * vector + position);
            last = Some(position);
        }
    }
    let mut patches = Vec::new();
    for position in positions {
        patches.push((position, body.word(shape.value)?));
    }
    Ok((words, patches))
}

fn delta(body: &mut Cursor<'_>, of: &Directory, shape: Shape) -> Result<Vec<u128>, Wrong> {
    let vectors = vectors(shape.n);
    let mut heads = Vec::new();
    for _ in &vectors {
        let head = (body.word(shape.word)?, body.word(shape.word)?, body.word(1)? as u32);
        rule(head.2 <= of.width, "the width of a vector is at most the directory's")?;
        heads.push(head);
    }
    let mut words = Vec::new();
    for (&m, (first, least, width)) in vectors.iter().zip(heads) {
        let mut value = first;
        for (i, bits) in bits::vector(body, m, width)?.into_iter().enumerate() {
            if i == 0 {
                rule(bits == 0, "bits 0 of a vector of deltas are 0")?;
            } else {
                value = value.wrapping_add(least).wrapping_add(bits) & mask(shape.word);
            }
            words.push(value);
        }
    }
    Ok(words)
}

fn run_length(body: &mut Cursor<'_>, of: &Directory, shape: Shape) -> Result<Vec<u128>, Wrong> {
    let n_runs = body.word(2)? as usize;
    rule((1..=shape.n).contains(&n_runs), "the number of runs")?;
    let mut ends = Vec::new();
    for _ in 0..n_runs {
        let end = body.word(2)? as usize;
        rule(end > ends.last().copied().unwrap_or(0), "ends of runs ascend")?;
        ends.push(end);
    }
    rule(ends.last() == Some(&shape.n), "the last run ends with the page")?;
    let runs = bits::partial(body, n_runs, of.width)?;
    let mut words = Vec::new();
    for (end, bits) in ends.into_iter().zip(runs) {
        while words.len() < end {
            words.push(of.base.wrapping_add(bits) & mask(shape.word));
        }
    }
    Ok(words)
}

/// Packing 0 of values of any fixed width.
///
/// # Errors
/// *Corrupt*.
pub fn rows(body: &mut Cursor<'_>, of: &Directory, n: usize, width: usize) -> Result<Vec<Vec<u8>>, Wrong> {
    let mut bytes = body.take(n * width)?.to_vec();
    if of.encoding[3] == 1 {
        bytes = unshuffle(&bytes, width);
    }
    body.end()?;
    Ok((0..n).map(|i| bytes[i * width..(i + 1) * width].to_vec()).collect())
}

/// Packings 0 and 1 of bool.
///
/// # Errors
/// *Corrupt*.
pub fn bools(body: &mut Cursor<'_>, of: &Directory, n: usize) -> Result<Vec<u128>, Wrong> {
    let words = match of.encoding[0] {
        0 => payload::bits(body, n)?.into_iter().map(u128::from).collect(),
        _ => vec![of.base; n],
    };
    body.end()?;
    Ok(words)
}

/// Packings 5 and 6: the values of a page.
///
/// # Errors
/// *Corrupt*.
pub fn strings(body: &mut Cursor<'_>, of: &Directory, n: usize) -> Result<Vec<Vec<u8>>, Wrong> {
    let vectors = vectors(n);
    let mut starts = Vec::new();
    for _ in &vectors {
        starts.push(body.word(4)? as usize);
    }
    let mut lengths = Vec::new();
    for &m in &vectors {
        for bits in bits::vector(body, m, of.width)? {
            lengths.push((of.base.wrapping_add(bits) & mask(4)) as usize);
        }
    }
    let decoded;
    let mut bytes = Cursor { rest: body.rest };
    if of.encoding[0] == 6 {
        decoded = symbols(body, lengths.iter().sum())?;
        bytes.rest = &decoded;
    }
    let mut values = Vec::new();
    let mut at = 0;
    for (i, length) in lengths.into_iter().enumerate() {
        if i % 1024 == 0 {
            rule(starts[i / 1024] == at, "the start of a vector of strings")?;
        }
        values.push(bytes.take(length)?.to_vec());
        at += length;
    }
    bytes.end()?;
    Ok(values)
}

/// The entries of a dictionary of strings.
pub fn entries(body: &mut Cursor<'_>, n: usize) -> Result<Vec<Vec<u8>>, Wrong> {
    let base = body.word(4)?;
    let (width, kind) = (body.word(1)? as u32, body.word(1)?);
    known(kind <= 1 && body.word(2)? == 0, "the kind of the entries of a dictionary")?;
    rule(width <= 32, "the width of the lengths of entries")?;
    let mut lengths = Vec::new();
    for m in vectors(n) {
        for bits in bits::vector(body, m, width)? {
            lengths.push((base.wrapping_add(bits) & mask(4)) as usize);
        }
    }
    let decoded;
    let mut bytes = Cursor { rest: body.rest };
    if kind == 1 {
        decoded = symbols(body, lengths.iter().sum())?;
        bytes.rest = &decoded;
    }
    let entries = lengths.into_iter().map(|length| Ok(bytes.take(length)?.to_vec()));
    let entries = entries.collect::<Result<_, Wrong>>()?;
    bytes.end()?;
    Ok(entries)
}

/// Decodes a symbol table and four streams, which give `len` bytes.
fn symbols(body: &mut Cursor<'_>, len: usize) -> Result<Vec<u8>, Wrong> {
    let counts = body.take(8)?;
    let mut symbols = Vec::new();
    for (i, &count) in counts.iter().enumerate() {
        for _ in 0..count {
            symbols.push(body.take(i + 1)?);
        }
    }
    rule(symbols.len() <= 255, "a table has at most 255 symbols")?;
    let mut lens = Vec::new();
    for _ in 0..4 {
        lens.push(body.word(4)? as usize);
    }
    let piece = len.div_ceil(4);
    let mut bytes = Vec::new();
    for (i, codes) in lens.into_iter().enumerate() {
        let mut codes = body.take(codes)?.iter();
        while let Some(&code) = codes.next() {
            let escaped = if code == 255 { codes.next() } else { None };
            let symbol = match escaped {
                Some(byte) => Some(std::slice::from_ref(byte)),
                None => symbols.get(usize::from(code)).copied(),
            };
            rule(symbol.is_some(), "a code is one of a symbol, or an escape with a byte")?;
            bytes.extend_from_slice(symbol.unwrap_or_default());
        }
        rule(bytes.len() == len.min((i + 1) * piece), "a stream gives its piece")?;
    }
    body.end()?;
    Ok(bytes)
}
