//! Why a type does not hold the values of a column.

use entasis_format::{Error, printable_message};

/// The most characters of a value in a message.
const MOST_CHARACTERS: usize = 40;

/// A type does not hold the values of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::change) struct Unfit {
    /// The first value that it does not hold, with its row; `None` if it holds values of another
    /// kind.
    pub(in crate::change) reason: Option<String>,
}

impl Unfit {
    /// The types hold values of different kinds.
    pub(super) fn kind() -> Refusal {
        Refusal::Unfit(Self { reason: None })
    }

    /// The type does not hold this.
    pub(in crate::change) fn of(reason: impl Into<String>) -> Refusal {
        Refusal::Unfit(Self { reason: Some(reason.into()) })
    }

    /// The type does not hold the value of a row.
    pub(super) fn at(value: &str, row: usize) -> Refusal {
        Self::of(format!("{value} in row {row}"))
    }

    /// The type does not hold the text of a row.
    pub(super) fn text_at(text: &[u8], row: usize) -> Refusal {
        let text = String::from_utf8_lossy(text);
        let mut shown: String = text.chars().take(MOST_CHARACTERS).collect();
        if shown.len() < text.len() {
            shown.push_str("...");
        }
        Self::at(&printable_message(&format!("{shown:?}")), row)
    }
}

/// A conversion that failed.
#[derive(Debug)]
pub(in crate::change) enum Refusal {
    /// The type does not hold the values.
    Unfit(Unfit),
    /// Another failure.
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
