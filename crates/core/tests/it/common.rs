//! Frames in memory, written and read back through the public API.
#![allow(dead_code, reason = "each test uses a part")]

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use entasis::{
    Array, Chunk, Column, ColumnType, File, Frame, HostRead, HostValidity, HostValues, Limits, MemorySink,
    MemorySource, Missing, MissingTo, Output, Physical, Request, Rows, Silent, Source, Text, TextLayout,
    Value, WriteOptions,
};

/// The first value in the tests of a change, the second in those of a release, which the long tests
/// include.
pub fn by_tier<T>(change: T, release: T) -> T {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    if is_set("ENTASIS_TEST_RELEASE") || is_set("ENTASIS_TEST_LONG") { release } else { change }
}

/// Values of a column, some of them missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub physical: Physical,
    pub cells: Cells,
    pub valid: Option<Vec<bool>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Words as bytes, of the width of the type.
    Words(Vec<u8>),
    Bools(Vec<bool>),
    Text(Vec<Vec<u8>>),
}

impl Model {
    pub fn words<T: bytemuck::Pod>(physical: Physical, values: &[T]) -> Self {
        Self { physical, cells: Cells::Words(bytemuck::cast_slice(values).to_vec()), valid: None }
    }

    pub fn text<S: AsRef<[u8]>>(values: &[S]) -> Self {
        let cells = Cells::Text(values.iter().map(|v| v.as_ref().to_vec()).collect());
        Self { physical: Physical::Utf8, cells, valid: None }
    }

    pub fn bools(values: &[bool]) -> Self {
        Self { physical: Physical::Bool, cells: Cells::Bools(values.to_vec()), valid: None }
    }

    pub fn with_missing(mut self, valid: impl Fn(usize) -> bool) -> Self {
        self.valid = Some((0..self.n()).map(valid).collect());
        self
    }

    pub fn n(&self) -> usize {
        match &self.cells {
            Cells::Words(bytes) => bytes.len() / self.physical.width().unwrap(),
            Cells::Bools(v) => v.len(),
            Cells::Text(v) => v.len(),
        }
    }

    pub fn is_valid(&self, i: usize) -> bool {
        self.valid.as_ref().is_none_or(|v| v[i])
    }

    /// Value `i` as bytes; none when it is missing.
    pub fn get(&self, i: usize) -> Option<Vec<u8>> {
        self.cell(i).map(<[u8]>::to_vec)
    }

    fn cell(&self, i: usize) -> Option<&[u8]> {
        self.is_valid(i).then(|| match &self.cells {
            Cells::Words(bytes) => {
                let w = self.physical.width().unwrap();
                &bytes[w * i..w * (i + 1)]
            }
            Cells::Bools(v) => [&[0], &[1]][usize::from(v[i])],
            Cells::Text(v) => v[i].as_slice(),
        })
    }
}

/// Memory that a column is written from.
pub struct Memory {
    values: Vec<u128>,
    len: usize,
    offsets: Vec<i64>,
    mask: Option<Vec<u8>>,
}

pub fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the tests keep the memory until the write is done.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

impl Memory {
    pub fn new(model: &Model) -> Self {
        let mut offsets = vec![0];
        let bytes: Vec<u8> = match &model.cells {
            Cells::Words(bytes) => bytes.clone(),
            Cells::Bools(v) => v.iter().map(|&b| u8::from(b)).collect(),
            Cells::Text(v) => {
                let mut bytes = Vec::new();
                for text in v {
                    bytes.extend_from_slice(text);
                    offsets.push(bytes.len() as i64);
                }
                bytes
            }
        };
        let mut values = vec![0u128; bytes.len().div_ceil(16)];
        bytemuck::cast_slice_mut::<u128, u8>(&mut values)[..bytes.len()].copy_from_slice(&bytes);
        let mask = model.valid.as_ref().map(|v| v.iter().map(|&b| u8::from(!b)).collect());
        Self { values, len: bytes.len(), offsets, mask }
    }

    pub fn column(&self, name: &str, model: &Model) -> Column {
        let memory = lend(&bytemuck::cast_slice(&self.values)[..self.len]);
        let values = match &model.cells {
            Cells::Words(_) => HostValues::Words { memory, stride: model.physical.width().unwrap() as isize },
            Cells::Bools(_) => HostValues::Bools { memory, stride: 1 },
            Cells::Text(_) => {
                HostValues::Offsets64 { offsets: lend(bytemuck::cast_slice(&self.offsets)), bytes: memory }
            }
        };
        let validity = match &self.mask {
            None => HostValidity::AllValid,
            Some(mask) => HostValidity::Mask { memory: lend(mask), stride: 1 },
        };
        let column_type = ColumnType { missing: Missing::Null, ..ColumnType::plain(model.physical) };
        Column {
            run: None,
            name: name.to_owned(),
            column_type,
            detail: None,
            host_detail: None,
            dictionary: None,
            children: Vec::new(),
            array: Array::new(Chunk { n: model.n(), values, validity }),
        }
    }
}

/// The bytes of a file with these columns.
pub fn file_of(columns: &[(&str, Model)], options: &WriteOptions) -> Vec<u8> {
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let frame = frame_of(columns, &memory);
    let sink = MemorySink::new();
    let len = entasis::write_to(&sink, &frame, options, &Silent).unwrap();
    let bytes = sink.into_bytes();
    assert_eq!(bytes.len() as u64, len);
    bytes
}

pub fn frame_of(columns: &[(&str, Model)], memory: &[Memory]) -> Frame {
    Frame {
        n_rows: columns.first().map_or(0, |(_, model)| model.n() as u64),
        columns: columns
            .iter()
            .zip(memory)
            .map(|((name, model), memory)| memory.column(name, model))
            .collect(),
        extra: Vec::new(),
        host: Value::map([("host", Value::Str("test".into()))]),
    }
}

pub fn open(bytes: &[u8]) -> entasis::Result<File> {
    File::from_source(
        Box::new(MemorySource::new(bytes.to_vec())),
        Path::new("test.entasis"),
        Limits::default(),
    )
}

/// Reads rows of a column, one value each; reads strings in every layout.
pub fn read(file: &File, column: u64, rows: &Rows, threads: usize) -> entasis::Result<Vec<Option<Vec<u8>>>> {
    let mut cells: Option<Vec<Option<Vec<u8>>>> = None;
    for &layout in layouts(file, column)? {
        let got = read_as(file, column, rows, threads, layout)?;
        match &cells {
            Some(cells) => {
                let is_same =
                    got.n() == cells.len() && (0..got.n()).all(|i| got.cell(i) == cells[i].as_deref());
                assert!(is_same, "column {column}, {rows:?}, {layout:?}");
            }
            None => cells = Some((0..got.n()).map(|i| got.cell(i).map(<[u8]>::to_vec)).collect()),
        }
    }
    Ok(cells.unwrap())
}

/// The layouts in which a column can be read. Only strings have several.
fn layouts(file: &File, column: u64) -> entasis::Result<&'static [TextLayout]> {
    let all = &[TextLayout::Large, TextLayout::Small, TextLayout::Views, TextLayout::Codes];
    let is_var = file.column(column)?.record.column_type.physical.is_var();
    Ok(if is_var { all } else { &all[..1] })
}

/// Values of a column that were read.
struct Got {
    mask: Vec<u8>,
    words: Vec<u128>,
    /// The bytes of a word, or none for strings.
    width: Option<usize>,
    text: Text,
}

impl Got {
    fn n(&self) -> usize {
        self.mask.len()
    }

    fn cell(&self, i: usize) -> Option<&[u8]> {
        let value = || match self.width {
            Some(width) => &bytemuck::cast_slice(&self.words)[i * width..(i + 1) * width],
            None => self.text.get(i).unwrap(),
        };
        (self.mask[i] == 0).then(value)
    }
}

fn read_as(
    file: &File,
    column: u64,
    rows: &Rows,
    threads: usize,
    layout: TextLayout,
) -> entasis::Result<Got> {
    let info = file.column(column)?;
    let physical = info.record.column_type.physical;
    let n = rows.n(info.record.n_values) as usize;
    let width = physical.width().unwrap_or(1);
    let mut mask = vec![9; n];
    let mut words = vec![0u128; (n * width).div_ceil(16)];
    let bytes = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut words)[..n * width];
    let mut text = Text::new(layout);
    let output = match physical {
        p if p.is_var() => Output::Text(&mut text),
        Physical::Bool => Output::Bools(bytes),
        _ => Output::Words(bytes),
    };
    let request = Request { column, rows: rows.clone(), output, missing: MissingTo::Mask(&mut mask) };
    file.read(vec![request], Some(threads), &Silent)?;
    Ok(Got { mask, words, width: Some(width).filter(|_| !physical.is_var()), text })
}

/// Reads rows of a column of integers, sign-extended to `width` bytes, with validity bits.
pub fn read_wide(file: &File, column: u64, rows: &Rows, width: usize) -> entasis::Result<(Vec<u8>, Vec<u8>)> {
    let n = rows.n(file.column(column)?.record.n_values) as usize;
    let mut limbs = vec![0x5A5A_5A5A_5A5A_5A5Au64; n * width / 8];
    let mut bits = vec![0; n.div_ceil(8)];
    let memory = bytemuck::cast_slice_mut(&mut limbs);
    let output = Output::Wide { memory, width };
    let request = Request { column, rows: rows.clone(), output, missing: MissingTo::Bits(&mut bits) };
    file.read(vec![request], Some(1), &Silent)?;
    Ok((bytemuck::cast_slice(&limbs).to_vec(), bits))
}

/// Checks a selection of rows against the model.
pub fn check(file: &File, column: u64, model: &Model, rows: &Rows, threads: usize) {
    let n = model.n() as u64;
    let wanted: Vec<u64> = match rows {
        Rows::All => (0..n).collect(),
        Rows::Range(range) => range.clone().collect(),
        Rows::Step { start, n, step } => {
            (0..*n).map(|i| start.wrapping_add_signed(i as i64 * step)).collect()
        }
        Rows::Indices(indices) => indices.to_vec(),
    };
    for &layout in layouts(file, column).unwrap() {
        let got = read_as(file, column, rows, threads, layout).unwrap();
        let is_same = |(k, &i): (usize, &u64)| got.cell(k) == model.cell(i as usize);
        assert_eq!(got.n(), wanted.len());
        assert!(wanted.iter().enumerate().all(is_same), "column {column}, {rows:?}, {layout:?}");
    }
}

pub fn indices(rows: impl IntoIterator<Item = u64>) -> Rows {
    Rows::Indices(Arc::from(rows.into_iter().collect::<Vec<_>>()))
}

/// A source that counts the bytes that are read.
pub struct Counting {
    pub inner: MemorySource,
    /// Bytes read so far.
    pub n_read: Arc<AtomicU64>,
    /// Reads so far.
    pub n_reads: Arc<AtomicU64>,
}

impl Source for Counting {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read_at(at, out)?;
        self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        self.n_reads.fetch_add(1, Ordering::Relaxed);
        Ok(n)
    }
}

/// Bytes in memory that can be changed, with a time of the last change. Counts the bytes that are
/// read.
#[derive(Clone, Default)]
pub struct Changing {
    pub bytes: Arc<Mutex<Vec<u8>>>,
    pub seconds: Arc<AtomicU64>,
    pub n_read: Arc<AtomicU64>,
    pub n_reads: Arc<AtomicU64>,
}

impl Changing {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: Arc::new(Mutex::new(bytes)), ..Self::default() }
    }

    pub fn open(&self) -> File {
        File::from_source(Box::new(self.clone()), Path::new("changing"), Limits::default()).unwrap()
    }
}

impl Source for Changing {
    fn len(&self) -> u64 {
        self.bytes.lock().unwrap().len() as u64
    }

    fn changed(&self) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(self.seconds.load(Ordering::Relaxed)))
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.lock().unwrap();
        let there = bytes.get(at as usize..).unwrap_or_default();
        let n = there.len().min(out.len());
        out[..n].copy_from_slice(&there[..n]);
        self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        self.n_reads.fetch_add(1, Ordering::Relaxed);
        Ok(n)
    }
}
