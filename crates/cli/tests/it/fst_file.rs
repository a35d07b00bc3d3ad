//! Writes long tables of fst, as `fst::write_fst(compress = 50)` stores them.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a block of numbers.
const BLOCK: usize = 16 << 10;
/// The strings of a block.
const STRINGS: u64 = 2047;

/// A column, whose values depend on their row.
pub enum Column {
    /// 0, 1 or the least integer.
    Logical(fn(u64) -> i32),
    Integer(fn(u64) -> i32),
    Double(fn(u64) -> f64),
    /// Seconds since 1970.
    Time(fn(u64) -> f64),
    /// Codes from 1 on, with their levels.
    Factor(fn(u64) -> i32, &'static [&'static str]),
    /// `None` is missing.
    Text(fn(u64) -> Option<String>),
}

/// A well mixed number.
pub fn mixed(row: u64) -> u64 {
    let mut x = row.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// The frame of the articles about fst.
pub fn headline() -> Vec<(&'static str, Column)> {
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
    vec![
        (
            "Logical",
            Column::Logical(|row| match mixed(row) % 100 {
                0..85 => 1,
                85..95 => 0,
                _ => i32::MIN,
            }),
        ),
        ("Integer", Column::Integer(|row| ((mixed(row) >> 8) % 100 + 1) as i32)),
        ("Real", Column::Double(|row| (mixed((mixed(row) >> 20) % 20) % 10_000 + 1) as f64 / 100.0)),
        ("Factor", Column::Factor(|row| (mixed(row) >> 40) as i32 % 10 + 1, &CITIES)),
    ]
}

fn hashed(mut structure: Vec<u8>) -> Vec<u8> {
    let hash = twox_hash::XxHash64::oneshot(912_824_571, &structure[8..]);
    structure[..8].copy_from_slice(&hash.to_le_bytes());
    structure
}

/// Values in planes of bytes from the most significant one down. `order` is that of each 8 words.
fn planes<const W: usize>(words: &[[u8; W]], order: [usize; 8]) -> Vec<u8> {
    let (groups, rest) = words.as_chunks::<8>();
    let mut planes = Vec::with_capacity(words.len() * W);
    for plane in (0..W).rev() {
        groups.iter().for_each(|group| planes.extend(order.map(|i| group[i][plane])));
    }
    planes.extend(rest.as_flattened());
    planes
}

/// The order of words of 4 bytes, and of codes in one byte.
const ORDER: [usize; 8] = [6, 4, 2, 0, 7, 5, 3, 1];

/// 32 logicals in 8 bytes.
fn logicals(values: &[i32]) -> Vec<u8> {
    let mut packed = Vec::new();
    for group in values.chunks(32) {
        let mut halves = [0u32; 2];
        for (i, &value) in group.iter().enumerate() {
            halves[i % 2] |= if value == i32::MIN { 1 << (31 - i / 2) } else { (value as u32) << (i / 2) };
        }
        packed.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    }
    packed
}

struct Writer(BufWriter<File>);

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    fn at(&mut self) -> u64 {
        self.0.stream_position().unwrap()
    }

    /// Writes bytes at an earlier position.
    fn put_at(&mut self, at: u64, bytes: &[u8]) {
        let end = self.at();
        self.0.seek(SeekFrom::Start(at)).unwrap();
        self.put(bytes);
        self.0.seek(SeekFrom::Start(end)).unwrap();
    }

    /// Writes blocks of numbers with their index.
    fn numbers(&mut self, n_rows: u64, width: usize, algorithm: u64, block: impl Fn(u64, u64) -> Vec<u8>) {
        self.put(&0u32.to_le_bytes());
        let per_block = (BLOCK / width) as u64;
        let n_blocks = n_rows.div_ceil(per_block);
        let at = self.at();
        self.put(&[(BLOCK as u32).to_le_bytes(), (per_block as u32).to_le_bytes()].concat());
        let mut index = Vec::new();
        let mut end = 8 + 8 * (n_blocks + 1);
        self.put(&vec![0; 8 * (n_blocks as usize + 1)]);
        for i in 0..n_blocks {
            index.extend((end | algorithm << 48).to_le_bytes());
            let packed = lz4_flex::block::compress(&block(i * per_block, n_rows.min((i + 1) * per_block)));
            self.put(&packed);
            end += packed.len() as u64;
        }
        index.extend(end.to_le_bytes());
        self.put_at(at + 8, &index);
    }

    fn text(&mut self, n: u64, is_compressed: bool, text: impl Fn(u64) -> Option<String>) {
        let at = self.at();
        self.put(
            &[(2u32 << 1 | u32::from(is_compressed)).to_le_bytes(), (STRINGS as u32).to_le_bytes()].concat(),
        );
        let entry_len = if is_compressed { 16 } else { 8 };
        let n_blocks = n.div_ceil(STRINGS);
        self.put(&vec![0; (n_blocks * entry_len) as usize]);
        let (mut end, mut index) = (8 + n_blocks * entry_len, Vec::new());
        for i in 0..n_blocks {
            let rows = i * STRINGS..n.min((i + 1) * STRINGS);
            let k = (rows.end - rows.start) as usize;
            let (mut lens, mut bytes, mut missing) = (Vec::new(), Vec::new(), vec![0u32; 1 + k / 32]);
            for (j, row) in rows.enumerate() {
                let string = text(row);
                bytes.extend(string.as_deref().unwrap_or("NA").bytes());
                lens.push((bytes.len() as u32).to_le_bytes());
                if string.is_none() {
                    missing[j / 32] |= 1 << (j % 32);
                    missing[k / 32] |= 1 << (k % 32);
                }
            }
            let (lens, bytes) = if is_compressed {
                (lz4_flex::block::compress(&planes(&lens, ORDER)), lz4_flex::block::compress(&bytes))
            } else {
                (lens.as_flattened().to_vec(), bytes)
            };
            end += (lens.len() + 4 * missing.len() + bytes.len()) as u64;
            index.extend(end.to_le_bytes());
            if is_compressed {
                index.extend([2u16, 1].iter().flat_map(|algorithm| algorithm.to_le_bytes()));
                index.extend((lens.len() as u32).to_le_bytes());
            }
            self.put(&lens);
            missing.iter().for_each(|word| self.put(&word.to_le_bytes()));
            self.put(&bytes);
        }
        self.put_at(at + 8, &index);
    }

    fn column(&mut self, n_rows: u64, column: &Column) {
        let integers = |value: fn(u64) -> i32, start, end| (start..end).map(value).collect::<Vec<_>>();
        match column {
            Column::Logical(value) => {
                self.numbers(n_rows, 4, 7, |start, end| logicals(&integers(*value, start, end)));
            }
            Column::Integer(value) => self.numbers(n_rows, 4, 2, |start, end| {
                let words: Vec<_> = (start..end).map(|row| value(row).to_le_bytes()).collect();
                planes(&words, ORDER)
            }),
            Column::Double(value) | Column::Time(value) => self.numbers(n_rows, 8, 1, |start, end| {
                (start..end).flat_map(|row| value(row).to_le_bytes()).collect()
            }),
            Column::Factor(code, levels) => {
                let at = self.at();
                self.put(&1u32.to_le_bytes());
                self.put(&(levels.len() as u32).to_le_bytes());
                self.put(&[0; 8]);
                self.text(levels.len() as u64, false, |i| Some(levels[i as usize].to_owned()));
                let codes_at = self.at();
                self.put_at(at + 8, &codes_at.to_le_bytes());
                self.numbers(n_rows, 4, 10, |start, end| {
                    let codes = integers(*code, start, end);
                    let byte = |group: &[i32], i: usize| group.get(i).map_or(0, |&code| code as u8);
                    codes.chunks(8).flat_map(|group| ORDER.map(|i| byte(group, i))).collect()
                });
            }
            Column::Text(text) => self.text(n_rows, true, text),
        }
    }
}

/// Writes a table.
pub fn write(path: &Path, n_rows: u64, columns: &[(&str, Column)]) {
    let mut to = Writer(BufWriter::with_capacity(1 << 20, File::create(path).unwrap()));
    let n = columns.len() as u64;
    let mut header = vec![0; 48];
    (header[8], header[12], header[24]) = (1, 1, 1);
    header[28..32].copy_from_slice(&(n as u32).to_le_bytes());
    header[32..40].copy_from_slice(&48u64.to_le_bytes());
    header[44..48].copy_from_slice(b"PAAP");
    to.put(&hashed(header));
    let mut chunkset = vec![0; 80];
    chunkset[64..72].copy_from_slice(&n_rows.to_le_bytes());
    chunkset[72..76].copy_from_slice(&(n as u32).to_le_bytes());
    let kinds = columns.iter().map(|(_, column)| match column {
        Column::Logical(_) => (10u16, 15u16),
        Column::Integer(_) => (8, 5),
        Column::Double(_) => (9, 10),
        Column::Time(_) => (9, 12),
        Column::Factor(..) => (7, 3),
        Column::Text(_) => (6, 2),
    });
    let kinds: Vec<_> = kinds.collect();
    chunkset.extend(kinds.iter().flat_map(|(_, class)| class.to_le_bytes()));
    chunkset.extend(kinds.iter().chain(&kinds).flat_map(|(of, _)| of.to_le_bytes()));
    chunkset.extend(kinds.iter().flat_map(|_| 4u16.to_le_bytes()));
    to.put(&hashed(chunkset));
    to.put(&hashed(vec![0; 24]));
    to.text(n, false, |i| Some(columns[i as usize].0.to_owned()));
    let mut index = vec![0; 96];
    index[24] = 4;
    index[32..40].copy_from_slice(&(to.at() + 96).to_le_bytes());
    index[64..72].copy_from_slice(&n_rows.to_le_bytes());
    to.put(&hashed(index));
    let mut data = vec![0; 24 + 8 * columns.len()];
    let data_at = to.at();
    to.put(&data);
    for (i, (_, column)) in columns.iter().enumerate() {
        data[24 + 8 * i..][..8].copy_from_slice(&to.at().to_le_bytes());
        to.column(n_rows, column);
    }
    to.put_at(data_at, &hashed(data));
    to.0.flush().unwrap();
}

/// Writes a long headline table, to measure with it:
/// `ENTASIS_FST_FILE=x.fst ENTASIS_FST_ROWS=50000000 cargo test --release -- --ignored fst_file`.
#[test]
#[ignore = "writes a file for a measurement"]
fn write_headline() {
    let n_rows = std::env::var("ENTASIS_FST_ROWS").map_or(1_000_000, |n| n.parse().unwrap());
    let path = std::env::var_os("ENTASIS_FST_FILE").expect("ENTASIS_FST_FILE names the file to write");
    write(Path::new(&path), n_rows, &headline());
}
