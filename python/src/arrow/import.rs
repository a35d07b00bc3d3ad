//! Arrays of others: their chunks as they stand in memory, without a copy.

use std::ffi::{CStr, c_void};

use entasis::{Array, Chunk, ColumnType, HostRead, HostValidity, HostValues, Logical, Physical, Value};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema, KEYS_SORTED, NULLABLE, ORDERED};
use super::{format, metadata, nested};
use crate::errors;
use crate::write::builder::nothing;

/// All chunks of a stream, kept until the file is written.
pub struct Stream {
    schema: ArrowSchema,
    chunks: Vec<ArrowArray>,
}

/// A column that a stream holds, or a field of one.
pub struct Field {
    /// The name of a field; that of a column is known.
    pub name: String,
    pub column_type: ColumnType,
    pub detail: Option<Value>,
    pub dictionary: Option<Box<Field>>,
    /// The fields of a nested type; of runs their values.
    pub children: Vec<Field>,
    /// The codes of a union.
    pub codes: Vec<u8>,
    pub array: Array,
    /// Key-value pairs in the interface's binary form.
    pub metadata: Option<Vec<u8>>,
    /// The type is an extension type of which the column keeps the storage alone: its name is in the metadata.
    pub is_bare: bool,
    /// Where the dictionary of the chunks stands, to see whether it is always the same.
    place: Option<Vec<Place>>,
}

/// A buffer of an array, its offset and length.
type Place = (usize, i64, i64);

impl Stream {
    /// Takes the stream of an object that has `__arrow_c_stream__`.
    pub fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = data.py();
        let capsule = data.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.as_ptr();
        // SAFETY: a capsule of this name holds a valid stream.
        let mut stream = unsafe { ArrowArrayStream::take(pointer.cast()) };
        let failed = |stream: &mut ArrowArrayStream| {
            let message = stream.get_last_error.map(|get| {
                // SAFETY: the stream is not released; the message is null, or a string that lives until its next call.
                unsafe { text(get(stream)) }
            });
            errors::new(
                py,
                "ArgumentError",
                format!("an Arrow stream failed: {}", message.unwrap_or_default()),
            )
        };
        let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
            return Err(pyo3::exceptions::PyValueError::new_err("the Arrow stream was consumed already"));
        };
        let mut schema = ArrowSchema::empty();
        // SAFETY: the stream is not released, `schema` is ours to fill.
        if unsafe { get_schema(&mut stream, &mut schema) } != 0 {
            return Err(failed(&mut stream));
        }
        let mut chunks = Vec::new();
        loop {
            let mut chunk = ArrowArray::empty();
            // SAFETY: as above.
            if unsafe { get_next(&mut stream, &mut chunk) } != 0 {
                return Err(failed(&mut stream));
            }
            if chunk.release.is_none() {
                return Ok(Self { schema, chunks });
            }
            chunks.push(chunk);
        }
    }

    /// The stream's one column.
    pub fn array(&mut self, py: Python<'_>, what: &str) -> PyResult<Field> {
        let mut field = field(py, &self.schema, what, 1)?;
        for chunk in &self.chunks {
            field.push(py, chunk, 0, chunk.length, what)?;
        }
        Ok(field)
    }

    /// The columns of a stream of tables, and the number of rows.
    pub fn table(&mut self, py: Python<'_>) -> PyResult<(Vec<Field>, u64)> {
        let n = usize::try_from(self.schema.n_children).unwrap_or(0);
        let mut fields = Vec::with_capacity(n);
        let mut names = Vec::with_capacity(n);
        for i in 0..n {
            // SAFETY: a valid schema has as many children as it says, each valid.
            let schema = unsafe { &**self.schema.children.add(i) };
            // SAFETY: a valid schema's name is null or ends with a zero.
            let what = format!("column '{}'", unsafe { text(schema.name) });
            fields.push(field(py, schema, &what, 1)?);
            names.push(what);
        }
        let mut n_rows = 0;
        for chunk in &self.chunks {
            n_rows += chunk.length as u64;
            if chunk.null_count > 0 {
                return Err(errors::unsupported(
                    py,
                    "rows that are missing as a whole are not supported yet",
                ));
            }
            for (i, field) in fields.iter_mut().enumerate() {
                // SAFETY: a struct array has a valid child for each field.
                let child = unsafe { &**chunk.children.add(i) };
                field.push(py, child, chunk.offset, chunk.length, &names[i])?;
            }
        }
        Ok((fields, n_rows))
    }

    /// The metadata of the schema.
    pub fn metadata(&self) -> Option<Vec<u8>> {
        // SAFETY: a valid schema's metadata is null or whole.
        unsafe { copy_metadata(self.schema.metadata.cast()) }
    }
}

/// An empty column of the schema's type.
pub(super) fn field(py: Python<'_>, schema: &ArrowSchema, what: &str, depth: usize) -> PyResult<Field> {
    // SAFETY: a valid schema's format ends with a zero.
    let format = unsafe { text(schema.format) };
    if depth > nested::MAX_DEPTH {
        let message = format!("{what}: types nested more than {} deep are not supported", nested::MAX_DEPTH);
        return Err(errors::unsupported(py, message));
    }
    let (mut codes, mut children) = (Vec::new(), Vec::new());
    let parsed = match nested::parse(&format) {
        Some((mut column_type, of_union)) => {
            children = nested::fields(py, schema, &mut column_type, what, depth)?;
            column_type.ordered = column_type.physical == Physical::Map && schema.flags & KEYS_SORTED != 0;
            codes = of_union;
            Some((column_type, None))
        }
        None => format::parse(&format),
    };
    let Some((mut column_type, zone)) = parsed else {
        let message = format!("{what}: Arrow type {} is not supported yet", format::describe(&format));
        return Err(errors::unsupported(py, message));
    };
    // SAFETY: null, or a valid schema.
    let dictionary = match unsafe { schema.dictionary.as_ref() } {
        Some(dictionary) => {
            column_type.logical = Logical::Categorical;
            column_type.ordered = schema.flags & ORDERED != 0;
            let dictionary = field(py, dictionary, what, depth)?;
            if dictionary.has_dictionary() {
                return Err(errors::unsupported(
                    py,
                    format!("{what}: its dictionary's type is not supported yet"),
                ));
            }
            Some(Box::new(dictionary))
        }
        None => None,
    };
    // SAFETY: a valid schema's metadata is null or whole.
    let metadata = unsafe { copy_metadata(schema.metadata.cast()) };
    let mut detail = zone.map(Value::from);
    let mut is_bare = false;
    if let Some(bytes) = &metadata
        && let Some(name) = metadata::get(bytes, metadata::EXTENSION_NAME)
        && let Ok(name) = std::str::from_utf8(name)
    {
        match format::extension(name, &column_type).filter(|_| dictionary.is_none()) {
            Some(extension) => {
                column_type = extension;
                let more = metadata::get(bytes, metadata::EXTENSION_METADATA).unwrap_or_default();
                detail = Some(Value::map([
                    ("name", Value::from(name)),
                    ("metadata", Value::Bytes(more.to_vec())),
                ]));
            }
            None => is_bare = true,
        }
    }
    if column_type.physical.is_nested() {
        detail = nested::detail(detail, &codes, &children);
    }
    if schema.flags & NULLABLE == 0 {
        column_type.flavour |= format::REQUIRED;
    }
    let (name, array, place) = Default::default();
    Ok(Field { name, column_type, detail, dictionary, children, codes, array, metadata, is_bare, place })
}

impl Field {
    /// Whether there are dictionaries in it.
    fn has_dictionary(&self) -> bool {
        self.dictionary.is_some() || self.children.iter().any(Self::has_dictionary)
    }

    /// Adds `n` values of an array, from `skip` behind its own offset on.
    fn push(&mut self, py: Python<'_>, array: &ArrowArray, skip: i64, n: i64, what: &str) -> PyResult<()> {
        let chunk = self.chunk(py, array, skip + array.offset, n, what)?;
        if n > 0 {
            self.array.chunks.push(chunk);
        }
        Ok(())
    }

    /// `n` values of an array, `offset` from the start of its buffers on. Its dictionary is added when it is the first.
    pub(super) fn chunk(
        &mut self,
        py: Python<'_>,
        array: &ArrowArray,
        offset: i64,
        n: i64,
        what: &str,
    ) -> PyResult<Chunk> {
        if let Some(dictionary) = &mut self.dictionary {
            // SAFETY: a dictionary-encoded array has a valid dictionary.
            let values = unsafe { array.dictionary.as_ref() };
            let values =
                values.ok_or_else(|| pyo3::exceptions::PyValueError::new_err("a dictionary is not there"))?;
            let place = place(values, dictionary);
            if self.place.is_none() {
                dictionary.push(py, values, 0, values.length, what)?;
                self.place = Some(place);
            } else if self.place.as_ref() != Some(&place) && n > 0 {
                return Err(errors::unsupported(py, format!("{what}: chunks with different dictionaries")));
            }
        }
        if self.column_type.physical.is_nested() {
            return self.nested_chunk(py, array, offset, n, what);
        }
        if n == 0 {
            return Ok(Chunk { n: 0, values: HostValues::Null, validity: HostValidity::AllValid });
        }
        chunk(&self.column_type, array, offset, n).ok_or_else(|| {
            pyo3::exceptions::PyValueError::new_err(format!("{what}: an Arrow array makes no sense"))
        })
    }
}

/// Where an array of a field stands, with what is in it.
fn place(array: &ArrowArray, field: &Field) -> Vec<Place> {
    let ColumnType { physical, flavour, .. } = field.column_type;
    let is_views = physical.is_var() && flavour & format::LAYOUT == format::VIEW;
    // The last buffer tells most; behind those of views stand their lengths, made anew for each export.
    let last = match usize::try_from(array.n_buffers).unwrap_or(0).saturating_sub(1 + usize::from(is_views)) {
        // SAFETY: a valid array has as many buffers as it says.
        at if array.n_buffers > 0 => unsafe { *array.buffers.add(at) as usize },
        _ => 0,
    };
    let mut places = vec![(last, array.offset, array.length)];
    for (k, child) in field.children.iter().enumerate().take(usize::try_from(array.n_children).unwrap_or(0)) {
        // SAFETY: a valid array has as many children as it says, each valid.
        places.extend(place(unsafe { &**array.children.add(k) }, child));
    }
    places
}

/// Bytes of a buffer, from `skip` on.
pub(super) fn lend(array: &ArrowArray, i: usize, skip: usize, len: usize) -> Option<HostRead> {
    if len == 0 {
        return Some(nothing());
    }
    if i as i64 >= array.n_buffers {
        return None;
    }
    // SAFETY: a valid array has as many buffers as it says.
    let start = unsafe { *array.buffers.add(i) };
    // SAFETY: the type and length of the array tell how long its buffers are; it is kept until the file is written.
    (!start.is_null()).then(|| unsafe { HostRead::new(start.cast::<u8>().add(skip), len) })
}

/// Which of `n` values from `first` on are there.
pub(super) fn validity(array: &ArrowArray, first: usize, n: usize) -> Option<HostValidity> {
    // SAFETY: a valid array has as many buffers as it says.
    if array.null_count == 0 || array.n_buffers == 0 || unsafe { *array.buffers }.is_null() {
        return Some(HostValidity::AllValid);
    }
    let memory = lend(array, 0, first / 8, (first % 8 + n).div_ceil(8))?;
    Some(HostValidity::Bits { memory, first_bit: first % 8 })
}

/// `n` values of an array, `offset` from the start of its buffers on.
fn chunk(column_type: &ColumnType, array: &ArrowArray, offset: i64, n: i64) -> Option<Chunk> {
    let (first, n) = (usize::try_from(offset).ok()?, usize::try_from(n).ok()?);
    let buffer = |i: usize| -> Option<*const c_void> {
        // SAFETY: a valid array has as many buffers as it says.
        ((i as i64) < array.n_buffers).then(|| unsafe { *array.buffers.add(i) })
    };
    let lend = |i: usize, skip: usize, len: usize| lend(array, i, skip, len);
    if column_type.physical == Physical::Null {
        return Some(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid });
    }
    let validity = validity(array, first, n)?;
    let layout = column_type.flavour & format::LAYOUT;
    let values = match (column_type.physical, layout) {
        (Physical::Bool, _) => HostValues::Bits {
            memory: lend(1, first / 8, (first % 8 + n).div_ceil(8))?,
            first_bit: first % 8,
        },
        (Physical::Utf8 | Physical::Binary, format::VIEW) => {
            let n_data = usize::try_from(array.n_buffers).ok()?.checked_sub(3)?;
            let lens: *const i64 = buffer(n_data + 2)?.cast();
            let mut buffers = Vec::with_capacity(n_data);
            for i in 0..n_data {
                // SAFETY: the last buffer of a view array holds the lengths of the others.
                buffers.push(lend(i + 2, 0, usize::try_from(unsafe { *lens.add(i) }).ok()?)?);
            }
            HostValues::Views { views: lend(1, first * 16, n * 16)?, buffers }
        }
        (Physical::Utf8 | Physical::Binary, format::SMALL) => {
            let offsets = lend(1, first * 4, (n + 1) * 4)?;
            let end = usize::try_from(offsets.read::<i32>(n * 4)?).ok()?;
            HostValues::Offsets32 { offsets, bytes: lend(2, 0, end)? }
        }
        (Physical::Utf8 | Physical::Binary, _) => {
            let offsets = lend(1, first * 8, (n + 1) * 8)?;
            let end = usize::try_from(offsets.read::<i64>(n * 8)?).ok()?;
            HostValues::Offsets64 { offsets, bytes: lend(2, 0, end)? }
        }
        (physical, _) => {
            let width = format::width(column_type, layout)?;
            let (memory, stride) = (lend(1, first * width, n * width)?, width as isize);
            if physical.width() == Some(width) || physical == Physical::FixedBytes {
                HostValues::Words { memory, stride }
            } else {
                HostValues::Wide { memory, width, stride }
            }
        }
    };
    Some(Chunk { n, values, validity })
}

/// A string that ends with a zero; empty when it is null.
///
/// # Safety
/// The pointer is null, or there is a zero behind it up to which its memory may be read.
pub(super) unsafe fn text(pointer: *const std::ffi::c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// A copy of metadata.
///
/// # Safety
/// The pointer is null, or that of memory with metadata whose numbers are true.
unsafe fn copy_metadata(pointer: *const u8) -> Option<Vec<u8>> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the walk stays inside the metadata, whose own numbers lead it.
    let len = metadata::walk(|at| Some(unsafe { pointer.add(at).cast::<i32>().read_unaligned() }))?;
    // SAFETY: as above: so many bytes were walked over.
    Some(unsafe { std::slice::from_raw_parts(pointer, len) }.to_vec())
}
