//! Strings that were read, in the memory of the reader.

use entasis::{Buffer, Error, Result, Text, TextLayout};

use super::{Strings, parallel};

/// Longest string that a view holds inline.
const INLINE: usize = 12;

/// The strings of a column as 16-byte views or with offsets of 64 bits, and their validity.
pub struct StoredText {
    n: usize,
    text: Text,
    validity: Option<Buffer>,
}

impl StoredText {
    /// Strings that were made elsewhere.
    pub fn of(n: usize, text: Text, validity: Option<Buffer>) -> Self {
        Self { n, text, validity }
    }

    /// Room for `n` strings; `None` without enough memory.
    pub fn new(n: usize, has_missing: bool, layout: TextLayout) -> Option<Self> {
        let validity = if has_missing { Some(Buffer::zeroed(n.div_ceil(8))?) } else { None };
        Some(Self { n, text: Text::new(layout), validity })
    }

    /// The memory that the reader fills.
    pub fn parts(&mut self) -> (&mut Text, Option<&mut [u8]>) {
        (&mut self.text, self.validity.as_deref_mut())
    }

    /// The buffer with the number that views use.
    fn buffer(&self, i: usize) -> Option<&Buffer> {
        let n = self.text.bytes.len();
        if i < n { self.text.bytes.get(i) } else { self.text.dictionaries.get(i - n) }
    }

    /// The bytes of string `i` of a column with views, which may be missing.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        let view = self.text.offsets.as_chunks::<16>().0.get(i)?;
        let word =
            |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]) as usize;
        let len = word(0);
        if len <= INLINE {
            return view.get(4..4 + len);
        }
        self.buffer(word(8))?.get(word(12)..)?.get(..len)
    }

    /// Checks that there is a string for each row. Strings of R end at the first zero byte, so text
    /// must contain none.
    pub fn check(&self, are_text: bool) -> Result<()> {
        let is_short = match self.text.layout {
            TextLayout::Views => self.text.offsets.as_chunks::<16>().0.len() < self.n,
            TextLayout::Large => self.text.offsets.as_chunks::<8>().0.len() < self.n.saturating_add(1),
            TextLayout::Small | TextLayout::Codes => {
                return Err(Error::argument("strings with offsets of 32 bits, or codes"));
            }
        };
        if is_short && self.n > 0 {
            return Err(Error::corrupt("there are fewer strings than rows"));
        }
        if !are_text {
            return Ok(());
        }
        let buffers = || self.text.bytes.iter().chain(&self.text.dictionaries);
        let has_zero_in = |buffer: &Buffer| {
            parallel::parts(buffer.len(), |range| buffer[range].contains(&0)).contains(&true)
        };
        let outside = buffers().any(has_zero_in);
        if self.text.layout == TextLayout::Large {
            return if outside { Err(zero_character()) } else { Ok(()) };
        }
        let has_zero = |i: usize, view: &[u8; 16]| {
            let len = usize::from(view[0]);
            if view[1..4] == [0; 3] && len <= INLINE {
                // The mask skips the zero bytes after a short string.
                let bytes = u128::from_le_bytes(*view) >> 32 | u128::MAX << (8 * len);
                const ONES: u128 = u128::MAX / 255;
                return bytes.wrapping_sub(ONES) & !bytes & (ONES << 7) != 0;
            }
            outside && self.get(i).is_some_and(|bytes| bytes.contains(&0))
        };
        let views = self.text.offsets.as_chunks::<16>().0;
        let found = parallel::parts(views.len(), |range| {
            let start = range.start;
            views[range].iter().enumerate().any(|(i, view)| has_zero(start + i, view))
        });
        if found.contains(&true) { Err(zero_character()) } else { Ok(()) }
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The views of all strings: equal views are equal strings.
    pub fn views(&self) -> &[u8] {
        &self.text.offsets
    }

    /// One bit for each string, 1 for a present one; `None` if all are.
    pub fn validity(&self) -> Option<&[u8]> {
        self.validity.as_deref()
    }

    /// The strings with offsets of 64 bits, in the model of R's values.
    ///
    /// # Errors
    /// *Out of memory*, *text*.
    pub fn into_strings(self) -> Result<Strings> {
        if self.n == 0 {
            return Ok(Strings::default());
        }
        let offsets = bytemuck::pod_collect_to_vec(&self.text.offsets[..8 * (self.n + 1)]);
        let bytes = self.text.joined().to_vec();
        let validity = self.validity.as_deref().map(<[u8]>::to_vec).unwrap_or_default();
        Strings::from_parts(offsets, bytes, validity)
    }

    /// Byte strings with offsets of 64 bits: the bytes of each, `None` for a missing one.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.n).map(|i| {
            let is_present = self.validity().is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
            if is_present { self.text.get(i) } else { None }
        })
    }
}

#[cold]
fn zero_character() -> Error {
    Error::unsupported("a string has a zero character, which strings of R can't have")
        .advise("read other columns")
}
