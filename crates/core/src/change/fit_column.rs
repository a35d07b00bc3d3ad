//! Decides how each column of rows to append fits the file (`docs/guides/append.md`): in place, or
//! with another type for the column of the file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use entasis_format::{ColumnType, Error, Physical, Result, Value};

use super::categories::{self, Joint, most_categories};
use super::fit::{self, HostType, Kind, Marker, Refusal, Unfit, Wider};
use super::kept_values::values;
use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Chunk, Column, Frame};
use crate::monitor::Monitor;

/// The advice when no type holds both columns.
const CONVERT: &str = "convert one of them";

/// Returns the host map with the labels of more columns, given the host map of the file and the
/// names of all columns.
pub type Labels<'a> = &'a dyn Fn(&Value, &[String]) -> Result<Value>;

/// How the rows of another file may differ from those of a file
/// ([`Change::append_file`](crate::Change::append_file)).
#[derive(Clone, Copy, Default)]
pub struct AppendOptions<'a> {
    /// Columns that the rows or the file lack become missing values.
    pub fill: bool,
    /// A column of the file gets a wider type if its own does not hold the rows.
    pub widen: bool,
    /// The labels of columns that the file gets. Without it, their names are the only labels.
    pub labels: Option<Labels<'a>>,
}

impl std::fmt::Debug for AppendOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppendOptions").field("fill", &self.fill).field("widen", &self.widen).finish()
    }
}

/// How a column takes the rows.
#[derive(Debug)]
pub(super) enum Fitted {
    /// The rows have the type of the file.
    InPlace(Chunk),
    /// The column is stored anew.
    Anew(Box<Anew>),
}

/// A column of the file that is stored anew, or a new one.
#[derive(Debug)]
pub(super) struct Anew {
    /// The values of the file and the rows, without a dictionary.
    pub(super) column: Column,
    /// The categories, and their index in the extra columns of the rows.
    pub(super) dictionary: Option<(usize, Column)>,
    /// Whether the host describes the column as that of the rows.
    pub(super) is_of_rows: bool,
}

/// The columns of a file and of the rows to append.
pub(super) struct FitColumns<'a> {
    host: &'a str,
    file: File,
    frame: &'a Frame,
    /// The rows of the file.
    n_old: usize,
    rows: File,
    part: &'a Frame,
    options: &'a AppendOptions<'a>,
    monitor: &'a dyn Monitor,
    /// The categories of each dictionary of the file that the rows use.
    joint: HashMap<usize, Joint>,
}

type Refused<T> = std::result::Result<T, Refusal>;

impl<'a> FitColumns<'a> {
    pub(super) fn new(
        file: &File,
        frame: &'a Frame,
        n_old: u64,
        rows: &File,
        part: &'a Frame,
        options: &'a AppendOptions<'a>,
        monitor: &'a dyn Monitor,
    ) -> Result<Self> {
        let host = frame.host.get("host").and_then(Value::as_str).unwrap_or_default();
        let n_old = usize::try_from(n_old).map_err(|_| Error::argument("too many rows"))?;
        let (file, rows) = (file.whole(), rows.whole());
        Ok(Self { host, file, frame, n_old, rows, part, options, monitor, joint: HashMap::new() })
    }

    /// Fits a column of the rows to a column of the file.
    pub(super) fn column(&mut self, position: usize, from: usize) -> Result<Fitted> {
        let (frame, part) = (self.frame, self.part);
        let (old, new) = (nth(&frame.columns, position)?, nth(&part.columns, from)?);
        let mut chunk = self.of_rows(new)?;
        if is_same(frame, position, part, from) {
            if let (Some(old_extra), Some(new_extra)) = (old.dictionary, new.dictionary) {
                let more = self.of_rows(nth(&part.extra, new_extra)?)?;
                if let Some(codes) = self.joint(old, old_extra)?.add(&more, &old.column_type)? {
                    chunk = categories::recoded(chunk, &old.column_type, &codes)?;
                }
            }
            return Ok(Fitted::InPlace(chunk));
        }
        let (of_old, of_new) = (HostType::of(self.host, old), HostType::of(self.host, new));
        if of_old.is_untyped() && self.is_empty(old)? {
            return self.with_type_of_rows(from, chunk);
        }
        if fit::is_empty(&chunk, &of_new)? {
            return self.missing(position);
        }
        let unfit = match self.fit(old, new, &chunk) {
            Ok(chunk) => return Ok(Fitted::InPlace(chunk)),
            Err(Refusal::Error(error)) => return Err(error),
            Err(Refusal::Unfit(unfit)) => unfit,
        };
        if self.is_empty(old)? {
            return self.with_type_of_rows(from, chunk);
        }
        self.widened(old, new, &chunk, &unfit)
    }

    /// Missing values for a column of the file.
    pub(super) fn missing(&self, position: usize) -> Result<Fitted> {
        let old = nth(&self.frame.columns, position)?;
        let of_old = HostType::of(self.host, old);
        if let Some(chunk) = fit::missing(&of_old, self.n_new()?)? {
            return Ok(Fitted::InPlace(chunk));
        }
        let old_values = values(&self.file, old, self.monitor)?;
        let error = Error::argument(format!("the type {} of the file has no missing value", of_old.name()));
        let Some(wider) = fit::with_missing(&of_old, floats_hold(&old_values, &of_old)?) else {
            return Err(error.advise(CONVERT));
        };
        let to = wider.in_host(self.host);
        if !self.options.widen {
            return Err(error.advise(format!("`widen` makes it {}", to.name())));
        }
        let (Ok(before), Some(rows)) =
            (fit::convert(&old_values, &of_old, &to), fit::missing(&to, self.n_new()?)?)
        else {
            return Err(error.advise(CONVERT));
        };
        Ok(Fitted::Anew(Box::new(anew(&old.name, wider, [before, rows]))))
    }

    /// A column of the rows that the file lacks, as the last column.
    pub(super) fn added(&self, from: usize) -> Result<Fitted> {
        let new = nth(&self.part.columns, from)?;
        let named = |e: Error| e.in_column(&new.name);
        let of_new = HostType::of(self.host, new);
        if self.n_old > 0 && of_new.marker() == Marker::None && !self.options.widen {
            let chunk = self.of_rows(new).map_err(named)?;
            let wider = fit::with_missing(&of_new, floats_hold(&chunk, &of_new).map_err(named)?);
            let advice = match wider {
                Some(wider) => format!("convert it, or `widen` makes it {}", wider.in_host(self.host).name()),
                None => "convert it".to_owned(),
            };
            let message = format!(
                "the type {} of a new column has no missing value for the rows before",
                of_new.name()
            );
            return Err(named(Error::argument(message).advise(advice)));
        }
        let chunk = self.of_rows(new).map_err(named)?;
        self.with_type_of_rows(from, chunk).map_err(named)
    }

    /// The categories that the dictionaries of the file get.
    pub(super) fn categories(self) -> Result<Vec<(usize, Chunk)>> {
        let mut found = Vec::new();
        for (index, joint) in self.joint {
            found.extend(joint.added()?.map(|chunk| (index, chunk)));
        }
        Ok(found)
    }

    fn n_new(&self) -> Result<usize> {
        usize::try_from(self.part.n_rows).map_err(|_| Error::argument("too many rows"))
    }

    /// The values of a column of the rows.
    fn of_rows(&self, column: &Column) -> Result<Chunk> {
        values(&self.rows, column, self.monitor).map_err(|e| e.in_file(self.rows.path()))
    }

    /// The categories of a column of the file, which may get more of them.
    fn joint(&mut self, old: &Column, index: usize) -> Result<&mut Joint> {
        match self.joint.entry(index) {
            Entry::Occupied(joint) => Ok(joint.into_mut()),
            Entry::Vacant(entry) => {
                let most = most_categories(&self.frame.host, old.column_type.physical);
                let found = values(&self.file, nth(&self.frame.extra, index)?, self.monitor)?;
                Ok(entry.insert(Joint::new(found, most)))
            }
        }
    }

    /// Whether a column of the file has no rows, or only missing values. Categories of pandas are
    /// values too.
    fn is_empty(&self, old: &Column) -> Result<bool> {
        let kind = HostType::of(self.host, old).kind();
        // A class of R has a meaning without values too.
        if self.host == "r" && !matches!(kind, Kind::Bool | Kind::Int | Kind::Float | Kind::Text) {
            return Ok(false);
        }
        if self.n_old == 0 {
            return Ok(true);
        }
        let n_categories = match old.dictionary {
            Some(index) if self.host == "pandas" => self.n_values(nth(&self.frame.extra, index)?)?.0,
            _ => 0,
        };
        if n_categories > 0 {
            return Ok(false);
        }
        let of_old = HostType::of(self.host, old);
        if of_old.marker() == Marker::NaN {
            return fit::is_empty(&values(&self.file, old, self.monitor)?, &of_old);
        }
        let (n, n_missing) = self.n_values(old)?;
        Ok(n == n_missing)
    }

    /// The numbers of values and of missing ones of a kept column.
    fn n_values(&self, column: &Column) -> Result<(u64, u64)> {
        let Some(Kept::Column(number)) = column.array.kept else { return Ok((0, 0)) };
        let info = self.file.column(number)?;
        Ok((info.record.n_values, info.record.n_missing))
    }

    /// The rows in the type of the file.
    fn fit(&mut self, old: &Column, new: &Column, chunk: &Chunk) -> Refused<Chunk> {
        let (of_old, of_new) = (HostType::of(self.host, old), HostType::of(self.host, new));
        match (of_old.kind(), of_new.kind(), new.dictionary) {
            (Kind::Categorical, ..) => self.fit_categories(old, new, chunk),
            (_, Kind::Categorical, Some(index)) => {
                let dictionary = nth(&self.part.extra, index)?;
                let of_values = HostType::of(self.host, dictionary);
                let categories = self.of_rows(dictionary)?;
                let expanded = fit::expand(chunk, &new.column_type, &categories, of_values.of)?;
                fit::convert(&expanded, &of_values, &of_old)
            }
            _ => fit::convert(chunk, &of_new, &of_old),
        }
    }

    /// The codes of the rows in the file. Unordered categories become the union of both. Ordered
    /// categories take known ones.
    fn fit_categories(&mut self, old: &Column, new: &Column, chunk: &Chunk) -> Refused<Chunk> {
        let of_new = HostType::of(self.host, new);
        let is_categorical = of_new.kind() == Kind::Categorical;
        let of_old = &old.column_type;
        check_order(self.host, of_old, is_categorical.then_some(&new.column_type))?;
        let index = old.dictionary.ok_or_else(no_categories)?;
        let dictionary = nth(&self.frame.extra, index)?;
        let of_values = HostType::of(self.host, dictionary);
        let (categories, codes) = if is_categorical {
            let of_rows = nth(&self.part.extra, new.dictionary.ok_or_else(no_categories)?)?;
            let found = self.of_rows(of_rows)?;
            let of_found = HostType::of(self.host, of_rows);
            let found = match have_same_type(dictionary, of_rows) {
                true => found,
                false => fit::convert(&found, &of_found, &of_values)?,
            };
            (found, fit::codes(chunk, &new.column_type)?)
        } else {
            fit::split(&fit::convert(chunk, &of_new, &of_values)?, of_values.of)?
        };
        let to: fit::Codes = if of_old.ordered {
            let known = fit::find(&values(&self.file, dictionary, self.monitor)?, &categories)?;
            let is_in_order = known.iter().all(Option::is_some) && known.is_sorted();
            let have_order = is_categorical && new.column_type.ordered && self.host != "polars";
            if have_order && !is_in_order {
                return Err(Unfit::of("the ordered categories of the rows, or their order"));
            }
            known
        } else {
            match self.joint(old, index)?.add(&categories, of_old)? {
                Some(codes) => codes.into_iter().map(Some).collect(),
                None => (0..categories.n as u64).map(Some).collect(),
            }
        };
        fit::with_codes(&codes, &to, &categories, of_old.physical)
    }

    /// A column of missing values of the file, then the rows, in the type of the rows.
    fn with_type_of_rows(&self, from: usize, chunk: Chunk) -> Result<Fitted> {
        let new = nth(&self.part.columns, from)?;
        let of_new = HostType::of(self.host, new);
        let floats_hold = floats_hold(&chunk, &of_new)?;
        let own = if self.n_old == 0 {
            Some(Wider::of(&of_new, new.column_type))
        } else {
            fit::with_missing(&of_new, floats_hold)
        };
        let refused = || {
            let message = format!(
                "all values of the file are missing, and the type {} of the rows to append has no missing value",
                of_new.name()
            );
            Error::argument(message).advise(CONVERT)
        };
        let own = own.ok_or_else(refused)?;
        let to = own.in_host(self.host);
        let before = fit::missing(&to, self.n_old)?.ok_or_else(refused)?;
        let chunk = if to.of == of_new.of {
            chunk
        } else {
            match fit::convert(&chunk, &of_new, &to) {
                Ok(chunk) => chunk,
                Err(Refusal::Error(error)) => return Err(error),
                Err(Refusal::Unfit(_)) => return Err(refused()),
            }
        };
        let dictionary = match new.dictionary {
            Some(index) => {
                let of_rows = nth(&self.part.extra, index)?;
                let values = self.of_rows(of_rows)?;
                Some((index, Column { array: array([values]), ..described(of_rows) }))
            }
            None => None,
        };
        let anew = anew(&new.name, own, [before, chunk]);
        Ok(Fitted::Anew(Box::new(Anew { dictionary, is_of_rows: true, ..anew })))
    }

    /// The column in a wider type. An error if there is none that holds both, or if the column must
    /// keep its type.
    fn widened(&self, old: &Column, new: &Column, chunk: &Chunk, unfit: &Unfit) -> Result<Fitted> {
        let (of_old, of_new) = (HostType::of(self.host, old), HostType::of(self.host, new));
        let refused = |advice: String| Err(mismatch(&of_old, &of_new, unfit).advise(advice));
        let has_missing = fit::has_missing(chunk, &of_new)?;
        let Some(wider) = fit::wider(&of_old, &of_new, has_missing) else {
            let is_unknown = of_old.kind() == Kind::Other || of_new.kind() == Kind::Other;
            let error = mismatch(&of_old, &of_new, unfit);
            return Err(if is_unknown { error } else { error.advise(CONVERT) });
        };
        let to = wider.in_host(self.host);
        let old_values = values(&self.file, old, self.monitor)?;
        let both = [(&old_values, &of_old, "the file"), (chunk, &of_new, "the rows to append")];
        let mut converted = Vec::with_capacity(both.len());
        for (chunk, of, what) in both {
            match fit::convert(chunk, of, &to) {
                Ok(chunk) => converted.push(chunk),
                Err(Refusal::Error(error)) => return Err(error),
                Err(Refusal::Unfit(unfit)) => {
                    let reason = unfit.reason.unwrap_or_else(|| "all values".to_owned());
                    return refused(format!("{} does not hold {reason} of {what}: {CONVERT}", to.name()));
                }
            }
        }
        if !self.options.widen {
            return refused(format!("`widen` makes it {}", to.name()));
        }
        Ok(Fitted::Anew(Box::new(anew(&old.name, wider, converted))))
    }
}

/// Whether a column of the rows has the type of the file. Ordered categories may differ.
pub(super) fn is_same(frame: &Frame, position: usize, part: &Frame, from: usize) -> bool {
    let (Some(old), Some(new)) = (frame.columns.get(position), part.columns.get(from)) else { return false };
    let have_same_dictionary = match (old.dictionary, new.dictionary) {
        (Some(old), Some(new)) => match (frame.extra.get(old), part.extra.get(new)) {
            (Some(old), Some(new)) => have_same_type(old, new),
            _ => false,
        },
        (old, new) => old == new,
    };
    have_same_type(old, new) && have_same_dictionary && !old.column_type.ordered
}

fn have_same_type(old: &Column, new: &Column) -> bool {
    (&old.column_type, &old.detail, &old.host_detail) == (&new.column_type, &new.detail, &new.host_detail)
}

/// Checks that categories with an order take only values with one, as the host does. `new` is the
/// type of the rows if they are categories.
fn check_order(host: &str, old: &ColumnType, new: Option<&ColumnType>) -> Refused<()> {
    match new {
        None if old.ordered && host == "pyarrow" => Err(Unfit::of("values without an order")),
        Some(new) if host == "r" && !new.ordered => Ok(()),
        Some(new) if new.ordered != old.ordered && host != "polars" => {
            Err(Unfit::of(if old.ordered { "values without an order" } else { "an order" }))
        }
        _ => Ok(()),
    }
}

/// The error for a column whose type does not hold the rows.
fn mismatch(old: &HostType<'_>, new: &HostType<'_>, unfit: &Unfit) -> Error {
    let names = [old.name(), new.name()];
    let message = match (&unfit.reason, names[0] == names[1]) {
        (Some(reason), true) => format!("the type {} of the file does not hold {reason}", names[0]),
        (Some(reason), false) => {
            format!("the type is {} in the file, which does not hold {reason} ({})", names[0], names[1])
        }
        (None, true) => {
            format!("the type {} is that of another dtype or missing value in the rows to append", names[0])
        }
        (None, false) => {
            format!("the type is {} in the file, and {} in the rows to append", names[0], names[1])
        }
    };
    Error::argument(message)
}

/// Whether f64 holds all integers of a column.
fn floats_hold(chunk: &Chunk, of: &HostType<'_>) -> Result<bool> {
    if of.kind() != Kind::Int {
        return Ok(false);
    }
    let float = ColumnType::plain(Physical::F64);
    match fit::convert(chunk, of, &HostType { of: &float, detail: None, host_detail: None, ..*of }) {
        Ok(_) => Ok(true),
        Err(Refusal::Unfit(_)) => Ok(false),
        Err(Refusal::Error(error)) => Err(error),
    }
}

/// A column that is stored anew.
fn anew(name: &str, of: Wider, chunks: impl IntoIterator<Item = Chunk>) -> Anew {
    let Wider { column_type, detail, host_detail } = of;
    let column = Column {
        name: name.to_owned(),
        run: None,
        column_type,
        detail,
        host_detail,
        dictionary: None,
        children: Vec::new(),
        array: array(chunks),
    };
    Anew { column, dictionary: None, is_of_rows: false }
}

/// A column with the type of another one, and no values.
fn described(column: &Column) -> Column {
    Column {
        name: column.name.clone(),
        run: None,
        column_type: column.column_type,
        detail: column.detail.clone(),
        host_detail: column.host_detail.clone(),
        dictionary: None,
        children: Vec::new(),
        array: Array::default(),
    }
}

fn array(chunks: impl IntoIterator<Item = Chunk>) -> Array {
    Array::from(chunks.into_iter().filter(|chunk| chunk.n > 0).collect::<Vec<_>>())
}

fn nth(columns: &[Column], index: usize) -> Result<&Column> {
    columns.get(index).ok_or_else(no_categories)
}

fn no_categories() -> Error {
    Error::corrupt("a categorical column has no categories")
}
