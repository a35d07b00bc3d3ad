//! A change leaves exactly the old or the new state, wherever it is interrupted: by a crash, a disk
//! error, or a power failure that loses writes.

use std::fs::{File as OsFile, Metadata, ReadDir};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{self, Memory, Model, by_tier, frame_of};
use entasis::{
    Change, ColumnSource, Durable, File, Key, Opening, Operation, Physical, Rows, Secret, Silent, Stream,
    WriteOptions,
};
use entasis_fault::{FaultDisk, Faults};
use entasis_io::{Disk, Lock, NativeDisk};

/// Rows of a file with slot pages, and of a file without. The columns of the first have two blocks.
const SIZES: [usize; 2] = [80_000, 500];
const MORE: usize = 3000;

/// The columns of a file.
type State = Vec<(&'static str, Model)>;

fn model(rows: std::ops::Range<usize>) -> State {
    let numbers: Vec<u64> = rows.clone().map(|i| i as u64 * 977 % 65_521).collect();
    let texts: Vec<String> = rows.map(|i| format!("row {}", i % 1000)).collect();
    vec![("number", Model::words(Physical::U64, &numbers)), ("text", Model::text(&texts))]
}

fn flags(n: usize) -> Model {
    Model::bools(&(0..n).map(|i| i % 3 == 0).collect::<Vec<_>>())
}

/// A change of a file that `model` made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Append,
    Stream,
    Add,
    Replace,
    Drop,
    Rename,
    Rollback,
    Compact,
    Anew,
}

const OPS: [Op; 9] =
    [Op::Append, Op::Stream, Op::Add, Op::Replace, Op::Drop, Op::Rename, Op::Rollback, Op::Compact, Op::Anew];

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

fn options(durable: Durable, is_sealed: bool) -> WriteOptions {
    let secret = secret(is_sealed);
    WriteOptions { durable, threads: Some(1), wait: Duration::ZERO, secret, ..WriteOptions::default() }
}

/// The key of encrypted files.
fn secret(is_sealed: bool) -> Option<Secret> {
    is_sealed.then(|| Secret::Key(Key::new(&[7; 32]).unwrap()))
}

fn open(path: &Path, is_sealed: bool) -> File {
    File::open_with(path, Opening { secret: secret(is_sealed), ..Opening::default() }).unwrap()
}

/// Performs a change of a file with `n` rows.
fn apply(op: Op, disk: Arc<dyn Disk>, path: &Path, n: usize, options: &WriteOptions) -> entasis::Result<()> {
    let change = Change::begin_on(disk, path, options, &Silent)?;
    let part = match op {
        Op::Append | Op::Stream => model(n..n + MORE),
        Op::Add | Op::Replace => vec![("flag", flags(n))],
        Op::Drop | Op::Rename | Op::Rollback | Op::Compact => Vec::new(),
        Op::Anew => model(0..n + MORE),
    };
    let memory: Vec<Memory> = part.iter().map(|(_, model)| Memory::new(model)).collect();
    let frame = frame_of(&part, &memory);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let (kept, new) = (ColumnSource::Kept, ColumnSource::New);
    let (content, operation) = match op {
        Op::Append => (change.append(frame, &[])?, Operation::Append),
        Op::Add => (
            change.with_columns(frame, &[kept(0), kept(1), new(0)], names(&["number", "text", "flag"]))?,
            Operation::AddColumns,
        ),
        Op::Replace => (
            change.with_columns(frame, &[new(0), kept(1)], names(&["number", "text"]))?,
            Operation::ReplaceColumns,
        ),
        Op::Drop => (change.with_columns(frame, &[kept(1)], names(&["text"]))?, Operation::DropColumns),
        Op::Rename => (
            change.with_columns(frame, &[kept(0), kept(1)], names(&["first", "text"]))?,
            Operation::RenameColumns,
        ),
        Op::Rollback => return change.rollback(1, options, &Silent),
        Op::Compact => return change.compact(options, &Silent),
        Op::Anew => return change.replace(frame, Operation::Write, options, &Silent),
        Op::Stream => {
            let mut stream = Stream::extend(change, options)?;
            for rows in [n..n + 10, n + 10..n + MORE] {
                let part = model(rows);
                let memory: Vec<Memory> = part.iter().map(|(_, model)| Memory::new(model)).collect();
                stream.append(frame_of(&part, &memory), &[], options, &Silent)?;
            }
            return stream.finish();
        }
    };
    change.commit(content, operation, options, &Silent)
}

/// The state after a change of a file with `n` rows. Its first generation had `first` rows.
fn after(op: Op, n: usize, first: usize) -> State {
    let mut state = model(0..n);
    match op {
        Op::Append | Op::Stream | Op::Anew => model(0..n + MORE),
        Op::Add => {
            state.push(("flag", flags(n)));
            state
        }
        Op::Replace => {
            state[0].1 = flags(n);
            state
        }
        Op::Drop => {
            state.remove(0);
            state
        }
        Op::Rename => {
            state[0].0 = "first";
            state
        }
        Op::Rollback => model(0..first),
        Op::Compact => state,
    }
}

/// A file of `n` rows after some appends: its current state is in the first slot, in slot A or in
/// slot B.
struct Base {
    bytes: Vec<u8>,
    /// The rows of the file's first generation, and of the current one.
    first: usize,
    n: usize,
    generation: u64,
    is_sealed: bool,
}

fn base(first: usize, n_appends: usize, is_sealed: bool) -> Base {
    let options = options(Durable::Never, is_sealed);
    let path = Temp::new(&format!("base-{first}-{n_appends}-{is_sealed}-{:?}", std::thread::current().id()));
    let rows = model(0..first);
    let memory: Vec<Memory> = rows.iter().map(|(_, model)| Memory::new(model)).collect();
    entasis::write(&path.0, &frame_of(&rows, &memory), &options, &Silent).unwrap();
    for i in 0..n_appends {
        apply(Op::Append, Arc::new(NativeDisk), &path.0, first + i * MORE, &options).unwrap();
    }
    let generation = open(&path.0, is_sealed).generation();
    let bytes = std::fs::read(&path.0).unwrap();
    // The flag "slot pages". The first change of a short plain file sets it.
    let has_slot_pages = is_sealed || first == SIZES[0] || n_appends > 0;
    assert_eq!(bytes[16] & 2 != 0, has_slot_pages, "{first}, {n_appends}");
    Base { bytes, first, n: first + n_appends * MORE, generation, is_sealed }
}

/// A change of a base, with the states before and after it.
struct Case {
    op: Op,
    base: Base,
    states: [State; 2],
}

impl Case {
    fn new(op: Op, first: usize, n_appends: usize, is_sealed: bool) -> Self {
        let base = base(first, n_appends, is_sealed);
        let states = [model(0..base.n), after(op, base.n, base.first)];
        Self { op, base, states }
    }

    fn name(&self) -> String {
        format!("{:?}-{}-{}-{}", self.op, self.base.first, self.base.n, self.base.is_sealed)
    }

    fn apply(&self, disk: Arc<dyn Disk>, path: &Path, durable: Durable) -> entasis::Result<()> {
        apply(self.op, disk, path, self.base.n, &options(durable, self.base.is_sealed))
    }

    /// Checks that a file is sound and has exactly the state before or after the change. Returns
    /// whether it has the state after.
    fn is_after(&self, path: &Path) -> bool {
        let file = open(path, self.base.is_sealed);
        let report = file.verify(Some(1), &Silent).unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        assert!(report.n_generations >= 1);
        let is_after = file.generation() > self.base.generation;
        let state = &self.states[usize::from(is_after)];
        assert_eq!((file.n_rows(), file.n_columns()), (state[0].1.n() as u64, state.len() as u64));
        for (column, (name, model)) in state.iter().enumerate() {
            assert_eq!(file.column(column as u64).unwrap().name, *name, "{}", self.name());
            common::check(&file, column as u64, model, &Rows::All, 1);
        }
        is_after
    }

    /// Checks that the next change succeeds, whichever state it finds.
    fn goes_on(&self, path: &Path) {
        let is_sealed = self.base.is_sealed;
        let (before, options) = (open(path, is_sealed), options(Durable::Never, is_sealed));
        let change = Change::begin(path, &options, &Silent).unwrap();
        let content = change.kept().unwrap();
        change.commit(content, Operation::Metadata, &options, &Silent).unwrap();
        let file = open(path, is_sealed);
        assert!(file.generation() > before.generation());
        assert_eq!(file.n_rows(), before.n_rows());
        file.verify(Some(1), &Silent).unwrap();
    }
}

/// Cases of all operations: with the state in the first slot, in slot A or in slot B, and without
/// slot pages.
fn cases() -> impl Iterator<Item = Case> {
    let bases = [(SIZES[0], 0), (SIZES[0], 1), (SIZES[0], 2), (SIZES[1], 0), (SIZES[1], 1)];
    OPS.into_iter().flat_map(move |op| {
        // A rollback needs an earlier generation. The other operations share their last steps, so
        // fewer cases suffice.
        let wanted = move |&(n, n_appends): &(usize, usize)| match op {
            Op::Append => true,
            Op::Rollback => n == SIZES[0] && n_appends > 0,
            Op::Compact => n == SIZES[0] && n_appends == 2,
            _ => n_appends == 1,
        };
        bases.into_iter().filter(wanted).map(move |(n, n_appends)| Case::new(op, n, n_appends, false))
    })
}

/// Cases of an encrypted file, which always has slot pages.
fn sealed_cases() -> impl Iterator<Item = Case> {
    let of = |op, n_appends| Case::new(op, SIZES[1], n_appends, true);
    let appends = (0..3).map(move |n_appends| of(Op::Append, n_appends));
    appends.chain([Op::Stream, Op::Rename, Op::Rollback, Op::Compact, Op::Anew].map(|op| of(op, 1)))
}

#[test]
fn a_crash_at_any_call() {
    for case in cases().chain(sealed_cases()) {
        let path = Temp::new(&format!("crash-{}", case.name()));
        let mut seen = [false; 2];
        for call in 0.. {
            std::fs::write(&path.0, &case.base.bytes).unwrap();
            let done = case.apply(Arc::new(FaultDisk::crashing(call)), &path.0, Durable::Always);
            seen[usize::from(case.is_after(&path.0))] = true;
            case.goes_on(&path.0);
            if done.is_ok() {
                assert!(call > 5);
                break;
            }
        }
        assert_eq!(seen, [true; 2], "{}", case.name());
    }
}

#[test]
fn an_error_at_any_call() {
    for (i, case) in cases().chain(sealed_cases()).enumerate() {
        for lasting in [false, true] {
            let path = Temp::new(&format!("error-{lasting}-{}", case.name()));
            // In the tests of a change an error either lasts or does not.
            let is_tested = |call: &u64| by_tier((call + i as u64) % 2 == u64::from(lasting), true);
            for call in (0..).filter(is_tested) {
                std::fs::write(&path.0, &case.base.bytes).unwrap();
                let kind = io::ErrorKind::StorageFull;
                let faults = if lasting { Faults::lasting(call, kind) } else { Faults::once(call, kind) };
                let done = case.apply(Arc::new(FaultDisk::failing(faults)), &path.0, Durable::Always);
                let is_after = case.is_after(&path.0);
                if done.is_ok() {
                    assert!(is_after, "{}", case.name());
                    break;
                }
                case.goes_on(&path.0);
            }
        }
    }
}

#[test]
fn compacting_removes_what_changes_left() {
    let case = Case::new(Op::Compact, SIZES[0], 20, false);
    let (bytes, rows) = (&case.base.bytes, case.base.n);
    let path = Temp::new("compact");
    // Bytes that an interrupted change left.
    std::fs::write(&path.0, [&bytes[..], &[9; 5000]].concat()).unwrap();
    assert_eq!(File::open(&path.0).unwrap().verify(Some(1), &Silent).unwrap().leftover_len, 5000);
    let id = File::open(&path.0).unwrap().fingerprint();
    case.apply(Arc::new(NativeDisk), &path.0, Durable::Always).unwrap();
    assert!(case.is_after(&path.0));
    let file = File::open(&path.0).unwrap();
    assert_eq!(file.generation(), case.base.generation + 1);
    assert_ne!(file.fingerprint(), id);
    file.verify(Some(1), &Silent).unwrap();
    assert_eq!(file.file_len(), std::fs::metadata(&path.0).unwrap().len());
    assert!((file.file_len() as usize) < bytes.len());
    // Three blocks of 65,536 rows, and the short blocks as a fourth.
    assert_eq!(file.blocks(0).unwrap().len(), rows.div_ceil(65_536));
    drop(file);
    case.goes_on(&path.0);
}

#[test]
fn short_and_interrupted_writes() {
    for case in cases().chain(sealed_cases()) {
        let path = Temp::new(&format!("short-{}", case.name()));
        std::fs::write(&path.0, &case.base.bytes).unwrap();
        let disk = FaultDisk::failing(Faults::none()).short(5);
        case.apply(Arc::new(disk), &path.0, Durable::Always).unwrap();
        assert!(case.is_after(&path.0));
    }
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
    fn adopt(&self, file: &OsFile, old: &OsFile) -> io::Result<()> {
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

/// A power failure after each step: all writes before the last sync are on the medium, and any part
/// of the later writes, torn into sectors of 512 bytes, in any order.
#[test]
fn a_power_failure_after_any_step() {
    // A rewritten file gets its name after it was synced.
    let has_slot_pages = |case: &Case| case.base.first == SIZES[0] || case.base.is_sealed;
    for case in cases()
        .chain(sealed_cases())
        .filter(|case| has_slot_pages(case) && ![Op::Anew, Op::Compact].contains(&case.op))
    {
        let path = Temp::new(&format!("power-{}", case.name()));
        std::fs::write(&path.0, &case.base.bytes).unwrap();
        let recorder = Arc::new(Recorder::default());
        case.apply(Arc::clone(&recorder) as Arc<dyn Disk>, &path.0, Durable::Always).unwrap();
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
                std::fs::write(&path.0, &case.base.bytes).unwrap();
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
                seen[usize::from(case.is_after(&path.0))] = true;
                case.goes_on(&path.0);
            }
        }
        assert_eq!(seen, [true; 2], "{}", case.name());
    }
}
