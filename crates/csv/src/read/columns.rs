//! The columns of a text: their pieces, their types, and pieces that are read again.

use std::ops::Range;

use entasis::{Error, Monitor, Result};

use super::chosen;
use super::chunk::{Pieces, Shared, convert, holds, with_strings, with_type_of_strings};
use super::header::Header;
use super::pass::{self, Done, Part, Pass};
use super::{Column, Origins, Outcome, Placed, Plan, Refused, Table, in_text, rows_after};
use crate::categories::Categories;
use crate::convert::{Meaning, narrowest};
use crate::cut::Cutter;
use crate::dates::{Choice, Dates, each};
use crate::input::{Input, Inputs};
use crate::piece::{Facts, Piece, TextLayout};
use crate::problems::{OnError, Problems};
use crate::types::Type;

/// A text, and where its chunks are among those of all texts.
struct Text {
    header: Header,
    first: usize,
    /// Its rows to read.
    rows: Option<Range<u64>>,
}

pub fn read(inputs: &mut dyn Inputs, plan: &Plan, monitor: &dyn Monitor) -> Result<Outcome> {
    let mut tested = None;
    loop {
        match attempt(inputs, plan, tested.take(), monitor)? {
            Attempt::Read(outcome) => return Ok(outcome),
            Attempt::OtherTypes(types) => tested = Some(types),
        }
    }
}

/// The result of reading with some types of the tested columns.
enum Attempt {
    Read(Outcome),
    /// The types that the tested columns have by all values.
    OtherTypes(Vec<Type>),
}

fn attempt(
    inputs: &mut dyn Inputs,
    plan: &Plan,
    tested: Option<Vec<Type>>,
    monitor: &dyn Monitor,
) -> Result<Attempt> {
    let meaning = plan.meaning();
    let origins = Origins::new(inputs, plan)?;
    let mut types = Types { tested, so_far: None };
    let (mut texts, mut chunks, mut problems) = (Vec::<Text>::new(), Vec::new(), Problems::default());
    let mut rows = plan.rows.clone();
    for i in 0..inputs.n() {
        if i > 0 && rows.as_ref().is_some_and(|rows| rows.end == 0) {
            break;
        }
        let name = inputs.name(i);
        let monitor = Placed { monitor, place: inputs.place(i) };
        let plan = Plan { rows: rows.clone(), ..plan.clone() };
        let first = texts.first().map(|text| &text.header);
        let before = (first, problems.n);
        let found =
            inputs.open(i).and_then(|input| one(input, &plan, &meaning, before, &mut types, &monitor));
        let (header, done, n_rows) = found.map_err(|error| in_text(error, name.as_ref()))?;
        if let Some(origins) = &origins {
            origins.check(&header)?;
        }
        let (pieces, mut met) = in_order(done, header.n_lines, plan.on_error);
        met.kept.iter_mut().for_each(|problem| problem.file.clone_from(&name));
        problems.append(met, 0, 0);
        texts.push(Text { header, first: chunks.len(), rows: plan.rows.clone() });
        rows_after(&mut rows, n_rows);
        chunks.extend(pieces);
        if plan.on_error == OnError::Error && problems.n > 0 {
            let names = texts.swap_remove(0).header.names;
            return Ok(Attempt::Read(Outcome::Refused(Refused { problems, names })));
        }
    }
    if plan.condition.is_some()
        && let Some(types) = chosen::other_types(&mut chunks, &texts[0].header)?
    {
        return Ok(Attempt::OtherTypes(types));
    }
    let n_rows = chunks.iter().map(|pieces| pieces.n_rows as u64).sum();
    let origins = origins.map(|origins| of_origins(origins, &texts, &chunks)).transpose()?;
    let (columns, late) = finish(inputs, chunks, &texts, plan, &meaning, monitor)?;
    let columns = origins.into_iter().chain(columns).collect();
    let mut warnings: Vec<String> = Vec::new();
    for warning in texts.iter_mut().flat_map(|text| text.header.warnings.drain(..)).chain(late) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let names = texts.swap_remove(0).header.names;
    Ok(Attempt::Read(Outcome::Table(Table { columns, n_rows, names, problems, warnings })))
}

/// The types of columns before a text.
struct Types {
    /// Types of the tested columns that are known from a former attempt.
    tested: Option<Vec<Type>>,
    /// The types after the texts before.
    so_far: Option<Vec<Type>>,
}

impl Types {
    fn before(&mut self, header: &Header) -> Vec<Type> {
        self.so_far.take().unwrap_or_else(|| {
            let mut types = header.first_types();
            if let Some(tested) = &self.tested {
                types.truncate(header.wanted.len());
                types.extend_from_slice(tested);
            }
            types
        })
    }
}

/// Reads one text. `before` is the header of the first one, and the number of problems so far.
/// Returns also the number of rows, if only some rows are read.
fn one(
    input: &mut dyn Input,
    plan: &Plan,
    meaning: &Meaning,
    (before, n_problems): (Option<&Header>, u64),
    types: &mut Types,
    monitor: &dyn Monitor,
) -> Result<(Header, Vec<Done<Pieces>>, u64)> {
    let chunk_len = pass::chunk_len(plan);
    let mut cutter = Cutter::new(input, plan.dialect, plan.skip, chunk_len, plan.max_field)?;
    let (header, first) = Header::find(&mut cutter, plan)?;
    if let Some(before) = before {
        header.check_names(before)?;
    }
    let shared = Shared::new(types.before(&header), &header, n_problems);
    let mut pass = Pass::new(cutter, first, &header, plan);
    let done = pass.window(usize::MAX, monitor, &|part| match &plan.condition {
        Some(condition) => chosen::convert(part, &header, &shared, plan, meaning, &**condition),
        None => convert(part, &header, &shared, plan, meaning),
    })?;
    let n_rows = pass.n_rows();
    drop(pass);
    types.so_far = Some(shared.into_types());
    Ok((header, done, n_rows))
}

/// The column with the name of the text of each row.
fn of_origins(origins: Origins, texts: &[Text], chunks: &[Pieces]) -> Result<Column> {
    let text = |chunk| texts.partition_point(|text| text.first <= chunk) - 1;
    let pieces = chunks.iter().enumerate().map(|(i, chunk)| origins.piece(text(i), chunk.n_rows));
    Ok(Column {
        pieces: pieces.collect::<Result<_>>()?,
        name: origins.name,
        of: Type::Categorical,
        categories: Some(origins.names),
        facts: Facts::default(),
        format: None,
    })
}

/// The pieces of all chunks, and their problems with the rows and lines of the text. Where problems
/// are errors, the first chunk that has some is the last one.
pub fn in_order(done: Vec<Done<Pieces>>, lines_before: u64, on_error: OnError) -> (Vec<Pieces>, Problems) {
    let mut problems = Problems::default();
    let (mut row, mut line) = (0, lines_before);
    let mut pieces = Vec::with_capacity(done.len());
    for Done { mut made, n_lines } in done {
        problems.append(std::mem::take(&mut made.problems), row, line);
        row += made.n_all;
        line += n_lines;
        pieces.push(made);
        if on_error == OnError::Error && problems.n > 0 {
            // Whether later chunks were read depends on the threads.
            break;
        }
    }
    (pieces, problems)
}

/// A column whose type is known, with the pieces that have it.
struct Typed {
    of: Type,
    /// `None`: to be read again, as text.
    pieces: Vec<Option<Piece>>,
}

/// Finds the type of a column, and widens its pieces. `strings` is the type of strings.
fn typed(pieces: Vec<Option<Piece>>, strings: Type, meaning: &Meaning) -> Result<Typed> {
    let all = || pieces.iter().flatten();
    let of = with_strings(all().fold(Type::Null, |of, piece| of.join(piece.of)), strings);
    let facts = all().fold(Facts::default(), |facts, piece| facts.join(piece.facts));
    if of == Type::Null && facts.has_words {
        return as_text(pieces, strings, meaning);
    }
    if all().all(|piece| piece.of == of) && (of != Type::FLOAT || holds(facts)) {
        return Ok(Typed { of, pieces });
    }
    if of == strings {
        return as_text(pieces, strings, meaning);
    }
    let n = pieces.len();
    let Some(wide) = widened(pieces.into_iter().flatten().collect(), of, meaning.layout)? else {
        // Nothing was text before, so all pieces are read again.
        return Ok(Typed { of: strings, pieces: (0..n).map(|_| None).collect() });
    };
    let facts = wide.iter().fold(Facts::default(), |facts, piece| facts.join(piece.facts));
    let wide = wide.into_iter().map(Some).collect();
    if of == Type::FLOAT && !holds(facts) {
        as_text(wide, strings, meaning)
    } else {
        Ok(Typed { of, pieces: wide })
    }
}

/// Pieces in a wider type; `None` if it does not hold all values.
pub fn widened(pieces: Vec<Piece>, of: Type, layout: TextLayout) -> Result<Option<Vec<Piece>>> {
    let mut wide = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let Some(piece) = piece.widen(of, layout)? else { return Ok(None) };
        wide.push(piece);
    }
    Ok(Some(wide))
}

fn as_text(pieces: Vec<Option<Piece>>, strings: Type, meaning: &Meaning) -> Result<Typed> {
    let mut kept = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let wide = piece.map(|piece| piece.widen(strings, meaning.layout)).transpose()?;
        kept.push(wide.flatten());
    }
    Ok(Typed { of: strings, pieces: kept })
}

/// Gives each column its type. Pieces that are not text in a column of text are read again. Returns
/// also warnings.
fn finish(
    inputs: &mut dyn Inputs,
    mut chunks: Vec<Pieces>,
    texts: &[Text],
    plan: &Plan,
    meaning: &Meaning,
    monitor: &dyn Monitor,
) -> Result<(Vec<Column>, Vec<String>)> {
    let header = &texts[0].header;
    let mut warnings = Vec::new();
    let mut columns = Vec::with_capacity(header.wanted.len());
    let mut facts = Vec::with_capacity(header.wanted.len());
    for (i, given) in header.given.iter().enumerate() {
        let pieces_of_all = chunks.iter().flat_map(|chunk| &chunk.pieces[i]);
        facts.push(pieces_of_all.fold(Facts::default(), |facts, piece| facts.join(piece.facts)));
        let pieces = chunks.iter_mut().map(|chunk| chunk.pieces[i].take()).collect();
        columns.push(match given {
            Some(of) => Typed { of: *of, pieces },
            None => typed(pieces, header.strings_of_chunk(i), meaning)?,
        });
    }
    if columns.iter().any(|column| column.pieces.iter().any(Option::is_none)) {
        read_again(inputs, &mut columns, &chunks, texts, plan, meaning, monitor)?;
    }
    let mut named = Vec::with_capacity(columns.len());
    for (i, Typed { mut of, pieces }) in columns.into_iter().enumerate() {
        let name = header.names[header.wanted[i]].clone();
        let mut pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
        let mut format = None;
        if let (Some(dates), Type::Text, None) = (&header.dates[i], of, header.given[i]) {
            match dated(&pieces, dates, plan.threads, meaning)? {
                Some(found) => (of, pieces, format) = found,
                None => {
                    warnings.extend(dates.warning(&name));
                    of = header.strings[i];
                    let recoded = pieces.into_iter().map(|piece| with_type_of_strings(piece, of, meaning));
                    pieces = recoded.collect::<Result<_>>()?;
                }
            }
        }
        let categories = (of == Type::Categorical).then(|| joined(&mut pieces)).transpose()?;
        named.push(Column { name, of, pieces, categories, facts: facts[i], format });
    }
    Ok((named, warnings))
}

/// A type, values, and the format of the user that they have.
type Dated = (Type, Vec<Piece>, Option<String>);

/// The type and the values of a column of text whose strings all fit one format, and the format if
/// it is one of the user; `None` if there is none.
fn dated(pieces: &[Piece], dates: &Dates, threads: usize, meaning: &Meaning) -> Result<Option<Dated>> {
    let mut fit = dates.fit_of_none();
    for found in each(pieces.len(), threads, &|i| Ok(dates.fit(&pieces[i], meaning)))? {
        fit.join(&found);
    }
    let Choice::Format(format, of) = dates.choice(&fit) else { return Ok(None) };
    let found = each(pieces.len(), threads, &|i| dates.convert(&pieces[i], format, of, meaning))?;
    let text = dates.text(format).map(str::to_owned);
    Ok(found.into_iter().collect::<Option<_>>().map(|pieces| (of, pieces, text)))
}

/// Joins the categories of pieces.
fn joined(pieces: &mut [Piece]) -> Result<Piece> {
    let mut categories = Categories::default();
    pieces.iter_mut().try_for_each(|piece| categories.join(piece))?;
    categories.piece(0)
}

fn read_again(
    inputs: &mut dyn Inputs,
    columns: &mut [Typed],
    chunks: &[Pieces],
    texts: &[Text],
    plan: &Plan,
    meaning: &Meaning,
    monitor: &dyn Monitor,
) -> Result<()> {
    for (i, text) in texts.iter().enumerate() {
        let end = texts.get(i + 1).map_or(chunks.len(), |text| text.first);
        let places = text.first..end;
        if places.clone().all(|place| columns.iter().all(|column| column.pieces[place].is_some())) {
            continue;
        }
        let name = inputs.name(i);
        let monitor = Placed { monitor, place: inputs.place(i) };
        let plan = &Plan { rows: text.rows.clone(), ..plan.clone() };
        let read = inputs.open(i).and_then(|input| {
            one_again(
                input,
                columns,
                (&chunks[places.clone()], text.first),
                &text.header,
                plan,
                meaning,
                &monitor,
            )
        });
        read.map_err(|error| in_text(error, name.as_ref()))?;
    }
    Ok(())
}

fn one_again(
    input: &mut dyn Input,
    columns: &mut [Typed],
    (chunks, at): (&[Pieces], usize),
    header: &Header,
    plan: &Plan,
    meaning: &Meaning,
    monitor: &dyn Monitor,
) -> Result<()> {
    let mut cutter = Cutter::new(input, plan.dialect, plan.skip, pass::chunk_len(plan), plan.max_field)?;
    let (_, first) = Header::find(&mut cutter, plan)?;
    if first.number != header.chunk {
        return Err(changed());
    }
    let missing = |chunk: usize| {
        let columns = columns.iter().enumerate();
        columns.filter(move |(_, column)| matches!(column.pieces.get(at + chunk), Some(None))).map(|(i, _)| i)
    };
    let last = (0..chunks.len()).rev().find(|&chunk| missing(chunk).next().is_some());
    let mut pass = Pass::new(cutter, first, header, plan);
    let done = pass.window(usize::MAX, monitor, &|Part { chunk, fields }| {
        let place = chunk.number - header.chunk;
        let Some(before) = chunks.get(place) else { return Err(changed()) };
        fields.leave_out(&before.left_out);
        if let Some(chosen) = &before.chosen {
            fields.keep(&chosen.bits);
        }
        if fields.n_rows() != before.n_rows {
            return Err(changed());
        }
        let mut pieces = Vec::new();
        for i in missing(place) {
            let fields = fields.column(chunk, header.wanted[i]);
            let piece = narrowest(&fields, Type::Text, meaning, &mut Vec::new())?;
            pieces.push((i, with_type_of_strings(piece, header.strings_of_chunk(i), meaning)?));
        }
        Ok((pieces, Some(place) != last))
    })?;
    drop(pass);
    for (number, done) in done.into_iter().enumerate() {
        for (i, piece) in done.made {
            columns[i].pieces[at + number] = Some(piece);
        }
    }
    let places = at..at + chunks.len();
    if columns.iter().any(|column| column.pieces[places.clone()].iter().any(Option::is_none)) {
        return Err(changed());
    }
    Ok(())
}

fn changed() -> Error {
    Error::text("the text changed while it was read")
}
