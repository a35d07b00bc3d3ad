//! Scans of random tables by random predicates, against a naive evaluation of the same values.

mod table;

use std::cmp::Ordering;

use entasis::{File, Silent};
use entasis_query::{Comparison, Literal, Match, NanRule, Predicate, Rules, Scan};
use proptest::collection::vec;
use proptest::prelude::*;

use table::{Cell, Kind, Table, WORDS};

const FLOATS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 0.1, 2.5, 5e-324, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 16_777_217.0];

/// The answer of a predicate for a row; `None` is unknown.
fn answer(table: &Table, predicate: &Predicate, row: usize) -> Option<bool> {
    let cell = |column: u64| &table.columns[column as usize].1[row];
    match predicate {
        Predicate::Constant(value) => Some(*value),
        Predicate::Not(part) => answer(table, part, row).map(|answer| !answer),
        Predicate::And(parts) => all(parts.iter().map(|part| answer(table, part, row))),
        Predicate::Or(parts) => {
            all(parts.iter().map(|part| answer(table, part, row).map(|answer| !answer))).map(|none| !none)
        }
        Predicate::IsMissing { column, rules } => {
            let is_nan = matches!(cell(*column), Cell::Float(value) if value.is_nan());
            Some(*cell(*column) == Cell::Missing || (is_nan && rules.nan == NanRule::Missing))
        }
        Predicate::IsNan { column } => match cell(*column) {
            Cell::Float(value) => Some(value.is_nan()),
            _ => None,
        },
        Predicate::Compare { column, op, literal, rules } => {
            compare(table, *column, cell(*column), *op, literal, *rules)
        }
        Predicate::In { column, literals, missing, rules } => {
            if is_missing(cell(*column), *rules) {
                return missing.then_some(true);
            }
            let equals = |literal| compare(table, *column, cell(*column), Comparison::Equal, literal, *rules);
            all(literals.iter().map(|literal| equals(literal).map(|is_equal| !is_equal))).map(|none| !none)
        }
        Predicate::Length { .. } => panic!("the tables have no lists"),
        Predicate::Match { column, test, pattern } => {
            let Cell::Bytes(string) = cell(*column) else { return None };
            Some(match test {
                Match::StartsWith => string.starts_with(pattern),
                Match::EndsWith => string.ends_with(pattern),
                Match::Contains => {
                    pattern.is_empty() || string.windows(pattern.len()).any(|part| part == pattern)
                }
                Match::Like => is_like(pattern, string),
            })
        }
    }
}

fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let answers: Vec<_> = answers.collect();
    if answers.contains(&Some(false)) {
        Some(false)
    } else if answers.contains(&None) {
        None
    } else {
        Some(true)
    }
}

fn is_missing(cell: &Cell, rules: Rules) -> bool {
    match cell {
        Cell::Missing => true,
        Cell::Float(value) => value.is_nan() && rules.nan == NanRule::Missing,
        _ => false,
    }
}

fn compare(
    table: &Table,
    column: u64,
    cell: &Cell,
    op: Comparison,
    literal: &Literal,
    rules: Rules,
) -> Option<bool> {
    let is_nan = matches!(literal, Literal::Float(value) if value.is_nan());
    if is_missing(cell, rules) || (is_nan && rules.nan == NanRule::Missing) {
        return None;
    }
    let kind = table.columns[column as usize].0;
    let by = |order: Ordering| match op {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterEqual => order.is_ge(),
    };
    Some(match (cell, literal) {
        (Cell::Int(a), Literal::Int(b)) => by(a.cmp(b)),
        (Cell::Int(_), Literal::Float(b)) if b.is_nan() => match rules.nan {
            NanRule::Largest => by(Ordering::Less),
            _ => op == Comparison::NotEqual,
        },
        (Cell::Int(a), Literal::Float(b)) => by(exact_order(*a, *b)),
        (Cell::Float(a), literal) => {
            let b = match literal {
                Literal::Float(value) => *value,
                Literal::Int(value) => *value as f64,
                _ => panic!("a number"),
            };
            let b = if kind == Kind::F32 && !rules.widens { f64::from(b as f32) } else { b };
            match (a.partial_cmp(&b), rules.nan) {
                (Some(order), _) => by(order),
                (None, NanRule::Largest) => by(a.is_nan().cmp(&b.is_nan())),
                (None, _) => op == Comparison::NotEqual,
            }
        }
        (Cell::Bytes(a), Literal::Bytes(b)) => by(a.as_slice().cmp(b)),
        (Cell::Bytes(a), Literal::String(b)) => by(a.as_slice().cmp(b.as_bytes())),
        (Cell::Bool(a), Literal::Bool(b)) => by(a.cmp(b)),
        (cell, literal) => panic!("{cell:?} does not compare with {literal:?}"),
    })
}

/// Integers of the tests fit 65 bits, so that twice the exact float is exact too.
fn exact_order(a: i128, b: f64) -> Ordering {
    if b >= 1e30 {
        return Ordering::Less;
    }
    if b <= -1e30 {
        return Ordering::Greater;
    }
    a.cmp(&(b.floor() as i128)).then(if b.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

fn is_like(pattern: &[u8], string: &[u8]) -> bool {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().collect::<Vec<_>>();
    fn matches(pattern: &[char], string: &[char]) -> bool {
        match pattern.split_first() {
            None => string.is_empty(),
            Some(('%', rest)) => (0..=string.len()).any(|skip| matches(rest, &string[skip..])),
            Some(('_', rest)) => !string.is_empty() && matches(rest, &string[1..]),
            Some((c, rest)) => string.first() == Some(c) && matches(rest, &string[1..]),
        }
    }
    matches(&text(pattern), &text(string))
}

fn rules() -> impl Strategy<Value = Rules> {
    let nan = prop_oneof![Just(NanRule::Unordered), Just(NanRule::Largest), Just(NanRule::Missing)];
    (nan, any::<bool>()).prop_map(|(nan, widens)| Rules { nan, widens })
}

fn op() -> impl Strategy<Value = Comparison> {
    use Comparison::*;
    prop_oneof![Just(Equal), Just(NotEqual), Just(Less), Just(LessEqual), Just(Greater), Just(GreaterEqual)]
}

/// A literal that can be compared with a column of this kind.
fn literal(kind: Kind) -> BoxedStrategy<Literal> {
    let float = || prop_oneof![proptest::sample::select(&FLOATS[..]), (-5i8..5).prop_map(f64::from)];
    match kind {
        Kind::Bool => any::<bool>().prop_map(Literal::Bool).boxed(),
        Kind::Utf8 | Kind::Category => {
            proptest::sample::select(&WORDS[..]).prop_map(|word| Literal::String(word.to_owned())).boxed()
        }
        Kind::Binary => proptest::sample::select(&WORDS[..])
            .prop_map(|word| Literal::Bytes(word.as_bytes().to_vec()))
            .boxed(),
        _ => prop_oneof![
            (-6i128..6).prop_map(Literal::Int),
            any::<i64>().prop_map(|value| Literal::Int(value.into())),
            any::<u64>().prop_map(|value| Literal::Int(value.into())),
            float().prop_map(Literal::Float),
        ]
        .boxed(),
    }
}

fn leaf(kinds: Vec<Kind>) -> impl Strategy<Value = Predicate> {
    (0..kinds.len()).prop_flat_map(move |i| {
        let (kind, column) = (kinds[i], i as u64);
        let order = if kind == Kind::Category {
            prop_oneof![Just(Comparison::Equal), Just(Comparison::NotEqual)].boxed()
        } else {
            op().boxed()
        };
        let compare = (order, literal(kind), rules())
            .prop_map(move |(op, literal, rules)| Predicate::Compare { column, op, literal, rules });
        let members = (vec(literal(kind), 0..9), any::<bool>(), rules())
            .prop_map(move |(literals, missing, rules)| Predicate::In { column, literals, missing, rules });
        let is_missing = rules().prop_map(move |rules| Predicate::IsMissing { column, rules });
        let special = match kind {
            Kind::F32 | Kind::F64 => Just(Predicate::IsNan { column }).boxed(),
            Kind::Utf8 | Kind::Category => {
                let test = prop_oneof![
                    Just(Match::StartsWith),
                    Just(Match::EndsWith),
                    Just(Match::Contains),
                    Just(Match::Like),
                ];
                let pattern = prop_oneof![
                    Just("a"),
                    Just("%"),
                    Just("b%"),
                    Just("%é_"),
                    Just(""),
                    Just("aaaaaaaaaaaaaaa")
                ];
                (test, pattern)
                    .prop_map(move |(test, pattern)| Predicate::Match {
                        column,
                        test,
                        pattern: pattern.into(),
                    })
                    .boxed()
            }
            _ => any::<bool>().prop_map(Predicate::Constant).boxed(),
        };
        prop_oneof![4 => compare, 2 => members, 1 => is_missing, 1 => special]
    })
}

fn predicate(kinds: Vec<Kind>) -> impl Strategy<Value = Predicate> {
    leaf(kinds).prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Predicate::And),
            vec(inner.clone(), 0..4).prop_map(Predicate::Or),
            inner.prop_map(|part| !part),
        ]
    })
}

fn case() -> impl Strategy<Value = (Table, Vec<Predicate>)> {
    vec(table::kind(), 1..5).prop_flat_map(|kinds| (table::table(kinds.clone()), vec(predicate(kinds), 1..6)))
}

fn check(table: &Table, predicates: &[Predicate], compression: u8) -> Result<(), TestCaseError> {
    let path = table.write(compression);
    let file = File::open(&path).unwrap();
    for predicate in predicates {
        let wanted: Vec<u64> = (0..table.n_rows())
            .filter(|&row| answer(table, predicate, row) == Some(true))
            .map(|row| row as u64)
            .collect();
        let scan = Scan::new(&file, predicate).unwrap();
        prop_assert_eq!(&scan.row_numbers(None, &Silent).unwrap(), &wanted, "{:?}", predicate);
        prop_assert_eq!(scan.count(Some(1), &Silent).unwrap(), wanted.len() as u64, "{:?}", predicate);
        let plan = scan.plan();
        prop_assert_eq!(plan.n_pruned + plan.n_passed + plan.n_tested, plan.n_rows);
        prop_assert!(plan.n_passed <= wanted.len() as u64);
        // Some rows of it.
        let n = table.n_rows() as u64;
        let some = n / 3..n - n / 4;
        let of_some = Scan::of_rows(&file, predicate, some.clone()).unwrap();
        let wanted: Vec<u64> = wanted.into_iter().filter(|row| some.contains(row)).collect();
        prop_assert_eq!(&of_some.row_numbers(None, &Silent).unwrap(), &wanted, "{:?}", predicate);
    }
    std::fs::remove_file(&path).unwrap();
    Ok(())
}

fn n_cases() -> u32 {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    match (is_set("ENTASIS_TEST_LONG"), is_set("ENTASIS_TEST_RELEASE")) {
        (true, _) => 100_000,
        (_, true) => 600,
        _ => 300,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: n_cases(), ..ProptestConfig::default() })]

    #[test]
    fn scans_find_the_rows_of_a_model((table, predicates) in case(), compression in 0u8..=100) {
        check(&table, &predicates, compression)?;
    }
}
