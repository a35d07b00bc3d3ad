//! Changes of files of any bytes.

use std::path::{Path, PathBuf};

use entasis::{
    AppendOptions, Change, ColumnSource, Durable, File, Frame, Kind, Operation, Result, Silent, Stream,
    Value, WriteOptions,
};

use entasis_format::Physical;

use super::file;
use crate::frames::host::Memory;
use crate::frames::{Model, Table, grown, write_at};
use crate::probe::{contents, is_fit, open, verify, work};

/// The most bytes of values that one input may have decoded, several times.
const WORK: u64 = 1 << 20;
/// The most columns of an input. Each change reads all of them several times.
const COLUMNS: u64 = 64;
/// Bytes before the first segment of a file with slot pages. Changes write slots there.
const SLOTS_END: usize = 12_288;

/// Changes of a file, each on a copy of it.
const CHANGES: [fn(&Path) -> Result<()>; 9] =
    [keep, drop_column, append_itself, stream, roll_back, compact, add_column, replace_column, rename_column];
/// The most rows of an added column.
const MOST_ROWS: u64 = 1 << 12;

/// The index of `roll_back` in `CHANGES`. Its result is as sound as the first generation was.
const ROLL_BACK: usize = 4;

/// Changes a file in all ways. A change either fails and leaves the file unchanged, or keeps it as
/// sound as before.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    let Ok(file) = open(bytes) else { return };
    if work(&file) > WORK || file.n_columns_total() > COLUMNS {
        return;
    }
    let is_sound = verify(bytes).is_ok() && contents(bytes).is_ok();
    let path = Temp::new();
    for (i, change) in CHANGES.iter().enumerate() {
        std::fs::write(&path.0, bytes).expect("a temporary file");
        let done = change(&path.0);
        let after = std::fs::read(&path.0).expect("the file is there");
        match done {
            Ok(()) => {
                let opened = open(&after).unwrap_or_else(|error| panic!("change {i}: {error}"));
                assert!(opened.generation() >= file.generation(), "change {i}: the generation");
                if is_sound && (i != ROLL_BACK || is_first_sound(&file)) {
                    verify(&after).unwrap_or_else(|error| panic!("change {i}: {error}"));
                    contents(&after).unwrap_or_else(|error| panic!("change {i}: {error}"));
                }
            }
            Err(error) => {
                let is_fit = is_fit(&error) || error.kind() == Kind::Argument;
                assert!(is_fit, "change {i}: {:?}: {error}", error.kind());
                let content =
                    |bytes: &[u8]| bytes.get(SLOTS_END..file.file_len() as usize).map(<[u8]>::to_vec);
                assert_eq!(
                    content(&after),
                    content(bytes),
                    "change {i} failed, and the file changed: {error}"
                );
                let opened = open(&after).unwrap_or_else(|error| panic!("change {i}: {error}"));
                assert_eq!(opened.generation(), file.generation(), "change {i} failed: {error}");
            }
        }
    }
}

/// Whether the first remaining generation is undamaged.
fn is_first_sound(file: &File) -> bool {
    let first = file.generations().ok().and_then(|all| all.first().map(|generation| generation.number));
    first.is_some_and(|first| {
        file.at_generation(first)
            .and_then(|first| first.survey_generation(Some(1), &Silent)?.into_result())
            .is_ok()
    })
}

fn options() -> WriteOptions {
    WriteOptions {
        durable: Durable::Never,
        threads: Some(1),
        compression: Some(50),
        ..WriteOptions::default()
    }
}

fn begin(path: &Path) -> Result<Change> {
    Change::begin(path, &options(), &Silent)
}

fn keep(path: &Path) -> Result<()> {
    let change = begin(path)?;
    let content = change.kept()?;
    change.commit(content, Operation::Metadata, &options(), &Silent)
}

fn drop_column(path: &Path) -> Result<()> {
    with_columns(path, Operation::DropColumns, |_, columns| {
        columns.drain(..columns.len().min(1));
    })
}

fn add_column(path: &Path) -> Result<()> {
    with_columns(path, Operation::AddColumns, |new, columns| {
        columns.insert(columns.len() / 2, (ColumnSource::New(new), "added".into()));
    })
}

fn replace_column(path: &Path) -> Result<()> {
    with_columns(path, Operation::ReplaceColumns, |new, columns| {
        if let Some((source, _)) = columns.first_mut() {
            *source = ColumnSource::New(new);
        }
    })
}

fn rename_column(path: &Path) -> Result<()> {
    with_columns(path, Operation::RenameColumns, |_, columns| {
        if let Some((_, name)) = columns.last_mut() {
            *name = "renamed".into();
        }
    })
}

/// Changes the columns of the file's table. `choose` gets the number of a new column, and the old
/// columns.
fn with_columns(
    path: &Path,
    operation: Operation,
    choose: impl FnOnce(usize, &mut Vec<(ColumnSource, String)>),
) -> Result<()> {
    let change = begin(path)?;
    let file = change.file();
    let names = file.columns(0..file.n_columns())?.into_iter().map(|column| column.name);
    let mut columns = names.enumerate().map(|(i, name)| (ColumnSource::Kept(i), name)).collect();
    choose(0, &mut columns);
    let (sources, names): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let is_new = |source: &ColumnSource| matches!(source, ColumnSource::New(_));
    let n_rows = if sources.iter().any(is_new) { file.n_rows().min(MOST_ROWS) } else { 0 };
    let host = file.host()?.get("host").cloned();
    let host = host.map_or(Value::Null, |host| Value::map([("host", host)]));
    let words: Vec<u64> = (0..n_rows).collect();
    let new = Model::words("new", Physical::U64, &words);
    let n_new = usize::from(sources.iter().any(is_new));
    let columns = [new].into_iter().take(n_new).collect();
    let table = Table { n_rows: n_rows as usize, host, ..Table::new("columns", columns) };
    let memory = Memory::of(&table);
    let content = change.with_columns(memory.frame(&table), &sources, names)?;
    change.commit(content, operation, &options(), &Silent)
}

fn append_itself(path: &Path) -> Result<()> {
    let rows = File::open(path)?;
    let change = begin(path)?;
    let appended = change.append_file(&rows, &AppendOptions::default(), &Silent)?;
    change.commit(appended.content, appended.operation, &options(), &Silent)
}

fn stream(path: &Path) -> Result<()> {
    let change = begin(path)?;
    let host = change.file().host()?;
    let mut stream = Stream::extend(change, &options())?;
    let part = Frame { n_rows: 0, columns: Vec::new(), extra: Vec::new(), host };
    stream.append(part, &[], &options(), &Silent)?;
    stream.finish()
}

fn roll_back(path: &Path) -> Result<()> {
    let change = begin(path)?;
    let first = change.file().generations()?.first().map_or(1, |generation| generation.number);
    change.rollback(first, &options(), &Silent)
}

fn compact(path: &Path) -> Result<()> {
    begin(path)?.compact(&options(), &Silent)
}

/// A file that is removed at the end.
struct Temp(PathBuf);

impl Temp {
    fn new() -> Self {
        let shared = Path::new("/dev/shm");
        let folder = if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() };
        let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "-");
        Self(folder.join(format!("entasis-fuzz-{}-{thread}", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The seeds of whole files, and files with several generations.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = file::seeds();
    let table = grown::table(40);
    for parts in [&[10][..], &[10, 11, 30], &[40]] {
        seeds.push(grown::grown(&table, parts, &options()));
    }
    seeds.push(write_at(&table, 50));
    seeds
}
