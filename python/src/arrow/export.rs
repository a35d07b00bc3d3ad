//! Exports decoded columns as structures of the C data interface, without a copy.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

use entasis::{Buffer, count_ones};

use super::ffi::{ArrowArray, ArrowSchema, KEYS_SORTED, NULLABLE, ORDERED};

/// The type of a column.
#[derive(Clone, PartialEq, Debug)]
pub struct Kind {
    pub name: CString,
    pub format: CString,
    pub ordered: bool,
    /// Whether the keys of a map are sorted.
    pub keys_sorted: bool,
    pub required: bool,
    pub metadata: Option<Vec<u8>>,
    pub dictionary: Option<Arc<Kind>>,
    pub children: Vec<Kind>,
}

impl Kind {
    /// A type with its format alone.
    pub fn new(format: CString) -> Self {
        let (name, metadata, dictionary, children) = (CString::default(), None, None, Vec::new());
        let (ordered, keys_sorted, required) = (false, false, false);
        Self { name, format, ordered, keys_sorted, required, metadata, dictionary, children }
    }
}

/// The values of a column.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub n: usize,
    pub offset: usize,
    /// The first buffer is the validity, which may be absent.
    pub buffers: Vec<Option<Arc<Buffer>>>,
    pub dictionary: Option<Arc<Data>>,
    pub children: Vec<Data>,
    /// Whether the array lacks a validity buffer, as a union does.
    pub is_all_there: bool,
}

impl Data {
    /// Bytes of the buffers, without those of dictionaries.
    pub fn memory_len(&self) -> usize {
        let buffers = self.buffers.iter().flatten().map(|buffer| buffer.len());
        buffers.chain(self.children.iter().map(Self::memory_len)).fold(0, usize::saturating_add)
    }

    /// Whether a bitmap has values that are missing.
    pub fn has_missing(&self) -> bool {
        let bits = self.buffers.first().and_then(Option::as_ref);
        bits.is_some_and(|bits| count_ones(bits, self.offset, self.n) < self.n)
    }

    /// The number of missing values, or -1 if the importer has to count them.
    fn null_count(&self) -> i64 {
        if self.is_all_there {
            return 0;
        }
        match self.buffers.first() {
            // DuckDB 1.1 reads -1 as zero in arrays with a dictionary, and loses missing values.
            Some(Some(validity)) if self.dictionary.is_some() => {
                (self.n - count_ones(validity, self.offset, self.n)) as i64
            }
            Some(Some(_)) => -1,
            None if self.children.is_empty() => self.n as i64,
            _ => 0,
        }
    }
}

/// Dictionaries, by the number of the column with the values.
pub type Dictionaries = HashMap<u64, (Arc<Kind>, Arc<Data>)>;

struct SchemaOwner {
    format: CString,
    name: CString,
    metadata: Option<Vec<u8>>,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

/// The structure of a type.
pub fn schema(kind: &Kind) -> ArrowSchema {
    let children = kind.children.iter().map(|child| Box::into_raw(Box::new(schema(child)))).collect();
    let dictionary =
        kind.dictionary.as_ref().map_or(ptr::null_mut(), |kind| Box::into_raw(Box::new(schema(kind))));
    let mut owner = Box::new(SchemaOwner {
        format: kind.format.clone(),
        name: kind.name.clone(),
        metadata: kind.metadata.clone(),
        children,
        dictionary,
    });
    ArrowSchema {
        format: owner.format.as_ptr(),
        name: owner.name.as_ptr(),
        metadata: owner.metadata.as_ref().map_or(ptr::null(), |bytes| bytes.as_ptr().cast()),
        flags: if kind.ordered { ORDERED } else { 0 }
            | if kind.keys_sorted { KEYS_SORTED } else { 0 }
            | if kind.required { 0 } else { NULLABLE },
        n_children: owner.children.len() as i64,
        children: owner.children.as_mut_ptr(),
        dictionary,
        release: Some(release_schema),
        private_data: Box::into_raw(owner).cast(),
    }
}

/// Frees what `schema` made, as the Arrow C data interface asks.
///
/// # Safety
/// `schema` must be a structure that [`schema`] made and that was not released.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the importer calls this once, with a structure that `schema` made. Its private data
    // is our box.
    unsafe {
        let owner = Box::from_raw((*schema).private_data.cast::<SchemaOwner>());
        for &child in &owner.children {
            drop(Box::from_raw(child));
        }
        if !owner.dictionary.is_null() {
            drop(Box::from_raw(owner.dictionary));
        }
        (*schema).release = None;
    }
}

struct ArrayOwner {
    /// Keeps the buffers alive.
    _data: Data,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

/// The structure of values.
pub fn array(data: &Data) -> ArrowArray {
    let children = data.children.iter().map(|child| Box::into_raw(Box::new(array(child)))).collect();
    let dictionary =
        data.dictionary.as_ref().map_or(ptr::null_mut(), |data| Box::into_raw(Box::new(array(data))));
    let buffers = data.buffers.iter();
    let buffers = buffers.map(|buffer| buffer.as_ref().map_or(ptr::null(), |buffer| buffer.as_ptr().cast()));
    let mut owner =
        Box::new(ArrayOwner { buffers: buffers.collect(), children, dictionary, _data: data.clone() });
    ArrowArray {
        length: data.n as i64,
        null_count: data.null_count(),
        offset: data.offset as i64,
        n_buffers: owner.buffers.len() as i64,
        n_children: owner.children.len() as i64,
        buffers: owner.buffers.as_mut_ptr(),
        children: owner.children.as_mut_ptr(),
        dictionary,
        release: Some(release_array),
        private_data: Box::into_raw(owner).cast(),
    }
}

/// Frees what `array` made.
///
/// # Safety
/// `array` must be a structure that [`array`] made and that was not released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the importer calls this once, with a structure that `array` made. Its private data is
    // our box.
    unsafe {
        let owner = Box::from_raw((*array).private_data.cast::<ArrayOwner>());
        for &child in &owner.children {
            drop(Box::from_raw(child));
        }
        if !owner.dictionary.is_null() {
            drop(Box::from_raw(owner.dictionary));
        }
        (*array).release = None;
    }
}
