//! Reads columns through the core, as cells.

use std::path::Path;

use entasis::{
    File, Layout, Limits, MemorySource, MissingTo, Output, Physical, Request, Result, Rows, Silent, Text,
};

use crate::naive::Cell;

/// Opens the bytes of a file.
///
/// # Errors
/// As the core.
pub fn open(bytes: &[u8]) -> Result<File> {
    let source = MemorySource::new(bytes.to_vec());
    File::from_source(Box::new(source), Path::new("test.entasis"), Limits::default())
}

/// Memory that a column is read into.
#[derive(Debug)]
pub struct Target {
    words: Vec<u128>,
    mask: Vec<u8>,
    text: Text,
    width: usize,
    physical: Physical,
}

impl Target {
    /// The most values of a column that fit the memory of a test.
    pub fn most(of: Layout) -> u64 {
        (64 << 20) / of.width().unwrap_or(16).max(16) as u64
    }
}

impl Target {
    /// Memory for `n` values, filled with a byte.
    pub fn new(of: impl Into<Layout>, n: usize, fill: u8) -> Self {
        let of = of.into();
        let (physical, width) = (of.physical, of.width().unwrap_or(1));
        Self {
            words: vec![u128::from_ne_bytes([fill; 16]); (n * width).div_ceil(16)],
            mask: vec![fill; n],
            text: Text::default(),
            width,
            physical,
        }
    }

    /// A request that reads into this memory.
    pub fn request(&mut self, column: u64, rows: Rows) -> Request<'_> {
        let len = self.mask.len() * self.width;
        let words = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut self.words)[..len];
        let output = match self.physical {
            Physical::Bool | Physical::Null => Output::Bools(words),
            physical if physical.is_var() => Output::Text(&mut self.text),
            _ => Output::Words(words),
        };
        Request { column, rows, output, missing: MissingTo::Mask(&mut self.mask) }
    }

    /// Every byte that was read, also of missing values.
    pub fn bytes(&self) -> Vec<u8> {
        let len = self.mask.len() * self.width;
        let words = &bytemuck::cast_slice::<u128, u8>(&self.words)[..len];
        if self.physical.is_var() {
            [&self.mask[..], &self.text.offsets[..], self.text.joined()].concat()
        } else {
            [&self.mask[..], words].concat()
        }
    }

    /// The bytes of all values of fixed width; of booleans one each.
    pub fn words(&self) -> &[u8] {
        &bytemuck::cast_slice::<u128, u8>(&self.words)[..self.mask.len() * self.width]
    }

    fn offsets(&self) -> &[i64] {
        bytemuck::cast_slice(&self.text.offsets)
    }

    /// Checks rules that hold for any file: masks and booleans are 0 or 1, offsets ascend, utf8 is
    /// UTF-8.
    ///
    /// # Panics
    /// When one of these rules is broken.
    pub fn check(&self) {
        assert!(self.mask.iter().all(|&byte| byte <= 1), "a mask has bytes 0 and 1");
        if self.physical == Physical::Bool {
            assert!(self.words().iter().all(|&byte| byte <= 1), "booleans are 0 or 1");
        }
        if self.physical.is_var() {
            let offsets = self.offsets();
            assert_eq!(offsets.len(), self.mask.len() + 1, "n + 1 offsets");
            assert!(offsets[0] == 0 && offsets.is_sorted(), "offsets ascend from 0");
            let n_bytes = self.text.joined().len() as i64;
            assert_eq!(offsets.last(), Some(&n_bytes), "the last offset is the number of bytes");
            if self.physical == Physical::Utf8 {
                let sound = (0..self.mask.len()).all(|i| std::str::from_utf8(self.cell(i)).is_ok());
                assert!(sound, "utf8 values are UTF-8, also where one is missing");
            }
        }
    }

    /// Checks that codes that are not missing are below `n_categories`.
    ///
    /// # Panics
    /// When one is not.
    pub fn check_codes(&self, n_categories: u64) {
        for i in (0..self.mask.len()).filter(|&i| self.mask[i] == 0) {
            let cell = self.cell(i);
            let negative = self.physical.is_signed() && cell.last().is_some_and(|&byte| byte >= 128);
            let mut code = [0; 8];
            code[..cell.len()].copy_from_slice(cell);
            assert!(!negative && u64::from_le_bytes(code) < n_categories, "a code is a category");
        }
    }

    /// Value i; none when it is missing.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        (self.mask[i] == 0).then(|| self.cell(i))
    }

    fn cell(&self, i: usize) -> &[u8] {
        if self.physical.is_var() {
            let offsets = self.offsets();
            &self.text.joined()[offsets[i] as usize..offsets[i + 1] as usize]
        } else {
            &self.words()[i * self.width..(i + 1) * self.width]
        }
    }

    /// The cells, after [`check`](Self::check).
    pub fn cells(&self) -> Vec<Option<Cell>> {
        self.check();
        (0..self.mask.len()).map(|i| (self.mask[i] == 0).then(|| self.cell(i).to_vec())).collect()
    }
}

/// Reads all values of a column.
///
/// # Errors
/// As the core.
pub fn column(file: &File, number: u64) -> Result<Vec<Option<Cell>>> {
    if file.column(number)?.record.column_type.physical.is_nested() {
        return super::nested::read(file, number, Rows::All);
    }
    Ok(target(file, number, 0xA5)?.cells())
}

/// Reads all values of a column into memory filled with the byte `fill`.
///
/// # Errors
/// As the core.
pub fn target(file: &File, number: u64, fill: u8) -> Result<Target> {
    let info = file.column(number)?;
    let mut target = Target::new(info.record.column_type.layout(), info.record.n_values as usize, fill);
    file.read(vec![target.request(number, Rows::All)], Some(1), &Silent)?;
    Ok(target)
}
