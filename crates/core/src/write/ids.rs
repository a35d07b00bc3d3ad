//! The ids of the columns of a new generation (`docs/format/columns.md`): a column keeps its id,
//! and no new column gets the id that another one had in an earlier generation.

use entasis_format::{Error, Result, fallible};

use super::contents::Contents;
use super::tails::number;
use crate::file::File;
use crate::frame::Array;

/// The new columns of generation g of a file that changes have the ids from g times this on.
const OF_GENERATION: u64 = 1 << 32;

/// The use of memory, in messages.
const IDS: &str = "the ids of columns";

/// The id of the first column of each record. `file` is the file that changes.
///
/// # Errors
/// As for reading; *unsupported* when no ids are left.
pub(super) fn ids(contents: &Contents<'_>, file: Option<&File>, generation: u64) -> Result<Vec<u64>> {
    let records = 0..contents.n_records();
    let Some(file) = file else {
        return fallible::collect(records.map(|record| contents.number(record)), IDS);
    };
    check_kept_once(contents)?;
    let mut next = None;
    let mut ids = fallible::with_capacity(records.len(), IDS)?;
    for (array, n) in arrays(contents) {
        ids.push(match number(array) {
            Some(old) => file.column(old)?.record.id,
            None => {
                let first = next.map_or_else(|| first_new(file, generation), Ok)?;
                next = Some(first.checked_add(n).ok_or_else(none_left)?);
                first
            }
        });
    }
    Ok(ids)
}

/// Refuses values that two columns keep: they would have one id, and share blocks.
fn check_kept_once(contents: &Contents<'_>) -> Result<()> {
    let kept = arrays(contents).filter_map(|(array, _)| number(array));
    let mut kept = kept.collect::<Vec<_>>();
    kept.sort_unstable();
    match kept.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(Error::argument("a column of the file is kept twice: write a copy of its values")),
        false => Ok(()),
    }
}

/// The values of each record, and how many columns it stands for.
fn arrays<'a>(contents: &'a Contents<'_>) -> impl Iterator<Item = (&'a Array, u64)> {
    let plan = contents.plan;
    let tops = plan.parts.columns().map(|of| (&of.column.array, of.column.n_columns() as u64));
    let children = plan.nested.children.iter().map(|child| (&child.array, 1));
    tops.chain(children).chain(plan.bundles.iter().map(|bundle| (&bundle.array, 1)))
}

/// The id of the first new column. It is above all ids of the file, whoever gave them.
fn first_new(file: &File, generation: u64) -> Result<u64> {
    let mut first = generation.checked_mul(OF_GENERATION);
    let file = file.whole();
    file.visit_runs(0..file.n_columns_total(), |run| {
        let end = run.record.id.checked_add(run.n);
        first = first.zip(end).map(|(first, end)| first.max(end));
        Ok(())
    })?;
    first.ok_or_else(none_left)
}

fn none_left() -> Error {
    Error::unsupported("the file has no ids left for new columns").advise("write the file again")
}
