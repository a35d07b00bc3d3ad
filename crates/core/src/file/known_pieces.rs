//! The pieces of tables that were read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use entasis_format::{Pieces, TableRecord};

/// The tables of a file whose rows lie in pieces.
#[derive(Default)]
pub(crate) struct KnownPieces {
    /// Their columns, ascending: a table may have several ranges of them.
    pub(super) tables: OnceLock<Vec<(Range<u64>, TableRecord)>>,
    /// The pieces that were read, by the first one, their number and the rows of their table.
    pub(super) read: Mutex<HashMap<(u64, u32, u64), Arc<Pieces>>>,
}
