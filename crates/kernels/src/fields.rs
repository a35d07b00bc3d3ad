//! Finds the ends of fields and rows in separated text, 64 bytes at a time.
//!
//! Each byte of 64 becomes a bit of a mask: separators, line ends, quotes. The exclusive-or of all
//! quote bits before a byte says whether the byte is quoted, so a doubled quote needs no rule of
//! its own. The method is that of simdjson (Langdale and Lemire, *Parsing gigabytes of JSON per
//! second*, 2019), as simdcsv applied it to CSV.
//!
//! It holds for *regular* text: an opening quote is the first byte of a field, a closing one the
//! last, and a `\n` follows each `\r`. [`survey`] finds out whether a text is regular.

#[cfg(target_arch = "x86_64")]
mod x86;

/// The bytes with a meaning.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// The byte between fields.
    pub separator: u8,
    /// The byte around quoted fields.
    pub quote: Option<u8>,
}

/// The properties of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Whether [`index`] finds the right ends.
    pub is_regular: bool,
    /// The offset after the last line end outside of quotes, 0 if there is none.
    pub last_end: usize,
    /// Whether the text ends inside quotes.
    pub is_open: bool,
}

/// Which of 64 bytes are what, least significant bit first.
#[derive(Clone, Copy, Default)]
struct Masks {
    separator: u64,
    line_feed: u64,
    carriage_return: u64,
    quote: u64,
}

/// Makes masks of 64 bytes.
trait Compare: Copy {
    fn masks(self, bytes: &[u8; 64]) -> Masks;
}

/// Appends the ends of fields that `mask` has, plus one and plus `base`. `out` has room for 64.
trait Emit: Copy {
    fn emit(self, mask: u64, base: u32, out: &mut [u32; 64]);
}

/// Compares bytes with plain arithmetic.
#[derive(Clone, Copy)]
struct Plain(Marks);

impl Compare for Plain {
    #[inline(always)]
    fn masks(self, bytes: &[u8; 64]) -> Masks {
        let mask = |wanted: u8| {
            let mut mask = 0u64;
            for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
                let differs = u64::from_le_bytes(*eight) ^ u64::from_le_bytes([wanted; 8]);
                // The top bit of each byte says whether any bit was set; the product gathers them.
                let low = (differs & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f;
                let zeros = !(low | differs) >> 7 & 0x0101_0101_0101_0101;
                mask |= (zeros.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
            }
            mask
        };
        Masks {
            separator: mask(self.0.separator),
            line_feed: mask(b'\n'),
            carriage_return: mask(b'\r'),
            quote: self.0.quote.map_or(0, mask),
        }
    }
}

/// Writes eight ends at a time, as many as there may be.
#[derive(Clone, Copy)]
struct Eights;

impl Emit for Eights {
    #[inline(always)]
    fn emit(self, mut mask: u64, base: u32, out: &mut [u32; 64]) {
        for eight in out.as_chunks_mut::<8>().0 {
            if mask == 0 {
                return;
            }
            for end in eight {
                // Past the last bit this writes 65, which the caller ignores.
                *end = base + mask.trailing_zeros() + 1;
                mask &= mask.wrapping_sub(1);
            }
        }
    }
}

/// The bits before and at each quote: 1 where an odd number of quotes is at or before the bit.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// All ones if the text before is inside quotes, else zero.
#[derive(Clone, Copy, Default)]
struct Quoted(u64);

impl Quoted {
    /// The bytes that are inside quotes, opening quotes included.
    #[inline(always)]
    fn next(&mut self, quote: u64) -> u64 {
        if quote == 0 {
            return self.0;
        }
        let inside = prefix_xor(quote) ^ self.0;
        self.0 = ((inside as i64) >> 63) as u64;
        inside
    }
}

/// The bits that follow a bit of `bits`, and a carry to the next 64 bytes.
#[inline(always)]
fn after(bits: u64, carry: &mut u64) -> u64 {
    let following = bits << 1 | *carry;
    *carry = bits >> 63;
    following
}

/// Calls `take` of a state with each 64 bytes, their offset, and which of them are there. The last
/// bytes may be none.
macro_rules! for_each_64 {
    ($text:ident, $state:ident) => {
        let (blocks, rest) = $text.as_chunks::<64>();
        for (i, bytes) in blocks.iter().enumerate() {
            $state.take(bytes, 64 * i, u64::MAX);
        }
        let mut padded = [0; 64];
        padded[..rest.len()].copy_from_slice(rest);
        $state.take(&padded, 64 * blocks.len(), (1 << rest.len()) - 1);
    };
}

/// Finds the digits among bytes.
trait Digits: Copy {
    /// The bits of the digits among 64 bytes.
    fn digits(self, bytes: &[u8; 64]) -> u64;
}

/// Compares bytes with plain arithmetic.
#[derive(Clone, Copy)]
struct PlainDigits;

impl Digits for PlainDigits {
    #[inline(always)]
    fn digits(self, bytes: &[u8; 64]) -> u64 {
        let mut mask = 0u64;
        for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let value = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
            // The top bit of each byte says whether the value is above 9.
            let above = (value & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676;
            let ones = !(above | value) >> 7 & 0x0101_0101_0101_0101;
            mask |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
        }
        mask
    }
}

#[inline(always)]
fn digits_with<D: Digits>(digits: D, text: &[u8], out: &mut Vec<u64>) {
    let (blocks, rest) = text.as_chunks::<64>();
    out.reserve(blocks.len() + 1);
    // A closure would not get the features of the caller, and calls of intrinsics would stay calls.
    for bytes in blocks {
        out.push(digits.digits(bytes));
    }
    let mut padded = [0; 64];
    padded[..rest.len()].copy_from_slice(rest);
    out.push(digits.digits(&padded));
}

/// Replaces `out` by one bit for each byte of a text, the lowest first: whether it is an ASCII
/// digit. At least one bit follows that is 0.
pub fn digits(text: &[u8], out: &mut Vec<u64>) {
    out.clear();
    #[cfg(target_arch = "x86_64")]
    x86::digits(text, out);
    #[cfg(not(target_arch = "x86_64"))]
    digits_with(PlainDigits, text, out);
}

/// A survey in progress.
struct Surveyor<C> {
    compare: C,
    quoted: Quoted,
    irregular: u64,
    last_end: usize,
    /// Whether the next byte may open a quoted field, has to end one, has to be a line feed.
    may_open: u64,
    must_end: u64,
    must_feed: u64,
}

impl<C: Compare> Surveyor<C> {
    // Inlined into functions that have the instructions of `C`.
    #[inline(always)]
    fn take(&mut self, bytes: &[u8; 64], at: usize, valid: u64) {
        let masks = self.compare.masks(bytes);
        let inside = self.quoted.next(masks.quote);
        let closing = masks.quote & !inside;
        let ends = masks.separator | masks.line_feed;
        let opens = after(ends & !inside | closing, &mut self.may_open);
        self.irregular |= masks.quote & inside & !opens;
        let closes = ends | masks.carriage_return | masks.quote;
        // Any byte may follow the last one.
        self.irregular |= after(closing, &mut self.must_end) & !closes & valid;
        self.irregular |= after(masks.carriage_return & !inside, &mut self.must_feed) & !masks.line_feed;
        let row_ends = masks.line_feed & !inside;
        if row_ends != 0 {
            self.last_end = at + 64 - row_ends.leading_zeros() as usize;
        }
    }
}

#[inline(always)]
fn survey_with(compare: impl Compare, text: &[u8]) -> Survey {
    let (quoted, irregular, last_end) = (Quoted::default(), 0, 0);
    // The first byte begins a field.
    let mut surveyor =
        Surveyor { compare, quoted, irregular, last_end, may_open: 1, must_end: 0, must_feed: 0 };
    for_each_64!(text, surveyor);
    let Surveyor { quoted, irregular, last_end, .. } = surveyor;
    Survey { is_regular: irregular == 0, last_end, is_open: quoted.0 != 0 }
}

/// An index in progress.
struct Indexer<'a, C, E> {
    compare: C,
    emit: E,
    quoted: Quoted,
    n_rows: usize,
    /// The ends so far, and their number.
    out: &'a mut Vec<u32>,
    n: usize,
}

impl<C: Compare, E: Emit> Indexer<'_, C, E> {
    // Inlined into functions that have the instructions of `C` and `E`.
    #[inline(always)]
    fn take(&mut self, bytes: &[u8; 64], at: usize, valid: u64) {
        let masks = self.compare.masks(bytes);
        let inside = self.quoted.next(masks.quote);
        let line_feeds = masks.line_feed & !inside & valid;
        let ends = (masks.separator & !inside & valid) | line_feeds;
        self.n_rows += line_feeds.count_ones() as usize;
        if self.out.len() < self.n + 64 {
            grow(self.out, self.n + 64);
        }
        if let Some(room) = self.out[self.n..].first_chunk_mut() {
            self.emit.emit(ends, at as u32, room);
        }
        self.n += ends.count_ones() as usize;
    }
}

#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u32>, least: usize) {
    out.resize(least.max(2 * out.len()).max(1024), 0);
}

#[inline(always)]
fn index_with(compare: impl Compare, emit: impl Emit, text: &[u8], out: &mut Vec<u32>) -> usize {
    let n = out.len();
    let mut indexer = Indexer { compare, emit, quoted: Quoted::default(), n_rows: 0, out, n };
    for_each_64!(text, indexer);
    let Indexer { n_rows, n, .. } = indexer;
    out.truncate(n);
    n_rows
}

/// Whether a text is regular, and where its last row ends. The text begins at the start of a row.
///
/// ```
/// use entasis_kernels::fields::{Marks, Survey, survey};
///
/// let marks = Marks { separator: b',', quote: Some(b'"') };
/// let text = b"a,\"x\ny\"\nb,\"z";
/// assert_eq!(survey(text, marks), Survey { is_regular: true, last_end: 8, is_open: true });
/// assert!(!survey(b"a\"b,c\n", marks).is_regular);
/// ```
pub fn survey(text: &[u8], marks: Marks) -> Survey {
    #[cfg(target_arch = "x86_64")]
    return x86::survey(text, marks);
    #[cfg(not(target_arch = "x86_64"))]
    survey_with(Plain(marks), text)
}

/// Appends the offset after each separator and each line feed outside of quotes to `out`, and
/// returns the number of line feeds among them. The text is regular, begins at the start of a row,
/// and is shorter than 4 GiB: other texts give offsets without meaning.
///
/// ```
/// use entasis_kernels::fields::{Marks, index};
///
/// let mut ends = vec![0];
/// let marks = Marks { separator: b',', quote: Some(b'"') };
/// assert_eq!(index(b"a,\"x,y\"\n1,2\n", marks, &mut ends), 2);
/// assert_eq!(ends, [0, 2, 8, 10, 12]);
/// ```
pub fn index(text: &[u8], marks: Marks, out: &mut Vec<u32>) -> usize {
    #[cfg(target_arch = "x86_64")]
    return x86::index(text, marks, out);
    #[cfg(not(target_arch = "x86_64"))]
    index_with(Plain(marks), Eights, text, out)
}

#[cfg(test)]
mod tests;
