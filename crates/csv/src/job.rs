//! From a source and a user's options to a plan: what is not given is sniffed.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use entasis::{Error, HostRead, Monitor, Result, WriteOptions, default_threads};

use crate::condition::Condition;
use crate::input::Inputs;
use crate::piece::TextLayout;
use crate::problems::{OnError, start};
use crate::read::{Outcome, Plan, Query, Refused, Scan, Selection, Table, read_all, store_all};
use crate::sniff::{Given, Sniffed, sniff};
use crate::source::{Origin, Source, SourceOptions};
use crate::sources::Sources;
use crate::spec::Spec;
use crate::types::Type;

/// Bytes of the start of a text that are sniffed.
const FIRST: usize = 256 << 10;
/// Parts of the rest that are sniffed, and their bytes.
const PARTS: (usize, usize) = (16, 16 << 10);

/// The options of a user. `None` is sniffed, or has the default of [`Plan`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How the source is read.
    pub source: SourceOptions,
    /// Facts that were known before. Other options go over them.
    pub spec: Option<Spec>,
    /// Separator, quote, escape, comment, skipped lines, header, decimal mark.
    pub given: Given,
    /// The names, instead of those of the header.
    pub names: Option<Vec<String>>,
    /// Whether the header lacks a name for the first column.
    pub first_is_unnamed: bool,
    /// The columns to read.
    pub columns: Selection,
    /// The types of columns, by their names.
    pub types: Vec<(String, Type)>,
    /// Formats of dates by the names of columns; `None` for all columns.
    pub dates: Vec<(Option<String>, Vec<String>)>,
    /// The name of a column in addition, with the name of the text of each row.
    pub id: Option<String>,
    /// Words for missing values, which are missing among strings too.
    pub missing: Option<Vec<String>>,
    /// The mark between groups of three digits.
    pub thousands: Option<u8>,
    /// Whether blanks at the ends of strings and names outside of quotes are left out.
    pub strips: bool,
    /// The start of the names of columns without a name, as in [`Plan`].
    pub unnamed: Option<&'static str>,
    /// Whether rows may have fewer fields than the header.
    pub fill: bool,
    /// The use of places that do not fit.
    pub on_error: OnError,
    /// The rows to read.
    pub rows: Option<Range<u64>>,
    /// The rows to read, by their values. See [`Plan::takes_condition`].
    pub condition: Option<Arc<dyn Condition>>,
    /// Whether strings become codes of categories, apart from columns with given types.
    pub as_categories: bool,
    /// The layout of strings.
    pub layout: TextLayout,
    /// The most bytes of a field.
    pub max_field: usize,
    /// Bytes of a chunk; `None` for the best.
    pub chunk_len: Option<usize>,
    /// Bytes of text that are written at once; `None` for the best.
    pub window_len: Option<usize>,
    /// The number of threads; `None` for one per processor.
    pub threads: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        let plan = Plan::default();
        Self {
            source: SourceOptions { spill_limit: 64 << 30, ..SourceOptions::default() },
            spec: None,
            given: Given::default(),
            names: None,
            first_is_unnamed: false,
            columns: Selection::All,
            types: Vec::new(),
            dates: Vec::new(),
            id: None,
            missing: None,
            thousands: None,
            strips: false,
            unnamed: None,
            fill: false,
            on_error: OnError::Error,
            rows: None,
            condition: None,
            as_categories: false,
            layout: plan.layout,
            max_field: plan.max_field,
            chunk_len: None,
            window_len: None,
            threads: None,
        }
    }
}

/// A text that is about to be read.
pub struct Job {
    sources: Sources,
    /// The encoding of the first source.
    encoding: String,
    /// How it is read.
    pub plan: Plan,
    /// The findings of the sniffer.
    pub sniffed: Sniffed,
    /// Facts that a user should know.
    pub warnings: Vec<String>,
}

impl Job {
    /// Opens a source, and sniffs what the options leave open.
    ///
    /// # Errors
    /// As [`Source::open`]; *argument* for options that contradict each other.
    pub fn open(origin: Origin, options: &Options) -> Result<Self> {
        let name = match &origin {
            Origin::Path(path) => path.display().to_string(),
            Origin::Bytes(_) => "bytes".to_owned(),
            Origin::Stream { name, .. } => name.clone(),
        };
        Self::open_all(vec![(name, origin)], options)
    }

    /// Opens sources with the same names of columns, each with a name for messages. The first one
    /// is sniffed for all. The others are opened when they are read.
    ///
    /// # Errors
    /// As [`Job::open`].
    pub fn open_all(origins: Vec<(String, Origin)>, options: &Options) -> Result<Self> {
        let threads = options.threads.unwrap_or_else(default_threads);
        let mut of_source = SourceOptions { threads, ..options.source.clone() };
        let spec = options.spec.as_ref();
        if of_source.encoding.is_none() {
            of_source.encoding = spec.map(|spec| spec.encoding.clone());
        }
        let mut sources = Sources::new(origins, of_source);
        let source = sources.first()?;
        let sample = source.sample(FIRST, PARTS.0, PARTS.1)?;
        let given = over(spec, &options.given);
        let pieces: Vec<&[u8]> = sample.pieces.iter().map(Vec::as_slice).collect();
        let encoding = source.encoding().to_owned();
        let mut sniffed = sniff(&pieces, sample.whole, &given);
        if given.quote.is_none() && sniffed.dialect.quote.is_none() {
            // A quote that is not closed is then an error, and not a wrong value.
            sniffed.dialect.quote = Some(b'"');
        }
        let thousands = options.thousands.or_else(|| spec.and_then(|spec| spec.thousands));
        check(&sniffed, &options.given, thousands)?;
        let mut warnings = Vec::new();
        warn(&sniffed, &given, &mut warnings);
        let has_header = given.header.unwrap_or(true);
        let of_spec = spec.map(|spec| spec.names.clone()).filter(|names| !names.is_empty());
        let plan = Plan {
            dialect: sniffed.dialect,
            skip: sniffed.skip,
            has_header,
            names: options.names.clone().or_else(|| of_spec.clone().filter(|_| !has_header)),
            expected_names: of_spec.filter(|_| has_header && options.names.is_none()),
            first_is_unnamed: options.first_is_unnamed,
            columns: options.columns.clone(),
            types: types(spec, options)?,
            dates: dates(spec, options),
            id: options.id.clone(),
            missing: options
                .missing
                .clone()
                .unwrap_or_else(|| spec.map_or_else(|| Spec::default().missing, |spec| spec.missing.clone())),
            misses_in_text: options.missing.is_some() || spec.is_some_and(|spec| spec.missing_in_text),
            decimal: sniffed.decimal,
            thousands,
            quotes_mean_text: !spec.map_or(sniffed.all_quoted, |spec| spec.all_quoted),
            strips: options.strips,
            unnamed: options.unnamed,
            fill: options.fill,
            on_error: options.on_error,
            rows: options.rows.clone(),
            condition: options.condition.clone(),
            as_categories: options.as_categories,
            layout: options.layout,
            max_field: options.max_field,
            chunk_len: options.chunk_len,
            window_len: options.window_len,
            threads,
        };
        Ok(Self { sources, encoding, plan, sniffed, warnings })
    }

    /// Reads the text.
    ///
    /// # Errors
    /// As [`read`](crate::read()).
    pub fn read(&mut self, monitor: &dyn Monitor) -> Result<Outcome> {
        let found = read_all(&mut self.sources, &self.plan, monitor);
        self.report_end(&found, monitor);
        self.with_warnings(found)
    }

    /// Writes the text into a file, in bounded memory. The table that is returned has no values.
    ///
    /// # Errors
    /// As [`store`](crate::store()); *argument* if `path` is the text itself.
    pub fn store(
        &mut self,
        path: &Path,
        options: &WriteOptions,
        lend: &dyn Fn(&[u8]) -> HostRead,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        self.sources.check_target(path)?;
        let stored = store_all(&mut self.sources, &self.plan, path, options, lend, monitor);
        self.with_warnings(stored)
    }

    /// Gives each column the type of its values in the first `n` rows, unless the options have one.
    /// Returns a table of all columns with these values. Rows that do not fit are left to the
    /// reading.
    ///
    /// # Errors
    /// As [`read`](crate::read()).
    pub fn find_types(&mut self, n: u64, monitor: &dyn Monitor) -> Result<Table> {
        let columns = std::mem::replace(&mut self.plan.columns, Selection::All);
        let (on_error, id) = (self.plan.on_error, self.plan.id.take());
        (self.plan.rows, self.plan.on_error) = (Some(0..n), OnError::Missing);
        let found = self.read(monitor);
        (self.plan.rows, self.plan.on_error) = (None, on_error);
        (self.plan.columns, self.plan.id) = (columns, id);
        let Outcome::Table(table) = found? else { unreachable!("problems are collected") };
        let spec = self.spec(&table);
        self.plan.types = table.columns.iter().map(|column| (column.name.clone(), column.of)).collect();
        self.plan.dates = dates(Some(&spec), &Options::default());
        // Texts that changed meanwhile are refused by their names.
        if self.plan.has_header && self.plan.names.is_none() {
            self.plan.expected_names = Some(table.names.clone());
        } else {
            self.plan.names = Some(table.names.clone());
        }
        self.sources.close();
        Ok(table)
    }

    /// Begins to read batches. [`Job::find_types`] is called before. A stream is read by the first
    /// scan alone.
    ///
    /// # Errors
    /// As [`Scan::next`], for columns that the texts lack.
    pub fn scan(&mut self, query: Query) -> Result<Scan> {
        let names = self.plan.types.iter().map(|(name, _)| name.clone()).collect();
        Scan::new(self.sources.again(), self.plan.clone(), names, query)
    }

    /// Reports that all bytes are read, which short readings never do on their way.
    fn report_end(&self, found: &Result<Outcome>, monitor: &dyn Monitor) {
        if let (Ok(Outcome::Table(_)), Some(total)) = (found, self.sources.place(0).1) {
            monitor.progress(total, total);
        }
    }

    fn with_warnings(&self, found: Result<Outcome>) -> Result<Outcome> {
        Ok(match found.map_err(|error| self.located(error))? {
            Outcome::Table(mut table) => {
                let before = self.sources.warnings().into_iter().chain(self.warnings.iter().cloned());
                table.warnings.splice(..0, before);
                table.warnings.extend(self.comma_warning(&table));
                Outcome::Table(table)
            }
            refused @ Outcome::Refused(_) => refused,
        })
    }

    /// The warning for columns of text that look like numbers with a decimal comma.
    fn comma_warning(&self, table: &Table) -> Option<String> {
        let of_number = |&column: &usize| {
            let name = table.names.get(column)?;
            let is_given = self.plan.types.iter().any(|(given, _)| given == name);
            let found = table.columns.iter().find(|column| column.name == *name)?;
            (!is_given && matches!(found.of, Type::Text | Type::Categorical)).then_some(name)
        };
        let names: Vec<&String> = self.sniffed.comma_columns.iter().filter_map(of_number).collect();
        let shown: Vec<_> = names.iter().take(5).map(|name| format!("'{}'", start(name, 40))).collect();
        let what = match names.len() {
            0 => return None,
            1 => "the column {} is text, although its",
            _ => "the columns {} are text, although their",
        };
        let more = if names.len() > 5 { ", ..." } else { "" };
        let what = what.replace("{}", &(shown.join(", ") + more));
        Some(format!(
            "{what} values look like numbers with a comma: pass decimal=\",\" or thousands=\",\" if they are \
             numbers, or decimal=\".\" to say so"
        ))
    }

    /// The error of a refused text.
    pub fn error(&self, refused: &Refused) -> Error {
        self.located(refused.error())
    }

    /// The spec with which a table is read the same way again.
    pub fn spec(&self, table: &Table) -> Spec {
        let plan = &self.plan;
        let of_name: HashMap<&str, Type> =
            table.columns.iter().map(|column| (column.name.as_str(), column.of)).collect();
        let types: Option<Vec<String>> =
            table.names.iter().map(|name| Some(of_name.get(name.as_str())?.name().into_owned())).collect();
        let of_all = plan.dates.iter().filter(|(name, _)| name.is_none());
        let given = plan.dates.iter().filter_map(|(name, formats)| Some((name.clone()?, formats.clone())));
        let mut column_dates: Vec<(String, Vec<String>)> = given.collect();
        for column in &table.columns {
            let is_given = plan.types.iter().any(|(name, _)| *name == column.name);
            let has_formats =
                plan.dates.iter().any(|(name, _)| name.as_ref().is_none_or(|of| *of == column.name));
            if is_given || !has_formats || !matches!(column.of, Type::Date | Type::Datetime { .. }) {
                continue;
            }
            // Other formats may give another date for some values.
            column_dates.retain(|(name, _)| *name != column.name);
            column_dates.push((column.name.clone(), column.format.iter().cloned().collect()));
        }
        Spec {
            dialect: plan.dialect,
            encoding: self.encoding.clone(),
            skip: plan.skip,
            header: plan.has_header,
            all_quoted: !plan.quotes_mean_text,
            names: table.names.clone(),
            types: types.unwrap_or_default(),
            missing: plan.missing.clone(),
            missing_in_text: plan.misses_in_text,
            decimal: plan.decimal,
            thousands: plan.thousands,
            dates: of_all.flat_map(|(_, formats)| formats.iter().cloned()).collect(),
            column_dates,
        }
    }

    /// The compression of the source, as it was found.
    pub fn compression(&self) -> Option<&'static str> {
        self.sources.opened_first().and_then(Source::compression)
    }

    /// The encoding of the source.
    pub fn encoding(&self) -> &str {
        &self.encoding
    }

    fn located(&self, error: Error) -> Error {
        match self.sources.opened_first().filter(|_| self.sources.is_single()).and_then(Source::name) {
            Some(name) => error.in_file(name),
            None => error,
        }
    }
}

/// The given parts, over those of a spec.
fn over(spec: Option<&Spec>, given: &Given) -> Given {
    let Some(spec) = spec else { return *given };
    Given {
        separator: given.separator.or(Some(spec.dialect.separator)),
        blanks: if given.separator.is_some() { given.blanks } else { Some(spec.dialect.blanks) },
        quote: given.quote.or(Some(spec.dialect.quote)),
        escape: given.escape.or(Some(spec.dialect.escape)),
        comment: given.comment.or(Some(spec.dialect.comment)),
        skip: given.skip.or(Some(spec.skip)),
        header: given.header.or(Some(spec.header)),
        decimal: given.decimal.or(Some(spec.decimal)),
    }
}

/// Refuses bytes with two meanings.
fn check(sniffed: &Sniffed, given: &Given, thousands: Option<u8>) -> Result<()> {
    let dialect = &sniffed.dialect;
    let bytes = [Some(dialect.separator), dialect.quote, dialect.comment];
    for (i, byte) in bytes.iter().enumerate() {
        let Some(byte) = *byte else { continue };
        let is_line_end = matches!(byte, b'\n' | b'\r');
        let has_meaning = i > 0 && dialect.is_gap(byte);
        if has_meaning || is_line_end || !byte.is_ascii() || bytes[..i].contains(&Some(byte)) {
            let byte = char::from(byte);
            let what = if is_line_end { "is a line end" } else { "has two meanings" };
            return Err(Error::argument(format!("{byte:?} {what}")));
        }
    }
    if let Some(byte) = dialect.escape {
        let other = [Some(dialect.separator), dialect.comment].contains(&Some(byte)) || dialect.is_gap(byte);
        if other || !byte.is_ascii() || matches!(byte, b'\n' | b'\r') {
            return Err(Error::argument(format!("{:?} cannot be the escape", char::from(byte))));
        }
    }
    if given.decimal.is_some_and(|mark| !matches!(mark, b'.' | b',')) {
        return Err(Error::argument("the decimal mark is . or ,"));
    }
    if let Some(mark) = thousands
        && (!mark.is_ascii_punctuation() && mark != b' ' || mark == sniffed.decimal || mark == b'-')
    {
        let mark = char::from(mark);
        return Err(Error::argument(format!("{mark:?} cannot be the mark between groups of digits")));
    }
    if given.decimal == Some(dialect.separator) {
        return Err(Error::argument("the decimal mark is the separator").advise("pass sep="));
    }
    Ok(())
}

/// The formats of dates: those of the options, else those of a spec.
fn dates(spec: Option<&Spec>, options: &Options) -> Vec<(Option<String>, Vec<String>)> {
    let Some(spec) = spec.filter(|_| options.dates.is_empty()) else { return options.dates.clone() };
    let of_all = (!spec.dates.is_empty()).then(|| (None, spec.dates.clone()));
    let of_columns = spec.column_dates.iter().map(|(name, formats)| (Some(name.clone()), formats.clone()));
    of_all.into_iter().chain(of_columns).collect()
}

fn types(spec: Option<&Spec>, options: &Options) -> Result<Vec<(String, Type)>> {
    let mut types = options.types.clone();
    let Some(spec) = spec else { return Ok(types) };
    // The first type of a column counts.
    for (name, of) in spec.names.iter().zip(&spec.types) {
        let of = Type::of_name(of)
            .ok_or_else(|| Error::argument(format!("the spec has an unknown type '{of}'")))?;
        // A column without values may have some in another text.
        if of != Type::Null {
            types.push((name.clone(), of));
        }
    }
    Ok(types)
}

/// Says what the sniffer decided and a user may not expect.
fn warn(sniffed: &Sniffed, given: &Given, warnings: &mut Vec<String>) {
    if given.skip.is_none() && sniffed.skip > 0 {
        let lines = if sniffed.skip == 1 { "the first line was" } else { "lines before the header were" };
        warnings.push(format!("{lines} left out: pass skip={} or skip=0 to say so", sniffed.skip));
    }
    if given.comment.is_none()
        && let Some(byte) = sniffed.dialect.comment
    {
        let byte = char::from(byte);
        warnings.push(format!(
            "lines that begin with {byte:?} were left out: pass comment={byte:?} or comment=None to say so"
        ));
    }
    if given.header.is_none() && !sniffed.header.is_header && sniffed.n_columns > 0 {
        let reason = sniffed.header.reason;
        warnings.push(format!(
            "the first row was taken as names, but {reason}: pass header=True or header=False to say so"
        ));
    }
}
