//! A generated table with booleans, integers, prices and cities, always the same.

use std::sync::Arc;

use entasis::{Buffer, ColumnType, Logical, Missing, Monitor, Physical, Result, Text};

use crate::array::{Array, Values, buffer, in_memory};
use crate::progress::Watch;

const SEED: u64 = 20_171_216;
/// Rows that are generated between two checks for cancellation.
const STEP: usize = 1 << 20;
const CITIES: [&str; 10] = [
    "Atlanta",
    "Chicago",
    "Denver",
    "Houston",
    "LosAngeles",
    "Miami",
    "NewYork",
    "SanFrancisco",
    "Seattle",
    "Washington.DC",
];

/// A table of `n_rows`. Shorter tables have the first rows of longer ones.
pub(super) fn table(n_rows: u64, watch: &Watch) -> Result<Vec<Array>> {
    let n = in_memory(n_rows)?;
    let (mut truths, mut missing) = (buffer(n)?, buffer(n)?);
    let mut integers = buffer(n.saturating_mul(4))?;
    let mut prices = buffer(n.saturating_mul(8))?;
    let mut codes = buffer(n)?;
    let mut random = Random(SEED);
    let choice: [f64; 20] = std::array::from_fn(|_| (below(random.next(), 10_000) + 1) as f64 / 100.0);
    let words = integers.chunks_exact_mut(4).zip(prices.chunks_exact_mut(8));
    let bytes = truths.iter_mut().zip(missing.iter_mut()).zip(codes.iter_mut());
    for (i, ((integer, price), ((truth, missing), code))) in words.zip(bytes).enumerate() {
        if i % STEP == 0 {
            watch.check()?;
            watch.progress(i as u64, n_rows);
        }
        let bits = random.next();
        let percent = below(bits, 100);
        *truth = u8::from(percent < 85);
        *missing = u8::from(percent >= 95);
        *code = below(bits >> 32, 10) as u8;
        let bits = random.next();
        integer.copy_from_slice(&(below(bits, 100) as u32 + 1).to_le_bytes());
        price.copy_from_slice(&choice[below(bits >> 32, 20) as usize].to_le_bytes());
    }
    let logical = Array {
        missing: Some(missing),
        ..array("Logical", missing_na(ColumnType::plain(Physical::Bool)), n, Values::Bools(truths))
    };
    let integer = array("Integer", ColumnType::plain(Physical::I32), n, Values::Words(integers));
    let real = array("Real", ColumnType::plain(Physical::F64), n, Values::Words(prices));
    let factor_type = ColumnType { logical: Logical::Categorical, ..ColumnType::plain(Physical::I8) };
    let factor = Array {
        categories: Some(Arc::new(cities()?)),
        ..array("Factor", factor_type, n, Values::Words(codes))
    };
    Ok(vec![logical, integer, real, factor])
}

fn missing_na(column_type: ColumnType) -> ColumnType {
    ColumnType { missing: Missing::NA, ..column_type }
}

fn array(name: &str, column_type: ColumnType, n: usize, values: Values) -> Array {
    Array { name: name.to_owned(), column_type, detail: None, n, values, missing: None, categories: None }
}

fn cities() -> Result<Array> {
    let joined = CITIES.concat();
    let mut offsets: Vec<i64> = vec![0];
    for city in CITIES {
        offsets.push(offsets.last().copied().unwrap_or(0) + city.len() as i64);
    }
    let offsets: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let text =
        Text { offsets: filled(&offsets)?, bytes: vec![filled(joined.as_bytes())?], ..Text::default() };
    Ok(array("", ColumnType::plain(Physical::Utf8), CITIES.len(), Values::Text(text)))
}

fn filled(bytes: &[u8]) -> Result<Buffer> {
    let mut buffer = buffer(bytes.len())?;
    buffer.copy_from_slice(bytes);
    Ok(buffer)
}

/// SplitMix64: fast, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A number below `n`, from the lower half of the bits.
fn below(bits: u64, n: u64) -> u64 {
    ((bits & 0xffff_ffff) * n) >> 32
}
