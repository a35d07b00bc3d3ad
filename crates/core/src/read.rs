//! Reads columns. Requests become tasks. Each task decodes directly into its own part of the
//! caller's memory.

mod ahead;
mod alloc;
mod assembly;
mod bundled;
mod chunk;
mod codes;
mod decoded_len;
mod dictionary_views;
mod fixed;
mod held;
mod int32;
mod layout;
mod matrix;
mod nan;
mod nested;
mod pages;
mod request;
mod string_codes;
mod take;
mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use entasis_format::{Error, Layout, Logical, Physical, Result, fallible};
use entasis_platform::Buffers;

use crate::file::{File, Member};
use crate::monitor::{Control, Monitor};
use crate::rows::Rows;
use crate::threads;

pub(crate) use ahead::{announce, announce_short};
use alloc::COLUMNS;
use assembly::{Assembly, TaskResult};
use bundled::{BundleTask, BundledRequest};
pub(crate) use chunk::{missing_chunk, read_chunk, read_chunks, read_rows};
pub(crate) use decoded_len::DecodedLen;
use fixed::FixedTask;
pub use held::{Held, Shared};
pub use layout::{Text, TextLayout};
pub use matrix::{Matrix, Side};
pub use nested::{Form, Nested, NestedValues};
pub(crate) use pages::Reader;
pub use pages::{OpenPage, PageVisitor};
pub(crate) use request::Source;
pub use request::{MissingTo, Output, Request};
use request::{StoredAt, threads_for};
use string_codes::CodesTask;
use take::TakeTask;
use text::{StringRequest, StringTask};

/// Names the memory for the tasks of a read, in messages.
const TASKS: &str = "the tasks of a read";

enum Task<'a> {
    Fixed(FixedTask<'a>),
    Text(StringTask<'a>),
    Codes(CodesTask<'a>),
    Take(TakeTask<'a>),
    Bundle(BundleTask<'a>),
}

impl File {
    /// Reads columns into memory of the caller.
    ///
    /// The reader fetches only the pages that hold the rows, and decodes only the vectors that hold
    /// them. After an error the contents of the memory are unspecified.
    ///
    /// # Errors
    /// *Argument* for rows or memory that do not fit; *corrupt*, *unsupported*, *io*, *limit*,
    /// *interrupted*.
    pub fn read(
        &self,
        requests: Vec<Request<'_>>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        self.read_requests(requests, threads, monitor).map_err(|e| e.in_file(self.path()))
    }

    fn read_requests(
        &self,
        requests: Vec<Request<'_>>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        // Without rows, no record of a block is read.
        let has_rows =
            !requests.iter().all(|request| matches!(&request.rows, Rows::Range(r) if r.is_empty()));
        self.prefetch(requests.iter().map(|r| r.column), has_rows);
        let sources = requests.iter().map(|r| self.source_of(r.column, has_rows));
        let sources = fallible::try_collect(sources, COLUMNS)?;
        let (mut n_values, mut work) = (0u64, 0u64);
        let decoded_len = DecodedLen::new(self);
        for (request, source) in requests.iter().zip(&sources) {
            request.rows.check(source.n_values)?;
            let n = request.rows.n(source.n_values);
            decoded_len.add_request(request, n)?;
            n_values = n_values.saturating_add(n);
            work = work.saturating_add(source.work(&request.rows));
        }
        let wanted = sources.iter().zip(requests.iter().map(|request| &request.rows));
        let _announced = ahead::announce(self, wanted)?;
        let are_whole = requests.iter().all(|request| matches!(request.rows, Rows::All));
        let ahead_to = if are_whole { pages::ahead_to(&sources) } else { 0 };
        let is_scattered = |rows: &Rows| matches!(rows, Rows::Indices(_) | Rows::Step { .. });
        let trusts_known_pages =
            requests.iter().any(|request| is_scattered(&request.rows)) && self.renew_known_blocks();
        let control = Control::new(monitor, n_values);
        let threads = threads_for(work, self.threads(threads));
        let mut tasks = Vec::new();
        let mut bundled: BTreeMap<u64, Vec<BundledRequest<'_>>> = BTreeMap::new();
        let mut assemblies: Vec<Assembly<'_>> = fallible::with_capacity(requests.len(), COLUMNS)?;
        let (mut memory, mut scratch) = (Buffers::default(), Buffers::scratch());
        let results: Mutex<Vec<TaskResult>> = Mutex::default();
        for (i, (request, source)) in requests.into_iter().zip(&sources).enumerate() {
            let named = |e: Error| if source.name.is_empty() { e } else { e.in_column(&source.name) };
            let is_scratch = matches!(&request.output, Output::Text(text) if text.is_scratch);
            let memory = if is_scratch { &mut scratch } else { &mut memory };
            let memory = (memory, &decoded_len);
            assemblies.push(self.plan(i, request, source, &mut tasks, &mut bundled, memory).map_err(named)?);
        }
        for requests in bundled.into_values() {
            bundled::plan(requests, |task| put(&mut tasks, Task::Bundle(task)))?;
        }
        threads::run_in_ranges(
            tasks,
            threads,
            &control,
            || Reader::ahead(self, ahead_to).trusting(trusts_known_pages),
            |reader, task| {
                let done = match task {
                    Task::Fixed(task) => task.run(reader, &control).map(|()| None),
                    Task::Take(task) => task.run(reader, &control, &decoded_len),
                    Task::Bundle(task) => task.run(reader, &control).map(|()| None),
                    Task::Text(task) => task.run(reader, &control).map(Some),
                    Task::Codes(task) => task.run(reader, &control, &decoded_len).map(Some),
                };
                let Some(result) = done? else { return Ok(()) };
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                fallible::push(&mut results, result, TASKS)
            },
        )?;
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        assembly::assemble(assemblies, results, threads, &control)
    }

    /// The stored column with the values of column `index`, and their range.
    pub(crate) fn source(&self, index: u64) -> Result<Source> {
        self.source_of(index, true)
    }

    fn source_of(&self, index: u64, with_blocks: bool) -> Result<Source> {
        let column = self.column(index)?;
        let record = &column.record;
        let here = |e: Error| e.in_column(&column.name);
        let (stored_in, first) = record.storage.map_or((index, 0), |storage| (storage, record.first_value));
        let storage = if stored_in == index { Arc::clone(&column) } else { self.column(stored_in)? };
        let damaged = || here(Error::corrupt("a bundled column is outside of its storage column"));
        let end = first.checked_add(record.n_values).ok_or_else(damaged)?;
        let of = (storage.record.column_type.layout(), storage.record.column_type.logical);
        let is_sound = end <= storage.record.n_values
            && of == (record.column_type.layout(), record.column_type.logical)
            && record.is_bundled == (stored_in != index)
            && (stored_in == index || (storage.record.is_bundle && !storage.record.is_bundled));
        if !is_sound {
            return Err(damaged());
        }
        let n_categories = match (record.column_type.logical, record.dictionary) {
            (Logical::Categorical, Some(dictionary)) => {
                let dictionary = self.column(dictionary)?;
                if dictionary.record.column_type.logical == Logical::Categorical {
                    return Err(here(Error::corrupt(
                        "the categories of a categorical are categorical themselves",
                    )));
                }
                Some(dictionary.record.n_values)
            }
            (Logical::Categorical, None) => {
                return Err(here(Error::corrupt("a categorical has no dictionary")));
            }
            _ => None,
        };
        let pieces = if record.is_bundled { self.pieces_of(index)? } else { None };
        let stored_at = match pieces {
            None => StoredAt::At(first),
            Some(pieces) => {
                let n_stored = storage.record.n_values;
                StoredAt::InPieces(Member::new(pieces, first, record.n_values, n_stored).map_err(here)?)
            }
        };
        Ok(Source {
            name: fallible::owned(&column.name, COLUMNS)?,
            of: record.column_type.layout(),
            blocks: if with_blocks { self.blocks(stored_in)? } else { Arc::default() },
            storage: stored_in,
            is_bundled: stored_in != index,
            n_categories,
            n_values: record.n_values,
            stored_at,
        })
    }

    /// Adds the tasks of a request. Returns the memory to fill after all tasks.
    fn plan<'a>(
        &self,
        number: usize,
        request: Request<'a>,
        source: &'a Source,
        tasks: &mut Vec<Task<'a>>,
        bundled: &mut BTreeMap<u64, Vec<BundledRequest<'a>>>,
        (memory, decoded_len): (&mut Buffers, &DecodedLen<'_>),
    ) -> Result<Assembly<'a>> {
        let Request { rows, output, missing, .. } = request;
        let n = rows.n(source.n_values);
        let n = usize::try_from(n).map_err(|_| Error::out_of_memory(usize::MAX, "the rows"))?;
        check_output(source, &output, n)?;
        check_missing(source.of, &output, &missing, n)?;
        if source.of.physical == Physical::Null {
            fill_null(output, missing);
            return Ok(Assembly::default());
        }
        let rows = match rows {
            Rows::All => 0..source.n_values,
            Rows::Range(range) => range,
            Rows::Step { start, n, step } => {
                let indices = Rows::numbers(start, n, step)?;
                let add = |task| put(tasks, Task::Take(task));
                return take::plan(number, source, indices, (output, missing), memory, add);
            }
            Rows::Indices(indices) => {
                let add = |task| put(tasks, Task::Take(task));
                return take::plan(number, source, indices, (output, missing), memory, add);
            }
        };
        if source.is_bundled && !rows.is_empty() {
            let members = bundled.entry(source.storage).or_default();
            fallible::push(members, BundledRequest { source, rows, output, missing }, COLUMNS)?;
            return Ok(Assembly::default());
        }
        // The values of a column with blocks of its own are its rows.
        let values = rows;
        match output {
            Output::Text(text) if text.layout == TextLayout::Codes => {
                let add = |task| put(tasks, Task::Codes(task));
                string_codes::plan(number, source, values, text, missing, add)
            }
            Output::Text(text) => {
                let request = StringRequest { number, source, values, text, missing };
                let plan = text::plan(request, &mut Reader::new(self), memory, decoded_len)?;
                plan.tasks.into_iter().try_for_each(|task| put(tasks, Task::Text(task)))?;
                Ok(plan.assembly)
            }
            output => {
                fixed::plan(source, values, output, missing, |task| put(tasks, Task::Fixed(task)))?;
                Ok(Assembly::default())
            }
        }
    }
}

fn put<'a>(tasks: &mut Vec<Task<'a>>, task: Task<'a>) -> Result<()> {
    fallible::push(tasks, task, TASKS)
}

fn check_output(source: &Source, output: &Output<'_>, n: usize) -> Result<()> {
    let of = source.of;
    let physical = of.physical;
    let fits = match (output, physical) {
        (Output::Words(out), _) => of.width().is_some_and(|width| n.checked_mul(width) == Some(out.len())),
        (Output::Wide { memory, width }, Physical::I32 | Physical::I64 | Physical::I128) => {
            matches!(width, 8 | 16 | 32)
                && physical.width().is_some_and(|narrow| narrow < *width)
                && n.checked_mul(*width) == Some(memory.len())
        }
        (Output::Int32 { memory, plus }, _) => {
            n.checked_mul(4) == Some(memory.len()) && int32::fits(physical, source.n_categories, *plus)
        }
        (Output::Bools(out), Physical::Bool) => out.len() == n,
        (Output::Bits(out), Physical::Bool | Physical::Null) => out.len() == n.div_ceil(8),
        (Output::Text(_), _) => physical.is_var(),
        (Output::Bools(_), Physical::Null) => true,
        _ => false,
    };
    // Rows of bytes need no alignment.
    let width = if of.is_word() { of.width().unwrap_or(1) } else { 1 };
    let aligned = match output {
        Output::Words(out) => out.is_empty() || out.as_ptr().align_offset(width.min(8)) == 0,
        Output::Wide { memory, .. } => memory.is_empty() || memory.as_ptr().align_offset(8) == 0,
        Output::Int32 { memory, .. } => memory.is_empty() || memory.as_ptr().align_offset(4) == 0,
        _ => true,
    };
    if fits && aligned {
        Ok(())
    } else {
        Err(Error::argument(format!("the memory does not fit {n} values of type {}", physical.name())))
    }
}

fn check_missing(of: Layout, output: &Output<'_>, missing: &MissingTo<'_>, n: usize) -> Result<()> {
    let fits = match missing {
        MissingTo::Ignore => true,
        MissingTo::Bits(out) => out.len() == n.div_ceil(8),
        MissingTo::BitsWithNan(out) => {
            let are_floats = matches!(of.physical, Physical::F16 | Physical::F32 | Physical::F64);
            are_floats && matches!(output, Output::Words(_)) && out.len() == n.div_ceil(8)
        }
        MissingTo::Mask(out) => out.len() == n,
        MissingTo::Sentinel(_) if matches!(output, Output::Int32 { .. }) => true,
        MissingTo::Sentinel(_) => of.physical.width().is_some_and(|width| width <= 8),
    };
    if fits { Ok(()) } else { Err(Error::argument("the memory for missing values does not fit the rows")) }
}

/// All values of a column of type null are missing.
fn fill_null(output: Output<'_>, missing: MissingTo<'_>) {
    match output {
        Output::Int32 { memory, .. } => {
            let sentinel = if let MissingTo::Sentinel(sentinel) = missing { sentinel as u32 } else { 0 };
            memory.as_chunks_mut::<4>().0.fill(sentinel.to_ne_bytes());
        }
        Output::Words(out) | Output::Wide { memory: out, .. } | Output::Bools(out) | Output::Bits(out) => {
            out.fill(0);
        }
        Output::Text(_) => {}
    }
    match missing {
        MissingTo::Bits(out) | MissingTo::BitsWithNan(out) => out.fill(0),
        MissingTo::Mask(out) => out.fill(1),
        MissingTo::Ignore | MissingTo::Sentinel(_) => {}
    }
}
