//! Decodes columns in several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use entasis::{Error, Monitor, Result, prefault};

use super::blocks::Numbers;
use super::columns::{Column, Type, Values};
use super::decoder::Decoder;
use super::text::{Part, Text, strings};
use crate::input::zeroed;
use crate::r::{Data, Value};

/// The blocks of a job.
const N_BLOCKS: u64 = 64;
/// The time between two calls of the monitor.
const INTERVAL: Duration = Duration::from_millis(50);

/// Rows of a column, and the memory for them; for strings also the bytes that are allowed.
enum Job<'j> {
    Numbers { numbers: &'j Numbers<'j>, rows: Range<u64>, into: &'j mut [u8], check: Check },
    Text { text: &'j Text<'j>, rows: Range<u64>, into: &'j mut Part, left: &'j AtomicU64 },
}

/// A check or a change of decoded values.
#[derive(Clone, Copy)]
enum Check {
    Nothing,
    /// Codes from 1 up to this number, or missing.
    Codes(i32),
    Logical,
}

/// The memory for the values of a column.
enum Output {
    Data(Data),
    Parts(Vec<Part>),
}

/// The vectors of columns. Strings of the columns in `by_string` are looked at one by one; columns
/// whose strings had to be are added.
pub(super) fn run(
    columns: &[Column<'_>],
    rows: Range<u64>,
    by_string: &mut [bool],
    max_text: Option<u64>,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Value>> {
    let left = AtomicU64::new(max_text.unwrap_or(u64::MAX));
    let outputs: Result<Vec<Output>> = columns.iter().map(|column| output(column, &rows)).collect();
    let mut outputs = outputs?;
    let mut jobs = Vec::new();
    for (column, output) in columns.iter().zip(&mut outputs) {
        add_jobs(column, output, &rows, &left, &mut jobs);
    }
    work(jobs, threads, monitor)?;
    let value = |(i, (column, output)): (usize, (&Column<'_>, Output))| {
        let data = match (output, &column.values) {
            (Output::Data(data), _) => data,
            (Output::Parts(parts), Values::Text(text)) => {
                let (found, one_by_one) = strings(parts, text.mark(), by_string.get(i) == Some(&true))?;
                by_string.iter_mut().skip(i).take(1).for_each(|by_string| *by_string = one_by_one);
                Data::Strings(Box::new(found))
            }
            (Output::Parts(_), _) => Data::Null,
        };
        Ok(column.value(data))
    };
    columns.iter().zip(outputs).enumerate().map(value).collect()
}

/// The rows of jobs. All but the first and the last have whole blocks.
fn pieces(rows: &Range<u64>, per_block: u64) -> impl Iterator<Item = Range<u64>> {
    let (len, end) = (per_block * N_BLOCKS, rows.end);
    let mut start = rows.start;
    std::iter::from_fn(move || {
        let piece = start..end.min((start / len + 1) * len);
        start = piece.end;
        (!piece.is_empty()).then_some(piece)
    })
}

fn output(column: &Column<'_>, rows: &Range<u64>) -> Result<Output> {
    let n = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
    Ok(Output::Data(match &column.values {
        Values::Text(text) => {
            let n = pieces(rows, text.per_block()).count();
            return Ok(Output::Parts((0..n).map(|_| Part::default()).collect()));
        }
        Values::Factor(None, _) => {
            let mut codes = zeroed(n)?;
            codes.fill(i32::MIN);
            Data::Integer(codes)
        }
        Values::Factor(..) | Values::Numbers(_, Type::Integer) => Data::Integer(zeroed(n)?),
        Values::Numbers(_, Type::Logical) => Data::Logical(zeroed(n)?),
        Values::Numbers(_, Type::Double | Type::Wide) => Data::Double(zeroed(n)?),
        Values::Numbers(_, Type::Raw) => Data::Raw(zeroed(n)?),
    }))
}

fn add_jobs<'j>(
    column: &'j Column<'j>,
    output: &'j mut Output,
    rows: &Range<u64>,
    left: &'j AtomicU64,
    jobs: &mut Vec<Job<'j>>,
) {
    let (numbers, check) = match &column.values {
        Values::Text(text) => {
            let Output::Parts(parts) = output else { return };
            let pieces = pieces(rows, text.per_block());
            jobs.extend(pieces.zip(parts).map(|(rows, into)| Job::Text { text, rows, into, left }));
            return;
        }
        Values::Factor(Some(codes), levels) => {
            (codes, Check::Codes(i32::try_from(levels.len()).unwrap_or(i32::MAX)))
        }
        Values::Factor(None, _) => return,
        Values::Numbers(numbers, Type::Logical) => (numbers, Check::Logical),
        Values::Numbers(numbers, _) => (numbers, Check::Nothing),
    };
    let mut memory: &mut [u8] = match output {
        Output::Data(Data::Integer(values) | Data::Logical(values)) => bytemuck::cast_slice_mut(values),
        Output::Data(Data::Double(values)) => bytemuck::cast_slice_mut(values),
        Output::Data(Data::Raw(values)) => values,
        _ => return,
    };
    for rows in pieces(rows, numbers.per_block() as u64) {
        let len = (rows.end - rows.start) as usize * numbers.width;
        let (into, rest) = memory.split_at_mut(len);
        jobs.push(Job::Numbers { numbers, rows, into, check });
        memory = rest;
    }
}

/// Runs all jobs, the last one first.
fn work(jobs: Vec<Job<'_>>, threads: usize, monitor: &dyn Monitor) -> Result<()> {
    let n = jobs.len();
    let queue = Mutex::new(jobs);
    let is_stopped = AtomicBool::new(false);
    let one = |watch: &mut dyn FnMut(usize) -> bool| {
        let mut decoder = Decoder::new()?;
        while !is_stopped.load(Ordering::Relaxed) {
            let (job, left) = {
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                (queue.pop(), queue.len())
            };
            let Some(job) = job else { break };
            let result = job.run(&mut decoder);
            if result.is_err() || !watch(left) {
                is_stopped.store(true, Ordering::Relaxed);
                return result.and(Err(Error::interrupted()));
            }
        }
        Ok(())
    };
    let mut polled = Instant::now();
    let mut watch = |left: usize| {
        if polled.elapsed() < INTERVAL {
            return true;
        }
        polled = Instant::now();
        monitor.progress((n - left) as u64, n as u64);
        !monitor.interrupted()
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(n)).map(|_| scope.spawn(|| one(&mut |_| true))).collect();
        let mut result = one(&mut watch);
        for other in others {
            let panicked = |_| Err(Error::corrupt("a thread that decodes columns panicked"));
            result = result.and(other.join().unwrap_or_else(panicked));
        }
        result
    })
}

impl Job<'_> {
    fn run(self, decoder: &mut Decoder) -> Result<()> {
        match self {
            Job::Text { text, rows, into, left } => {
                text.decode(decoder, rows, left.load(Ordering::Relaxed), into)?;
                let len = into.text.len() as u64;
                let taken =
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(len));
                taken.map(drop).map_err(|_| {
                    Error::limit("the strings are longer than max_bytes allows")
                        .advise("raise max_bytes if you trust the file, or read fewer rows or columns")
                })
            }
            Job::Numbers { numbers, rows, into, check } => {
                prefault(into);
                numbers.decode(decoder, rows, into)?;
                check.run(into)
            }
        }
    }
}

impl Check {
    fn run(self, values: &mut [u8]) -> Result<()> {
        let (words, _) = values.as_chunks_mut::<4>();
        match self {
            Check::Nothing => {}
            Check::Codes(most) => {
                let is_wrong = |word: &[u8; 4]| {
                    let code = i32::from_le_bytes(*word);
                    code != i32::MIN && (code < 1 || code > most)
                };
                if words.iter().fold(false, |any, word| any | is_wrong(word)) {
                    return Err(Error::corrupt("a code of a factor has no level"));
                }
            }
            Check::Logical => {
                for word in words {
                    let value = i32::from_le_bytes(*word);
                    *word = (if value == i32::MIN { value } else { i32::from(value != 0) }).to_le_bytes();
                }
            }
        }
        Ok(())
    }
}
