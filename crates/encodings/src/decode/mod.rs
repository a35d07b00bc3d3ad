//! Decodes any range of a page into the caller's memory.

mod page;
mod part;
mod pick;
mod strings;

use std::ops::Range;

use entasis_format::{Directory, Error, Layout, Physical, Result, Transform};
use entasis_kernels::{VECTOR, Word, bitpack, bits, gather, sign_extend};

use crate::alp::{Decimals, Float};
use crate::codec::Codecs;
use crate::packing::delta;
use crate::short_body;
use crate::string_dictionary::entries;
use crate::words::get;

use page::{Body, Packed, open_dictionary, open_words};
pub use page::{Page, PageScratch};
pub use part::{ReadPart, can_open_part};
pub use strings::{StringSlice, TextScratch};

/// Decodes the pages of one block.
#[derive(Debug)]
pub struct BlockDecoder<'a> {
    directory: &'a Directory,
    of: Layout,
    dictionary: Dictionary,
}

#[derive(Debug)]
enum Dictionary {
    None,
    /// Words or fixed-width bytes, in memory that is aligned for every word.
    Words {
        values: Vec<u128>,
        n: usize,
    },
    /// Entry i is `bytes[offsets[i]..offsets[i + 1]]`. [`PADDING`](entries::PADDING) zeros follow
    /// the last entry.
    Strings {
        offsets: Vec<u32>,
        bytes: Vec<u8>,
    },
}

fn bad_code() -> Error {
    Error::corrupt("a code is not in the dictionary")
}

impl<'a> BlockDecoder<'a> {
    /// A decoder for the block with this directory. `stored_dictionary` holds the bytes before its
    /// pages, and is empty without a dictionary.
    ///
    /// # Errors
    /// *Corrupt* when the dictionary is damaged.
    pub fn open(
        directory: &'a Directory,
        of: impl Into<Layout>,
        stored_dictionary: &[u8],
        codecs: &mut Codecs,
    ) -> Result<Self> {
        let of = of.into();
        let dictionary = if directory.encoding.transform == Transform::Dictionary {
            let n = directory.n_dictionary as usize;
            match of.width() {
                Some(width) => {
                    Dictionary::Words { values: open_words(directory, stored_dictionary, width, codecs)?, n }
                }
                None => {
                    let payload = open_dictionary(directory, stored_dictionary, codecs)?;
                    let (offsets, bytes) = entries::parse(&payload, n, of.physical)?;
                    Dictionary::Strings { offsets, bytes }
                }
            }
        } else {
            Dictionary::None
        };
        Ok(Self { directory, of, dictionary })
    }

    /// The entries of the dictionary, for a fixed-width type of up to 8 bytes; `None` without a
    /// dictionary.
    pub fn word_entries<T: Word>(&self) -> Option<&[T]> {
        match &self.dictionary {
            Dictionary::Words { values, n } if self.of.physical.width() == Some(size_of::<T>()) => {
                bytemuck::cast_slice(values).get(..*n)
            }
            _ => None,
        }
    }

    /// Whether the block has a dictionary of strings.
    pub fn has_string_entries(&self) -> bool {
        matches!(self.dictionary, Dictionary::Strings { .. })
    }

    /// Decodes the values in `range` of a page of a fixed-width type of up to 8 bytes. `out` has
    /// the length of `range`.
    ///
    /// # Errors
    /// *Corrupt* when the page is damaged; *Argument* when the range, the type or `out` do not fit.
    pub fn decode<T: Word>(&self, page: &Page<'_>, range: Range<usize>, out: &mut [T]) -> Result<()> {
        self.check(page, &range, out.len())?;
        if self.of.physical.width() != Some(size_of::<T>()) {
            return Err(Error::argument("the words asked for are not those of the column's type"));
        }
        if out.len() == 1 {
            return self.pick(page, &[range.start as u16], out);
        }
        match self.directory.encoding.transform {
            Transform::None => {
                self.words(page, range.clone(), out)?;
                self.patch(page, range, out)
            }
            Transform::Dictionary => {
                let Dictionary::Words { values, n } = &self.dictionary else { return Err(bad_code()) };
                let entries: &[T] = bytemuck::cast_slice(values);
                self.look_up(page, range, &entries[..*n], out)
            }
            Transform::Alp | Transform::Residual => self.decode_alp(page, range, out),
        }
    }

    /// Decodes values of 16 bytes.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_wide(&self, page: &Page<'_>, range: Range<usize>, out: &mut [u128]) -> Result<()> {
        self.check(page, &range, out.len())?;
        if self.of.physical.width() != Some(16) {
            return Err(Error::argument("the words asked for are not those of the column's type"));
        }
        if self.directory.encoding.is_narrow(self.of) {
            return self.decode_narrow(page, range, 16, bytemuck::cast_slice_mut(out));
        }
        match (&page.body, &self.dictionary) {
            (_, Dictionary::Words { values, n }) => self.look_up(page, range, &values[..*n], out),
            (Body::Raw(bytes), _) => {
                let bytes = bytes.get(16 * range.start..16 * range.end).ok_or_else(short_body)?;
                bytemuck::cast_slice_mut::<u128, u8>(out).copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(short_body()),
        }
    }

    /// Decodes values of any fixed width as consecutive bytes.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_bytes(&self, page: &Page<'_>, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        let width = self.of.width().ok_or_else(short_body)?;
        self.check(page, &range, range.len())?;
        if range.len().checked_mul(width) != Some(out.len()) {
            return Err(Error::argument("the range is not one of the page's values"));
        }
        if self.directory.encoding.is_narrow(self.of) {
            return self.decode_narrow(page, range, width, out);
        }
        match (&page.body, &self.dictionary) {
            (_, Dictionary::Words { values, n }) => {
                let entries = &bytemuck::cast_slice(values)[..n * width];
                self.look_up_bytes(page, range, (entries, *n, width), out)
            }
            (Body::Raw(bytes), _) => {
                let bytes = bytes.get(width * range.start..width * range.end).ok_or_else(short_body)?;
                out.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(short_body()),
        }
    }

    /// Decodes 64-bit words vector by vector, and sign-extends each word to `width` bytes.
    fn decode_narrow(
        &self,
        page: &Page<'_>,
        range: Range<usize>,
        width: usize,
        out: &mut [u8],
    ) -> Result<()> {
        let mut words = [0u64; VECTOR];
        let mut limbs = [0u64; 4 * VECTOR];
        for (part, out) in parts_of(range, width, out) {
            let words = &mut words[..part.len()];
            self.words(page, part, words)?;
            let limbs = &mut limbs[..out.len() / 8];
            if !sign_extend::extend(words, width, limbs) {
                return Err(short_body());
            }
            out.copy_from_slice(bytemuck::cast_slice(limbs));
        }
        Ok(())
    }

    /// Decodes booleans to one byte each.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_bools(&self, page: &Page<'_>, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        self.check(page, &range, out.len())?;
        match page.body {
            Body::Constant => out.fill(u8::from(self.directory.base == 1)),
            Body::Raw(stored) if let [one] = out => {
                let byte = stored.get(range.start / 8).ok_or_else(short_body)?;
                *one = byte >> (range.start % 8) & 1;
            }
            Body::Raw(stored) if bits::expand_bits(stored, range.start, out) => {}
            _ => return Err(short_body()),
        }
        Ok(())
    }

    /// Decodes booleans to bits, starting at bit `first` of `out`. Other bits of `out` stay
    /// unchanged.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_bool_bits(
        &self,
        page: &Page<'_>,
        range: Range<usize>,
        out: &mut [u8],
        first: usize,
    ) -> Result<()> {
        self.check(page, &range, range.len())?;
        let done = match page.body {
            Body::Constant => bits::set_bits(out, first, range.len(), self.directory.base == 1),
            Body::Raw(stored) => bits::copy_bits(stored, range.start, out, first, range.len()),
            _ => false,
        };
        if done { Ok(()) } else { Err(short_body()) }
    }

    fn check(&self, page: &Page<'_>, range: &Range<usize>, len: usize) -> Result<()> {
        if range.start <= range.end && range.end <= page.n && range.len() == len {
            Ok(())
        } else {
            Err(Error::argument("the range is not one of the page's values"))
        }
    }

    /// The words of the packing before any transform. `T` is at least as wide as the packing's
    /// words.
    fn words<T: Word>(&self, page: &Page<'_>, range: Range<usize>, out: &mut [T]) -> Result<()> {
        if let [word] = out {
            *word = self.word(page, range.start)?;
            return Ok(());
        }
        self.unpacked(page, range, out)
    }

    /// As [`words`](Self::words), by whole vectors.
    fn unpacked<T: Word>(&self, page: &Page<'_>, range: Range<usize>, out: &mut [T]) -> Result<()> {
        match &page.body {
            Body::Raw(bytes) => {
                let len = size_of::<T>();
                let bytes = bytes.get(len * range.start..len * range.end).ok_or_else(short_body)?;
                bytemuck::cast_slice_mut::<T, u8>(out).copy_from_slice(bytes);
                Ok(())
            }
            Body::Constant => {
                out.fill(T::from_u64(self.directory.base));
                Ok(())
            }
            Body::Runs(runs) => {
                let base = T::from_u64(self.directory.base);
                runs.decode(range.start, base, u32::from(self.directory.width), out)
            }
            Body::Packed(packed) => by_vector(page.n, range, out, |v, out| unpack(packed, v, out)),
            Body::Delta(packed) => by_vector(page.n, range, out, |v, out| {
                let (first, least) =
                    (T::from_u64(packed.vectors.first[v]), T::from_u64(packed.vectors.base[v]));
                delta::decode(packed.bits(v), u32::from(packed.vectors.width[v]), first, least, out)
            }),
            Body::Strings { .. } | Body::Symbols { .. } => Err(short_body()),
        }
    }

    /// Overwrites the values that have patches.
    fn patch<T: Word>(&self, page: &Page<'_>, range: Range<usize>, out: &mut [T]) -> Result<()> {
        let Body::Packed(packed) = &page.body else { return Ok(()) };
        if !packed.has_patches() {
            return Ok(());
        }
        for v in range.start / VECTOR..range.end.div_ceil(VECTOR) {
            for (at, value) in packed.patches(v, size_of::<T>()) {
                let at = v * VECTOR + at;
                if range.contains(&at) {
                    out[at - range.start] = get(value, 0);
                }
            }
        }
        Ok(())
    }

    fn look_up<T: bytemuck::Pod>(
        &self,
        page: &Page<'_>,
        range: Range<usize>,
        entries: &[T],
        out: &mut [T],
    ) -> Result<()> {
        if let Body::Constant = page.body {
            let entry = usize::try_from(self.directory.base).ok().and_then(|code| entries.get(code));
            out.fill(*entry.ok_or_else(bad_code)?);
            return Ok(());
        }
        let largest = match &page.body {
            Body::Packed(packed) => largest_code(packed, page.n),
            _ => u64::MAX,
        };
        // Codes are unpacked into the narrowest word that holds them, because unpacking time grows
        // with its width.
        if largest <= u64::from(u8::MAX) {
            self.look_up_by::<T, u8>(page, range, entries, out)
        } else if largest <= u64::from(u16::MAX) {
            self.look_up_by::<T, u16>(page, range, entries, out)
        } else {
            self.look_up_by::<T, u32>(page, range, entries, out)
        }
    }

    fn look_up_by<T: bytemuck::Pod, C: Word>(
        &self,
        page: &Page<'_>,
        range: Range<usize>,
        entries: &[T],
        out: &mut [T],
    ) -> Result<()> {
        let mut codes = [C::from_u64(0); VECTOR];
        for (part, out) in parts(range, out) {
            let codes = &mut codes[..part.len()];
            self.words(page, part, codes)?;
            if !gather::gather(entries, codes, out) {
                return Err(bad_code());
            }
        }
        Ok(())
    }

    fn look_up_bytes(
        &self,
        page: &Page<'_>,
        range: Range<usize>,
        (entries, n, width): (&[u8], usize, usize),
        out: &mut [u8],
    ) -> Result<()> {
        let mut codes = [0u32; VECTOR];
        for (part, out) in parts_of(range, width, out) {
            let codes = &mut codes[..part.len()];
            self.words(page, part, codes)?;
            if !gather::check_codes(codes, n) {
                return Err(bad_code());
            }
            // With a width of 0 the codes need no copy.
            for (out, &code) in out.chunks_exact_mut(width.max(1)).zip(&*codes) {
                let at = code as usize * width;
                out.copy_from_slice(&entries[at..at + width]);
            }
        }
        Ok(())
    }

    fn decode_alp<T: Word>(&self, page: &Page<'_>, range: Range<usize>, out: &mut [T]) -> Result<()> {
        match self.of.physical {
            Physical::F64 => self.alp_parts(page, range.clone(), bytemuck::cast_slice_mut::<T, f64>(out))?,
            Physical::F32 => self.alp_parts(page, range.clone(), bytemuck::cast_slice_mut::<T, f32>(out))?,
            _ => return Err(short_body()),
        }
        self.patch(page, range, out)
    }

    fn alp_parts<F: Float>(&self, page: &Page<'_>, range: Range<usize>, out: &mut [F]) -> Result<()> {
        let by = Decimals::of(self.directory);
        let mut ints = [F::Int::from_u64(0); VECTOR];
        for (part, out) in parts(range, out) {
            if let Body::Packed(packed) = &page.body {
                let v = part.start / VECTOR;
                let (width, base) = (u32::from(packed.vectors.width[v]), packed.vectors.base[v]);
                if F::unpack(packed.bits(v), width, base, by, out) {
                    continue;
                }
            }
            let ints = &mut ints[..part.len()];
            self.words(page, part, ints)?;
            F::decode(ints, by, out);
        }
        Ok(())
    }
}

/// The largest code that these vectors can hold.
fn largest_code(packed: &Packed<'_>, n: usize) -> u64 {
    (0..n.div_ceil(VECTOR))
        .map(|v| {
            let ones = 1u64.checked_shl(u32::from(packed.vectors.width[v])).map_or(u64::MAX, |top| top - 1);
            packed.vectors.base[v].saturating_add(ones)
        })
        .max()
        .unwrap_or(0)
}

fn unpack<T: Word>(packed: &Packed<'_>, vector: usize, out: &mut [T]) -> Result<()> {
    let width = u32::from(packed.vectors.width[vector]);
    if bitpack::unpack(packed.bits(vector), width, T::from_u64(packed.vectors.base[vector]), out) {
        Ok(())
    } else {
        Err(short_body())
    }
}

/// Splits a range and `out` at the borders of vectors.
fn parts<T>(range: Range<usize>, out: &mut [T]) -> impl Iterator<Item = (Range<usize>, &mut [T])> {
    parts_of(range, 1, out)
}

/// As [`parts`], for values that take `width` elements of `out`.
fn parts_of<T>(
    range: Range<usize>,
    width: usize,
    mut out: &mut [T],
) -> impl Iterator<Item = (Range<usize>, &mut [T])> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start >= range.end {
            return None;
        }
        let end = ((start / VECTOR + 1) * VECTOR).min(range.end);
        let (part, rest) = std::mem::take(&mut out).split_at_mut((end - start) * width);
        out = rest;
        let item = (start..end, part);
        start = end;
        Some(item)
    })
}

/// Decodes whole vectors: straight into `out` if the range covers them, else through scratch
/// memory.
fn by_vector<T: Word>(
    n: usize,
    range: Range<usize>,
    out: &mut [T],
    mut vector: impl FnMut(usize, &mut [T]) -> Result<()>,
) -> Result<()> {
    for (part, out) in parts(range, out) {
        let v = part.start / VECTOR;
        let len = VECTOR.min(n - v * VECTOR);
        if part.len() == len {
            vector(v, out)?;
        } else {
            let mut scratch = [T::from_u64(0); VECTOR];
            vector(v, &mut scratch[..len])?;
            let skip = part.start - v * VECTOR;
            out.copy_from_slice(&scratch[skip..skip + part.len()]);
        }
    }
    Ok(())
}
