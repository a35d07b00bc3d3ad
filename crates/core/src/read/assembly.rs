//! Results that are put in place after all tasks: bits, because tasks may share a byte, strings
//! whose lengths are unknown until they are decoded, and codes, because each task numbers its own
//! strings.

use entasis_format::{Error, Result, fallible};
use entasis_kernels::{bits, gather};
use entasis_platform::{Buffer, Buffers};

use super::alloc::{COLUMNS, too_many};
use super::dictionary_views::bad_code;
use super::layout::{Ends, Text, TextLayout, sum};
use crate::distinct_strings::DistinctStrings;
use crate::monitor::Control;
use crate::threads;

/// The results of a task that are put in place after all tasks.
#[derive(Default)]
pub(crate) struct TaskResult {
    pub request: usize,
    /// The position of the first value in the request.
    pub at: usize,
    pub n: usize,
    /// Validity bits, if wanted.
    pub validity: Vec<u8>,
    /// Booleans as bits, if wanted.
    pub values: Vec<u8>,
    /// The lengths of strings, for a layout with offsets, or their codes.
    pub lengths: Vec<u32>,
    /// The bytes of strings.
    pub bytes: Buffer,
    /// The dictionaries that views refer to.
    pub dictionaries: Vec<Buffer>,
    /// The strings that codes number.
    pub distinct: DistinctStrings,
}

/// Memory of a request that is filled after all tasks.
#[derive(Default)]
pub(crate) struct Assembly<'a> {
    /// Memory for validity bits.
    pub validity: Option<&'a mut [u8]>,
    /// Memory for booleans as bits.
    pub values: Option<&'a mut [u8]>,
    /// The list that dictionaries are appended to, for views.
    pub dictionaries: Option<&'a mut Vec<Buffer>>,
    /// For views: the list that receives the buffer of each result.
    pub buffers: Option<&'a mut Vec<Buffer>>,
    /// Strings that are joined, for a layout with offsets or codes.
    pub text: Option<&'a mut Text>,
}

/// Strings of a result, and the memory to copy them to.
struct Join<'a> {
    result: TaskResult,
    /// Bytes of strings before this result.
    base: usize,
    /// For codes: the code among the strings of all results, by the code in this result.
    codes: Vec<u32>,
    ends: Ends<'a>,
    bytes: &'a mut [u8],
}

/// Puts results at their positions, in any order.
pub(crate) fn assemble(
    mut assemblies: Vec<Assembly<'_>>,
    mut results: Vec<TaskResult>,
    threads: usize,
    control: &Control<'_>,
) -> Result<()> {
    results.sort_unstable_by_key(|result| (result.request, result.at));
    let mut joins: Vec<Join<'_>> = Vec::new();
    let mut rest = results.into_iter().peekable();
    for (request, assembly) in assemblies.iter_mut().enumerate() {
        let mut own = Vec::new();
        while let Some(mut result) = rest.next_if(|result| result.request == request) {
            assembly.put(&mut result)?;
            if assembly.text.is_some() {
                fallible::push(&mut own, result, COLUMNS)?;
            }
        }
        if let Some(text) = assembly.text.as_deref_mut() {
            plan_joins(text, own, &mut joins)?;
        }
    }
    threads::run_in_ranges(joins, threads, control, || (), |(), join| join.run(control))
}

impl Assembly<'_> {
    /// Puts the bits of a result in place, and takes its buffers.
    fn put(&mut self, result: &mut TaskResult) -> Result<()> {
        let bits = [(&mut self.validity, &result.validity), (&mut self.values, &result.values)];
        for (memory, found) in bits {
            if let Some(out) = memory.as_deref_mut()
                && !bits::copy_bits(found, 0, out, result.at, result.n)
            {
                return Err(Error::argument("the memory for bits is too short"));
            }
        }
        if let Some(list) = self.dictionaries.as_deref_mut() {
            fallible::extend(list, result.dictionaries.drain(..), COLUMNS)?;
        }
        if let Some(list) = self.buffers.as_deref_mut() {
            fallible::push(list, std::mem::take(&mut result.bytes), COLUMNS)?;
        }
        Ok(())
    }
}

/// Allocates the memory of joined strings, and divides it between their results.
fn plan_joins<'a>(text: &'a mut Text, results: Vec<TaskResult>, joins: &mut Vec<Join<'a>>) -> Result<()> {
    let sums = |sum: Option<usize>, len| sum?.checked_add(len);
    let n = results.iter().map(|result| result.lengths.len()).fold(Some(0), sums).ok_or_else(too_many)?;
    let len = results.iter().map(|result| result.bytes.len()).fold(Some(0), sums).ok_or_else(too_many)?;
    let mut codes = joined_codes(text, &results)?.into_iter();
    let (mut ends, buffers, _) = text.reserve(n, &[len], &mut Buffers::default())?;
    let mut bytes: &mut [u8] = buffers.first_mut().ok_or_else(too_many)?;
    let mut base = 0;
    for result in results {
        let len = result.bytes.len();
        let (own, after) = bytes.split_at_mut(len);
        bytes = after;
        let own_ends = ends.take(result.lengths.len());
        let codes = codes.next().unwrap_or_default();
        fallible::push(joins, Join { result, base, codes, ends: own_ends, bytes: own }, COLUMNS)?;
        base += len;
    }
    Ok(())
}

/// Numbers the strings of all results. Returns the new codes of the strings of each result.
fn joined_codes(text: &mut Text, results: &[TaskResult]) -> Result<Vec<Vec<u32>>> {
    if text.layout != TextLayout::Codes {
        return Ok(Vec::new());
    }
    let mut all = DistinctStrings::default();
    let codes = results.iter().map(|result| {
        let strings = (0..result.distinct.len()).map(|code| all.code(result.distinct.get(code)));
        fallible::try_collect(strings, COLUMNS)
    });
    let codes = fallible::try_collect(codes, COLUMNS)?;
    text.set_distinct(&all)?;
    Ok(codes)
}

impl Join<'_> {
    fn run(self, control: &Control<'_>) -> Result<()> {
        control.check()?;
        let Self { result, base, codes, ends, bytes } = self;
        bytes.copy_from_slice(&result.bytes);
        match ends {
            Ends::Small(ends) => sum(&result.lengths, base as u32, ends),
            Ends::Large(ends) => sum(&result.lengths, base as u64, ends),
            Ends::Codes(out) => {
                if !gather::gather(&codes, &result.lengths, out) {
                    return Err(bad_code());
                }
            }
            Ends::Views(_) => return Err(Error::argument("views are not joined")),
        }
        Ok(())
    }
}
