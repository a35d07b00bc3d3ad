//! Conditions of R on the rows of a text.
//!
//! The meaning of a comparison in R depends on the class of the column, and thereby on the type of
//! all its values. R code passes each part of a condition as a map from types to nodes of
//! `filters.rs`. A type without nodes is an error of the kind *unsupported*: R then reads all rows
//! and evaluates the condition itself.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use entasis::{Error, Result, Silent, Value};
use entasis_csv::Type;
use entasis_csv::condition::Condition;
use entasis_csv::frame::{Lent, Values};
use entasis_csv::piece::TextLayout;
use entasis_query::{Predicate, Scan};

use super::memory::in_memory;
use crate::filters::{misshapen, predicate};
use crate::guard::{Text, slice};
use crate::nodes::{self, Node};

/// A condition as C passes it.
#[repr(C)]
pub struct NewCondition {
    /// The names of its columns.
    columns: *const Text,
    n_columns: usize,
    nodes: *const Node,
    n_nodes: usize,
}

/// The type of a column in a chunk, as the maps of a condition name it.
type Form = &'static str;

/// The predicates of a condition, by the types of its columns.
type Bound = Mutex<Vec<(Vec<(Type, Form)>, Arc<Predicate>)>>;

/// A condition that is bound anew for other types of its columns.
pub struct ByType {
    columns: Vec<String>,
    tree: Value,
    bound: Bound,
}

impl ByType {
    /// The condition that C lends; `None` for null.
    ///
    /// # Safety
    /// The texts and nodes must be valid.
    pub unsafe fn of(condition: *const NewCondition) -> Result<Option<Arc<Self>>> {
        // SAFETY: as the caller promises.
        let Some(condition) = (unsafe { condition.as_ref() }) else { return Ok(None) };
        // SAFETY: as the caller promises.
        let names = unsafe { slice(condition.columns, condition.n_columns) };
        // SAFETY: as the caller promises.
        let names = names.iter().map(|name| unsafe { name.text() }.map(str::to_owned));
        let columns = names.collect::<Result<_>>()?;
        // SAFETY: as the caller promises.
        let tree = unsafe { nodes::parse(slice(condition.nodes, condition.n_nodes), 0) }?;
        Ok(Some(Arc::new(Self { columns, tree, bound: Bound::default() })))
    }
}

impl fmt::Debug for ByType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByType").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Condition for ByType {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn test(&self, columns: &[Lent<'_>], n: usize, layout: TextLayout) -> Result<Vec<u64>> {
        let file = in_memory(columns, n as u64, layout, 1, &Silent)?;
        let types: Vec<_> = columns.iter().map(|column| (column.of, form(column))).collect();
        let known = || {
            let bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
            bound.iter().find(|(known, _)| *known == types).map(|(_, predicate)| Arc::clone(predicate))
        };
        let predicate = match known() {
            Some(predicate) => predicate,
            None => {
                let forms: Vec<Form> = types.iter().map(|&(_, form)| form).collect();
                let made = Arc::new(predicate(&file, &chosen(&self.tree, &forms)?)?);
                let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
                bound.push((types, Arc::clone(&made)));
                made
            }
        };
        Ok(Scan::new(&file, &predicate)?.bits(Some(1), &Silent)?.words().to_vec())
    }
}

/// The tree with the nodes for these types.
fn chosen(tree: &Value, forms: &[Form]) -> Result<Value> {
    let Value::List(items) = tree else { return Err(misshapen()) };
    match items.as_slice() {
        [Value::Str(name), rest @ ..] if matches!(name.as_str(), "and" | "or" | "not") => {
            let first = std::iter::once(Ok(Value::Str(name.clone())));
            let parts = first.chain(rest.iter().map(|part| chosen(part, forms)));
            parts.collect::<Result<_>>().map(Value::List)
        }
        [Value::Str(name), Value::Int(column), Value::Map(by_type)] if name == "typed" => {
            let form = usize::try_from(*column).ok().and_then(|column| forms.get(column));
            let form = form.ok_or_else(misshapen)?;
            let found = by_type.iter().find(|(key, _)| key.as_str() == Some(form));
            let found = found.map(|(_, nodes)| nodes.clone());
            found.ok_or_else(|| Error::unsupported(format!("this condition on a column of type {form}")))
        }
        _ => Ok(tree.clone()),
    }
}

/// The type of values. Integers beyond those of R have types of their own.
fn form(column: &Lent<'_>) -> Form {
    match column.of {
        Type::Null => "null",
        Type::Bool => "bool",
        Type::INT => form_of_integers(&column.pieces),
        Type::UINT => "uint64",
        Type::Int { bytes: 4, is_signed: true } => "int32",
        Type::FLOAT => "float64",
        Type::Date => "date",
        Type::Datetime { .. } => "datetime",
        Type::Categorical => "categorical",
        Type::Text => "string",
        _ => "other",
    }
}

fn form_of_integers(pieces: &[Values<'_>]) -> Form {
    let mut form = "int64";
    for piece in pieces {
        let is_present = |i: usize| piece.validity.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
        let values: &[i64] = bytemuck::cast_slice(piece.values);
        for (_, &value) in values.iter().enumerate().filter(|&(i, _)| is_present(i)) {
            match value {
                i64::MIN => return "least",
                value if value.unsigned_abs() > i32::MAX as u64 => form = "wide",
                _ => {}
            }
        }
    }
    form
}
