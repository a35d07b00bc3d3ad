//! The headline frame of the fst articles, written and read by the core alone: `cargo run --release --example headline -- ROWS`.

use std::path::Path;
use std::time::Instant;

use entasis::{
    Array, Buffer, Chunk, Column, ColumnType, File, Frame, HostRead, HostValidity, HostValues, Logical, Missing,
    MissingTo, Output, Physical, Request, Rows, Silent, Value, WriteOptions,
};

fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the vectors of `main` live until its end.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

fn main() -> entasis::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let n: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    let compression: u8 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(50);
    let threads: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(2);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let (mut flags, mut mask, mut ints, mut prices, mut codes) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..n {
        let p = next() % 100;
        flags.push(u8::from(p < 85));
        mask.push(u8::from(p >= 95));
        ints.push((next() % 100 + 1) as i32);
        prices.push(f64::from(next() % 20 * 487 + 13) / 100.0);
        codes.push((next() % 10) as i8);
    }
    let cities: Vec<&str> = "Atlanta Chicago Denver Houston LosAngeles Miami NewYork SanFrancisco Seattle Washington".split(' ').collect();
    let text = cities.concat();
    let mut offsets = vec![0i64];
    cities.iter().for_each(|c| offsets.push(offsets.last().unwrap() + c.len() as i64));
    let column = |name: &str, column_type, values, validity, n| Column {
        name: name.into(),
        column_type,
        detail: None,
        dictionary: None,
        array: Array::new(Chunk { n, values, validity }),
    };
    let words = |bytes, stride| HostValues::Words { memory: lend(bytes), stride };
    let mut factor = column(
        "Factor",
        ColumnType { logical: Logical::Categorical, ..ColumnType::plain(Physical::I8) },
        words(bytemuck::cast_slice(&codes), 1),
        HostValidity::AllValid,
        n,
    );
    factor.dictionary = Some(0);
    let frame = Frame {
        n_rows: n as u64,
        columns: vec![
            column(
                "Logical",
                ColumnType { missing: Missing::NA, ..ColumnType::plain(Physical::Bool) },
                HostValues::Bools { memory: lend(&flags), stride: 1 },
                HostValidity::Mask { memory: lend(&mask), stride: 1 },
                n,
            ),
            column("Integer", ColumnType::plain(Physical::I32), words(bytemuck::cast_slice(&ints), 4), HostValidity::AllValid, n),
            column("Real", ColumnType::plain(Physical::F64), words(bytemuck::cast_slice(&prices), 8), HostValidity::AllValid, n),
            factor,
        ],
        extra: vec![column(
            "",
            ColumnType::plain(Physical::Utf8),
            HostValues::Offsets64 { offsets: lend(bytemuck::cast_slice(&offsets)), bytes: lend(text.as_bytes()) },
            HostValidity::AllValid,
            10,
        )],
        host: Value::Null,
    };
    let path = std::env::temp_dir().join("headline.entasis");
    let path: &Path = &path;
    let options = WriteOptions { compression, threads: Some(threads), ..WriteOptions::default() };
    for _ in 0..5 {
        let start = Instant::now();
        entasis::write(path, &frame, &options, &Silent)?;
        let write = start.elapsed();
        let start = Instant::now();
        let file = File::open(path)?;
        let mut out: Vec<Buffer> = [1, 1, 4, 8, 1].map(|w| Buffer::zeroed(w * n).unwrap()).into();
        let [a, b, c, d, e] = &mut out[..] else { unreachable!() };
        let request = |column, output, missing| Request { column, rows: Rows::All, output, missing };
        file.read(
            vec![
                request(0, Output::Bools(a), MissingTo::Mask(b)),
                request(1, Output::Words(c), MissingTo::Ignore),
                request(2, Output::Words(d), MissingTo::Ignore),
                request(3, Output::Words(e), MissingTo::Mark(u64::MAX)),
            ],
            Some(threads),
            &Silent,
        )?;
        let read = start.elapsed();
        assert!(out[1][..] == mask[..] && out[2][..] == *bytemuck::cast_slice::<i32, u8>(&ints));
        assert!(out[3][..] == *bytemuck::cast_slice::<f64, u8>(&prices) && out[4][..] == *bytemuck::cast_slice::<i8, u8>(&codes));
        drop(out);
        let start = Instant::now();
        let floor = Buffer::zeroed(15 * n).unwrap();
        let mut floor = floor;
        std::thread::scope(|scope| {
            for half in floor.chunks_mut(15 * n / threads + 1) {
                scope.spawn(|| half.fill(1));
            }
        });
        println!("write {write:?} read {read:?} floor(fill) {:?} MB {:.1}", start.elapsed(), file.file_len() as f64 / 1e6);
    }
    Ok(())
}
