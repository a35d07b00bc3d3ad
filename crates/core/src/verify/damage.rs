//! Collects the damaged places of a file, and finds the rows that they affect.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use entasis_format::{
    Error, Kind, Location, Physical, Pieces, Result, Thousands, fallible, printable_message, printable_name,
};

use super::{PARTS, Report};
use crate::file::{ColumnInfo, File};
use crate::read::{MissingTo, Output, Request};
use crate::rows::Rows;

/// The maximum number of damaged places in the list of a survey.
pub const MOST_DAMAGES: usize = 100;

/// A damaged place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The damaged generation; `None` for the newest or the requested generation.
    pub generation: Option<u64>,
    /// The names of the column's parents and of the column, joined by dots. `None` for damage
    /// outside of columns.
    pub column: Option<String>,
    /// The table of the column; `None` for a column of no table.
    pub table: Option<u64>,
    /// The number of the column or its outermost parent: in its table if it has one, else in the
    /// file.
    pub number: Option<u64>,
    /// The table rows that the damage affects; for a column of no table, its values.
    pub values: Option<Range<u64>>,
    /// The problem.
    pub message: String,
    /// The location of the problem.
    pub location: Location,
}

impl Damage {
    /// One sentence: column, rows, problem and location. The first row has the number `first_row`.
    pub fn describe(&self, first_row: u64) -> String {
        let mut text = self.generation.map_or(String::new(), |number| format!("generation {number}: "));
        if let Some(column) = &self.column {
            text += &format!("column \"{}\"", printable_name(column));
            if let Some(values) = self.values.as_ref().filter(|values| !values.is_empty()) {
                let what = if self.table.is_some() { "row" } else { "value" };
                let first = values.start.saturating_add(first_row);
                let last = (values.end - 1).saturating_add(first_row);
                text += &match last - first {
                    0 => format!(", {what} {}", Thousands(first)),
                    _ => format!(", {what}s {} to {}", Thousands(first), Thousands(last)),
                };
            }
            text += ": ";
        }
        text += &printable_message(&self.message);
        let location = self.location().to_string();
        if location.is_empty() { text } else { format!("{text} ({location})") }
    }

    /// The location without the file and the column.
    fn location(&self) -> Location {
        Location { file: None, column: None, ..self.location.clone() }
    }
}

/// The result of looking for all damage of a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Survey {
    /// How much was checked.
    pub report: Report,
    /// The first damaged places, at most [`MOST_DAMAGES`], in the order of the columns.
    pub damages: Vec<Damage>,
    /// How many damaged places there are.
    pub n_damages: u64,
    /// How many of the [`Report::n_columns`] columns are sound.
    pub n_sound: u64,
    /// The damaged generations, ascending.
    pub generations: Vec<u64>,
    /// Whether the newest of the examined generations is sound.
    pub is_newest_sound: bool,
    /// The newest sound generation, if the newest generation is damaged.
    pub last_sound: Option<u64>,
    /// The damaged blocks, as the column's number in the file and the block's values.
    pub(crate) blocks: Vec<(u64, Range<u64>)>,
    /// The error for the first damage, or for a column of unknown type.
    pub(super) error: Option<Error>,
    /// Whether this generation shares damage that a newer generation lists.
    pub(super) is_shared: bool,
}

impl Survey {
    /// The report of a sound file.
    ///
    /// # Errors
    /// *Corrupt* for the first damage; its advice says how many there are. *Unsupported* for the
    /// first column whose type this release does not know.
    pub fn into_result(mut self) -> Result<Report> {
        self.take_error().map_or(Ok(self.report), Err)
    }

    /// The error of [`into_result`](Self::into_result), if there is one.
    pub fn take_error(&mut self) -> Option<Error> {
        let error = self.error.take()?;
        if error.kind() != Kind::Corrupt {
            return Some(error);
        }
        let mut advice = error.advice().unwrap_or_default().to_owned();
        if let Some(sound) = self.last_sound {
            advice = format!("generation {sound} is sound; {advice}");
        }
        let error = if self.is_newest_sound {
            advice = "compact drops the earlier generations".to_owned();
            let message = format!("{}, the newest is sound: {}", self.damaged(), error.message());
            error.reworded(message)
        } else {
            error
        };
        if self.n_damages > 1 {
            let (n, n_columns) = (Thousands(self.n_damages), Thousands(self.report.n_columns));
            let sound = Thousands(self.n_sound);
            advice = format!("{n} places are damaged, {sound} of {n_columns} columns are sound; {advice}");
        }
        Some(error.advise(advice).of_generations(self.generations.clone()))
    }

    /// The damaged generations, as words.
    fn damaged(&self) -> String {
        match &self.generations[..] {
            [one] => format!("generation {one} is damaged"),
            [first, .., last] => {
                format!("{} generations from {first} to {last} are damaged", self.generations.len())
            }
            [] => "an earlier generation is damaged".to_owned(),
        }
    }
}

/// Damage as it is found.
struct Raw {
    /// The number of the column in the file.
    column: Option<u64>,
    /// The damaged values of that column.
    values: Option<Range<u64>>,
    error: Error,
}

#[derive(Default)]
struct Inner {
    /// The first damages, by column, first value and the order in which they were found.
    first: BTreeMap<(u64, u64, u64), Raw>,
    n: u64,
    is_bad: Vec<bool>,
    blocks: Vec<(u64, Range<u64>)>,
    is_shared: bool,
}

/// A bundled column: (storage, first value in it, end, number).
type Member = (u64, u64, u64, u64);

/// The damage of a file with these columns, from all threads.
pub(super) struct Found<'a> {
    columns: &'a [ColumnInfo],
    members: Vec<Member>,
    /// The pieces of bundles in several pieces, by storage column.
    pieces: HashMap<u64, Arc<Pieces>>,
    inner: Mutex<Inner>,
}

impl<'a> Found<'a> {
    pub(super) fn new(file: &File, columns: &'a [ColumnInfo]) -> Result<Self> {
        let n = columns.iter().filter(|column| column.record.storage.is_some()).count();
        let mut members: Vec<Member> = fallible::with_capacity(n, PARTS)?;
        members.extend(columns.iter().filter_map(|column| {
            let record = &column.record;
            let end = record.first_value.saturating_add(record.n_values);
            Some((record.storage?, record.first_value, end, column.index))
        }));
        members.sort_unstable();
        let mut pieces = HashMap::new();
        for column in columns {
            let Some(storage) = column.record.storage.filter(|storage| !pieces.contains_key(storage)) else {
                continue;
            };
            // Damaged pieces are damage of each column that needs them.
            if let Ok(Some(of_table)) = file.pieces_of(column.index) {
                fallible::insert(&mut pieces, storage, of_table, PARTS)?;
            }
        }
        let is_bad = fallible::defaults(columns.len(), PARTS)?;
        Ok(Self { columns, members, pieces, inner: Mutex::new(Inner { is_bad, ..Inner::default() }) })
    }

    /// The members that have some of these values of a storage column, with their rows.
    fn members_of(
        &self,
        storage: &ColumnInfo,
        values: &Range<u64>,
    ) -> Result<Vec<(&'a ColumnInfo, Range<u64>)>> {
        let mut found = Vec::new();
        let from = self.members.partition_point(|m| m.0 < storage.index);
        let to = self.members.partition_point(|m| m.0 <= storage.index);
        let all = self.members.get(from..to).unwrap_or_default();
        let mut add = |member: &Member, rows: Range<u64>| match self.columns.get(member.3 as usize) {
            Some(column) => fallible::push(&mut found, (column, rows), PARTS),
            None => Ok(()),
        };
        let Some(pieces) = self.pieces.get(&storage.index) else {
            let from = all.partition_point(|m| m.2 <= values.start);
            for member in all.iter().skip(from).take_while(|m| m.1 < values.end) {
                let &(_, first, end, _) = member;
                add(member, values.start.max(first) - first..values.end.min(end) - first)?;
            }
            return Ok(found);
        };
        let n_rows = pieces.n_rows();
        let n_members = storage.record.n_values / n_rows;
        for piece in pieces.rows() {
            let n = piece.end - piece.start;
            let (first, end) = (piece.start * n_members, piece.end * n_members);
            let (from, to) = (values.start.max(first), values.end.min(end));
            if from >= to {
                continue;
            }
            // Positions in the piece.
            let (from, to) = (from - first, to - first);
            let at = all.partition_point(|m| m.1 < from / n * n_rows);
            for member in all.iter().skip(at).take_while(|m| m.1 / n_rows * n < to) {
                let before = member.1 / n_rows * n;
                let rows = from.max(before) - before..to.min(before + n).max(before) - before;
                if !rows.is_empty() {
                    add(member, piece.start + rows.start..piece.start + rows.end)?;
                }
            }
        }
        Ok(found)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether damage of this column was found.
    pub(super) fn is_bad(&self, column: u64) -> bool {
        usize::try_from(column).ok().and_then(|i| self.lock().is_bad.get(i).copied()).unwrap_or(false)
    }

    /// Whether damage of any column was found.
    pub(super) fn is_any_bad(&self) -> bool {
        self.lock().is_bad.contains(&true)
    }

    /// Records that this generation shares damage that a newer one lists.
    pub(super) fn share(&self) {
        self.lock().is_shared = true;
    }

    /// As [`share`](Self::share), for damage of a column.
    pub(super) fn share_column(&self, column: &ColumnInfo) {
        self.set_bad(column);
        self.share();
    }

    /// As [`share`](Self::share), for damage of a block.
    pub(super) fn share_block(&self, column: &ColumnInfo, values: Range<u64>) -> Result<()> {
        self.share_column(column);
        self.members_of(column, &values)?.iter().for_each(|(member, _)| self.set_bad(member));
        fallible::push(&mut self.lock().blocks, (column.index, values), PARTS)
    }

    /// The damaged blocks, as the column's number in the file and the block's first value.
    pub(super) fn blocks(&self) -> Vec<(u64, u64)> {
        self.lock().blocks.iter().map(|(column, values)| (*column, values.start)).collect()
    }

    /// Takes damage outside of columns. Other errors stay errors.
    pub(super) fn check<T>(&self, result: Result<T>) -> Result<Option<T>> {
        self.check_in(None, None, result)
    }

    /// Takes damage of a whole column.
    pub(super) fn check_column<T>(&self, column: &ColumnInfo, result: Result<T>) -> Result<Option<T>> {
        let result = result.map_err(|e| e.in_column(&column.name));
        self.check_in(Some(column), Some(0..column.record.n_values), result)
    }

    /// Records damage of a block. If bundled columns have values in it, they are recorded as
    /// damaged instead of their storage column.
    pub(super) fn check_block<T>(
        &self,
        column: &ColumnInfo,
        values: Range<u64>,
        result: Result<T>,
    ) -> Result<Option<T>> {
        let error = match result {
            Err(error) if error.kind() == Kind::Corrupt => error,
            result => return result.map(Some),
        };
        let mut inner = self.lock();
        fallible::push(&mut inner.blocks, (column.index, values.clone()), PARTS)?;
        drop(inner);
        if column.record.is_bundle {
            let mut is_found = false;
            for (member, part) in self.members_of(column, &values)? {
                let location = error.location();
                let mut copy = Error::corrupt(error.message().to_owned()).in_column(&member.name);
                if let Some(block) = location.block {
                    copy = copy.in_block(block);
                }
                if let Some(page) = location.page {
                    copy = copy.in_page(page);
                }
                if let Some(at) = location.at {
                    copy = copy.at(at);
                }
                is_found = true;
                self.add(Some(member), Some(part), copy)?;
            }
            if is_found {
                self.set_bad(column);
                return Ok(None);
            }
        }
        self.add(Some(column), Some(values), error)?;
        Ok(None)
    }

    fn check_in<T>(
        &self,
        column: Option<&ColumnInfo>,
        values: Option<Range<u64>>,
        result: Result<T>,
    ) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == Kind::Corrupt => {
                self.add(column, values, error)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn set_bad(&self, column: &ColumnInfo) {
        if let Some(is_bad) = self.lock().is_bad.get_mut(column.index as usize) {
            *is_bad = true;
        }
    }

    fn add(&self, column: Option<&ColumnInfo>, values: Option<Range<u64>>, error: Error) -> Result<()> {
        if let Some(column) = column {
            self.set_bad(column);
        }
        let mut inner = self.lock();
        // One damaged byte may be met by several checks.
        let is_same = |raw: &Raw| {
            column.is_none()
                && raw.error.location().at.is_some()
                && raw.error.location().at == error.location().at
                && raw.error.message() == error.message()
        };
        if inner.first.values().any(is_same) {
            return Ok(());
        }
        inner.n += 1;
        // Damage outside of columns comes first.
        let number = column.map_or(0, |column| column.index + 1);
        let key = (number, values.as_ref().map_or(0, |values| values.start), inner.n);
        let column = column.map(|column| column.index);
        inner.first.insert(key, Raw { column, values, error });
        if inner.first.len() > MOST_DAMAGES {
            inner.first.pop_last();
        }
        Ok(())
    }

    /// Ends the search.
    pub(super) fn survey(self, file: &File, report: Report) -> Result<Survey> {
        let Inner { first, n, mut is_bad, mut blocks, is_shared } =
            self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Children come after their parents.
        for column in self.columns.iter().rev() {
            let parent = column.record.parent.and_then(|parent| usize::try_from(parent).ok());
            if let (Some(parent), Some(true)) = (parent, is_bad.get(column.index as usize)) {
                is_bad.get_mut(parent).into_iter().for_each(|bad| *bad = true);
            }
        }
        blocks.sort_unstable_by_key(|(column, values)| (*column, values.start));
        let n_sound = is_bad.iter().filter(|bad| !**bad).count() as u64;
        let (mut damages, mut error) = (Vec::new(), None);
        for raw in first.into_values() {
            let column = raw.column.and_then(|number| self.columns.get(number as usize));
            let (mut path, mut table, mut number, mut values) = (None, None, None, None);
            if let Some(column) = column {
                let (name, top) = path_of(self.columns, column);
                values = raw.values.map(|values| rows_of(file, self.columns, column, values));
                let found = table_of(file, top)?;
                path = Some(name);
                number = Some(found.map_or(top, |(_, number)| number));
                table = found.map(|(table, _)| table);
            }
            let (message, location) = (raw.error.message().to_owned(), raw.error.location().clone());
            damages.push(Damage { generation: None, column: path, table, number, values, message, location });
            error.get_or_insert(raw.error);
        }
        let is_sound = n == 0 && !is_shared;
        Ok(Survey {
            report,
            damages,
            n_damages: n,
            n_sound,
            generations: Vec::from_iter((!is_sound).then(|| file.generation())),
            is_newest_sound: is_sound,
            last_sound: None,
            blocks,
            error,
            is_shared,
        })
    }
}

/// The most names in a path. It bounds the path in a file whose parents form a cycle.
const DEEPEST: usize = 128;

/// The parents of a column, from the nearest on.
fn parents<'a>(columns: &'a [ColumnInfo], column: &'a ColumnInfo) -> impl Iterator<Item = &'a ColumnInfo> {
    let parent = |column: &&ColumnInfo| columns.get(usize::try_from(column.record.parent?).ok()?);
    std::iter::successors(parent(&column), parent).take(DEEPEST)
}

/// The names of a column and its parents, and the number of the outermost of these columns.
fn path_of(columns: &[ColumnInfo], column: &ColumnInfo) -> (String, u64) {
    let (mut names, mut top) = (vec![column.name.as_str()], column.index);
    for parent in parents(columns, column) {
        names.push(&parent.name);
        top = parent.index;
    }
    names.reverse();
    if names.len() > 1 {
        // Child offsets have no name.
        names.retain(|name| !name.is_empty());
    }
    (names.join("."), top)
}

/// The table of this column of the file, and the number of the column in the table.
fn table_of(file: &File, column: u64) -> Result<Option<(u64, u64)>> {
    for number in 0..file.n_tables() {
        match file.table(number) {
            Ok(table) => {
                if let Some(position) = table.position(column) {
                    return Ok(Some((number, position)));
                }
            }
            Err(error) if error.kind() != Kind::Corrupt => return Err(error),
            Err(_) => {}
        }
    }
    Ok(None)
}

/// The range of values of the outermost parent that contains these values. If the structure of a
/// parent cannot be read, the range covers whole blocks.
fn rows_of(file: &File, columns: &[ColumnInfo], column: &ColumnInfo, mut values: Range<u64>) -> Range<u64> {
    let mut child = column;
    for parent in parents(columns, column) {
        values = parent_values(file, parent, child, values).unwrap_or(0..parent.record.n_values);
        child = parent;
    }
    values
}

/// The values of a parent to which some values of its child belong.
fn parent_values(
    file: &File,
    parent: &ColumnInfo,
    child: &ColumnInfo,
    values: Range<u64>,
) -> Result<Range<u64>> {
    let record = &parent.record;
    let of = &record.column_type;
    let position = child.index.saturating_sub(record.first_child.unwrap_or(child.index));
    let is_offsets = of.has_child_offsets() && position + 1 == u64::from(record.n_children);
    let blocks = file.blocks(parent.index)?;
    if is_offsets {
        let n_types = u64::from(record.n_children).saturating_sub(1).max(1);
        let of_block = |number: u64| usize::try_from(number / n_types).ok().and_then(|i| blocks.get(i));
        let last = values.end.saturating_sub(1);
        let ends = (of_block(values.start), of_block(last));
        let (Some(first), Some(last)) = ends else { return Ok(0..record.n_values) };
        return Ok(first.first_value..last.end_value());
    }
    match of.physical {
        Physical::Struct => return Ok(values),
        _ if of.is_sparse() => return Ok(values),
        Physical::FixedSizeList => {
            let n = u64::from(of.value_len).max(1);
            return Ok(values.start / n..values.end.div_ceil(n));
        }
        Physical::List | Physical::Map | Physical::RunEnd => {}
        _ => return Ok(0..record.n_values),
    }
    // The first value of a run belongs to the row that begins the run.
    let before = |value: u64| blocks.partition_point(|block| block.first_child <= value);
    let first = before(values.start).saturating_sub(1);
    let last = before(values.end.saturating_sub(1)).saturating_sub(1);
    let (Some(first), Some(last)) = (blocks.get(first), blocks.get(last)) else {
        return Ok(0..record.n_values);
    };
    let mut rows = first.first_value..last.end_value();
    if let Ok(counts) = counts(file, parent, first.first_value..first.end_value()) {
        let mut next = first.first_child;
        let ends = |count: &u64| {
            next = next.saturating_add(*count);
            next > values.start
        };
        rows.start += counts.iter().position(ends).unwrap_or(0) as u64;
    }
    if let Ok(counts) = counts(file, parent, last.first_value..last.end_value()) {
        let mut next = last.first_child;
        let begins_after = |count: &u64| {
            let is_after = *count > 0 && next >= values.end;
            next = next.saturating_add(*count);
            is_after
        };
        let n = counts.iter().position(begins_after).unwrap_or(counts.len());
        rows.end = last.first_value + n as u64;
    }
    Ok(rows.start..rows.end.max(rows.start))
}

/// The number of child values of each row of a list, map or run-end column, in one block.
fn counts(file: &File, parent: &ColumnInfo, rows: Range<u64>) -> Result<Vec<u64>> {
    let n = (rows.end - rows.start) as usize;
    let width = parent.record.column_type.layout().width().unwrap_or(1);
    let mut bytes: Vec<u8> = fallible::defaults(n * width, PARTS)?;
    let mut mask: Vec<u8> = fallible::defaults(n, PARTS)?;
    let output = match parent.record.column_type.layout().physical {
        Physical::Bool => Output::Bools(&mut bytes),
        _ => Output::Words(&mut bytes),
    };
    let missing = MissingTo::Mask(&mut mask);
    let request = Request { column: parent.index, rows: Rows::Range(rows), output, missing };
    file.read(vec![request], Some(1), &crate::monitor::Silent)?;
    let count = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
    let counts = bytes.chunks_exact(width.max(1)).zip(&mask);
    fallible::collect(counts.map(|(bytes, &missing)| if missing == 0 { count(bytes) } else { 0 }), PARTS)
}
