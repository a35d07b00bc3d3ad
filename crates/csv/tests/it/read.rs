//! Tables of random texts are those of the naive model, whatever the chunks and threads.

use std::panic::AssertUnwindSafe;

use entasis_csv::problems::{OnError, Problem};
use entasis_csv::strict::Rows;
use entasis_csv::{Dialect, Outcome, Plan, Selection};

use crate::common::{Dice, by_tier, columns, read_text};
use crate::model::{self, Expected};
use crate::random;

/// Whether a text ends inside quotes.
pub fn is_open(text: &[u8], plan: &Plan) -> bool {
    let (mut rows, mut row) = (Rows::new(text, plan.dialect), Vec::new());
    while rows.next(&mut row) {}
    rows.is_open()
}

fn place(problem: &Problem, text: &[u8]) -> (u64, Option<usize>, u64) {
    let before = String::from_utf8_lossy(&text[..problem.byte as usize]).replace("\r\n", "\n");
    let line = 1 + before.matches(['\n', '\r']).count() as u64;
    assert_eq!(problem.line, line, "the line of {problem:?}");
    (problem.row, problem.column, problem.byte)
}

/// Reads a text, and compares the result with the expected one.
fn check(text: &[u8], plan: &Plan, expected: Option<&Expected>) {
    let found = read_text(text, plan);
    let Some(expected) = expected else {
        assert!(found.is_err(), "the model has an error");
        return;
    };
    match found.unwrap() {
        Outcome::Refused(refused) => {
            assert_eq!(plan.on_error, OnError::Error);
            // Reading ends after the first chunk that has problems.
            let kept: Vec<_> = refused.problems.kept.iter().map(|problem| place(problem, text)).collect();
            assert!(!kept.is_empty() && expected.problems.starts_with(&kept), "{:?}", refused.problems);
            assert_eq!(refused.problems.n, kept.len() as u64);
        }
        Outcome::Table(table) => {
            let problems = &table.problems;
            let kept: Vec<_> = problems.kept.iter().map(|problem| place(problem, text)).collect();
            assert_eq!((&kept, problems.n), (&expected.problems, kept.len() as u64));
            assert!(kept.is_empty() || plan.on_error != OnError::Error);
            assert_eq!(columns(&table, plan.layout), expected.columns);
            let n = expected.columns.first().map_or(0, |(_, _, cells)| cells.len());
            assert_eq!(table.n_rows, n as u64);
        }
    }
}

#[test]
fn random_texts_are_read_like_the_model() {
    let n = by_tier(1000, 2500, 1_000_000);
    let (mut n_tables, mut n_problems) = (0, 0);
    for seed in 0..n {
        let mut dice = Dice(seed);
        let (text, mut plan) = random::case(&mut dice);
        if is_open(&text, &plan) {
            continue;
        }
        let expected = model::read(&text, &plan);
        n_tables += usize::from(expected.is_some());
        n_problems += usize::from(expected.as_ref().is_some_and(|expected| !expected.problems.is_empty()));
        // Every length for some texts, a few for the others.
        let lens: Vec<usize> = if seed % 20 == 0 {
            (1..=text.len() + 1).collect()
        } else {
            vec![1, 1 + dice.below(text.len() + 1), 1 << 20]
        };
        for len in lens {
            for threads in [1, 3] {
                (plan.chunk_len, plan.threads) = (Some(len), threads);
                let result =
                    std::panic::catch_unwind(AssertUnwindSafe(|| check(&text, &plan, expected.as_ref())));
                if let Err(panic) = result {
                    eprintln!("seed {seed}: {:?}, {plan:?}", String::from_utf8_lossy(&text));
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
    assert!(
        n_tables > n as usize / 2 && n_problems > n as usize / 20,
        "{n_tables} tables, {n_problems} have problems"
    );
}

/// Columns that are selected are those of the whole table.
#[test]
fn a_blank_line_before_a_comment_is_a_row_however_the_text_is_cut() {
    let dialect = Dialect { comment: Some(b'#'), ..Dialect::default() };
    for end in
        ["", "\n", "\n\n", "\n#x", "\n#x\n", "\n\r\n#x", "\n#x\n#y\n", "\n#x\n\n", "#x\n\n", "\r#x\r\n"]
    {
        let text = format!("a\n1\n{end}");
        let mut plan = Plan { dialect, ..Plan::default() };
        let expected = model::read(text.as_bytes(), &plan);
        for len in 1..text.len() + 2 {
            plan.chunk_len = Some(len);
            check(text.as_bytes(), &plan, expected.as_ref());
        }
    }
}

#[test]
fn a_selection_does_not_change_values() {
    for seed in 0..2000 {
        let mut dice = Dice(seed);
        let (text, mut plan) = random::case(&mut dice);
        if is_open(&text, &plan) {
            continue;
        }
        plan.chunk_len = Some(1 + dice.below(40));
        let Ok(Outcome::Table(all)) = read_text(&text, &plan) else { continue };
        let problems = all.problems.kept.clone();
        let mut all = columns(&all, plan.layout);
        let wanted = dice.below(all.len());
        plan.columns = Selection::Names(vec![all[wanted].0.clone()]);
        let Ok(Outcome::Table(one)) = read_text(&text, &plan) else { panic!("seed {seed}") };
        if plan.on_error == OnError::Skip {
            assert_eq!(one.problems.kept, problems, "seed {seed}");
        }
        assert_eq!(columns(&one, plan.layout), [all.swap_remove(wanted)], "seed {seed}");
    }
}
