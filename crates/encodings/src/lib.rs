//! The encodings of Entasis: blocks of values become directories and pages, and pages become values
//! again.
//!
//! A block goes through at most four steps (`docs/format/encodings.md`):
//!
//! 1. A *transform* (dictionary, ALP) turns values into words.
//! 2. A *packing* (raw, constant, bit-packed, delta, run-length, strings, FSST) turns words into
//!    bytes.
//! 3. A *filter* (byte shuffle) reorders the bytes of a page.
//! 4. A general *codec* (LZ4, Zstandard) compresses a page.
//!
//! [`Encoder`] chooses and writes. [`BlockDecoder`] reads any vector of any page without the ones
//! before it.
//!
//! The crate has no I/O, no threads and no `unsafe`. Decoding is total: any bytes decode to values
//! or an error.
//!
//! ```
//! use entasis_encodings::{BlockDecoder, Codecs, Encoder, Page, PageScratch, Profile, Values};
//! use entasis_format::Physical;
//!
//! # fn main() -> entasis_format::Result<()> {
//! let mut words: Vec<u64> = (0..10_000).map(|i| i / 3).collect();
//! let expected = words.clone();
//!
//! let mut encoder = Encoder::new(Profile::new(Profile::DEFAULT)?);
//! let mut stored = Vec::new();
//! let go_on = || Ok(());
//! let block = encoder.encode(Physical::I64, Values::W64(&mut words), None, &go_on, &mut stored)?;
//! assert!(stored.len() < 8 * expected.len() / 3);
//!
//! let (pages, of) = (&block.directory, Physical::I64);
//! let (mut codecs, mut scratch) = (Codecs::new(), PageScratch::default());
//! let (dictionary, mut rest) = stored.split_at(pages.dictionary.stored_len as usize);
//! let decoder = BlockDecoder::open(pages, of, dictionary, &mut codecs)?;
//! let mut values = Vec::new();
//! for (index, entry) in pages.pages.iter().enumerate() {
//!     let bytes;
//!     (bytes, rest) = rest.split_at(entry.stored_len as usize);
//!     let page = Page::open(pages, of, index, bytes, &mut codecs, &mut scratch)?;
//!     let mut out = vec![0u64; page.n_values()];
//!     decoder.decode(&page, 0..out.len(), &mut out)?;
//!     values.extend(out);
//! }
//! assert_eq!(values, expected);
//! # Ok(())
//! # }
//! ```
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
mod leaf;
mod limits;
mod lz4_block;
mod packing;
mod profile;
mod string_dictionary;
mod utf8;
mod validity;
mod words;

pub use codec::Codecs;
pub use decode::{BlockDecoder, Page, PageScratch, ReadPart, StringSlice, TextScratch, can_open_part};
pub use encode::{Encoded, Encoder, Learned, Values};
pub use fsst::{SharedSymbols, SymbolSamples};
pub use leaf::{LeafEncoder, restore_part};
pub use limits::{BLOCK, PAGE, PAGE_TEXT};
pub use lz4_block::restore as restore_lz4;
pub use profile::Profile;
pub use validity::Validity;

/// The error for a page whose body is shorter or longer than its counts require.
pub(crate) fn short_body() -> entasis_format::Error {
    entasis_format::Error::corrupt("the body of a page does not have the length that its counts require")
}
