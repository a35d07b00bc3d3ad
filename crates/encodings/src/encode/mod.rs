//! Encoding: chooses the encoding of a block, then writes its directory and pages.

mod bools;
mod dictionary;
mod fixed;
mod floats;
mod page_writer;
mod statistics;
mod strings;
mod values;
mod wide;
mod words;

use std::sync::Arc;

use entasis_format::{Error, Layout, MAX_BLOCK_LEN, Result};
use entasis_kernels::bits;
use entasis_platform::memory::ScratchVec;
use page_writer::Context;
pub use values::{Encoded, Values};

use crate::choose::{Choices, Hints};
use crate::codec::Codecs;
use crate::fsst::{SharedSymbols, Trainer};
use crate::limits::BLOCK;
use crate::profile::Profile;
use crate::string_dictionary::index::CodeTables;

/// Encodes the blocks of a column. Choices for a block are hints for the next one, until
/// [`begin_run`](Self::begin_run).
pub struct Encoder {
    choices: Choices,
    /// The codes of the dictionary that was planned last.
    codes: Vec<u32>,
    /// Reusable tables for dictionaries of strings.
    tables: CodeTables,
    /// Reusable memory for the strings of a dictionary.
    joined: ScratchVec<u8>,
    /// Reusable memory for the lengths of strings.
    lengths: ScratchVec<u32>,
    /// Reusable memory for the integers of ALP.
    ints: ScratchVec<u64>,
}

/// The hints of the last run of a column, for a later run of the same column: [`Encoder::resume`].
pub struct Learned(Hints);

impl std::fmt::Debug for Learned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Learned").finish_non_exhaustive()
    }
}

impl Encoder {
    /// An encoder for a compression setting.
    pub fn new(profile: Profile) -> Self {
        Self {
            choices: Choices {
                profile,
                codecs: Codecs::new(),
                hints: Hints::default(),
                trainer: Trainer::default(),
            },
            codes: Vec::new(),
            tables: CodeTables::default(),
            joined: ScratchVec::new(),
            lengths: ScratchVec::new(),
            ints: ScratchVec::new(),
        }
    }

    /// Sets the profile and forgets all hints. The bytes of later blocks then depend on nothing
    /// earlier.
    pub fn begin_run(&mut self, profile: &Profile) {
        self.choices.profile.clone_from(profile);
        self.tables.begin_run();
        let before = std::mem::take(&mut self.choices.hints);
        let symbols = [before.symbols, before.similar_symbols, before.entries.into_symbols()];
        symbols.into_iter().flatten().for_each(|trained| self.choices.trainer.recycle(trained.matcher));
    }

    /// As [`begin_run`](Self::begin_run), but goes on with the hints of an earlier run of the same
    /// column. Each hint is verified before use.
    pub fn resume(&mut self, profile: &Profile, learned: Learned) {
        self.begin_run(profile);
        self.choices.hints = learned.0;
    }

    /// Takes the hints of the current run, which forgets them.
    pub fn take_learned(&mut self) -> Learned {
        Learned(std::mem::take(&mut self.choices.hints))
    }

    /// As [`begin_run`](Self::begin_run), for a column next to a column of the same type. Keeps two
    /// hints, which are verified before use: whether values hardly repeat, and the symbols.
    pub fn begin_similar_column(&mut self, profile: &Profile) {
        let unrepeated = self.choices.hints.unrepeated;
        let entries = std::mem::take(&mut self.choices.hints.entries).for_similar_column();
        let symbols = self.choices.hints.symbols.take().or_else(|| self.choices.hints.similar_symbols.take());
        self.begin_run(profile);
        self.choices.hints = Hints { unrepeated, entries, similar_symbols: symbols, ..Hints::default() };
    }

    /// Lets the current run use the symbol table that all runs of the column share.
    pub fn share(&mut self, symbols: &Arc<SharedSymbols>) {
        self.choices.hints.shared = Some(Arc::clone(symbols));
    }

    /// Encodes a block and appends its stored dictionary and pages to `out`.
    ///
    /// `validity` has one bit per value, least significant first, 1 = valid; `None` if all are
    /// valid. The encoder may overwrite missing values. Calls `check` before each page.
    ///
    /// # Errors
    /// *Argument* for zero values, for more than a block may have, or for values of another type
    /// than `of`; errors of `check`.
    pub fn encode(
        &mut self,
        of: impl Into<Layout>,
        values: Values<'_>,
        validity: Option<&[u8]>,
        check: &dyn Fn() -> Result<()>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        let of = of.into();
        let physical = of.physical;
        let n = values.n();
        if n == 0 || n > BLOCK {
            return Err(Error::argument("a block has 1 to 65,536 values"));
        }
        let width = of.width().unwrap_or(0);
        if (n * width) as u64 > MAX_BLOCK_LEN && n > 1 {
            return Err(Error::argument("the values of a block are too long together"));
        }
        let n_valid = validity.map_or(n, |bits| bits::count_ones(bits, 0, n));
        let context =
            Context { bits: validity.filter(|_| n_valid < n), n_missing: (n - n_valid) as u32, check };
        match values {
            Values::Bool(v) => self.encode_bools(v, context, out),
            Values::W8(v) => self.encode_words(physical, v, context, out),
            Values::W16(v) => self.encode_words(physical, v, context, out),
            Values::W32(v) => self.encode_words(physical, v, context, out),
            Values::W64(v) => self.encode_words(physical, v, context, out),
            Values::W128(v) => self.encode_wide(of, v, context, out),
            Values::Fixed { n, bytes } => fixed::encode(self, of, n, bytes, context, out),
            Values::Strings { offsets, bytes } => {
                strings::encode(self, physical, offsets, bytes, context, out)
            }
        }
    }
}
