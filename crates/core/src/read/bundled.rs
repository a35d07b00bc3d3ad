//! Reads ranges of bundled columns. Members of a bundle share pages, and each page is opened once
//! for all of them.

use std::ops::Range;

use entasis_format::{Result, fallible};

use super::alloc::{COLUMNS, STRINGS};
use super::fixed::{put, put_missing};
use super::nan::clear_nan;
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Output, Source};
use crate::monitor::Control;

/// Approximate values per task.
const TASK_VALUES: u64 = 1 << 18;
/// Parts with a smaller gap between them are visited together.
const GAP: u64 = 1024;

/// The part of a storage column that one request wants.
pub(crate) struct Part<'a> {
    pub source: &'a Source,
    pub values: Range<u64>,
    pub output: Output<'a>,
    pub missing: MissingTo<'a>,
}

/// Parts of one storage column, in its order.
pub(crate) struct BundleTask<'a> {
    parts: Vec<Part<'a>>,
}

/// Cuts the parts of one storage column into tasks.
pub(crate) fn plan<'a>(
    mut parts: Vec<Part<'a>>,
    mut add: impl FnMut(BundleTask<'a>) -> Result<()>,
) -> Result<()> {
    // Stable sorting would allocate.
    parts.sort_unstable_by_key(|part| part.values.start);
    let mut task = Vec::new();
    let mut n_values = 0;
    for part in parts {
        n_values += part.values.end - part.values.start;
        fallible::push(&mut task, part, COLUMNS)?;
        if n_values >= TASK_VALUES {
            add(BundleTask { parts: std::mem::take(&mut task) })?;
            n_values = 0;
        }
    }
    if task.is_empty() { Ok(()) } else { add(BundleTask { parts: task }) }
}

impl BundleTask<'_> {
    pub(crate) fn run(mut self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let mut rest = self.parts.as_mut_slice();
        while let Some(first) = rest.first() {
            let mut end = first.values.end;
            let near = rest.iter().take_while(|part| {
                let is_near = part.values.start <= end.saturating_add(GAP);
                end = if is_near { end.max(part.values.end) } else { end };
                is_near
            });
            let (neighbours, tail) = rest.split_at_mut(near.count());
            read_neighbours(neighbours, end, reader, control)?;
            rest = tail;
        }
        Ok(())
    }
}

/// The strings of a part read so far.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    ends: Vec<i64>,
}

fn read_neighbours(
    parts: &mut [Part<'_>],
    end: u64,
    reader: &mut Reader<'_>,
    control: &Control<'_>,
) -> Result<()> {
    let (start, source) = (parts[0].values.start, parts[0].source);
    let mut strings = fallible::collect(parts.iter().map(|_| Strings::default()), COLUMNS)?;
    // The index of the first part that does not end before the current page.
    let mut first = 0;
    reader.pages(source, start..end, &mut |opened, scratch| {
        control.check()?;
        let page = start + opened.at as u64..start + (opened.at + opened.range.len()) as u64;
        while parts.get(first).is_some_and(|part| part.values.end <= page.start) {
            first += 1;
        }
        for (part, strings) in parts.iter_mut().zip(&mut strings).skip(first) {
            if part.values.start >= page.end {
                break;
            }
            let from = part.values.start.max(page.start);
            let to = part.values.end.min(page.end);
            if from >= to {
                continue;
            }
            let skip = opened.range.start + (from - page.start) as usize;
            let range = skip..skip + (to - from) as usize;
            let at = (from - part.values.start) as usize;
            let here = OpenPage {
                block: opened.block,
                decoder: opened.decoder,
                page: opened.page,
                range: range.clone(),
                at,
            };
            let name = &part.source.name;
            let done = if let Output::Text(_) = part.output {
                opened.decoder.strings(opened.page, range.clone(), scratch).and_then(|slice| {
                    let at = strings.bytes.len();
                    fallible::resize(&mut strings.bytes, at + slice.total_len(), 0, STRINGS)?;
                    slice.write(&mut strings.bytes[at..])?;
                    let mut end = at as i64;
                    let ends = slice.lengths().iter().map(|&length| {
                        end += i64::from(length);
                        end
                    });
                    fallible::extend(&mut strings.ends, ends, STRINGS)?;
                    put_missing(opened.page.validity, range, here.at, &mut part.missing)
                })
            } else {
                put(part.source, here, &mut part.output, &mut part.missing)
            };
            done.map_err(|e| e.in_column(name))?;
            control.advance(to - from);
        }
        Ok(())
    })?;
    for (part, strings) in parts.iter_mut().zip(strings) {
        if let Output::Text(text) = &mut part.output {
            let mut start = 0;
            let spans = strings.ends.iter().map(|&end| {
                let len = (end - start) as u32;
                (std::mem::replace(&mut start, end) as usize, len)
            });
            text.assemble(&strings.bytes, fallible::collect(spans, STRINGS)?.iter().copied())?;
        }
        clear_nan(part.source, &part.output, &mut part.missing)?;
    }
    Ok(())
}
