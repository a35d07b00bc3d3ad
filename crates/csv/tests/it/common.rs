//! Values of a table as cells, and random numbers.

use entasis::{Error, Result, Silent};
use entasis_csv::input::Bytes;
use entasis_csv::piece::{Piece, TextLayout};
use entasis_csv::{Outcome, Plan, Table, Type, read};

/// The first value in the tests of a change, the second in those of a release, the third in the
/// long tests.
pub fn by_tier<T>(change: T, release: T, long: T) -> T {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    match (is_set("ENTASIS_TEST_LONG"), is_set("ENTASIS_TEST_RELEASE")) {
        (true, _) => long,
        (_, true) => release,
        _ => change,
    }
}

/// Pseudorandom numbers (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Bool(bool),
    /// Integers, days, and counts of a unit of time.
    Int(i128),
    /// The bits of a double.
    Float(u64),
    Text(Vec<u8>),
}

/// A column: name, type and values, `None` where one is missing.
pub type Values = (String, Type, Vec<Option<Cell>>);

fn word<const N: usize>(values: &[u8], i: usize) -> [u8; N] {
    values[i * N..][..N].try_into().unwrap()
}

/// Value `i` of a piece.
pub fn cell(piece: &Piece, i: usize, layout: TextLayout) -> Option<Cell> {
    let values = &piece.values[..];
    if !piece.is_present(i) {
        return None;
    }
    Some(match piece.of {
        Type::Null => return None,
        Type::Bool => Cell::Bool(values[i / 8] >> (i % 8) & 1 == 1),
        Type::Int { bytes: 1, is_signed: true } => Cell::Int(i8::from_le_bytes(word(values, i)).into()),
        Type::Int { bytes: 1, .. } => Cell::Int(values[i].into()),
        Type::Int { bytes: 2, is_signed: true } => Cell::Int(i16::from_le_bytes(word(values, i)).into()),
        Type::Int { bytes: 4, is_signed: true } | Type::Date | Type::Categorical => {
            Cell::Int(i32::from_le_bytes(word(values, i)).into())
        }
        Type::UINT => Cell::Int(u64::from_le_bytes(word(values, i)).into()),
        Type::Int { .. } | Type::Datetime { .. } => Cell::Int(i64::from_le_bytes(word(values, i)).into()),
        Type::Decimal { .. } => Cell::Int(i128::from_le_bytes(word(values, i))),
        Type::Float { bytes: 4 } => Cell::Float(f64::from(f32::from_le_bytes(word(values, i))).to_bits()),
        Type::Float { .. } => Cell::Float(u64::from_le_bytes(word(values, i))),
        Type::Text => Cell::Text(match layout {
            TextLayout::Offsets => {
                let end = |i: usize| u64::from_le_bytes(word(values, i)) as usize;
                piece.bytes[end(i)..end(i + 1)].to_vec()
            }
            TextLayout::Views => {
                let view: [u8; 16] = word(values, i);
                let len = u32::from_le_bytes(word(&view, 0)) as usize;
                if len <= 12 {
                    view[4..4 + len].to_vec()
                } else {
                    let at = u32::from_le_bytes(word(&view, 3)) as usize;
                    piece.bytes[at..at + len].to_vec()
                }
            }
        }),
    })
}

/// The columns of a table.
pub fn columns(table: &Table, layout: TextLayout) -> Vec<Values> {
    let column = |column: &entasis_csv::Column| {
        let pieces = column.pieces.iter();
        let cells = pieces.flat_map(|piece| {
            assert_eq!(piece.of, column.of, "the type of a piece");
            (0..piece.n).map(|i| cell(piece, i, layout))
        });
        (column.name.clone(), column.of, cells.collect())
    };
    table.columns.iter().map(column).collect()
}

/// Reads a text in memory.
pub fn read_text(text: &[u8], plan: &Plan) -> Result<Outcome> {
    read(&mut Bytes::new(text), plan, &Silent)
}

/// The columns of a text that has no problems.
pub fn values(text: &[u8], plan: &Plan) -> Vec<Values> {
    match read_text(text, plan).unwrap() {
        Outcome::Table(table) => columns(&table, plan.layout),
        Outcome::Refused(refused) => panic!("{}", refused.error()),
    }
}

/// The error of a text.
pub fn error(text: &[u8], plan: &Plan) -> Error {
    match read_text(text, plan) {
        Ok(Outcome::Refused(refused)) => refused.error(),
        Ok(Outcome::Table(_)) => panic!("there is no error"),
        Err(error) => error,
    }
}
