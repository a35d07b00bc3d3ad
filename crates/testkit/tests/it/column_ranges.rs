//! Random changes of files with several tables and many columns: columns keep their numbers, and
//! tables get column ranges.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{
    Change, ColumnSource, Content, Document, File, Operation, Silent, Value, WriteOptions, compact,
};
use entasis_format::SectionKind;
use entasis_testkit::compare::assert_same;
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table, nested_tables, read, tables};
use entasis_testkit::future::sections;
use entasis_testkit::hostile::by_tier;
use entasis_testkit::naive;
use proptest::prelude::*;

/// Rows of the table from which the columns take their cells.
const ROWS: usize = 9_000;
/// The number of tables. Together they have more columns than a file whose columns are numbered
/// anew with each change.
const TABLES: usize = 96;
/// The number of columns of each table but the one that is the file's value.
const OTHERS: usize = 11;
/// The number of the table that is the file's value.
const VALUE: usize = 40;

#[derive(Clone, Debug)]
enum Step {
    /// Appends so many rows to the file's table.
    Append(usize),
    /// Adds columns of the source at a position, and drops every column whose bit is set.
    Columns(Vec<usize>, usize, u32),
    /// Replaces the column at a position.
    Replace(usize, usize),
    /// Renames the column at a position.
    Rename(usize),
    /// Changes another table: drops a column, or adds one at a position.
    Other(usize, usize, bool),
    /// Drops another table.
    DropTable(usize),
    /// Goes back to the first generation.
    Rollback,
    /// Stores the file anew.
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let columns = (prop::collection::vec(any::<usize>(), 0..4), any::<usize>(), 0u32..1 << 16);
    prop_oneof![
        4 => (0usize..60).prop_map(Step::Append),
        4 => columns.prop_map(|(of, at, bits)| Step::Columns(of, at, bits & bits >> 3)),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(at, of)| Step::Replace(at, of)),
        2 => any::<usize>().prop_map(Step::Rename),
        4 => (any::<usize>(), any::<usize>(), any::<bool>()).prop_map(|(at, of, adds)| Step::Other(at, of, adds)),
        1 => any::<usize>().prop_map(Step::DropTable),
        1 => Just(Step::Rollback),
        1 => Just(Step::Compact),
    ]
}

/// The tables of a file: for each the number of rows, and the columns by name, with the numbers of
/// their source columns.
#[derive(Clone, Debug, PartialEq)]
struct State {
    tables: Vec<(usize, Vec<(String, usize)>)>,
    /// The number of the file's table.
    value: usize,
}

struct Trial {
    path: PathBuf,
    state: State,
    n_names: usize,
    first: State,
    has_first: bool,
    /// Whether a generation has had column ranges.
    had_ranges: bool,
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn options() -> WriteOptions {
    WriteOptions { threads: Some(1), ..WriteOptions::default() }
}

/// All types, also categoricals and nested ones.
fn source() -> &'static Table {
    static SOURCE: std::sync::OnceLock<Table> = std::sync::OnceLock::new();
    SOURCE.get_or_init(|| {
        let mut table = tables::types(ROWS);
        let nested = nested_tables::every_type(ROWS);
        table
            .columns
            .extend(nested.columns.into_iter().filter(|column| column.dictionary.is_none()).take(12));
        table
    })
}

/// These rows of columns, with the dictionaries that they use.
fn table(columns: &[(String, usize)], rows: std::ops::Range<usize>) -> Table {
    let source = source();
    let mut extra = Vec::new();
    let mut column = |(name, of): &(String, usize)| {
        let model = &source.columns[*of % source.columns.len()];
        let dictionary = model.dictionary.map(|dictionary| {
            extra.push(source.extra[dictionary].clone());
            extra.len() - 1
        });
        let cells = model.cells[rows.clone()].to_vec();
        Model { name: name.clone(), dictionary, cells, ..model.clone() }
    };
    let columns = columns.iter().map(&mut column).collect();
    Table { n_rows: rows.len(), extra, ..Table::new("ranges", columns) }
}

impl Trial {
    fn new(n: usize, of: &[usize]) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("entasis-ranges-{}-{number}", std::process::id()));
        let other = |table: usize| (0..OTHERS).map(|i| (format!("{table}.{i}"), (table + i) % 7)).collect();
        let mut tables: Vec<_> = (0..TABLES).map(|table| (2 + table % 3, other(table))).collect();
        tables[VALUE] = (n, (0..).zip(of).map(|(i, of)| (format!("column {i}"), *of)).collect());
        let state = State { tables, value: VALUE };
        let models: Vec<Table> = state.tables.iter().map(|(n, columns)| table(columns, 0..*n)).collect();
        let memories: Vec<Memory> = models.iter().map(Memory::of).collect();
        let frames = memories.iter().zip(&models).map(|(memory, table)| memory.frame(table)).collect();
        let value = Value::map([("value", Value::Table(VALUE as u64))]);
        let document = Document { frames, columns: Vec::new(), value };
        entasis::write_document(&path, &document, &options(), &Silent).unwrap();
        // The first change of a short file makes one with slot pages.
        let change = Change::begin(&path, &options(), &Silent).unwrap();
        let kept = change.kept().unwrap();
        change.commit(kept, Operation::Update, &options(), &Silent).unwrap();
        Self { path, first: state.clone(), state, n_names: 0, has_first: true, had_ranges: false }
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("{} {}", "new".repeat(self.n_names % 5), self.n_names)
    }

    /// Performs a step, and changes the state likewise.
    fn perform(&mut self, step: &Step) {
        let change = Change::begin(&self.path, &options(), &Silent).unwrap();
        let (n, columns) = self.state.tables[self.state.value].clone();
        match step {
            Step::Append(more) => {
                let end = (n + more).min(ROWS);
                let part = table(&columns, n..end);
                let memory = Memory::of(&part);
                let content = change.append(memory.frame(&part), &[]).unwrap();
                change.commit(content, Operation::Append, &options(), &Silent).unwrap();
                self.state.tables[self.state.value].0 = end;
            }
            Step::Columns(of, at, bits) => {
                let mut after: Vec<_> = columns.iter().cloned().map(Ok).collect();
                after.retain({
                    let mut i = 0;
                    move |_| {
                        i += 1;
                        bits >> (i % 16) & 1 == 0
                    }
                });
                for of in of {
                    let at = at % (after.len() + 1);
                    after.insert(at, Err((self.name(), *of)));
                }
                self.set_columns(change, n, &columns, after);
            }
            Step::Replace(at, of) => {
                let mut after: Vec<_> = columns.iter().cloned().map(Ok).collect();
                if let Some(at) = at.checked_rem(after.len()) {
                    after[at] = Err((columns[at].0.clone(), *of));
                }
                self.set_columns(change, n, &columns, after);
            }
            Step::Rename(at) => {
                let mut content = change.kept().unwrap();
                let name = self.name();
                if let (Some(at), Content::Document(document)) = (at.checked_rem(columns.len()), &mut content)
                {
                    document.frames[self.state.value].columns[at].name.clone_from(&name);
                    self.state.tables[self.state.value].1[at].0 = name;
                }
                change.commit(content, Operation::RenameColumns, &options(), &Silent).unwrap();
            }
            Step::Other(at, of, adds) => self.change_other(change, at % self.state.tables.len(), *of, *adds),
            Step::DropTable(at) => self.drop_table(change, at % self.state.tables.len()),
            Step::Rollback if self.has_first => {
                let first = change.file().generations().unwrap()[0].number;
                change.rollback(first, &options(), &Silent).unwrap();
                self.state = self.first.clone();
            }
            Step::Rollback => {}
            Step::Compact => {
                drop(change);
                self.compact();
            }
        }
    }

    fn compact(&mut self) {
        compact(&self.path, &options(), &Silent).unwrap();
        let bytes = std::fs::read(&self.path).unwrap();
        assert_eq!(n_ranges(&bytes), 0);
        let decoded = naive::decode(&bytes).unwrap();
        let is_free = |column: &naive::column::Column| {
            let has_name = !column.name.is_empty() || column.is_child || column.record.is_bundle;
            !has_name && column.record.n_values == 0
        };
        assert!(!decoded.columns.iter().any(is_free));
        (self.first, self.has_first) = (self.state.clone(), true);
    }

    /// Gives the file's table these columns: kept ones, and new ones.
    fn set_columns(
        &mut self,
        change: Change,
        n: usize,
        before: &[(String, usize)],
        after: Vec<std::result::Result<(String, usize), (String, usize)>>,
    ) {
        let new: Vec<_> = after.iter().filter_map(|column| column.clone().err()).collect();
        let part = Table { n_rows: n, ..table(&new, 0..n) };
        let memory = Memory::of(&part);
        let mut n_new = 0;
        let source = |column: &std::result::Result<_, _>| match column {
            Ok(kept) => ColumnSource::Kept(before.iter().position(|other| other == kept).unwrap()),
            Err(_) => {
                n_new += 1;
                ColumnSource::New(n_new - 1)
            }
        };
        let sources: Vec<_> = after.iter().map(source).collect();
        let columns: Vec<_> = after.into_iter().map(|column| column.unwrap_or_else(|new| new)).collect();
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let content = change.with_columns(memory.frame(&part), &sources, names).unwrap();
        change.commit(content, Operation::ReplaceColumns, &options(), &Silent).unwrap();
        self.state.tables[self.state.value].1 = columns;
    }

    fn change_other(&mut self, change: Change, at: usize, of: usize, adds: bool) {
        if at == self.state.value {
            return;
        }
        let n = self.state.tables[at].0;
        let new = vec![(self.name(), of % 7)];
        let part = table(&new, 0..n);
        let memory = Memory::of(&part);
        let Content::Document(mut document) = change.kept().unwrap() else { panic!("several tables") };
        let (frame, (_, columns)) = (&mut document.frames[at], &mut self.state.tables[at]);
        if adds {
            let place = of % (columns.len() + 1);
            frame.columns.insert(place, memory.frame(&part).columns.remove(0));
            columns.insert(place, new[0].clone());
        } else if let Some(place) = of.checked_rem(columns.len()) {
            frame.columns.remove(place);
            columns.remove(place);
        }
        change.commit(document, Operation::Update, &options(), &Silent).unwrap();
    }

    fn drop_table(&mut self, change: Change, at: usize) {
        if at == self.state.value {
            return;
        }
        let Content::Document(mut document) = change.kept().unwrap() else { panic!("several tables") };
        document.frames.remove(at);
        self.state.tables.remove(at);
        self.state.value -= usize::from(at < self.state.value);
        document.value = Value::map([("value", Value::Table(self.state.value as u64))]);
        change.commit(document, Operation::Update, &options(), &Silent).unwrap();
    }

    /// Asserts that the file holds the state, by the core and by the naive decoder. Compares all
    /// tables if asked for, or else some.
    fn check(&mut self, all: bool) {
        let bytes = std::fs::read(&self.path).unwrap();
        let file = File::open(&self.path).unwrap();
        file.verify(Some(1), &Silent).unwrap();
        file.info().unwrap();
        let decoded = naive::verify(&bytes).unwrap();
        assert_eq!(file.n_tables(), self.state.tables.len() as u64);
        for (number, (n, columns)) in self.state.tables.iter().enumerate() {
            let view = file.table(number as u64).unwrap();
            let names: Vec<_> =
                view.columns(0..view.n_columns()).unwrap().into_iter().map(|c| c.name).collect();
            assert!(names.iter().eq(columns.iter().map(|(name, _)| name)), "table {number}: {names:?}");
            if !all && number != self.state.value && !number.is_multiple_of(12) {
                continue;
            }
            let model = table(columns, 0..*n);
            assert_eq!((view.n_rows(), view.n_columns()), (*n as u64, columns.len() as u64));
            let numbers: Vec<u64> = decoded.tables[number].columns.iter().cloned().flatten().collect();
            for (i, (model, number)) in model.columns.iter().zip(numbers).enumerate() {
                let at = format!("table {number}, column {i} ({})", model.name);
                let info = view.column(i as u64).unwrap();
                assert_eq!((&info.name, info.record.column_type), (&model.name, model.of), "{at}");
                assert_same(&at, &read::column(&view, i as u64).unwrap(), &model.cells);
                let cells = naive::nested::values(&decoded.columns, number as usize).unwrap();
                assert_same(&at, &cells, &model.cells);
                assert!(view.find_all(&model.name).unwrap().contains(&(i as u64)), "{at}");
            }
        }
        self.had_ranges |= n_ranges(&bytes) > 0;
    }
}

/// The number of column ranges.
fn n_ranges(bytes: &[u8]) -> u64 {
    let ranges =
        sections(bytes).into_iter().find(|(section, _)| section.kind == SectionKind::ColumnRanges.code());
    ranges.map_or(0, |(section, _)| section.n_records)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: by_tier(3, 6, 2_000), ..ProptestConfig::default() })]

    #[test]
    fn changes_of_many_tables(
        n in prop_oneof![3 => 1usize..300, 1 => 8_000usize..ROWS],
        of in prop::collection::vec(any::<usize>(), 4..14),
        steps in prop::collection::vec(step(), 2..9),
    ) {
        let mut trial = Trial::new(n, &of);
        for step in &steps {
            trial.perform(step);
            trial.check(false);
        }
        trial.check(true);
        trial.compact();
        trial.check(true);
    }
}

#[test]
fn an_added_column_makes_ranges() {
    let mut trial = Trial::new(5, &[0, 1, 2, 3, 4]);
    trial.perform(&Step::Columns(vec![5, 6], 2, 0));
    trial.check(true);
    assert!(trial.had_ranges);
    trial.perform(&Step::Columns(vec![], 0, 0b1000));
    trial.check(true);
    trial.perform(&Step::Append(3));
    trial.perform(&Step::Columns(vec![9], 0, 0));
    trial.check(true);
    trial.perform(&Step::Rollback);
    trial.check(true);
    trial.perform(&Step::Compact);
    trial.check(true);
}
