//! Random texts and plans.

use entasis_csv::piece::TextLayout;
use entasis_csv::problems::OnError;
use entasis_csv::{Dialect, Plan, Type};

use crate::common::Dice;

const WORDS: [&str; 5] = ["NA", "null", "N/A", " ", ""];
const TEXTS: [&str; 12] = [
    "x",
    "é",
    "007",
    "+1",
    "1_000",
    "yes",
    "a b",
    "-",
    "a longer text of many bytes",
    "0x1F",
    "1e400",
    "\u{0}",
];
const QUOTED: [&str; 8] =
    ["\"\"", "\"a,b\"", "\"a\nb\"", "\"\"\"\"", "\"7\"", "\"NA\"", "\"a\r\n\"", "\"t\"u\"v"];
const INTS: [&str; 9] = [
    "0",
    "7",
    "-1",
    "123456789",
    "9223372036854775807",
    "-9223372036854775808",
    "9007199254740993",
    " 5",
    "6 ",
];
const LARGE: [&str; 4] =
    ["9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809"];
const FLOATS: [&str; 10] = [
    "1.5",
    "-0",
    "-0.0",
    "1e5",
    "0.1",
    ".5",
    "5.",
    "2.2250738585072014e-308",
    "123456.7890123456789",
    "1E-5",
];
const SPECIAL: [&str; 5] = ["NaN", "inf", "-Infinity", "+Inf", "-NaN"];
const DATES: [&str; 4] = ["2020-02-29", "1969-12-31", "2023-02-29", "0001-01-01"];
const TIMES: [&str; 5] = [
    "2020-01-02T03:04:05",
    "2020-01-02 03:04:05.5",
    "2020-01-02T03:04:05.123456789",
    "9999-01-02T03:04:05",
    "2020-01-02T03:04:05.000000000",
];
const ZONED: [&str; 3] =
    ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05+01:30", "2020-01-02T03:04:05.1234567Z"];
const BOOLS: [&str; 4] = ["true", "FALSE", "True", "false"];
const KINDS: [&[&str]; 10] =
    [&WORDS, &TEXTS, &QUOTED, &INTS, &LARGE, &FLOATS, &SPECIAL, &DATES, &TIMES, &ZONED];

/// A text and how it is read.
pub fn case(dice: &mut Dice) -> (Vec<u8>, Plan) {
    let n = 1 + dice.below(4);
    let is_ragged = dice.once_in(3);
    let separator = dice.pick(b",,,;\t|");
    let has_quotes = !dice.once_in(8);
    let ends = [&["\n"][..], &["\r\n"], &["\r"], &["\n", "\r\n", "\r"], &["\n", "\n\n"]][dice.below(5)];
    let mut text = Vec::new();
    let has_header = !dice.once_in(4);
    if has_header {
        if dice.once_in(6) {
            text.extend(dice.pick(ends).bytes());
        }
        let names: Vec<&[u8]> = [&b"a"[..], b"\"b\"", b"c", b"NA"][..n].to_vec();
        text.extend(names.join(&separator));
        text.extend(dice.pick(ends).bytes());
    }
    // Most columns have one kind, with some fields of another one.
    let kinds: Vec<usize> = (0..n).map(|_| dice.below(KINDS.len() + 1)).collect();
    let mixes: Vec<usize> = (0..n).map(|_| dice.pick(&[3, 12, 1000])).collect();
    let n_rows = dice.below(14);
    for row in 0..n_rows {
        let n_fields = if is_ragged && dice.once_in(4) { 1 + dice.below(n + 2) } else { n };
        for i in 0..n_fields {
            if i > 0 {
                text.push(separator);
            }
            let of = kinds.get(i).copied().unwrap_or_default();
            let of = if dice.once_in(mixes[i.min(n - 1)]) { dice.below(KINDS.len() + 1) } else { of };
            let pool = KINDS.get(of).copied().unwrap_or(&BOOLS);
            match dice.below(12) {
                0 => text.extend(dice.pick(&WORDS).bytes()),
                1 if dice.once_in(20) => text.push(0xff),
                _ => text.extend(dice.pick(pool).bytes()),
            }
        }
        if row + 1 < n_rows || !dice.once_in(3) {
            text.extend(dice.pick(ends).bytes());
        }
    }
    if !has_quotes {
        text.retain(|&byte| byte != b'"');
    }
    let types = [Type::INT, Type::FLOAT, Type::Text, Type::Bool, Type::Date, Type::UINT]
        .into_iter()
        .chain([1, 2].map(|bytes| Type::Int { bytes, is_signed: true }))
        .chain([(4, 2), (18, 3), (38, 0)].map(|(precision, scale)| Type::Decimal { precision, scale }))
        .collect::<Vec<_>>();
    let plan = Plan {
        dialect: Dialect {
            separator,
            quote: has_quotes.then_some(b'"'),
            escape: dice.once_in(6).then_some(b'\\'),
            comment: dice.once_in(6).then_some(b'0'),
            ..Dialect::default()
        },
        has_header,
        types: if has_header && dice.once_in(3) {
            vec![("a".to_owned(), dice.pick(&types))]
        } else {
            Vec::new()
        },
        misses_in_text: dice.once_in(4),
        quotes_mean_text: !dice.once_in(4),
        fill: dice.once_in(4),
        on_error: dice.pick(&[OnError::Error, OnError::Missing, OnError::Skip]),
        rows: dice.once_in(5).then(|| {
            let start = dice.below(6) as u64;
            start..start + dice.below(6) as u64
        }),
        layout: dice.pick(&[TextLayout::Offsets, TextLayout::Views]),
        ..Plan::default()
    };
    (text, plan)
}
