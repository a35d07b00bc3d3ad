//! Nested columns in Arrow's layout: the form of each column in them, and their types and arrays.

use std::collections::BTreeSet;
use std::sync::Arc;

use entasis::{
    Buffer, ColumnInfo, ColumnType, Error, File, Form, Logical, Nested, NestedValues, Physical, Text,
};
use pyo3::prelude::*;

use crate::arrow::c_string::c_string;
use crate::arrow::export::{Data, Dictionaries, Kind};
use crate::arrow::format::{self, LARGE, LAYOUT, REQUIRED};
use crate::arrow::nested as types;
use crate::errors;
use crate::read::finished::{Finished, extension};
use crate::read::plan::Target;

/// The most types in an Arrow union, whose codes are 0 to 127.
const MOST_CODES: usize = 128;

/// The layout of a column in a nested column. With `own`, its host variant decides. Otherwise
/// strings have `layout`, and lists have offsets of 64 bits.
pub fn layout(column_type: &ColumnType, own: bool, layout: u8) -> u8 {
    let of_file = column_type.host_variant & LAYOUT;
    match (column_type.physical, column_type.logical) {
        (_, Logical::Decimal) => {
            // The host variant is ignored if the values are wider.
            let fits = format::width(column_type, of_file) >= column_type.physical.width();
            if own && fits { of_file } else { format::usual_decimal(column_type.physical) }
        }
        _ if own => of_file,
        (Physical::List, _) => LARGE,
        (physical, _) if physical.is_nested() => 0,
        _ => layout,
    }
}

/// The form in which the core decodes a column of a nested column.
pub fn form(column_type: &ColumnType, own: bool, default: u8) -> Form {
    let layout = layout(column_type, own, default);
    Form {
        text: format::text_layout(layout),
        width: format::width(column_type, layout).filter(|_| column_type.logical == Logical::Decimal),
        is_small: column_type.physical == Physical::Map || !types::list_layout(layout).0,
    }
}

/// Collects the columns with the categories of a column and of all columns in it.
pub fn dictionaries(
    file: &File,
    info: &ColumnInfo,
    depth: usize,
    found: &mut BTreeSet<u64>,
) -> entasis::Result<()> {
    if depth > types::MAX_DEPTH || found.len() as u64 > file.n_columns_total() {
        return Err(Error::corrupt("a column is nested more deeply than there can be").in_column(&info.name));
    }
    found.extend(info.record.dictionary);
    for child in file.children(info)? {
        dictionaries(file, &child, depth + 1, found)?;
    }
    Ok(())
}

/// How nested columns become Arrow arrays.
#[derive(Clone, Copy)]
pub struct Finish<'a> {
    /// The same host wrote the file, so host variants apply.
    pub own: bool,
    /// Whether fields get their metadata.
    pub metadata: bool,
    /// The layout of strings, unless host variants apply.
    pub layout: u8,
    pub dictionaries: &'a Dictionaries,
}

/// The Arrow type and array of a nested column that was read.
pub fn finish(py: Python<'_>, nested: Nested, how: Finish<'_>) -> PyResult<(Kind, Data)> {
    finish_at(py, nested, how, 1)
}

fn finish_at(py: Python<'_>, nested: Nested, how: Finish<'_>, depth: usize) -> PyResult<(Kind, Data)> {
    if depth > types::MAX_DEPTH {
        let message =
            format!("types nested more than {} deep have no counterpart in Arrow", types::MAX_DEPTH);
        return Err(errors::unsupported(py, message));
    }
    let column_type = nested.info.record.column_type;
    if !column_type.physical.is_nested() {
        return finish_leaf(py, nested, how);
    }
    let Nested { info, n, validity, values, children } = nested;
    let (mut kinds, mut arrays) = finish_children(py, &info, children, how, depth)?;
    let no_memory = || errors::out_of_memory(py, n, 16, "the columns");
    let mut layout = layout(&column_type, how.own, how.layout);
    let mut buffers = vec![validity.map(Arc::new)];
    match values {
        NestedValues::Offsets { offsets, is_large } => {
            layout = layout_of_list(py, &info, layout, is_large)?;
            if types::list_layout(layout).1 && column_type.physical == Physical::List {
                let (starts, sizes) = views(&offsets, n, is_large).ok_or_else(no_memory)?;
                buffers.extend([Some(Arc::new(starts)), Some(Arc::new(sizes))]);
            } else {
                buffers.push(Some(Arc::new(offsets)));
            }
        }
        NestedValues::Types { types, offsets } => {
            return union(py, &info, how.own, n, (types, offsets), (kinds, arrays));
        }
        NestedValues::Ends(ends) => {
            // All rows of the file decide, so that all parts of it have one type.
            let width = types::end_width_for(layout, info.record.n_values.max(n as u64));
            let narrow = narrow(&ends, width).ok_or_else(no_memory)?;
            kinds.insert(0, kind_of_ends(py, width)?);
            let buffers_of_ends = vec![None, Some(Arc::new(narrow))];
            arrays.insert(0, Data { n: ends.len() / 8, buffers: buffers_of_ends, ..Data::default() });
            // A run-end array has no buffers of its own.
            buffers.clear();
        }
        _ => {}
    }
    if column_type.physical == Physical::Map {
        // Arrow requires entries and keys that are not nullable.
        for entries in &mut kinds {
            entries.required = true;
            entries.children.iter_mut().take(1).for_each(|key| key.required = true);
        }
    }
    let kind = kind(py, &info, how.own, layout, &[], kinds)?;
    Ok((kind, Data { n, buffers, children: arrays, ..Data::default() }))
}

/// The Arrow type and array of a column without children.
fn finish_leaf(py: Python<'_>, leaf: Nested, how: Finish<'_>) -> PyResult<(Kind, Data)> {
    let Nested { info, n, validity, values, .. } = leaf;
    let (words, text) = match values {
        NestedValues::Words(words) | NestedValues::Bits(words) => (words, Text::default()),
        NestedValues::Text(text) => (Buffer::default(), text),
        _ => (Buffer::default(), Text::default()),
    };
    let target = Target::Arrow(layout(&info.record.column_type, how.own, how.layout));
    let column = Finished::new(py, &info, &target, how.own, n, words, validity, text, how.dictionaries)?;
    Ok((column.kind, column.data))
}

/// The Arrow types and arrays of the children of the column `info`.
fn finish_children(
    py: Python<'_>,
    info: &ColumnInfo,
    children: Vec<Nested>,
    how: Finish<'_>,
    depth: usize,
) -> PyResult<(Vec<Kind>, Vec<Data>)> {
    let mut kinds = Vec::with_capacity(children.len());
    let mut arrays = Vec::with_capacity(children.len());
    for (k, child) in children.into_iter().enumerate() {
        let name = child.info.name.clone();
        let (mut kind, data) = finish_at(py, child, how, depth + 1)?;
        kind.name = c_string(py, &name, &info.name)?;
        // The metadata of the field include the name of an extension type.
        if let Some(metadata) = types::field_metadata(info.host_detail.as_ref(), k).filter(|_| how.metadata) {
            if !crate::arrow::metadata::is_whole(metadata) {
                let error =
                    Error::corrupt("the metadata of an Arrow field are incomplete").in_column(&info.name);
                return Err(errors::raise(py, &error));
            }
            kind.metadata = Some(metadata.to_vec());
        }
        kinds.push(kind);
        arrays.push(data);
    }
    Ok((kinds, arrays))
}

/// The layout of a list or map whose offsets have 64 bits if they are large.
fn layout_of_list(py: Python<'_>, info: &ColumnInfo, layout: u8, is_large: bool) -> PyResult<u8> {
    if is_large && info.record.column_type.physical == Physical::Map {
        let message = format!("column '{}': a map of 2^31 entries and more at a time", info.name);
        return Err(errors::unsupported(py, message));
    }
    let (has_large_offsets, is_view) = types::list_layout(layout);
    Ok(match (is_large, has_large_offsets, is_view) {
        // Offsets of 32 bits cannot count this many values.
        (true, false, true) => types::LARGE_VIEW,
        (true, false, false) => LARGE,
        _ => layout,
    })
}

/// The Arrow type of run ends of `width` bytes.
fn kind_of_ends(py: Python<'_>, width: usize) -> PyResult<Kind> {
    let format = match width {
        8 => "l",
        2 => "s",
        _ => "i",
    };
    let mut kind = Kind::new(c_string(py, format, "")?);
    kind.name = c_string(py, "run_ends", "")?;
    kind.required = true;
    Ok(kind)
}

fn kind(
    py: Python<'_>,
    info: &ColumnInfo,
    own: bool,
    layout: u8,
    codes: &[u8],
    children: Vec<Kind>,
) -> PyResult<Kind> {
    let column_type = &info.record.column_type;
    let format = types::format(column_type, layout, codes).unwrap_or_default();
    let mut kind = Kind::new(c_string(py, &format, &info.name)?);
    kind.metadata = extension(info);
    kind.keys_sorted = column_type.ordered;
    kind.required = own && column_type.host_variant & REQUIRED != 0;
    kind.children = children;
    Ok(kind)
}

/// The Arrow type and array of a union. Missing values of a value column get a type of their own,
/// *null*.
fn union(
    py: Python<'_>,
    info: &ColumnInfo,
    own: bool,
    n: usize,
    (mut types, mut offsets): (Buffer, Option<Buffer>),
    (mut kinds, mut arrays): (Vec<Kind>, Vec<Data>),
) -> PyResult<(Kind, Data)> {
    let bad = |message: &'static str| errors::raise(py, &Error::corrupt(message).in_column(&info.name));
    if types.len() != n {
        types = Buffer::zeroed(n).ok_or_else(|| bad("a union has no values"))?;
    }
    let mut codes = types::codes(info.detail.as_ref(), kinds.len())
        .ok_or_else(|| bad("the codes of a union don't fit its types"))?;
    let n_missing = types.iter().filter(|&&k| k == u8::MAX).count();
    // All rows of a column have one type, even those of a read without missing values.
    if n_missing > 0 || info.record.n_missing > 0 {
        codes.push(codes.len() as u8);
        kinds.push(Kind::new(c_string(py, "n", "")?));
        arrays.push(Data { n: n_missing, ..Data::default() });
    }
    if codes.len() > MOST_CODES {
        let message = format!("column '{}': {} types have no counterpart in Arrow", info.name, codes.len());
        return Err(errors::unsupported(py, message));
    }
    let mut next = 0i32;
    for (i, k) in types.iter_mut().enumerate() {
        if *k == u8::MAX {
            *k = (codes.len() - 1) as u8;
            if let Some(offset) = offsets.as_mut().and_then(|offsets| offsets.get_mut(4 * i..4 * i + 4)) {
                offset.copy_from_slice(&next.to_le_bytes());
            }
            next += 1;
        }
        *k = codes
            .get(usize::from(*k))
            .copied()
            .ok_or_else(|| bad("a value has a type that the union does not have"))?;
    }
    let kind = kind(py, info, own, 0, &codes, kinds)?;
    let mut buffers = vec![Some(Arc::new(types))];
    buffers.extend(offsets.map(|offsets| Some(Arc::new(offsets))));
    Ok((kind, Data { n, buffers, children: arrays, is_all_there: true, ..Data::default() }))
}

/// Converts offsets to the start and size of each list.
fn views(offsets: &Buffer, n: usize, is_large: bool) -> Option<(Buffer, Buffer)> {
    let width = if is_large { 8 } else { 4 };
    let number = |i: usize| {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(&offsets[i * width..(i + 1) * width]);
        u64::from_le_bytes(wide)
    };
    let mut starts = Buffer::zeroed(n.checked_mul(width)?)?;
    let mut sizes = Buffer::zeroed(n.checked_mul(width)?)?;
    starts.copy_from_slice(offsets.get(..n * width)?);
    for (i, size) in sizes.chunks_exact_mut(width).enumerate() {
        size.copy_from_slice(&(number(i + 1) - number(i)).to_le_bytes()[..width]);
    }
    Some((starts, sizes))
}

/// Narrows run ends to `width` bytes, which must fit all of them. `None` if memory runs out.
fn narrow(ends: &Buffer, width: usize) -> Option<Buffer> {
    let mut narrow = Buffer::zeroed(ends.len() / 8 * width)?;
    for (narrow, end) in narrow.chunks_exact_mut(width).zip(ends.chunks_exact(8)) {
        narrow.copy_from_slice(&end[..width]);
    }
    Some(narrow)
}
