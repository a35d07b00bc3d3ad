//! Values of frames that are copied for writers of other formats.

use entasis::{
    Array, Chunk, Column, ColumnType, HostRead, HostValidity, HostValues, Loader, NameList, Physical,
};

fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the memory is never freed or changed.
    unsafe { HostRead::new(bytes.to_vec().leak().as_ptr(), bytes.len()) }
}

fn column(physical: Physical, chunks: Vec<(usize, HostValues, HostValidity)>) -> Column {
    let chunks = chunks.into_iter().map(|(n, values, validity)| Chunk { n, values, validity });
    Column {
        run: None,
        name: "c".to_owned(),
        column_type: ColumnType::plain(physical),
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::from(chunks.collect::<Vec<_>>()),
    }
}

fn words(values: &[i32]) -> HostValues {
    HostValues::Words { memory: lend(bytemuck::cast_slice(values)), stride: 4 }
}

fn texts(texts: &[&str]) -> HostValues {
    let ends = texts.iter().scan(0i64, |end, text| {
        *end += text.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
    HostValues::Offsets64 {
        offsets: lend(bytemuck::cast_slice(&offsets)),
        bytes: lend(texts.concat().as_bytes()),
    }
}

#[test]
fn rows_of_several_chunks_are_copied_together() {
    let bits = HostValidity::Bits { memory: lend(&[0b10]), first_bit: 0 };
    let chunks = vec![(3, words(&[1, 2, 3]), HostValidity::AllValid), (2, words(&[4, 5]), bits)];
    let numbers = column(Physical::I32, chunks);
    let mut loader = Loader::default();
    assert_eq!(loader.load(&numbers, 1..5).unwrap(), 4);
    let loaded = loader.loaded();
    let found: &[i32] = bytemuck::cast_slice(loaded.words);
    assert_eq!((found[0], found[1], found[3]), (2, 3, 5));
    assert_eq!(loaded.validity.unwrap()[0] & 0b1111, 0b1011);

    let bits = HostValidity::Bits { memory: lend(&[0b101]), first_bit: 0 };
    let strings = column(Physical::Utf8, vec![(3, texts(&["ab", "lost", "c"]), bits)]);
    assert_eq!(loader.load(&strings, 0..3).unwrap(), 3);
    let loaded = loader.loaded();
    assert_eq!((loaded.offsets, loaded.bytes), (&[0, 2, 2, 3][..], &b"abc"[..]));

    assert_eq!(loader.load(&strings, 1..1).unwrap(), 0);
    assert_eq!(loader.load(&numbers, 0..1).unwrap(), 1);
    assert!(loader.loaded().validity.is_none());
}

#[test]
fn long_strings_come_in_several_calls() {
    let long = "x".repeat(3 << 20);
    let strings = column(Physical::Utf8, vec![(9, texts(&[long.as_str(); 9]), HostValidity::AllValid)]);
    let (mut loader, mut at, mut n_calls) = (Loader::default(), 0, 0);
    while at < 9 {
        let n = loader.load(&strings, at..9).unwrap();
        assert_eq!(loader.loaded().bytes.len(), n * long.len());
        (at, n_calls) = (at + n as u64, n_calls + 1);
    }
    assert!(n_calls > 1);
}

#[test]
fn other_rows_and_runs_are_refused() {
    let numbers = column(Physical::I32, vec![(2, words(&[1, 2]), HostValidity::AllValid)]);
    let mut loader = Loader::default();
    for rows in [0..3, std::ops::Range { start: 2, end: 1 }] {
        assert!(loader.load(&numbers, rows).is_err());
    }
    let names: NameList = ["a", "b"].into_iter().collect();
    assert!(loader.load(&Column { run: Some(names), ..numbers }, 0..1).is_err());
    let short = column(Physical::I32, vec![(3, words(&[1, 2]), HostValidity::AllValid)]);
    assert!(loader.load(&short, 0..3).is_err());
}
