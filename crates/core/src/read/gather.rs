//! Rows at any places: sorted, each vector that holds some of them decoded once, each value put to its place.

use std::sync::Arc;

use entasis_encodings::Validity;
use entasis_format::{Error, Result};
use entasis_kernels::{VECTOR, bits};

use super::segment::{Opened, Reader};
use super::{MissingTo, Output, Source, Text};
use crate::control::Control;

/// A request for rows by number.
pub(crate) struct GatherTask<'a> {
    source: &'a Source,
    indices: Arc<[u64]>,
    output: Output<'a>,
    missing: MissingTo<'a>,
}

/// Bytes of strings gathered so far, and where each wanted one is among them.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    /// By the place in the request: start and length.
    spans: Vec<(usize, u32)>,
}

impl<'a> GatherTask<'a> {
    pub(crate) fn new(
        source: &'a Source,
        indices: Arc<[u64]>,
        output: Output<'a>,
        missing: MissingTo<'a>,
    ) -> Self {
        Self { source, indices, output, missing }
    }

    pub(crate) fn run(self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let source = self.source;
        self.gather(reader, control)
            .map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })
    }

    fn gather(mut self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let indices = Arc::clone(&self.indices);
        // Places in the request, in the order of the rows that they want.
        let order: Option<Vec<usize>> = (!indices.is_sorted()).then(|| {
            let mut order: Vec<usize> = (0..indices.len()).collect();
            order.sort_unstable_by_key(|&place| indices[place]);
            order
        });
        let place = |k: usize| order.as_ref().map_or(k, |order| order[k]);
        let value = |k: usize| self.source.values.start + indices[place(k)];
        let mut strings = Strings::default();
        if let Output::Text(_) = self.output {
            strings.spans = vec![(0, 0); indices.len()];
        }
        let mut k = 0;
        while k < indices.len() {
            control.check()?;
            // One visit for all rows of a vector's length that follow; its pages are read once.
            let first = value(k);
            let mut end = k + 1;
            while end < indices.len() && value(end) - first < VECTOR as u64 {
                end += 1;
            }
            let range = first..value(end - 1) + 1;
            let wanted = (k..end).map(|k| ((value(k) - first) as usize, place(k)));
            let (source, output, missing) = (self.source, &mut self.output, &mut self.missing);
            let mut values = Vec::new();
            reader.pages(source, range, &mut |opened, scratch| {
                let (from, end) = (opened.at, opened.at + opened.range.len());
                let here = wanted.clone().filter(move |(at, _)| *at >= from && *at < end);
                let here = here.map(|(at, place)| (at - from, place));
                put_marks(opened.page.validity, opened.range.start, here.clone(), missing);
                match &mut *output {
                    Output::Text(_) => gather_strings(opened, scratch, here, &mut strings),
                    output => gather_fixed(source, opened, here, output, missing, &mut values),
                }
            })?;
            control.advance((end - k) as u64);
            k = end;
        }
        match self.output {
            Output::Text(text) => strings.assemble(text),
            _ => Ok(()),
        }
    }
}

fn put_marks(
    validity: Validity<'_>,
    first: usize,
    wanted: impl Iterator<Item = (usize, usize)>,
    missing: &mut MissingTo<'_>,
) {
    match missing {
        MissingTo::Bits(out) => {
            for (at, place) in wanted {
                let put = bits::set_bits(out, place, 1, validity.is_valid(first + at));
                debug_assert!(put, "the memory was measured when the request was checked");
            }
        }
        MissingTo::Mask(out) => {
            wanted.for_each(|(at, place)| out[place] = u8::from(!validity.is_valid(first + at)))
        }
        MissingTo::Mark(_) | MissingTo::Ignore => {}
    }
}

/// Decodes the stretch that holds the wanted values, and puts each to its place.
fn gather_fixed(
    source: &Source,
    opened: Opened<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
    output: &mut Output<'_>,
    missing: &MissingTo<'_>,
    values: &mut Vec<u128>,
) -> Result<()> {
    let width = super::fixed::width_of(source, output);
    let len = opened.range.len() * width;
    values.clear();
    values.resize(len.div_ceil(16), 0);
    let bytes = &mut bytemuck::cast_slice_mut::<u128, u8>(values)[..len];
    let mut marks =
        if let MissingTo::Mark(mark) = missing { MissingTo::Mark(*mark) } else { MissingTo::Ignore };
    let stretch = match output {
        Output::Words(_) => Output::Words(&mut *bytes),
        Output::Wide { .. } => Output::Wide { memory: &mut *bytes, width },
        Output::Int32 { plus, .. } => Output::Int32 { memory: &mut *bytes, plus: *plus },
        _ => Output::Bools(&mut *bytes),
    };
    let mut stretch = stretch;
    super::fixed::put(source, Opened { at: 0, ..opened }, &mut stretch, &mut marks)?;
    match output {
        Output::Words(out) | Output::Wide { memory: out, .. } | Output::Int32 { memory: out, .. } => {
            for (at, place) in wanted {
                out[place * width..(place + 1) * width].copy_from_slice(&bytes[at * width..(at + 1) * width]);
            }
        }
        Output::Bools(out) => wanted.for_each(|(at, place)| out[place] = bytes[at]),
        Output::Bits(out) => {
            for (at, place) in wanted {
                if !bits::set_bits(out, place, 1, bytes[at] != 0) {
                    return Err(Error::argument("the memory for bits is too short"));
                }
            }
        }
        Output::Text(_) => {}
    }
    Ok(())
}

fn gather_strings(
    opened: Opened<'_>,
    scratch: &mut entasis_encodings::TextScratch,
    wanted: impl Iterator<Item = (usize, usize)>,
    strings: &mut Strings,
) -> Result<()> {
    let slice = opened.decoder.strings(opened.page, opened.range, scratch)?;
    let (mut i, mut before) = (0, 0);
    for (at, place) in wanted {
        while i < at {
            before += slice.lengths()[i] as usize;
            i += 1;
        }
        let value = slice.get(at, before);
        strings.spans[place] = (strings.bytes.len(), slice.lengths()[at]);
        strings.bytes.extend_from_slice(value);
    }
    Ok(())
}

impl Strings {
    /// Puts the strings into the order of the request.
    fn assemble(self, text: &mut Text) -> Result<()> {
        text.assemble(&self.bytes, self.spans.into_iter())
    }
}
