//! Where a value is, as the code of R that gets it.

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An element, from 0.
    Index(usize),
    /// An element by its name.
    Name(String),
    /// An attribute.
    Attribute(String),
    /// The result of a function of R on the value.
    Of(&'static str),
}

/// The path of the value at the end of some steps. `root`: the name of the outermost value, empty
/// for a workspace.
pub(crate) fn text_of<'s>(root: &str, steps: impl IntoIterator<Item = &'s Step>) -> String {
    let mut path = root.to_owned();
    for step in steps {
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
    path
}

/// A name as it is written after `$`.
fn quoted(name: &str) -> String {
    let name = shortened(name);
    let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '_'))
        && name.starts_with(|letter: char| letter.is_alphabetic() || letter == '.');
    if is_plain { name.to_owned() } else { format!("`{name}`") }
}

/// The first 100 characters of a name. A message escapes its control characters.
pub(crate) fn shortened(name: &str) -> &str {
    name.char_indices().nth(100).map_or(name, |(end, _)| &name[..end])
}
