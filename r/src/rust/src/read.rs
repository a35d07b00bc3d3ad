//! Reads columns into vectors of R: directly if the layouts agree, else through scratch memory.

use std::os::raw::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use entasis::{
    Buffer, ColumnInfo, Error, File, Logical, MissingTo, Output, Physical, Request, Result, Rows, TextLayout,
};

use entasis_query::{NanIsNull, is_float};

use crate::build::scale;
use crate::column::Kind;
use crate::guard::{self, Failure, Interrupted, Signals, slice, slice_mut};
use crate::missing::{self, NA_INTEGER, NA_INTEGER64};
use crate::text::Strings;
use crate::{integers, parallel, times};

/// A column to read, and the memory of the vector to fill.
#[repr(C)]
pub struct Want {
    column: f64,
    /// Memory for `n` values of the kind; null for strings.
    values: *mut c_void,
    n: usize,
    kind: i32,
    /// Seconds in a unit of R's durations.
    seconds: i32,
    /// Whether the quiet NA marks missing doubles.
    quiet: i32,
    /// Whether another host wrote the column: its values may include R's NA sentinel.
    foreign: i32,
}

impl Want {
    /// A column that R wrote, with memory for `n` values of a kind with a width.
    pub fn own(column: u64, kind: Kind, memory: &mut [u8], n: usize, quiet: bool) -> Self {
        Self {
            column: column as f64,
            values: memory.as_mut_ptr().cast(),
            n,
            kind: kind.code(),
            seconds: 1,
            quiet: i32::from(quiet),
            foreign: 0,
        }
    }
}

/// Rows to read: all (kind 0), from `start` to before `stop` (1), or those with these numbers, from
/// 0 on (2).
#[repr(C)]
pub struct WantedRows {
    kind: i32,
    start: f64,
    stop: f64,
    numbers: *const f64,
    n: usize,
}

/// The results of a column other than the values in memory.
pub struct Of {
    strings: Option<Box<Strings>>,
    /// The first integer that was rounded to a double, and its row.
    rounded: Option<(u64, i128)>,
}

/// The results of all columns.
pub struct Found(Vec<Of>);

/// A column that is being read.
struct Job<'a> {
    info: ColumnInfo,
    kind: Kind,
    seconds: i32,
    na: u64,
    /// Whether NaN counts as missing: in some float columns of other hosts.
    nan_is_na: bool,
    memory: &'a mut [u8],
    /// Scratch memory for values before conversion.
    scratch: Option<Buffer>,
    /// The validity of integers of another host, if some are missing.
    validity: Option<Buffer>,
    /// Whether to check integers for values that R cannot hold.
    is_checked: bool,
    /// The index in `memory` and the value of the first integer that was rounded to a double.
    rounded: Option<(usize, i128)>,
    strings: Option<Box<Strings>>,
    /// A byte for each structure value of a nested column, 1 = missing.
    mask: Vec<u8>,
}

impl Job<'_> {
    fn physical(&self) -> Physical {
        self.info.record.column_type.physical
    }

    /// Whether values are converted from scratch memory.
    fn needs_scratch(kind: Kind, physical: Physical) -> bool {
        match kind {
            Kind::Double => physical != Physical::F64,
            Kind::Complex => physical != Physical::Complex128,
            Kind::Days | Kind::Instant | Kind::Span | Kind::Whole => physical == Physical::I32,
            Kind::InstantInteger | Kind::SpanInteger => true,
            Kind::Words => matches!(physical, Physical::List | Physical::Map),
            _ => false,
        }
    }

    fn request(&mut self, rows: Rows) -> Request<'_> {
        let (physical, kind, na) = (self.physical(), self.kind, self.na);
        let has_missing = self.info.record.n_missing > 0;
        let least = |physical: Physical| match physical.width() {
            Some(4) => NA_INTEGER as u32 as u64,
            _ => NA_INTEGER64 as u64,
        };
        if kind == Kind::Words {
            let output = match (physical, &mut self.scratch) {
                (Physical::RunEnd | Physical::Union, _) => {
                    Output::Int32 { memory: &mut *self.memory, plus: 0 }
                }
                (_, Some(scratch)) => Output::Words(scratch),
                // Their structure values are validity alone.
                (_, None) => Output::Words(&mut []),
            };
            let missing = if matches!(physical, Physical::RunEnd | Physical::Union) {
                MissingTo::Ignore
            } else {
                MissingTo::Mask(&mut self.mask)
            };
            return Request { column: self.info.index, rows, output, missing };
        }
        let (output, missing) = match (&mut self.strings, &mut self.scratch) {
            (Some(strings), _) => {
                let (text, bits) = strings.parts();
                (Output::Text(text), bits.map_or(MissingTo::Ignore, MissingTo::Bits))
            }
            (None, Some(scratch)) => {
                let sentinel = match (kind, physical) {
                    (Kind::Double, Physical::F32) => u64::from(f32::NAN.to_bits()),
                    (Kind::Double, Physical::F16) => 0x7E00,
                    (_, physical) => least(physical),
                };
                let missing = if let Some(bits) = &mut self.validity {
                    MissingTo::Bits(bits)
                } else if physical.width() > Some(8) || !has_missing {
                    MissingTo::Ignore
                } else {
                    MissingTo::Sentinel(sentinel)
                };
                (Output::Words(scratch), missing)
            }
            (None, None) => {
                let memory = &mut *self.memory;
                let checked = match &mut self.validity {
                    Some(bits) => MissingTo::Bits(bits),
                    None => MissingTo::Ignore,
                };
                match kind {
                    Kind::Integer if self.is_checked => (Output::Int32 { memory, plus: 0 }, checked),
                    Kind::Integer64 | Kind::Whole if self.is_checked => (Output::Words(memory), checked),
                    Kind::Logical | Kind::Integer | Kind::Codes | Kind::DaysInteger => {
                        let plus = i32::from(kind == Kind::Codes);
                        (Output::Int32 { memory, plus }, MissingTo::Sentinel(NA_INTEGER as u32 as u64))
                    }
                    Kind::Double => (Output::Words(memory), MissingTo::Sentinel(na)),
                    Kind::Complex | Kind::Raw | Kind::String => (Output::Words(memory), MissingTo::Ignore),
                    _ => (Output::Words(memory), MissingTo::Sentinel(NA_INTEGER64 as u64)),
                }
            }
        };
        Request { column: self.info.index, rows, output, missing }
    }

    /// Converts the values that were read to R's.
    fn finish(&mut self) -> Result<()> {
        let (kind, physical, na) = (self.kind, self.physical(), self.na);
        let of = self.info.record.column_type;
        if let Some(strings) = &self.strings {
            return strings.check(kind == Kind::String);
        }
        if kind == Kind::Words {
            return self.finish_words();
        }
        match (&self.scratch, kind) {
            (None, Kind::Integer) if self.is_checked => mark_missing(
                bytemuck::cast_slice_mut(self.memory),
                self.validity.as_deref(),
                NA_INTEGER,
                |n| n == NA_INTEGER,
            ),
            (None, Kind::Integer64) if self.is_checked => {
                let is_beyond = |n: i64| n == NA_INTEGER64 || (physical == Physical::U64 && n < 0);
                mark_missing(
                    bytemuck::cast_slice_mut(self.memory),
                    self.validity.as_deref(),
                    NA_INTEGER64,
                    is_beyond,
                )
            }
            (_, Kind::Whole) => {
                self.finish_whole();
                Ok(())
            }
            (None, Kind::Days | Kind::Instant | Kind::Span) => times::to_doubles(
                bytemuck::cast_slice_mut(self.memory),
                of.unit,
                scale(kind, self.seconds),
                na,
            ),
            (None, Kind::Double) if self.nan_is_na => {
                let values: &mut [u64] = bytemuck::cast_slice_mut(self.memory);
                parallel::each(values, |value| {
                    *value = if f64::from_bits(*value).is_nan() { na } else { *value }
                });
                Ok(())
            }
            (None, _) => Ok(()),
            (Some(scratch), Kind::Days | Kind::Instant | Kind::Span) => {
                let from: &[i32] = bytemuck::cast_slice(scratch);
                let out: &mut [u64] = bytemuck::cast_slice_mut(self.memory);
                parallel::convert(from, out, |&n, out| {
                    *out = if n == NA_INTEGER { NA_INTEGER64 as u64 } else { i64::from(n) as u64 };
                    Ok(())
                })?;
                times::to_doubles(out, of.unit, scale(kind, self.seconds), na)
            }
            (Some(scratch), Kind::InstantInteger | Kind::SpanInteger) => {
                let out: &mut [i32] = bytemuck::cast_slice_mut(self.memory);
                let cut = |n: i64, out: &mut i32| {
                    *out = if n == NA_INTEGER64 {
                        NA_INTEGER
                    } else {
                        i32::try_from(n).map_err(|_| too_wide())?
                    };
                    Ok(())
                };
                match physical {
                    Physical::I64 => {
                        parallel::convert(bytemuck::cast_slice::<u8, i64>(scratch), out, |n, out| {
                            cut(*n, out)
                        })
                    }
                    _ => {
                        out.copy_from_slice(bytemuck::cast_slice(scratch));
                        Ok(())
                    }
                }
            }
            (Some(scratch), Kind::Complex) => {
                let from: &[f32] = bytemuck::cast_slice(scratch);
                let out: &mut [f64] = bytemuck::cast_slice_mut(self.memory);
                out.iter_mut().zip(from).for_each(|(out, value)| *out = f64::from(*value));
                Ok(())
            }
            (Some(scratch), _) => {
                let out: &mut [u64] = bytemuck::cast_slice_mut(self.memory);
                // A decimal is an integer divided by a power of ten, and both are exact doubles.
                let ten = if of.logical == Logical::Decimal { 10f64.powi(i32::from(of.scale)) } else { 1.0 };
                let double = |value: f64| (value / ten).to_bits();
                let has_missing = self.info.record.n_missing > 0 || self.nan_is_na;
                match physical {
                    Physical::F32 => widen(scratch, out, |value: f32| {
                        if has_missing && value.is_nan() { na } else { f64::from(value).to_bits() }
                    }),
                    Physical::F16 => widen(scratch, out, |half: u16| {
                        if has_missing && half & 0x7FFF > 0x7C00 { na } else { of_half(half).to_bits() }
                    }),
                    Physical::U32 => widen(scratch, out, |n: u32| {
                        if has_missing && n == NA_INTEGER as u32 { na } else { double(f64::from(n)) }
                    }),
                    Physical::I32 => {
                        widen(scratch, out, |n: i32| if n == NA_INTEGER { na } else { double(f64::from(n)) })
                    }
                    _ => widen(scratch, out, |n: i64| if n == NA_INTEGER64 { na } else { double(n as f64) }),
                }
                Ok(())
            }
        }
    }
}

impl Job<'_> {
    /// Stores lengths of lists as integers of R, or 1 for structs that are present.
    fn finish_words(&mut self) -> Result<()> {
        if matches!(self.physical(), Physical::RunEnd | Physical::Union) {
            return Ok(());
        }
        let out: &mut [i32] = bytemuck::cast_slice_mut(self.memory);
        let lengths: &[u32] = self.scratch.as_deref().map_or(&[], bytemuck::cast_slice);
        for (i, (out, &missing)) in out.iter_mut().zip(&self.mask).enumerate() {
            *out = match lengths.get(i) {
                _ if missing != 0 => NA_INTEGER,
                Some(&length) => {
                    i32::try_from(length).map_err(|_| Error::limit("a list is too long for R"))?
                }
                None => 1,
            };
        }
        Ok(())
    }
}

impl Job<'_> {
    /// Converts integers of another host to doubles.
    fn finish_whole(&mut self) {
        let physical = self.physical();
        let out: &mut [u64] = bytemuck::cast_slice_mut(self.memory);
        let bits = self.validity.as_deref();
        let is_missing = |i: usize| bits.is_some_and(|bits| bits[i / 8] >> (i % 8) & 1 == 0);
        self.rounded = match (&self.scratch, physical) {
            (Some(scratch), _) => {
                widen(scratch, out, |n: i32| f64::from(n).to_bits());
                None
            }
            (None, Physical::U64) => integers::to_doubles(out, is_missing, |n| (n as f64, i128::from(n))),
            (None, _) => integers::to_doubles(out, is_missing, |n| {
                (n.cast_signed() as f64, i128::from(n.cast_signed()))
            }),
        };
        if bits.is_some() {
            out.iter_mut().enumerate().filter(|(i, _)| is_missing(*i)).for_each(|(_, out)| *out = self.na);
        }
    }
}

/// Stores the sentinel for missing values. First checks that no other value exceeds R's integers or
/// equals the sentinel.
fn mark_missing<T: Copy + Send + Sync>(
    values: &mut [T],
    validity: Option<&[u8]>,
    sentinel: T,
    is_beyond: impl Fn(T) -> bool + Sync,
) -> Result<()> {
    let is_valid = |i: usize| validity.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
    let beyond = parallel::parts(values.len(), |range| {
        values[range.clone()].iter().zip(range).any(|(&value, i)| is_beyond(value) && is_valid(i))
    });
    if beyond.contains(&true) {
        let message = "an integer is beyond the range of R, whose least integer is NA";
        return Err(Error::unsupported(message).advise("read other columns"));
    }
    if validity.is_some() {
        values.iter_mut().enumerate().filter(|(i, _)| !is_valid(*i)).for_each(|(_, value)| *value = sentinel);
    }
    Ok(())
}

fn too_wide() -> Error {
    Error::corrupt("a time is beyond the range of R's integers")
}

fn widen<T: bytemuck::Pod>(from: &[u8], out: &mut [u64], to: impl Fn(T) -> u64) {
    let from: &[T] = bytemuck::cast_slice(from);
    out.iter_mut().zip(from).for_each(|(out, value)| *out = to(*value));
}

/// Converts a half-precision float.
fn of_half(half: u16) -> f64 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// Reads columns. `rows` gives the rows of each by its position in `wants`.
///
/// # Safety
/// The memory of all columns must be valid, aligned, and used by nothing else.
pub unsafe fn read(
    file: &File,
    wants: &[Want],
    rows: impl Fn(usize) -> Rows,
    threads: Option<usize>,
    interrupted: Option<Interrupted>,
) -> Result<Vec<Of>> {
    let mut jobs = Vec::with_capacity(wants.len());
    let mut nan_is_null: Option<NanIsNull> = None;
    for (i, want) in wants.iter().enumerate() {
        let info = (*file.column(want.column as u64)?).clone();
        let kind = Kind::of(want.kind)?;
        let of = info.record.column_type;
        let named = |e: Error| e.in_column(&info.name).in_file(file.path());
        if !kind.takes(&of) {
            let message = format!("values of type {} cannot be an R vector of this kind", of.physical.name());
            return Err(named(Error::corrupt(message)));
        }
        let n =
            usize::try_from(rows(i).n(info.record.n_values)).map_err(|_| Error::limit("too many rows"))?;
        if n != want.n {
            let message = format!("a column has {} values, the vector {}", n, want.n);
            return Err(named(Error::corrupt(message)));
        }
        let no_memory = |len: usize| move || Error::out_of_memory(len, "the columns");
        let overflow = no_memory(usize::MAX);
        let len = kind.width().map_or(Some(0), |width| n.checked_mul(width)).ok_or_else(overflow)?;
        // SAFETY: as the caller promises, it is memory for `n` values of the kind.
        let memory = unsafe { slice_mut(want.values.cast::<u8>(), len) };
        if memory.len() != len {
            return Err(Error::argument("a vector without memory"));
        }
        entasis::buffers::ask_for_huge_pages(memory);
        let width = of.layout().width().unwrap_or(0);
        let mask = if kind == Kind::Words && !matches!(of.physical, Physical::RunEnd | Physical::Union) {
            vec![0; n]
        } else {
            Vec::new()
        };
        let scratch = if Job::needs_scratch(kind, of.physical) {
            Some(
                n.checked_mul(width)
                    .and_then(Buffer::zeroed)
                    .ok_or_else(no_memory(n.saturating_mul(width)))?,
            )
        } else {
            None
        };
        let strings = if matches!(kind, Kind::String | Kind::Bytes) {
            Some(Box::new(
                Strings::new(n, info.record.n_missing > 0, TextLayout::Views)
                    .ok_or_else(no_memory(n.saturating_mul(16)))?,
            ))
        } else {
            None
        };
        let na = missing::na_real(want.quiet != 0);
        let nan_is_na = want.foreign != 0 && is_float(&info) && {
            let rule = nan_is_null.map_or_else(|| NanIsNull::of(file, None), Ok)?;
            nan_is_null.insert(rule).holds(&info)
        };
        let is_checked = want.foreign != 0
            && matches!(of.physical, Physical::I32 | Physical::I64 | Physical::U64)
            && (matches!(kind, Kind::Integer64 | Kind::Whole)
                || (kind == Kind::Integer && of.physical == Physical::I32));
        let validity = if is_checked && info.record.n_missing > 0 {
            Some(Buffer::zeroed(n.div_ceil(8)).ok_or_else(no_memory(n.div_ceil(8)))?)
        } else {
            None
        };
        jobs.push(Job {
            info,
            kind,
            seconds: want.seconds,
            na,
            nan_is_na,
            memory,
            scratch,
            validity,
            is_checked,
            rounded: None,
            strings,
            mask,
        });
    }
    let requests = jobs.iter_mut().enumerate().map(|(i, job)| job.request(rows(i))).collect();
    file.read(requests, threads, &Signals::new(interrupted))?;
    for job in &mut jobs {
        let finished = job.finish();
        finished.map_err(|e| e.in_column(&job.info.name).in_file(file.path()))?;
    }
    let found = jobs.into_iter().enumerate().map(|(i, job)| Of {
        strings: job.strings,
        rounded: job.rounded.map(|(at, value)| (row_at(&rows(i), at), value)),
    });
    Ok(found.collect())
}

/// The row of value `at`.
fn row_at(rows: &Rows, at: usize) -> u64 {
    match rows {
        Rows::Range(range) => range.start + at as u64,
        Rows::Indices(numbers) => numbers.get(at).copied().unwrap_or(0),
        _ => at as u64,
    }
}

/// Reads columns into vectors. Returns null with an error; the vectors then hold unspecified
/// values.
///
/// # Safety
/// `ent_open` must have returned `file`. The memory of all vectors must be valid, aligned, and used
/// by nothing else. The row numbers must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_read(
    file: *const File,
    wants: *const Want,
    n_wants: usize,
    rows: *const WantedRows,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut Found {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let rows = &*rows;
            let rows = match rows.kind {
                0 => Rows::All,
                1 => Rows::Range(rows.start as u64..rows.stop as u64),
                _ => {
                    let numbers = slice(rows.numbers, rows.n).iter().map(|&number| number as u64);
                    Rows::Indices(Arc::new(numbers.collect()))
                }
            };
            let found = read(&*file, slice(wants, n_wants), |_| rows.clone(), None, interrupted)?;
            Ok(Box::into_raw(Box::new(Found(found))))
        })
    }
}

/// Takes the strings of a column; null if it has none or they were taken before.
///
/// # Safety
/// [`ent_read`] must have returned `found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_found_strings(found: *mut Found, i: usize) -> *mut Strings {
    // SAFETY: as the caller promises.
    let found = unsafe { &mut (*found).0 };
    found.get_mut(i).and_then(|of| of.strings.take()).map_or(null_mut(), Box::into_raw)
}

/// Finds the first integer of a column that was rounded to a double. Returns 0 if there is none.
///
/// # Safety
/// [`ent_read`] must have returned `found`; `out` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_found_rounded(found: *const Found, i: usize, out: *mut integers::At) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        let found = &(*found).0;
        integers::store_at(found.get(i).and_then(|of| of.rounded), out)
    }
}

/// Frees the results that were not taken.
///
/// # Safety
/// [`ent_read`] must have returned `found`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_found_free(found: *mut Found) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(found) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_numbers() {
        for (half, value) in [
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x0001, 2f64.powi(-24)),
            (0x7BFF, 65504.0),
            (0x7C00, f64::INFINITY),
            (0x3555, 0.333251953125),
        ] {
            assert_eq!(of_half(half), value);
        }
        assert!(of_half(0x7E00).is_nan());
    }
}
