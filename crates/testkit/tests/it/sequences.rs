//! Random sequences of all changes, with crashes, against a model in memory. The naive decoder
//! reads every result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{Change, ColumnSource, Durable, File, Operation, Result, Silent, Stream, Value, WriteOptions};
use entasis_fault::FaultDisk;
use entasis_format::{COPY, SectionKind};
use entasis_io::{Disk, NativeDisk};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table, tables};
use entasis_testkit::future::{Future, UNKNOWN, sections};
use entasis_testkit::hostile::by_tier;
use proptest::prelude::*;

/// Rows and columns of the table from which the models take theirs.
const ROWS: usize = 40_000;

#[derive(Clone, Debug)]
enum Step {
    /// Appends so many rows, in one part or in several.
    Append(Vec<usize>),
    /// Adds these columns of the source at a position.
    Add(Vec<usize>, usize),
    /// Drops every column whose bit is set, but not all.
    Drop(u32),
    /// Renames the column at a position.
    Rename(usize),
    /// Goes back to one of the generations.
    Rollback(usize),
    /// Writes the file anew, with so many rows.
    Write(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let n = prop_oneof![4 => 0usize..300, 1 => 300usize..5000];
    prop_oneof![
        4 => prop::collection::vec(n, 1..4).prop_map(Step::Append),
        2 => (prop::collection::vec(0usize..30, 1..3), any::<usize>()).prop_map(|(of, at)| Step::Add(of, at)),
        1 => any::<u32>().prop_map(Step::Drop),
        1 => any::<usize>().prop_map(Step::Rename),
        2 => any::<usize>().prop_map(Step::Rollback),
        1 => (0usize..ROWS / 2).prop_map(Step::Write),
    ]
}

/// The columns of a state. Each takes its cells from a source column.
#[derive(Clone, Debug, PartialEq)]
struct State {
    columns: Vec<(String, usize)>,
    n: usize,
}

/// A file, its source of cells, and its generations.
struct Trial {
    path: PathBuf,
    source: &'static Table,
    /// The states of the generations that the file has, with their numbers.
    generations: Vec<(u64, State)>,
    n_names: usize,
    /// The additions of a later version to the first file.
    additions: Option<Additions>,
    /// The ids of all columns that the file ever had, by their names.
    ids: BTreeMap<String, u64>,
}

/// Additions that each change has to keep.
#[derive(Debug, PartialEq)]
struct Additions {
    /// The kinds and records of the sections to be copied.
    sections: Vec<(u16, Vec<u8>)>,
    /// By the id of a column, the bytes after the known fields of its record.
    of_columns: BTreeMap<u64, Vec<u8>>,
}

impl Additions {
    fn of(bytes: &[u8], file: &File) -> Self {
        let all = sections(bytes);
        let is_copied = |kind: u16, flags: u8| kind >= UNKNOWN && flags & COPY != 0;
        let copied = all.iter().filter(|(section, _)| is_copied(section.kind, section.flags));
        let columns = all.iter().find(|(section, _)| section.kind == SectionKind::Columns.code());
        let records = columns.map_or(Vec::new(), |(section, records)| {
            records.chunks_exact(section.record_len as usize).collect()
        });
        let known = SectionKind::Columns.record_len() as usize;
        let whole = file.whole();
        let runs = all.iter().find(|(section, _)| section.kind == SectionKind::Runs.code());
        // The first column of each record, and the end of the last one. Empty if each has one.
        let firsts: Vec<u64> = runs.map_or(Vec::new(), |(_, bytes)| {
            bytes.as_chunks::<8>().0.iter().map(|first| u64::from_le_bytes(*first)).collect()
        });
        let columns_of = |record: usize| match firsts.get(record..record + 2) {
            Some(ends) => ends[0]..ends[1],
            None => record as u64..record as u64 + 1,
        };
        let id = |number: u64| whole.column(number).unwrap().record.id;
        let of_columns = (0..).zip(records).flat_map(|(i, record): (usize, &[u8])| {
            columns_of(i).map(move |number| (number, record[known..].to_vec()))
        });
        Self {
            sections: copied.map(|(section, records)| (section.kind, records.clone())).collect(),
            of_columns: of_columns.map(|(number, further)| (id(number), further)).collect(),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn options(durable: bool) -> WriteOptions {
    let durable = if durable { Durable::Always } else { Durable::Never };
    WriteOptions { durable, threads: Some(1), ..WriteOptions::default() }
}

impl Trial {
    /// A file of these columns of the source. With `is_later` a later version added to it.
    fn new(n: usize, of: &[usize], source: &'static Table, is_later: bool) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("entasis-sequences-{}-{number}", std::process::id()));
        let mut trial =
            Self { path, source, generations: Vec::new(), n_names: 0, additions: None, ids: BTreeMap::new() };
        let columns = of.iter().map(|&of| (trial.name(), of % source.columns.len())).collect();
        let state = State { columns, n };
        let table = trial.table(&state, 0..n);
        let memory = Memory::of(&table);
        entasis::write(&trial.path, &memory.frame(&table), &options(false), &Silent).unwrap();
        trial.generations.push((1, state));
        if is_later {
            // A file without slot pages would be copied, which longer records of blocks forbid.
            let change = Change::begin(&trial.path, &options(false), &Silent).unwrap();
            change.replace(memory.frame(&table), Operation::Append, &options(false), &Silent).unwrap();
            trial.generations[0].0 = 2;
            let bytes = Future::kept().forge(&std::fs::read(&trial.path).unwrap());
            std::fs::write(&trial.path, &bytes).unwrap();
            trial.additions = Some(Additions::of(&bytes, &File::open(&trial.path).unwrap()));
        }
        let file = File::open(&trial.path).unwrap();
        trial.ids = file.columns(0..file.n_columns()).unwrap().into_iter().map(named_id).collect();
        trial
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("column {}", self.n_names)
    }

    fn state(&self) -> &State {
        &self.generations[self.generations.len() - 1].1
    }

    fn table(&self, state: &State, rows: std::ops::Range<usize>) -> Table {
        let column = |(name, of): &(String, usize)| {
            let model = &self.source.columns[*of];
            Model { name: name.clone(), cells: model.cells[rows.clone()].to_vec(), ..model.clone() }
        };
        let host = Value::map([("host", Value::from("testkit"))]);
        let columns = state.columns.iter().map(column).collect();
        Table { n_rows: rows.len(), host, ..Table::new("sequence", columns) }
    }

    /// The state after a step, and whether the file then has no earlier generations.
    fn after(&mut self, step: &Step) -> (State, bool) {
        let mut state = self.state().clone();
        match step {
            Step::Append(parts) => {
                for n in parts {
                    state.n = (state.n + n).min(ROWS);
                }
            }
            Step::Add(of, at) => {
                for &of in of {
                    let column = (self.name(), of % self.source.columns.len());
                    let at = at % (state.columns.len() + 1);
                    state.columns.insert(at, column);
                }
            }
            Step::Drop(bits) => {
                let mut i = 0;
                let first = state.columns[0].clone();
                state.columns.retain(|_| {
                    i += 1;
                    bits >> (i % 32) & 1 == 0
                });
                if state.columns.is_empty() {
                    state.columns.push(first);
                }
            }
            Step::Rename(at) => {
                let name = self.name();
                let at = at % state.columns.len();
                state.columns[at].0 = name;
            }
            Step::Rollback(at) => return (self.generations[at % self.generations.len()].1.clone(), false),
            Step::Write(n) => {
                state.n = *n;
                return (state, true);
            }
        }
        (state, false)
    }

    /// Performs a step, which leads to the state `after`.
    fn perform(&self, step: &Step, after: &State, disk: Arc<dyn Disk>, durable: bool) -> Result<()> {
        let before = self.state();
        let options = options(durable);
        let change = Change::begin_on(disk, &self.path, &options, &Silent)?;
        match step {
            Step::Append(parts) if parts.len() == 1 => {
                let part = self.table(before, before.n..after.n);
                let memory = Memory::of(&part);
                let content = change.append(memory.frame(&part), &[])?;
                change.commit(content, Operation::Append, &options, &Silent)
            }
            Step::Append(parts) => {
                let mut stream = Stream::extend(change, &options)?;
                let mut n = before.n;
                for more in parts {
                    let end = (n + more).min(ROWS);
                    let part = self.table(before, n..end);
                    let memory = Memory::of(&part);
                    stream.append(memory.frame(&part), &[], &options, &Silent)?;
                    n = end;
                }
                stream.finish()
            }
            Step::Rollback(at) => {
                let number = self.generations[at % self.generations.len()].0;
                change.rollback(number, &options, &Silent)
            }
            Step::Write(_) => {
                let table = self.table(after, 0..after.n);
                let memory = Memory::of(&table);
                change.replace(memory.frame(&table), Operation::Write, &options, &Silent)
            }
            Step::Add(..) | Step::Drop(_) | Step::Rename(_) => {
                let is_old = |column: &(String, usize)| before.columns.contains(column);
                let new: Vec<_> = after.columns.iter().filter(|column| !is_old(column)).cloned().collect();
                let part = self.table(&State { columns: new.clone(), n: before.n }, 0..before.n);
                let memory = Memory::of(&part);
                let index = |columns: &[(String, usize)], column: &(String, usize)| {
                    columns.iter().position(|other| other == column)
                };
                let source = |(i, column): (usize, &(String, usize))| match step {
                    Step::Rename(_) => ColumnSource::Kept(i),
                    _ => index(&before.columns, column)
                        .map(ColumnSource::Kept)
                        .or_else(|| index(&new, column).map(ColumnSource::New))
                        .unwrap(),
                };
                let sources: Vec<_> = after.columns.iter().enumerate().map(source).collect();
                let names = after.columns.iter().map(|(name, _)| name.clone()).collect();
                let nothing = Table { n_rows: 0, columns: Vec::new(), ..part.clone() };
                let nothing_memory = Memory::of(&nothing);
                let frame = match step {
                    Step::Add(..) => memory.frame(&part),
                    _ => nothing_memory.frame(&nothing),
                };
                let content = change.with_columns(frame, &sources, names)?;
                change.commit(content, Operation::ReplaceColumns, &options, &Silent)
            }
        }
    }

    /// Checks that the file has the additions of a later version, for the columns that stayed.
    fn check_additions(&mut self, step: &Step, bytes: &[u8], file: &File) {
        let Some(first) = &mut self.additions else { return };
        if let Step::Write(_) = step {
            // The columns are new ones.
            first.of_columns.clear();
        }
        let found = Additions::of(bytes, file);
        assert_eq!(found.sections, first.sections, "{step:?}");
        for (id, further) in &found.of_columns {
            let expected = first.of_columns.get(id);
            assert!(expected.is_none_or(|expected| expected == further), "{step:?}: column {id}");
        }
    }

    /// Checks that columns keep their ids, and that new ones get ids that no column had.
    fn check_ids(&mut self, step: &Step, file: &File) {
        for (i, column) in file.columns(0..file.n_columns()).unwrap().into_iter().enumerate() {
            let (name, id) = named_id(column);
            let before = &self.generations[self.generations.len() - 1].1.columns;
            let known = match step {
                // Columns that are written again are new ones.
                Step::Write(_) => None,
                Step::Rename(_) => self.ids.get(&before[i].0),
                _ => self.ids.get(&name),
            };
            match known {
                Some(known) => assert_eq!(id, *known, "{step:?}: {name}"),
                None => assert!(self.ids.values().all(|known| *known != id), "{step:?}: {name}"),
            }
            self.ids.insert(name, id);
        }
    }

    /// Performs a step, with a crash at a call of the disk if there is one. The file then has the
    /// old or the new state.
    fn step(&mut self, step: &Step, crash: Option<u64>) {
        let (after, _) = self.after(step);
        let disk: Arc<dyn Disk> = match crash {
            Some(call) => Arc::new(FaultDisk::crashing(call)),
            None => Arc::new(NativeDisk),
        };
        let done = self.perform(step, &after, disk, crash.is_some());
        if crash.is_none() {
            done.unwrap();
        }
        let bytes = std::fs::read(&self.path).unwrap();
        let file = File::open(&self.path).unwrap();
        let names: Vec<_> =
            file.columns(0..file.n_columns()).unwrap().into_iter().map(|column| column.name).collect();
        let is = |state: &State| {
            state.n as u64 == file.n_rows() && state.columns.iter().map(|(name, _)| name).eq(names.iter())
        };
        let is_new = is(&after) && file.generation() > self.generations[self.generations.len() - 1].0;
        assert!(is_new || (is(self.state()) && (crash.is_some() || after == *self.state())), "{step:?}");
        let state = if is_new { after } else { self.state().clone() };
        // A crash leaves bytes after the content. The next change removes them.
        let len = file.file_len() as usize;
        assert!(crash.is_some() || !is_new || bytes.len() == len);
        assert_holds(&bytes[..len], &self.table(&state, 0..state.n));
        self.check_additions(step, &bytes[..len], &file);
        if is_new {
            self.check_ids(step, &file);
        }
        self.generations.retain(|(number, _)| file.at_generation(*number).is_ok());
        if is_new {
            self.generations.push((file.generation(), state));
        }
        let numbers: Vec<_> =
            file.generations().unwrap().iter().map(|generation| generation.number).collect();
        assert_eq!(numbers, self.generations.iter().map(|(number, _)| *number).collect::<Vec<_>>());
        for (number, state) in &self.generations {
            let file = file.at_generation(*number).unwrap();
            assert_eq!((file.n_rows(), file.n_columns()), (state.n as u64, state.columns.len() as u64));
        }
    }
}

fn named_id(column: entasis::ColumnInfo) -> (String, u64) {
    (column.name, column.record.id)
}

fn cases() -> u32 {
    by_tier(10, 25, 10_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn sequences_of_changes(
        n in prop_oneof![0usize..100, 5000usize..ROWS / 2],
        of in prop::collection::vec(0usize..30, 1..5),
        steps in prop::collection::vec((step(), prop::option::weighted(0.4, 0u64..30)), 1..7),
        is_later: bool,
    ) {
        let source = source();
        let mut trial = Trial::new(n, &of, source, is_later);
        for (step, crash) in &steps {
            trial.step(step, *crash);
        }
    }

    /// Most of these have bundles whose rows lie in several pieces.
    #[test]
    fn sequences_of_changes_of_short_tables(
        n in 1usize..400,
        of in prop::collection::vec(0usize..4, 4..12),
        kinds in prop::collection::vec(0usize..30, 4),
        steps in prop::collection::vec((short_step(), prop::option::weighted(0.2, 0u64..30)), 3..14),
        is_later: bool,
    ) {
        let of: Vec<usize> = of.iter().map(|&of| kinds[of]).collect();
        let mut trial = Trial::new(n, &of, source(), is_later);
        for (step, crash) in &steps {
            trial.step(step, *crash);
        }
    }
}

/// A change of a table of few rows.
fn short_step() -> impl Strategy<Value = Step> {
    let n = prop_oneof![4 => 0usize..4, 3 => 1usize..60, 1 => 60usize..600];
    prop_oneof![
        12 => prop::collection::vec(n, 1..4).prop_map(Step::Append),
        1 => (prop::collection::vec(0usize..30, 1..3), any::<usize>()).prop_map(|(of, at)| Step::Add(of, at)),
        1 => (0u32..32).prop_map(|bit| Step::Drop(1 << bit)),
        1 => any::<usize>().prop_map(Step::Rename),
        1 => any::<usize>().prop_map(Step::Rollback),
    ]
}

fn source() -> &'static Table {
    static SOURCE: std::sync::OnceLock<Table> = std::sync::OnceLock::new();
    SOURCE.get_or_init(|| {
        let mut table = tables::types(ROWS);
        table.columns.retain(|column| column.dictionary.is_none());
        table.columns.truncate(30);
        table
    })
}
