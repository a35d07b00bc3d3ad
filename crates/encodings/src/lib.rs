//! The encodings of Entasis: blocks of values become directories and pages, and pages become values again.
//!
//! A block goes through at most four steps, each a file here (`docs/format/encodings.md`):
//! a *transform* (dictionary, ALP) turns values into words; a *packing* (raw, constant, bit-packed, delta, run-length, strings, FSST) turns words into bytes;
//! a *filter* (byte shuffle) and a general *codec* (LZ4, Zstandard) make them smaller, page by page.
//! [`Encoder`] chooses and writes; [`BlockDecoder`] reads any vector of any page without the ones before it.
//!
//! No I/O, no threads, no `unsafe`. Decoding is total: any bytes give values or an error.
#![forbid(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!("Entasis keeps little-endian words; this machine is big-endian");

mod alp;
mod choose;
mod codec;
mod decode;
mod dictionary;
mod encode;
mod fsst;
mod limits;
mod packing;
mod profile;
mod string_dictionary;
mod utf8;
mod validity;
mod words;

pub use codec::Codecs;
pub use decode::{BlockDecoder, Page, PageScratch, StringSlice, TextScratch};
pub use encode::{Encoded, Encoder, Values};
pub use fsst::{Pieces, SharedSymbols};
pub use limits::{BLOCK, PAGE, PAGE_TEXT};
pub use profile::Profile;
pub use validity::Validity;

/// The error of a page whose body is shorter or longer than its counts require.
pub(crate) fn short_body() -> entasis_format::Error {
    entasis_format::Error::corrupt("the body of a page has not the length that its counts require")
}
