//! The standard output: buffered, and styled if it is a terminal.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use console::Term;

/// The least width of tables.
const LEAST_WIDTH: usize = 20;

/// The destination of results.
pub(crate) struct Out {
    to: BufWriter<Stdout>,
    style: Style,
    failed: bool,
}

/// The style of results.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Whether escape sequences are allowed.
    pub(crate) color: bool,
    /// The characters of a line that tables may use; none without a limit.
    pub(crate) width: Option<usize>,
}

/// The width of tables.
#[derive(Clone, clap::Args)]
pub(crate) struct WidthArgs {
    /// The most characters in a line of a table, at least 20. 0 prints all columns uncut. JSON has
    /// no limit [default: the width of the terminal; 0 without one]
    #[arg(long, value_name = "N", value_parser = parse_width)]
    width: Option<usize>,
}

impl WidthArgs {
    /// Gives tables this width, if the user chose one.
    pub(crate) fn apply(&self, out: &mut Out) {
        if let Some(n) = self.width {
            out.style.width = (n > 0).then_some(n);
        }
    }
}

/// A width that is enough for two narrow columns, or 0.
fn parse_width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..LEAST_WIDTH).contains(&n) => {
            Err(format!("a table needs {LEAST_WIDTH} characters; 0 prints all columns uncut"))
        }
        Ok(n) => Ok(n),
        Err(error) => Err(format!("{error}")),
    }
}

impl Out {
    /// The standard output of the process.
    pub(crate) fn stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let set = |name| env::var_os(name).is_some_and(|value: std::ffi::OsString| !value.is_empty());
        let color = is_terminal && !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb");
        let width = is_terminal
            .then(|| Term::stdout().size_checked().map_or(80, |(_, n)| usize::from(n).max(LEAST_WIDTH)));
        Self {
            to: BufWriter::with_capacity(1 << 16, io::stdout()),
            style: Style { color, width },
            failed: false,
        }
    }

    /// The style of results.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Records that something failed although the verb continues.
    pub(crate) fn set_failed(&mut self) {
        self.failed = true;
    }

    /// Whether anything failed.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Style {
    /// Less prominent text.
    pub(crate) fn dim(self, text: &str) -> String {
        self.styled(text, "2")
    }

    /// More prominent text.
    pub(crate) fn bold(self, text: &str) -> String {
        self.styled(text, "1")
    }

    fn styled(self, text: &str, code: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
