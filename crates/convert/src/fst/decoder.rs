//! Decompresses blocks.

use entasis::{Error, Result, restore_lz4};
use zstd_safe::{DCtx, get_error_name, get_frame_content_size};

use super::bits::{Form, unpack};

/// Decompresses blocks in one thread.
pub(super) struct Decoder {
    context: DCtx<'static>,
    scratch: Vec<u8>,
    /// Memory for stored blocks of files that are not in memory.
    pub(super) stored: Vec<u8>,
}

/// The most bytes that a byte of LZ4 becomes.
const LZ4_RATIO: usize = 255;
/// The most bytes that a byte of zstd becomes: blocks of 128 KiB take 4 bytes.
const ZSTD_RATIO: usize = 32 << 10;

/// Compression of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    Plain,
    Lz4,
    Zstd,
}

/// The compression and the form of an algorithm.
fn algorithm(number: u16) -> Result<(Codec, Form)> {
    Ok(match number {
        0 => (Codec::Plain, Form::Plain),
        1 => (Codec::Lz4, Form::Plain),
        2 => (Codec::Lz4, Form::Planes4),
        3 => (Codec::Zstd, Form::Plain),
        4 => (Codec::Zstd, Form::Planes4),
        5 => (Codec::Lz4, Form::Planes8),
        6 => (Codec::Zstd, Form::Planes8),
        7 => (Codec::Lz4, Form::Logicals),
        8 => (Codec::Plain, Form::Logicals),
        9 => (Codec::Zstd, Form::Logicals),
        10 => (Codec::Lz4, Form::Bytes),
        11 => (Codec::Lz4, Form::Shorts),
        12 => (Codec::Plain, Form::Bytes),
        13 => (Codec::Plain, Form::Shorts),
        14 => (Codec::Zstd, Form::Bytes),
        15 => (Codec::Zstd, Form::Shorts),
        _ => return Err(Error::unsupported(format!("compression {number} of fst"))),
    })
}

/// The form of an algorithm that does not compress.
pub(super) fn plain_form(number: u32) -> Option<Form> {
    match algorithm(u16::try_from(number).ok()?) {
        Ok((Codec::Plain, form)) => Some(form),
        _ => None,
    }
}

/// The algorithm of a form without compression.
pub(super) fn plain_algorithm(form: Form) -> u16 {
    match form {
        Form::Logicals => 8,
        Form::Bytes => 12,
        Form::Shorts => 13,
        Form::Plain | Form::Planes4 | Form::Planes8 => 0,
    }
}

impl Decoder {
    pub(super) fn new() -> Result<Self> {
        let context = DCtx::try_create().ok_or_else(|| Error::out_of_memory(1 << 17, "the decompressor"))?;
        Ok(Self { context, scratch: Vec::new(), stored: Vec::new() })
    }

    /// Decodes the values of a block, of `width` bytes each, so that they fill `into`.
    pub(super) fn block(&mut self, packed: &[u8], number: u16, width: usize, into: &mut [u8]) -> Result<()> {
        let (codec, form) = algorithm(number)?;
        let fits = match form {
            Form::Plain => true,
            // Words of 4 bytes may be halves of longer ones.
            Form::Planes4 => into.len().is_multiple_of(4),
            Form::Planes8 => into.len().is_multiple_of(8),
            Form::Logicals | Form::Bytes | Form::Shorts => width == 4,
        };
        if !fits {
            return Err(Error::corrupt("the compression of a block does not fit its type"));
        }
        if form == Form::Plain {
            return self.decompress(packed, codec, into);
        }
        let len = form.stored_len(into.len() / width, width);
        let mut scratch = std::mem::take(&mut self.scratch);
        if scratch.len() < len {
            scratch.resize(len, 0);
        }
        let result = if codec == Codec::Plain {
            exact(packed, len).map(|packed| unpack(packed, form, into))
        } else {
            self.decompress(packed, codec, &mut scratch[..len]).map(|()| unpack(&scratch[..len], form, into))
        };
        self.scratch = scratch;
        result
    }

    /// The most bytes that a block can become.
    pub(super) fn most_len(&self, packed: &[u8], number: u16) -> usize {
        let most = |ratio: usize| packed.len().saturating_mul(ratio);
        match algorithm(number) {
            Ok((Codec::Plain, _)) => packed.len(),
            Ok((Codec::Lz4, _)) => most(LZ4_RATIO),
            Ok((Codec::Zstd, _)) => match get_frame_content_size(packed) {
                Ok(Some(len)) => usize::try_from(len).unwrap_or(usize::MAX).min(most(ZSTD_RATIO)),
                _ => most(ZSTD_RATIO),
            },
            Err(_) => 0,
        }
    }

    /// Decompresses bytes that fill `into`.
    fn decompress(&mut self, packed: &[u8], codec: Codec, into: &mut [u8]) -> Result<()> {
        let len = match codec {
            Codec::Plain => {
                into.copy_from_slice(exact(packed, into.len())?);
                into.len()
            }
            Codec::Lz4 => {
                restore_lz4(packed, into).ok_or_else(|| Error::corrupt("the LZ4 data is not valid"))?
            }
            Codec::Zstd => self.context.decompress(into, packed).map_err(|code| {
                Error::corrupt(format!("the zstd data is not valid: {}", get_error_name(code)))
            })?,
        };
        if len == into.len() { Ok(()) } else { Err(Error::corrupt("a block is shorter than its values")) }
    }
}

fn exact(packed: &[u8], len: usize) -> Result<&[u8]> {
    packed.get(..len).ok_or_else(|| Error::corrupt("a block is shorter than its values"))
}
