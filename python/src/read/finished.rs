//! Decoded columns in Arrow's layout.

use std::sync::Arc;

use entasis::{
    Buffer, ColumnInfo, ColumnType, Logical, Physical, Shared, Text, TextLayout, Value, json_string,
};
use pyo3::prelude::*;

use crate::arrow::c_string::c_string;
use crate::arrow::export::{Data, Dictionaries, Kind};
use crate::arrow::format::{self, LARGE, LAYOUT, REQUIRED, SMALL, VIEW};
use crate::arrow::{metadata, zones};
use crate::errors;
use crate::read::plan::Target;

/// The metadata of a column of an extension type. None for other columns, and if the file lacks the
/// name.
pub fn extension(info: &ColumnInfo) -> Option<Vec<u8>> {
    let detail = info.detail.as_ref()?;
    let (name, more) = match info.record.column_type.logical {
        // pandas registers its extension type by this name.
        Logical::Period => {
            let freq = format!("{{\"freq\": {}}}", json_string(detail.as_str()?));
            ("pandas.period", freq.into_bytes())
        }
        Logical::Uuid | Logical::Json | Logical::Extension => {
            let more = match detail.get("metadata") {
                Some(Value::Bytes(bytes)) => bytes.clone(),
                _ => Vec::new(),
            };
            (detail.get("name")?.as_str()?, more)
        }
        _ => return None,
    };
    let pairs = [(metadata::EXTENSION_NAME, name.as_bytes()), (metadata::EXTENSION_METADATA, &more)];
    metadata::build(&pairs)
}

/// A column in Arrow's layout.
pub struct Finished {
    pub kind: Kind,
    pub data: Data,
}

impl Finished {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        py: Python<'_>,
        info: &ColumnInfo,
        target: &Target,
        own: bool,
        n: usize,
        words: Buffer,
        validity: Option<Buffer>,
        text: Text,
        dictionaries: &Dictionaries,
    ) -> PyResult<Self> {
        if *target == Target::Codes {
            return Self::of_codes(info, own, n, validity, text)
                .ok_or_else(|| errors::out_of_memory(py, n, 4, "the strings"));
        }
        let column_type = &info.record.column_type;
        let layout = if let Target::Arrow(layout) = target { layout & LAYOUT } else { LARGE };
        let nan_is_null = *target == Target::NullableFloats;
        let (layout, buffers) = match column_type.physical {
            Physical::Null => (layout, Vec::new()),
            Physical::Utf8 | Physical::Binary => {
                let strings = strings(text, n);
                let (layout, mut buffers) =
                    strings.ok_or_else(|| errors::out_of_memory(py, n, 8, "the strings"))?;
                buffers.insert(0, validity.map(Arc::new));
                (layout, buffers)
            }
            _ => (layout, vec![validity.map(Arc::new), Some(Arc::new(words))]),
        };
        Self::of_buffers(py, info, own, n, layout, nan_is_null, buffers, dictionaries)
    }

    /// Codes of strings, with their dictionary. None without memory.
    fn of_codes(
        info: &ColumnInfo,
        own: bool,
        n: usize,
        validity: Option<Buffer>,
        text: Text,
    ) -> Option<Self> {
        let Text { offsets: codes, distinct, .. } = text;
        let distinct = distinct.map_or_else(|| Text::new(TextLayout::Small), |distinct| *distinct);
        let width = if distinct.layout == TextLayout::Large { 8 } else { 4 };
        let n_distinct = (distinct.offsets.len() / width).saturating_sub(1);
        let (layout, mut buffers) = strings(distinct, n_distinct)?;
        buffers.insert(0, None);
        let values = Data { n: n_distinct, buffers, ..Data::default() };
        let of = Kind::new(if layout == SMALL { c"u" } else { c"U" }.to_owned());
        let kind = Kind {
            dictionary: Some(Arc::new(of)),
            required: own && info.record.column_type.host_variant & REQUIRED != 0,
            ..Kind::new(c"i".to_owned())
        };
        let buffers = vec![validity.map(Arc::new), Some(Arc::new(codes))];
        let data = Data { n, buffers, dictionary: Some(Arc::new(values)), ..Data::default() };
        Some(Self { kind, data })
    }

    /// A column whose buffers a held table has. `target` is its layout in Arrow.
    pub fn shared(
        py: Python<'_>,
        info: &ColumnInfo,
        target: &Target,
        own: bool,
        n: usize,
        shared: Shared,
        dictionaries: &Dictionaries,
    ) -> PyResult<Self> {
        let layout = if let Target::Arrow(layout) = target { layout & LAYOUT } else { LARGE };
        let Shared { mut buffers, validity } = shared;
        if info.record.column_type.physical.is_var() && layout == VIEW {
            let lens: Vec<i64> = buffers.iter().skip(1).map(|buffer| buffer.len() as i64).collect();
            buffers.push(Arc::new(Buffer::of_vec(lens)));
        }
        let buffers = std::iter::once(validity.map(Arc::new)).chain(buffers.into_iter().map(Some)).collect();
        Self::of_buffers(py, info, own, n, layout, false, buffers, dictionaries)
    }

    #[allow(clippy::too_many_arguments)]
    fn of_buffers(
        py: Python<'_>,
        info: &ColumnInfo,
        own: bool,
        n: usize,
        layout: u8,
        nan_is_null: bool,
        buffers: Vec<Option<Arc<Buffer>>>,
        dictionaries: &Dictionaries,
    ) -> PyResult<Self> {
        let column_type = &info.record.column_type;
        let codes = ColumnType { logical: Logical::Plain, ..*column_type };
        let is_categorical = column_type.logical == Logical::Categorical;
        let zone = info.detail.as_ref().and_then(|detail| detail.as_str());
        let of_arrow = if own { zone } else { zone.and_then(zones::of_arrow) };
        let format = format::format(if is_categorical { &codes } else { column_type }, layout, of_arrow);
        let format = format.filter(|_| of_arrow.is_some() == zone.is_some());
        let is_of_polars = format.as_deref().is_some_and(|format| format.starts_with("_pl"));
        let format = format.filter(|_| !(own && is_of_polars));
        let format = format.ok_or_else(|| {
            let type_name = crate::column::type_name(info);
            errors::unsupported(
                py,
                format!("column '{}': type {type_name} has no counterpart in Arrow", info.name),
            )
        })?;
        let mut kind = Kind::new(c_string(py, &format, &info.name)?);
        kind.metadata = extension(info);
        kind.ordered = column_type.ordered;
        kind.required = own && column_type.host_variant & REQUIRED != 0 && !nan_is_null;
        let mut data = Data { n, buffers, ..Data::default() };
        if let Some((of, values)) = info.record.dictionary.and_then(|index| dictionaries.get(&index)) {
            kind.dictionary = Some(Arc::clone(of));
            data.dictionary = Some(Arc::clone(values));
        }
        Ok(Self { kind, data })
    }
}

/// The layout and the buffers of strings.
fn strings(text: Text, n: usize) -> Option<(u8, Vec<Option<Arc<Buffer>>>)> {
    let Text { layout, mut offsets, mut bytes, dictionaries, .. } = text;
    let (layout, offset_len) = match layout {
        TextLayout::Small => (SMALL, 4),
        TextLayout::Large => (LARGE, 8),
        TextLayout::Views => (VIEW, 0),
        // Only their distinct strings are in a layout of Arrow.
        TextLayout::Codes => return None,
    };
    if offsets.is_empty() {
        offsets = Buffer::zeroed(offset_len * (n + 1))?;
    }
    if layout == VIEW {
        bytes.extend(dictionaries);
        let mut lens = Buffer::zeroed(8 * bytes.len())?;
        for (len, buffer) in lens.chunks_exact_mut(8).zip(&bytes) {
            len.copy_from_slice(&(buffer.len() as i64).to_le_bytes());
        }
        bytes.push(lens);
    } else if bytes.is_empty() {
        bytes.push(Buffer::default());
    }
    let buffers = std::iter::once(offsets).chain(bytes);
    Some((layout, buffers.map(|buffer| Some(Arc::new(buffer))).collect()))
}
