//! Columns in the command's own memory: read from a file, or generated.

use std::sync::Arc;

use entasis::{
    Buffer, ColumnInfo, ColumnType, Error, File, MissingTo, Monitor, NestedValues, Output, Physical, Request,
    Result, Rows, Text, Value,
};

/// A column in memory.
pub(crate) struct Array {
    /// The name.
    pub(crate) name: String,
    /// The type.
    pub(crate) column_type: ColumnType,
    /// The time zone.
    pub(crate) detail: Option<Value>,
    /// The number of values.
    pub(crate) n: usize,
    /// The values.
    pub(crate) values: Values,
    /// One byte per value, 1 = missing; `None` if all are present.
    pub(crate) missing: Option<Buffer>,
    /// The categories of a categorical.
    pub(crate) categories: Option<Arc<Array>>,
}

/// Values in memory.
pub(crate) enum Values {
    /// No values: the type null.
    Null,
    /// Values of a fixed width.
    Words(Buffer),
    /// Booleans, one byte each: 0 or 1.
    Bools(Buffer),
    /// Strings.
    Text(Text),
    /// Values in children.
    Nested(Box<Inside>),
    /// Cells of any kind, as they are printed.
    Objects(Vec<Object>),
}

/// The values of a nested column: their ranges in the children, and the children.
pub(crate) struct Inside {
    pub(crate) values: NestedValues,
    pub(crate) children: Vec<Array>,
}

/// A value of an object column, ready to print.
#[derive(Clone)]
pub(crate) struct Object {
    /// Its text or its JSON, as asked for.
    pub(crate) text: String,
    /// Whether it is a missing value of any kind.
    pub(crate) is_missing: bool,
}

impl Array {
    /// Memory for `n` values of a column; `has_missing` also reserves the mask of missing values.
    pub(crate) fn new(info: &ColumnInfo, n: usize, has_missing: bool) -> Result<Self> {
        let column_type = info.record.column_type;
        let values = match column_type.physical {
            Physical::Null => Values::Null,
            Physical::Bool => Values::Bools(buffer(n)?),
            Physical::Utf8 | Physical::Binary => Values::Text(Text::default()),
            _ => Values::Words(buffer(n.saturating_mul(column_type.layout().width().unwrap_or(1)))?),
        };
        let missing = if has_missing { Some(buffer(n)?) } else { None };
        let (name, detail) = (info.name.clone(), info.detail.clone());
        Ok(Self { name, column_type, detail, n, values, missing, categories: None })
    }

    /// The bytes of its memory, with marks of missing values and without categories. Objects count
    /// their text.
    pub(crate) fn len(&self) -> usize {
        let inside = match &self.values {
            Values::Nested(inside) => inside.children.iter().map(Self::len).sum(),
            Values::Objects(objects) => objects.iter().map(|object| object.text.len()).sum(),
            _ => 0,
        };
        self.buffers().map(|buffer| buffer.len()).sum::<usize>() + inside
    }

    /// All its memory, without categories.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let (first, second) = match &self.values {
            Values::Null => (None, None),
            Values::Words(words) | Values::Bools(words) => (Some(words), None),
            Values::Text(text) => (Some(&text.offsets), text.bytes.first()),
            // Children have memory of their own.
            Values::Nested(_) | Values::Objects(_) => (None, None),
        };
        first.into_iter().chain(second).chain(&self.missing)
    }

    /// Whether value `i` is missing.
    pub(crate) fn is_missing(&self, i: usize) -> bool {
        if let Values::Objects(objects) = &self.values {
            return objects.get(i).is_none_or(|object| object.is_missing);
        }
        matches!(self.values, Values::Null)
            || self.missing.as_ref().is_some_and(|mask| mask.get(i) != Some(&0))
    }

    /// The bytes of value `i` (one for a boolean); `None` if out of range, and for null, nested and
    /// object columns.
    pub(crate) fn value(&self, i: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Null | Values::Nested(_) | Values::Objects(_) => None,
            Values::Bools(bytes) => bytes.get(i..i.checked_add(1)?),
            Values::Words(words) => {
                let width = self.column_type.layout().width()?;
                let at = i.checked_mul(width)?;
                words.get(at..at.checked_add(width)?)
            }
            Values::Text(text) => {
                let offset = |i: usize| {
                    let at = i.checked_mul(8)?;
                    let bytes = text.offsets.get(at..at.checked_add(8)?)?;
                    usize::try_from(i64::from_le_bytes(bytes.try_into().ok()?)).ok()
                };
                text.joined().get(offset(i)?..offset(i.checked_add(1)?)?)
            }
        }
    }

    fn request(&mut self, column: u64, rows: Rows) -> Option<Request<'_>> {
        let output = match &mut self.values {
            Values::Null | Values::Nested(_) | Values::Objects(_) => return None,
            Values::Words(words) => Output::Words(words),
            Values::Bools(bytes) => Output::Bools(bytes),
            Values::Text(text) => Output::Text(text),
        };
        let missing = match &mut self.missing {
            Some(mask) => MissingTo::Mask(mask),
            None => MissingTo::Ignore,
        };
        Some(Request { column, rows, output, missing })
    }
}

/// Zeroed memory.
pub(crate) fn buffer(len: usize) -> Result<Buffer> {
    Buffer::zeroed(len).ok_or_else(|| {
        Error::out_of_memory(len, "the columns")
            .advise("free some memory, or read fewer rows or columns at once")
    })
}

/// Converts a number of values to a length in memory.
pub(crate) fn in_memory(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::out_of_memory(usize::MAX, "the columns"))
}

/// The categories of each categorical, in the order of `columns`. Columns with the same dictionary
/// share the memory.
pub(crate) fn load_categories(
    file: &File,
    columns: &[ColumnInfo],
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Vec<Option<Arc<Array>>>> {
    let mut known: Vec<(u64, Arc<Array>)> = Vec::new();
    let mut found = Vec::with_capacity(columns.len());
    for column in columns {
        let Some(dictionary) = column.record.dictionary else {
            found.push(None);
            continue;
        };
        if let Some((_, array)) = known.iter().find(|(number, _)| *number == dictionary) {
            found.push(Some(array.clone()));
            continue;
        }
        let info = file.column(dictionary)?;
        let n = in_memory(info.record.n_values)?;
        let mut array = Array::new(&info, n, info.record.n_missing > 0)?;
        let requests = array.request(dictionary, Rows::All).into_iter().collect();
        file.read(requests, threads, monitor)?;
        let array = Arc::new(array);
        known.push((dictionary, array.clone()));
        found.push(Some(array));
    }
    Ok(found)
}

/// Reads rows of columns into new memory, without categories. `load_nested` reads nested columns.
pub(crate) fn load(
    file: &File,
    columns: &[ColumnInfo],
    rows: &Rows,
    threads: Option<usize>,
    monitor: &dyn Monitor,
    load_nested: &dyn Fn(&[&ColumnInfo]) -> Result<Vec<Array>>,
) -> Result<Vec<Array>> {
    let n = in_memory(rows.n(file.n_rows()))?;
    let is_nested = |info: &&ColumnInfo| info.record.column_type.physical.is_nested();
    let of_nested: Vec<&ColumnInfo> = columns.iter().filter(is_nested).collect();
    let mut nested = load_nested(&of_nested)?.into_iter();
    let mut arrays = Vec::with_capacity(columns.len());
    for info in columns {
        arrays.push(match if is_nested(&info) { nested.next() } else { None } {
            Some(array) => array,
            None => Array::new(info, n, info.record.n_missing > 0)?,
        });
    }
    let requests = arrays.iter_mut().zip(columns);
    let requests = requests.filter_map(|(array, info)| array.request(info.index, rows.clone()));
    file.read(requests.collect(), threads, monitor)?;
    Ok(arrays)
}
