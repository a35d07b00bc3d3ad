//! Encodes a block of a file again, bit by bit, with encodings that the format allows and the
//! encoder may never choose.

use crate::mutate::{Map, get, put};
use crate::naive::Cell;
use crate::naive::types::{Type, physical, width};

/// Values in a page.
const PAGE: usize = 8192;

/// A type in the naive decoder's form.
pub fn naive_type(of: &entasis::ColumnType) -> Type {
    Type {
        physical: of.physical.code(),
        logical: of.logical.code(),
        unit: of.unit.code(),
        missing: of.missing.code(),
        value_len: of.value_len,
        ordered: of.ordered,
        precision: of.precision,
        scale: of.scale as u8,
        host_variant: of.host_variant,
    }
}

/// The encoding of a forged block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Packing 0 to 4.
    pub packing: u8,
    /// Transform.
    pub transform: u8,
    /// Codec.
    pub codec: u8,
    /// Filter.
    pub filter: u8,
    /// Patches in every vector.
    pub patches: bool,
    /// Base and width per vector.
    pub per_vector: bool,
    /// The kind of validity; none without validity.
    pub validity: Option<u8>,
    /// ALP exponents; for transform 3 the exponent and the bits of a residual.
    pub exponents: (u8, u8),
}

/// Appends the bits of a vector.
fn vector(out: &mut Vec<u8>, bits: &[u64], width: usize) {
    if bits.len() < 1024 {
        return partial(out, bits, width);
    }
    let lane_bits = [8, 16, 32, 64].into_iter().find(|&bits| bits >= width).unwrap_or(64);
    let n_lanes = 1024 / lane_bits;
    let start = out.len();
    out.resize(start + 128 * width, 0);
    for (i, value) in bits.iter().enumerate() {
        for b in 0..width {
            let at = i / n_lanes * width + b;
            let (word, bit) = (at / lane_bits, at % lane_bits);
            let byte = (word * n_lanes + i % n_lanes) * (lane_bits / 8) + bit / 8;
            out[start + byte] |= ((value >> b & 1) as u8) << (bit % 8);
        }
    }
}

fn partial(out: &mut Vec<u8>, bits: &[u64], width: usize) {
    let start = out.len();
    out.resize(start + (bits.len() * width).div_ceil(8), 0);
    for (i, value) in bits.iter().enumerate() {
        for b in 0..width {
            let at = i * width + b;
            out[start + at / 8] |= ((value >> b & 1) as u8) << (at % 8);
        }
    }
}

fn mask(word: usize) -> u64 {
    u64::MAX >> (64 - 8 * word)
}

/// The base and width that hold all words, as unsigned numbers.
fn frame(words: &[u64]) -> (u64, usize) {
    let base = words.iter().min().copied().unwrap_or(0);
    let span = words.iter().max().copied().unwrap_or(0) - base;
    (base, (64 - span.leading_zeros()) as usize)
}

/// Packs the words of a page.
struct Packer<'a> {
    plan: &'a Plan,
    /// Bytes of a word.
    word: usize,
    base: u64,
    width: usize,
}

impl Packer<'_> {
    fn put(&self, out: &mut Vec<u8>, value: u64) {
        out.extend(&value.to_le_bytes()[..self.word]);
    }

    /// The body of a page. `values` are the cells, which patches store.
    fn body(&self, words: &[u64], values: &[Cell]) -> Vec<u8> {
        let mut out = Vec::new();
        match self.plan.packing {
            0 => self.raw(&mut out, words, values),
            1 => {}
            2 => self.bit_packed(&mut out, words, values),
            3 => self.delta(&mut out, words),
            _ => self.run_length(&mut out, words),
        }
        out
    }

    fn raw(&self, out: &mut Vec<u8>, words: &[u64], values: &[Cell]) {
        match self.plan.transform {
            // Values of any width are stored unchanged.
            0 => values.iter().for_each(|value| out.extend(value)),
            _ => words.iter().for_each(|&word| self.put(out, word)),
        }
        if self.plan.filter == 1 {
            let plain = out.clone();
            out.clear();
            for k in 0..self.word {
                out.extend(plain.iter().skip(k).step_by(self.word));
            }
        }
    }

    /// The positions of a vector that become patches.
    fn patched(&self, m: usize) -> Vec<usize> {
        if self.plan.patches { (0..m).step_by(99).collect() } else { Vec::new() }
    }

    fn bit_packed(&self, out: &mut Vec<u8>, words: &[u64], values: &[Cell]) {
        let vectors: Vec<&[u64]> = words.chunks(1024).collect();
        let frame_of = |v: &[u64]| if self.plan.per_vector { frame(v) } else { (self.base, self.width) };
        if self.plan.per_vector {
            for v in &vectors {
                let (base, width) = frame_of(v);
                self.put(out, base);
                out.push(width as u8);
            }
        }
        if self.plan.patches {
            vectors.iter().for_each(|v| out.extend((self.patched(v.len()).len() as u16).to_le_bytes()));
        }
        for v in &vectors {
            let (base, width) = frame_of(v);
            let mut bits: Vec<u64> = v.iter().map(|word| word - base).collect();
            // A patch replaces the value, so its bits have no meaning.
            self.patched(v.len())
                .into_iter()
                .for_each(|i| bits[i] = u64::MAX.checked_shr(64 - width as u32).unwrap_or(0));
            vector(out, &bits, width);
        }
        for v in vectors.iter().filter(|_| self.plan.patches) {
            self.patched(v.len()).into_iter().for_each(|i| out.extend((i as u16).to_le_bytes()));
        }
        for (k, v) in vectors.iter().enumerate().filter(|_| self.plan.patches) {
            self.patched(v.len()).into_iter().for_each(|i| out.extend(&values[1024 * k + i]));
        }
    }

    fn deltas(&self, v: &[u64]) -> (u64, Vec<u64>, usize) {
        let shift = 64 - 8 * self.word;
        let signed = |pair: &[u64]| (pair[1].wrapping_sub(pair[0]) << shift) as i64 >> shift;
        let deltas: Vec<i64> = v.windows(2).map(signed).collect();
        let least = deltas.iter().min().copied().unwrap_or(0);
        let mut bits = vec![0];
        bits.extend(deltas.iter().map(|delta| delta.wrapping_sub(least) as u64 & mask(self.word)));
        let width = (64 - bits.iter().max().copied().unwrap_or(0).leading_zeros()) as usize;
        (least as u64, bits, width)
    }

    fn delta(&self, out: &mut Vec<u8>, words: &[u64]) {
        for v in words.chunks(1024) {
            let (least, _, width) = self.deltas(v);
            self.put(out, v[0]);
            self.put(out, least);
            out.push(width as u8);
        }
        for v in words.chunks(1024) {
            let (_, bits, width) = self.deltas(v);
            vector(out, &bits, width);
        }
    }

    fn run_length(&self, out: &mut Vec<u8>, words: &[u64]) {
        let ends: Vec<usize> =
            (1..=words.len()).filter(|&i| i == words.len() || words[i] != words[i - 1]).collect();
        out.extend((ends.len() as u16).to_le_bytes());
        ends.iter().for_each(|&end| out.extend((end as u16).to_le_bytes()));
        let runs: Vec<u64> = ends.iter().map(|&end| words[end - 1] - self.base).collect();
        partial(out, &runs, self.width);
    }
}

/// The validity of a page. `None` when this kind cannot express it.
fn validity(kind: u8, valid: &[bool]) -> Option<Vec<u8>> {
    let missing: Vec<u16> = (0..valid.len()).filter(|&i| !valid[i]).map(|i| i as u16).collect();
    let mut out = vec![kind];
    match kind {
        0 if missing.is_empty() => {}
        1 => partial(&mut out, &valid.iter().map(|&valid| u64::from(valid)).collect::<Vec<_>>(), 1),
        2 if missing.len() == valid.len() => {}
        3 if !missing.is_empty() => {
            out.extend((missing.len() as u16).to_le_bytes());
            missing.iter().for_each(|position| out.extend(position.to_le_bytes()));
        }
        _ => return None,
    }
    Some(out)
}

fn squeeze(payload: &[u8], codec: u8) -> Vec<u8> {
    let squeezed = match codec {
        1 => lz4_flex::block::compress(payload),
        2 => {
            let mut out = vec![0; zstd_safe::compress_bound(payload.len())];
            let n = zstd_safe::compress(out.as_mut_slice(), payload, 3).unwrap_or(usize::MAX);
            out.truncate(n);
            out
        }
        _ => payload.to_vec(),
    };
    if squeezed.len() < payload.len() { squeezed } else { payload.to_vec() }
}

/// The words of cells under a transform, and the block's dictionary.
fn transform(plan: &Plan, cells: &[Cell], of: &Type) -> (Vec<u64>, Vec<Cell>) {
    let mut entries: Vec<Cell> = Vec::new();
    let little = |cell: &Cell| cell.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let words = cells.iter().map(|cell| match plan.transform {
        1 => entries.iter().position(|entry| entry == cell).unwrap_or_else(|| {
            entries.push(cell.clone());
            entries.len() - 1
        }) as u64,
        2 if cell.len() == 8 => {
            let power = 10f64.powi(i32::from(plan.exponents.0) - i32::from(plan.exponents.1));
            (f64::from_bits(little(cell)) * power).round() as i64 as u64
        }
        2 => {
            let power = 10f32.powi(i32::from(plan.exponents.0) - i32::from(plan.exponents.1));
            u64::from((f32::from_bits(little(cell) as u32) * power).round() as i32 as u32)
        }
        3 if little(cell) == f64::NAN.to_bits() || little(cell) == u64::from(f32::NAN.to_bits()) => 0,
        3 if cell.len() == 8 => {
            let (power, value) = (10f64.powi(plan.exponents.0.into()), f64::from_bits(little(cell)));
            let d = (value * power).round();
            let power: f64 = format!("1e-{}", plan.exponents.0).parse().unwrap_or(f64::NAN);
            let r =
                value.to_bits().wrapping_sub((d * power).to_bits()).wrapping_add(1 << (plan.exponents.1 - 1));
            ((d as i64) << plan.exponents.1) as u64 | r
        }
        3 => {
            let (power, value) = (10f32.powi(plan.exponents.0.into()), f32::from_bits(little(cell) as u32));
            let d = (value * power).round();
            let power: f32 = format!("1e-{}", plan.exponents.0).parse().unwrap_or(f32::NAN);
            let r =
                value.to_bits().wrapping_sub((d * power).to_bits()).wrapping_add(1 << (plan.exponents.1 - 1));
            u64::from(((d as i32) << plan.exponents.1) as u32 | r)
        }
        _ => little(cell),
    });
    let words = words.collect();
    debug_assert!(of.physical != physical::BOOL);
    (words, entries)
}

/// Encodes the only block of a file of one column again. `None` when the plan cannot express the
/// values.
///
/// The values of missing cells are zero or empty. The file must be of one block, and small.
pub fn forge(file: &[u8], cells: &[Option<Cell>], of: &Type, plan: &Plan) -> Option<Vec<u8>> {
    let empty = vec![0; width(of).unwrap_or(0)];
    let values: Vec<Cell> = cells.iter().map(|cell| cell.clone().unwrap_or_else(|| empty.clone())).collect();
    let valid: Vec<bool> = cells.iter().map(Option::is_some).collect();
    if plan.validity.is_none() && valid.contains(&false) {
        return None;
    }
    let (words, entries) = transform(plan, &values, of);
    let is_wide = [physical::I128, physical::U128, physical::I256].contains(&of.physical);
    let is_narrow = plan.packing > 0 && is_wide;
    let word = match plan.transform {
        1 => 4,
        0 if is_narrow => 8,
        _ => width(of)?,
    };
    let (mut base, mut bits) = frame(&words);
    let packer = Packer { plan, word, base, width: bits };
    if plan.packing == 1 && bits > 0 || plan.patches && plan.packing != 2 {
        return None;
    }
    if plan.packing == 3 {
        bits = words.chunks(PAGE).flat_map(|page| page.chunks(1024)).map(|v| packer.deltas(v).2).max()?;
    }
    if plan.packing == 0 || plan.packing == 3 || plan.per_vector {
        base = 0;
    }
    if plan.packing <= 1 || plan.per_vector {
        bits = 0;
    }
    let flags =
        u8::from(plan.patches) | u8::from(plan.per_vector) << 1 | u8::from(plan.validity.is_some()) << 2;
    let codes = [plan.packing, plan.transform, plan.codec, plan.filter];
    let mut directory = codes.to_vec();
    directory.extend([bits as u8, plan.exponents.0, plan.exponents.1, flags]);
    directory.extend(base.to_le_bytes());
    let is_empty = plan.packing == 1 && plan.validity.is_none();
    let n_pages = if is_empty { 0 } else { values.len().div_ceil(PAGE) };
    directory.extend((n_pages as u32).to_le_bytes());
    let mut pages = Vec::new();
    dictionary(plan, &entries, of, &mut directory, &mut pages);
    for start in (0..values.len()).step_by(PAGE).take(n_pages) {
        let range = start..values.len().min(start + PAGE);
        let mut payload = match plan.validity {
            None => Vec::new(),
            Some(kind) => validity(kind, &valid[range.clone()])?,
        };
        payload.extend(packer.body(&words[range.clone()], &values[range.clone()]));
        let stored = squeeze(&payload, plan.codec);
        let decoded: usize = values[range.clone()].iter().map(Vec::len).sum();
        for field in [stored.len(), payload.len(), range.len(), decoded] {
            directory.extend((field as u32).to_le_bytes());
        }
        directory.extend([0; 8]);
        pages.extend(stored);
    }
    let decoded_len = values.iter().map(|value| value.len() as u64).sum();
    Some(with_segment(file, codes, &directory, &pages, decoded_len))
}

fn dictionary(plan: &Plan, entries: &[Cell], of: &Type, directory: &mut Vec<u8>, pages: &mut Vec<u8>) {
    if plan.transform != 1 {
        directory.extend([0; 20]);
        return;
    }
    let mut payload = Vec::new();
    if width(of).is_none() {
        let (base, width) = frame(&entries.iter().map(|entry| entry.len() as u64).collect::<Vec<_>>());
        payload.extend((base as u32).to_le_bytes());
        payload.extend([width as u8, 0, 0, 0]);
        for entries in entries.chunks(1024) {
            let bits: Vec<u64> = entries.iter().map(|entry| entry.len() as u64 - base).collect();
            vector(&mut payload, &bits, width);
        }
    }
    entries.iter().for_each(|entry| payload.extend(entry));
    let stored = squeeze(&payload, plan.codec);
    for field in [entries.len(), stored.len(), payload.len()] {
        directory.extend((field as u32).to_le_bytes());
    }
    directory.extend([0; 8]);
    pages.extend(stored);
}

/// The file with another segment.
fn with_segment(file: &[u8], codes: [u8; 4], directory: &[u8], pages: &[u8], decoded_len: u64) -> Vec<u8> {
    let old = Map::of(file);
    let footer_at = 256 + pages.len() + directory.len();
    let moved = |at: usize| if at >= old.footer_at { at - old.footer_at + footer_at } else { at };
    let mut bytes = file[..256].to_vec();
    bytes.extend(pages);
    bytes.extend(directory);
    bytes.extend(&file[old.footer_at..]);
    for field in &old.fields {
        let now = get(file, field);
        let value = match field.name {
            "slot.root_at" | "slot.end" | "trailer.root_at" | "trailer.end" | "root.footer_at" => {
                moved(now as usize) as u64
            }
            "section.part_at" if now > 0 => moved(now as usize) as u64,
            "block.packing" => u64::from(codes[0]),
            "block.transform" => u64::from(codes[1]),
            "block.codec" => u64::from(codes[2]),
            "block.filter" => u64::from(codes[3]),
            "block.pages_at" => 256,
            "block.pages_len" => pages.len() as u64,
            "block.directory_at" => 256 + pages.len() as u64,
            "block.directory_len" => directory.len() as u64,
            "block.decoded_len" => decoded_len,
            _ => continue,
        };
        let field = crate::mutate::Field { at: moved(field.at), ..*field };
        put(&mut bytes, &field, value);
    }
    Map::of(&bytes).repair(&mut bytes);
    bytes
}
