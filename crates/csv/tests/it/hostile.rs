//! Texts that would take quadratic time or much memory in a careless reader. Each bound is many
//! times what a linear reader takes.

use std::time::{Duration, Instant};

use entasis_csv::problems::{MOST_KEPT, OnError};
use entasis_csv::{Outcome, Plan, Type};

use crate::common::{error, read_text};

/// Runs `work`, which takes about a second.
fn quick<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = work();
    assert!(begun.elapsed() < Duration::from_secs(20), "{what} takes {:?}", begun.elapsed());
    result
}

#[test]
fn many_problems_take_linear_time() {
    // All lie in chunks of 1 MiB, in lines far from the start of their chunk.
    let text = "a,b\n".to_owned() + &"x,y\n".repeat(1_000_000);
    let types = vec![("a".to_owned(), Type::INT), ("b".to_owned(), Type::INT)];
    for threads in [1, 3] {
        let plan = Plan { types: types.clone(), on_error: OnError::Missing, threads, ..Plan::default() };
        let outcome = quick("a problem in each field", || read_text(text.as_bytes(), &plan)).unwrap();
        let Outcome::Table(table) = outcome else { panic!() };
        let problems = table.problems;
        assert_eq!((problems.n, problems.kept.len()), (2_000_000, MOST_KEPT));
        // The first ones, in order.
        for (i, problem) in problems.kept.iter().enumerate() {
            assert_eq!((problem.row, problem.line), (i as u64 / 2, i as u64 / 2 + 2));
            assert_eq!((problem.column, problem.byte), (Some(i % 2), 4 + 2 * i as u64));
        }
    }
}

#[test]
fn repeated_names_take_linear_time() {
    let n = 200_000;
    let text = "a,".repeat(n - 1) + "a\n" + &"1,".repeat(n - 1) + "1\n";
    let outcome = quick("a header", || read_text(text.as_bytes(), &Plan::default())).unwrap();
    let Outcome::Table(table) = outcome else { panic!() };
    assert_eq!((table.columns.len(), table.names[n - 1].as_str()), (n, "a_199999"));
    let types = table.names.iter().map(|name| (name.clone(), Type::INT)).collect();
    let names = entasis_csv::Selection::Names(table.names.clone());
    let plan = Plan { types, columns: names, ..Plan::default() };
    let outcome = quick("types by name", || read_text(text.as_bytes(), &plan)).unwrap();
    assert!(matches!(outcome, Outcome::Table(table) if table.columns.len() == n));
}

#[test]
fn one_endless_field_takes_linear_time() {
    let quoted = "a\n\"".to_owned() + &"x\n".repeat(8 << 20);
    for (max_field, chunk_len) in [(64 << 20, 1 << 20), (8 << 20, 64)] {
        let plan = Plan { max_field, chunk_len: Some(chunk_len), ..Plan::default() };
        let message = quick("a quote", || error(quoted.as_bytes(), &plan)).to_string();
        assert!(message.contains("opens in line 2, byte 2"), "{message}");
    }
    let long = "a\n".to_owned() + &"x".repeat(16 << 20);
    let plan = Plan { chunk_len: Some(64), ..Plan::default() };
    let outcome = quick("a line", || read_text(long.as_bytes(), &plan)).unwrap();
    assert!(matches!(outcome, Outcome::Table(table) if table.n_rows == 1));
}

#[test]
fn wide_rows_are_read_in_long_chunks() {
    for (n_columns, most_pieces) in [(10, 24), (10_000, 6), (100_000, 3)] {
        let names: Vec<String> = (0..n_columns).map(|i| i.to_string()).collect();
        let row = "12345,".repeat(n_columns - 1) + "67890\n";
        let text = names.join(",") + "\n" + &row.repeat(4_000_000 / n_columns);
        let Ok(Outcome::Table(table)) = read_text(text.as_bytes(), &Plan::default()) else { panic!() };
        assert_eq!(table.n_rows, 4_000_000 / n_columns as u64);
        assert_eq!(table.columns.len(), n_columns);
        // Each piece of a column costs as much as some hundred fields.
        let n_pieces = table.columns[n_columns - 1].pieces.len();
        assert!(n_pieces <= most_pieces, "{n_columns} columns have {n_pieces} pieces each");
        assert!(table.columns.iter().all(|column| column.of == Type::INT));
    }
}

#[test]
fn zeros_and_separators_are_bytes() {
    let zeros = b"a,b\n".iter().copied().chain(std::iter::repeat_n(0, 1 << 20)).chain(*b",1\n");
    let zeros: Vec<u8> = zeros.collect();
    let Ok(Outcome::Table(table)) = read_text(&zeros, &Plan::default()) else { panic!() };
    assert_eq!((table.columns[0].of, table.columns[1].of, table.n_rows), (Type::Text, Type::INT, 1));
    let text = [b"a,b\n".as_slice(), &[b','; 1 << 20], b"\n"].concat();
    let plan = Plan { on_error: OnError::Skip, ..Plan::default() };
    let Ok(Outcome::Table(table)) = read_text(&text, &plan) else { panic!() };
    assert_eq!((table.n_rows, table.problems.n), (0, 1));
    assert_eq!(table.problems.kept[0].expected, format!("2 fields, not {}", (1 << 20) + 1));
}
