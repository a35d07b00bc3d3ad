//! A text that is written into a file in windows is the table that is read at once.
#![allow(unsafe_code, reason = "the writer borrows memory of the table")]

use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use entasis::{
    File, HostRead, Logical, MissingTo, Output, Physical, Request, Rows, Silent, Text, Unit, WriteOptions,
};
use entasis_csv::input::Bytes;
use entasis_csv::piece::TextLayout;
use entasis_csv::problems::OnError;
use entasis_csv::source::Origin;
use entasis_csv::{Job, Options, Outcome, Plan, Type, store};
use tempfile::TempDir;

use crate::common::{Cell, Dice, Values, by_tier, columns, read_text};
use crate::random;

fn lend(buffer: &[u8]) -> HostRead {
    // SAFETY: `store` drops the handle before the buffer, which nobody writes to meanwhile.
    unsafe { HostRead::new(buffer.as_ptr(), buffer.len()) }
}

fn stored(text: &[u8], plan: &Plan, path: &Path) -> entasis::Result<Outcome> {
    let options = WriteOptions { compression: Some(0), threads: Some(1), ..WriteOptions::default() };
    store(&mut Bytes::new(text), plan, path, &options, &lend, &Silent)
}

/// The columns of a file.
fn of_file(path: &Path) -> Vec<Values> {
    let file = File::open(path).unwrap();
    let n = file.n_rows() as usize;
    (0..file.n_columns())
        .map(|number| {
            let info = file.column(number).unwrap();
            let found = info.record.column_type;
            let int = |bytes, is_signed| Type::Int { bytes, is_signed };
            let of = match (found.physical, found.logical) {
                (_, Logical::Decimal) => {
                    Type::Decimal { precision: found.precision, scale: found.scale.cast_unsigned() }
                }
                (Physical::Null, _) => Type::Null,
                (Physical::Bool, _) => Type::Bool,
                (Physical::I8, _) => int(1, true),
                (Physical::I16, _) => int(2, true),
                (Physical::I32, Logical::Date) => Type::Date,
                (Physical::I64, Logical::Timestamp) => {
                    let unit =
                        if found.unit == Unit::Nanosecond { Unit::Nanosecond } else { Unit::Microsecond };
                    Type::Datetime { unit, is_utc: info.detail.is_some() }
                }
                (Physical::I64, _) => Type::INT,
                (Physical::U64, _) => Type::UINT,
                (Physical::F64, _) => Type::FLOAT,
                (Physical::Utf8, _) => Type::Text,
                other => panic!("{other:?}"),
            };
            let width = of.width().and(found.physical.width()).unwrap_or(1);
            let (mut words, mut mask, mut strings) = (vec![0; n * width], vec![0; n], Text::default());
            let output = match of {
                Type::Text => Output::Text(&mut strings),
                Type::Bool | Type::Null => Output::Bools(&mut words),
                _ => Output::Words(&mut words),
            };
            let missing = MissingTo::Mask(&mut mask);
            file.read(vec![Request { column: number, rows: Rows::All, output, missing }], Some(1), &Silent)
                .unwrap();
            let offsets: &[i64] = bytemuck::cast_slice(&strings.offsets);
            let cell = |i: usize| {
                let signed = |bytes: &[u8]| {
                    let fill = if bytes[bytes.len() - 1] & 0x80 != 0 { 0xff } else { 0 };
                    let mut wide = [fill; 16];
                    wide[..bytes.len()].copy_from_slice(bytes);
                    i128::from_le_bytes(wide)
                };
                let word = words.get(i * width..(i + 1) * width).unwrap_or_default();
                match of {
                    Type::Text => {
                        Cell::Text(strings.joined()[offsets[i] as usize..offsets[i + 1] as usize].to_vec())
                    }
                    Type::Bool => Cell::Bool(word[0] == 1),
                    Type::FLOAT => Cell::Float(u64::from_le_bytes(word.try_into().unwrap())),
                    Type::UINT => Cell::Int(u64::from_le_bytes(word.try_into().unwrap()).into()),
                    _ => Cell::Int(signed(word)),
                }
            };
            let cells = (0..n).map(|i| (of != Type::Null && mask[i] == 0).then(|| cell(i))).collect();
            (info.name.clone(), of, cells)
        })
        .collect()
}

/// Writes and reads a text, and compares.
fn check(text: &[u8], plan: &Plan, folder: &Path) {
    let path = folder.join("out.entasis");
    match (read_text(text, plan), stored(text, plan, &path)) {
        (Ok(Outcome::Table(read)), Ok(Outcome::Table(stored))) => {
            assert_eq!(of_file(&path), columns(&read, plan.layout));
            assert_eq!(
                (stored.n_rows, stored.names, stored.warnings),
                (read.n_rows, read.names, read.warnings)
            );
            assert_eq!((stored.problems.kept, stored.problems.n), (read.problems.kept, read.problems.n));
            fs::remove_file(&path).unwrap();
        }
        (Ok(Outcome::Refused(read)), Ok(Outcome::Refused(stored))) => {
            assert_eq!(stored.problems.kept, read.problems.kept);
        }
        (Err(read), Err(stored)) => assert_eq!(stored.to_string(), read.to_string()),
        (read, stored) => panic!("{read:?} {stored:?}"),
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "nothing is left");
}

fn check_named(name: &str, text: &[u8], plan: &Plan, folder: &Path) {
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| check(text, plan, folder)));
    if let Err(panic) = result {
        eprintln!("{name}: {:?}, {plan:?}", String::from_utf8_lossy(text));
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn random_texts_are_stored_as_they_are_read() {
    let folder = TempDir::new().unwrap();
    for seed in 0..by_tier(350, 700, 20_000) {
        let mut dice = Dice(seed);
        let (text, mut plan) = random::case(&mut dice);
        // A window takes 24 chunks.
        plan.chunk_len = Some(1 + dice.below(6));
        plan.threads = dice.pick(&[1, 3]);
        check_named(&format!("seed {seed}"), &text, &plan, folder.path());
    }
}

#[test]
fn types_may_change_in_every_window() {
    let folder = TempDir::new().unwrap();
    let fields = [
        "5",
        "-5",
        "NA",
        "",
        "\"\"",
        " ",
        "x",
        "1.5",
        "NaN",
        "9223372036854775808",
        "9007199254740993",
        "true",
        "2020-01-01",
        "2020-01-01T00:00:00",
        "2020-01-01T00:00:00.123456789",
        "9999-01-01T00:00:00",
    ];
    let mut dice = Dice(5);
    for (i, first) in fields.into_iter().enumerate() {
        for (k, later) in fields.into_iter().enumerate() {
            let all = [1, 3, 15, 40, 119];
            // Pairs of neighbours have different rows.
            let of_pair = [all[(i + k) % 5], all[(i + k + 2) % 5]];
            for &at in by_tier(&of_pair[..], &all, &all) {
                let mut text = b"a,b\n".to_vec();
                for row in 0..120 {
                    let field = if row == at { later } else { first };
                    let third = dice.pick(&fields);
                    // Every fourth text has a second change.
                    let field = if dice.once_in(480) { third } else { field };
                    text.extend(format!("{field},{row}\n").bytes());
                }
                let layout = dice.pick(&[TextLayout::Offsets, TextLayout::Views]);
                let quotes_mean_text = dice.once_in(2);
                let plan =
                    Plan { chunk_len: Some(1 + dice.below(8)), layout, quotes_mean_text, ..Plan::default() };
                check_named(&format!("{first} and {later} in row {at}"), &text, &plan, folder.path());
            }
        }
    }
}

/// Texts whose columns change in turn are read a few times, not once for each column.
#[test]
fn many_late_types_take_few_rounds() {
    struct Counted<'a>(Bytes<&'a [u8]>, usize);
    impl entasis_csv::input::Input for Counted<'_> {
        fn read(&mut self, into: &mut [u8]) -> entasis::Result<usize> {
            let n = self.0.read(into)?;
            self.1 += n;
            Ok(n)
        }
        fn rewind(&mut self) -> entasis::Result<()> {
            self.0.rewind()
        }
        fn progress(&self) -> (u64, Option<u64>) {
            self.0.progress()
        }
    }
    let n = 50;
    let names: Vec<String> = (0..n).map(|i| format!("c{i}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..4000 {
        let field = |i: usize| if row > 0 && row / 20 == i { "x" } else { "1" };
        text += &((0..n).map(field).collect::<Vec<_>>().join(",") + "\n");
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.entasis");
    let mut input = Counted(Bytes::new(text.as_bytes()), 0);
    let plan = Plan { chunk_len: Some(64), ..Plan::default() };
    let options = WriteOptions { compression: Some(0), threads: Some(1), ..WriteOptions::default() };
    let Outcome::Table(table) = store(&mut input, &plan, &path, &options, &lend, &Silent).unwrap() else {
        panic!()
    };
    assert!(table.columns.iter().all(|column| column.of == Type::Text));
    assert!(input.1 < 5 * text.len(), "{} bytes of {} were read", input.1, text.len());
}

#[test]
fn an_error_leaves_the_old_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.entasis");
    fs::write(&path, "old").unwrap();
    let open = "a,b\n1,2\n".repeat(100) + "3,\"x\n";
    let uneven = "a,b\n1,2\n".repeat(100) + "3\n";
    for text in [&open, &uneven, ""] {
        let plan = Plan { chunk_len: Some(16), ..Plan::default() };
        let result = stored(text.as_bytes(), &plan, &path);
        assert!(!matches!(result, Ok(Outcome::Table(_))));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let plan = Plan { on_error: OnError::Skip, ..Plan::default() };
    let Ok(Outcome::Table(table)) = stored(uneven.as_bytes(), &plan, &path) else { panic!() };
    assert_eq!((table.n_rows, table.problems.n), (199, 1));
}

/// The spec of a text that was stored or read names the format of each column of dates.
#[test]
fn the_spec_has_the_format_that_fits() {
    let folder = TempDir::new().unwrap();
    let text = "a,b,c\n01/02/2026,2026-01-02,x\n".to_owned() + &"02/02/2026,,x\n".repeat(50);
    let text = text + "13/02/2026,2026-01-31,y\n";
    let both = ["%m/%d/%Y", "%d/%m/%Y", "%Y-%d-%m"].map(str::to_owned).to_vec();
    for chunk_len in [20, 100, 1 << 20] {
        let options = Options {
            dates: vec![(None, both.clone())],
            chunk_len: Some(chunk_len),
            window_len: Some(2 * chunk_len),
            ..Options::default()
        };
        let open = |options: &Options| Job::open(Origin::Bytes(Arc::new(text.clone())), options).unwrap();
        let mut job = open(&options);
        let Outcome::Table(read) = job.read(&Silent).unwrap() else { panic!() };
        let spec = job.spec(&read);
        let expected = [("a".to_owned(), vec!["%d/%m/%Y".to_owned()]), ("b".to_owned(), Vec::new())];
        assert_eq!(spec.column_dates, expected);
        assert_eq!((&spec.dates, spec.types.join(" ")), (&both, "date date string".to_owned()));
        let mut job = open(&options);
        let path = folder.path().join("out.entasis");
        let stored = job.store(&path, &WriteOptions::default(), &lend, &Silent).unwrap();
        let Outcome::Table(stored) = stored else { panic!() };
        assert_eq!(job.spec(&stored), spec);
        // Values that several formats read in other ways do not make problems.
        let again = Options { spec: Some(spec), dates: Vec::new(), ..options };
        let Outcome::Table(again) = open(&again).read(&Silent).unwrap() else { panic!() };
        assert_eq!(columns(&again, TextLayout::Offsets), columns(&read, TextLayout::Offsets));
    }
}
