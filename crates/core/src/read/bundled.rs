//! Reads ranges of bundled columns. Members of a bundle share pages, and each page is opened once
//! for all of them.

use std::ops::Range;

use entasis_format::{Result, fallible};

use super::alloc::{COLUMNS, STRINGS};
use super::fixed::{put, put_missing};
use super::layout::Text;
use super::nan::clear_nan;
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Output, Source};
use crate::monitor::Control;

/// Approximate values per task.
const TASK_VALUES: u64 = 1 << 18;
/// Values with a smaller gap between them are visited together.
const GAP: u64 = 1024;

/// The rows of a bundled column that one request wants.
pub(crate) struct BundledRequest<'a> {
    pub source: &'a Source,
    pub rows: Range<u64>,
    pub output: Output<'a>,
    pub missing: MissingTo<'a>,
}

/// Requests for one storage column, in its order.
pub(crate) struct BundleTask<'a> {
    requests: Vec<BundledRequest<'a>>,
}

/// Consecutive values of the storage column that belong to one request.
struct Span {
    values: Range<u64>,
    /// The index of the request.
    request: usize,
    /// How many values of the request come before these.
    at: usize,
}

/// Groups the requests for one storage column into tasks.
pub(crate) fn plan<'a>(
    mut requests: Vec<BundledRequest<'a>>,
    mut add: impl FnMut(BundleTask<'a>) -> Result<()>,
) -> Result<()> {
    // Stable sorting would allocate.
    requests.sort_unstable_by_key(|request| request.source.value(request.rows.start));
    let mut task = Vec::new();
    let mut n_values = 0;
    for request in requests {
        n_values += request.rows.end - request.rows.start;
        fallible::push(&mut task, request, COLUMNS)?;
        if n_values >= TASK_VALUES {
            add(BundleTask { requests: std::mem::take(&mut task) })?;
            n_values = 0;
        }
    }
    if task.is_empty() { Ok(()) } else { add(BundleTask { requests: task }) }
}

impl BundleTask<'_> {
    pub(crate) fn run(mut self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let spans = self.spans()?;
        let requests = &mut self.requests;
        let mut strings = fallible::collect(requests.iter().map(|_| Strings::default()), COLUMNS)?;
        let mut rest = spans.as_slice();
        while let Some(first) = rest.first() {
            let mut end = first.values.end;
            let near = rest.iter().take_while(|span| {
                let is_near = span.values.start <= end.saturating_add(GAP);
                end = if is_near { end.max(span.values.end) } else { end };
                is_near
            });
            let (neighbours, tail) = rest.split_at(near.count());
            read_neighbours(neighbours, end, (requests, &mut strings), reader, control)?;
            rest = tail;
        }
        for (request, strings) in requests.iter_mut().zip(strings) {
            if let Output::Text(text) = &mut request.output {
                strings.assemble(text)?;
            }
            clear_nan(request.source, &request.output, &mut request.missing)?;
        }
        Ok(())
    }

    /// The values of all requests, in the order of the storage column.
    fn spans(&self) -> Result<Vec<Span>> {
        let mut spans = fallible::with_capacity(self.requests.len(), COLUMNS)?;
        for (i, request) in self.requests.iter().enumerate() {
            for stretch in request.source.stretches(request.rows.clone()) {
                let at = (stretch.rows.start - request.rows.start) as usize;
                fallible::push(&mut spans, Span { values: stretch.values(), request: i, at }, COLUMNS)?;
            }
        }
        if spans.len() > self.requests.len() {
            spans.sort_unstable_by_key(|span| (span.values.start, span.request));
        }
        Ok(spans)
    }
}

/// The strings of a request read so far.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    ends: Vec<i64>,
}

impl Strings {
    fn assemble(&self, text: &mut Text) -> Result<()> {
        let mut start = 0;
        let spans = self.ends.iter().map(|&end| {
            let len = (end - start) as u32;
            (std::mem::replace(&mut start, end) as usize, len)
        });
        text.assemble(&self.bytes, fallible::collect(spans, STRINGS)?.iter().copied())
    }
}

/// Reads the values of these spans, which lie before `end` in the storage column.
fn read_neighbours(
    spans: &[Span],
    end: u64,
    (requests, strings): (&mut [BundledRequest<'_>], &mut [Strings]),
    reader: &mut Reader<'_>,
    control: &Control<'_>,
) -> Result<()> {
    let (start, source) = (spans[0].values.start, requests[spans[0].request].source);
    // The index of the first span that does not end before the current page.
    let mut first = 0;
    reader.pages(source, start..end, &mut |opened, scratch| {
        control.check()?;
        let page = start + opened.at as u64..start + (opened.at + opened.range.len()) as u64;
        while spans.get(first).is_some_and(|span| span.values.end <= page.start) {
            first += 1;
        }
        for span in &spans[first..] {
            let values = &span.values;
            if values.start >= page.end {
                break;
            }
            let from = values.start.max(page.start);
            let to = values.end.min(page.end);
            if from >= to {
                continue;
            }
            let (request, strings) = (&mut requests[span.request], &mut strings[span.request]);
            let skip = opened.range.start + (from - page.start) as usize;
            let range = skip..skip + (to - from) as usize;
            let at = span.at + (from - values.start) as usize;
            let here = OpenPage {
                block: opened.block,
                decoder: opened.decoder,
                page: opened.page,
                range: range.clone(),
                at,
            };
            let name = &request.source.name;
            let done = if let Output::Text(_) = request.output {
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
                    put_missing(opened.page.validity, range, here.at, &mut request.missing)
                })
            } else {
                put(request.source, here, &mut request.output, &mut request.missing)
            };
            done.map_err(|e| e.in_column(name))?;
            control.advance(to - from);
        }
        Ok(())
    })
}
