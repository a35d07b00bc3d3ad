//! Nested columns of other hosts (`docs/format/columns.md`). Lists and maps become lists of vectors
//! or data frames, structs become data frames, unions lists of single values.

use std::ops::Range;
use std::sync::Arc;

use entasis::{ColumnInfo, Physical, Result};

use super::columns::Parts;
use super::make::{self, sliced, taken};
use super::missing::with_missing;
use super::table::{Table, name_in_r};
use super::{Reading, damage};
use crate::r::kind::Kind;
use crate::r::missing::NA_INTEGER;
use crate::r::{Data, Value};

/// The greatest depth of columns in columns.
const DEEPEST: usize = 64;

/// A nested column.
struct Nested<'t> {
    table: &'t Table,
    info: &'t ColumnInfo,
    children: Vec<Arc<ColumnInfo>>,
    rows: Range<u64>,
    depth: usize,
}

/// Where the values of each row are in the child: the start, and the number; `None` for a missing
/// row.
type Pieces = Vec<Option<(u64, u64)>>;

impl Reading<'_> {
    /// A nested column in some rows.
    pub(super) fn nested(
        &self,
        table: &Table,
        info: &ColumnInfo,
        rows: Range<u64>,
        depth: usize,
    ) -> Result<Value> {
        let physical = info.record.column_type.physical;
        let first = info.record.first_child.filter(|first| *first > info.index);
        let n = u64::from(info.record.n_children);
        if depth >= DEEPEST || (n > 0 && first.is_none()) {
            return Err(damage("a nested column that contains itself"));
        }
        let first = first.unwrap_or(0);
        let children = (first..first.saturating_add(n)).map(|number| table.info(number));
        let children = children.collect::<Result<Vec<_>>>()?;
        if children.len() != 1 && !matches!(physical, Physical::Struct | Physical::Union) {
            return Err(damage("a nested column with the wrong children"));
        }
        let of = Nested { table, info, children, rows, depth };
        match physical {
            Physical::List | Physical::Map => {
                let words = self.structure(&of, 0..of.rows.end)?;
                let mut start = 0;
                let all: Pieces = words
                    .iter()
                    .map(|&word| {
                        let len = u64::try_from(word).unwrap_or(0);
                        start += len;
                        (word != NA_INTEGER).then_some((start - len, len))
                    })
                    .collect();
                self.pieces(&of, &all[of.rows.start as usize..])
            }
            Physical::FixedSizeList => {
                let len = u64::from(info.record.column_type.value_len);
                let words = self.structure(&of, of.rows.clone())?;
                let place = |(row, &word): (u64, &i32)| (word != NA_INTEGER).then_some((row * len, len));
                let all: Pieces = (of.rows.start..).zip(&words).map(place).collect();
                self.pieces(&of, &all)
            }
            Physical::Struct => self.structs(&of),
            Physical::RunEnd => self.runs(&of),
            _ => self.unions(&of),
        }
    }

    /// The structure of some rows: lengths, type ids, whether a run begins, or 1; the least integer
    /// for a missing row.
    fn structure(&self, of: &Nested<'_>, rows: Range<u64>) -> Result<Vec<i32>> {
        let columns = [of.info.index];
        let parts = Parts { columns: &columns, kind: Kind::Words, seconds: 1, rows };
        match self.vector(of.table, &parts)? {
            Data::Integer(words) => Ok(words),
            _ => Err(damage("a nested column without its structure")),
        }
    }

    /// The values of a child in some rows.
    fn child(&self, of: &Nested<'_>, i: usize, rows: Range<u64>) -> Result<Value> {
        let child = of.children.get(i).ok_or_else(|| damage("a nested column without a child"))?;
        if rows.end > child.record.n_values {
            return Err(damage("a nested column needs more values than its child has"));
        }
        self.of_other_host(of.table, child, rows, of.depth + 1)
    }

    /// A list of pieces of the child.
    fn pieces(&self, of: &Nested<'_>, places: &[Option<(u64, u64)>]) -> Result<Value> {
        let used = || places.iter().flatten().filter(|(_, len)| *len > 0);
        let low = used().map(|(start, _)| *start).min().unwrap_or(0);
        let high = used().map(|(start, len)| start + len).max().unwrap_or(0);
        let child = self.child(of, 0, low..high)?;
        let piece = |place: &Option<(u64, u64)>| {
            place.map_or_else(Value::default, |(start, len)| {
                let at = if len == 0 { 0 } else { (start - low) as usize };
                part_of(&child, at..at + len as usize)
            })
        };
        Ok(Data::List(places.iter().map(piece).collect()).into())
    }

    /// A data frame. A missing row is missing in each column.
    fn structs(&self, of: &Nested<'_>) -> Result<Value> {
        let words = self.structure(of, of.rows.clone())?;
        let missing: Vec<usize> = (0..words.len()).filter(|&i| words[i] == NA_INTEGER).collect();
        let mut columns = Vec::with_capacity(of.children.len());
        for (i, child) in of.children.iter().enumerate() {
            if child.record.n_values != of.info.record.n_values {
                return Err(damage("the fields of a struct differ in length"));
            }
            let values = self.child(of, i, of.rows.clone())?;
            columns.push(if missing.is_empty() { values } else { with_missing(values, &missing) });
        }
        let names = make::texts(of.children.iter().map(|child| name_in_r(&child.name)));
        Ok(make::frame(columns, names, words.len()))
    }

    fn runs(&self, of: &Nested<'_>) -> Result<Value> {
        let words = self.structure(of, 0..of.rows.end)?;
        let mut run = 0u64;
        let mut of_rows = Vec::with_capacity(words.len());
        for word in words {
            run += u64::try_from(word).unwrap_or(0);
            of_rows.push(run);
        }
        let of_rows = &of_rows[of.rows.start as usize..];
        let (Some(&first), Some(&last)) = (of_rows.first(), of_rows.last()) else {
            return self.child(of, 0, 0..0);
        };
        if first == 0 {
            return Err(damage("a run-end column that does not start with a run"));
        }
        let values = self.child(of, 0, first - 1..last)?;
        let at: Vec<usize> = of_rows.iter().map(|run| (run - first) as usize).collect();
        Ok(taken_rows(values, &at))
    }

    /// A list of vectors of length 1. A value of a sparse union has the same position in its child;
    /// in a dense one it is the child's next value. The last child of a dense union has the
    /// offsets, which are not needed.
    fn unions(&self, of: &Nested<'_>) -> Result<Value> {
        let is_sparse = of.info.record.column_type.value_len == 1;
        let n_types = of.children.len().saturating_sub(usize::from(!is_sparse));
        let types = self.structure(of, 0..of.rows.end)?;
        let mut at: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n_types];
        let mut seen = vec![0u64; n_types];
        for (row, &of_row) in (0u64..).zip(&types) {
            let i = usize::try_from(of_row).ok().filter(|&i| i < n_types);
            let i = i.ok_or_else(|| damage("a union with an unknown type id"))?;
            if row >= of.rows.start {
                at[i].push(((row - of.rows.start) as usize, if is_sparse { row } else { seen[i] }));
            }
            seen[i] += 1;
        }
        let n = usize::try_from(of.rows.end - of.rows.start).unwrap_or(0);
        let mut out = vec![Value::default(); n];
        for (i, places) in at.iter().enumerate() {
            let (Some(&(_, first)), Some(&(_, last))) = (places.first(), places.last()) else { continue };
            let child = self.child(of, i, first..last + 1)?;
            for &(to, from) in places {
                let from = (from - first) as usize;
                out[to] = match &child.data {
                    Data::List(items) if !child.inherits("data.frame") => items[from].clone(),
                    _ => part_of(&child, from..from + 1),
                };
            }
        }
        Ok(Data::List(out).into())
    }
}

/// A range of rows of a vector or a data frame. Its names and dimensions are not kept.
fn part_of(value: &Value, range: Range<usize>) -> Value {
    if let (Data::List(columns), true) = (&value.data, value.inherits("data.frame")) {
        let n = range.len();
        let parts = columns.iter().map(|column| part_of(column, range.clone())).collect();
        return make::frame(parts, value.attribute("names").cloned().unwrap_or_default(), n);
    }
    let mut part = Value { data: sliced(&value.data, range), attributes: None, is_s4: value.is_s4 };
    for (name, attribute) in value.attributes() {
        if !matches!(name.as_str(), "names" | "dim" | "dimnames") {
            make::set(&mut part, name, attribute.clone());
        }
    }
    part
}

/// The rows `at` of a vector or a data frame.
fn taken_rows(value: Value, at: &[usize]) -> Value {
    if let (Data::List(columns), true) = (&value.data, value.inherits("data.frame")) {
        let taken = columns.iter().map(|column| taken_rows(column.clone(), at)).collect();
        return make::frame(taken, value.attribute("names").cloned().unwrap_or_default(), at.len());
    }
    Value { data: taken(&value.data, at), ..value }
}
