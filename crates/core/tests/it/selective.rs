//! A read touches only the bytes that it needs: damage elsewhere goes unnoticed, and few bytes are
//! read.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{self, Changing, Counting, Model, check, file_of, indices};
use entasis::{File, Limits, MemorySource, MissingTo, Output, Physical, Request, Rows, Silent, WriteOptions};

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
    // Destroy every page of each column but one page, and ask for a value of the intact page.
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
    let source =
        Counting { inner: MemorySource::new(bytes), n_read: Arc::clone(&n_read), n_reads: Arc::default() };
    let file = File::from_source(Box::new(source), Path::new("counted"), Limits::default()).unwrap();
    let opened = n_read.swap(0, Ordering::Relaxed);
    assert!(opened <= 65_536 + 12_288, "opening read {opened} bytes");
    for (column, (_, model)) in columns.iter().enumerate() {
        for rows in [Rows::Range(123_456..123_466), indices([300_001])] {
            check(&file, column as u64, model, &rows, 1);
            let read = n_read.swap(0, Ordering::Relaxed);
            // A page of 8,192 values and its directory. The page is read twice if its strings are
            // measured first, and strings are read in three layouts.
            let read = if model.physical.is_var() { read / 3 } else { read };
            assert!(read < 300_000 && read < len / 10, "10 rows read {read} of {len} bytes");
        }
    }
    check(&file, 0, &columns[0].1, &Rows::All, 1);
    let read = n_read.swap(0, Ordering::Relaxed);
    assert!(read < len / 2, "one column read {read} of {len} bytes");
}

/// Short segments are read together if all columns are wanted, and one by one otherwise.
#[test]
fn short_columns_are_read_together() {
    const N: usize = 10_000;
    let column = |c: usize| (0..N).map(|i| (i * 7919 + c * 104_729) as u64 % 60_000).collect::<Vec<_>>();
    let names: Vec<String> = (0..60).map(|c| format!("c{c}")).collect();
    let models: Vec<_> = (0..60).map(|c| Model::words(Physical::I64, &column(c))).collect();
    let columns: Vec<_> = names.iter().map(String::as_str).zip(models).collect();
    let bytes = file_of(&columns, &WriteOptions::default());
    let len = bytes.len() as u64;
    let (n_read, n_reads) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counters = (Arc::clone(&n_read), Arc::clone(&n_reads));
    let source = Counting { inner: MemorySource::new(bytes), n_read: counters.0, n_reads: counters.1 };
    let file = File::from_source(Box::new(source), Path::new("counted"), Limits::default()).unwrap();
    let read = |columns: std::ops::Range<u64>| {
        let mut memory: Vec<_> = columns.clone().map(|_| vec![0u64; N]).collect();
        let requests = columns.clone().zip(&mut memory).map(|(column, out)| {
            let output = Output::Words(bytemuck::cast_slice_mut(out));
            Request { column, rows: Rows::All, output, missing: MissingTo::Ignore }
        });
        // The footer is cached after the first read.
        let requests: Vec<_> = requests.collect();
        [&n_read, &n_reads].into_iter().for_each(|n| n.store(0, Ordering::Relaxed));
        file.read(requests, Some(2), &Silent).unwrap();
        assert!(columns.zip(memory).all(|(c, values)| values == column(c as usize)));
        (n_read.load(Ordering::Relaxed), n_reads.load(Ordering::Relaxed))
    };
    read(0..60);
    let (all, n) = read(0..60);
    assert!(all < 2 * len && n < 30, "{n} reads of {all} bytes of {len}");
    let (one, _) = read(7..8);
    assert!(one < len / 30, "one column read {one} of {len} bytes");
}

/// Few and many rows of a page, ascending or not, in several tasks, of every packing and transform.
#[test]
fn scattered_rows() {
    let n = 300_000;
    let noise = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let of = |f: fn(u64, usize) -> i64| (0..n).map(|i| f(noise(i), i)).collect::<Vec<_>>();
    let words = |values: Vec<i64>| Model::words(Physical::I64, &values);
    let prices = of(|noise, _| (noise % 100_000) as i64).into_iter().map(|cents| cents as f64 / 100.0);
    let mut with_patches = prices.collect::<Vec<_>>();
    with_patches.iter_mut().step_by(997).for_each(|price| *price = f64::NAN);
    let columns = vec![
        ("packed", words(of(|noise, _| (noise % 5000) as i64)).with_missing(|i| i % 7 != 3)),
        ("raw", words(of(|noise, i| (noise << 32) as i64 ^ i as i64)).with_missing(|i| i % 4001 != 17)),
        ("constant", words(vec![7; n])),
        ("ascending", words(of(|noise, i| 1000 * i as i64 + (noise % 900) as i64))),
        ("runs", words(of(|_, i| (i / 700 * 7919 % 1000) as i64))),
        ("codes", words(of(|noise, _| (noise % 20 * 0x1234_5678_9ABC) as i64)).with_missing(|i| i > 70_000)),
        ("prices", Model::words(Physical::F64, &with_patches)),
        ("bytes", Model::words(Physical::U8, &(0..n).map(|i| noise(i) as u8 % 50).collect::<Vec<_>>())),
        ("bools", Model::bools(&(0..n).map(|i| noise(i) % 3 == 0).collect::<Vec<_>>())),
        ("words", Model::text(&(0..n).map(|i| format!("w{}", noise(i) % 90)).collect::<Vec<_>>())),
        ("texts", Model::text(&(0..n).map(|i| format!("{:x}", noise(i))).collect::<Vec<_>>())),
    ];
    let file = Changing::new(file_of(&columns, &WriteOptions::default())).open();
    let ascending =
        |step: usize| (0..n).step_by(step).map(move |i| (n - 1).min(i + noise(i) as usize % step) as u64);
    let clustered = (0..60u64).flat_map(|k| 5_000 * k..5_000 * k + k * k).collect::<Vec<_>>();
    let mut shuffled = ascending(101).collect::<Vec<_>>();
    shuffled.sort_by_key(|&row| noise(row as usize));
    // Pages that were verified before are read in part.
    for _ in 0..2 {
        for (column, (_, model)) in columns.iter().enumerate() {
            let column = column as u64;
            check(&file, column, model, &indices(ascending(61)), 2);
            check(&file, column, model, &indices(ascending(30_000)), 1);
            check(&file, column, model, &indices(clustered.iter().copied()), 2);
            check(&file, column, model, &indices(shuffled.iter().copied()), 1);
        }
    }
}

/// A number for `i` that no encoding stores in fewer bytes than raw.
fn noise(i: u64) -> u64 {
    ((i + 1) * (i + 7)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Once a page is verified, single values are read without the rest of it, until the file changes.
#[test]
fn verified_pages_are_read_in_part() {
    let raw = Model::words(Physical::U64, &(0..100_000).map(noise).collect::<Vec<_>>());
    let packed: Vec<u64> = (0..100_000).map(|i| noise(i) >> 45).collect();
    let columns = vec![
        ("raw", raw),
        ("packed", Model::words(Physical::U64, &packed)),
        ("missing", Model::words(Physical::U64, &packed).with_missing(|i| i % 5 != 0)),
    ];
    let source = Changing::new(file_of(&columns, &WriteOptions::default()));
    let file = source.open();
    let n_read = |column: usize, row: u64| {
        source.n_read.store(0, Ordering::Relaxed);
        check(&file, column as u64, &columns[column].1, &indices([row]), 1);
        source.n_read.load(Ordering::Relaxed)
    };
    for (column, most) in [(0, 8), (1, 128 * 19), (2, 1100 + 128 * 19)] {
        let page = file.blocks(column as u64).unwrap()[0].pages_len / 8;
        assert!(n_read(column, 20_000) > u64::from(page) / 2, "the first read takes the page");
        let n = n_read(column, 23_000);
        assert!(n <= most, "{n} bytes were read for a value of a verified page");
        assert!(n_read(column, 40_000) > most, "another page");
    }
    // Damage of a value that is not requested is not found until the time of the file changes.
    let place = file.blocks(0).unwrap()[0].pages_at as usize + 8 * 16_400;
    source.bytes.lock().unwrap()[place] ^= 1;
    assert_eq!(n_read(0, 23_000), 8);
    source.seconds.fetch_add(1, Ordering::Relaxed);
    let error = common::read(&file, 0, &indices([23_000]), 1).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
    source.bytes.lock().unwrap()[place] ^= 1;
    assert!(n_read(0, 23_000) > 8, "the page is verified again");
}

/// Pages that must be read completely cost one read per block, even if they were verified. Either
/// rows are spread over them, or their values have no known offsets.
#[test]
fn verified_pages_are_read_together() {
    let raw: Vec<u64> = (0..130_000).map(noise).collect();
    let texts: Vec<String> = raw.iter().map(|n| format!("{:x}", n >> 32)).collect();
    let columns = vec![("raw", Model::words(Physical::U64, &raw)), ("texts", Model::text(&texts))];
    let source = Changing::new(file_of(&columns, &WriteOptions::default()));
    let file = source.open();
    // The number of reads for two blocks, of strings in each of the four layouts.
    for (column, step, n) in [(0, 1_000, 2), (1, 1_000, 8), (1, 8_192, 8)] {
        let rows = indices((0..130_000).step_by(step));
        let n_reads = [0; 3].map(|_| {
            source.n_reads.store(0, Ordering::Relaxed);
            check(&file, column as u64, &columns[column].1, &rows, 1);
            source.n_reads.load(Ordering::Relaxed)
        });
        assert_eq!(n_reads[1..], [n, n], "column {column}, step {step}: {n_reads:?} reads");
    }
}
