//! Values that the model does not hold, with their paths.
//!
//! The names of a list follow after its elements. So the reader keeps the first refused value in
//! mind, reads on, and each list on the way out adds a step to the path.

use std::fmt::Write;

use entasis::Error;

use crate::r::{Data, Value};

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// An element, from 0.
    Index(usize),
    /// An element by its name.
    Name(String),
    /// An attribute.
    Attribute(String),
    /// The result of a function of R on the value.
    Of(&'static str),
}

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
        let mut path = root.to_owned();
        for step in self.steps.iter().rev() {
            path = match step {
                Step::Index(i) => format!("{path}[[{}]]", i + 1),
                Step::Name(name) if path.is_empty() => quoted(name),
                Step::Name(name) => format!("{path}${}", quoted(name)),
                Step::Attribute(name) => format!("attr({path}, {:?})", shortened(name)),
                Step::Of(function) => format!("{function}({path})"),
            };
            // A message shows 300 characters.
            if path.len() > 250 {
                let cut = (0..=200).rev().find(|&at| path.is_char_boundary(at)).unwrap_or(0);
                path.truncate(cut);
                path.push_str(" ...");
                break;
            }
        }
        let mut message = self.what.clone();
        // Writing to a string does not fail.
        let _ = write!(message, " at {path}");
        Error::unsupported(message).advise("save it with R without this value")
    }
}

/// A name as it is written after `$`.
fn quoted(name: &str) -> String {
    let name = shortened(name);
    let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '_'))
        && name.starts_with(|letter: char| letter.is_alphabetic() || letter == '.');
    if is_plain { name.to_owned() } else { format!("`{name}`") }
}

/// The first 100 characters of a name. A message escapes its control characters.
pub(super) fn shortened(name: &str) -> &str {
    name.char_indices().nth(100).map_or(name, |(end, _)| &name[..end])
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
