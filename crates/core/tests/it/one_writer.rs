//! Only one thread writes at a time, however many encode, because file systems make others spin.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{Memory, Model, frame_of};
use entasis::{MemorySink, Physical, Silent, Sink, WriteOptions};

/// A slow sink that notices when two threads use it at once.
#[derive(Default)]
struct Watched {
    bytes: MemorySink,
    is_busy: AtomicBool,
    n_writes: AtomicUsize,
    n_at_once: AtomicUsize,
}

impl Sink for Watched {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let is_busy = self.is_busy.swap(true, Ordering::AcqRel);
        self.n_at_once.fetch_add(usize::from(is_busy), Ordering::Relaxed);
        self.n_writes.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
        let written = self.bytes.write_at(at, bytes);
        self.is_busy.store(false, Ordering::Release);
        written
    }

    fn sync(&self) -> io::Result<()> {
        self.bytes.sync()
    }
}

#[test]
fn one_thread_writes_at_a_time() {
    // Numbers that hardly compress, in columns of several runs and of one run.
    let noise = |n: u64, k: u64| -> Vec<u64> {
        (0..n).map(|i| (i + k).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)).collect()
    };
    for (n_rows, n_columns) in [(2_500_000, 2), (70_000, 40)] {
        let columns: Vec<(String, Model)> = (0..n_columns)
            .map(|k| (format!("c{k}"), Model::words(Physical::U64, &noise(n_rows, k))))
            .collect();
        let columns: Vec<_> = columns.iter().map(|(name, model)| (name.as_str(), model.clone())).collect();
        let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
        let frame = frame_of(&columns, &memory);
        let written = |threads| {
            let sink = Watched::default();
            let options = WriteOptions { threads: Some(threads), ..WriteOptions::default() };
            entasis::write_to(&sink, &frame, &options, &Silent).unwrap();
            assert_eq!(sink.n_at_once.into_inner(), 0, "{threads} threads, {n_rows} rows");
            assert!(sink.n_writes.into_inner() > 10);
            sink.bytes.into_bytes()
        };
        assert!(written(8) == written(1));
    }
}
