//! Writes a text into a file, window by window, in bounded memory.
//!
//! The rows of a window are written in the types that are known by then. When a column turns out to
//! be wider, the file begins anew with the wider types: at once near the start of the text,
//! otherwise after the rest was looked through, so that the next round is the last one. The
//! alternative, to write single columns again, keeps a whole column in memory.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use entasis::{Error, HostRead, Monitor, Quiet, Result, Stream, WriteOptions};

use super::chunk::{Pieces, Shared, convert, holds, with_strings, with_type_of_strings};
use super::columns::{in_order, widened};
use super::header::Header;
use super::pass::{self, Pass};
use super::{Origins, Outcome, Placed, Plan, Refused, Table, in_text, rows_after};
use crate::categories::Categories;
use crate::convert::Meaning;
use crate::cut::Cutter;
use crate::dates::{Choice, Fit, each};
use crate::frame::{Lent, Values, frame};
use crate::input::{Input, Inputs, Single};
use crate::piece::{Facts, Piece};
use crate::problems::{OnError, Problems};
use crate::types::Type;

/// Chunks of the usual length in a window.
const WINDOW: usize = 24;
/// A file begins anew at once before this part of the text.
const EARLY: f64 = 0.25;

/// Writes a text into a file at `path`, which is replaced when all is written. `lend` makes the
/// handle of memory, which stays until the call of it that gets the frame ends. The table that is
/// returned has no values.
///
/// # Errors
/// As [`read`](super::read()), and as for writing.
pub fn store(
    input: &mut dyn Input,
    plan: &Plan,
    path: &Path,
    options: &WriteOptions,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<Outcome> {
    store_all(&mut Single::new(input), plan, path, options, lend, monitor)
}

/// Writes texts with the same names into a file, as [`store`].
///
/// # Errors
/// As [`store`], and *argument* for texts with other names.
pub fn store_all(
    inputs: &mut dyn Inputs,
    plan: &Plan,
    path: &Path,
    options: &WriteOptions,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<Outcome> {
    if plan.condition.is_some() {
        return Err(Error::argument("a condition chooses rows of frames, not of files"));
    }
    let origins = Origins::new(inputs, plan)?;
    let (mut types, mut choices, mut begun_at) = (None, Vec::new(), 0.0);
    loop {
        let mut round = Round {
            plan,
            options,
            lend,
            monitor,
            meaning: plan.meaning(),
            origins: origins.as_ref(),
            types,
            choices,
            dates: Vec::new(),
            facts: Vec::new(),
            categories: Vec::new(),
            stream: Some(Stream::create(path, options, monitor)?),
            written: None,
            shown: Vec::new(),
            problems: Problems::default(),
            warnings: Vec::new(),
            n_rows: 0,
            begun_at,
        };
        if let Some(outcome) = round.run(inputs)? {
            return Ok(outcome);
        }
        (types, choices, begun_at) = (round.types, round.choices, round.begun_at);
    }
}

/// One way through the texts.
struct Round<'a> {
    plan: &'a Plan,
    options: &'a WriteOptions,
    lend: &'a dyn Fn(&[u8]) -> HostRead,
    monitor: &'a dyn Monitor,
    meaning: Meaning,
    origins: Option<&'a Origins>,
    /// The types so far; `None` before the first text.
    types: Option<Vec<Type>>,
    /// The decisions of former rounds about columns with formats of dates.
    choices: Vec<Option<Choice>>,
    /// How these formats fit the values of this round.
    dates: Vec<Option<Guess>>,
    facts: Vec<Facts>,
    /// The categories of each column that has codes.
    categories: Vec<Known>,
    /// `None`: the file begins anew.
    stream: Option<Stream>,
    /// The types that were written, with text for dates in formats of the user.
    written: Option<Vec<Type>>,
    /// The types that were written.
    shown: Vec<Type>,
    problems: Problems,
    warnings: Vec<String>,
    n_rows: u64,
    /// The part of the texts after which a file began anew at once.
    begun_at: f64,
}

/// The format that the first window of a column fits.
struct Guess {
    choice: Choice,
    fit: Fit,
}

/// The categories of a column so far.
#[derive(Default)]
struct Known {
    all: Categories,
    /// Those that each window added, in order.
    pieces: Vec<Piece>,
}

impl Known {
    /// Renumbers the codes of a window, and adds its categories.
    fn join(&mut self, pieces: &mut [Piece]) -> Result<()> {
        let n = self.all.len();
        pieces.iter_mut().try_for_each(|piece| self.all.join(piece))?;
        if self.all.len() > n || self.pieces.is_empty() {
            self.pieces.push(self.all.piece(n)?);
        }
        Ok(())
    }
}

/// The end of a text.
enum End {
    /// It was looked through, with this number of rows if only some rows are read.
    Text(Header, u64),
    /// Some of its places do not fit.
    Refused(Header),
    /// The file begins anew at once.
    Early,
}

impl Round<'_> {
    /// Writes the texts. `None`: some types are wider than those that were written.
    fn run(&mut self, inputs: &mut dyn Inputs) -> Result<Option<Outcome>> {
        let n = inputs.n();
        let mut first: Option<Header> = None;
        let mut rows = self.plan.rows.clone();
        for i in 0..n {
            if i > 0 && rows.as_ref().is_some_and(|rows| rows.end == 0) {
                break;
            }
            let name = inputs.name(i);
            let place = (i, n, inputs.place(i));
            let found = inputs
                .open(i)
                .and_then(|input| self.text(input, rows.clone(), first.as_ref(), place, name.as_ref()));
            match found.map_err(|error| in_text(error, name.as_ref()))? {
                End::Early => return Ok(None),
                End::Refused(header) => {
                    let problems = std::mem::take(&mut self.problems);
                    return Ok(Some(Outcome::Refused(Refused { problems, names: header.names })));
                }
                End::Text(mut header, n_rows) => {
                    rows_after(&mut rows, n_rows);
                    for warning in header.warnings.drain(..) {
                        if !self.warnings.contains(&warning) {
                            self.warnings.push(warning);
                        }
                    }
                    first.get_or_insert(header);
                }
            }
        }
        let Some(header) = first else { return Err(Error::argument("no texts are given")) };
        self.check_end(&header);
        let Some(stream) = self.stream.take() else { return Ok(None) };
        if let Some(total) = inputs.place(0).1 {
            self.monitor.progress(total, total);
        }
        if self.monitor.interrupted() {
            return Err(Error::interrupted());
        }
        stream.finish()?;
        let Header { names, wanted, dates, given, .. } = header;
        let mut columns = Vec::new();
        let column = |name, of, format| super::Column {
            name,
            of,
            pieces: Vec::new(),
            categories: None,
            facts: Facts::default(),
            format,
        };
        columns.extend(self.origins.map(|origins| column(origins.name.clone(), Type::Categorical, None)));
        for (i, (&at, &of)) in wanted.iter().zip(&self.shown).enumerate() {
            let is_text = matches!(of, Type::Text | Type::Categorical) && given[i].is_none();
            let warning = dates[i].as_ref().filter(|_| is_text).and_then(|dates| dates.warning(&names[at]));
            self.warnings.extend(warning);
            let choice = self.choices[i].or(self.dates[i].as_ref().map(|guess| guess.choice));
            let format = match (&dates[i], choice) {
                (Some(dates), Some(Choice::Format(format, _))) => dates.text(format).map(str::to_owned),
                _ => None,
            };
            columns.push(column(names[at].clone(), of, format));
        }
        let (problems, warnings) = (std::mem::take(&mut self.problems), std::mem::take(&mut self.warnings));
        Ok(Some(Outcome::Table(Table { columns, n_rows: self.n_rows, names, problems, warnings })))
    }

    /// Writes the rows of a text. `place` has its number, the number of texts, and its bytes.
    fn text(
        &mut self,
        input: &mut dyn Input,
        rows: Option<Range<u64>>,
        before: Option<&Header>,
        (i, n, place): (usize, usize, (u64, Option<u64>)),
        name: Option<&Arc<str>>,
    ) -> Result<End> {
        let monitor = Placed { monitor: self.monitor, place };
        let plan = Plan { rows, ..self.plan.clone() };
        let chunk_len = pass::chunk_len(&plan);
        let mut cutter = Cutter::new(input, plan.dialect, plan.skip, chunk_len, plan.max_field)?;
        let (header, first) = Header::find(&mut cutter, &plan)?;
        if let Some(origins) = self.origins {
            origins.check(&header)?;
        }
        match before {
            Some(before) => header.check_names(before)?,
            None => self.begin(&header),
        }
        let known = self.types.take().unwrap_or_else(|| header.first_types());
        let mut shared = Shared::new(known, &header, self.problems.n);
        let (mut n_all, mut n_lines) = (0, header.n_lines);
        let mut pass = Pass::new(cutter, first, &header, &plan);
        let window_len = plan.window_len.unwrap_or_else(|| WINDOW.saturating_mul(chunk_len));
        loop {
            let meaning = &self.meaning;
            let done =
                pass.window(window_len, &monitor, &|part| convert(part, &header, &shared, &plan, meaning))?;
            let is_end = done.is_empty();
            let (chunks, mut met) = in_order(done, n_lines, plan.on_error);
            for problem in &mut met.kept {
                problem.row += n_all;
                problem.file = name.cloned();
            }
            self.problems.append(met, 0, 0);
            n_all += chunks.iter().map(|chunk| chunk.n_all).sum::<u64>();
            n_lines = pass.n_lines();
            if plan.on_error == OnError::Error && self.problems.n > 0 {
                drop(pass);
                return Ok(End::Refused(header));
            }
            if is_end && self.written.is_some() {
                break;
            }
            let share = (i as f64 + pass.share()) / n as f64;
            let types = shared.types.get_mut().unwrap_or_else(PoisonError::into_inner);
            // A text whose types change in every window would be read too often.
            if self.window(chunks, &header, i, types)? && share < EARLY && share >= 2.0 * self.begun_at {
                self.begun_at = share;
                drop(pass);
                self.types = Some(shared.into_types());
                return Ok(End::Early);
            }
            if is_end {
                break;
            }
        }
        let n_rows = pass.n_rows();
        drop(pass);
        self.types = Some(shared.into_types());
        Ok(End::Text(header, n_rows))
    }

    /// Prepares for the columns of the first text.
    fn begin(&mut self, header: &Header) {
        let n = header.wanted.len();
        self.facts = vec![Facts::default(); n];
        self.categories = (0..n).map(|_| Known::default()).collect();
        self.dates = (0..n).map(|_| None).collect();
        self.choices.resize(n, None);
    }

    /// Writes the rows of a window. Returns whether some type is wider than the one that was
    /// written.
    fn window(
        &mut self,
        mut chunks: Vec<Pieces>,
        header: &Header,
        text: usize,
        types: &mut [Type],
    ) -> Result<bool> {
        let mut wider = false;
        let (mut own, mut columns) = (Vec::new(), Vec::new());
        for i in 0..header.wanted.len() {
            let pieces: Vec<Piece> = chunks.iter_mut().filter_map(|chunk| chunk.pieces[i].take()).collect();
            let at_least = self.written.as_ref().map(|written| written[i]);
            let given = (header.given[i], header.strings_of_chunk(i));
            let mut is_wider = false;
            let (of, pieces) = self.column(i, pieces, given, at_least, &mut types[i], &mut is_wider)?;
            own.push(of);
            wider |= is_wider;
            // Strings that are read again decide nothing about formats of dates.
            let (of, mut pieces) = if is_wider { (of, pieces) } else { self.dated(i, of, pieces, header)? };
            if of == Type::Categorical && self.stream.is_some() {
                self.categories[i].join(&mut pieces)?;
            }
            columns.push((of, pieces));
        }
        if wider {
            self.stream = None;
        }
        if self.written.is_none() {
            self.written = Some(own);
            self.shown = columns.iter().map(|(of, _)| *of).collect();
        }
        let n_rows = chunks.iter().map(|chunk| chunk.n_rows).sum();
        if let Some(mut stream) = self.stream.take() {
            self.write(&mut stream, &columns, header, text, n_rows)?;
            self.stream = Some(stream);
        }
        Ok(wider)
    }

    /// The pieces of a column of text as dates, if its formats fit, or with the type of strings.
    fn dated(
        &mut self,
        i: usize,
        of: Type,
        pieces: Vec<Piece>,
        header: &Header,
    ) -> Result<(Type, Vec<Piece>)> {
        let (Some(dates), Type::Text, None) = (&header.dates[i], of, header.given[i]) else {
            return Ok((of, pieces));
        };
        let (threads, meaning) = (self.plan.threads, &self.meaning);
        let choice = match self.choices[i] {
            Some(choice) => choice,
            // The column became text in this round, which will not end with a file.
            None if self.written.is_some() && self.dates[i].is_none() => Choice::Text,
            None => {
                let found = each(pieces.len(), threads, &|i| Ok(dates.fit(&pieces[i], meaning)))?;
                let known = self.dates[i].take().map(|guess| (guess.choice, guess.fit));
                let (guess, mut fit) =
                    known.map_or((None, dates.fit_of_none()), |(guess, fit)| (Some(guess), fit));
                found.iter().for_each(|found| fit.join(found));
                let choice = dates.choice(&fit);
                let guess = guess.unwrap_or(choice);
                self.dates[i] = Some(Guess { choice: guess, fit });
                if choice != guess {
                    // The rest is looked through, so that the next round knows the format.
                    self.stream = None;
                }
                guess
            }
        };
        if self.stream.is_none() {
            return Ok((of, Vec::new()));
        }
        if let Choice::Format(format, of) = choice {
            let found = each(pieces.len(), threads, &|i| dates.convert(&pieces[i], format, of, meaning))?;
            if let Some(found) = found.into_iter().collect() {
                return Ok((of, found));
            }
            // The format fits, but the type does not hold the time.
            self.choices[i] = Some(Choice::Text);
            self.stream = None;
            return Ok((of, Vec::new()));
        }
        let of = header.strings[i];
        let recoded = pieces.into_iter().map(|piece| with_type_of_strings(piece, of, meaning));
        Ok((of, recoded.collect::<Result<_>>()?))
    }

    /// Notes the types that only all values decide.
    fn check_end(&mut self, header: &Header) {
        for (i, of) in self.types.iter_mut().flatten().enumerate() {
            // The next round knows more of the floats.
            let is_text = (*of == Type::FLOAT && self.stream.is_some() && !holds(self.facts[i]))
                || (*of == Type::Null && self.facts[i].has_words);
            if header.given[i].is_none() && is_text {
                *of = header.strings_of_chunk(i);
                self.stream = None;
            }
            let (Some(guess), Some(dates), None) = (&self.dates[i], &header.dates[i], self.choices[i]) else {
                continue;
            };
            let choice = dates.choice(&guess.fit);
            // The choice may have changed on the way, and be the first one again.
            self.choices[i] = Some(choice);
            if choice != guess.choice {
                self.stream = None;
            }
        }
    }

    /// The pieces of a column in the type that was written, or at first in their own.
    fn column(
        &mut self,
        i: usize,
        pieces: Vec<Piece>,
        (given, strings): (Option<Type>, Type),
        written: Option<Type>,
        known: &mut Type,
        wider: &mut bool,
    ) -> Result<(Type, Vec<Piece>)> {
        if let Some(of) = given {
            return Ok((of, pieces));
        }
        *known = with_strings(*known, strings);
        let of = pieces.iter().fold(written.unwrap_or(*known), |of, piece| of.join(piece.of));
        let of = with_strings(of, strings);
        let Some(pieces) = widened(pieces, of, self.plan.layout)? else {
            // A type that joins two does not always hold the values of both.
            *known = strings;
            *wider = true;
            return Ok((strings, Vec::new()));
        };
        *known = with_strings(known.join(of), strings);
        *wider |= written.is_some_and(|written| written != of);
        self.facts[i] = pieces.iter().fold(self.facts[i], |facts, piece| facts.join(piece.facts));
        Ok((of, pieces))
    }

    fn write(
        &mut self,
        stream: &mut Stream,
        columns: &[(Type, Vec<Piece>)],
        header: &Header,
        text: usize,
        n_rows: usize,
    ) -> Result<()> {
        let origins = self.origins.map(|origins| Ok((origins, origins.piece(text, n_rows)?))).transpose()?;
        let of_origins = origins.iter().map(|(origins, codes)| Lent {
            name: &origins.name,
            of: Type::Categorical,
            pieces: vec![codes.into()],
            categories: vec![(&origins.names).into()],
        });
        let of_text = columns.iter().zip(&header.wanted).zip(&self.categories).map(
            |(((of, pieces), &column), known)| Lent {
                name: &header.names[column],
                of: *of,
                pieces: pieces.iter().map(Values::from).collect(),
                categories: known.pieces.iter().map(Values::from).collect(),
            },
        );
        let lent: Vec<_> = of_origins.chain(of_text).collect();
        let frame = frame(&lent, n_rows as u64, self.plan.layout, self.lend);
        self.n_rows += n_rows as u64;
        stream.append(frame, &[], self.options, &Quiet(self.monitor))
    }
}
