//! Where a value is, as the code of R that gets it.

use std::fmt::Write;

/// A place in [`Paths`]; `None` for the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path(Option<usize>);

impl Path {
    /// The whole value.
    pub(super) fn root() -> Self {
        Self(None)
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `[[i]]`, counted from 0.
    Item(usize),
    /// `$name`.
    Name(String),
    /// `attr(x, "name")`.
    Attribute(String),
    /// `x@name`.
    Slot(String),
    /// A function of R that gives a part, such as `body`.
    Part(&'static str),
}

/// All steps that were taken. A step refers to the one before it.
#[derive(Default)]
pub(super) struct Paths(Vec<(Path, Step)>);

impl Paths {
    /// The path of a part.
    pub(super) fn add(&mut self, to: Path, step: Step) -> Path {
        self.0.push((to, step));
        Path(Some(self.0.len() - 1))
    }

    /// The path as text, whose middle is cut out if it is long.
    pub(super) fn text(&self, path: &Path) -> String {
        let mut steps = Vec::new();
        let mut at = *path;
        while let Some((before, step)) = at.0.and_then(|i| self.0.get(i)) {
            steps.push(step);
            at = *before;
        }
        let mut text = "x".to_owned();
        for step in steps.into_iter().rev() {
            let written = match step {
                Step::Item(i) => write!(text, "[[{}]]", i + 1),
                Step::Name(name) => write!(text, "${}", quoted(name)),
                Step::Slot(name) => write!(text, "@{}", quoted(name)),
                Step::Attribute(name) => {
                    text = format!("attr({text}, {name:?})");
                    Ok(())
                }
                Step::Part(function) => {
                    text = format!("{function}({text})");
                    Ok(())
                }
            };
            debug_assert!(written.is_ok());
        }
        let n = text.chars().count();
        if n <= 300 {
            return text;
        }
        let (start, end): (String, String) =
            (text.chars().take(140).collect(), text.chars().skip(n - 150).collect());
        format!("{start} ... {end}")
    }
}

/// A name as code, in quotes where R needs them.
fn quoted(name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    let is_plain = name.starts_with(|c: char| c.is_alphabetic() || c == '.') && name.chars().all(is_part);
    if is_plain { name.to_owned() } else { format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_code_of_r() {
        let mut paths = Paths::default();
        let list = paths.add(Path::root(), Step::Name("a b".to_owned()));
        let item = paths.add(list, Step::Item(2));
        let attribute = paths.add(item, Step::Attribute(".Environment".to_owned()));
        let body = paths.add(attribute, Step::Part("body"));
        assert_eq!(paths.text(&Path::root()), "x");
        assert_eq!(paths.text(&body), "body(attr(x$`a b`[[3]], \".Environment\"))");
    }
}
