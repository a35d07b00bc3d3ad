//! Arrays of nested types as chunks.

use std::sync::Arc;

use entasis::{Chunk, ColumnType, HostRead, HostValidity, HostValues, Physical};
use pyo3::prelude::*;

use super::ffi::ArrowArray;
use super::import::{Field, lend, validity};
use super::nested::{end_width, list_layout};

/// Child `k` of an array.
fn child(array: &ArrowArray, k: usize) -> Option<&ArrowArray> {
    // SAFETY: a valid array has `n_children` valid children.
    ((k as i64) < array.n_children).then(|| unsafe { &**array.children.add(k) })
}

impl Field {
    /// `n` values of an array of a nested type, from `offset` in its buffers on.
    pub(super) fn nested_chunk(
        &mut self,
        py: Python<'_>,
        array: &ArrowArray,
        offset: i64,
        n: i64,
        what: &str,
    ) -> PyResult<Chunk> {
        let bad = || {
            pyo3::exceptions::PyValueError::new_err(format!(
                "{what}: the buffers, offsets and children of an Arrow array do not fit its length"
            ))
        };
        let of = self.column_type;
        let (first, len) =
            (usize::try_from(offset).map_err(|_| bad())?, usize::try_from(n).map_err(|_| bad())?);
        let is_run_end = of.physical == Physical::RunEnd;
        let mut children = Vec::with_capacity(self.children.len());
        for (k, field) in self.children.iter_mut().enumerate() {
            let child = child(array, k + usize::from(is_run_end)).ok_or_else(bad)?;
            let (skip, n_child) = match of.physical {
                Physical::FixedSizeList => {
                    let len = i64::from(of.value_len);
                    let skip = offset.checked_mul(len).ok_or_else(bad)?;
                    (skip, n.checked_mul(len).ok_or_else(bad)?)
                }
                Physical::Struct => (offset, n),
                Physical::Union if of.is_sparse() => (offset, n),
                _ => (0, child.length),
            };
            let start = child.offset.checked_add(skip).ok_or_else(bad)?;
            children.push(field.chunk(py, child, start, n_child, what)?);
        }
        if len == 0 {
            return Ok(Chunk { n: 0, values: HostValues::Null, validity: HostValidity::AllValid });
        }
        let values = values(&of, array, (first, len), children, &self.codes).ok_or_else(bad)?;
        let validity = match of.physical {
            Physical::Union | Physical::RunEnd => HostValidity::AllValid,
            _ => validity(array, first, len).ok_or_else(bad)?,
        };
        Ok(Chunk { n: len, values, validity })
    }
}

fn values(
    of: &ColumnType,
    array: &ArrowArray,
    (first, n): (usize, usize),
    mut children: Vec<Chunk>,
    codes: &[u8],
) -> Option<HostValues> {
    Some(match of.physical {
        Physical::List | Physical::Map => {
            let (is_large, is_view) = list_layout(of.host_variant);
            let width = if is_large { 8 } else { 4 };
            let child = Arc::new(children.pop()?);
            if is_view {
                let (offsets, sizes) =
                    (lend(array, 1, first * width, n * width)?, lend(array, 2, first * width, n * width)?);
                HostValues::ListViews { offsets, sizes, is_large, child }
            } else {
                let offsets = lend(array, 1, first * width, (n + 1) * width)?;
                HostValues::Lists { offsets, is_large, child }
            }
        }
        Physical::FixedSizeList | Physical::Struct => HostValues::Children(children.into()),
        Physical::Union => {
            let mut types = [u8::MAX; 256];
            for (k, &code) in codes.iter().enumerate() {
                types[usize::from(code)] = k as u8;
            }
            let offsets = if of.is_sparse() { None } else { Some(lend(array, 1, first * 4, n * 4)?) };
            HostValues::Union {
                codes: lend(array, 0, first, n)?,
                types: Arc::new(types),
                offsets,
                children: children.into(),
            }
        }
        Physical::RunEnd => {
            let ends = child(array, 0)?;
            let width = end_width(of.host_variant);
            let (skip, n_runs) = (usize::try_from(ends.offset).ok()?, usize::try_from(ends.length).ok()?);
            let memory: HostRead = lend(ends, 1, skip * width, n_runs * width)?;
            HostValues::Runs { ends: memory, width, first: first as u64, child: Arc::new(children.pop()?) }
        }
        _ => return None,
    })
}
