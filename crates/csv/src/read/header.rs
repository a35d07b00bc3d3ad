//! The names of columns, and which of them are read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use entasis::{Error, Result};

use super::{Plan, Selection};
use crate::convert::stripped;
use crate::cut::{Chunk, Cutter, Failure, count_lines, described};
use crate::dates::Dates;
use crate::dialect::Dialect;
use crate::problems::{OnError, start};
use crate::strict::{Event, Rows, State, unquote};
use crate::types::Type;

/// Bytes of a chunk for each column, so that a piece has enough values to pay for itself.
const BYTES_OF_COLUMN: usize = 2 << 10;
/// The most bytes of a chunk for many columns.
const LONGEST_CHUNK: usize = 16 << 20;

/// The columns of a text.
#[derive(Debug)]
pub struct Header {
    /// The names of all columns.
    pub names: Vec<String>,
    /// The columns to read, by number.
    pub wanted: Vec<usize>,
    /// Their given types.
    pub given: Vec<Option<Type>>,
    /// The type of their strings: text, or codes of categories.
    pub strings: Vec<Type>,
    /// The formats of dates of columns that are not given another type.
    pub dates: Vec<Option<Dates>>,
    /// Columns that are not returned, with their types and formats of dates. With
    /// [`OnError::Skip`] their values decide too which rows are left out.
    pub checked: Vec<(usize, Type, Option<Dates>)>,
    /// Columns of the condition on rows, by number, with their given types.
    pub tested: Vec<(usize, Option<Type>)>,
    /// The number of the chunk with the first row. Those before have comments and blank lines.
    pub chunk: usize,
    /// Bytes of the header in this chunk.
    pub len: usize,
    /// Lines before this chunk.
    pub n_lines: u64,
    /// Facts that a user should know.
    pub warnings: Vec<String>,
}

impl Header {
    /// Finds the first row of a text, and returns the names with the chunk that has it.
    pub fn find(cutter: &mut Cutter<'_>, plan: &Plan) -> Result<(Self, Chunk)> {
        // Rows that say whether the header lacks a name may lie in later chunks.
        let lacks_name = plan.has_header && lacks_name(cutter, plan)?;
        let mut n_lines = plan.skip as u64;
        while let Some(chunk) = cutter.next(Vec::new()).map_err(|failure| described(failure, n_lines))? {
            let mut rows = Rows::new(chunk.rows(), plan.dialect);
            let mut first = Vec::new();
            while rows.next(&mut first) {
                if !is_blank(&first) {
                    if let Some(field) = first.iter().find(|field| field.len() > plan.max_field) {
                        let most = plan.max_field;
                        let failure =
                            Failure::long(chunk.rows(), field.start, chunk.offset, most, &plan.dialect);
                        return Err(described(failure, n_lines));
                    }
                    let header = Self::read(&chunk, rows.at(), &first, lacks_name, n_lines, plan)?;
                    if plan.chunk_len.is_none() {
                        cutter.lengthen((BYTES_OF_COLUMN * header.names.len()).min(LONGEST_CHUNK));
                    }
                    return Ok((header, chunk));
                }
            }
            n_lines += count_lines(chunk.rows());
        }
        let message = if cutter.number() == 0 { "the text is empty" } else { "the text has no rows" };
        Err(Error::text(message))
    }

    /// Reads the names in the first row of a text.
    fn read(
        chunk: &Chunk,
        end: usize,
        first: &[Range<usize>],
        lacks_name: bool,
        n_lines: u64,
        plan: &Plan,
    ) -> Result<Self> {
        let text = chunk.rows();
        let mut warnings = Vec::new();
        // Blank lines before the first row do not count.
        let mut len = first[0].start;
        let mut names: Vec<String> = if plan.has_header {
            len = end;
            let mut names = Vec::with_capacity(first.len());
            for field in first {
                let mut name = Vec::new();
                let (start, end) = match plan.strips {
                    true => stripped(text, field.start, field.end),
                    false => (field.start, field.end),
                };
                unquote(&text[start..end], &plan.dialect, &mut name);
                let name =
                    String::from_utf8(name).map_err(|_| Error::text("a name in the header is not UTF-8"))?;
                names.push(name);
            }
            names
        } else {
            vec![String::new(); first.len()]
        };
        if lacks_name {
            if !plan.first_is_unnamed {
                let n = names.len();
                let message = format!("the header has {n} names, and all rows have {} fields", n + 1);
                let advice = "pass index_col=0 if the first column has the labels of the rows";
                return Err(Error::text(message).advise(advice));
            }
            names.insert(0, String::new());
        }
        let n_columns = names.len();
        let is_given = plan.names.is_some();
        if let Some(given) = &plan.names {
            if given.len() != n_columns {
                let message = format!("{} names for {n_columns} columns", given.len());
                return Err(Error::argument(message));
            }
            names.clone_from(given);
        }
        let keeps_first = lacks_name && plan.unnamed.is_none();
        let start = plan.unnamed.unwrap_or("column_");
        let is_expected = plan.expected_names.as_ref() == Some(&names);
        // A spec or the caller may give one column an empty name.
        if !(is_expected || is_given) || plan.unnamed.is_some() || !are_unique(&names) {
            repair(&mut names, start, is_given || !plan.has_header, keeps_first, &mut warnings);
        }
        if let Some(expected) = &plan.expected_names
            && *expected != names
        {
            return Err(other_names(expected, &names));
        }
        let places: Places<'_> =
            names.iter().enumerate().map(|(column, name)| (name.as_str(), column)).collect();
        let wanted = wanted(&names, &places, &plan.columns)?;
        let mut types = HashMap::new();
        for (name, of) in &plan.types {
            // The first type of a column counts.
            types.entry(find(&names, &places, name)?).or_insert(*of);
        }
        let given: Vec<_> = wanted.iter().map(|column| types.get(column).copied()).collect();
        let names_of_tested = plan.condition.iter().flat_map(|condition| condition.columns());
        let tested = names_of_tested.map(|name| {
            let column = find(&names, &places, name)?;
            Ok((column, types.get(&column).copied()))
        });
        let tested = tested.collect::<Result<_>>()?;
        let formats = Formats::new(&names, &places, plan)?;
        let dates = wanted.iter().zip(&given).map(|(&column, &given)| formats.of(column, given)).collect();
        let mut checked = Vec::new();
        if plan.on_error == OnError::Skip {
            wanted.iter().for_each(|column| _ = types.remove(column));
            checked.extend(types.into_iter().map(|(at, of)| (at, of, formats.of(at, Some(of)))));
            // Of the others, a byte that does not fit the encoding leaves its row out.
            let known: HashSet<usize> =
                wanted.iter().copied().chain(checked.iter().map(|&(column, ..)| column)).collect();
            let others = (0..n_columns).filter(|column| !known.contains(column));
            checked.extend(others.map(|column| (column, Type::Text, None)));
            checked.sort_unstable_by_key(|&(column, ..)| column);
        }
        let of_strings = |given: &Option<Type>| match given {
            None if plan.as_categories => Type::Categorical,
            Some(Type::Categorical) => Type::Categorical,
            _ => Type::Text,
        };
        let strings = given.iter().map(of_strings).collect();
        let chunk = chunk.number;
        Ok(Self { names, wanted, given, strings, dates, checked, tested, chunk, len, n_lines, warnings })
    }
}

impl Header {
    /// Checks that another text has the same names.
    pub fn check_names(&self, first: &Self) -> Result<()> {
        if self.names == first.names {
            return Ok(());
        }
        let lacks = |names: &[String], others: &[String]| {
            let others: HashSet<_> = others.iter().collect();
            let lacking: Vec<_> = names.iter().filter(|name| !others.contains(name)).collect();
            let shown: Vec<_> = lacking.iter().take(5).map(|name| format!("'{}'", start(name, 40))).collect();
            let more = if lacking.len() > 5 { ", ..." } else { "" };
            (!lacking.is_empty()).then(|| shown.join(", ") + more)
        };
        let missing = lacks(&first.names, &self.names).map(|names| format!("it lacks {names}"));
        let added = lacks(&self.names, &first.names).map(|names| format!("it has also {names}"));
        let parts: Vec<_> = missing.into_iter().chain(added).collect();
        let what = if parts.is_empty() { "they have another order".to_owned() } else { parts.join("; ") };
        Err(Error::argument(format!("the names of the columns differ from those of the first text: {what}"))
            .advise("read texts of other columns apart"))
    }

    /// Whether a column may become dates by the formats of the user after it was read as strings.
    pub fn is_dated(&self, i: usize) -> bool {
        self.given[i].is_none() && self.dates[i].is_some()
    }

    /// The type of strings of a column in a chunk. Dates are found before strings become codes.
    pub fn strings_of_chunk(&self, i: usize) -> Type {
        if self.is_dated(i) { Type::Text } else { self.strings[i] }
    }

    /// The narrowest types of the columns to begin with, then those of the tested columns.
    pub fn first_types(&self) -> Vec<Type> {
        let is_named = |dates: &Option<Dates>| dates.as_ref().is_some_and(|dates| dates.is_named);
        let types = self.dates.iter().map(|dates| if is_named(dates) { Type::Text } else { Type::Null });
        types.chain(self.tested.iter().map(|_| Type::Null)).collect()
    }
}

/// The formats of dates of the user.
struct Formats {
    of_columns: HashMap<usize, Dates>,
    of_all: Option<Dates>,
}

impl Formats {
    fn new(names: &[String], places: &Places<'_>, plan: &Plan) -> Result<Self> {
        let (mut of_columns, mut of_all) = (HashMap::new(), Vec::new());
        for (name, formats) in &plan.dates {
            match name {
                Some(name) => _ = of_columns.insert(find(names, places, name)?, Dates::new(formats, true)?),
                None => of_all.extend_from_slice(formats),
            }
        }
        let of_all = (!of_all.is_empty()).then(|| Dates::new(&of_all, false)).transpose()?;
        Ok(Self { of_columns, of_all })
    }

    /// The formats of a column, unless its given type has none.
    fn of(&self, column: usize, given: Option<Type>) -> Option<Dates> {
        let has_dates = matches!(given, None | Some(Type::Date | Type::Datetime { .. }));
        let found = self.of_columns.get(&column).or(self.of_all.as_ref());
        found.filter(|_| has_dates).cloned()
    }
}

/// Bytes of the start of a text in which rows are compared with the header.
const START: usize = 64 << 10;

/// Whether each row in the first bytes of a text has one field more than the header.
fn lacks_name(cutter: &mut Cutter<'_>, plan: &Plan) -> Result<bool> {
    let dialect = plan.dialect;
    let is_enough = |start: &[u8]| n_fields(start, &dialect, 3).len() > 2;
    let (start, is_all) = cutter.peek(START, is_enough)?;
    let mut rows = n_fields(start, &dialect, usize::MAX);
    if !is_all {
        // The last row may be cut off.
        rows.pop();
    }
    Ok(rows.len() > 1 && rows[1..].iter().all(|&n| n == rows[0] + 1))
}

/// The number of fields of each of the first `most` rows that are not blank. The places of the
/// fields would take many times the memory of the text.
fn n_fields(text: &[u8], dialect: &Dialect, most: usize) -> Vec<usize> {
    let (mut rows, mut n_ends, mut is_blank) = (Vec::new(), 0, true);
    let mut state = State::RowStart;
    for &byte in text {
        match state.take(byte, dialect) {
            Event::Inside => is_blank &= state == State::Comment,
            Event::FieldEnd => (n_ends, is_blank) = (n_ends + 1, false),
            Event::RowEnd => {
                if !is_blank {
                    rows.push(n_ends + 1);
                }
                (n_ends, is_blank) = (0, true);
                if rows.len() == most {
                    return rows;
                }
            }
            Event::Nothing | Event::Gap => {}
            Event::LineEnd => {
                rows.push(n_ends);
                (n_ends, is_blank) = (0, true);
                if rows.len() == most {
                    return rows;
                }
            }
        }
    }
    if !is_blank {
        rows.push(n_ends + usize::from(state.has_field(dialect)));
    }
    rows
}

fn is_blank(row: &[Range<usize>]) -> bool {
    row.len() == 1 && row[0].is_empty()
}

fn are_unique(names: &[String]) -> bool {
    let mut seen = HashSet::new();
    names.iter().all(|name| seen.insert(name))
}

/// The names that a reader gives to columns, with a spec that has these names, if they are unique.
#[must_use]
pub fn names_of_spec(mut names: Vec<String>) -> Vec<String> {
    if !are_unique(&names) {
        repair(&mut names, "column_", true, false, &mut Vec::new());
    }
    names
}

/// Gives a name to columns that have none or the name of another.
fn repair(names: &mut [String], start: &str, is_quiet: bool, keeps_first: bool, warnings: &mut Vec<String>) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let (mut seen, mut numbers) = (HashSet::new(), HashMap::new());
    let mut n_repaired = 0;
    for (column, name) in names.iter_mut().enumerate() {
        if name.is_empty() {
            if keeps_first && column == 0 {
                continue;
            }
            let mut new = format!("{start}{}", column + 1);
            while !taken.insert(new.clone()) {
                new.push('_');
            }
            *name = new;
            n_repaired += 1;
            seen.insert(name.clone());
        } else if !seen.insert(name.clone()) {
            // Numbers go on from the last one, so that many equal names take linear time.
            let number = numbers.entry(name.clone()).or_insert(0);
            let new = loop {
                *number += 1;
                let new = format!("{name}_{number}");
                if taken.insert(new.clone()) {
                    break new;
                }
            };
            *name = new;
            seen.insert(name.clone());
            n_repaired += 1;
        }
    }
    if n_repaired > 0 && !is_quiet {
        let named = if n_repaired == 1 { "one column was" } else { "some columns were" };
        warnings.push(format!("{named} renamed, because the header has empty or repeated names"));
    }
}

/// The error of a header that has other names than a spec.
fn other_names(expected: &[String], names: &[String]) -> Error {
    let differs = expected.iter().zip(names).position(|(expected, name)| expected != name);
    let message = match differs {
        Some(i) => format!(
            "column {} is '{}', and the spec says '{}'",
            i + 1,
            start(&names[i], 40),
            start(&expected[i], 40)
        ),
        None => format!("the text has {} columns, and the spec has {}", names.len(), expected.len()),
    };
    Error::text(message).advise("sniff the text anew, or leave the names out of the spec")
}

/// The number of each column, by its name.
type Places<'a> = HashMap<&'a str, usize>;

fn wanted(names: &[String], places: &Places<'_>, selection: &Selection) -> Result<Vec<usize>> {
    match selection {
        Selection::All => Ok((0..names.len()).collect()),
        Selection::Names(wanted) => {
            let mut taken = HashSet::new();
            let column = |name: &String| {
                let column = find(names, places, name)?;
                if taken.insert(column) {
                    return Ok(column);
                }
                Err(Error::argument(format!("the column '{}' is selected twice", start(name, 40))))
            };
            wanted.iter().map(column).collect()
        }
        Selection::Without(left_out) => {
            let left_out =
                left_out.iter().map(|name| find(names, places, name)).collect::<Result<HashSet<_>>>()?;
            Ok((0..names.len()).filter(|column| !left_out.contains(column)).collect())
        }
    }
}

fn find(names: &[String], places: &Places<'_>, name: &str) -> Result<usize> {
    places.get(name).copied().ok_or_else(|| {
        let first: Vec<_> = names.iter().take(5).map(|name| format!("'{}'", start(name, 40))).collect();
        let more = if names.len() > 5 { ", ..." } else { "" };
        Error::no_column(format!("there is no column '{}', only {}{more}", start(name, 40), first.join(", ")))
    })
}
