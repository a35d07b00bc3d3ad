//! The tokens of a WHERE clause.

use entasis::{Error, Result};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    Word(String),
    /// A column in quotes.
    Quoted(String),
    Number(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: [&str; 11] = ["==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ","];

/// The error that a clause needs something else at a position.
pub(crate) fn wrong(text: &str, at: usize, wanted: &str) -> Error {
    let rest: String = text[at..].chars().take(20).collect();
    let found =
        if rest.trim().is_empty() { "the end".to_owned() } else { format!("{:?}", rest.trim_start()) };
    let position = text[..at].chars().count() + 1;
    Error::argument(format!("the condition needs {wanted} at character {position}, not {found}"))
}

/// The token after a position, and its end.
pub(crate) fn token(text: &str, at: usize) -> Result<Option<(Token, usize)>> {
    let rest = text[at..].trim_start();
    let start = text.len() - rest.len();
    let Some(first) = rest.chars().next() else { return Ok(None) };
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok(Some((Token::Sign(sign), start + sign.len())));
    }
    if first == '\'' || first == '"' {
        let mut content = String::new();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            let is_end = c == first && chars.next_if(|(_, next)| *next == first).is_none();
            if is_end {
                let token = if first == '"' { Token::Quoted(content) } else { Token::Text(content) };
                return Ok(Some((token, start + i + 1)));
            }
            content.push(c);
        }
        return Err(Error::argument(format!("the condition has a text without an end: {rest}")));
    }
    let is_number = first.is_ascii_digit() || matches!(first, '-' | '+' | '.');
    let is_part = |(i, c): (usize, char)| match c {
        '-' | '+' if is_number => i == 0 || rest[..i].ends_with(['e', 'E']),
        '.' | '_' => true,
        c => c.is_alphanumeric(),
    };
    let len = rest.char_indices().find(|&part| !is_part(part)).map_or(rest.len(), |(i, _)| i);
    if len == 0 {
        return Err(wrong(text, at, "a column, a value or a sign"));
    }
    let word = rest[..len].to_owned();
    let token = if is_number { Token::Number(word) } else { Token::Word(word) };
    Ok(Some((token, start + len)))
}

/// The words and quoted names of a clause, among them all names of columns. A name of a field has
/// points.
///
/// # Errors
/// *Argument* for text that has no tokens.
///
/// ```
/// let names = entasis_query::where_words("a > 1 and \"b c\" = 'x'").unwrap();
/// assert_eq!(names, ["a", "and", "b c"]);
/// ```
pub fn where_words(text: &str) -> Result<Vec<String>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((next, end)) = token(text, at)? {
        if let Token::Word(name) | Token::Quoted(name) = next {
            found.push(name);
        }
        at = end;
    }
    Ok(found)
}
