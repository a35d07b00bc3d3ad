//! The encoder: any values come back from the block that it makes.

use entasis_encodings::{Encoder, Profile, Values};
use entasis_format::{BlockRecord, Layout, Physical, Statistics};

use super::block::{Block, decode};
use super::input::Input;
use crate::naive::Cell;

/// The most values of an input.
const MOST: usize = 9_000;

/// Types of values, one for each form that the encoder takes and more for words.
const TYPES: [Physical; 17] = [
    Physical::Bool,
    Physical::I8,
    Physical::U16,
    Physical::F16,
    Physical::I32,
    Physical::U32,
    Physical::F32,
    Physical::I64,
    Physical::U64,
    Physical::F64,
    Physical::Complex64,
    Physical::I128,
    Physical::I256,
    Physical::FixedBytes,
    Physical::Utf8,
    Physical::Binary,
    Physical::U128,
];

/// Encodes values, and decodes them with core and naive decoder.
///
/// An input has the type, the compression, the number of values, how many are missing, a step, and
/// the bytes of the first values. Later values repeat these, plus the step.
///
/// # Panics
/// When a value does not come back.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let physical = TYPES[usize::from(input.u8()) % TYPES.len()];
    let compression = input.u8() % 101;
    let n = 1 + usize::from(input.u16()) % MOST;
    let (missing, step) = (u64::from(input.u8()), input.u8());
    let value_len = if physical == Physical::FixedBytes { 1 + u32::from(input.u8() % 40) } else { 0 };
    let of = Layout { physical, value_len };
    let is_valid = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56 >= missing;
    let cells: Vec<Option<Cell>> = cells(of, n, step, input.rest())
        .into_iter()
        .enumerate()
        .map(|(i, cell)| is_valid(i).then_some(cell))
        .collect();
    let (block, statistics) = encode(of, compression, &cells);
    let record = BlockRecord::parse(block.record()).unwrap_or_else(|error| panic!("{error}"));
    statistics.check(of, n as u32).unwrap_or_else(|error| panic!("{error}"));
    let values = block.judged(decode(&block, &record)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(values.n(), n, "the number of values");
    for (i, cell) in cells.iter().enumerate() {
        assert_eq!(values.cell(i), *cell, "value {i} of {:?}", record.encoding);
    }
}

/// The values of the bytes, then these plus the step, and so on.
fn cells(of: Layout, n: usize, step: u8, bytes: &[u8]) -> Vec<Cell> {
    let width = of.width().unwrap_or(1);
    let mut first: Vec<Cell> = if of.physical.is_var() {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let pieces = text.split_inclusive(',');
        pieces.map(|piece| piece.as_bytes().to_vec()).collect()
    } else {
        bytes.chunks(width).map(<[u8]>::to_vec).collect()
    };
    first.iter_mut().filter(|_| !of.physical.is_var()).for_each(|cell| cell.resize(width, 0));
    if first.is_empty() {
        first.push(vec![0; if of.physical.is_var() { 0 } else { width }]);
    }
    let cell = |i: usize| {
        let mut cell = first[i % first.len()].clone();
        let mut carry = (i / first.len()) as u64 * u64::from(step);
        match of.physical {
            Physical::Bool => cell[0] &= 1,
            physical if physical.is_var() => {
                if step > 0 {
                    cell.extend((carry % 5000).to_string().into_bytes());
                }
            }
            _ => {
                for byte in &mut cell {
                    carry += u64::from(*byte);
                    *byte = carry as u8;
                    carry >>= 8;
                }
            }
        }
        cell
    };
    (0..n).map(cell).collect()
}

/// The block of these values, and its statistics.
fn encode(of: Layout, compression: u8, cells: &[Option<Cell>]) -> (Block, Statistics) {
    let width = if of.physical == Physical::Bool { 1 } else { of.width().unwrap_or(0) };
    let (mut words, mut offsets, mut bits) = (Vec::new(), vec![0], vec![0; cells.len().div_ceil(8)]);
    for (i, cell) in cells.iter().enumerate() {
        match cell {
            Some(cell) => {
                words.extend(cell);
                bits[i / 8] |= 1 << (i % 8);
            }
            None => words.resize(words.len() + width, 0xEE),
        }
        offsets.push(words.len() as u32);
    }
    if of.physical == Physical::Bool {
        words.iter_mut().for_each(|byte| *byte &= 1);
    }
    let mut memory = vec![0u128; words.len().div_ceil(16)];
    let aligned = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut memory)[..words.len()];
    aligned.copy_from_slice(&words);
    let values = match of.physical {
        Physical::Bool => Values::Bool(aligned),
        physical if physical.is_var() => Values::Strings { offsets: &offsets, bytes: aligned },
        physical => match physical.width() {
            Some(1) => Values::W8(aligned),
            Some(2) => Values::W16(bytemuck::cast_slice_mut(aligned)),
            Some(4) => Values::W32(bytemuck::cast_slice_mut(aligned)),
            Some(8) => Values::W64(bytemuck::cast_slice_mut(aligned)),
            Some(16) => Values::W128(bytemuck::cast_slice_mut(aligned)),
            _ => Values::Fixed { n: cells.len(), bytes: aligned },
        },
    };
    let profile = Profile::new(compression).unwrap_or_else(|error| panic!("{error}"));
    let mut pages = Vec::new();
    let encoded = Encoder::new(profile).encode(of, values, Some(&bits), &|| Ok(()), &mut pages);
    let encoded = encoded.unwrap_or_else(|error| panic!("{error}"));
    let mut directory = Vec::new();
    encoded.directory.emit(&mut directory);
    let block = Block::new(of, cells.len() as u32, encoded.decoded_len, &directory, &pages);
    (block, encoded.statistics)
}

/// Each type at three settings.
pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |i: usize| {
        let noise = crate::frames::noise(40, i as u64).into_iter().flat_map(u64::to_le_bytes);
        let text = b"a,bc,a longer piece of text,".iter().copied();
        let head = [(i % TYPES.len()) as u8, [0, 50, 80][i / TYPES.len()], (i * 37) as u8, i as u8 % 20];
        let head = head.into_iter().chain([[0, 9, 200][i % 3], (i % 4) as u8]);
        let body: Vec<u8> = if i % TYPES.len() < 14 { noise.collect() } else { text.collect() };
        head.chain(body).collect()
    };
    (0..3 * TYPES.len()).map(seed).collect()
}
