//! Reads ranges of bundled columns. Members of a bundle share pages, and each page is opened once
//! for all of them.

use std::ops::Range;

use entasis_format::Result;

use super::fixed::{put, put_missing};
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Output, Source};
use crate::monitor::Control;

/// Values per task, about.
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
pub(crate) fn plan<'a>(mut parts: Vec<Part<'a>>, mut add: impl FnMut(BundleTask<'a>)) {
    parts.sort_by_key(|part| part.values.start);
    let mut task = Vec::new();
    let mut n_values = 0;
    for part in parts {
        n_values += part.values.end - part.values.start;
        task.push(part);
        if n_values >= TASK_VALUES {
            add(BundleTask { parts: std::mem::take(&mut task) });
            n_values = 0;
        }
    }
    if !task.is_empty() {
        add(BundleTask { parts: task });
    }
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
            let (stretch, tail) = rest.split_at_mut(near.count());
            read_stretch(stretch, end, reader, control)?;
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

fn read_stretch(
    parts: &mut [Part<'_>],
    end: u64,
    reader: &mut Reader<'_>,
    control: &Control<'_>,
) -> Result<()> {
    let (start, source) = (parts[0].values.start, parts[0].source);
    let mut strings: Vec<Strings> = parts.iter().map(|_| Strings::default()).collect();
    // The parts before this one end before the page.
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
                    strings.bytes.resize(at + slice.total_len(), 0);
                    slice.write(&mut strings.bytes[at..])?;
                    let mut end = at as i64;
                    strings.ends.extend(slice.lengths().iter().map(|&length| {
                        end += i64::from(length);
                        end
                    }));
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
            let starts = std::iter::once(0).chain(strings.ends.iter().copied());
            let spans = starts.zip(&strings.ends).map(|(start, &end)| (start as usize, (end - start) as u32));
            text.assemble(&strings.bytes, spans.collect::<Vec<_>>().into_iter())?;
        }
    }
    Ok(())
}
