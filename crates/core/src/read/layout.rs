//! Strings in memory, in the layouts of Arrow.

use std::ops::Range;

use entasis_format::{Error, Result, fallible};
use entasis_kernels::Word;
use entasis_platform::{Buffer, Buffers};

use super::alloc::{STRINGS, too_many};
use crate::distinct_strings::DistinctStrings;
use crate::keep::{keep_strings, keep_values};

/// Views hold strings of up to this many bytes inline.
const INLINE: usize = 12;

/// The layout of strings in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextLayout {
    /// Offsets of 32 bits, or of 64 bits if the strings have 2 GiB or more in total.
    Small,
    /// Offsets of 64 bits.
    #[default]
    Large,
    /// Views of 16 bytes.
    Views,
    /// Codes of 32 bits, which number the [distinct](Text::distinct) strings.
    Codes,
}

/// Strings in one of the layouts of Arrow.
#[derive(Debug, Default)]
pub struct Text {
    /// Before reading, the wanted layout. After reading, the actual layout.
    pub layout: TextLayout,
    /// `n + 1` offsets into the bytes, `n` views, or `n` codes; empty without strings.
    pub offsets: Buffer,
    /// The bytes of all strings in one buffer, or the first buffers of the views.
    pub bytes: Vec<Buffer>,
    /// Dictionaries of blocks with repeated strings. Views number them after `bytes`.
    pub dictionaries: Vec<Buffer>,
    /// For codes: the strings that they number, each once, with offsets.
    pub distinct: Option<Box<Self>>,
    /// Whether the memory is freed soon ([`Buffers::scratch`]).
    pub is_scratch: bool,
}

fn zeroed(len: Option<usize>, memory: &mut Buffers) -> Result<Buffer> {
    let len = len.unwrap_or(usize::MAX);
    memory.zeroed(len).ok_or_else(|| Error::out_of_memory(len, STRINGS))
}

/// Ends or views to fill, the buffers of bytes, and the list for dictionaries.
pub(super) type Reserved<'a> = (Ends<'a>, &'a mut [Buffer], &'a mut Vec<Buffer>);

/// Views to fill, and the lists for buffers of bytes and for dictionaries.
pub(super) type ReservedViews<'a> = (&'a mut [u128], &'a mut Vec<Buffer>, &'a mut Vec<Buffer>);

/// The part of the ends, or views, that a task fills.
pub(super) enum Ends<'a> {
    Small(&'a mut [u32]),
    Large(&'a mut [u64]),
    Views(&'a mut [u128]),
    Codes(&'a mut [u32]),
}

impl<'a> Ends<'a> {
    /// Takes those of the first `n` strings off. There must be as many.
    pub(super) fn take(&mut self, n: usize) -> Self {
        fn head<'a, T>(all: &mut &'a mut [T], n: usize) -> &'a mut [T] {
            let (head, tail) = std::mem::take(all).split_at_mut(n);
            *all = tail;
            head
        }
        match self {
            Self::Small(ends) => Self::Small(head(ends, n)),
            Self::Large(ends) => Self::Large(head(ends, n)),
            Self::Views(views) => Self::Views(head(views, n)),
            Self::Codes(codes) => Self::Codes(head(codes, n)),
        }
    }
}

impl Text {
    /// No strings yet, for a layout.
    pub fn new(layout: TextLayout) -> Self {
        Self { layout, ..Self::default() }
    }

    /// The bytes of all strings, in a layout with offsets.
    pub fn joined(&self) -> &[u8] {
        self.bytes.first().map_or(&[], |bytes| bytes)
    }

    /// The bytes of string `i`, in any layout; none when `i` is out of range.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        let part = |bytes: &'_ [u8], i: usize, len: usize| -> Option<u64> {
            let bytes = bytes.get(i.checked_mul(len)?..)?.get(..len)?;
            let mut word = [0; 8];
            word[..len].copy_from_slice(bytes);
            Some(u64::from_le_bytes(word))
        };
        let to_usize = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
        let len = match self.layout {
            TextLayout::Small => 4,
            TextLayout::Large => 8,
            TextLayout::Views => {
                let view = self.offsets.get(i.checked_mul(16)?..)?.get(..16)?;
                let len = to_usize(part(view, 0, 4))?;
                if len <= INLINE {
                    return view.get(4..4 + len);
                }
                let buffers = self.bytes.iter().chain(&self.dictionaries);
                let (number, at) = (to_usize(part(view, 2, 4))?, to_usize(part(view, 3, 4))?);
                return buffers.into_iter().nth(number)?.get(at..at.checked_add(len)?);
            }
            TextLayout::Codes => {
                let code = to_usize(part(&self.offsets, i, 4))?;
                return self.distinct.as_ref().filter(|of| of.layout != TextLayout::Codes)?.get(code);
            }
        };
        self.joined().get(to_usize(part(&self.offsets, i, len))?..to_usize(part(&self.offsets, i + 1, len))?)
    }

    /// Moves the strings in these runs, ranges of ascending positions, before all others.
    ///
    /// # Errors
    /// *Argument* if a run is not among the strings.
    pub fn keep(&mut self, runs: &[Range<usize>]) -> Result<()> {
        if self.offsets.is_empty() && runs.is_empty() {
            return Ok(());
        }
        match self.layout {
            TextLayout::Views => keep_values(&mut self.offsets, 16, runs),
            TextLayout::Codes => keep_values(&mut self.offsets, 4, runs),
            TextLayout::Small | TextLayout::Large => {
                let bytes: &mut [u8] = self.bytes.first_mut().map_or(&mut [], |bytes| bytes);
                if self.layout == TextLayout::Small {
                    keep_strings::<u32>(bytemuck::cast_slice_mut(&mut self.offsets), bytes, runs)
                } else {
                    keep_strings::<u64>(bytemuck::cast_slice_mut(&mut self.offsets), bytes, runs)
                }
            }
        }
    }

    /// Allocates memory for `n` strings in buffers of these lengths. Only views may have several
    /// buffers, and codes need none.
    pub(super) fn reserve(&mut self, n: usize, lens: &[usize], memory: &mut Buffers) -> Result<Reserved<'_>> {
        if self.layout == TextLayout::Small && lens.iter().any(|&len| i32::try_from(len).is_err()) {
            self.layout = TextLayout::Large;
        }
        let n_offsets = n.checked_add(1).ok_or_else(too_many)?;
        let len = match self.layout {
            TextLayout::Small => n_offsets.checked_mul(4),
            TextLayout::Large => n_offsets.checked_mul(8),
            TextLayout::Views => n.checked_mul(16),
            TextLayout::Codes => n.checked_mul(4),
        };
        self.offsets = zeroed(len, memory)?;
        self.bytes = fallible::try_collect(lens.iter().map(|&len| zeroed(Some(len), memory)), STRINGS)?;
        let ends = match self.layout {
            TextLayout::Small => Ends::Small(&mut bytemuck::cast_slice_mut(&mut self.offsets)[1..]),
            TextLayout::Large => Ends::Large(&mut bytemuck::cast_slice_mut(&mut self.offsets)[1..]),
            TextLayout::Views => Ends::Views(bytemuck::cast_slice_mut(&mut self.offsets)),
            TextLayout::Codes => Ends::Codes(bytemuck::cast_slice_mut(&mut self.offsets)),
        };
        Ok((ends, &mut self.bytes, &mut self.dictionaries))
    }

    /// Allocates memory for `n` views. Their buffers are added later.
    pub(super) fn reserve_views(&mut self, n: usize, memory: &mut Buffers) -> Result<ReservedViews<'_>> {
        self.offsets = zeroed(n.checked_mul(16), memory)?;
        self.bytes.clear();
        Ok((bytemuck::cast_slice_mut(&mut self.offsets), &mut self.bytes, &mut self.dictionaries))
    }

    /// Sets the strings that codes number.
    pub(super) fn set_distinct(&mut self, strings: &DistinctStrings) -> Result<()> {
        let (n, len) = (strings.len(), strings.bytes().len());
        let mut of = Self::new(TextLayout::Small);
        let (ends, buffers, _) = of.reserve(n, &[len], &mut Buffers::default())?;
        buffers[0].copy_from_slice(strings.bytes());
        match ends {
            Ends::Small(ends) => {
                ends.iter_mut().zip(strings.ends()).for_each(|(out, &end)| *out = end as u32);
            }
            Ends::Large(ends) => {
                ends.iter_mut().zip(strings.ends()).for_each(|(out, &end)| *out = end as u64);
            }
            Ends::Views(_) | Ends::Codes(_) => {}
        }
        self.distinct = Some(Box::new(of));
        Ok(())
    }

    /// Builds the strings from parts of `bytes`, given as start and length.
    pub(super) fn assemble(
        &mut self,
        bytes: &[u8],
        spans: impl ExactSizeIterator<Item = (usize, u32)> + Clone,
    ) -> Result<()> {
        const MOST: usize = i32::MAX as usize;
        if self.layout == TextLayout::Codes {
            return self.assemble_codes(bytes, spans);
        }
        let mut lens = vec![0usize];
        for (_, len) in spans.clone() {
            let last = lens.len() - 1;
            match lens[last].checked_add(len as usize).ok_or_else(too_many)? {
                sum if self.layout == TextLayout::Views && sum > MOST => {
                    fallible::push(&mut lens, len as usize, STRINGS)?
                }
                sum => lens[last] = sum,
            }
        }
        let (ends, buffers, _) = self.reserve(spans.len(), &lens, &mut Buffers::default())?;
        let (mut number, mut at) = (0, 0);
        let mut put = |(start, len): (usize, u32)| {
            let len = len as usize;
            if at + len > buffers[number].len() {
                (number, at) = (number + 1, 0);
            }
            let value = &bytes[start..start + len];
            buffers[number][at..at + len].copy_from_slice(value);
            at += len;
            (view(value, 0, number as u32, (at - len) as u32), at)
        };
        match ends {
            Ends::Small(ends) => ends.iter_mut().zip(spans).for_each(|(end, span)| *end = put(span).1 as u32),
            Ends::Large(ends) => ends.iter_mut().zip(spans).for_each(|(end, span)| *end = put(span).1 as u64),
            Ends::Views(views) => views.iter_mut().zip(spans).for_each(|(view, span)| *view = put(span).0),
            Ends::Codes(_) => {}
        }
        Ok(())
    }

    fn assemble_codes(
        &mut self,
        bytes: &[u8],
        spans: impl ExactSizeIterator<Item = (usize, u32)>,
    ) -> Result<()> {
        let mut strings = DistinctStrings::default();
        let (ends, _, _) = self.reserve(spans.len(), &[], &mut Buffers::default())?;
        if let Ends::Codes(codes) = ends {
            for (out, (start, len)) in codes.iter_mut().zip(spans) {
                *out = strings.code(&bytes[start..start + len as usize])?;
            }
        }
        self.set_distinct(&strings)
    }
}

/// The view of the string `bytes[at..]`, which is at `offset` of buffer `buffer`.
fn view(bytes: &[u8], at: usize, buffer: u32, offset: u32) -> u128 {
    let value = &bytes[at..];
    let mut head = [0; 16];
    let len = value.len().min(16);
    head[..len].copy_from_slice(&value[..len]);
    view_of(u128::from_le_bytes(head), value.len(), buffer, offset)
}

/// The view of a string that begins with `head`. Ignores bytes of `head` after the end of a short
/// string.
#[inline]
fn view_of(head: u128, len: usize, buffer: u32, offset: u32) -> u128 {
    if len <= INLINE {
        let head = head & ((1 << (8 * len)) - 1);
        head << 32 | len as u128
    } else {
        u128::from(offset) << 96 | u128::from(buffer) << 64 | (head & 0xFFFF_FFFF) << 32 | len as u128
    }
}

/// The views of consecutive strings in `bytes` with these lengths. The strings begin at `offset` of
/// buffer `buffer`.
pub(super) fn views(bytes: &[u8], lengths: &[u32], buffer: u32, offset: u32, out: &mut [u128]) {
    let mut at = 0;
    for (out, &len) in out.iter_mut().zip(lengths) {
        let (len, offset) = (len as usize, offset.wrapping_add(at as u32));
        *out = match bytes[at..].first_chunk::<16>() {
            Some(head) => view_of(u128::from_le_bytes(*head), len, buffer, offset),
            None => view(&bytes[..at + len], at, buffer, offset),
        };
        at += len;
    }
}

/// The ends of consecutive strings with these lengths. The first begins at `first`.
pub(super) fn sum<O: Word>(lengths: &[u32], first: O, ends: &mut [O]) {
    let mut end = first;
    for (out, &length) in ends.iter_mut().zip(lengths) {
        end = end.wrapping_add(O::from_u64(length.into()));
        *out = end;
    }
}

/// Whether any of these strings is too long to fit inside its view.
pub(super) fn any_outside(lengths: impl Iterator<Item = u32>) -> bool {
    lengths.max().is_some_and(|longest| longest as usize > INLINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_what_they_were_in_every_layout() {
        let bytes = b"xxentasisa string of 22 bytesyy";
        let spans = [(2, 7), (9, 0), (9, 20), (2, 12), (2, 13), (0, 1)];
        let expected: Vec<&[u8]> = spans.iter().map(|&(at, len)| &bytes[at..at + len as usize]).collect();
        for layout in [TextLayout::Small, TextLayout::Large, TextLayout::Views, TextLayout::Codes] {
            let mut text = Text::new(layout);
            text.assemble(bytes, spans.into_iter()).unwrap();
            assert_eq!(text.layout, layout);
            let got: Vec<&[u8]> = (0..spans.len()).map(|i| text.get(i).unwrap()).collect();
            assert_eq!(got, expected);
            assert!(text.get(spans.len()).is_none() && text.get(usize::MAX).is_none());
            text.keep(&[1..2, 3..6]).unwrap();
            let kept: Vec<&[u8]> = (0..4).map(|i| text.get(i).unwrap()).collect();
            assert_eq!(kept, [expected[1], expected[3], expected[4], expected[5]]);
            assert!(text.keep(std::slice::from_ref(&(5..70))).is_err());
        }
    }

    #[test]
    fn views_are_those_of_arrow() {
        let mut text = Text::new(TextLayout::Views);
        text.assemble(b"short and longer than twelve", [(0, 5), (10, 18)].into_iter()).unwrap();
        assert_eq!(text.offsets[..16], *b"\x05\0\0\0short\0\0\0\0\0\0\0");
        assert_eq!(text.offsets[16..], *b"\x12\0\0\0long\0\0\0\0\x05\0\0\0");
    }

    #[test]
    fn neighbours_have_the_views_of_single_strings() {
        let bytes: Vec<u8> = (0..200).collect();
        let lengths = [0, 1, 12, 13, 40, 16, 100, 11, 7];
        let mut out = vec![0; lengths.len()];
        views(&bytes, &lengths, 3, 1000, &mut out);
        let mut at = 0;
        for (&len, &got) in lengths.iter().zip(&out) {
            let end = at + len as usize;
            assert_eq!(got, view(&bytes[..end], at, 3, 1000 + at as u32));
            at = end;
        }
    }
}
