//! A read touches only what it needs: damage elsewhere goes unseen, and few bytes are read.

mod common;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Model, check, file_of, indices};
use entasis::{File, Limits, MemorySource, Physical, Rows, Source, WriteOptions};

/// A source that counts the bytes that are read.
struct Counting {
    inner: MemorySource,
    n_read: Arc<AtomicU64>,
}

impl Source for Counting {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read_at(at, out)?;
        self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

fn columns() -> Vec<(&'static str, Model)> {
    let numbers: Vec<i64> =
        (0..400_000).map(|i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64) >> 20).collect();
    let texts: Vec<String> = numbers.iter().map(|n| format!("{n:x}")).collect();
    vec![("numbers", Model::words(Physical::I64, &numbers)), ("texts", Model::text(&texts))]
}

#[test]
fn damage_elsewhere_goes_unseen() {
    let columns = columns();
    let mut bytes = file_of(&columns, &WriteOptions::default());
    let sound = common::open(&bytes).unwrap();
    // Destroy every page but one of each column, whose values are asked for then.
    let row = 200_000;
    for column in 0..2 {
        for block in sound.blocks(column).unwrap().iter() {
            let directory_at = block.directory_at as usize;
            let n_pages = (block.directory_len as usize - 40) / 24;
            let mut at = block.pages_at as usize;
            let mut first = block.first_value;
            for page in 0..n_pages {
                let entry = directory_at + 40 + 24 * page;
                let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
                let (stored_len, n_values) = (number(entry) as usize, u64::from(number(entry + 8)));
                if !(first..first + n_values).contains(&row) {
                    bytes[at] ^= 1;
                    bytes[at + stored_len - 1] ^= 1;
                }
                at += stored_len;
                first += n_values;
            }
        }
    }
    let file = common::open(&bytes).unwrap();
    for (column, (_, model)) in columns.iter().enumerate() {
        let column = column as u64;
        check(&file, column, model, &Rows::Range(row - 10..row + 10), 1);
        check(&file, column, model, &indices([row + 5, row - 5, row]), 1);
        assert!(common::read(&file, column, &Rows::All, 1).is_err());
        assert!(common::read(&file, column, &Rows::Range(row - 20_000..row), 1).is_err());
    }
}

#[test]
fn few_rows_read_few_bytes() {
    let columns = columns();
    let bytes = file_of(&columns, &WriteOptions::default());
    let len = bytes.len() as u64;
    let n_read = Arc::new(AtomicU64::new(0));
    let source = Counting { inner: MemorySource::new(bytes), n_read: Arc::clone(&n_read) };
    let file = File::from_source(Box::new(source), Path::new("counted"), Limits::default()).unwrap();
    let opened = n_read.swap(0, Ordering::Relaxed);
    assert!(opened <= 65_536 + 256, "opening read {opened} bytes");
    for (column, (_, model)) in columns.iter().enumerate() {
        for rows in [Rows::Range(123_456..123_466), indices([300_001])] {
            check(&file, column as u64, model, &rows, 1);
            let read = n_read.swap(0, Ordering::Relaxed);
            // A page of 8,192 values, twice when its strings are measured first, and its directory; strings in three layouts.
            let read = if model.physical.is_var() { read / 3 } else { read };
            assert!(read < 300_000 && read < len / 10, "10 rows read {read} of {len} bytes");
        }
    }
    check(&file, 0, &columns[0].1, &Rows::All, 1);
    let read = n_read.swap(0, Ordering::Relaxed);
    assert!(read < len / 2, "one column read {read} of {len} bytes");
}
