//! Files that are read by requests hold what their tables hold, and failed requests are errors.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use entasis::{File, Kind, Limits, MemorySink, Ranges, RemoteSource, Result, Silent, WriteOptions, write_to};
use entasis_testkit::compare::core_holds;
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Table, nested_tables, read, shapes, tables};

/// An object in memory. Requests fail from a number on.
struct Object {
    bytes: Vec<u8>,
    n_parallel: usize,
    n_requests: AtomicUsize,
    most: usize,
}

/// Requests for an object.
struct Requests(Arc<Object>);

impl Ranges for Requests {
    fn fetch(&self, at: u64, out: &mut [u8]) -> std::io::Result<()> {
        if self.0.n_requests.fetch_add(1, Ordering::Relaxed) >= self.0.most {
            return Err(std::io::ErrorKind::ConnectionReset.into());
        }
        let at = at as usize;
        out.copy_from_slice(&self.0.bytes[at..at + out.len()]);
        Ok(())
    }

    fn n_parallel(&self) -> usize {
        self.0.n_parallel
    }
}

fn object(table: &Table, n_parallel: usize) -> Arc<Object> {
    let (memory, sink) = (Memory::of(table), MemorySink::new());
    write_to(&sink, &memory.frame(table), &WriteOptions::default(), &Silent).unwrap();
    let bytes = sink.into_bytes();
    Arc::new(Object { bytes, n_parallel, n_requests: AtomicUsize::new(0), most: usize::MAX })
}

fn open(object: &Arc<Object>) -> Result<File> {
    let bytes = &object.bytes;
    let (head, tail) = (&bytes[..bytes.len().min(12_288)], &bytes[bytes.len().saturating_sub(65_536)..]);
    let kept = vec![(0, head.to_vec()), ((bytes.len() - tail.len()) as u64, tail.to_vec())];
    let source = RemoteSource::new(Requests(Arc::clone(object)), bytes.len() as u64, kept).unwrap();
    File::from_source(Box::new(source), Path::new("object"), Limits::default())
}

fn all_tables() -> [Table; 4] {
    [
        tables::types(9_000),
        tables::categoricals(20_000),
        Table::new("shapes", shapes::columns(70_000)),
        nested_tables::deep(20, 9_000),
    ]
}

#[test]
fn objects_hold_their_tables() {
    for table in all_tables() {
        for n_parallel in [0, 4] {
            let object = object(&table, n_parallel);
            let file = open(&object).unwrap();
            assert_eq!(object.n_requests.load(Ordering::Relaxed), 0, "the head and the tail open a file");
            core_holds(&file, &table);
            file.verify(Some(2), &Silent).unwrap();
        }
    }
}

#[test]
fn failed_requests_are_errors() {
    let table = Table::new("shapes", shapes::columns(70_000));
    let whole = object(&table, 4);
    for most in 0..20 {
        let bytes = whole.bytes.clone();
        let object = Arc::new(Object { bytes, n_parallel: 4, n_requests: AtomicUsize::new(0), most });
        let file = open(&object).unwrap();
        let mut n_failed = 0;
        for column in 0..file.n_columns() {
            match read::column(&file, column) {
                Ok(_) => {}
                Err(error) => {
                    assert!(matches!(error.kind(), Kind::Io(_)), "{error}");
                    n_failed += 1;
                }
            }
        }
        assert!(n_failed > 0, "{most} requests are too few for all columns");
    }
}
