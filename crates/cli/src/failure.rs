//! What ends a verb before its time.

use std::io::{self, ErrorKind};

use entasis::{Error, Kind};

use crate::text::escape;

/// Why a verb did not come to its end.
pub(crate) enum Failure {
    /// A file or an operation on it failed.
    Entasis(Error),
    /// The standard output takes no more.
    Output(io::Error),
    /// Anything else, said in a sentence.
    Other(String),
}

/// Done, or why not.
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
    /// Whether there is no use in going on with other files.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Entasis(error) => error.kind() == Kind::Interrupted,
            Self::Output(_) => true,
            Self::Other(_) => false,
        }
    }

    /// Tells the user in one line; returns the exit code.
    pub(crate) fn report(&self) -> i32 {
        let (message, code) = match self {
            Self::Entasis(error) if error.kind() == Kind::Interrupted => ("stopped".to_owned(), 130),
            Self::Entasis(error) => (error.to_string(), 1),
            // The reader of a pipe has seen enough: all is well.
            Self::Output(error) if error.kind() == ErrorKind::BrokenPipe => return 0,
            Self::Output(error) => (format!("writing the output: {error}"), 1),
            Self::Other(message) => (message.clone(), 1),
        };
        say(&message);
        code
    }
}

/// One line on the standard error.
pub(crate) fn say(message: &str) {
    use std::io::Write;
    // Without a standard error there is nowhere to say so.
    let _ = writeln!(io::stderr().lock(), "entasis: {}", escape(message));
}
