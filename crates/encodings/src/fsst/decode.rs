//! Decodes FSST codes. Each symbol is written as 8 bytes; the next one overwrites the excess.
//! Symbols of at most two bytes (digrams) are joined in a register first, four at a time.

use entasis_format::{Error, Result};
use entasis_kernels::fsst::SymbolTable;

use super::{ESCAPE, MAX_LEN, STREAMS, Symbols, quarter_len};

/// Codes that are decoded in one step.
const CODES: usize = 4;
/// Bytes that a step may write to.
const WINDOW: usize = (CODES + 1) * MAX_LEN;

fn damaged() -> Error {
    Error::corrupt("the codes of a page don't give its bytes")
}

/// Decodes exactly `out.len()` bytes from a body: a symbol table, the lengths of the streams, and
/// the streams.
///
/// # Errors
/// *Corrupt* when the body gives another number of bytes. The contents of `out` are unspecified
/// then.
pub(crate) fn decode(body: &[u8], out: &mut [u8]) -> Result<()> {
    let (symbols, rest) = Symbols::parse(body)?;
    let (lens, mut rest) = rest.split_at_checked(4 * STREAMS).ok_or_else(crate::short_body)?;
    let symbols = symbols.as_slice().iter().map(|symbol| (symbol.word, symbol.len));
    let symbols = SymbolTable::new(symbols).ok_or_else(damaged)?;
    let mut streams = [[].as_slice(); STREAMS];
    for (stream, len) in streams.iter_mut().zip(lens.chunks_exact(4)) {
        let len = u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize;
        (*stream, rest) = rest.split_at_checked(len).ok_or_else(crate::short_body)?;
    }
    if !rest.is_empty() {
        return Err(crate::short_body());
    }
    let quarter = quarter_len(out.len()).max(1);
    let mut quarters = out.chunks_mut(quarter);
    let quarters: [&mut [u8]; STREAMS] = std::array::from_fn(|_| quarters.next().unwrap_or_default());
    Table::new(symbols).decode(streams, quarters)
}

/// The symbols with their lengths, by code.
struct Table {
    symbols: SymbolTable,
    /// The length of each symbol; [`NOWHERE`](Self::NOWHERE) for a code without a symbol. After
    /// such a code nothing fits the output, so the loops need no check for it.
    lens: [usize; 256],
}

impl Table {
    /// More than the length of any quarter. Adding several of these does not overflow.
    const NOWHERE: usize = usize::MAX / 16;

    fn new(symbols: SymbolTable) -> Self {
        let lens = std::array::from_fn(|code| match symbols.len(code as u8) {
            SymbolTable::UNKNOWN => Self::NOWHERE,
            len => usize::from(len),
        });
        Self { symbols, lens }
    }

    /// Decodes the next four codes, or the next one if one of the four is an escape. Returns false
    /// if the stream ends or the output is nearly full.
    #[inline(always)]
    fn steps(&self, stream: &[u8], at: &mut usize, out: &mut [u8], end: &mut usize) -> bool {
        let Some(codes) = stream.get(*at..).and_then(|rest| rest.first_chunk::<CODES>()) else {
            return false;
        };
        let word = u32::from_le_bytes(*codes);
        // A byte is 255 if its complement is zero.
        if word & (!word).wrapping_sub(0x0101_0101) & 0x8080_8080 != 0 {
            return self.step(stream, at, out, end);
        }
        let Some(out) = out.get_mut(*end..).and_then(|rest| rest.first_chunk_mut::<WINDOW>()) else {
            return self.step(stream, at, out, end);
        };
        let mut written = 0;
        for &code in codes {
            // Offsets of valid symbols do not exceed the mask, so it only removes the bounds check.
            let masked = written & (CODES * MAX_LEN - 1);
            out[masked..masked + MAX_LEN].copy_from_slice(&self.symbols.bytes(code));
            written += self.lens[usize::from(code)];
        }
        *at += CODES;
        *end += written;
        true
    }

    /// Decodes the next code. Returns false if the stream ends or fewer than 8 bytes of output are
    /// left.
    #[inline(always)]
    fn step(&self, stream: &[u8], at: &mut usize, out: &mut [u8], end: &mut usize) -> bool {
        let (Some(&code), Some(room)) = (stream.get(*at), out.get_mut(*end..*end + MAX_LEN)) else {
            return false;
        };
        if code == ESCAPE {
            let Some(&byte) = stream.get(*at + 1) else { return false };
            room[0] = byte;
            (*at, *end) = (*at + 2, *end + 1);
        } else {
            room.copy_from_slice(&self.symbols.bytes(code));
            (*at, *end) = (*at + 1, *end + self.lens[usize::from(code)]);
        }
        true
    }

    fn decode(&self, streams: [&[u8]; STREAMS], mut outs: [&mut [u8]; STREAMS]) -> Result<()> {
        let (mut at, mut end) = ([0; STREAMS], [0; STREAMS]);
        for i in 0..STREAMS {
            (at[i], end[i]) = self.symbols.decode(streams[i], outs[i]);
        }
        match Digrams::of(&self.symbols) {
            Some(digrams) => in_turn(streams, &mut at, &mut outs, &mut end, |stream, at, out, end| {
                digrams.steps(stream, at, out, end) || self.step(stream, at, out, end)
            }),
            None => in_turn(streams, &mut at, &mut outs, &mut end, |stream, at, out, end| {
                self.steps(stream, at, out, end)
            }),
        }
        for i in 0..STREAMS {
            let (stream, out) = (streams[i], &mut *outs[i]);
            while self.step(stream, &mut at[i], out, &mut end[i]) {}
            self.finish(stream, at[i], out, end[i])?;
        }
        Ok(())
    }

    /// Decodes the last codes of a stream without writing beyond them.
    fn finish(&self, stream: &[u8], mut at: usize, out: &mut [u8], mut end: usize) -> Result<()> {
        while let Some(&code) = stream.get(at) {
            at += 1;
            let symbol = self.symbols.bytes(code);
            let bytes = if code == ESCAPE {
                at += 1;
                stream.get(at - 1..at).ok_or_else(damaged)?
            } else {
                symbol.get(..self.lens[usize::from(code)]).ok_or_else(damaged)?
            };
            out.get_mut(end..end + bytes.len()).ok_or_else(damaged)?.copy_from_slice(bytes);
            end += bytes.len();
        }
        if end == out.len() { Ok(()) } else { Err(damaged()) }
    }
}

/// Advances all streams in turn until one stops.
#[inline(always)]
fn in_turn(
    streams: [&[u8]; STREAMS],
    at: &mut [usize; STREAMS],
    outs: &mut [&mut [u8]; STREAMS],
    end: &mut [usize; STREAMS],
    steps: impl Fn(&[u8], &mut usize, &mut [u8], &mut usize) -> bool,
) {
    let [at0, at1, at2, at3] = at;
    let [end0, end1, end2, end3] = end;
    let [out0, out1, out2, out3] = outs;
    while steps(streams[0], at0, out0, end0)
        && steps(streams[1], at1, out1, end1)
        && steps(streams[2], at2, out2, end2)
        && steps(streams[3], at3, out3, end3)
    {}
}

/// Symbols of one or two bytes by code: the bytes in the low 16 bits, and their number of bits from
/// bit 16 on. Four symbols are joined in a register and stored together.
struct Digrams([u32; 256]);

impl Digrams {
    /// The highest bit marks escapes and codes without a symbol.
    const NONE: u32 = 1 << 31;

    fn of(table: &SymbolTable) -> Option<Self> {
        table.has_digrams().then(|| {
            Self(std::array::from_fn(|code| match table.len(code as u8) {
                len @ 1..=2 => {
                    // The second byte of a one-byte symbol is zero.
                    let [first, second, ..] = table.bytes(code as u8);
                    u32::from_le_bytes([first, second, 8 * len, 0])
                }
                _ => Self::NONE,
            }))
        })
    }

    /// Decodes the next four codes. Returns false if one of them is an escape, or fewer than 8
    /// bytes of output are left.
    #[inline(always)]
    fn steps(&self, stream: &[u8], at: &mut usize, out: &mut [u8], end: &mut usize) -> bool {
        let Some(codes) = stream.get(*at..).and_then(|rest| rest.first_chunk::<CODES>()) else {
            return false;
        };
        let Some(out) = out.get_mut(*end..).and_then(|rest| rest.first_chunk_mut::<{ 2 * CODES }>()) else {
            return false;
        };
        let [a, b, c, d] = codes.map(|code| self.0[usize::from(code)]);
        if (a | b | c | d) & Self::NONE != 0 {
            return false;
        }
        // Each symbol has 8 or 16 bits.
        let (ab, cd) =
            (a & 0xFFFF | (b & 0xFFFF) << (a >> 16 & 31), c & 0xFFFF | (d & 0xFFFF) << (c >> 16 & 31));
        let (n_ab, n_cd) = ((a >> 16) + (b >> 16), (c >> 16) + (d >> 16));
        *out = (u64::from(ab) | u64::from(cd) << (n_ab & 63)).to_le_bytes();
        *at += CODES;
        *end += ((n_ab + n_cd) / 8) as usize;
        true
    }
}
