//! Values that the model does not hold, with their paths.
//!
//! The names of a list follow after its elements. So the reader keeps the first refused value in
//! mind, reads on, and each list on the way out adds a step to the path.

use std::fmt::Write;

use entasis::Error;

use crate::path::text_of;
pub(super) use crate::path::{Step, shortened};
use crate::r::{Data, Value};

/// The first value that is refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    what: String,
    /// The steps from the value outwards.
    steps: Vec<Step>,
}

impl Refusal {
    pub(super) fn new(what: String) -> Self {
        Self { what, steps: Vec::new() }
    }

    pub(super) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The error. `root`: the name of the outermost value, empty for a workspace.
    pub(super) fn error(&self, root: &str) -> Error {
        let path = text_of(root, self.steps.iter().rev());
        let mut message = self.what.clone();
        // Writing to a string does not fail.
        let _ = write!(message, " at {path}");
        Error::unsupported(message).advise("save it with R without this value")
    }
}

/// The step to element `i` of a list with its attributes.
pub(super) fn element(list: &Value, i: usize) -> Step {
    let names = list.attribute("names").and_then(Value::strings);
    match names.and_then(|names| names.get(i)) {
        Some(name) if !name.is_empty() => Step::Name(name.to_owned()),
        _ => Step::Index(i),
    }
}

/// The name of a type for messages.
pub(super) fn type_of(data: &Data) -> String {
    format!("a value of type {}", data.type_name())
}
