//! Bundles: in a table of few rows, columns of equal type share a storage column
//! (`docs/format/columns.md`).

use std::collections::HashMap;
use std::sync::Arc;

use entasis_format::{BUNDLE_ROWS, ColumnType, Logical, Physical, Value};

use crate::frame::kept::{Kept, KeptBundle};
use crate::frame::{Array, Column, Frame};

/// Columns that are stored as one column, one after the other.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub column_type: ColumnType,
    /// The number of the frame.
    pub frame: usize,
    /// The number of the frame's first column, or column run, in the file.
    pub first: usize,
    /// Indices in [`Frame::columns`], ascending.
    pub members: Vec<usize>,
    /// The new values of all members, after those that stay.
    pub array: Array,
    /// The part that stays of the bundle in the file.
    pub kept: Option<Arc<KeptBundle>>,
}

/// Assigns the columns of a table to bundles. The others are stored by themselves.
pub(crate) fn bundles(
    number: usize,
    first: usize,
    frame: &Frame,
    is_apart: impl Fn(&Column) -> bool,
) -> Vec<Bundle> {
    let bundle = |members: Vec<usize>| {
        let chunks: Vec<_> =
            members.iter().flat_map(|&i| frame.columns[i].array.chunks.iter().cloned()).collect();
        let one = &frame.columns[members[0]];
        let kept = one.array.keep().and_then(|keep| keep.bundle.clone());
        let array = Array {
            kept: kept.as_ref().map(|kept| Kept::Found(Box::new(kept.keep.clone()))),
            ..Array::from(chunks)
        };
        Bundle { column_type: one.column_type, frame: number, first, members, array, kept }
    };
    bundled_groups(frame, is_apart).into_iter().map(bundle).collect()
}

/// The columns of each bundle of a table, as ascending indices in [`Frame::columns`].
pub(crate) fn bundled_groups(frame: &Frame, is_apart: impl Fn(&Column) -> bool) -> Vec<Vec<usize>> {
    if frame.n_rows == 0 || frame.n_rows >= BUNDLE_ROWS {
        return Vec::new();
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<(ColumnType, Detail<'_>), usize> = HashMap::new();
    let mut last = None;
    for (i, column) in frame.columns.iter().enumerate() {
        let Some(key) = key(column).filter(|_| !is_apart(column)) else { continue };
        // Neighbouring columns often have one type.
        let group = match last {
            Some((of, group)) if of == key => group,
            _ => *known.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            }),
        };
        last = Some((key, group));
        groups[group].push(i);
    }
    groups.retain(|members| members.len() > 1 || frame.columns[members[0]].run.is_some());
    groups
}

/// The detail of a type: the time zone, or the width of strings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Detail<'a> {
    None,
    Zone(&'a str),
    Width(i64),
}

/// Whether a column can share a bundle with others of its type.
pub(crate) fn is_bundled(column: &Column) -> bool {
    key(column).is_some()
}

/// The properties that members of a bundle share; `None` for columns that are never bundled.
fn key(column: &Column) -> Option<(ColumnType, Detail<'_>)> {
    let t = column.column_type;
    if t.logical == Logical::Categorical || t.physical == Physical::Null || t.physical.is_nested() {
        return None;
    }
    let detail = match &column.detail {
        None => Detail::None,
        Some(Value::Str(zone)) => Detail::Zone(zone),
        Some(Value::Int(width)) => Detail::Width(*width),
        Some(_) => return None,
    };
    Some((t, detail))
}
