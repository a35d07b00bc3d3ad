//! Values of R as the document that the R package writes for them (`docs/format/hosts/r.md`).
//!
//! Data frames and vectors become tables, other values become cells. A table may refer to cells
//! (columns of lists), and cells to tables. So tables wait in a queue while cells are walked.

mod choose;
mod columns;
mod encode;
mod environments;
mod facts;
mod frames;
mod memory;
mod path;
mod pools;
mod repeats;
mod shapes;
mod walk;

use std::sync::Arc;

use entasis::{Buffer, Column, Content, Document, Error, Frame, HostRead, Result};

pub use self::facts::Facts;
use self::frames::Table;
use self::path::Path;
use self::walk::Walker;
use super::{Value, Values};

/// How values are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOptions {
    /// Whether functions, promises and active bindings are stored. Without it they are refused.
    pub functions: bool,
}

/// The tables and cells of a value, which borrow it.
pub struct Plan<'a> {
    tables: Vec<Table<'a>>,
    walker: Walker<'a>,
    /// The cell that is the value; `None` if it is the first table.
    root: Option<u64>,
    /// The cell with the environments.
    environments: Option<u64>,
}

/// A table that waits to be planned: a frame or a vector, and where it is.
struct Waiting<'a> {
    value: &'a Value,
    path: Path,
}

/// The state of planning.
struct Planner<'a> {
    walker: Walker<'a>,
    /// The facts of the columns of the frame, which has a part of their values. Empty for a whole
    /// frame.
    facts: Vec<Facts>,
    /// The facts of the column that is planned.
    current: Option<Facts>,
}

impl<'a> Plan<'a> {
    /// Plans the file of some values.
    ///
    /// # Errors
    /// *Unsupported* with the path of a value that can't be stored.
    pub fn new(values: &'a Values, options: PlanOptions) -> Result<Self> {
        Self::of_part(values, options, Vec::new())
    }

    /// Plans the table of some rows of a data frame of atomic vectors. The columns have the form of
    /// columns with these facts, which include those of the rows.
    ///
    /// # Errors
    /// *Argument* for values that do not have the facts.
    pub fn of_part(values: &'a Values, options: PlanOptions, facts: Vec<Facts>) -> Result<Self> {
        let mut planner = Planner { walker: Walker::new(values, options), facts, current: None };
        let value = &values.value;
        let is_atomic = columns::is_atomic(&value.data);
        let root = if is_atomic || shapes::is_frame(value) {
            planner.walker.add_table(value, Path::root());
            None
        } else {
            Some(planner.walker.walk(value, Path::root())?)
        };
        let mut tables = Vec::new();
        let mut records = Vec::new();
        loop {
            if let Some(waiting) = planner.walker.next_table() {
                tables.push(planner.table(waiting)?);
            } else if let Some((environment, path)) = planner.walker.next_environment()? {
                records.push(planner.walker.walk_environment(environment, path)?);
            } else {
                break;
            }
        }
        let environments = if records.is_empty() { None } else { Some(planner.walker.references(&records)) };
        planner.walker.finish();
        Ok(Self { tables, walker: planner.walker, root, environments })
    }

    /// Which extra columns of the first table have a value for each of its rows.
    pub fn labels(&self) -> Vec<usize> {
        self.tables.first().map(Table::labels).unwrap_or_default()
    }

    /// The memory of converted values, which do not borrow from the vectors of R. It stays where it
    /// is.
    pub(crate) fn into_memory(self) -> Vec<Arc<Buffer>> {
        self.tables.into_iter().flat_map(Table::into_memory).collect()
    }

    /// The content of a file. `lend` makes the handle of memory; the caller keeps this plan for as
    /// long as the content.
    pub fn content(&self, lend: &dyn Fn(&[u8]) -> HostRead) -> Result<Content> {
        let mut frames = self.tables.iter().map(|table| table.frame(lend)).collect::<Result<Vec<Frame>>>()?;
        if self.root.is_none() && self.environments.is_none() && self.walker.is_empty() && frames.len() == 1 {
            return Ok(Content::Frame(frames.remove(0)));
        }
        let (columns, names): (Vec<Column>, _) = self.walker.columns(lend)?;
        let root = self.root.map_or(entasis::Value::Table(0), entasis::Value::Cell);
        let mut pairs = vec![("value", root), ("host", entasis::Value::from("r")), ("cells", names)];
        pairs.extend(self.environments.map(|cell| ("environments", entasis::Value::Cell(cell))));
        Ok(Content::Document(Document { frames, columns, value: entasis::Value::map(pairs) }))
    }
}

/// The attributes of a value, in order, without those of a session.
fn attributes(value: &Value) -> impl Iterator<Item = (&str, &Value)> + Clone {
    let stored = value.attributes().iter().filter(|(name, _)| name != ".internal.selfref");
    stored.map(|(name, value)| (name.as_str(), value))
}

/// The strings of the attribute `class`.
fn classes(value: &Value) -> Vec<&str> {
    let classes = value.attribute("class").and_then(Value::strings);
    classes.map(|classes| classes.iter().flatten().collect()).unwrap_or_default()
}

/// The error of a value that can't be stored.
fn refused(path: &Path, paths: &path::Paths, why: &str) -> Error {
    Error::unsupported(format!("{}: {why}", paths.text(path)))
}
