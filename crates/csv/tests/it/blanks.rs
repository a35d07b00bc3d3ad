//! Blanks before fields and between them.

use entasis_csv::piece::TextLayout;
use entasis_csv::problems::OnError;
use entasis_csv::{Blanks, Dialect, Outcome, Plan};

use crate::common::{Cell, Dice, columns, error, read_text, values};

fn plan(blanks: Blanks, chunk_len: usize) -> Plan {
    let separator = if blanks == Blanks::Separate { b' ' } else { b',' };
    let dialect = Dialect { separator, blanks, ..Dialect::default() };
    Plan { dialect, chunk_len: Some(chunk_len), ..Plan::default() }
}

/// The columns of a text as text.
fn texts(text: &[u8], plan: &Plan) -> Vec<(String, Vec<Option<String>>)> {
    let shown = |cell: Cell| match cell {
        Cell::Text(text) => String::from_utf8(text).unwrap(),
        Cell::Int(value) => value.to_string(),
        Cell::Float(bits) => f64::from_bits(bits).to_string(),
        Cell::Bool(value) => value.to_string(),
    };
    let column = |(name, _, cells): crate::common::Values| {
        (name, cells.into_iter().map(|cell| cell.map(shown)).collect())
    };
    values(text, plan).into_iter().map(column).collect()
}

fn expected(columns: &[(&str, &[Option<&str>])]) -> Vec<(String, Vec<Option<String>>)> {
    let owned = |cells: &[Option<&str>]| cells.iter().map(|cell| cell.map(str::to_owned)).collect();
    columns.iter().map(|(name, cells)| ((*name).to_owned(), owned(cells))).collect()
}

#[test]
fn runs_of_blanks_are_one_separator() {
    let wanted =
        expected(&[("a", &[Some("1"), Some("x y"), Some("5")]), ("b", &[Some("2"), Some(""), Some("6")])]);
    for text in [
        "a b\n1 2\n\"x y\" \"\"\n5 6\n",
        "  a   b\n1\t 2  \n\n   \n \"x y\"    \"\" \t\n5 \t6",
        "a b \r\n 1  2\r\n\"x y\"\t\"\" \r\n  5 6  ",
        "\ta b\r1  2 \r \"x y\"  \"\"\r  5 6  \r",
    ] {
        for chunk_len in 1..text.len() + 2 {
            assert_eq!(
                texts(text.as_bytes(), &plan(Blanks::Separate, chunk_len)),
                wanted,
                "{text:?} {chunk_len}"
            );
        }
    }
}

#[test]
fn blanks_before_fields_are_left_out() {
    let wanted = expected(&[
        ("a", &[Some("1"), Some("x, y"), None, Some("5")]),
        ("b", &[Some("2 "), Some(" z"), None, Some("")]),
    ]);
    for text in [
        "a, b\n1,   2 \n  \"x, y\", \" z\"\n  ,  \n\n   \n5,  \"\"\n",
        " a,b\r\n 1,2 \r\n\"x, y\",\" z\"\r\n,\r\n5, \"\"",
    ] {
        for chunk_len in 1..text.len() + 2 {
            assert_eq!(
                texts(text.as_bytes(), &plan(Blanks::Skipped, chunk_len)),
                wanted,
                "{text:?} {chunk_len}"
            );
        }
    }
}

#[test]
fn blanks_at_the_ends_of_strings_are_stripped() {
    let text = b" a ,\"b \",\tc\n x y ,\" z \",1\n \t,  \"q\" , NA \n,\"\", 2\n";
    let wanted = expected(&[
        ("a", &[Some("x y"), None, None]),
        ("b ", &[Some(" z "), Some("q"), Some("")]),
        ("c", &[Some("1"), None, Some("2")]),
    ]);
    for layout in [TextLayout::Offsets, TextLayout::Views] {
        for chunk_len in 1..text.len() + 2 {
            let missing = vec!["NA".to_owned()];
            let plan =
                Plan { strips: true, misses_in_text: true, missing, layout, ..plan(Blanks::Kept, chunk_len) };
            assert_eq!(texts(text, &plan), wanted, "{chunk_len}");
        }
    }
}

#[test]
fn columns_without_a_name_get_one() {
    let names = |text: &[u8], plan: Plan| {
        let Ok(Outcome::Table(table)) = read_text(text, &plan) else { panic!() };
        table.names
    };
    let plan = || Plan { unnamed: Some("V"), ..plan(Blanks::Kept, 100) };
    assert_eq!(names(b"1,2\n", Plan { has_header: false, ..plan() }), ["V1", "V2"]);
    assert_eq!(names(b"a,,V2\n1,2,3\n", plan()), ["a", "V2_", "V2"]);
    assert_eq!(names(b"a\nx,1\ny,2\n", Plan { first_is_unnamed: true, ..plan() }), ["V1", "a"]);
}

#[test]
fn uneven_rows_have_their_places() {
    let text = b"a  b\n1  2\n  3  \n4 5 6  \n7 8\n";
    for chunk_len in [1, 4, 9, 100] {
        let plan = Plan { on_error: OnError::Missing, ..plan(Blanks::Separate, chunk_len) };
        let Ok(Outcome::Table(table)) = read_text(text, &plan) else { panic!() };
        let found: Vec<_> = columns(&table, plan.layout).into_iter().map(|(.., cells)| cells).collect();
        let int = |value| Some(Cell::Int(value));
        assert_eq!(found, [[int(1), int(3), int(7)], [int(2), None, int(8)]]);
        let places: Vec<_> = table
            .problems
            .kept
            .iter()
            .map(|problem| (problem.line, problem.byte, problem.text.as_str()))
            .collect();
        assert_eq!(places, [(3, 12, "3"), (4, 16, "4 5 6")]);
        let long = Plan { max_field: 3, ..plan };
        assert!(
            error(b"a b\n1   2345  \n", &long).to_string().contains("line 2, byte 8, has more than 3 bytes")
        );
    }
}

/// Random rows with runs of blanks are those whose fields have one blank between them.
#[test]
fn random_rows_are_those_with_one_separator() {
    for seed in 0..500 {
        let mut dice = Dice(seed);
        let n = 2 + dice.below(3);
        let (mut plain, mut spread) = (String::new(), String::new());
        let names = ["a", "b", "c", "d"];
        for row in 0..1 + dice.below(6) {
            let run = |dice: &mut Dice, least: usize| {
                let n = least + dice.below(3);
                (0..n).map(|_| dice.pick(&[' ', ' ', '\t'])).collect::<String>()
            };
            spread += &run(&mut dice, 0);
            for (i, name) in names.iter().enumerate().take(n) {
                let field = match row {
                    0 => name,
                    _ => dice.pick(&["1", "2.5", "x", "\"\"", "\"u v\"", "\"p\"\"q\"", "\"l\nm\"", "y\"z"]),
                };
                if i > 0 {
                    plain.push(';');
                    spread += &run(&mut dice, 1);
                }
                plain += field;
                spread += field;
            }
            plain.push('\n');
            spread += &run(&mut dice, 0);
            spread += dice.pick(&["\n", "\n", "\r\n", "\n \n"]);
        }
        let dialect = Dialect { separator: b';', ..Dialect::default() };
        let wanted = values(plain.as_bytes(), &Plan { dialect, ..Plan::default() });
        for chunk_len in [1 + dice.below(20), 1 << 20] {
            let plan = Plan { threads: 1 + dice.below(2), ..plan(Blanks::Separate, chunk_len) };
            assert_eq!(values(spread.as_bytes(), &plan), wanted, "{seed}: {spread:?}");
        }
    }
}
