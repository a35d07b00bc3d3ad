//! Tests the test doubles, and the methods of the traits that repeat short reads and writes.

use std::io::ErrorKind;
use std::sync::Arc;

use crate::common::version;
use entasis_fault::{Faults, Faulty};
use entasis_io::{MemorySink, MemorySource, Sink, Source};

#[test]
fn short_calls_give_identical_results() {
    let bytes = version(1234);
    for seed in 0..50 {
        let source = Faulty::new(MemorySource::new(bytes.clone())).short(seed);
        let mut out = vec![0; bytes.len()];
        source.read_exact_at(0, &mut out).unwrap();
        assert!(out == bytes);
        assert_eq!(source.read_exact_at(1, &mut out).unwrap_err().kind(), ErrorKind::UnexpectedEof);

        let sink = Faulty::new(MemorySink::new()).short(seed);
        sink.write_all_at(0, &bytes).unwrap();
        assert!(sink.into_inner().into_bytes() == bytes);
    }
}

#[test]
fn failures_come_when_told() {
    let faults = Faults::once(1, ErrorKind::StorageFull);
    let sink = Faulty::new(MemorySink::new()).failing(faults.clone());
    sink.write_all_at(0, b"a").unwrap();
    assert_eq!(sink.write_all_at(1, b"b").unwrap_err().kind(), ErrorKind::StorageFull);
    sink.sync().unwrap();
    assert_eq!((faults.calls(), faults.reached()), (3, true));

    let faults = Faults::lasting(1, ErrorKind::Other);
    let source = Arc::new(Faulty::new(MemorySource::new(b"abc")).failing(faults));
    let mut out = [0; 2];
    source.read_exact_at(1, &mut out).unwrap();
    for _ in 0..3 {
        assert_eq!(source.read_exact_at(1, &mut out).unwrap_err().kind(), ErrorKind::Other);
    }
}

#[test]
fn flipped_bytes_are_flipped_wherever_reading_begins() {
    let source = Faulty::new(MemorySource::new([0; 10])).flipping(4, 0x80).flipping(9, 1).short(1);
    for at in 0..10 {
        let mut out = vec![0; 10 - at];
        source.read_exact_at(at as u64, &mut out).unwrap();
        let expected = [0, 0, 0, 0, 0x80, 0, 0, 0, 0, 1];
        assert_eq!(out, expected[at..]);
    }
    let sink = Faulty::new(MemorySink::new()).flipping(1, 0xff);
    sink.write_all_at(0, &[0; 3]).unwrap();
    assert_eq!(sink.into_inner().into_bytes(), [0, 0xff, 0]);
}
