//! The names of columns, and which of them are read.

use std::collections::HashSet;
use std::ops::Range;

use entasis::{Error, Result};

use super::{Plan, Selection};
use crate::cut::{Chunk, Cutter, count_lines, described};
use crate::problems::OnError;
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
    /// Columns that are not read and decide which rows are left out, with their types.
    pub checked: Vec<(usize, Type)>,
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
        if let Some(expected) = &plan.expected_names
            && *expected != names
        {
            return Err(other_names(expected, &names));
        }
        let wanted = wanted(&names, &plan.columns)?;
        let mut checked = Vec::new();
        for (name, of) in &plan.types {
            let column = find(&names, name)?;
            if plan.on_error == OnError::Skip && !wanted.contains(&column) {
                checked.push((column, *of));
            }
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
        Ok(Self { names, wanted, given, strings, checked, chunk: chunk.number, len, n_lines, warnings })
    }
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

/// The error of a header that has other names than a spec.
fn other_names(expected: &[String], names: &[String]) -> Error {
    let differs = expected.iter().zip(names).position(|(expected, name)| expected != name);
    let message = match differs {
        Some(i) => format!("column {} is '{}', and the spec says '{}'", i + 1, names[i], expected[i]),
        None => format!("the text has {} columns, and the spec has {}", names.len(), expected.len()),
    };
    Error::text(message).advise("sniff the text anew, or leave the names out of the spec")
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
