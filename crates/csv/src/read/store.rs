//! Writes a text into a file, window by window, in bounded memory.
//!
//! The rows of a window are written in the types that are known by then. When a column turns out to
//! be wider, the file begins anew with the wider types: at once near the start of the text,
//! otherwise after the rest was looked through, so that the next round is the last one. The
//! alternative, to write single columns again, keeps a whole column in memory.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use entasis::{HostRead, Monitor, Result, Stream, WriteOptions};

use super::columns::{Shared, convert, holds, in_order, widened};
use super::header::Header;
use super::pass::{self, Pass};
use super::{Outcome, Plan, Refused, Table};
use crate::cut::Cutter;
use crate::frame::{Lent, Values, frame};
use crate::input::Input;
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
    let (mut types, mut begun_at) = (None, 0.0);
    loop {
        let mut round = Round { plan, options, lend, monitor, types, facts: Vec::new(), n_rows: 0, begun_at };
        match round.run(input, path)? {
            Some(outcome) => return Ok(outcome),
            None => {
                (types, begun_at) = (round.types, round.begun_at);
                input.rewind()?;
            }
        }
    }
}

/// One way through the text.
struct Round<'a> {
    plan: &'a Plan,
    options: &'a WriteOptions,
    lend: &'a dyn Fn(&[u8]) -> HostRead,
    monitor: &'a dyn Monitor,
    /// The types so far; `None` before the first round.
    types: Option<Vec<Type>>,
    facts: Vec<Facts>,
    n_rows: u64,
    /// The part of the text after which a file began anew at once.
    begun_at: f64,
}

impl Round<'_> {
    /// Writes the text. `None`: some types are wider than those that were written.
    fn run(&mut self, input: &mut dyn Input, path: &Path) -> Result<Option<Outcome>> {
        let (plan, monitor) = (self.plan, self.monitor);
        let (meaning, chunk_len) = (plan.meaning(), pass::chunk_len(plan));
        let mut cutter = Cutter::new(input, plan.dialect, plan.skip, chunk_len, plan.max_field)?;
        let (header, first) = Header::find(&mut cutter, plan)?;
        let n_columns = header.wanted.len();
        let known = self.types.take().unwrap_or_else(|| vec![Type::Null; n_columns]);
        let shared = Shared::new(known, &header);
        self.facts = vec![Facts::default(); n_columns];
        let mut stream = Some(Stream::create(path, self.options, monitor)?);
        let mut written: Option<Vec<Type>> = None;
        let (mut problems, mut n_all, mut n_lines) = (Problems::default(), 0, header.n_lines);
        let mut pass = Pass::new(cutter, first, &header, plan);
        let window_len = WINDOW.saturating_mul(chunk_len);
        loop {
            let done =
                pass.window(window_len, monitor, &|part| convert(part, &header, &shared, plan, &meaning))?;
            let is_end = done.is_empty();
            let (mut chunks, mut met) = in_order(done, n_lines, plan.on_error);
            met.kept.iter_mut().for_each(|problem| problem.row += n_all);
            problems.append(met, 0, 0);
            n_all += chunks.iter().map(|chunk| chunk.n_all).sum::<u64>();
            n_lines = pass.n_lines();
            if plan.on_error == OnError::Error && problems.n > 0 {
                return Ok(Some(Outcome::Refused(Refused { problems, names: header.names })));
            }
            if is_end && written.is_some() {
                break;
            }
            let mut wider = false;
            let mut columns = Vec::with_capacity(n_columns);
            for i in 0..n_columns {
                let pieces: Vec<Piece> =
                    chunks.iter_mut().filter_map(|chunk| chunk.pieces[i].take()).collect();
                let at_least = written.as_ref().map(|written| written[i]);
                let of = header.given[i];
                columns.push(self.column(i, pieces, of, at_least, &shared.types, &mut wider)?);
            }
            if wider {
                stream = None;
                let share = pass.share();
                // Otherwise a text whose types change in every window takes quadratic time.
                if share < EARLY && share >= 2.0 * self.begun_at {
                    self.types = Some(shared.into_types());
                    self.begun_at = share;
                    return Ok(None);
                }
            }
            if let Some(stream) = &mut stream {
                let n_rows = chunks.iter().map(|chunk| chunk.n_rows as u64).sum();
                self.write(stream, &columns, &header, n_rows)?;
            }
            written.get_or_insert_with(|| columns.iter().map(|(of, _)| *of).collect());
            if is_end {
                break;
            }
        }
        let mut types = shared.into_types();
        for (i, of) in types.iter_mut().enumerate() {
            // The next round knows more of the floats.
            let is_text = (*of == Type::FLOAT && stream.is_some() && !holds(self.facts[i]))
                || (*of == Type::Null && self.facts[i].has_words);
            if header.given[i].is_none() && is_text {
                *of = Type::Text;
                stream = None;
            }
        }
        self.types = Some(types);
        let Some(stream) = stream else { return Ok(None) };
        stream.finish()?;
        let Header { names, wanted, warnings, .. } = header;
        let columns = wanted.iter().zip(written.unwrap_or_default()).map(|(&column, of)| super::Column {
            name: names[column].clone(),
            of,
            pieces: Vec::new(),
        });
        let columns = columns.collect();
        Ok(Some(Outcome::Table(Table { columns, n_rows: self.n_rows, names, problems, warnings })))
    }

    /// The pieces of a column in the type that was written, or at first in their own.
    fn column(
        &mut self,
        i: usize,
        pieces: Vec<Piece>,
        given: Option<Type>,
        written: Option<Type>,
        types: &Mutex<Vec<Type>>,
        wider: &mut bool,
    ) -> Result<(Type, Vec<Piece>)> {
        if let Some(of) = given {
            return Ok((of, pieces));
        }
        let mut types = types.lock().unwrap_or_else(PoisonError::into_inner);
        let of = pieces.iter().fold(written.unwrap_or(types[i]), |of, piece| of.join(piece.of));
        let Some(pieces) = widened(pieces, of, self.plan.layout)? else {
            // A type that joins two does not always hold the values of both.
            types[i] = Type::Text;
            *wider = true;
            return Ok((Type::Text, Vec::new()));
        };
        types[i] = types[i].join(of);
        *wider |= written.is_some_and(|written| written != of);
        self.facts[i] = pieces.iter().fold(self.facts[i], |facts, piece| facts.join(piece.facts));
        Ok((of, pieces))
    }

    fn write(
        &mut self,
        stream: &mut Stream,
        columns: &[(Type, Vec<Piece>)],
        header: &Header,
        n_rows: u64,
    ) -> Result<()> {
        let lent: Vec<_> = columns
            .iter()
            .zip(&header.wanted)
            .map(|((of, pieces), &column)| Lent {
                name: &header.names[column],
                of: *of,
                pieces: pieces.iter().map(Values::from).collect(),
            })
            .collect();
        self.n_rows += n_rows;
        stream.append(frame(&lent, n_rows, self.plan.layout, self.lend), &[], self.options, self.monitor)
    }
}
