//! Reasons for a verb to end early.

use std::io::{self, ErrorKind};

use entasis::{Error, Kind};

use crate::text::escape;

/// The reason for which a verb ended early.
pub(crate) enum Failure {
    /// A file or an operation on it failed.
    Entasis(Error),
    /// The standard output does not accept more.
    Output(io::Error),
    /// Any other reason, as a sentence.
    Other(String),
}

/// The result of a verb.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Entasis(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Whether to skip the remaining files.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Entasis(error) => error.kind() == Kind::Interrupted,
            Self::Output(_) => true,
            Self::Other(_) => false,
        }
    }

    /// Reports the reason in one line and returns the exit code.
    pub(crate) fn report(&self) -> i32 {
        let (message, code) = match self {
            Self::Entasis(error) if error.kind() == Kind::Interrupted => ("stopped".to_owned(), 130),
            // Closing a pipe early is not a failure.
            Self::Entasis(error) if is_closed_pipe(error.io_source()) => return 0,
            Self::Entasis(error) => match error.exceeded_limit() {
                Some(limit) => {
                    let advice = format!("if you trust the file, raise it: --max {limit}=...");
                    (error.to_string_with(&advice), 1)
                }
                None => (error.to_string(), 1),
            },
            Self::Output(error) if is_closed_pipe(Some(error)) => return 0,
            Self::Output(error) => (format!("writing the output: {error}"), 1),
            Self::Other(message) => (message.clone(), 1),
        };
        say(&message);
        code
    }
}

/// Whether the reader of the standard output closed it. No verb writes to another pipe.
fn is_closed_pipe(error: Option<&io::Error>) -> bool {
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Prints one line to the standard error.
pub(crate) fn say(message: &str) {
    use std::io::Write;
    // Without a standard error the line is lost.
    let _ = writeln!(io::stderr().lock(), "entasis: {}", escape(message));
}

/// Returns an error for the first option that is given.
pub(crate) fn refuse_given(options: &[(bool, &str)], why: impl Fn() -> String) -> Outcome {
    match options.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Failure::Other(format!("{option}: {}", why()))),
        None => Ok(()),
    }
}
