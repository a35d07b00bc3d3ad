//! The batches of a scan are the rows of the table that is read at once with the same types.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use entasis::{Result, Silent};
use entasis_csv::condition::Condition;
use entasis_csv::frame::Lent;
use entasis_csv::piece::TextLayout;
use entasis_csv::problems::{OnError, Problems};
use entasis_csv::source::Origin;
use entasis_csv::{Job, Options, Outcome, Plan, Query, Refused, Scan, Type};
use tempfile::TempDir;

use crate::common::{Dice, Values, by_tier, columns, read_text};
use crate::random;

const ALL: Query =
    Query { columns: None, rows: None, condition: None, limit: None, layout: TextLayout::Offsets };

/// The rows with a value in a column.
#[derive(Debug)]
struct IsPresent([String; 1]);

impl Condition for IsPresent {
    fn columns(&self) -> &[String] {
        &self.0
    }

    fn test(&self, columns: &[Lent<'_>], n: usize, _: TextLayout) -> Result<Vec<u64>> {
        let [Lent { name, of, pieces, .. }] = columns else { panic!("{columns:?}") };
        assert_eq!(*name, self.0[0]);
        let mut bits = vec![0; n.div_ceil(64)];
        for row in 0..n {
            let validity = pieces[0].validity;
            let is_present = validity.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1);
            bits[row / 64] |= u64::from(is_present && *of != Type::Null) << (row % 64);
        }
        Ok(bits)
    }
}

/// All batches of a scan.
struct Found {
    columns: Vec<Values>,
    n_rows: Vec<u64>,
    problems: Problems,
    refused: Option<Refused>,
    error: Option<String>,
}

fn batches(scan: &mut Scan, n: Option<usize>, layout: TextLayout) -> Found {
    let mut found = Found {
        columns: Vec::new(),
        n_rows: Vec::new(),
        problems: Problems::default(),
        refused: None,
        error: None,
    };
    loop {
        match scan.next(n, &Silent) {
            Ok(None) => break,
            Ok(Some(Outcome::Refused(refused))) => found.refused = Some(refused),
            Ok(Some(Outcome::Table(table))) => {
                found.n_rows.push(table.n_rows);
                let more = columns(&table, layout);
                if found.columns.is_empty() {
                    found.columns = more;
                } else {
                    for (column, (name, of, cells)) in found.columns.iter_mut().zip(more) {
                        assert_eq!((&column.0, column.1), (&name, of));
                        column.2.extend(cells);
                    }
                }
                continue;
            }
            Err(error) => found.error = Some(error.to_string()),
        }
        assert!(scan.next(n, &Silent).is_err(), "after an error");
        break;
    }
    found.problems = scan.problems().clone();
    found
}

fn job(text: &[u8], plan: Plan, n: u64) -> Result<Job> {
    let mut options = Options::default();
    options.source.encoding = Some("utf-8".to_owned());
    let mut job = Job::open(Origin::Bytes(Arc::new(text.to_vec())), &options)?;
    job.plan = plan;
    job.find_types(n, &Silent)?;
    Ok(job)
}

fn check(name: &str, text: &[u8], plan: Plan, dice: &mut Dice) {
    let layout = plan.layout;
    let Ok(mut job) = job(text, plan, dice.pick(&[0, 1, 3, 1000])) else { return };
    let plan = job.plan.clone();
    let n = dice.pick(&[None, Some(1), Some(2), Some(7), Some(10_000)]);
    let query = Query { layout, ..ALL };
    let found = batches(&mut job.scan(query.clone()).unwrap(), n, layout);
    let context = || format!("{name}: {:?}, {plan:?}, n={n:?}", String::from_utf8_lossy(text));
    let read = match read_text(text, &plan) {
        Ok(Outcome::Table(read)) => read,
        Ok(Outcome::Refused(refused)) => {
            let problems = found.refused.unwrap_or_else(|| panic!("{}", context())).problems;
            assert_eq!(problems.kept, refused.problems.kept, "{}", context());
            return;
        }
        Err(error) => return assert_eq!(found.error, Some(error.to_string()), "{}", context()),
    };
    assert!(found.error.is_none() && found.refused.is_none(), "{:?} {}", found.error, context());
    let whole = columns(&read, layout);
    let has_rows = read.n_rows > 0;
    assert_eq!(found.n_rows.iter().sum::<u64>(), read.n_rows, "{}", context());
    assert!(!has_rows || found.columns == whole, "{:?} {whole:?} {}", found.columns, context());
    assert_eq!((found.problems.kept, found.problems.n), (read.problems.kept, read.problems.n));
    if let Some(n) = n {
        let all_but_last = &found.n_rows[..found.n_rows.len().saturating_sub(1)];
        assert!(all_but_last.iter().all(|&rows| rows == n as u64), "{:?} {}", found.n_rows, context());
    }
    if whole.is_empty() {
        return;
    }
    let (tested, kept) = (dice.below(whole.len()), dice.below(whole.len()));
    let condition = IsPresent([whole[tested].0.clone()]);
    let limit = dice.pick(&[None, Some(0), Some(1), Some(3)]);
    let columns = Some(vec![whole[kept].0.clone()]);
    let query = Query { columns, condition: Some(Arc::new(condition)), limit, ..query };
    let some = batches(&mut job.scan(query.clone()).unwrap(), n, layout);
    let most = limit.unwrap_or(u64::MAX) as usize;
    let pairs = whole[kept].2.iter().zip(&whole[tested].2);
    let cells: Vec<_> = pairs.filter(|(_, tested)| tested.is_some()).map(|(cell, _)| cell.clone()).collect();
    let cells = &cells[..cells.len().min(most)];
    let found = some.columns.first().map_or(&[][..], |column| &column.2);
    assert_eq!(found, cells, "{:?} {}", query, context());
    let count = job.scan(Query { columns: Some(Vec::new()), ..query }).unwrap().count(&Silent).unwrap();
    assert_eq!(count.0, cells.len() as u64);
    if plan.on_error != OnError::Skip {
        let rows = dice.below(4) as u64..3 + dice.below(20) as u64;
        let mut scan = job.scan(Query { rows: Some(rows.clone()), layout, ..ALL }).unwrap();
        let Outcome::Table(table) = scan.read(&Silent).unwrap() else { panic!("{}", context()) };
        let end = (rows.end as usize).min(read.n_rows as usize);
        let range = (rows.start as usize).min(end)..end;
        let found = crate::common::columns(&table, layout);
        assert_eq!(table.n_rows, range.len() as u64, "{}", context());
        for (found, whole) in found.iter().zip(&whole) {
            assert_eq!(found.2, whole.2[range.clone()], "{}", context());
        }
    }
}

#[test]
fn random_texts_are_scanned_as_they_are_read() {
    for seed in 0..by_tier(1_000, 2_000, 40_000) {
        let mut dice = Dice(seed);
        let (text, mut plan) = random::case(&mut dice);
        plan.chunk_len = Some(1 + dice.below(12));
        plan.threads = dice.pick(&[1, 3]);
        check(&format!("seed {seed}"), &text, plan, &mut dice);
    }
}

/// The rows before a value that does not fit are returned, then its place.
#[test]
fn a_late_value_ends_the_rows() {
    let text = "a,b\n".to_owned() + &"1,x\n".repeat(5000) + "y,x\n" + &"2,x\n".repeat(5000);
    for (threads, chunk_len) in [(1, 64), (3, 1 << 10), (2, 1 << 20)] {
        let plan = Plan { threads, chunk_len: Some(chunk_len), ..Plan::default() };
        let mut job = job(text.as_bytes(), plan, 100).unwrap();
        let found = batches(&mut job.scan(ALL).unwrap(), Some(100), TextLayout::Offsets);
        let problems = found.refused.unwrap().problems;
        let first = &problems.kept[0];
        assert_eq!((first.row, first.line, first.column, &*first.text), (5000, 5002, Some(0), "y"));
        let n: u64 = found.n_rows.iter().sum();
        assert!(n <= 5000 && n + chunk_len as u64 / 4 > 4900, "{n}");
        // Rows before it are read with a limit, and columns without it.
        let limited = Query { limit: Some(10), ..ALL };
        let found = batches(&mut job.scan(limited).unwrap(), None, TextLayout::Offsets);
        assert_eq!((found.n_rows.iter().sum::<u64>(), found.refused.is_none()), (10, true));
        let other = Query { columns: Some(vec!["b".into()]), ..ALL };
        let Outcome::Table(table) = job.scan(other).unwrap().read(&Silent).unwrap() else { panic!() };
        assert_eq!(table.n_rows, 10_001);
        let Outcome::Refused(refused) = job.scan(ALL).unwrap().read(&Silent).unwrap() else { panic!() };
        assert_eq!(refused.problems.kept[0].line, 5002);
    }
}

fn file(folder: &Path, name: &str, text: &str) -> (String, Origin) {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    (name.to_owned(), Origin::Path(path))
}

#[test]
fn several_texts_are_one_table() {
    let folder = TempDir::new().unwrap();
    let texts = || {
        vec![
            file(folder.path(), "a.csv", "n,s\n1,x\n2,y\n"),
            file(folder.path(), "b.csv", "n,s\n"),
            file(folder.path(), "c.csv", "n,s\n3,x\n,z\n5,x\n"),
        ]
    };
    let options = Options { id: Some("file".into()), as_categories: true, ..Options::default() };
    let mut job = Job::open_all(texts(), &options).unwrap();
    job.find_types(1000, &Silent).unwrap();
    let mut rows = |query: Query, n: Option<usize>| {
        let mut scan = job.scan(query).unwrap();
        let mut found = Vec::new();
        while let Some(outcome) = scan.next(n, &Silent).unwrap() {
            let Outcome::Table(table) = outcome else { panic!() };
            let categories =
                |of: &entasis_csv::Column| of.categories.as_ref().map_or(0, |categories| categories.n);
            found.push((table.n_rows, table.columns.iter().map(categories).collect::<Vec<_>>()));
        }
        found
    };
    assert_eq!(rows(ALL, Some(2)), [(2, vec![3, 0, 2]), (2, vec![3, 0, 3]), (1, vec![3, 0, 3])]);
    for (column, n) in [("file", 5), ("n", 4), ("s", 5)] {
        let condition: Arc<dyn Condition> = Arc::new(IsPresent([column.to_owned()]));
        let columns = Some(vec!["s".into(), "file".into()]);
        let found = rows(Query { columns, condition: Some(condition), ..ALL }, Some(10));
        assert_eq!(found, [(n, vec![3, 3])]);
    }
    assert_eq!(rows(Query { rows: Some(1..4), ..ALL }, None).iter().map(|found| found.0).sum::<u64>(), 3);
    let twice = Query { columns: Some(vec!["n".into(), "n".into()]), ..ALL };
    assert!(job.scan(twice).err().unwrap().to_string().contains("twice"));
    let unknown = Query { columns: Some(vec!["m".into()]), ..ALL };
    assert!(job.scan(unknown).err().unwrap().to_string().contains("no column 'm'"));
    // A text that has other columns by now.
    fs::write(folder.path().join("c.csv"), "n,t\n3,x\n").unwrap();
    let error = job.scan(ALL).unwrap().read(&Silent).unwrap_err();
    assert!(error.to_string().contains("c.csv"), "{error}");
}

#[test]
fn a_stream_is_scanned_once() {
    struct Counted(std::io::Cursor<Vec<u8>>, Arc<std::sync::atomic::AtomicUsize>);
    impl std::io::Read for Counted {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.read(into)?;
            self.1.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
            Ok(n)
        }
    }
    let text = "a,b\n".to_owned() + &"1,x\n".repeat(4 << 20);
    let n_read = Arc::default();
    let reader = Counted(std::io::Cursor::new(text.into_bytes()), Arc::clone(&n_read));
    let origin = Origin::Stream { name: "pipe".to_owned(), reader: Box::new(reader) };
    let mut job = Job::open(origin, &Options { threads: Some(2), ..Options::default() }).unwrap();
    job.find_types(10_000, &Silent).unwrap();
    let mut scan = job.scan(ALL).unwrap();
    let Some(Outcome::Table(table)) = scan.next(None, &Silent).unwrap() else { panic!() };
    assert!(table.n_rows > 1000);
    let n_read = n_read.load(std::sync::atomic::Ordering::Relaxed);
    assert!(n_read < 8 << 20, "{n_read} bytes are read for the first rows");
    let rest = scan.count(&Silent).unwrap();
    assert_eq!((table.n_rows + rest.0, rest.1.is_none()), (4 << 20, true));
    let error = job.scan(ALL).unwrap().next(None, &Silent).unwrap_err();
    assert!(error.to_string().contains("a stream can be read only once"), "{error}");
}
