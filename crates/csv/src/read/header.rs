//! The names of columns, and which of them are read.

use std::collections::HashSet;
use std::ops::Range;

use entasis::{Error, Result};

use super::pass::described;
use super::{Plan, Selection};
use crate::cut::{Chunk, Cutter, count_lines};
use crate::dates::Dates;
use crate::strict::{Rows, unquote};
use crate::types::Type;

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
        let mut n_lines = plan.skip as u64;
        while let Some(chunk) = cutter.next(Vec::new()).map_err(|failure| described(failure, n_lines))? {
            let mut rows = Rows::new(chunk.rows(), plan.dialect);
            let mut first = Vec::new();
            while rows.next(&mut first) {
                if first.len() > 1 || !first[0].is_empty() {
                    let header = Self::read(&chunk, rows, first, n_lines, plan)?;
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
        rows: Rows<'_>,
        mut first: Vec<Range<usize>>,
        n_lines: u64,
        plan: &Plan,
    ) -> Result<Self> {
        let text = chunk.rows();
        let mut warnings = Vec::new();
        let mut len = 0;
        let mut names: Vec<String> = if plan.has_header {
            len = rows.at();
            let mut names = Vec::with_capacity(first.len());
            for field in &first {
                let mut name = Vec::new();
                unquote(&text[field.clone()], &plan.dialect, &mut name);
                let name =
                    String::from_utf8(name).map_err(|_| Error::text("a name in the header is not UTF-8"))?;
                names.push(name);
            }
            names
        } else {
            vec![String::new(); first.len()]
        };
        let mut n_columns = names.len();
        if plan.has_header {
            n_columns += usize::from(lacks_name(rows, n_columns, plan, &mut first)?);
        }
        if n_columns > names.len() {
            names.insert(0, String::new());
        }
        let is_given = plan.names.is_some();
        if let Some(given) = &plan.names {
            if given.len() != n_columns {
                let message = format!("{} names for {n_columns} columns", given.len());
                return Err(Error::argument(message));
            }
            names.clone_from(given);
        }
        let unnamed_first = plan.first_is_unnamed && n_columns > first.len();
        repair(&mut names, is_given || !plan.has_header, unnamed_first, &mut warnings);
        let wanted = wanted(&names, &plan.columns)?;
        for (name, _) in &plan.types {
            find(&names, name)?;
        }
        let given: Vec<_> = wanted
            .iter()
            .map(|&column| plan.types.iter().find(|(name, _)| *name == names[column]).map(|&(_, of)| of))
            .collect();
        let of_strings = |given: &Option<Type>| match given {
            None if plan.as_categories => Type::Categorical,
            Some(Type::Categorical) => Type::Categorical,
            _ => Type::Text,
        };
        let strings = given.iter().map(of_strings).collect();
        let dates = dates(&names, &wanted, &given, plan)?;
        Ok(Self { names, wanted, given, strings, dates, chunk: chunk.number, len, n_lines, warnings })
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
            let shown: Vec<_> = lacking.iter().take(5).map(|name| format!("'{name}'")).collect();
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

    /// The narrowest types of the columns to begin with.
    pub fn first_types(&self) -> Vec<Type> {
        let is_named = |dates: &Option<Dates>| dates.as_ref().is_some_and(|dates| dates.is_named);
        self.dates.iter().map(|dates| if is_named(dates) { Type::Text } else { Type::Null }).collect()
    }
}

/// The formats of dates for each column to read.
fn dates(
    names: &[String],
    wanted: &[usize],
    given: &[Option<Type>],
    plan: &Plan,
) -> Result<Vec<Option<Dates>>> {
    let mut of_all = Vec::new();
    for (name, formats) in &plan.dates {
        match name {
            Some(name) => drop(find(names, name)?),
            None => of_all.extend_from_slice(formats),
        }
    }
    let of_column = |(&column, given): (&usize, &Option<Type>)| {
        if !matches!(given, None | Some(Type::Date | Type::Datetime { .. })) || plan.dates.is_empty() {
            return Ok(None);
        }
        let own = plan.dates.iter().find(|(name, _)| name.as_ref() == Some(&names[column]));
        match own {
            Some((_, formats)) => Dates::new(formats, true).map(Some),
            None if of_all.is_empty() => Ok(None),
            None => Dates::new(&of_all, false).map(Some),
        }
    };
    wanted.iter().zip(given).map(of_column).collect()
}

/// Whether each of the first rows has one field more than the header.
fn lacks_name(
    mut rows: Rows<'_>,
    n_names: usize,
    plan: &Plan,
    fields: &mut Vec<Range<usize>>,
) -> Result<bool> {
    let mut n = 0;
    let mut row = Vec::new();
    while n < 1000 && rows.next(&mut row) {
        if row.len() == 1 && row[0].is_empty() {
            continue;
        }
        if row.len() != n_names + 1 {
            return Ok(false);
        }
        n += 1;
    }
    if n == 0 {
        return Ok(false);
    }
    fields.truncate(n_names);
    if plan.first_is_unnamed {
        return Ok(true);
    }
    let message = format!("the header has {n_names} names, and all rows have {} fields", n_names + 1);
    Err(Error::text(message).advise("pass index_col=0 if the first column has the labels of the rows"))
}

/// Gives a name to columns that have none or the name of another.
fn repair(names: &mut [String], is_quiet: bool, unnamed_first: bool, warnings: &mut Vec<String>) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let mut n_repaired = 0;
    for (column, name) in names.iter_mut().enumerate() {
        if name.is_empty() {
            if unnamed_first && column == 0 {
                continue;
            }
            let mut new = format!("column_{}", column + 1);
            while !taken.insert(new.clone()) {
                new.push('_');
            }
            *name = new;
            n_repaired += 1;
            seen.insert(name.clone());
        } else if !seen.insert(name.clone()) {
            let mut i = 1;
            let mut new = format!("{name}_1");
            while !taken.insert(new.clone()) {
                i += 1;
                new = format!("{name}_{i}");
            }
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

fn wanted(names: &[String], selection: &Selection) -> Result<Vec<usize>> {
    match selection {
        Selection::All => Ok((0..names.len()).collect()),
        Selection::Names(wanted) => wanted.iter().map(|name| find(names, name)).collect(),
        Selection::Without(left_out) => {
            let left_out = left_out.iter().map(|name| find(names, name)).collect::<Result<HashSet<_>>>()?;
            Ok((0..names.len()).filter(|column| !left_out.contains(column)).collect())
        }
    }
}

fn find(names: &[String], name: &str) -> Result<usize> {
    names.iter().position(|other| other == name).ok_or_else(|| {
        let first: Vec<_> = names.iter().take(10).map(|name| format!("'{name}'")).collect();
        let more = if names.len() > 10 { ", ..." } else { "" };
        Error::argument(format!("there is no column '{name}', only {}{more}", first.join(", ")))
    })
}
