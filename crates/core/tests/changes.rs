//! A change leaves exactly the old or the new rows, wherever it is cut off: by a crash of the
//! process, an error of the disk, or a power failure that loses writes.

mod common;

use std::fs::{File as OsFile, Metadata, ReadDir};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Memory, Model, frame_of};
use entasis::{Change, Durable, File, Operation, Physical, Rows, Silent, WriteOptions};
use entasis_io::fault::{FaultDisk, Faults};
use entasis_io::{Disk, Lock, NativeDisk};

/// Rows of a file with slot pages, and of one without.
const SIZES: [usize; 2] = [150_000, 500];
const MORE: usize = 3000;

fn model(rows: std::ops::Range<usize>) -> Vec<(&'static str, Model)> {
    let numbers: Vec<u64> = rows.clone().map(|i| i as u64 * 977 % 65_521).collect();
    let texts: Vec<String> = rows.map(|i| format!("row {}", i % 1000)).collect();
    vec![("number", Model::words(Physical::U64, &numbers)), ("text", Model::text(&texts))]
}

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-changes-{}-{name}", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options(durable: Durable) -> WriteOptions {
    WriteOptions { durable, threads: Some(1), wait: Duration::ZERO, ..WriteOptions::default() }
}

fn append(disk: Arc<dyn Disk>, path: &Path, from: usize, durable: Durable) -> entasis::Result<()> {
    let part = model(from..from + MORE);
    let memory: Vec<Memory> = part.iter().map(|(_, model)| Memory::new(model)).collect();
    let change = Change::begin_on(disk, path, &options(durable), &Silent)?;
    let frame = change.append(frame_of(&part, &memory), &[])?;
    change.commit(frame, Operation::Append, &options(durable), &Silent)
}

/// The bytes of a file of `n` rows after some appends: its current state is in the first slot, in
/// slot A or in slot B.
fn base(n: usize, n_appends: usize) -> (Vec<u8>, usize) {
    let path = Temp::new(&format!("base-{n}-{n_appends}"));
    let rows = model(0..n);
    let memory: Vec<Memory> = rows.iter().map(|(_, model)| Memory::new(model)).collect();
    entasis::write(&path.0, &frame_of(&rows, &memory), &options(Durable::Never), &Silent).unwrap();
    for i in 0..n_appends {
        append(Arc::new(NativeDisk), &path.0, n + i * MORE, Durable::Never).unwrap();
    }
    (std::fs::read(&path.0).unwrap(), n + n_appends * MORE)
}

/// Checks that a file has exactly the rows before or after an append. Returns how many.
fn check(path: &Path, before: usize) -> usize {
    let file = File::open(path).unwrap();
    let n = file.n_rows() as usize;
    assert!(n == before || n == before + MORE, "{n} rows");
    for (column, (_, model)) in model(0..n).iter().enumerate() {
        common::check(&file, column as u64, model, &Rows::All, 1);
    }
    n
}

#[test]
fn a_crash_at_any_call() {
    for (n, n_appends) in [(SIZES[0], 0), (SIZES[0], 1), (SIZES[0], 2), (SIZES[1], 0), (SIZES[1], 1)] {
        let (bytes, rows) = base(n, n_appends);
        let path = Temp::new(&format!("crash-{n}-{n_appends}"));
        let mut seen = [false; 2];
        for call in 0.. {
            std::fs::write(&path.0, &bytes).unwrap();
            let done = append(Arc::new(FaultDisk::crashing(call)), &path.0, rows, Durable::Always);
            let found = check(&path.0, rows);
            seen[usize::from(found > rows)] = true;
            // The next writer goes on from either state.
            append(Arc::new(NativeDisk), &path.0, found, Durable::Never).unwrap();
            check(&path.0, found);
            if done.is_ok() {
                assert!(call > 5);
                break;
            }
        }
        assert_eq!(seen, [true; 2]);
    }
}

#[test]
fn an_error_at_any_call() {
    for lasting in [false, true] {
        let (bytes, rows) = base(SIZES[0], 1);
        let path = Temp::new(&format!("error-{lasting}"));
        for call in 0.. {
            std::fs::write(&path.0, &bytes).unwrap();
            let kind = io::ErrorKind::StorageFull;
            let faults = if lasting { Faults::lasting(call, kind) } else { Faults::once(call, kind) };
            let disk = FaultDisk::failing(faults);
            if append(Arc::new(disk), &path.0, rows, Durable::Always).is_ok() {
                break;
            }
            check(&path.0, rows);
            append(
                Arc::new(NativeDisk),
                &path.0,
                File::open(&path.0).unwrap().n_rows() as usize,
                Durable::Never,
            )
            .unwrap();
        }
    }
}

fn compact(disk: Arc<dyn Disk>, path: &Path) -> entasis::Result<()> {
    let options = options(Durable::Always);
    Change::begin_on(disk, path, &options, &Silent)?.compact(&options, &Silent)
}

/// Checks that a file has all rows, and that the next change works.
fn check_compacted(path: &Path, rows: usize) {
    assert_eq!(check(path, rows), rows);
    append(Arc::new(NativeDisk), path, rows, Durable::Never).unwrap();
    assert_eq!(check(path, rows), rows + MORE);
}

#[test]
fn compacting_survives_a_crash_or_an_error_at_any_call() {
    for (n, n_appends) in [(SIZES[0], 3), (SIZES[1], 1)] {
        let (bytes, rows) = base(n, n_appends);
        // A short file was written anew by the append, and has nothing else to drop.
        let bytes = [&bytes[..], &[9; 50]].concat();
        for is_crash in [false, true] {
            let path = Temp::new(&format!("compact-{n}-{is_crash}"));
            for call in 0.. {
                std::fs::write(&path.0, &bytes).unwrap();
                let faults = Faults::once(call, io::ErrorKind::StorageFull);
                let disk = if is_crash { FaultDisk::crashing(call) } else { FaultDisk::failing(faults) };
                let done = compact(Arc::new(disk), &path.0);
                let is_old = std::fs::read(&path.0).unwrap() == bytes;
                check_compacted(&path.0, rows);
                if done.is_ok() {
                    assert!(call > 5 && !is_old);
                    break;
                }
                assert!(is_old || is_crash, "call {call}: {done:?}");
            }
        }
    }
}

#[test]
fn compacting_removes_what_changes_left() {
    let (bytes, rows) = base(SIZES[0], 20);
    let path = Temp::new("compact");
    std::fs::write(&path.0, [&bytes[..], &[9; 5000]].concat()).unwrap();
    let (id, generation) =
        (File::open(&path.0).unwrap().fingerprint(), File::open(&path.0).unwrap().generation());
    compact(Arc::new(NativeDisk), &path.0).unwrap();
    let file = File::open(&path.0).unwrap();
    assert_eq!(file.generation(), generation + 1);
    assert_ne!(file.fingerprint(), id);
    file.verify(Some(1), &Silent).unwrap();
    assert!((file.file_len() as usize) < bytes.len());
    // Three blocks of 65,536 rows, and the short ones as a fourth.
    assert_eq!(file.blocks(0).unwrap().len(), rows.div_ceil(65_536));
    drop(file);
    check_compacted(&path.0, rows);
}

#[test]
fn short_and_interrupted_writes() {
    let (bytes, rows) = base(SIZES[0], 1);
    let path = Temp::new("short");
    std::fs::write(&path.0, &bytes).unwrap();
    let disk = FaultDisk::failing(Faults::none()).short(5);
    append(Arc::new(disk), &path.0, rows, Durable::Always).unwrap();
    assert_eq!(check(&path.0, rows), rows + MORE);
}

/// One effect of a change on the file.
#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

/// A disk that records the changes of one file.
#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<Step>>);

impl Recorder {
    fn add(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

impl Disk for Recorder {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        NativeDisk.metadata(path)
    }
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        NativeDisk.link(path)
    }
    fn list(&self, directory: &Path) -> io::Result<ReadDir> {
        NativeDisk.list(directory)
    }
    fn open(&self, path: &Path) -> io::Result<OsFile> {
        NativeDisk.open(path)
    }
    fn create_new(&self, path: &Path, private: bool) -> io::Result<OsFile> {
        NativeDisk.create_new(path, private)
    }
    fn try_lock(&self, file: &OsFile) -> io::Result<Lock> {
        NativeDisk.try_lock(file)
    }
    fn write_at(&self, file: &OsFile, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let written = NativeDisk.write_at(file, at, bytes)?;
        self.add(Step::Write(at, bytes[..written].to_vec()));
        Ok(written)
    }
    fn allocate(&self, file: &OsFile, at: u64, len: u64) -> io::Result<()> {
        NativeDisk.allocate(file, at, len)
    }
    fn set_len(&self, file: &OsFile, len: u64) -> io::Result<()> {
        self.add(Step::SetLen(len));
        NativeDisk.set_len(file, len)
    }
    fn adopt(&self, file: &OsFile, old: &Metadata) -> io::Result<()> {
        NativeDisk.adopt(file, old)
    }
    fn sync(&self, file: &OsFile) -> io::Result<()> {
        self.add(Step::Sync);
        NativeDisk.sync(file)
    }
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        NativeDisk.sync_directory(directory)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        NativeDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        NativeDisk.remove(path)
    }
}

/// A power failure after each step: all writes before the last sync are on the medium, of those
/// after it any, torn into sectors of 512 bytes, in any order.
#[test]
fn a_power_failure_after_any_step() {
    for n_appends in 0..3 {
        let (bytes, rows) = base(SIZES[0], n_appends);
        let path = Temp::new(&format!("power-{n_appends}"));
        std::fs::write(&path.0, &bytes).unwrap();
        let recorder = Arc::new(Recorder::default());
        append(Arc::clone(&recorder) as Arc<dyn Disk>, &path.0, rows, Durable::Always).unwrap();
        let steps = recorder.0.lock().unwrap().clone();
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let mut seen = [false; 2];
        for end in 0..=steps.len() {
            let synced =
                steps[..end].iter().rposition(|step| matches!(step, Step::Sync)).map_or(0, |at| at + 1);
            for lucky in [0u64, 1, 2, 4] {
                std::fs::write(&path.0, &bytes).unwrap();
                let file = std::fs::OpenOptions::new().write(true).open(&path.0).unwrap();
                for (i, step) in steps[..end].iter().enumerate() {
                    let is_sure = i < synced;
                    match step {
                        Step::Write(at, written) => {
                            for (k, sector) in written.chunks(512).enumerate() {
                                if is_sure || (lucky > 0 && next() % lucky == 0) {
                                    file.write_all_at(sector, at + 512 * k as u64).unwrap();
                                }
                            }
                        }
                        Step::SetLen(len) if is_sure || next() % 2 == 0 => file.set_len(*len).unwrap(),
                        Step::SetLen(_) | Step::Sync => {}
                    }
                }
                drop(file);
                let found = check(&path.0, rows);
                seen[usize::from(found > rows)] = true;
                append(Arc::new(NativeDisk), &path.0, found, Durable::Never).unwrap();
                check(&path.0, found);
            }
        }
        assert_eq!(seen, [true; 2]);
    }
}
