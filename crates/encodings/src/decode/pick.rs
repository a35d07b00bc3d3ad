//! Decodes single values without the vectors around them.

use entasis_format::{Error, Physical, Result, Transform};
use entasis_kernels::{VECTOR, Word, bitpack, gather};

use super::page::{Body, Packed, Page};
use super::{BlockDecoder, Dictionary, bad_code};
use crate::alp::{Decimals, Float};
use crate::short_body;
use crate::words::get;

/// Values per step, whose words are kept on the stack.
const STEP: usize = 64;

impl BlockDecoder<'_> {
    /// Decodes the values at ascending positions of a page of a fixed-width type of up to 8 bytes.
    /// `out` has the length of `at`. Each value is decoded by itself: for few values this costs
    /// less than the whole vectors of [`decode`](Self::decode).
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn pick<T: Word>(&self, page: &Page<'_>, at: &[u16], out: &mut [T]) -> Result<()> {
        let first = at.first().map_or(0, |&first| usize::from(first));
        let end = at.last().map_or(0, |&last| usize::from(last) + 1);
        self.check(page, &(first..end.max(first)), end.max(first) - first)?;
        if at.len() != out.len() || !at.is_sorted() {
            return Err(Error::argument("the positions are not ascending, or not as many as their places"));
        }
        if self.of.physical.width() != Some(size_of::<T>()) {
            return Err(Error::argument("the words asked for are not those of the column's type"));
        }
        for (at, out) in at.chunks(STEP).zip(out.chunks_mut(STEP)) {
            match (self.directory.encoding.transform, self.of.physical) {
                (Transform::None, _) => self.pick_words(page, at, out)?,
                (Transform::Dictionary, _) => self.pick_entries(page, at, out)?,
                (Transform::Alp | Transform::Residual, Physical::F64) => {
                    self.pick_alp(page, at, bytemuck::cast_slice_mut::<T, f64>(out))?;
                }
                (Transform::Alp | Transform::Residual, Physical::F32) => {
                    self.pick_alp(page, at, bytemuck::cast_slice_mut::<T, f32>(out))?;
                }
                _ => return Err(short_body()),
            }
            if let Body::Packed(packed) = &page.body
                && packed.has_patches()
            {
                for (&at, out) in at.iter().zip(out) {
                    if let Some(value) = patched(packed, usize::from(at), size_of::<T>()) {
                        *out = get(value, 0);
                    }
                }
            }
        }
        Ok(())
    }

    /// The words of the packing at these positions.
    fn pick_words<T: Word>(&self, page: &Page<'_>, at: &[u16], out: &mut [T]) -> Result<()> {
        if let Body::Delta(_) = page.body {
            // A delta vector must be decoded from its start, so decode each vector once.
            let (mut vector, mut decoded) = ([T::from_u64(0); VECTOR], usize::MAX);
            for (&at, out) in at.iter().zip(out) {
                let (v, i) = (usize::from(at) / VECTOR, usize::from(at) % VECTOR);
                if v != decoded {
                    let range = v * VECTOR..page.n.min((v + 1) * VECTOR);
                    let len = range.len();
                    self.unpacked(page, range, &mut vector[..len])?;
                    decoded = v;
                }
                *out = vector[i];
            }
            return Ok(());
        }
        for (at, out) in at.iter().zip(out) {
            *out = self.word(page, usize::from(*at))?;
        }
        Ok(())
    }

    fn pick_entries<T: Word>(&self, page: &Page<'_>, at: &[u16], out: &mut [T]) -> Result<()> {
        let Dictionary::Words { values, n } = &self.dictionary else { return Err(bad_code()) };
        let entries: &[T] = &bytemuck::cast_slice(values)[..*n];
        let mut codes = [0u32; STEP];
        let codes = &mut codes[..at.len()];
        self.pick_words(page, at, codes)?;
        if gather::gather(entries, codes, out) { Ok(()) } else { Err(bad_code()) }
    }

    fn pick_alp<F: Float>(&self, page: &Page<'_>, at: &[u16], out: &mut [F]) -> Result<()> {
        let mut ints = [F::Int::from_u64(0); STEP];
        let ints = &mut ints[..at.len()];
        self.pick_words(page, at, ints)?;
        F::decode(ints, Decimals::of(self.directory), out);
        Ok(())
    }

    /// Word `i` of the packing, before any transform.
    pub(super) fn word<T: Word>(&self, page: &Page<'_>, i: usize) -> Result<T> {
        match &page.body {
            Body::Raw(bytes) => {
                let len = size_of::<T>();
                bytes.get(len * i..len * (i + 1)).map(|word| get(word, 0)).ok_or_else(short_body)
            }
            Body::Constant => Ok(T::from_u64(self.directory.base)),
            Body::Packed(packed) => {
                let v = i / VECTOR;
                let n = VECTOR.min(page.n - v * VECTOR);
                let (width, base) = (u32::from(packed.vectors.width[v]), T::from_u64(packed.vectors.base[v]));
                bitpack::unpack_one(packed.bits(v), n, width, base, i % VECTOR).ok_or_else(short_body)
            }
            _ => {
                let mut word = [T::from_u64(0)];
                self.unpacked(page, i..i + 1, &mut word)?;
                Ok(word[0])
            }
        }
    }
}

/// The patch of value `i`, if it has one.
fn patched<'a>(packed: &Packed<'a>, i: usize, value_len: usize) -> Option<&'a [u8]> {
    if !packed.has_patches() {
        return None;
    }
    packed
        .patches(i / VECTOR, value_len)
        .take_while(|(at, _)| *at <= i % VECTOR)
        .find(|(at, _)| *at == i % VECTOR)
        .map(|p| p.1)
}
