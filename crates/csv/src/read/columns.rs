//! The columns of a text: their pieces, their types, and pieces that are read again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use entasis::{Error, Monitor, Result};

use super::header::Header;
use super::pass::{self, Done, Part, Pass};
use super::{Column, Origins, Outcome, Placed, Plan, Refused, Table, in_text, rows_after};
use crate::categories::{self, Categories};
use crate::convert::{Meaning, given, narrowest};
use crate::cut::{Chunk, Cutter, count_lines};
use crate::dates::{Choice, Dates, each};
use crate::fields::{Column as FieldsOf, Fields};
use crate::input::{Input, Inputs};
use crate::piece::{Facts, Piece, TextLayout};
use crate::problems::{MOST_KEPT, OnError, Problem, Problems, excerpt};
use crate::types::Type;

/// The columns of a chunk.
pub struct Pieces {
    pub pieces: Vec<Option<Piece>>,
    pub n_rows: usize,
    /// The number of rows with those that were left out.
    pub n_all: u64,
    problems: Problems,
    /// Rows that were left out because of a value.
    left_out: Vec<usize>,
}

/// A text, and where its chunks are among those of all texts.
struct Text {
    header: Header,
    first: usize,
    /// Its rows to read.
    rows: Option<Range<u64>>,
}

pub fn read(inputs: &mut dyn Inputs, plan: &Plan, monitor: &dyn Monitor) -> Result<Outcome> {
    let meaning = plan.meaning();
    let origins = Origins::new(inputs, plan)?;
    let mut types = None;
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
            return Ok(Outcome::Refused(Refused { problems, names }));
        }
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
    Ok(Outcome::Table(Table { columns, n_rows, names, problems, warnings }))
}

/// Reads one text. `before` is the header of the first one, and the number of problems so far.
/// Returns also the number of rows, if only some rows are read.
fn one(
    input: &mut dyn Input,
    plan: &Plan,
    meaning: &Meaning,
    (before, n_problems): (Option<&Header>, u64),
    types: &mut Option<Vec<Type>>,
    monitor: &dyn Monitor,
) -> Result<(Header, Vec<Done<Pieces>>, u64)> {
    let chunk_len = pass::chunk_len(plan);
    let mut cutter = Cutter::new(input, plan.dialect, plan.skip, chunk_len, plan.max_field)?;
    let (header, first) = Header::find(&mut cutter, plan)?;
    if let Some(before) = before {
        header.check_names(before)?;
    }
    let shared = Shared::new(types.take().unwrap_or_else(|| header.first_types()), &header, n_problems);
    let mut pass = Pass::new(cutter, first, &header, plan);
    let done = pass.window(usize::MAX, monitor, &|part| convert(part, &header, &shared, plan, meaning))?;
    let n_rows = pass.n_rows();
    drop(pass);
    *types = Some(shared.into_types());
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
        format: None,
    })
}

/// The state that the threads of a pass share.
#[derive(Debug)]
pub struct Shared {
    /// The types of the columns so far.
    pub types: Mutex<Vec<Type>>,
    /// The number of problems so far.
    counts: Mutex<Counts>,
}

impl Shared {
    /// Begins with these types, with the problems of the texts before, and with the chunk that has
    /// the header.
    pub fn new(types: Vec<Type>, header: &Header, n_problems: u64) -> Self {
        let counts = Counts { next: header.chunk, n: n_problems, ..Counts::default() };
        Self { types: Mutex::new(types), counts: Mutex::new(counts) }
    }

    /// The types of the columns.
    pub fn into_types(self) -> Vec<Type> {
        self.types.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of problems of chunks that are done.
#[derive(Debug, Default)]
struct Counts {
    /// The number of the first chunk that is not done, and the problems of those before.
    next: usize,
    n: u64,
    /// Chunks that are done after it.
    later: BTreeMap<usize, u64>,
}

impl Counts {
    fn add(&mut self, chunk: usize, n: u64) {
        self.later.insert(chunk, n);
        while let Some(n) = self.later.remove(&self.next) {
            self.n += n;
            self.next += 1;
        }
    }
}

/// A place of a chunk that does not fit.
struct Place {
    start: usize,
    end: usize,
    row: usize,
    kind: PlaceKind,
}

enum PlaceKind {
    /// A row with this number of fields.
    Row(usize),
    /// A field of this column, which has this type.
    Field(usize, Type),
}

/// Converts the columns of a chunk.
pub fn convert(
    part: Part<'_>,
    header: &Header,
    shared: &Shared,
    plan: &Plan,
    meaning: &Meaning,
) -> Result<(Pieces, bool)> {
    let Part { chunk, fields } = part;
    let n_columns = header.names.len();
    let uneven = fields.uneven.iter().filter(|row| !(plan.fill && row.n_fields < n_columns));
    let mut places: Vec<Place> = uneven
        .map(|row| Place { start: row.at, end: row.end, row: row.row, kind: PlaceKind::Row(row.n_fields) })
        .collect();
    let at_least = shared.types.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut pieces = Vec::with_capacity(header.wanted.len());
    let (mut misfits, mut bad_rows) = (Vec::new(), Vec::new());
    for (i, &column) in header.wanted.iter().enumerate() {
        misfits.clear();
        let fields_of = fields.column(chunk, column);
        let piece = of_column(&fields_of, header, i, at_least[i], meaning, &mut misfits)?;
        places.extend(misfits_of(fields, fields_of, column, piece.of, &misfits));
        bad_rows.extend_from_slice(&misfits);
        pieces.push(Some(piece));
    }
    for (column, of, dates) in &header.checked {
        misfits.clear();
        let fields_of = fields.column(chunk, *column);
        if fields_of.is_utf8 && matches!(of, Type::Text | Type::Categorical) {
            continue;
        }
        of_given(&fields_of, *of, dates.as_ref(), meaning, &mut misfits)?;
        places.extend(misfits_of(fields, fields_of, *column, *of, &misfits));
        bad_rows.extend_from_slice(&misfits);
    }
    let mut left_out = Vec::new();
    if plan.on_error == OnError::Skip && !bad_rows.is_empty() {
        bad_rows.sort_unstable();
        bad_rows.dedup();
        fields.leave_out(&bad_rows);
        left_out = bad_rows;
        for (i, piece) in pieces.iter_mut().enumerate() {
            let fields_of = fields.column(chunk, header.wanted[i]);
            *piece = Some(of_column(&fields_of, header, i, at_least[i], meaning, &mut misfits)?);
        }
    }
    for (i, piece) in pieces.iter_mut().enumerate() {
        let strings = header.strings_of_chunk(i);
        *piece = piece.take().map(|piece| with_type_of_strings(piece, strings, meaning)).transpose()?;
    }
    let mut types = shared.types.lock().unwrap_or_else(PoisonError::into_inner);
    for (known, piece) in types.iter_mut().zip(pieces.iter().flatten()) {
        *known = known.join(piece.of);
    }
    drop(types);
    let goes_on = plan.on_error != OnError::Error || places.is_empty();
    let problems = problems(places, chunk, n_columns, &shared.counts);
    Ok((
        Pieces { pieces, n_rows: fields.n_rows(), n_all: fields.n_all() as u64, problems, left_out },
        goes_on,
    ))
}

/// The places of values that a type does not hold.
fn misfits_of<'a>(
    fields: &'a Fields,
    fields_of: FieldsOf<'a>,
    column: usize,
    of: Type,
    misfits: &'a [usize],
) -> impl Iterator<Item = Place> + 'a {
    misfits.iter().map(move |&row| {
        let (start, end) = fields_of.get(row);
        Place { start, end, row: fields.number(row), kind: PlaceKind::Field(column, of) }
    })
}

/// The problems of a chunk, in the order of their places. Only those are kept that are among the
/// first ones of the text.
fn problems(mut places: Vec<Place>, chunk: &Chunk, n_columns: usize, counts: &Mutex<Counts>) -> Problems {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    let n_before = counts.n;
    counts.add(chunk.number, places.len() as u64);
    drop(counts);
    places.sort_by_key(|place| place.start);
    let room = (MOST_KEPT as u64).saturating_sub(n_before) as usize;
    let (mut line, mut at) = (1, 0);
    let mut kept = Vec::with_capacity(places.len().min(room));
    for Place { start, end, row, kind } in places.iter().take(room) {
        line += count_lines(&chunk.rows()[at..*start]);
        at = *start;
        let (column, expected) = match *kind {
            PlaceKind::Row(n) if n_columns == 1 => (None, format!("one field, not {n}")),
            PlaceKind::Row(n) => (None, format!("{n_columns} fields, not {n}")),
            PlaceKind::Field(column, of) => (Some(column), expected(of)),
        };
        kept.push(Problem {
            row: *row as u64,
            line,
            byte: chunk.offset + *start as u64,
            column,
            text: excerpt(&chunk.rows()[*start..*end]),
            expected,
            file: None,
        });
    }
    Problems { kept, n: places.len() as u64 }
}

fn of_column(
    fields: &FieldsOf<'_>,
    header: &Header,
    i: usize,
    at_least: Type,
    meaning: &Meaning,
    misfits: &mut Vec<usize>,
) -> Result<Piece> {
    match header.given[i] {
        Some(of) => of_given(fields, of, header.dates[i].as_ref(), meaning, misfits),
        None => narrowest(fields, at_least, meaning, misfits),
    }
}

fn of_given(
    fields: &FieldsOf<'_>,
    of: Type,
    dates: Option<&Dates>,
    meaning: &Meaning,
    misfits: &mut Vec<usize>,
) -> Result<Piece> {
    let Some(dates) = dates else { return given(fields, of, meaning, misfits) };
    let strings = given(fields, Type::Text, meaning, misfits)?;
    dates.given(&strings, of, meaning, misfits)
}

/// Strings as text or as codes of categories. Other values stay.
pub fn with_type_of_strings(piece: Piece, strings: Type, meaning: &Meaning) -> Result<Piece> {
    if piece.of == Type::Text && strings == Type::Categorical {
        categories::encode(piece, meaning.layout)
    } else {
        Ok(piece)
    }
}

/// The type of a column that has values of types with this join.
pub fn with_strings(of: Type, strings: Type) -> Type {
    if matches!(of, Type::Text | Type::Categorical) { strings } else { of }
}

fn expected(of: Type) -> String {
    match of {
        Type::Text => "UTF-8".to_owned(),
        Type::Null => "a missing value".to_owned(),
        of => of.name().into_owned(),
    }
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

/// Whether floats hold what was read: some number, and not both negative integers and integers from
/// 2^63 on.
pub fn holds(facts: Facts) -> bool {
    facts.has_numbers && !(facts.has_negative_integers && facts.has_large_integers)
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
    for (i, given) in header.given.iter().enumerate() {
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
        named.push(Column { name, of, pieces, categories, format });
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
