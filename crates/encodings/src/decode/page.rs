//! Opens one page: locates and verifies its validity section and the body of its packing.

use std::borrow::Cow;

use entasis_format::{Directory, Error, Filter, Layout, Packing, Physical, Result, checksum, fallible};
use entasis_kernels::{VECTOR, bitpack, shuffle};

use crate::codec::Codecs;
use crate::limits::PAGE;
use crate::packing::run_length::Runs;
use crate::packing::unused_bits;
use crate::validity::Validity;
use crate::{fsst, short_body};

/// The number of vectors in the largest page.
const VECTORS: usize = PAGE / VECTOR;

/// A verified page. A [`BlockDecoder`](crate::BlockDecoder) decodes its values.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    pub(crate) n: usize,
    /// The recorded length of all values; `None` for a page that is not stored.
    pub(crate) decoded_len: Option<usize>,
    /// Which values are present.
    pub validity: Validity<'a>,
    pub(crate) body: Body<'a>,
}

/// Reusable buffers for opening pages: the decompressed payload, unshuffled values, decoded
/// strings, and the parameters of vectors.
#[derive(Debug, Default)]
pub struct PageScratch {
    pub(super) payload: Vec<u8>,
    values: Vec<u8>,
    text: Vec<u8>,
    pub(super) vectors: Vectors,
}

#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    Raw(&'a [u8]),
    Constant,
    Packed(Packed<'a>),
    Delta(Packed<'a>),
    Runs(Runs<'a>),
    /// The bytes of all values.
    Strings {
        lengths: Packed<'a>,
        bytes: &'a [u8],
    },
    /// The FSST codes of all values; they decode to `len` bytes.
    Symbols {
        lengths: Packed<'a>,
        codes: &'a [u8],
        len: usize,
    },
}

/// The parameters of the vectors of a page. [`PageScratch`] owns them and pages borrow them,
/// because a copy per page would be expensive.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// Start offsets of the bits of each vector, and the end of the last one.
    pub at: [usize; VECTORS + 1],
    pub width: [u8; VECTORS],
    /// The base; for delta packing the least difference.
    pub base: [u64; VECTORS],
    /// The first value of a delta vector, or the offset of the first string of a vector.
    pub first: [u64; VECTORS],
    /// The number of patches before each vector, and the total.
    patch_end: [usize; VECTORS + 1],
}

impl Vectors {
    /// Computes the bit offsets of all vectors from the widths. Returns the end of the last vector.
    pub(super) fn set_bit_offsets(&mut self, n: usize, max_width: u32) -> Result<usize> {
        let mut end = 0;
        for v in 0..n.div_ceil(VECTOR) {
            if u32::from(self.width[v]) > max_width {
                return Err(Error::corrupt("a bit width is larger than its word or its directory allows"));
            }
            self.at[v] = end;
            end += bitpack::packed_len(VECTOR.min(n - v * VECTOR), u32::from(self.width[v]));
            self.at[v + 1] = end;
        }
        Ok(end)
    }

    /// Splits the bits of all vectors off `body` by their widths. Returns the bits and the rest.
    fn split_bits<'a>(&mut self, body: &'a [u8], n: usize, max_width: u32) -> Result<(&'a [u8], &'a [u8])> {
        let end = self.set_bit_offsets(n, max_width)?;
        let (bits, rest) = body.split_at_checked(end).ok_or_else(short_body)?;
        // Only the last vector can be partial, and only a partial vector has unused bits.
        let last = n.div_ceil(VECTOR).saturating_sub(1);
        let n_bits = (n - last * VECTOR) * usize::from(self.width[last]);
        unused_bits::check(&bits[self.at[last]..], n_bits)?;
        Ok((bits, rest))
    }
}

/// Bit-packed vectors with their parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a> {
    pub vectors: &'a Vectors,
    bits: &'a [u8],
    positions: &'a [u8],
    values: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Vectors without patches.
    pub(super) fn plain(vectors: &'a Vectors, bits: &'a [u8]) -> Self {
        Self { vectors, bits, positions: &[], values: &[] }
    }

    pub(crate) fn bits(&self, vector: usize) -> &'a [u8] {
        &self.bits[self.vectors.at[vector]..self.vectors.at[vector + 1]]
    }

    /// The patches of a vector as pairs of position and value bytes.
    pub(crate) fn patches(
        &self,
        vector: usize,
        value_len: usize,
    ) -> impl Iterator<Item = (usize, &'a [u8])> + use<'a> {
        let (first, end) = if self.has_patches() {
            (self.vectors.patch_end[vector], self.vectors.patch_end[vector + 1])
        } else {
            (0, 0)
        };
        let positions = &self.positions[2 * first..2 * end];
        let values = &self.values[value_len * first..value_len * end];
        positions
            .chunks_exact(2)
            .map(|p| usize::from(u16::from_le_bytes([p[0], p[1]])))
            .zip(values.chunks_exact(value_len))
    }

    pub(crate) fn has_patches(&self) -> bool {
        !self.positions.is_empty()
    }
}

/// A little-endian word of up to 8 bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let len = bytes.len().min(8);
    word[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(word)
}

/// Bytes of a packed word for this encoding and type (`docs/format/encodings.md`).
pub(crate) fn word_len(directory: &Directory, of: Layout) -> usize {
    directory.encoding.word_len(of).unwrap_or(4)
}

impl<'a> Page<'a> {
    /// Whether the page is encoded as a constant. All present values are then equal.
    pub fn is_constant(&self) -> bool {
        matches!(self.body, Body::Constant)
    }

    /// Verifies and opens page `index` of a block from its stored bytes. The page may borrow from
    /// `scratch`.
    ///
    /// # Errors
    /// *Corrupt* when the checksum, the codec or any part of the page is wrong.
    pub fn open(
        directory: &Directory,
        of: impl Into<Layout>,
        index: usize,
        stored: &'a [u8],
        codecs: &mut Codecs,
        scratch: &'a mut PageScratch,
    ) -> Result<Self> {
        let PageScratch { payload, values, text, vectors } = scratch;
        let memory = (payload, values, vectors);
        let mut page = Self::verify(directory, of.into(), index, stored, codecs, memory)?;
        if let Body::Symbols { lengths, codes, len } = page.body {
            page.body = Body::Strings { lengths, bytes: expand(codes, len, text)? };
        }
        Ok(page)
    }

    /// As [`open`](Self::open), but leaves FSST codes undecoded for
    /// [`BlockDecoder::write_strings`](crate::BlockDecoder::write_strings).
    ///
    /// # Errors
    /// As [`open`](Self::open), but codes that decode to the wrong length are only found during
    /// decoding.
    pub fn open_packed(
        directory: &Directory,
        of: impl Into<Layout>,
        index: usize,
        stored: &'a [u8],
        codecs: &mut Codecs,
        scratch: &'a mut PageScratch,
    ) -> Result<Self> {
        let PageScratch { payload, values, vectors, .. } = scratch;
        Self::verify(directory, of.into(), index, stored, codecs, (payload, values, vectors))
    }

    fn verify(
        directory: &Directory,
        of: Layout,
        index: usize,
        stored: &'a [u8],
        codecs: &mut Codecs,
        (payload, values, vectors): (&'a mut Vec<u8>, &'a mut Vec<u8>, &'a mut Vectors),
    ) -> Result<Self> {
        let entry =
            directory.pages.get(index).ok_or_else(|| Error::argument("the block has no such page"))?;
        if stored.len() != entry.stored_len as usize || checksum(stored) != entry.checksum {
            return Err(Error::corrupt("the checksum of a page does not match"));
        }
        let bytes: &'a [u8] = if entry.stored_len == entry.payload_len {
            stored
        } else {
            codecs.restore(directory.encoding.codec, stored, entry.payload_len as usize, payload)?;
            payload
        };
        let lens = (entry.n_values as usize, entry.decoded_len as usize);
        let mut page = Self::parse(bytes, directory, of, lens, vectors)?;
        if let (Filter::Shuffle, Body::Raw(bytes)) = (directory.encoding.filter, &mut page.body) {
            if values.len() < bytes.len() {
                fallible::resize(values, bytes.len(), 0, "a page")?;
            }
            let values = &mut values[..bytes.len()];
            if !shuffle::unshuffle(bytes, word_len(directory, of), values) {
                return Err(short_body());
            }
            *bytes = values;
        }
        Ok(page)
    }

    /// Makes a page for a constant block that stores no pages. All `n` values are the constant.
    pub fn constant(n: usize) -> Self {
        Self { n, decoded_len: None, validity: Validity::AllValid, body: Body::Constant }
    }

    fn parse(
        payload: &'a [u8],
        directory: &Directory,
        of: Layout,
        (n, decoded_len): (usize, usize),
        vectors: &'a mut Vectors,
    ) -> Result<Self> {
        if n == 0 || n > PAGE {
            return Err(Error::corrupt("a page has 1 to 8,192 values"));
        }
        let (validity, body) =
            if directory.validity { Validity::parse(payload, n)? } else { (Validity::AllValid, payload) };
        let word_len = word_len(directory, of);
        let exactly = |len: usize| if body.len() == len { Ok(()) } else { Err(short_body()) };
        let body = match directory.encoding.packing {
            Packing::Raw => {
                exactly(if of.physical == Physical::Bool { n.div_ceil(8) } else { n * word_len })?;
                if of.physical == Physical::Bool {
                    unused_bits::check(body, n)?;
                }
                Body::Raw(body)
            }
            Packing::Constant => {
                exactly(0)?;
                Body::Constant
            }
            Packing::BitPacked => Body::Packed(parse_packed(body, directory, of, n, word_len, vectors)?),
            Packing::Delta => {
                let (packed, rest) = parse_delta(body, n, word_len, directory.width, vectors)?;
                if !rest.is_empty() {
                    return Err(short_body());
                }
                Body::Delta(packed)
            }
            Packing::RunLength => Body::Runs(Runs::parse(body, n, u32::from(directory.width))?),
            Packing::Strings => match parse_strings(body, directory, n, vectors)? {
                (lengths, bytes) if bytes.len() == decoded_len => Body::Strings { lengths, bytes },
                _ => return Err(short_body()),
            },
            Packing::Fsst => {
                let (lengths, codes) = parse_strings(body, directory, n, vectors)?;
                Body::Symbols { lengths, codes, len: decoded_len }
            }
        };
        Ok(Self { n, decoded_len: Some(decoded_len), validity, body })
    }

    /// The number of values.
    pub fn n_values(&self) -> usize {
        self.n
    }
}

/// Splits the bases and widths of bit-packed vectors off a body. Returns the rest.
pub(super) fn parse_params<'a>(
    body: &'a [u8],
    directory: &Directory,
    n: usize,
    word_len: usize,
    vectors: &mut Vectors,
) -> Result<&'a [u8]> {
    if !directory.per_vector {
        vectors.base = [directory.base; VECTORS];
        vectors.width = [directory.width; VECTORS];
        return Ok(body);
    }
    let params = n.div_ceil(VECTOR) * (word_len + 1);
    let (params, rest) = body.split_at_checked(params).ok_or_else(short_body)?;
    for (v, param) in params.chunks_exact(word_len + 1).enumerate() {
        vectors.base[v] = word(&param[..word_len]);
        vectors.width[v] = param[word_len];
    }
    Ok(rest)
}

fn parse_packed<'a>(
    body: &'a [u8],
    directory: &Directory,
    of: Layout,
    n: usize,
    word_len: usize,
    vectors: &'a mut Vectors,
) -> Result<Packed<'a>> {
    let n_vectors = n.div_ceil(VECTOR);
    let mut rest = parse_params(body, directory, n, word_len, vectors)?;
    if directory.patches {
        let (counts, after) = rest.split_at_checked(2 * n_vectors).ok_or_else(short_body)?;
        vectors.patch_end[0] = 0;
        for (v, count) in counts.chunks_exact(2).enumerate() {
            let count = usize::from(u16::from_le_bytes([count[0], count[1]]));
            if count > VECTOR.min(n - v * VECTOR) {
                return Err(Error::corrupt("a vector has more patches than values"));
            }
            vectors.patch_end[v + 1] = vectors.patch_end[v] + count;
        }
        rest = after;
    }
    let (bits, rest) = vectors.split_bits(rest, n, 8 * word_len as u32)?;
    let mut packed = Packed::plain(vectors, bits);
    if directory.patches {
        let n_patches = packed.vectors.patch_end[n_vectors];
        let value_len = of.width().ok_or_else(short_body)?;
        (packed.positions, packed.values) = rest.split_at_checked(2 * n_patches).ok_or_else(short_body)?;
        if packed.values.len() != value_len * n_patches {
            return Err(short_body());
        }
        for v in 0..n_vectors {
            let mut least = 0;
            for (at, _) in packed.patches(v, value_len) {
                if at < least || at >= VECTOR.min(n - v * VECTOR) {
                    return Err(Error::corrupt("patches of a vector are not in order"));
                }
                least = at + 1;
            }
        }
    } else if !rest.is_empty() {
        return Err(short_body());
    }
    Ok(packed)
}

fn parse_delta<'a>(
    body: &'a [u8],
    n: usize,
    word_len: usize,
    max_width: u8,
    vectors: &'a mut Vectors,
) -> Result<(Packed<'a>, &'a [u8])> {
    let each = 2 * word_len + 1;
    let (params, rest) = body.split_at_checked(n.div_ceil(VECTOR) * each).ok_or_else(short_body)?;
    for (v, param) in params.chunks_exact(each).enumerate() {
        vectors.first[v] = word(&param[..word_len]);
        vectors.base[v] = word(&param[word_len..2 * word_len]);
        vectors.width[v] = param[2 * word_len];
    }
    let (bits, rest) = vectors.split_bits(rest, n, u32::from(max_width))?;
    Ok((Packed::plain(vectors, bits), rest))
}

/// Decodes FSST codes to `len` bytes in `memory`, which is reused.
pub(crate) fn expand<'s>(codes: &[u8], len: usize, memory: &'s mut Vec<u8>) -> Result<&'s [u8]> {
    // A code stands for at most 8 bytes, so the stored length justifies this allocation.
    if memory.len() < len {
        memory.clear();
        fallible::resize(memory, len, 0, "a page")?;
    }
    fsst::decode(codes, &mut memory[..len])?;
    Ok(&memory[..len])
}

/// Splits the packed lengths of strings off a body. Returns the lengths and the rest.
fn parse_strings<'a>(
    body: &'a [u8],
    directory: &Directory,
    n: usize,
    vectors: &'a mut Vectors,
) -> Result<(Packed<'a>, &'a [u8])> {
    vectors.base = [directory.base; VECTORS];
    vectors.width = [directory.width; VECTORS];
    vectors.first = [0; VECTORS];
    let (starts, rest) = body.split_at_checked(4 * n.div_ceil(VECTOR)).ok_or_else(short_body)?;
    for (v, start) in starts.chunks_exact(4).enumerate() {
        vectors.first[v] = word(start);
    }
    let (bits, rest) = vectors.split_bits(rest, n, 32)?;
    Ok((Packed::plain(vectors, bits), rest))
}

/// The verified payload of a stored dictionary.
///
/// # Errors
/// *Corrupt* when the checksum or the codec is wrong.
pub(crate) fn open_dictionary<'a>(
    directory: &Directory,
    stored: &'a [u8],
    codecs: &mut Codecs,
) -> Result<Cow<'a, [u8]>> {
    let is_plain = check_dictionary(directory, stored)?;
    if is_plain {
        return Ok(Cow::Borrowed(stored));
    }
    let mut payload = Vec::new();
    codecs.restore(
        directory.encoding.codec,
        stored,
        directory.dictionary.payload_len as usize,
        &mut payload,
    )?;
    Ok(Cow::Owned(payload))
}

/// As [`open_dictionary`], for entries of `width` bytes, in memory that is aligned for every word.
///
/// # Errors
/// *Corrupt* when the checksum, the codec or the length is wrong.
pub(crate) fn open_words(
    directory: &Directory,
    stored: &[u8],
    width: usize,
    codecs: &mut Codecs,
) -> Result<Vec<u128>> {
    let is_plain = check_dictionary(directory, stored)?;
    let len = directory.dictionary.payload_len as usize;
    if (directory.n_dictionary as usize).checked_mul(width) != Some(len) {
        return Err(Error::corrupt("the length of a dictionary is not that of its entries"));
    }
    let mut words: Vec<u128> = fallible::defaults(len.div_ceil(16), "a dictionary")?;
    let payload = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut words)[..len];
    if is_plain {
        payload.copy_from_slice(stored);
    } else {
        codecs.restore_into(directory.encoding.codec, stored, payload)?;
    }
    Ok(words)
}

/// Verifies the checksum of a stored dictionary. Returns whether it is stored without a codec.
fn check_dictionary(directory: &Directory, stored: &[u8]) -> Result<bool> {
    let entry = &directory.dictionary;
    if stored.len() != entry.stored_len as usize || checksum(stored) != entry.checksum {
        return Err(Error::corrupt("the checksum of a dictionary does not match"));
    }
    Ok(entry.stored_len == entry.payload_len)
}
