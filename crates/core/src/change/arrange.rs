//! Brings the extra columns of rows into the file's order.
//!
//! Hosts number labels and dictionaries in the order in which they write them. Replacing or adding
//! columns changes the order in the file.

use entasis_format::{Error, Result, Value};

use super::columns::renumber;
use crate::frame::{Field, Frame};

/// Entries of host maps that refer to extra columns: labels, and kinds of missing values.
const REFERRING: [&str; 3] = ["index", "missing_kinds", "columns"];

/// Arranges the extra columns of `part` in the order of `frame`. `labels` are indices of extra
/// columns of `part`.
///
/// Columns correspond when the same column or entry of the host map refers to them.
///
/// # Errors
/// *Argument* when some columns have another position, and others correspond to none.
pub(super) fn arrange(frame: &Frame, part: &mut Frame, labels: &mut [usize]) -> Result<()> {
    let Some(to) = indices_in_file(frame, part) else {
        return Err(Error::argument("the labels or categories of the rows to append have another form"));
    };
    if to.iter().enumerate().all(|(from, &to)| from == to) {
        return Ok(());
    }
    let mut extra: Vec<_> = std::mem::take(&mut part.extra).into_iter().zip(&to).collect();
    extra.sort_by_key(|(_, to)| **to);
    part.extra = extra.into_iter().map(|(column, _)| column).collect();
    for column in part.columns.iter_mut().chain(&mut part.extra) {
        renumber(&mut column.dictionary, &mut column.children, &to);
    }
    for label in labels {
        *label = to.get(*label).copied().unwrap_or(*label);
    }
    let n_columns = part.columns.len();
    part.host.visit_mut(&mut |value| {
        if let Value::Column(number) = value
            && let Some(index) = extra_index(*number, n_columns).and_then(|index| to.get(index))
        {
            *number = (n_columns + index) as u64;
        }
    });
    Ok(())
}

/// For each extra column of the rows, its index in the file; `None` if only some columns
/// correspond.
fn indices_in_file(frame: &Frame, part: &Frame) -> Option<Vec<usize>> {
    let mut pairs = Pairs(vec![None; part.extra.len()]);
    for (old, new) in frame.columns.iter().zip(&part.columns) {
        pairs.add_fields((old.dictionary, &old.children), (new.dictionary, &new.children))?;
    }
    let n_columns = frame.columns.len();
    for key in REFERRING {
        let of = |host: &Value| {
            let mut numbers = Vec::new();
            let mut entry = host.get(key).cloned().unwrap_or(Value::Null);
            entry.visit_mut(&mut |value| {
                numbers.extend(value.as_column().and_then(|number| extra_index(number, n_columns)));
            });
            numbers
        };
        let (old, new) = (of(&frame.host), of(&part.host));
        for (old, new) in old.into_iter().zip(new) {
            pairs.add(Some(old), Some(new))?;
            let (Some(old), Some(new)) = (frame.extra.get(old), part.extra.get(new)) else { continue };
            pairs.add_fields((old.dictionary, &old.children), (new.dictionary, &new.children))?;
        }
    }
    pairs.all()
}

/// The index of an extra column, by its number in a host map.
fn extra_index(number: u64, n_columns: usize) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(n_columns)
}

/// For each extra column of the rows, its index in the file, if known.
struct Pairs(Vec<Option<usize>>);

impl Pairs {
    /// Records that two columns correspond. `None` if `new` corresponds to another one.
    fn add(&mut self, old: Option<usize>, new: Option<usize>) -> Option<()> {
        let (Some(old), Some(new)) = (old, new) else { return Some(()) };
        let known = self.0.get_mut(new)?;
        if known.is_some_and(|known| known != old) {
            return None;
        }
        *known = Some(old);
        Some(())
    }

    fn add_fields(&mut self, old: (Option<usize>, &[Field]), new: (Option<usize>, &[Field])) -> Option<()> {
        self.add(old.0, new.0)?;
        for (old, new) in old.1.iter().zip(new.1) {
            self.add_fields((old.dictionary, &old.children), (new.dictionary, &new.children))?;
        }
        Some(())
    }

    /// All indices, each once. Columns without a known index keep their own.
    fn all(self) -> Option<Vec<usize>> {
        let all: Vec<_> = self.0.into_iter().enumerate().map(|(at, to)| to.unwrap_or(at)).collect();
        let mut is_taken = vec![false; all.len()];
        for &to in &all {
            if std::mem::replace(is_taken.get_mut(to)?, true) {
                return None;
            }
        }
        Some(all)
    }
}
