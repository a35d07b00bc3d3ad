//! Reads columns into vectors of R: directly if the layouts agree, else through scratch memory.

use entasis::{
    Buffer, ColumnInfo, Error, File, Logical, MissingTo, Monitor, Output, Physical, Request, Result, Rows,
    TextLayout,
};
use entasis_query::{NanIsNull, is_float};

use super::kind::Kind;
use super::missing::{self, NA_INTEGER, NA_INTEGER64};
use super::times::{self, Scale};
use super::{StoredText, integers, parallel};

/// A column to read, and the memory of the vector to fill.
pub struct Want<'a> {
    /// The number of the column.
    pub column: u64,
    /// The kind of the vector.
    pub kind: Kind,
    /// Memory for `n` values of the kind, aligned for them; empty for strings and bytes.
    pub memory: &'a mut [u8],
    /// The number of values.
    pub n: usize,
    /// Seconds in a unit of R's durations.
    pub seconds: i32,
    /// Whether the quiet NA marks missing doubles.
    pub is_quiet: bool,
    /// Whether another host wrote the column: its values may include R's NA sentinel.
    pub is_foreign: bool,
    /// The layout of strings: views, or offsets of 64 bits.
    pub layout: TextLayout,
}

/// The results of a column other than the values in memory.
#[derive(Default)]
pub struct Found {
    /// The strings of a column of strings or bytes.
    pub strings: Option<Box<StoredText>>,
    /// The first integer that was rounded to a double, and its row.
    pub rounded: Option<(u64, i128)>,
}

/// Reads columns. `rows` gives the rows of each by its position in `wants`.
///
/// # Errors
/// *Corrupt* for a column that does not fit its kind, *unsupported* for values that R can't have,
/// and as [`File::read`].
pub fn read_vectors(
    file: &File,
    wants: Vec<Want<'_>>,
    rows: impl Fn(usize) -> Rows,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Vec<Found>> {
    let mut found: Option<NanIsNull> = None;
    let mut nan_is_null = || {
        let rule = found.map_or_else(|| NanIsNull::of(file, None), Ok)?;
        Ok(*found.insert(rule))
    };
    let mut jobs = Vec::with_capacity(wants.len());
    for (i, want) in wants.into_iter().enumerate() {
        jobs.push(Job::new(file, want, &rows(i), &mut nan_is_null)?);
    }
    let requests = jobs.iter_mut().enumerate().map(|(i, job)| job.request(rows(i))).collect();
    file.read(requests, threads, monitor)?;
    for job in &mut jobs {
        let finished = job.finish();
        finished.map_err(|e| e.in_column(&job.info.name).in_file(file.path()))?;
    }
    let found = jobs.into_iter().enumerate().map(|(i, job)| Found {
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

/// The scale of the doubles of a kind.
pub fn scale(kind: Kind, seconds: i32) -> Scale {
    match kind {
        Kind::Days | Kind::DaysInteger => Scale::Days,
        Kind::Instant | Kind::InstantInteger => Scale::Instant,
        _ => Scale::Span(u32::try_from(seconds).unwrap_or(1).max(1)),
    }
}

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
    strings: Option<Box<StoredText>>,
    /// A byte for each structure value of a nested column, 1 = missing.
    mask: Vec<u8>,
}

impl<'a> Job<'a> {
    /// Checks that a column fits its vector, and allocates what the conversion of its values needs.
    /// `nan_is_null` returns where NaN is null in the file.
    fn new(
        file: &File,
        want: Want<'a>,
        rows: &Rows,
        nan_is_null: &mut dyn FnMut() -> Result<NanIsNull>,
    ) -> Result<Self> {
        let info = (*file.column(want.column)?).clone();
        let kind = want.kind;
        let of = info.record.column_type;
        let named = |e: Error| e.in_column(&info.name).in_file(file.path());
        if !kind.takes(&of) {
            let message = format!("values of type {} cannot be an R vector of this kind", of.physical.name());
            return Err(named(Error::corrupt(message)));
        }
        let n = usize::try_from(rows.n(info.record.n_values)).map_err(|_| Error::limit("too many rows"))?;
        if n != want.n {
            let message = format!("a column has {} values, the vector {}", n, want.n);
            return Err(named(Error::corrupt(message)));
        }
        let len = kind.width().map_or(Some(0), |width| n.checked_mul(width));
        let len = len.ok_or_else(|| no_memory(usize::MAX))?;
        let memory = want.memory;
        if memory.len() != len {
            return Err(Error::argument("a vector without memory"));
        }
        entasis::buffers::ask_for_huge_pages(memory);
        let has_mask = kind == Kind::Words && !matches!(of.physical, Physical::RunEnd | Physical::Union);
        let width = of.layout().width().unwrap_or(0);
        let needs_scratch = Self::needs_scratch(kind, of.physical);
        let scratch = needs_scratch.then(|| zeroed(n.saturating_mul(width))).transpose()?;
        let is_text = matches!(kind, Kind::String | Kind::Bytes);
        let strings = || StoredText::new(n, info.record.n_missing > 0, want.layout).map(Box::new);
        let strings =
            is_text.then(|| strings().ok_or_else(|| no_memory(n.saturating_mul(16)))).transpose()?;
        let nan_is_na = want.is_foreign && is_float(&info) && nan_is_null()?.holds(&info);
        let is_checked = want.is_foreign
            && matches!(of.physical, Physical::I32 | Physical::I64 | Physical::U64)
            && (matches!(kind, Kind::Integer64 | Kind::Whole)
                || (kind == Kind::Integer && of.physical == Physical::I32));
        let has_validity = is_checked && info.record.n_missing > 0;
        let validity = has_validity.then(|| zeroed(n.div_ceil(8))).transpose()?;
        Ok(Self {
            info,
            kind,
            seconds: want.seconds,
            na: missing::na_real(want.is_quiet),
            nan_is_na,
            memory,
            scratch,
            validity,
            is_checked,
            rounded: None,
            strings,
            mask: vec![0; if has_mask { n } else { 0 }],
        })
    }

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
        let kind = self.kind;
        if let Some(strings) = &self.strings {
            return strings.check(kind == Kind::String);
        }
        if kind == Kind::Words {
            return self.finish_words();
        }
        if kind == Kind::Whole {
            self.finish_whole();
            return Ok(());
        }
        match self.scratch.take() {
            None => self.finish_in_place(),
            Some(scratch) => self.finish_from(&scratch),
        }
    }

    /// Converts values that were read into the vector itself.
    fn finish_in_place(&mut self) -> Result<()> {
        let (kind, physical, na) = (self.kind, self.physical(), self.na);
        let unit = self.info.record.column_type.unit;
        let validity = self.validity.as_deref();
        match kind {
            Kind::Integer if self.is_checked => {
                let values: &mut [i32] = bytemuck::cast_slice_mut(self.memory);
                mark_missing(values, validity, NA_INTEGER, |n| n == NA_INTEGER)
            }
            Kind::Integer64 if self.is_checked => {
                let values: &mut [i64] = bytemuck::cast_slice_mut(self.memory);
                let is_beyond = |n: i64| n == NA_INTEGER64 || (physical == Physical::U64 && n < 0);
                mark_missing(values, validity, NA_INTEGER64, is_beyond)
            }
            Kind::Days | Kind::Instant | Kind::Span => {
                let values = bytemuck::cast_slice_mut(self.memory);
                times::to_doubles(values, unit, scale(kind, self.seconds), na)
            }
            Kind::Double if self.nan_is_na => {
                let values: &mut [u64] = bytemuck::cast_slice_mut(self.memory);
                parallel::each(values, |value| {
                    *value = if f64::from_bits(*value).is_nan() { na } else { *value }
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Converts values from scratch memory.
    fn finish_from(&mut self, scratch: &[u8]) -> Result<()> {
        match self.kind {
            Kind::Days | Kind::Instant | Kind::Span => self.finish_narrow_times(scratch),
            Kind::InstantInteger | Kind::SpanInteger => self.finish_integer_times(scratch),
            Kind::Complex => {
                let from: &[f32] = bytemuck::cast_slice(scratch);
                let out: &mut [f64] = bytemuck::cast_slice_mut(self.memory);
                out.iter_mut().zip(from).for_each(|(out, value)| *out = f64::from(*value));
                Ok(())
            }
            _ => {
                self.finish_doubles(scratch);
                Ok(())
            }
        }
    }

    /// Converts times that are stored in 32 bits to doubles.
    fn finish_narrow_times(&mut self, scratch: &[u8]) -> Result<()> {
        let from: &[i32] = bytemuck::cast_slice(scratch);
        let out: &mut [u64] = bytemuck::cast_slice_mut(self.memory);
        parallel::convert(from, out, |&n, out| {
            *out = if n == NA_INTEGER { NA_INTEGER64 as u64 } else { i64::from(n) as u64 };
            Ok(())
        })?;
        times::to_doubles(out, self.info.record.column_type.unit, scale(self.kind, self.seconds), self.na)
    }

    /// Converts times to integers.
    fn finish_integer_times(&mut self, scratch: &[u8]) -> Result<()> {
        let physical = self.physical();
        let out: &mut [i32] = bytemuck::cast_slice_mut(self.memory);
        if physical != Physical::I64 {
            out.copy_from_slice(bytemuck::cast_slice(scratch));
            return Ok(());
        }
        parallel::convert(bytemuck::cast_slice::<u8, i64>(scratch), out, |&n, out| {
            *out = match n {
                NA_INTEGER64 => NA_INTEGER,
                n => i32::try_from(n).map_err(|_| too_wide())?,
            };
            Ok(())
        })
    }

    /// Converts numbers of other types to doubles.
    fn finish_doubles(&mut self, scratch: &[u8]) {
        let (physical, na, of) = (self.physical(), self.na, self.info.record.column_type);
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
    }

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

fn no_memory(len: usize) -> Error {
    Error::out_of_memory(len, "the columns")
}

fn zeroed(len: usize) -> Result<Buffer> {
    Buffer::zeroed(len).ok_or_else(|| no_memory(len))
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
