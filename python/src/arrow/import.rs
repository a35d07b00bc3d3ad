//! Imports arrays of other libraries as chunks of a column, without a copy.

use std::ffi::{CStr, c_void};

use entasis::{Array, Chunk, ColumnType, HostRead, HostValidity, HostValues, Logical, Physical, Value};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema, KEYS_SORTED, NULLABLE, ORDERED};
use super::{format, metadata, nested};
use crate::array::nothing;
use crate::errors;

/// All chunks of a stream, which live until the file is written.
pub struct Stream {
    schema: ArrowSchema,
    chunks: Vec<ArrowArray>,
}

/// A column of a stream, or a field of a nested column.
pub struct Field {
    /// The name of a field. Empty for a column, as its name is known.
    pub name: String,
    pub column_type: ColumnType,
    pub detail: Option<Value>,
    pub host_detail: Option<Value>,
    pub dictionary: Option<Box<Field>>,
    /// The fields of a nested type. For run-end encoding, only the values.
    pub children: Vec<Field>,
    /// The codes of a union.
    pub codes: Vec<u8>,
    pub array: Array,
    /// Key-value pairs in the binary form of the interface.
    pub metadata: Option<Vec<u8>>,
    /// Whether the column stores only the storage of an extension type, whose name is in the
    /// metadata.
    pub is_bare: bool,
    /// The identity of the first chunk's dictionary. All chunks must have the same dictionary.
    dictionary_id: Option<Vec<BufferId>>,
}

/// The address of an array's buffer, and the offset and length of the array.
type BufferId = (usize, i64, i64);

impl Stream {
    /// Imports the stream of an object that has `__arrow_c_stream__`.
    pub fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = data.py();
        let capsule = data.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.as_ptr();
        // SAFETY: a capsule of this name contains a valid stream.
        let mut stream = unsafe { ArrowArrayStream::take(pointer.cast()) };
        let failed = |stream: &mut ArrowArrayStream| {
            let message = stream.get_last_error.map(|get| {
                // SAFETY: the stream is not released. The message is null, or a string that lives
                // until the next call.
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
        // SAFETY: the stream is not released, and `schema` is ours to fill.
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

    /// The column of a stream of arrays.
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
            // SAFETY: a valid schema has `n_children` valid children.
            let schema = unsafe { &**self.schema.children.add(i) };
            // SAFETY: the name of a valid schema is null or ends with a zero.
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
                // SAFETY: a valid struct array has a valid child for each field.
                let child = unsafe { &**chunk.children.add(i) };
                field.push(py, child, chunk.offset, chunk.length, &names[i])?;
            }
        }
        Ok((fields, n_rows))
    }

    /// The metadata of the schema.
    pub fn metadata(&self) -> Option<Vec<u8>> {
        // SAFETY: the metadata of a valid schema are null or complete.
        unsafe { copy_metadata(self.schema.metadata.cast()) }
    }
}

/// An empty column of the schema's type.
pub(super) fn field(py: Python<'_>, schema: &ArrowSchema, what: &str, depth: usize) -> PyResult<Field> {
    // SAFETY: the format of a valid schema ends with a zero.
    let format = unsafe { text(schema.format) };
    if depth > nested::MAX_DEPTH {
        let message = format!("{what}: types nested more than {} deep are not supported", nested::MAX_DEPTH);
        return Err(errors::unsupported(py, message));
    }
    let (mut codes, mut children) = (Vec::new(), Vec::new());
    let parsed = match nested::parse(&format) {
        Some((mut column_type, of_union)) => {
            children = fields(py, schema, &mut column_type, what, depth)?;
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
    // SAFETY: the dictionary of a valid schema is null or a valid schema.
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
    // SAFETY: the metadata of a valid schema are null or complete.
    let metadata = unsafe { copy_metadata(schema.metadata.cast()) };
    let (mut detail, mut host_detail) = (zone.map(Value::from), None);
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
        detail = nested::detail(detail, &codes);
        host_detail = nested::host_detail(children.iter().map(|field| field.metadata.clone()));
    }
    if schema.flags & NULLABLE == 0 {
        column_type.host_variant |= format::REQUIRED;
    }
    let (name, array, dictionary_id) = Default::default();
    Ok(Field {
        name,
        column_type,
        detail,
        host_detail,
        dictionary,
        children,
        codes,
        array,
        metadata,
        is_bare,
        dictionary_id,
    })
}

/// The path of a field of a column, for error messages.
fn inside(what: &str, name: &str) -> String {
    match what.strip_suffix('\'') {
        Some(start) => format!("{start}.{name}'"),
        None => format!("{what}.{name}"),
    }
}

/// The fields of a nested type.
fn fields(
    py: Python<'_>,
    schema: &ArrowSchema,
    column_type: &mut ColumnType,
    what: &str,
    depth: usize,
) -> PyResult<Vec<Field>> {
    let n = usize::try_from(schema.n_children).unwrap_or(0);
    let mut fields = Vec::with_capacity(n);
    for i in 0..n {
        // SAFETY: a valid schema has `n_children` valid children.
        let child = unsafe { &**schema.children.add(i) };
        // SAFETY: the name and the format of a valid schema are null or end with a zero.
        let (name, format) = unsafe { (text(child.name), text(child.format)) };
        if column_type.physical == Physical::RunEnd && i == 0 {
            let layout = ["i", "l", "s"].iter().position(|known| *known == format);
            column_type.host_variant = layout.unwrap_or(0) as u8;
            continue;
        }
        let mut field = field(py, child, &inside(what, &name), depth + 1)?;
        if (column_type.physical, field.column_type.physical) == (Physical::RunEnd, Physical::RunEnd) {
            // pyarrow does not import them from the interface.
            return Err(errors::unsupported(py, format!("{what}: runs of runs are not supported")));
        }
        field.name = name;
        fields.push(field);
    }
    Ok(fields)
}

impl Field {
    /// Whether the column or a field in it, at any depth, has a dictionary.
    fn has_dictionary(&self) -> bool {
        self.dictionary.is_some() || self.children.iter().any(Self::has_dictionary)
    }

    /// Adds `n` values of an array, from `skip` after its own offset on.
    fn push(&mut self, py: Python<'_>, array: &ArrowArray, skip: i64, n: i64, what: &str) -> PyResult<()> {
        let chunk = self.chunk(py, array, skip + array.offset, n, what)?;
        if n > 0 {
            self.array.chunks.push(chunk);
        }
        Ok(())
    }

    /// `n` values of an array, from `offset` in its buffers on. Adds the dictionary of the first
    /// array.
    pub(super) fn chunk(
        &mut self,
        py: Python<'_>,
        array: &ArrowArray,
        offset: i64,
        n: i64,
        what: &str,
    ) -> PyResult<Chunk> {
        if let Some(dictionary) = &mut self.dictionary {
            // SAFETY: the dictionary of a valid array is null or a valid array.
            let values = unsafe { array.dictionary.as_ref() };
            let values =
                values.ok_or_else(|| pyo3::exceptions::PyValueError::new_err("a dictionary is not there"))?;
            let id = identity(values, dictionary);
            if self.dictionary_id.is_none() {
                dictionary.push(py, values, 0, values.length, what)?;
                self.dictionary_id = Some(id);
            } else if self.dictionary_id.as_ref() != Some(&id) && n > 0 {
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
            pyo3::exceptions::PyValueError::new_err(format!(
                "{what}: the buffers, offsets and children of an Arrow array do not fit its length"
            ))
        })
    }
}

/// The identity of an array: one buffer of the array, and one of each array in it.
fn identity(array: &ArrowArray, field: &Field) -> Vec<BufferId> {
    let ColumnType { physical, host_variant, .. } = field.column_type;
    let is_views = physical.is_var() && host_variant & format::LAYOUT == format::VIEW;
    // The last buffer identifies an array best. The last buffer of views is a list of lengths,
    // which each export allocates anew, so the one before it is used.
    let last = match usize::try_from(array.n_buffers).unwrap_or(0).saturating_sub(1 + usize::from(is_views)) {
        // SAFETY: a valid array has `n_buffers` buffers.
        at if array.n_buffers > 0 => unsafe { *array.buffers.add(at) as usize },
        _ => 0,
    };
    let mut ids = vec![(last, array.offset, array.length)];
    for (k, child) in field.children.iter().enumerate().take(usize::try_from(array.n_children).unwrap_or(0)) {
        // SAFETY: a valid array has as many children as it says, each valid.
        ids.extend(identity(unsafe { &**array.children.add(k) }, child));
    }
    ids
}

/// Bytes of a buffer, from `skip` on.
pub(super) fn lend(array: &ArrowArray, i: usize, skip: usize, len: usize) -> Option<HostRead> {
    if len == 0 {
        return Some(nothing());
    }
    if i as i64 >= array.n_buffers {
        return None;
    }
    // SAFETY: a valid array has `n_buffers` buffers.
    let start = unsafe { *array.buffers.add(i) };
    // SAFETY: type and length of a valid array determine the lengths of its buffers. The stream
    // keeps it until the file is written.
    (!start.is_null()).then(|| unsafe { HostRead::new(start.cast::<u8>().add(skip), len) })
}

/// The validity of `n` values from `first` on.
pub(super) fn validity(array: &ArrowArray, first: usize, n: usize) -> Option<HostValidity> {
    // SAFETY: a valid array has `n_buffers` buffers.
    if array.null_count == 0 || array.n_buffers == 0 || unsafe { *array.buffers }.is_null() {
        return Some(HostValidity::AllValid);
    }
    let memory = lend(array, 0, first / 8, (first % 8 + n).div_ceil(8))?;
    Some(HostValidity::Bits { memory, first_bit: first % 8 })
}

/// `n` values of an array without children, from `offset` in its buffers on. None if a buffer is
/// missing or a number is negative.
fn chunk(column_type: &ColumnType, array: &ArrowArray, offset: i64, n: i64) -> Option<Chunk> {
    let (first, n) = (usize::try_from(offset).ok()?, usize::try_from(n).ok()?);
    let buffer = |i: usize| -> Option<*const c_void> {
        // SAFETY: a valid array has `n_buffers` buffers.
        ((i as i64) < array.n_buffers).then(|| unsafe { *array.buffers.add(i) })
    };
    let lend = |i: usize, skip: usize, len: usize| lend(array, i, skip, len);
    if column_type.physical == Physical::Null {
        return Some(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid });
    }
    let validity = validity(array, first, n)?;
    let layout = column_type.host_variant & format::LAYOUT;
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

/// Copies a string that ends with a zero. A null pointer is an empty string.
///
/// # Safety
/// The pointer is null, or points to a string that ends with a zero.
pub(super) unsafe fn text(pointer: *const std::ffi::c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Copies metadata.
///
/// # Safety
/// The pointer is null, or points to valid metadata.
unsafe fn copy_metadata(pointer: *const u8) -> Option<Vec<u8>> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the numbers of valid metadata lead to numbers inside them.
    let len = metadata::walk(|at| Some(unsafe { pointer.add(at).cast::<i32>().read_unaligned() }))?;
    // SAFETY: valid metadata have as many bytes as `walk` counted.
    Some(unsafe { std::slice::from_raw_parts(pointer, len) }.to_vec())
}
