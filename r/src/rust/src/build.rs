//! Builds a frame to write from borrowed vectors of R.

use std::os::raw::c_void;
use std::path::PathBuf;
use std::ptr::null_mut;

use entasis::{
    Array, Chunk, Column, ColumnType, Error, Frame, HostRead, HostValidity, HostValues, Result, Unit, Value,
};

use crate::column::Kind;
use crate::guard::{self, Failure, Text, slice};
use crate::missing::{self, NA_INTEGER, NA_INTEGER64};
use crate::nodes::{self, Node};
use crate::strings::{self, Strings};
use crate::times;
use entasis_convert::r::vectors::scale;

/// The variant of a column of doubles whose NA is the quiet NaN.
pub const VARIANT_QUIET: i32 = 2;

/// A column to write, as C passes it.
#[repr(C)]
pub struct NewColumn {
    name: Text,
    /// The time zone; empty for none.
    zone: Text,
    /// The values, of the kind's width. Null for strings, which are in the column that was begun
    /// last.
    values: *const c_void,
    n: usize,
    kind: i32,
    variant: i32,
    /// The code of the time unit.
    unit: i32,
    /// Seconds in a unit of R's durations.
    seconds: i32,
    /// Which NaN marks missing doubles: 0 none, 1 R's NA, 2 the quiet NA.
    na: i32,
    /// The number of the extra column with the levels, or -1.
    levels: i32,
    n_levels: i32,
    ordered: i32,
    /// The cell of the values of a list, or -1.
    cell: f64,
}

impl NewColumn {
    /// An unnamed column of values other than times.
    pub fn plain(kind: Kind, values: *const c_void, n: usize, na: i32) -> Self {
        Self {
            name: Text::none(),
            zone: Text::none(),
            values,
            n,
            kind: kind.code(),
            variant: if na == 2 { VARIANT_QUIET } else { 0 },
            unit: 0,
            seconds: 1,
            na,
            levels: -1,
            n_levels: 0,
            ordered: 0,
            cell: -1.0,
        }
    }
}

/// A frame to write. It borrows vectors of R, which C keeps alive.
pub struct Builder {
    n_rows: u64,
    columns: Vec<Column>,
    extra: Vec<Column>,
    /// Times converted from doubles.
    counts: Vec<Vec<i64>>,
    days: Vec<Vec<i32>>,
    strings: Strings,
    /// Columns with strings other than UTF-8: whether the column is an extra one, its number, and
    /// the number of its strings.
    encoded: Vec<(bool, usize, usize)>,
    has_encodings: bool,
    /// A column with strings that are not text: whether the column is an extra one, its number.
    not_text: Option<(bool, usize)>,
    host: Value,
}

impl Builder {
    /// A frame without columns.
    pub fn new(n_rows: u64) -> Self {
        let (columns, extra, counts, days) = Default::default();
        // SAFETY: C keeps the vectors of R and their strings until the file is written.
        let strings = unsafe { Strings::new(true) };
        let encoded = Vec::new();
        Self {
            n_rows,
            columns,
            extra,
            counts,
            days,
            strings,
            encoded,
            has_encodings: false,
            not_text: None,
            host: Value::Null,
        }
    }

    /// Whether strings of other encodings than UTF-8 occur.
    pub fn has_encodings(&self) -> bool {
        self.has_encodings
    }

    /// Refuses strings without a known encoding, which have no form in a text.
    ///
    /// # Errors
    /// *Argument* names the column.
    pub fn check_texts(&self) -> Result<()> {
        let Some((is_extra, number)) = self.not_text else { return Ok(()) };
        let advice = "convert them with iconv()";
        let error = Error::argument("some strings are bytes without a known encoding").advise(advice);
        let column = match is_extra {
            true => self.columns.iter().find(|column| column.dictionary == Some(number)),
            false => self.columns.get(number),
        };
        Err(match column {
            Some(column) => error.in_column(&column.name),
            None => error,
        })
    }

    /// The frame. It borrows memory of this builder.
    pub fn take(&mut self) -> Frame {
        Frame {
            n_rows: self.n_rows,
            columns: std::mem::take(&mut self.columns),
            extra: std::mem::take(&mut self.extra),
            host: std::mem::replace(&mut self.host, Value::Null),
        }
    }

    /// The extra columns. An error if one of them holds converted times.
    pub fn take_extra(self) -> Result<Vec<Column>> {
        if self.counts.is_empty() && self.days.is_empty() {
            Ok(self.extra)
        } else {
            Err(Error::argument("an extra column holds converted times"))
        }
    }

    /// # Safety
    /// The memory of the column must stay as it is until the frame is written.
    pub unsafe fn add(&mut self, column: &NewColumn, is_extra: bool) -> Result<()> {
        let kind = Kind::of(column.kind)?;
        let unit = u8::try_from(column.unit).ok().and_then(Unit::from_code);
        let unit = unit.ok_or_else(|| Error::argument("no such unit"))?;
        let n_levels = u32::try_from(column.n_levels).unwrap_or(0);
        // SAFETY: the caller promises that the texts are valid.
        let (name, zone) = unsafe { (column.name.text()?.to_owned(), column.zone.text()?) };
        // SAFETY: as the caller promises.
        let chunk = unsafe { self.chunk(column, kind, unit) }.map_err(|e| e.in_column(&name))?;
        let mut column_type = kind.column_type(unit, n_levels);
        column_type.ordered = column.ordered != 0;
        column_type.host_variant =
            u8::try_from(column.variant).map_err(|_| Error::argument("no such variant"))?;
        let detail = match kind {
            Kind::List if column.cell >= 0.0 => Some(Value::Cell(column.cell as u64)),
            Kind::List => return Err(Error::argument("a list without its values")),
            _ => (!zone.is_empty()).then(|| Value::from(zone)),
        };
        let column = Column {
            run: None,
            name,
            column_type,
            detail,
            host_detail: None,
            dictionary: usize::try_from(column.levels).ok(),
            array: Array::new(chunk),
            children: Vec::new(),
        };
        let to = if is_extra { &mut self.extra } else { &mut self.columns };
        if kind == Kind::String && self.strings.encodings(self.strings.column()).is_some() {
            self.encoded.push((is_extra, to.len(), self.strings.column()));
        }
        to.push(column);
        Ok(())
    }

    /// Adds an extra column of strings.
    pub fn add_text(&mut self, chunk: Chunk) {
        let column_type = Kind::String.column_type(Unit::None, 0);
        self.extra.push(unnamed(column_type, chunk));
    }

    /// Adds the columns that record the encodings of strings, and names them in the host map.
    fn add_encodings(&mut self) {
        let n_columns = self.columns.len() as u64;
        self.has_encodings = !self.encoded.is_empty();
        let mut pairs = Vec::with_capacity(self.encoded.len());
        for (is_extra, number, strings) in std::mem::take(&mut self.encoded) {
            let encodings = self.strings.encodings(strings).unwrap_or_default();
            if self.not_text.is_none() && encodings.iter().any(|&encoding| !strings::is_text(encoding)) {
                self.not_text = Some((is_extra, number));
            }
            let how = Value::Column(n_columns + self.extra.len() as u64);
            let number = number as u64;
            let of =
                if is_extra { Value::Column(n_columns + number) } else { Value::Int(number.cast_signed()) };
            pairs.push(Value::List(vec![of, how]));
            // SAFETY: the strings stay, unchanged, until the frame is written.
            let memory = unsafe { HostRead::new(encodings.as_ptr(), encodings.len()) };
            let values = HostValues::Words { memory, stride: 1 };
            let chunk = Chunk { n: encodings.len(), values, validity: HostValidity::AllValid };
            self.extra.push(unnamed(Kind::Raw.column_type(Unit::None, 0), chunk));
        }
        if let (Value::Map(host), false) = (&mut self.host, pairs.is_empty()) {
            host.push((Value::from("encodings"), Value::List(pairs)));
        }
    }

    /// # Safety
    /// As for [`add`](Self::add).
    unsafe fn chunk(&mut self, column: &NewColumn, kind: Kind, unit: Unit) -> Result<Chunk> {
        let n = column.n;
        if kind == Kind::List {
            return Ok(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid });
        }
        if kind == Kind::Words {
            return Err(Error::argument("structure values of a nested column can't be written alone"));
        }
        let Some(width) = kind.width() else {
            // SAFETY: the builder keeps the strings, and adds nothing to a column after lending it.
            return unsafe { self.strings.lend(self.strings.column()) };
        };
        let len = n.checked_mul(width).ok_or_else(|| Error::argument("a vector longer than memory"))?;
        // SAFETY: as the caller promises.
        let memory = unsafe { HostRead::new(column.values.cast(), len) };
        let na = match column.na {
            1 => Some(missing::na_real(false)),
            2 => Some(missing::na_real(true)),
            _ => None,
        };
        let words = |memory, width: usize, sentinel: Option<u64>| {
            let validity = sentinel.map_or(HostValidity::AllValid, HostValidity::Sentinel);
            Chunk { n, values: HostValues::Words { memory, stride: width as isize }, validity }
        };
        let integers = |first, below| Chunk {
            n,
            values: HostValues::Int32 { memory, first, n: below },
            validity: HostValidity::Sentinel(NA_INTEGER as u32 as u64),
        };
        Ok(match kind {
            Kind::Logical => integers(0, 2),
            Kind::Codes => integers(1, u32::try_from(column.n_levels).unwrap_or(0)),
            Kind::Integer | Kind::DaysInteger => words(memory, width, Some(NA_INTEGER as u32 as u64)),
            Kind::Double | Kind::Whole => words(memory, width, na),
            Kind::Integer64 => words(memory, width, Some(NA_INTEGER64 as u64)),
            Kind::Complex | Kind::Raw | Kind::String | Kind::List | Kind::Words => words(memory, width, None),
            Kind::Bytes => return Err(Error::argument("a list of raw vectors is written as cells")),
            Kind::Days | Kind::Instant | Kind::Span => {
                // SAFETY: R's doubles are aligned, and nothing changes them while C waits.
                let values = unsafe { slice(column.values.cast::<f64>(), n) };
                let counts = times::from_doubles(values, unit, scale(kind, column.seconds), na)?;
                if kind == Kind::Days {
                    let narrow = |&n: &i64| i32::try_from(n).unwrap_or(NA_INTEGER);
                    self.days.push(counts.iter().map(narrow).collect());
                    let days = self.days.last().map_or(&[][..], Vec::as_slice);
                    // SAFETY: the builder keeps them unchanged, and their heap memory does not
                    // move.
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

    /// Stores converted times, and lends them.
    fn keep(&mut self, counts: Vec<i64>) -> Chunk {
        self.counts.push(counts);
        let counts = self.counts.last().map_or(&[][..], Vec::as_slice);
        // SAFETY: the builder keeps them unchanged, and their heap memory does not move.
        let memory = unsafe { HostRead::new(counts.as_ptr().cast(), size_of_val(counts)) };
        Chunk {
            n: counts.len(),
            values: HostValues::Words { memory, stride: 8 },
            validity: HostValidity::Sentinel(NA_INTEGER64 as u64),
        }
    }
}

/// An unnamed column.
fn unnamed(column_type: ColumnType, chunk: Chunk) -> Column {
    Column {
        run: None,
        name: String::new(),
        column_type,
        detail: None,
        host_detail: None,
        dictionary: None,
        array: Array::new(chunk),
        children: Vec::new(),
    }
}

/// A path as R passes it: bytes on Unix, UTF-8 elsewhere.
///
/// # Safety
/// The text must be valid.
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

/// A frame of `n_rows` rows without columns.
///
/// # Safety
/// `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_new(n_rows: f64, failure: *mut *mut Failure) -> *mut Builder {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(Box::into_raw(Box::new(Builder::new(n_rows as u64))))) }
}

/// Adds a column of the table, or an extra column. Returns 0, or -1 with an error.
///
/// # Safety
/// [`ent_builder_new`] must have returned `builder`. The memory of the column must stay unchanged
/// until the builder is freed.
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

/// Begins a column of `n` strings. [`ent_builder_add`] adds it once they were collected. Returns
/// null with an error.
///
/// # Safety
/// [`ent_builder_new`] must have returned `builder`. The strings are valid until the builder is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_strings(
    builder: *mut Builder,
    n: usize,
    failure: *mut *mut Failure,
) -> *mut Strings {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let strings = &raw mut (*builder).strings;
            (*strings).begin(n)?;
            Ok(strings)
        })
    }
}

/// Sets the host map, which completes the frame. Returns 0, or -1 with an error.
///
/// # Safety
/// [`ent_builder_new`] must have returned `builder`. The texts of the nodes must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_host(
    builder: *mut Builder,
    nodes: *const Node,
    n_nodes: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let builder = &mut *builder;
            builder.host = nodes::parse(slice(nodes, n_nodes), builder.columns.len() as u64)?;
            builder.add_encodings();
            Ok(0)
        })
    }
}

/// Frees a builder.
///
/// # Safety
/// [`ent_builder_new`] must have returned `builder`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_builder_free(builder: *mut Builder) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(builder) });
}
