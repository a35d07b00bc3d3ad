//! Tables of fst. Verbs read the columns and rows that they show.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use entasis::{ColumnInfo, File};
use entasis_convert::Parts;

use crate::failure::Outcome;
use crate::found::predicate;
use crate::json::{self, Object};
use crate::lend;
use crate::output::Out;
use crate::progress::Watch;
use crate::table::{self, Column};
use crate::text::{count, escape, size};
use crate::types::type_of;

/// A file in memory with some rows. It has the columns with these names, as `--columns` has them,
/// or all columns if there are none, or if some name is not one of a column.
pub(crate) fn part(parts: &Parts, names: &[String], rows: Range<u64>) -> entasis::Result<File> {
    let watch = Watch::of_lines(format!("reading {}", count(rows.end - rows.start, "row")));
    lend::part_of_fst(parts, numbers(parts, names).as_deref(), rows, &watch)
}

/// A file in memory with all rows of the columns that a condition tests, and of those with these
/// names; `None` for no others.
pub(crate) fn tested(parts: &Parts, names: Option<&[String]>, condition: &str) -> entasis::Result<File> {
    let of_condition = predicate(&schema(parts)?, condition)?.columns();
    let of_names = names.map_or(Some(Vec::new()), |names| numbers(parts, names));
    let watch = Watch::of_lines("reading");
    let chosen = of_names.map(|mut found| {
        found.extend(of_condition.iter().filter_map(|&column| usize::try_from(column).ok()));
        found.sort_unstable();
        found.dedup();
        found
    });
    lend::part_of_fst(parts, chosen.as_deref(), 0..parts.n_rows(), &watch)
}

/// The columns and their types, as a file without rows.
pub(crate) fn schema(parts: &Parts) -> entasis::Result<File> {
    lend::schema_of_fst(parts, &Watch::new("reading times"))
}

/// The numbers of the columns with these names, each once.
fn numbers(parts: &Parts, names: &[String]) -> Option<Vec<usize>> {
    if names.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    let mut take = |name: &str| {
        let n = found.len();
        found.extend((0..parts.names().len()).filter(|&i| parts.names().get(i) == Some(name)));
        found.len() > n
    };
    for name in names {
        // A name may have commas, so a whole name wins.
        if !take(name) && !name.split(',').all(&mut take) {
            return None;
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// Prints what `entasis info` shows of a file of fst.
pub(crate) fn print_info(path: &Path, parts: &Parts, is_json: bool, out: &mut Out) -> Outcome {
    let file = schema(parts)?;
    let infos = file.all_columns(0..file.n_columns())?;
    if is_json {
        let column = |info: &ColumnInfo| {
            let of = type_of(&file, info)?;
            entasis::Result::Ok(Object::new().text("name", &info.name).text("type", &of).end())
        };
        let columns = infos.iter().map(column).collect::<entasis::Result<Vec<_>>>()?;
        let object = Object::new()
            .text("file", &path.to_string_lossy())
            .text("format", "fst")
            .raw("n_rows", parts.n_rows())
            .raw("n_columns", infos.len())
            .raw("file_len", parts.file_len())
            .raw("columns", json::array(columns));
        writeln!(out, "{}", object.end())?;
        return Ok(());
    }
    let style = out.style();
    writeln!(out, "{}", style.bold(&escape(&path.to_string_lossy())))?;
    let shape = format!("{} x {}", count(parts.n_rows(), "row"), count(infos.len() as u64, "column"));
    writeln!(out, "{shape}, {} in the file", size(parts.file_len()))?;
    writeln!(out, "format fst, from r; `entasis convert` makes an Entasis file of it")?;
    writeln!(out)?;
    let (mut names, mut types) = (Column::flexible(["column"]), Column::left(["type"]));
    for info in &infos {
        names.push(escape(&info.name));
        types.push(escape(&type_of(&file, info)?));
    }
    table::print_all(vec![names, types], style, out)?;
    Ok(())
}
