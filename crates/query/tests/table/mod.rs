//! Random tables, and the files that are written from them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{
    Array, Chunk, Column, ColumnType, Frame, HostRead, HostValidity, HostValues, Logical, Physical, Silent,
    Value, WriteOptions,
};
use proptest::prelude::*;

/// Kinds of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Bool,
    I8,
    I64,
    U64,
    I128,
    U128,
    F32,
    F64,
    Utf8,
    Binary,
    Category,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    Missing,
    Bool(bool),
    Int(i128),
    Float(f64),
    Bytes(Vec<u8>),
}

/// Columns of equal length.
#[derive(Clone, Debug)]
pub struct Table {
    pub columns: Vec<(Kind, Vec<Cell>)>,
}

/// Strings around the length that statistics store, and others.
pub const WORDS: [&str; 12] = [
    "",
    "a",
    "ab",
    "b\u{0}",
    "bé",
    "aaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaab",
    "aaaaaaaaaaaaaaac",
    "\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF}",
    "z",
    "é%_",
];

pub fn kind() -> impl Strategy<Value = Kind> {
    use Kind::*;
    proptest::sample::select(&[Bool, I8, I64, U64, I128, U128, F32, F64, Utf8, Binary, Category][..])
}

/// A random value, mostly one of a small set.
fn cell(kind: Kind) -> BoxedStrategy<Cell> {
    let int = |low: i128, high: i128| {
        prop_oneof![
            8 => (0i128..6).prop_map(Cell::Int),
            1 => (low..=high).prop_map(Cell::Int),
            1 => prop_oneof![Just(low), Just(high)].prop_map(Cell::Int),
        ]
        .boxed()
    };
    match kind {
        Kind::Bool => any::<bool>().prop_map(Cell::Bool).boxed(),
        Kind::I8 => int(i8::MIN.into(), i8::MAX.into()),
        Kind::I64 => int(i64::MIN.into(), i64::MAX.into()),
        Kind::U64 => int(0, u64::MAX.into()),
        Kind::I128 => int(-(1 << 64), 1 << 64),
        Kind::U128 => int(0, i128::MAX),
        Kind::F32 => {
            let float = prop_oneof![
                6 => (-20i8..20).prop_map(|tenths| f32::from(tenths) / 10.0),
                2 => proptest::sample::select(&[f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY][..]),
                1 => any::<f32>(),
            ];
            float.prop_map(|value| Cell::Float(value.into())).boxed()
        }
        Kind::F64 => {
            let float = prop_oneof![
                6 => (-20i8..20).prop_map(|tenths| f64::from(tenths) / 10.0),
                2 => proptest::sample::select(&[f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY][..]),
                1 => any::<f64>(),
            ];
            float.prop_map(Cell::Float).boxed()
        }
        Kind::Utf8 | Kind::Category => {
            proptest::sample::select(&WORDS[..]).prop_map(|word| Cell::Bytes(word.into())).boxed()
        }
        Kind::Binary => prop_oneof![
            3 => proptest::sample::select(&WORDS[..]).prop_map(|word| word.as_bytes().to_vec()),
            1 => proptest::collection::vec(prop_oneof![Just(0u8), Just(0xFF)], 0..18),
        ]
        .prop_map(Cell::Bytes)
        .boxed(),
    }
}

/// Tables of these columns. Some are repeated to be longer than a block, some are sorted.
pub fn table(kinds: Vec<Kind>) -> impl Strategy<Value = Table> {
    let n = prop_oneof![12 => 0..40usize, 4 => 1_000..1_100usize, 1 => 65_530..65_540usize, 1 => 131_000..131_100usize];
    (n, any::<u64>(), any::<bool>()).prop_flat_map(move |(n, seed, is_long_run)| {
        let columns = kinds.iter().map(|&kind| {
            let drawn = n.min(200);
            (proptest::collection::vec(cell(kind), drawn), 0..4u8, any::<bool>()).prop_map(
                move |(drawn, missing, is_sorted)| {
                    let mut state = seed | 1;
                    let mut next = || {
                        state ^= state << 13;
                        state ^= state >> 7;
                        state ^= state << 17;
                        state
                    };
                    let mut cells: Vec<Cell> = Vec::with_capacity(n);
                    for i in 0..n {
                        let pick =
                            if is_long_run { i * drawn.len() / n } else { next() as usize % drawn.len() };
                        let is_missing = missing > 1 && next() % u64::from(missing) == 0;
                        cells.push(if is_missing { Cell::Missing } else { drawn[pick].clone() });
                    }
                    if is_sorted {
                        cells.sort_by(order);
                    }
                    (kind, cells)
                },
            )
        });
        columns.collect::<Vec<_>>().prop_map(|columns| Table { columns })
    })
}

fn order(a: &Cell, b: &Cell) -> std::cmp::Ordering {
    match (a, b) {
        (Cell::Int(a), Cell::Int(b)) => a.cmp(b),
        (Cell::Float(a), Cell::Float(b)) => a.total_cmp(b),
        (Cell::Bytes(a), Cell::Bytes(b)) => a.cmp(b),
        (Cell::Bool(a), Cell::Bool(b)) => a.cmp(b),
        (Cell::Missing, Cell::Missing) => std::cmp::Ordering::Equal,
        (Cell::Missing, _) => std::cmp::Ordering::Less,
        (_, Cell::Missing) => std::cmp::Ordering::Greater,
        _ => panic!("cells of one column have one kind"),
    }
}

/// Memory that is lent to a writer.
#[derive(Default)]
struct Memory(Vec<Vec<u8>>);

impl Memory {
    fn lend(&mut self, bytes: Vec<u8>) -> HostRead {
        // SAFETY: the memory of the vector stays where it is until `self` is dropped, after the
        // write.
        let lent = unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
        self.0.push(bytes);
        lent
    }

    fn strings<'a>(&mut self, strings: impl Iterator<Item = &'a [u8]>) -> HostValues {
        let (mut offsets, mut bytes) = (vec![0i64], Vec::new());
        for string in strings {
            bytes.extend_from_slice(string);
            offsets.push(bytes.len() as i64);
        }
        let offsets = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        HostValues::Offsets64 { offsets: self.lend(offsets), bytes: self.lend(bytes) }
    }

    fn validity(&mut self, cells: &[Cell]) -> HostValidity {
        let mask: Vec<u8> = cells.iter().map(|cell| u8::from(*cell == Cell::Missing)).collect();
        if mask.contains(&1) {
            HostValidity::Mask { memory: self.lend(mask), stride: 1 }
        } else {
            HostValidity::AllValid
        }
    }

    fn words(
        &mut self,
        physical: Physical,
        cells: &[Cell],
        of: &dyn Fn(&Cell) -> i128,
    ) -> (Physical, HostValues) {
        let width = physical.width().unwrap();
        let bytes = cells.iter().flat_map(|cell| of(cell).to_le_bytes()[..width].to_vec()).collect();
        (physical, HostValues::Words { memory: self.lend(bytes), stride: width as isize })
    }

    fn values(&mut self, kind: Kind, cells: &[Cell]) -> (Physical, HostValues) {
        let int = |cell: &Cell| if let Cell::Int(value) = cell { *value } else { 0 };
        let float = |cell: &Cell| if let Cell::Float(value) = cell { *value } else { 0.0 };
        let bytes = cells.iter().map(|cell| if let Cell::Bytes(bytes) = cell { &bytes[..] } else { &[] });
        match kind {
            Kind::Bool => {
                let bools = cells.iter().map(|cell| u8::from(*cell == Cell::Bool(true))).collect();
                (Physical::Bool, HostValues::Bools { memory: self.lend(bools), stride: 1 })
            }
            Kind::I8 => self.words(Physical::I8, cells, &int),
            Kind::I64 => self.words(Physical::I64, cells, &int),
            Kind::U64 => self.words(Physical::U64, cells, &int),
            Kind::I128 => self.words(Physical::I128, cells, &int),
            Kind::U128 => self.words(Physical::U128, cells, &int),
            Kind::F32 => self.words(Physical::F32, cells, &|cell| (float(cell) as f32).to_bits().into()),
            Kind::F64 => self.words(Physical::F64, cells, &|cell| float(cell).to_bits().into()),
            Kind::Utf8 => (Physical::Utf8, self.strings(bytes)),
            Kind::Binary => (Physical::Binary, self.strings(bytes)),
            Kind::Category => unreachable!("codes"),
        }
    }
}

impl Table {
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }

    /// Writes the table to a new file.
    pub fn write(&self, compression: u8) -> PathBuf {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("scan-{}-{number}.entasis", std::process::id()));
        let (mut memory, mut extra) = (Memory::default(), Vec::new());
        let columns = self.columns.iter().enumerate().map(|(i, (kind, cells))| {
            let validity = memory.validity(cells);
            let column = |column_type, values, dictionary| Column {
                name: format!("column {i}"),
                run: None,
                column_type,
                detail: None,
                dictionary,
                children: Vec::new(),
                array: Array::new(Chunk { n: cells.len(), values, validity: validity.clone() }),
            };
            if *kind == Kind::Category {
                let words = Chunk {
                    n: WORDS.len(),
                    values: memory.strings(WORDS.iter().map(|word| word.as_bytes())),
                    validity: HostValidity::AllValid,
                };
                extra.push(Column {
                    name: String::new(),
                    run: None,
                    column_type: ColumnType::plain(Physical::Utf8),
                    detail: None,
                    dictionary: None,
                    children: Vec::new(),
                    array: Array::new(words),
                });
                let codes = cells.iter().map(|cell| match cell {
                    Cell::Bytes(word) => WORDS.iter().position(|w| w.as_bytes() == word).unwrap() as u8,
                    _ => 0,
                });
                let of = ColumnType { logical: Logical::Categorical, ..ColumnType::plain(Physical::I8) };
                let codes = memory.lend(codes.collect());
                return column(of, HostValues::Words { memory: codes, stride: 1 }, Some(extra.len() - 1));
            }
            let (physical, values) = memory.values(*kind, cells);
            column(ColumnType::plain(physical), values, None)
        });
        let columns = columns.collect();
        let frame = Frame { n_rows: self.n_rows() as u64, columns, extra, host: Value::Null };
        let options = WriteOptions { compression: Some(compression), ..WriteOptions::default() };
        entasis::write(&path, &frame, &options, &Silent).unwrap();
        path
    }
}
