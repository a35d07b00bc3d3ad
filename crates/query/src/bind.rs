//! Binds a predicate to the columns of a file: checks types, and turns every comparison into a test
//! of stored values.

use std::sync::Arc;

use entasis::{
    ColumnBlocks, ColumnInfo, ColumnRecord, Error, File, Logical, Missing, Physical, Result, Value, type_name,
};
use memchr::memmem::Finder;

use crate::evaluate::ranges_of_leaf;
use crate::fields::structs_around;
use crate::key_set::KeySet;
use crate::like::Like;
use crate::literal_keys::{Place, place, time_kind};
use crate::node::{Leaf, Node};
use crate::predicate::{Comparison, Literal, Match, NanRule, Predicate, Rules};
use crate::string_set::{StringSet, next};
use crate::test::{Matcher, Test, float_keys, nan_keys};
use crate::wide_decimal::{self, Digits, WidePlace};

/// Binds the predicates of one scan.
pub(crate) struct Binder<'f> {
    file: &'f File,
    columns: Vec<(u64, Arc<ColumnBlocks>)>,
}

impl<'f> Binder<'f> {
    pub fn new(file: &'f File) -> Self {
        Self { file, columns: Vec::new() }
    }

    /// Binds a predicate, or its negation.
    pub fn bind(&mut self, predicate: &Predicate, negated: bool) -> Result<Node> {
        match predicate {
            Predicate::Constant(value) => Ok(Node::Constant(*value != negated)),
            Predicate::Not(part) => self.bind(part, !negated),
            Predicate::And(parts) | Predicate::Or(parts) => {
                let is_and = matches!(predicate, Predicate::And(_)) != negated;
                let parts = parts.iter().map(|part| self.bind(part, negated)).collect::<Result<Vec<_>>>()?;
                Ok(Node::join(parts, is_and))
            }
            Predicate::Compare { column, op, literal, rules } => {
                let column = self.column(*column)?;
                let test = self.compared(&column, *op, literal, *rules)?;
                if is_missing(literal, *rules) {
                    return Ok(Node::Constant(false));
                }
                self.leaf(&column, test, false, *rules, negated)
            }
            Predicate::In { column, literals, missing, rules } => {
                let column = self.column(*column)?;
                require_values(&column)?;
                let mut test = self.members(&column, literals, *rules)?;
                let is_unknown = literals.iter().any(|literal| is_missing(literal, *rules));
                if is_unknown && negated {
                    return Ok(Node::Constant(false));
                }
                if *missing {
                    let cells = self.missing_keys(&column, *rules)?;
                    test = cells.and_then(|cells| test.combined(&cells, false)).unwrap_or(test);
                }
                self.leaf(&column, test, *missing, *rules, negated)
            }
            Predicate::IsMissing { column, rules } => {
                let column = self.column(*column)?;
                require_values(&column)?;
                let test = self.missing_keys(&column, *rules)?.unwrap_or(Test::Constant(false));
                let test =
                    if negated { self.complement(&column, &test, NanRule::Unordered, false)? } else { test };
                self.leaf_of(&column, test, !negated)
            }
            Predicate::IsNan { column } => {
                let column = self.column(*column)?;
                let of = &column.record.column_type;
                if of.logical != Logical::Plain || float_keys(of.physical).is_none() {
                    return Err(mismatch(&column, "only float32 and float64 columns have NaN"));
                }
                self.leaf(&column, Test::Keys(nan_keys(of.physical)), false, Rules::default(), negated)
            }
            Predicate::Length { column, op, n } => {
                let column = self.column(*column)?;
                let of = &column.record.column_type;
                if !matches!(of.physical, Physical::List | Physical::Map) {
                    return Err(mismatch(&column, "only lists and maps have a length"));
                }
                let lengths = KeySet::interval(0, u32::MAX.into());
                let place = Place { below: n.checked_sub(1), up_to: Some(*n) };
                let wanted = keys(*op, place, &lengths);
                let wanted = if negated { wanted.complement_in(&lengths) } else { wanted };
                self.leaf_of(&column, Test::Keys(wanted), false)
            }
            Predicate::Match { column, test, pattern } => {
                let column = self.column(*column)?;
                let test = self.matched(&column, *test, pattern)?;
                self.leaf(&column, test, false, Rules::default(), negated)
            }
        }
    }

    /// A column of the table, or a level of its index.
    fn column(&self, number: u64) -> Result<Arc<ColumnInfo>> {
        if number >= self.file.n_columns_total() {
            return Err(Error::argument(format!("the file has no column {number}")));
        }
        let column = self.file.column(number)?;
        if column.record.n_values != self.file.n_rows() {
            return Err(
                Error::argument("the column does not have a value for each row").in_column(&column.name)
            );
        }
        Ok(column)
    }

    fn leaf(
        &mut self,
        column: &ColumnInfo,
        test: Test,
        missing: bool,
        rules: Rules,
        negated: bool,
    ) -> Result<Node> {
        let test = if negated { self.complement(column, &test, rules.nan, true)? } else { test };
        // Missing values pass only if they count as members and the test is not negated.
        self.leaf_of(column, test, missing && !negated)
    }

    fn leaf_of(&mut self, column: &ColumnInfo, test: Test, missing: bool) -> Result<Node> {
        let number = column.index;
        let blocks = match self.columns.iter().find(|(known, _)| *known == number) {
            Some((_, blocks)) => Arc::clone(blocks),
            None => {
                let blocks = Arc::new(ColumnBlocks::open(self.file, number)?);
                self.columns.push((number, Arc::clone(&blocks)));
                blocks
            }
        };
        let leaf = Node::Leaf(Leaf { number, column: blocks, test, missing });
        let around = structs_around(self.file, column)?;
        if around.is_empty() {
            return Ok(leaf);
        }
        // The fields of a missing struct hold arbitrary values: ignore their answers.
        let mut parts = vec![leaf];
        for outer in around {
            let of_missing =
                ColumnInfo { record: ColumnRecord { parent: None, ..outer.record }, ..(*outer).clone() };
            parts.push(self.leaf_of(&of_missing, Test::Constant(!missing), missing)?);
        }
        Ok(Node::join(parts, !missing))
    }

    /// The complement of a test among present values. With `without_missing`, missing categories
    /// pass neither test.
    fn complement(
        &mut self,
        column: &ColumnInfo,
        test: &Test,
        rule: NanRule,
        without_missing: bool,
    ) -> Result<Test> {
        let of = &column.record.column_type;
        let is_float = float_keys(of.physical).is_some();
        Ok(match test {
            Test::Constant(false) if is_float && rule == NanRule::Missing => Test::Keys(domain(column)?),
            Test::Constant(answer) => Test::Constant(!answer),
            Test::Keys(set) => {
                let numbers = domain(column)?;
                let values = match rule {
                    NanRule::Missing => numbers,
                    _ => numbers.union(&nan_keys(of.physical)),
                };
                let others = set.complement_in(&values);
                match without_missing.then(|| self.missing_codes(column)).transpose()?.flatten() {
                    Some(missing) => Test::Keys(others.intersection(&missing.complement_in(&others))),
                    None => Test::Keys(others),
                }
            }
            Test::Strings(set) => Test::Strings(set.complement()),
            Test::Wide(set) => Test::Wide(set.complement()),
            Test::Matches(matcher, wanted) => Test::Matches(matcher.clone(), !wanted),
        })
    }

    /// The test of stored values that count as missing: codes of missing categories, and NaN if the
    /// rules or the column make it missing. `None` if all missing values are marked as missing.
    fn missing_keys(&mut self, column: &ColumnInfo, rules: Rules) -> Result<Option<Test>> {
        let of = &column.record.column_type;
        if of.logical == Logical::Categorical {
            return Ok(self.missing_codes(column)?.map(Test::Keys));
        }
        let nan_is_missing = rules.nan == NanRule::Missing || of.missing == Missing::NaN;
        if !nan_is_missing || of.logical != Logical::Plain {
            return Ok(None);
        }
        match of.physical {
            Physical::F32 | Physical::F64 => Ok(Some(Test::Keys(nan_keys(of.physical)))),
            Physical::F16 | Physical::Complex64 | Physical::Complex128 | Physical::LongDouble => {
                Err(unsupported(column))
            }
            _ => Ok(None),
        }
    }

    /// The codes of the missing categories; `None` if there are none.
    fn missing_codes(&mut self, column: &ColumnInfo) -> Result<Option<KeySet>> {
        let Some(dictionary) = column.record.dictionary else { return Ok(None) };
        if self.file.column(dictionary)?.record.n_missing == 0 {
            return Ok(None);
        }
        self.codes(column, true, |_, _| Ok(Test::Constant(false))).map(Some)
    }

    /// The test for one of several literals.
    fn members(&mut self, column: &ColumnInfo, literals: &[Literal], rules: Rules) -> Result<Test> {
        if column.record.column_type.logical == Logical::Categorical {
            let codes =
                self.codes(column, false, |binder, categories| binder.members(categories, literals, rules))?;
            return Ok(Test::Keys(codes));
        }
        let (mut keys, mut strings, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        for literal in literals {
            match self.compared(column, Comparison::Equal, literal, rules)? {
                Test::Keys(set) => keys.extend_from_slice(set.intervals()),
                Test::Strings(set) => strings.extend(set.into_intervals()),
                Test::Wide(set) => wide.extend(set.into_intervals()),
                Test::Constant(_) | Test::Matches(..) => return Err(bad_categories(column)),
            }
        }
        Ok(match (keys.is_empty(), strings.is_empty()) {
            (false, _) => Test::Keys(KeySet::of(keys)),
            (_, false) => Test::Strings(StringSet::of(strings)),
            _ if !wide.is_empty() => Test::Wide(StringSet::of(wide)),
            _ => Test::Constant(false),
        })
    }

    /// Turns a comparison with a literal into a test.
    fn compared(
        &mut self,
        column: &ColumnInfo,
        op: Comparison,
        literal: &Literal,
        rules: Rules,
    ) -> Result<Test> {
        let of = &column.record.column_type;
        match of.logical {
            Logical::Categorical => return self.compared_categories(column, op, literal, rules),
            Logical::Plain | Logical::Json | Logical::Uuid | Logical::Decimal => {}
            Logical::Timestamp | Logical::Date | Logical::Time | Logical::Duration | Logical::Period => {}
            _ => return Err(unsupported(column)),
        }
        if of.physical.is_var() || of.physical == Physical::FixedBytes {
            let string = match literal {
                Literal::String(value) if of.physical == Physical::Utf8 => value.as_bytes(),
                Literal::Bytes(value) if of.physical != Physical::Utf8 => value,
                _ => return Err(incomparable(column, literal)),
            };
            return Ok(Test::Strings(strings(op, string)));
        }
        if of.physical == Physical::I256 {
            return compared_wide(column, op, literal, rules).map(Test::Wide);
        }
        let domain = domain(column)?;
        if let Literal::Float(value) = literal
            && value.is_nan()
            && matches!(of.logical, Logical::Plain | Logical::Decimal)
            && of.physical != Physical::Bool
        {
            return Ok(Test::Keys(compared_with_nan(of.physical, &domain, op, rules.nan)));
        }
        let is_aware = matches!(column.detail, Some(Value::Str(_)));
        let time = match (literal, of.logical) {
            (Literal::String(text), Logical::Timestamp | Logical::Date | Logical::Time) => {
                let time = Literal::time(text, time_kind(of.logical, is_aware));
                Some(time.map_err(|e| e.in_column(&column.name))?)
            }
            _ => None,
        };
        let literal = time.as_ref().unwrap_or(literal);
        let place = place(of, literal, rules, is_aware).ok_or_else(|| incomparable(column, literal))?;
        let nan = match (rules.nan, op) {
            (NanRule::Largest, Comparison::Greater | Comparison::GreaterEqual | Comparison::NotEqual)
            | (NanRule::Unordered, Comparison::NotEqual) => nan_keys(of.physical),
            _ => KeySet::empty(),
        };
        Ok(Test::Keys(keys(op, place, &domain).union(&nan)))
    }

    /// Turns a comparison of categories into a test of codes.
    fn compared_categories(
        &mut self,
        column: &ColumnInfo,
        op: Comparison,
        literal: &Literal,
        rules: Rules,
    ) -> Result<Test> {
        let is_order = !matches!(op, Comparison::Equal | Comparison::NotEqual);
        // The categories of an index level are its distinct labels, so an order comparison compares
        // labels.
        let is_level = column.index >= self.file.n_columns();
        let ordered = column.record.column_type.ordered;
        if is_order && !ordered && !is_level {
            return Err(mismatch(column, "its categories have no order: compare them with == or is_in"));
        }
        if !is_order || !ordered {
            let codes = self
                .codes(column, false, |binder, categories| binder.compared(categories, op, literal, rules))?;
            return Ok(Test::Keys(codes));
        }
        let equal = self.codes(column, false, |binder, categories| {
            binder.compared(categories, Comparison::Equal, literal, rules)
        })?;
        let (Some(&(first, _)), Some(&(_, last))) = (equal.intervals().first(), equal.intervals().last())
        else {
            return Err(mismatch(column, &format!("{literal} is not one of its categories")));
        };
        let place = Place { below: Some(first - 1), up_to: Some(last) };
        Ok(Test::Keys(keys(op, place, &domain(column)?)))
    }

    /// The codes of the categories that pass a test. `missing` is the answer for a category that is
    /// missing.
    fn codes(
        &mut self,
        column: &ColumnInfo,
        missing: bool,
        test: impl FnOnce(&mut Self, &ColumnInfo) -> Result<Test>,
    ) -> Result<KeySet> {
        let dictionary = column.record.dictionary.ok_or_else(|| bad_categories(column))?;
        // Errors name the column of the codes.
        let categories = self.file.column(dictionary)?;
        let categories = ColumnInfo { name: column.name.clone(), ..(*categories).clone() };
        if categories.record.column_type.logical == Logical::Categorical {
            return Err(bad_categories(column));
        }
        let named = |e: Error| e.in_column(&column.name);
        let test = test(self, &categories).map_err(named)?;
        let Node::Leaf(leaf) = self.leaf_of(&categories, test, missing)? else {
            return Err(bad_categories(column));
        };
        let rows = ranges_of_leaf(self.file, &leaf, categories.record.n_values).map_err(named)?;
        let codes = rows.into_iter().map(|rows| (i128::from(rows.start), i128::from(rows.end) - 1));
        Ok(KeySet::of(codes.collect()).intersection(&domain(column)?))
    }

    fn matched(&mut self, column: &ColumnInfo, test: Match, pattern: &[u8]) -> Result<Test> {
        let of = &column.record.column_type;
        if of.logical == Logical::Categorical {
            let codes =
                self.codes(column, false, |binder, categories| binder.matched(categories, test, pattern))?;
            return Ok(Test::Keys(codes));
        }
        if !of.physical.is_var() || !matches!(of.logical, Logical::Plain | Logical::Json) {
            return Err(mismatch(column, "only strings start with, end with, contain or are like a text"));
        }
        Ok(match test {
            Match::StartsWith => Test::Strings(StringSet::prefixed(pattern)),
            _ if pattern.is_empty() && test != Match::Like => Test::Constant(true),
            Match::EndsWith => Test::Matches(Matcher::EndsWith(pattern.to_vec()), true),
            Match::Contains => {
                let finder = Finder::new(pattern).into_owned();
                Test::Matches(Matcher::Contains(Box::new(finder)), true)
            }
            Match::Like => {
                let like = Like::new(pattern);
                match like.exact() {
                    Some(exact) => Test::Strings(StringSet::one(exact)),
                    None if like.is_prefix() => Test::Strings(StringSet::prefixed(like.prefix())),
                    None => Test::Matches(Matcher::Like(like), true),
                }
            }
        })
    }
}

/// The keys of all values of a column, without NaN.
fn domain(column: &ColumnInfo) -> Result<KeySet> {
    let of = &column.record.column_type;
    let bits = of.physical.width().map_or(0, |width| 8 * width as u32);
    Ok(match of.physical {
        Physical::Bool => KeySet::interval(0, 1),
        Physical::F32 | Physical::F64 => {
            float_keys(of.physical).map_or_else(KeySet::empty, |(low, high)| KeySet::interval(low, high))
        }
        Physical::I128 | Physical::U128 => KeySet::interval(i128::MIN, i128::MAX),
        physical if physical.is_integer() && physical.is_signed() => {
            KeySet::interval(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        }
        physical if physical.is_integer() => KeySet::interval(0, (1 << bits) - 1),
        _ => return Err(unsupported(column)),
    })
}

fn keys(op: Comparison, place: Place, domain: &KeySet) -> KeySet {
    let up_to = |key: Option<i128>| key.map_or_else(KeySet::empty, |key| KeySet::interval(i128::MIN, key));
    let less = up_to(place.below).intersection(domain);
    let less_equal = up_to(place.up_to).intersection(domain);
    match op {
        Comparison::Less => less,
        Comparison::LessEqual => less_equal,
        Comparison::Greater => less_equal.complement_in(domain),
        Comparison::GreaterEqual => less.complement_in(domain),
        Comparison::Equal => less.complement_in(&less_equal),
        Comparison::NotEqual => less.complement_in(&less_equal).complement_in(domain),
    }
}

fn compared_with_nan(physical: Physical, numbers: &KeySet, op: Comparison, rule: NanRule) -> KeySet {
    let nan = nan_keys(physical);
    match (rule, op) {
        (NanRule::Unordered, Comparison::NotEqual) => numbers.union(&nan),
        (NanRule::Largest, Comparison::Equal | Comparison::GreaterEqual) => nan,
        (NanRule::Largest, Comparison::Less | Comparison::NotEqual) => numbers.clone(),
        (NanRule::Largest, Comparison::LessEqual) => numbers.union(&nan),
        _ => KeySet::empty(),
    }
}

/// The keys of the decimals of 256 bits for which a comparison is true.
fn compared_wide(column: &ColumnInfo, op: Comparison, literal: &Literal, rules: Rules) -> Result<StringSet> {
    use Comparison::{Less, LessEqual, NotEqual};
    let of = &column.record.column_type;
    if of.logical != Logical::Decimal {
        return Err(unsupported(column));
    }
    let place = match literal {
        // No decimal is NaN.
        Literal::Float(value) if value.is_nan() => {
            let is_true = match rules.nan {
                NanRule::Unordered => op == NotEqual,
                NanRule::Largest => matches!(op, Less | LessEqual | NotEqual),
                NanRule::Missing => false,
            };
            return Ok(if is_true { StringSet::from(Vec::new()) } else { StringSet::default() });
        }
        Literal::Float(value) if value.is_infinite() && *value > 0.0 => WidePlace::AfterAll,
        Literal::Float(value) if value.is_infinite() => WidePlace::BeforeAll,
        literal => Digits::of(literal).ok_or_else(|| incomparable(column, literal))?.place(of.scale.into()),
    };
    Ok(wide_decimal::keys(op, &place))
}

fn strings(op: Comparison, string: &[u8]) -> StringSet {
    match op {
        Comparison::Equal => StringSet::one(string),
        Comparison::NotEqual => StringSet::one(string).complement(),
        Comparison::Less => StringSet::before(string.to_vec()),
        Comparison::LessEqual => StringSet::before(next(string)),
        Comparison::Greater => StringSet::from(next(string)),
        Comparison::GreaterEqual => StringSet::from(string.to_vec()),
    }
}

/// Whether a literal is missing, which makes every comparison unknown.
fn is_missing(literal: &Literal, rules: Rules) -> bool {
    matches!(literal, Literal::Float(value) if value.is_nan()) && rules.nan == NanRule::Missing
}

/// Refuses columns whose missing values are in their children or cells.
fn require_values(column: &ColumnInfo) -> Result<()> {
    let of = &column.record.column_type;
    match (of.logical, of.physical) {
        (Logical::Object, _) | (_, Physical::Union | Physical::ValueColumn | Physical::RunEnd) => {
            Err(unsupported(column))
        }
        // A missing interval has NaN or NaT as bounds, and no mark.
        (Logical::Extension, _) if is_interval_of_pandas(column) => Err(unsupported(column)),
        _ => Ok(()),
    }
}

fn is_interval_of_pandas(column: &ColumnInfo) -> bool {
    let name = column.detail.as_ref().and_then(|detail| detail.get("name"));
    name.and_then(Value::as_str) == Some("pandas.bounds")
}

fn unsupported(column: &ColumnInfo) -> Error {
    let of = if is_interval_of_pandas(column) { "interval".to_owned() } else { name_of(column) };
    Error::unsupported(format!("filters on columns of type {of} are not supported"))
        .in_column(&column.name)
        .advise("filter the frame after reading")
}

fn mismatch(column: &ColumnInfo, problem: &str) -> Error {
    Error::argument(format!("the column has type {}, and {problem}", name_of(column))).in_column(&column.name)
}

fn incomparable(column: &ColumnInfo, literal: &Literal) -> Error {
    use crate::time_kind::TimeKind::{Aware, Naive};
    let of = &column.record.column_type;
    let is_text = of.physical == Physical::Utf8 && of.logical == Logical::Plain;
    let hint = match (literal, of.logical) {
        (Literal::Time { kind: Naive, .. }, Logical::Timestamp) => ": give the time a time zone",
        (Literal::Time { kind: Aware, .. }, Logical::Timestamp) => ": give a time without a time zone",
        (_, Logical::Period) => ": give a period of its frequency (pandas.Period, in Python)",
        (Literal::String(_), Logical::Duration) => ": give a duration",
        (Literal::Bool(_), _) if of.physical.is_integer() => ": compare it with 0 or 1",
        _ if is_text => ": give a string",
        _ if of.physical == Physical::Bool => ": give True or False",
        _ => "",
    };
    mismatch(column, &format!("does not compare with {literal}{hint}"))
}

fn bad_categories(column: &ColumnInfo) -> Error {
    Error::corrupt("the categories of a column cannot be compared").in_column(&column.name)
}

fn name_of(column: &ColumnInfo) -> String {
    type_name(&column.record.column_type, column.detail.as_ref())
}
