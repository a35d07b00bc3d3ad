//! A frame to write, put together from vectors of R that stay where they are.

use std::os::raw::c_void;
use std::path::PathBuf;
use std::ptr::null_mut;

use entasis::{
    Array, Chunk, Column, Durable, Error, Frame, HostRead, HostValidity, HostValues, Result, Unit, Value,
    WriteOptions,
};

use crate::column::Kind;
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};
use crate::missing::{self, NA_INTEGER, NA_INTEGER64};
use crate::nodes::{self, Node};
use crate::strings::Strings;
use crate::times::{self, Scale};

/// A column as C tells it.
#[repr(C)]
pub struct NewColumn {
    name: Text,
    /// The time zone, no text for none.
    zone: Text,
    /// The values, of the kind's width; for strings a [`Strings`].
    values: *const c_void,
    n: usize,
    kind: i32,
    flavour: i32,
    /// The code of the unit of times.
    unit: i32,
    /// Seconds in a unit of R's durations.
    seconds: i32,
    /// Which NA of doubles is missing: 0 none is, 1 R's, 2 the quiet one.
    na: i32,
    /// The number of the extra column with the levels, or -1.
    levels: i32,
    n_levels: i32,
    ordered: i32,
}

/// A frame to write. Vectors of R are borrowed; C keeps them alive.
pub struct Builder {
    n_rows: u64,
    columns: Vec<Column>,
    extra: Vec<Column>,
    /// Counts of times, made from doubles.
    counts: Vec<Vec<i64>>,
    days: Vec<Vec<i32>>,
}

impl Builder {
    /// # Safety
    /// The memory of the column must stay as it is until the frame is written.
    unsafe fn add(&mut self, column: &NewColumn, is_extra: bool) -> Result<()> {
        let kind = Kind::of(column.kind)?;
        let unit = u8::try_from(column.unit).ok().and_then(Unit::from_code);
        let unit = unit.ok_or_else(|| Error::argument("no such unit"))?;
        let n_levels = u32::try_from(column.n_levels).unwrap_or(0);
        // SAFETY: the caller promises that texts are there.
        let (name, zone) = unsafe { (column.name.text()?.to_owned(), column.zone.text()?) };
        // SAFETY: as the caller promises.
        let chunk = unsafe { self.chunk(column, kind, unit) }.map_err(|e| e.in_column(&name))?;
        let mut column_type = kind.column_type(unit, n_levels);
        column_type.ordered = column.ordered != 0;
        column_type.flavour = u8::try_from(column.flavour).map_err(|_| Error::argument("no such flavour"))?;
        let column = Column {
            name,
            column_type,
            detail: (!zone.is_empty()).then(|| Value::from(zone)),
            dictionary: usize::try_from(column.levels).ok(),
            array: Array::new(chunk),
            children: Vec::new(),
        };
        if is_extra {
            self.extra.push(column)
        } else {
            self.columns.push(column)
        }
        Ok(())
    }

    /// # Safety
    /// As for [`add`](Self::add).
    unsafe fn chunk(&mut self, column: &NewColumn, kind: Kind, unit: Unit) -> Result<Chunk> {
        let n = column.n;
        let Some(width) = kind.width() else {
            let strings = column.values.cast::<Strings>();
            if strings.is_null() {
                return Err(Error::argument("strings were not collected"));
            }
            // SAFETY: C gives what `ent_strings_new` made, and keeps it.
            return Ok(unsafe { (*strings).lend() });
        };
        let len = n.checked_mul(width).ok_or_else(|| Error::argument("a vector longer than memory"))?;
        // SAFETY: as the caller promises.
        let memory = unsafe { HostRead::new(column.values.cast(), len) };
        let na = match column.na {
            1 => Some(missing::na_real(false)),
            2 => Some(missing::na_real(true)),
            _ => None,
        };
        let words = |memory, width: usize, mark: Option<u64>| {
            let validity = mark.map_or(HostValidity::AllValid, HostValidity::Mark);
            Chunk { n, values: HostValues::Words { memory, stride: width as isize }, validity }
        };
        let integers = |first, below| Chunk {
            n,
            values: HostValues::Int32 { memory, first, n: below },
            validity: HostValidity::Mark(NA_INTEGER as u32 as u64),
        };
        Ok(match kind {
            Kind::Logical => integers(0, 2),
            Kind::Codes => integers(1, u32::try_from(column.n_levels).unwrap_or(0)),
            Kind::Integer | Kind::DaysInteger => words(memory, width, Some(NA_INTEGER as u32 as u64)),
            Kind::Double => words(memory, width, na),
            Kind::Integer64 => words(memory, width, Some(NA_INTEGER64 as u64)),
            Kind::Complex | Kind::Raw | Kind::String => words(memory, width, None),
            Kind::Days | Kind::Instant | Kind::Span => {
                // SAFETY: R's doubles are aligned, and nothing changes them while C waits.
                let values = unsafe { slice(column.values.cast::<f64>(), n) };
                let counts = times::from_doubles(values, unit, scale(kind, column.seconds), na)?;
                if kind == Kind::Days {
                    let narrow = |&n: &i64| i32::try_from(n).unwrap_or(NA_INTEGER);
                    self.days.push(counts.iter().map(narrow).collect());
                    let days = self.days.last().map_or(&[][..], Vec::as_slice);
                    // SAFETY: the builder keeps them, unchanged and in their place on the heap.
                    let memory = unsafe { HostRead::new(days.as_ptr().cast(), size_of_val(days)) };
                    words(memory, 4, Some(NA_INTEGER as u32 as u64))
                } else {
                    self.keep(counts)
                }
            }
            Kind::InstantInteger | Kind::SpanInteger => {
                // SAFETY: as above.
                let values = unsafe { slice(column.values.cast::<i32>(), n) };
                let wide = |&n: &i32| if n == NA_INTEGER { NA_INTEGER64 } else { i64::from(n) };
                self.keep(values.iter().map(wide).collect())
            }
        })
    }

    /// Keeps counts of times, and lends them.
    fn keep(&mut self, counts: Vec<i64>) -> Chunk {
        self.counts.push(counts);
        let counts = self.counts.last().map_or(&[][..], Vec::as_slice);
        // SAFETY: the builder keeps them, unchanged and in their place on the heap.
        let memory = unsafe { HostRead::new(counts.as_ptr().cast(), size_of_val(counts)) };
        Chunk {
            n: counts.len(),
            values: HostValues::Words { memory, stride: 8 },
            validity: HostValidity::Mark(NA_INTEGER64 as u64),
        }
    }
}

/// What the doubles of a kind count.
pub fn scale(kind: Kind, seconds: i32) -> Scale {
    match kind {
        Kind::Days | Kind::DaysInteger => Scale::Days,
        Kind::Instant | Kind::InstantInteger => Scale::Instant,
        _ => Scale::Span(u32::try_from(seconds).unwrap_or(1).max(1)),
    }
}

/// A path as R has it: bytes on Unix, UTF-8 elsewhere.
///
/// # Safety
/// The text must be there.
pub unsafe fn path(path: Text) -> Result<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        // SAFETY: as the caller promises.
        Ok(PathBuf::from(std::ffi::OsStr::from_bytes(unsafe { path.bytes() })))
    }
    #[cfg(not(unix))]
    {
        // SAFETY: as the caller promises.
        Ok(PathBuf::from(unsafe { path.text() }?))
    }
}

/// A frame of `n_rows` rows and no columns.
///
/// # Safety
/// `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_new(n_rows: f64, failure: *mut *mut Failure) -> *mut Builder {
    let new = || Builder {
        n_rows: n_rows as u64,
        columns: Vec::new(),
        extra: Vec::new(),
        counts: Vec::new(),
        days: Vec::new(),
    };
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(Box::into_raw(Box::new(new())))) }
}

/// Adds a column of the table, or an extra one. 0, or -1 with an error.
///
/// # Safety
/// `builder` must be what [`ent_builder_new`] gave; the memory of the column must stay as it is until the builder is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_add(
    builder: *mut Builder,
    column: *const NewColumn,
    is_extra: i32,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, -1, || (*builder).add(&*column, is_extra != 0).map(|()| 0)) }
}

/// Writes the frame to a path, with what R keeps beside the columns. 0, or -1 with an error. The builder is empty then.
///
/// # Safety
/// `builder` must be what [`ent_builder_new`] gave, the texts of path and nodes there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_write(
    builder: *mut Builder,
    to: Text,
    nodes: *const Node,
    n_nodes: usize,
    compression: i32,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let builder = &mut *builder;
            let host = nodes::parse(slice(nodes, n_nodes), builder.columns.len() as u64)?;
            let frame = Frame {
                n_rows: builder.n_rows,
                columns: std::mem::take(&mut builder.columns),
                extra: std::mem::take(&mut builder.extra),
                host,
            };
            let options = WriteOptions {
                compression: u8::try_from(compression).unwrap_or(u8::MAX),
                durable: Durable::Auto,
                ..WriteOptions::default()
            };
            entasis::write(&path(to)?, &frame, &options, &Signals(interrupted)).map(|()| 0)
        })
    }
}

/// Frees a builder.
///
/// # Safety
/// `builder` must be what [`ent_builder_new`] gave, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_free(builder: *mut Builder) {
    // SAFETY: made by `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(builder) });
}
