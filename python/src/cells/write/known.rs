//! Scalars of the standard library and NumPy.

use entasis::{CellClass, CellKind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};

use super::atoms::Sink;
use crate::cells::types::Types;

/// Adds a value whose type has this kind. Returns false if the value has parts, or if the kind
/// cannot represent it.
pub fn put_known<S: Sink>(
    types: &Types,
    object: &Bound<'_, PyAny>,
    kind: CellKind,
    out: &mut S,
) -> PyResult<bool> {
    let py = object.py();
    match kind {
        CellKind::Date => {
            let days: i64 = object.call_method0(pyo3::intern!(py, "toordinal"))?.extract()?;
            out.int(kind, days - 719_163);
        }
        CellKind::Time | CellKind::Datetime => {
            let is_plain = object.getattr(pyo3::intern!(py, "tzinfo"))?.is_none()
                && object.getattr(pyo3::intern!(py, "fold"))?.extract::<u8>()? == 0;
            if !is_plain {
                return Ok(false);
            }
            let value = if kind == CellKind::Datetime {
                types.since_epoch(object)?
            } else {
                let part = |name| object.getattr(name)?.extract::<i64>();
                let minutes = part("hour")? * 60 + part("minute")?;
                (minutes * 60 + part("second")?) * 1_000_000 + part("microsecond")?
            };
            out.int(kind, value);
        }
        CellKind::Timedelta => match types.microseconds(object)? {
            Some(value) => out.int(kind, value),
            None => return Ok(false),
        },
        CellKind::Fraction => return Ok(false),
        CellKind::UInt64 => {
            let value: u64 = object.call_method0(pyo3::intern!(py, "__index__"))?.extract()?;
            out.int(kind, value.cast_signed());
        }
        CellKind::NumpyTrue => {
            let is_true = object.is_truthy()?;
            out.unit(if is_true { CellKind::NumpyTrue } else { CellKind::NumpyFalse });
        }
        _ if kind.class() == CellClass::Int => {
            let value: i64 = object.call_method0(pyo3::intern!(py, "__index__"))?.extract()?;
            out.int(kind, value);
        }
        CellKind::Float64 => out.float(kind, object.cast::<PyFloat>()?.value()),
        CellKind::Float32 | CellKind::Float16 => {
            let value: f64 = object.call_method0(pyo3::intern!(py, "__float__"))?.extract()?;
            if value.is_nan() {
                // Converting a NaN to another width can change its bits.
                return Ok(false);
            }
            out.float(kind, value);
        }
        CellKind::Uuid => {
            let bytes = object.getattr(pyo3::intern!(py, "bytes"))?.cast_into::<PyBytes>()?;
            out.bytes(kind, bytes.as_bytes());
        }
        CellKind::NumpyBytes => out.bytes(kind, object.cast::<PyBytes>()?.as_bytes()),
        CellKind::NumpyStr => {
            // `str()` would drop zero characters at the end.
            let Ok(text) = object.cast::<PyString>()?.to_str() else { return Ok(false) };
            out.text(kind, text);
        }
        _ => {
            let text = object.str()?;
            let Ok(text) = text.to_str() else { return Ok(false) };
            out.text(kind, text);
        }
    }
    Ok(true)
}
