//! Nested columns in memory, and their values as JSON.

use std::ops::Range;

use entasis::{ColumnInfo, File, Form, Monitor, Nested, NestedValues, Physical, Result, Rows, Text};

use crate::array::{self, Array, Inside, Values, buffer};
use crate::json;

/// Appends a value of a column as JSON.
type AppendJson = dyn Fn(&Array, usize, &mut String);

/// Reads rows of nested columns.
pub(crate) fn load(
    file: &File,
    columns: &[&ColumnInfo],
    rows: &Rows,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Vec<Array>> {
    let asked: Vec<_> = columns.iter().map(|info| (info.index, rows.clone())).collect();
    let read = file.read_nested(&asked, &|_| Form::default(), threads, monitor)?;
    read.into_iter().map(|nested| array_of(file, nested, threads, monitor)).collect()
}

fn array_of(file: &File, nested: Nested, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Array> {
    let Nested { info, n, validity, values, children } = nested;
    let bit = |bits: &[u8], i: usize| bits.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
    let missing = match validity {
        None => None,
        Some(bits) => {
            let mut mask = buffer(n)?;
            mask.iter_mut().enumerate().for_each(|(i, missing)| *missing = u8::from(!bit(&bits, i)));
            Some(mask)
        }
    };
    let column_type = info.record.column_type;
    let values = match values {
        _ if column_type.physical == Physical::Null => Values::Null,
        NestedValues::Words(words) => Values::Words(words),
        NestedValues::Bits(bits) => {
            let mut bytes = buffer(n)?;
            bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = u8::from(bit(&bits, i)));
            Values::Bools(bytes)
        }
        NestedValues::Text(text) => Values::Text(text),
        values if column_type.physical.is_nested() => {
            let children = children.into_iter().map(|child| array_of(file, child, threads, monitor));
            let children = children.collect::<Result<Vec<_>>>()?;
            Values::Nested(Box::new(Inside { values, children }))
        }
        _ => Values::Text(Text::default()),
    };
    let one = [(*info).clone()];
    let categories = array::load_categories(file, &one, threads, monitor)?.pop().flatten();
    let (name, detail) = (info.name.clone(), info.detail.clone());
    Ok(Array { name, column_type, detail, n, values, missing, categories })
}

/// Appends value `i`, which must be present, as JSON: lists as arrays, structs as objects, maps as
/// arrays of objects. `child` appends a value of a child.
pub(crate) fn json(array: &Array, inside: &Inside, i: usize, child: &AppendJson, out: &mut String) {
    let number = |bytes: &[u8], i: usize, width: usize| {
        let mut wide = [0; 8];
        if let Some(bytes) = i.checked_mul(width).and_then(|at| bytes.get(at..at + width)) {
            wide[..width].copy_from_slice(bytes);
        }
        usize::try_from(u64::from_le_bytes(wide)).unwrap_or(usize::MAX)
    };
    let first = inside.children.first();
    match (&inside.values, first) {
        (NestedValues::Offsets { offsets, is_large }, Some(values)) => {
            let width = if *is_large { 8 } else { 4 };
            list(values, number(offsets, i, width)..number(offsets, i + 1, width), child, out);
        }
        (NestedValues::Ends(ends), Some(values)) => {
            let (mut run, mut end) = (0, values.n);
            while run < end {
                let middle = usize::midpoint(run, end);
                (run, end) = if number(ends, middle, 8) <= i { (middle + 1, end) } else { (run, middle) };
            }
            child(values, run, out);
        }
        (NestedValues::Types { types, offsets }, _) => {
            let at = offsets.as_ref().map_or(i, |offsets| number(offsets, i, 4));
            match types.get(i).and_then(|&k| inside.children.get(usize::from(k))) {
                Some(values) => child(values, at, out),
                None => out.push_str("null"),
            }
        }
        (_, Some(values)) if array.column_type.physical == Physical::FixedSizeList => {
            let len = array.column_type.value_len as usize;
            list(values, i * len..(i + 1) * len, child, out);
        }
        _ => {
            out.push('{');
            for (k, field) in inside.children.iter().enumerate() {
                if k > 0 {
                    out.push(',');
                }
                json::string(out, &field.name);
                out.push(':');
                child(field, i, out);
            }
            out.push('}');
        }
    }
}

fn list(values: &Array, items: Range<usize>, child: &AppendJson, out: &mut String) {
    out.push('[');
    for (k, i) in items.enumerate() {
        if k > 0 {
            out.push(',');
        }
        child(values, i, out);
    }
    out.push(']');
}
