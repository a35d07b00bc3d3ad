//! Writes a table of two columns from borrowed memory, then reads three rows of one of them.

use entasis::{
    Array, Chunk, Column, ColumnType, Durable, File, Frame, HostRead, HostValidity, HostValues, MissingTo,
    Output, Physical, Request, Result, Rows, Silent, Value, WriteOptions, write,
};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("entasis-example-{}.entasis", std::process::id()));
    let done = write_and_read(&path);
    // Remove the file in any case. An error of the removal is ignored, because one of the example
    // is more important.
    let _ = std::fs::remove_file(&path);
    done
}

/// Writes two columns to `path` and reads three rows of one of them.
pub fn write_and_read(path: &std::path::Path) -> Result<()> {
    let numbers: Vec<i64> = (0..100_000).map(|i| i * i).collect();
    let halves: Vec<f64> = numbers.iter().map(|n| *n as f64 / 2.0).collect();
    // SAFETY: both vectors stay, unchanged, until this function returns, which is after `write`.
    let [of_numbers, of_halves] = unsafe { [lend(&numbers), lend(&halves)] };
    let frame = Frame {
        n_rows: numbers.len() as u64,
        columns: vec![
            column("number", Physical::I64, of_numbers, numbers.len()),
            column("half", Physical::F64, of_halves, halves.len()),
        ],
        extra: Vec::new(),
        host: Value::Null,
    };
    let options = WriteOptions { durable: Durable::Never, ..WriteOptions::default() };
    write(path, &frame, &options, &Silent)?;

    let file = File::open(path)?;
    let mut found = [0i64; 3];
    let request = Request {
        column: 0,
        rows: Rows::Indices(vec![99_999, 0, 5].into()),
        output: Output::Words(bytemuck::bytes_of_mut(&mut found)),
        missing: MissingTo::Ignore,
    };
    file.read(vec![request], None, &Silent)?;
    assert_eq!(found, [99_999 * 99_999, 0, 25]);
    println!("{} rows in {} bytes; rows 99999, 0 and 5: {found:?}", file.n_rows(), file.file_len());
    Ok(())
}

fn column(name: &str, physical: Physical, memory: HostRead, n: usize) -> Column {
    let values = HostValues::Words { memory, stride: 8 };
    Column {
        name: name.to_owned(),
        run: None,
        column_type: ColumnType::plain(physical),
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::new(Chunk { n, values, validity: HostValidity::AllValid }),
    }
}

/// # Safety
/// The values must stay in memory, unchanged, for as long as the writer reads them.
unsafe fn lend<T: bytemuck::Pod>(values: &[T]) -> HostRead {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    // SAFETY: a slice is initialised memory of this length, and the caller keeps it.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}
