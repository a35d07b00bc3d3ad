//! Trees of cells with any numbers, in a file that is written for them.

use entasis::CellKind;
use entasis::cells::CellWriter;
use entasis_format::CellClass;

use super::file;
use super::input::{Input, put_number};
use crate::frames::documents::{self, Cell};

/// The most cells of an input.
const MOST: u64 = 2_000;

/// Writes the cells of an input, then reads them with core and naive decoder.
///
/// A cell has the index of its kind, then its value: a number, four numbers, or a length and bytes.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut writer = CellWriter::new();
    let compression = [0, 50][usize::from(input.u8() & 1)];
    while !input.is_empty() && writer.n_cells() < MOST {
        let kind = CellKind::ALL[usize::from(input.u8()) % CellKind::ALL.len()];
        let mut four = || [0; 4].map(|_| input.number());
        match kind.class() {
            CellClass::Unit => writer.unit(kind),
            CellClass::Int => writer.int(kind, input.number() as i64),
            CellClass::Float => writer.float(kind, f64::from_bits(input.number())),
            CellClass::Str => {
                let len = usize::from(input.u8());
                writer.text(kind, &String::from_utf8_lossy(input.take(len)));
            }
            CellClass::Bytes => {
                let len = usize::from(input.u8());
                writer.bytes(kind, input.take(len));
            }
            CellClass::Parent => {
                let [first, end, count, keys] = four();
                let parent = writer.parent(kind);
                writer.set_children(parent, first, count, keys);
                writer.set_end(parent, end);
            }
            CellClass::Array => {
                let [pool, at, len, shape] = four();
                let array = writer.array(kind, pool, at, len);
                writer.set_shape(array, shape);
            }
        }
    }
    if let Ok(document) = documents::of_cells(&writer, compression) {
        file::compare(&document);
    }
}

/// The trees of the models, sound and broken.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for cells in documents::models().into_iter().filter(|cells| cells.len() < MOST as usize) {
        let mut seed = vec![1];
        for cell in cells {
            let mut put = |kind: CellKind, numbers: &[u64], bytes: Option<&[u8]>| {
                let index = CellKind::ALL.iter().position(|other| *other == kind);
                seed.push(index.unwrap_or_default() as u8);
                numbers.iter().for_each(|&number| put_number(&mut seed, number));
                if let Some(bytes) = bytes {
                    seed.push(bytes.len() as u8);
                    seed.extend(bytes);
                }
            };
            match cell {
                Cell::Unit(kind) => put(kind, &[], None),
                Cell::Int(kind, value) => put(kind, &[value as u64], None),
                Cell::Float(kind, value) => put(kind, &[value.to_bits()], None),
                Cell::Text(kind, text) => put(kind, &[], Some(text.as_bytes())),
                Cell::Bytes(kind, bytes) => put(kind, &[], Some(bytes)),
                Cell::Parent(kind, numbers) | Cell::Array(kind, numbers) => put(kind, &numbers, None),
                Cell::IndexKeys(_) => {}
            }
        }
        seeds.push(seed);
    }
    seeds
}
