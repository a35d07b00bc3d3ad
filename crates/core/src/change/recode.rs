//! Renumbers the codes of rows to match the file's categories.

use std::collections::HashMap;
use std::sync::Arc;

use entasis_format::{ColumnType, Result};

use super::categories::recoded;
use crate::frame::{Array, Chunk, Column, Field, HostValues};
use crate::write::owned;

/// For each dictionary whose codes change, the new code of each old code. The key is the index of
/// the extra column that holds the dictionary.
pub(super) type Recodings = HashMap<usize, Vec<u64>>;

/// Renumbers the codes of a column and of its children.
pub(super) fn recode(column: &mut Column, by: &Recodings) -> Result<()> {
    let of = Described {
        column_type: &column.column_type,
        dictionary: column.dictionary,
        children: &column.children,
    };
    if of.needs(by) {
        for chunk in &mut column.array.chunks {
            recode_chunk(chunk, of, by)?;
        }
    }
    Ok(())
}

/// A column or a field.
#[derive(Clone, Copy)]
struct Described<'a> {
    column_type: &'a ColumnType,
    dictionary: Option<usize>,
    children: &'a [Field],
}

impl<'a> Described<'a> {
    fn of(field: &'a Field) -> Self {
        Self { column_type: &field.column_type, dictionary: field.dictionary, children: &field.children }
    }

    /// Whether codes of this column or of its children change.
    fn needs(&self, by: &Recodings) -> bool {
        self.dictionary.is_some_and(|dictionary| by.contains_key(&dictionary))
            || self.children.iter().any(|field| Self::of(field).needs(by))
    }
}

fn recode_chunk(chunk: &mut Chunk, of: Described<'_>, by: &Recodings) -> Result<()> {
    if let Some(codes) = of.dictionary.and_then(|dictionary| by.get(&dictionary)) {
        let copy = owned(&Array::new(chunk.clone()), of.column_type.layout())?;
        *chunk = recoded(copy, of.column_type, codes)?;
        return Ok(());
    }
    match &mut chunk.values {
        HostValues::Lists { child, .. }
        | HostValues::ListViews { child, .. }
        | HostValues::Runs { child, .. } => match of.children.first() {
            Some(field) if Described::of(field).needs(by) => {
                recode_chunk(Arc::make_mut(child), Described::of(field), by)?;
            }
            _ => {}
        },
        HostValues::Children(children) | HostValues::Union { children, .. } => {
            let mut found = children.to_vec();
            for (chunk, field) in found.iter_mut().zip(of.children) {
                if Described::of(field).needs(by) {
                    recode_chunk(chunk, Described::of(field), by)?;
                }
            }
            *children = found.into();
        }
        _ => {}
    }
    Ok(())
}
