//! Copies the pieces of columns into vectors of R, by several threads.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use entasis::{Buffer, Error, Monitor, Result, Text, TextLayout, Unit};
use entasis_csv::fill::append_bits;
use entasis_csv::frame::Values;
use entasis_csv::piece::Piece;
use entasis_csv::{Column, Type};

use crate::column::Kind;
use crate::missing::{NA_INTEGER, NA_INTEGER64, NA_REAL};
use crate::parallel;
use crate::text::Strings;
use crate::times::{Scale, to_double};

/// Longest string that a view holds inline.
const INLINE: usize = 12;

/// The strings of a column, and the levels of a factor.
#[derive(Default)]
pub struct Filled {
    pub strings: Option<Box<Strings>>,
    pub levels: Option<Box<Strings>>,
}

/// Work of one thread. It frees its piece at the end.
pub type Task<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// Fills a vector of each kind with the values of a column. The memory of strings is empty. Columns
/// are freed on the way. Levels are sorted by their bytes, except those of the column `id`, which
/// has the names of the texts.
///
/// # Errors
/// *Argument* for a kind that does not hold the type, *unsupported* for strings that R does not
/// have, *out of memory*, *interrupted*.
pub fn fill(
    columns: Vec<Column>,
    wanted: Vec<(Kind, &mut [u8])>,
    id: Option<&str>,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Filled>> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut filled: Vec<Filled> = Vec::new();
    filled.resize_with(columns.len(), Filled::default);
    let mut views: Vec<Option<Views>> = Vec::new();
    for (column, (kind, _)) in columns.iter().zip(&wanted) {
        let n = column.pieces.iter().map(|piece| piece.n).sum();
        let has_missing =
            column.pieces.iter().any(|piece| piece.validity.is_some()) || column.of == Type::Null;
        views.push(if *kind == Kind::String { Some(Views::new(n, has_missing)?) } else { None });
    }
    let mut tasks = Vec::new();
    for (((column, (kind, memory)), filled), views) in
        columns.into_iter().zip(wanted).zip(&mut filled).zip(&mut views)
    {
        let Column { name, of, pieces, categories, .. } = column;
        match (views, kind, of) {
            (Some(views), ..) => views.add(of, pieces, &mut tasks)?,
            (None, Kind::Codes, Type::Categorical) => {
                let categories = categories.ok_or_else(|| unfit(&name, of))?;
                let (levels, ranks) = levels(&categories, id != Some(&name))?;
                filled.levels = Some(Box::new(levels));
                codes(pieces, memory, &Arc::new(ranks), &mut tasks);
            }
            (None, ..) => numbers(of, kind, pieces, memory, &mut tasks).ok_or_else(|| unfit(&name, of))?,
        }
    }
    run(tasks, threads, monitor)?;
    for ((filled, views), name) in filled.iter_mut().zip(views).zip(&names) {
        let Some(views) = views else { continue };
        let strings = views.strings();
        let checked = strings.check(true);
        checked.map_err(|error| error.in_column(name))?;
        filled.strings = Some(Box::new(strings));
    }
    for (filled, name) in filled.iter().zip(&names) {
        let Some(levels) = &filled.levels else { continue };
        levels.check(true).map_err(|error| error.in_column(name))?;
    }
    Ok(filled)
}

fn unfit(name: &str, of: Type) -> Error {
    Error::argument(format!("column '{name}' of type {} does not fit the vector", of.name()))
}

/// Runs tasks by several threads. The caller is one of these.
pub fn run(tasks: Vec<Task<'_>>, threads: usize, monitor: &dyn Monitor) -> Result<()> {
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let work = |task: Task<'_>| {
        let done = task();
        let is_done = done.is_ok();
        if let Err(error) = done {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        is_done
    };
    let are_done = parallel::run_while(tasks.into_iter(), threads, work, &|| !monitor.interrupted());
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None if are_done => Ok(()),
        None => Err(Error::interrupted()),
    }
}

/// Takes the first `n` bytes.
fn take<'a>(rest: &mut &'a mut [u8], n: usize) -> &'a mut [u8] {
    let n = n.min(rest.len());
    let (first, after) = std::mem::take(rest).split_at_mut(n);
    *rest = after;
    first
}

/// Adds a task for each piece of a column of numbers; `None` if the kind does not hold the type.
fn numbers<'a>(
    of: Type,
    kind: Kind,
    pieces: Vec<Piece>,
    mut memory: &'a mut [u8],
    tasks: &mut Vec<Task<'a>>,
) -> Option<()> {
    let signed = Type::Int { bytes: 4, is_signed: true };
    let width = kind.width()?;
    for piece in pieces {
        let to = take(&mut memory, width * piece.n);
        let task: Task<'a> = match (of, kind) {
            (Type::Null, Kind::Logical) => Box::new(move || {
                bytemuck::cast_slice_mut::<u8, i32>(to).fill(NA_INTEGER);
                Ok(())
            }),
            (Type::Bool, Kind::Logical) => Box::new(move || {
                let to: &mut [i32] = bytemuck::cast_slice_mut(to);
                for (i, to) in to.iter_mut().enumerate() {
                    *to = i32::from(piece.values[i / 8] >> (i % 8) & 1);
                }
                set_missing(&piece, to, NA_INTEGER);
                Ok(())
            }),
            (Type::INT, Kind::Integer) => convert::<i64, i32>(piece, to, |value| value as i32, NA_INTEGER),
            (Type::INT, Kind::Integer64) => convert::<i64, i64>(piece, to, |value| value, NA_INTEGER64),
            (Type::INT, Kind::Double) => {
                convert::<i64, u64>(piece, to, |value| (value as f64).to_bits(), NA_REAL)
            }
            (Type::UINT, Kind::Double) => {
                convert::<u64, u64>(piece, to, |value| (value as f64).to_bits(), NA_REAL)
            }
            (_, Kind::Integer) if of == signed => convert::<i32, i32>(piece, to, |value| value, NA_INTEGER),
            (Type::FLOAT, Kind::Double) => convert::<u64, u64>(piece, to, |bits| bits, NA_REAL),
            (Type::Date, Kind::Days) => {
                convert::<i32, u64>(piece, to, |days| f64::from(days).to_bits(), NA_REAL)
            }
            (Type::Datetime { unit, .. }, Kind::Instant) => match unit {
                Unit::Nanosecond => instants(piece, to, Unit::Nanosecond),
                _ => instants(piece, to, Unit::Microsecond),
            },
            _ => return None,
        };
        tasks.push(task);
    }
    Some(())
}

/// Adds a task for each piece of a column of categories, whose levels have these ranks.
fn codes<'a>(pieces: Vec<Piece>, mut memory: &'a mut [u8], ranks: &Arc<Vec<i32>>, tasks: &mut Vec<Task<'a>>) {
    for piece in pieces {
        let to = take(&mut memory, 4 * piece.n);
        let ranks = Arc::clone(ranks);
        let code = move |code: i32| ranks.get(code as usize).map_or(NA_INTEGER, |rank| rank + 1);
        tasks.push(convert::<i32, i32>(piece, to, code, NA_INTEGER));
    }
}

fn instants(piece: Piece, to: &mut [u8], unit: Unit) -> Task<'_> {
    let of = move |count| to_double(count, unit, Scale::Instant).map_or(NA_REAL, f64::to_bits);
    convert::<i64, u64>(piece, to, of, NA_REAL)
}

/// A task that converts each word of a piece.
fn convert<'a, A: bytemuck::Pod, B: bytemuck::Pod + Send>(
    piece: Piece,
    to: &'a mut [u8],
    of: impl Fn(A) -> B + Send + 'a,
    na: B,
) -> Task<'a> {
    Box::new(move || {
        let to: &mut [B] = bytemuck::cast_slice_mut(to);
        let from: &[A] = bytemuck::cast_slice(&piece.values);
        for (to, &from) in to.iter_mut().zip(from) {
            *to = of(from);
        }
        set_missing(&piece, to, na);
        Ok(())
    })
}

/// Sets the missing values of a piece.
fn set_missing<T: Copy>(piece: &Piece, to: &mut [T], na: T) {
    let Some(validity) = &piece.validity else { return };
    for (group, to) in to.chunks_mut(8).enumerate() {
        let bits = validity[group];
        if bits != u8::MAX {
            to.iter_mut().enumerate().filter(|(i, _)| bits >> i & 1 == 0).for_each(|(_, to)| *to = na);
        }
    }
}

/// The strings of a column under construction.
struct Views {
    n: usize,
    views: Buffer,
    validity: Option<Buffer>,
    bytes: Vec<Buffer>,
}

fn memory(len: usize) -> Result<Buffer> {
    Buffer::zeroed(len).ok_or_else(|| Error::out_of_memory(len, "strings"))
}

impl Views {
    fn new(n: usize, has_missing: bool) -> Result<Self> {
        let validity = if has_missing { Some(memory(n.div_ceil(8))?) } else { None };
        Ok(Self { n, views: memory(16 * n)?, validity, bytes: Vec::new() })
    }

    /// Adds tasks that copy the views of a column of strings, or make those of numbers.
    fn add<'a>(&'a mut self, of: Type, pieces: Vec<Piece>, tasks: &mut Vec<Task<'a>>) -> Result<()> {
        let Self { views, validity, bytes, .. } = self;
        let mut rest: &mut [u8] = views;
        let mut at = 0;
        for piece in pieces {
            if let Some(bits) = validity.as_deref_mut()
                && of != Type::Null
            {
                append_bits(bits, at, &Values::from(&piece));
            }
            at += piece.n;
            let to = take(&mut rest, 16 * piece.n);
            let number = bytes.len() as u32;
            let Piece { n, values, bytes: own, .. } = piece;
            match of {
                Type::Text => {
                    bytes.push(own);
                    tasks.push(Box::new(move || {
                        to.copy_from_slice(&values[..to.len()]);
                        if number > 0 {
                            for view in to.as_chunks_mut::<16>().0 {
                                if view[1..4] != [0; 3] || usize::from(view[0]) > INLINE {
                                    view[8..12].copy_from_slice(&number.to_le_bytes());
                                }
                            }
                        }
                        Ok(())
                    }));
                }
                Type::Null => {}
                _ => {
                    let words: &[u64] = bytemuck::cast_slice(&values);
                    bytes.push(digits(&words[..n], of == Type::UINT, number, to)?);
                }
            }
        }
        Ok(())
    }

    fn strings(self) -> Strings {
        let text = Text { offsets: self.views, bytes: self.bytes, ..Text::new(TextLayout::Views) };
        Strings::of(self.n, text, self.validity)
    }
}

/// Puts the digits of integers into views. Returns the bytes of long ones, which have this number
/// among the buffers.
fn digits(values: &[u64], is_unsigned: bool, number: u32, to: &mut [u8]) -> Result<Buffer> {
    let mut long = Vec::new();
    let mut text = Vec::new();
    for (&value, view) in values.iter().zip(to.as_chunks_mut::<16>().0) {
        text.clear();
        let written =
            if is_unsigned { write!(text, "{value}") } else { write!(text, "{}", value.cast_signed()) };
        written.map_err(|error| Error::io(error, "write digits"))?;
        *view = view_of(&text, number, &mut long);
    }
    let mut bytes = memory(long.len())?;
    bytes.copy_from_slice(&long);
    Ok(bytes)
}

/// The view of a string. The bytes of a long one are appended to buffer `number`.
fn view_of(text: &[u8], number: u32, long: &mut Vec<u8>) -> [u8; 16] {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
    if text.len() <= INLINE {
        view[4..4 + text.len()].copy_from_slice(text);
    } else {
        view[4..8].copy_from_slice(&text[..4]);
        view[8..12].copy_from_slice(&number.to_le_bytes());
        view[12..].copy_from_slice(&(long.len() as u32).to_le_bytes());
        long.extend_from_slice(text);
    }
    view
}

/// The strings of categories, which have offsets, and the rank of each category among them.
fn levels(categories: &Piece, is_sorted: bool) -> Result<(Strings, Vec<i32>)> {
    let offsets: &[i64] = bytemuck::cast_slice(&categories.values);
    let text = |i: usize| {
        let ends = offsets.get(i).zip(offsets.get(i + 1));
        ends.and_then(|(&start, &end)| categories.bytes.get(start as usize..end as usize)).unwrap_or_default()
    };
    let mut order: Vec<usize> = (0..categories.n).collect();
    if is_sorted {
        order.sort_unstable_by_key(|&i| text(i));
    }
    let mut ranks = vec![0; categories.n];
    for (rank, &i) in order.iter().enumerate() {
        ranks[i] = rank as i32;
    }
    let mut views = memory(16 * categories.n)?;
    let mut long = Vec::new();
    for (&i, view) in order.iter().zip(views.as_chunks_mut::<16>().0) {
        let text = text(i);
        if long.len() + text.len() > u32::MAX as usize {
            return Err(Error::unsupported("the levels of a factor have more than 4 GiB"));
        }
        *view = view_of(text, 0, &mut long);
    }
    let mut bytes = memory(long.len())?;
    bytes.copy_from_slice(&long);
    let text = Text { offsets: views, bytes: vec![bytes], ..Text::new(TextLayout::Views) };
    Ok((Strings::of(categories.n, text, None), ranks))
}
