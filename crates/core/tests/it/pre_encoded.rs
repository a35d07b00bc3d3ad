//! Blocks that are encoded before the file is written.

use std::path::Path;

use entasis::cells::{BLOCK, NumberEncoder};
use entasis::{
    Array, Chunk, Column, ColumnType, EncodedBlock, File, Frame, HostRead, HostValidity, HostValues, Limits,
    MemorySink, MemorySource, MissingTo, Output, Physical, Request, Result, Rows, Silent, Value,
    WriteOptions, write_to,
};

fn block(physical: Physical, compression: u8) -> (Vec<u64>, EncodedBlock) {
    let mut encoder = NumberEncoder::new(compression).unwrap();
    encoder.begin_run();
    let words: Vec<u64> = (0..BLOCK as u64).map(|i| i * i % 1000).collect();
    encoder.words().copy_from_slice(&words);
    (words, encoder.encode(physical).unwrap())
}

fn chunk(n: usize, values: HostValues) -> Chunk {
    Chunk { n, values, validity: HostValidity::AllValid }
}

fn frame(chunks: Vec<Chunk>) -> Frame {
    let column = Column {
        run: None,
        name: "ints".to_owned(),
        column_type: ColumnType::plain(Physical::I64),
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::from(chunks),
    };
    let n_rows = column.array.n_values();
    Frame { n_rows, columns: vec![column], extra: Vec::new(), host: Value::Null }
}

fn write(chunks: Vec<Chunk>, compression: u8) -> Result<Vec<u8>> {
    let sink = MemorySink::new();
    let options = WriteOptions { compression: Some(compression), ..WriteOptions::default() };
    write_to(&sink, &frame(chunks), &options, &Silent)?;
    Ok(sink.into_bytes())
}

#[test]
fn encoded_blocks_come_back_with_what_is_behind_them() {
    for compression in [0, 50] {
        let (words, made) = block(Physical::I64, compression);
        let rest = [7u64, 8, 9];
        // SAFETY: the memory outlives the writing.
        let memory = unsafe { HostRead::new(rest.as_ptr().cast(), size_of_val(&rest)) };
        let behind = chunk(3, HostValues::Words { memory, stride: 8 });
        let encoded = chunk(BLOCK, HostValues::Encoded(made));
        let bytes = write(vec![encoded.clone(), encoded, behind], compression).unwrap();
        let source = Box::new(MemorySource::new(bytes));
        let file = File::from_source(source, Path::new("memory"), Limits::default()).unwrap();
        let wanted = [words.as_slice(), &words, &rest].concat();
        let mut found = vec![0u64; wanted.len()];
        let output = Output::Words(bytemuck::cast_slice_mut(&mut found));
        let request = Request { column: 0, rows: Rows::All, output, missing: MissingTo::Ignore };
        file.read(vec![request], Some(2), &Silent).unwrap();
        assert_eq!(found, wanted);
    }
}

#[test]
fn encoded_blocks_stand_first_and_are_of_their_column() {
    let encoded = |physical| chunk(BLOCK, HostValues::Encoded(block(physical, 50).1));
    let counted = chunk(1, HostValues::Counted(vec![1].into()));
    let part = Chunk { n: 5, ..encoded(Physical::I64) };
    for wrong in [vec![encoded(Physical::F64)], vec![counted, encoded(Physical::I64)], vec![part]] {
        assert!(write(wrong, 50).is_err());
    }
}

#[test]
fn what_takes_long_is_not_encoded_at_once() {
    assert_eq!([0, 54, 55, 101].map(|n| NumberEncoder::new(n).is_some()), [true, true, false, false]);
}
