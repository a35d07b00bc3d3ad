//! Reads texts batch by batch, in bounded memory.
//!
//! Each column has a type before the first row is read, so a batch is final once it is made. The
//! chunks of a batch are converted by several threads; between two batches no thread runs.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use entasis::{Error, HostRead, Monitor, Quiet, Result, Stream, WriteOptions};

use super::chunk::{Pieces, Shared, convert};
use super::header::Header;
use super::pass::{self, Part, Paused};
use super::{Column, Origins, Outcome, Placed, Plan, Refused, Selection, Table, in_text, rows_after};
use crate::categories::{self, Categories};
use crate::condition::Condition;
use crate::convert::Meaning;
use crate::cut::Cutter;
use crate::frame::{Lent, Values, frame};
use crate::input::{Input as _, Inputs};
use crate::piece::{Facts, Piece, TextLayout};
use crate::problems::{OnError, Problems};
use crate::sources::Sources;
use crate::types::Type;

/// The most chunks that a thread converts for a batch.
const CHUNKS_OF_THREAD: usize = 4;
/// Bytes of values that are written into a file at once.
const LEN_AT_ONCE: usize = 16 << 20;

/// The rows and columns of a scan.
#[derive(Clone, Debug)]
pub struct Query {
    /// The columns, in this order; `None` for all.
    pub columns: Option<Vec<String>>,
    /// The rows that are tested, counted over all texts.
    pub rows: Option<Range<u64>>,
    /// The condition on rows.
    pub condition: Option<Arc<dyn Condition>>,
    /// The most rows that pass.
    pub limit: Option<u64>,
    /// The layout of strings.
    pub layout: TextLayout,
}

/// Texts that are being read batch by batch. Files are closed at the end, and when it is dropped.
pub struct Scan {
    sources: Sources,
    plan: Plan,
    work: Work,
    /// The names of all columns of the texts.
    names: Vec<String>,
    /// The categories of each column that is returned so far.
    categories: Vec<Categories>,
    text: Option<Text>,
    /// The number of the next text.
    next: usize,
    /// The header of the first text.
    first: Option<Header>,
    /// The rows to read from the next text on.
    rows: Option<Range<u64>>,
    /// Rows that may still be returned.
    left: u64,
    /// Rows that were read and not returned.
    held: VecDeque<Batch>,
    /// Chunks of the next window.
    n_chunks: usize,
    problems: Problems,
    /// Bytes of all texts, if known.
    total: Option<u64>,
    end: End,
}

/// The work on a chunk, which threads share.
struct Work {
    meaning: Meaning,
    query: Query,
    origins: Option<Origins>,
    /// The columns that are returned.
    shown: Vec<Shown>,
}

/// A column that is returned.
struct Shown {
    name: String,
    of: Type,
    /// Its place among the columns that are converted; `None` for the names of the texts.
    place: Option<usize>,
}

/// A text that is being read.
struct Text {
    number: usize,
    name: Option<Arc<str>>,
    paused: Paused<'static>,
    header: Header,
    shared: Shared,
    plan: Plan,
    /// Rows so far, with those that were left out.
    n_all: u64,
    /// Bytes of the texts before, and of all texts.
    place: (u64, Option<u64>),
}

/// Rows of the columns that are returned.
struct Batch {
    n_rows: usize,
    pieces: Vec<Piece>,
}

/// The state of a scan.
enum End {
    /// There may be more rows.
    Open,
    /// There are none.
    Done,
    /// The rows end with an error.
    Error(Error),
    /// The rows end with places that do not fit.
    Refused(Problems),
    /// The error was returned.
    Failed,
}

impl Scan {
    /// A scan of sources by a plan that has a type for each column. `names` are those of all
    /// columns.
    ///
    /// # Errors
    /// *No column* for a name that the texts lack, *argument* for a column that is named twice.
    pub(crate) fn new(sources: Sources, mut plan: Plan, names: Vec<String>, query: Query) -> Result<Self> {
        let is_counted = query.rows.is_some() && plan.on_error == OnError::Skip;
        if is_counted {
            return Err(Error::argument("rows are counted only where none is left out by its values"));
        }
        (plan.condition, plan.layout) = (None, query.layout);
        let origins = Origins::new(&sources, &plan)?;
        let id = origins.as_ref().map(|origins| origins.name.as_str());
        let types: HashMap<&str, Type> = plan.types.iter().rev().map(|(name, of)| (&**name, *of)).collect();
        let find = |name: &str| {
            if id == Some(name) {
                return Ok(Type::Categorical);
            }
            types.get(name).copied().ok_or_else(|| Error::no_column(format!("there is no column '{name}'")))
        };
        let all = || id.into_iter().map(str::to_owned).chain(names.iter().cloned()).collect();
        let mut converted: Vec<String> = Vec::new();
        let mut shown: Vec<Shown> = Vec::new();
        for name in query.columns.clone().unwrap_or_else(all) {
            let of = find(&name)?;
            if query.columns.is_some() && shown.iter().any(|other| other.name == name) {
                return Err(Error::argument(format!("the column '{name}' is selected twice")));
            }
            let place = (id != Some(&name)).then_some(converted.len());
            if place.is_some() {
                converted.push(name.clone());
            }
            shown.push(Shown { name, of, place });
        }
        for name in query.condition.iter().flat_map(|condition| condition.columns()) {
            find(name)?;
            if id != Some(name) && !converted.contains(name) {
                converted.push(name.clone());
            }
        }
        plan.columns = Selection::Names(converted);
        let left = query.limit.unwrap_or(u64::MAX);
        let mut rows = query.rows.clone();
        if let (None, Some(limit), true) = (&query.condition, query.limit, plan.on_error != OnError::Skip) {
            // Rows after the limit are not even looked for.
            let rows = rows.get_or_insert(0..u64::MAX);
            rows.end = rows.end.min(rows.start.saturating_add(limit));
        }
        let categories = shown.iter().map(|_| Categories::default()).collect();
        Ok(Self {
            sources,
            work: Work { meaning: plan.meaning(), query, origins, shown },
            plan,
            names,
            categories,
            text: None,
            next: 0,
            first: None,
            rows,
            left,
            held: VecDeque::new(),
            n_chunks: 1,
            problems: Problems::default(),
            total: None,
            end: End::Open,
        })
    }

    /// The next rows: `n` of them, fewer at the end, and those of some chunks for `None`. After the
    /// last rows nothing is returned. Rows before one that does not fit come before the refusal.
    ///
    /// # Errors
    /// As [`read`](super::read()). After an error there are no more rows.
    pub fn next(&mut self, n: Option<usize>, monitor: &dyn Monitor) -> Result<Option<Outcome>> {
        let wanted = n.unwrap_or(1).max(1);
        while self.n_held() < wanted && matches!(self.end, End::Open) {
            self.advance(monitor)?;
        }
        if self.held.is_empty() {
            return self.ended();
        }
        self.table(n.unwrap_or(usize::MAX)).map(|table| Some(Outcome::Table(table)))
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// As [`Scan::next`].
    pub fn read(&mut self, monitor: &dyn Monitor) -> Result<Outcome> {
        while matches!(self.end, End::Open) {
            self.advance(monitor)?;
        }
        if !matches!(self.end, End::Done) {
            self.held.clear();
        }
        match self.ended()? {
            Some(refused) => Ok(refused),
            None => self.table(usize::MAX).map(Outcome::Table),
        }
    }

    /// The number of rows that are left.
    ///
    /// # Errors
    /// As [`Scan::next`].
    pub fn count(&mut self, monitor: &dyn Monitor) -> Result<(u64, Option<Refused>)> {
        let mut n = 0;
        loop {
            match self.next(None, monitor)? {
                Some(Outcome::Table(table)) => n += table.n_rows,
                Some(Outcome::Refused(refused)) => return Ok((n, Some(refused))),
                None => return Ok((n, None)),
            }
        }
    }

    /// Writes the rows that are left into a file at `path`, which is replaced when all is written.
    /// `lend` makes the handle of memory, which stays until the call of it that gets the frame
    /// ends. The table that is returned has no values.
    ///
    /// # Errors
    /// As [`Scan::next`], errors of writing, and *argument* if `path` is a text itself.
    pub fn store(
        &mut self,
        path: &Path,
        options: &WriteOptions,
        lend: &dyn Fn(&[u8]) -> HostRead,
        monitor: &dyn Monitor,
    ) -> Result<Outcome> {
        self.check_target(path)?;
        let mut stream = Stream::create(path, options, monitor)?;
        let (mut n_rows, mut is_first) = (0, true);
        loop {
            while self.held_len() < LEN_AT_ONCE && matches!(self.end, End::Open) {
                self.advance(monitor)?;
            }
            if self.held.is_empty() && !is_first {
                break;
            }
            if !matches!(self.end, End::Open | End::Done) {
                self.held.clear();
                break;
            }
            is_first = false;
            let table = self.table(usize::MAX)?;
            n_rows += table.n_rows;
            let lent: Vec<_> = table.columns.iter().map(Column::lent).collect();
            stream.append(
                frame(&lent, table.n_rows, self.work.query.layout, lend),
                &[],
                options,
                &Quiet(monitor),
            )?;
        }
        if let Some(refused) = self.ended()? {
            return Ok(refused);
        }
        // The last report of progress may ask to stop.
        if monitor.interrupted() {
            return Err(Error::interrupted());
        }
        stream.finish()?;
        let table = self.table(0)?;
        Ok(Outcome::Table(Table { n_rows, ..table }))
    }

    /// Refuses a path to write that is a text itself.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check_target(&self, path: &Path) -> Result<()> {
        self.sources.check_target(path)
    }

    /// The places that did not fit so far, and were made missing or left out.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The error of a refusal.
    pub fn error(&self, refused: &Refused) -> Error {
        // Of several texts, the problems have the names.
        let name = self.sources.named(0).filter(|_| self.sources.is_single());
        in_text(refused.error(), name.as_ref())
    }

    /// The names of all columns of the texts.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn n_held(&self) -> usize {
        self.held.iter().map(|batch| batch.n_rows).sum()
    }

    /// Bytes of values that are held.
    fn held_len(&self) -> usize {
        let len = |piece: &Piece| piece.values.len() + piece.bytes.len();
        self.held.iter().flat_map(|batch| &batch.pieces).map(len).sum()
    }

    /// The error or the refusal at the end.
    fn ended(&mut self) -> Result<Option<Outcome>> {
        match std::mem::replace(&mut self.end, End::Failed) {
            End::Error(error) => Err(error),
            End::Refused(problems) => {
                Ok(Some(Outcome::Refused(Refused { problems, names: self.names.clone() })))
            }
            End::Failed => Err(Error::argument("the scan is read on after an error")),
            end => {
                self.end = end;
                Ok(None)
            }
        }
    }

    /// Reads some chunks.
    fn advance(&mut self, monitor: &dyn Monitor) -> Result<()> {
        match self.window(monitor) {
            Ok(()) => {}
            Err(error) if error.kind() == entasis::Kind::Interrupted => {
                self.end = End::Failed;
                return Err(error);
            }
            Err(error) => self.end = End::Error(error),
        }
        if !matches!(self.end, End::Open) {
            // The file is closed.
            self.text = None;
        }
        if let (End::Done, Some(total)) = (&self.end, self.total) {
            monitor.progress(total, total);
        }
        Ok(())
    }

    fn window(&mut self, monitor: &dyn Monitor) -> Result<()> {
        let is_at_end = self.rows.as_ref().is_some_and(|rows| rows.end == 0);
        let text = match self.text.take() {
            Some(text) => text,
            None if self.left == 0 || is_at_end || self.next == self.sources.n() => {
                self.end = End::Done;
                return Ok(());
            }
            None => self.open()?,
        };
        let Text { number, name, paused, header, shared, plan, mut n_all, place } = text;
        let monitor = &Placed { monitor, place };
        let most = CHUNKS_OF_THREAD * plan.threads.max(1);
        let len = (self.n_chunks - 1) * paused.chunk_len() + 1;
        self.n_chunks = (2 * self.n_chunks).min(most);
        let mut n_lines = paused.n_lines;
        let mut pass = paused.go_on(&header, &plan);
        let work = &self.work;
        let (done, error) =
            pass.part(len, monitor, &|part| work.chunk(part, number, &header, &shared, &plan))?;
        let paused = pass.pause();
        if done.is_empty() && error.is_none() {
            rows_after(&mut self.rows, paused.n_rows);
            self.first.get_or_insert(header);
            return Ok(());
        }
        for done in done {
            let mut made = done.made;
            let mut met = Problems::default();
            met.append(std::mem::take(&mut made.problems), n_all, n_lines);
            met.kept.iter_mut().for_each(|problem| problem.file.clone_from(&name));
            if plan.on_error == OnError::Error && met.n > 0 {
                self.end = End::Refused(met);
                return Ok(());
            }
            self.problems.append(met, 0, 0);
            n_all += made.n_all;
            n_lines += done.n_lines;
            self.hold(number, made)?;
            if self.left == 0 {
                // Later chunks do not matter, whatever other threads met there.
                self.end = End::Done;
                return Ok(());
            }
        }
        if let Some(error) = error {
            return Err(in_text(error, self.sources.named(number).as_ref()));
        }
        self.text = Some(Text { number, name, paused, header, shared, plan, n_all, place });
        Ok(())
    }

    /// Opens the next text.
    fn open(&mut self) -> Result<Text> {
        let number = self.next;
        self.next += 1;
        let name = self.sources.name(number);
        let named = self.sources.named(number);
        let plan = Plan { rows: self.rows.clone(), ..self.plan.clone() };
        let open = |sources: &mut Sources| {
            let input = sources.take(number)?;
            let is_single = sources.is_single();
            let place = if is_single { (0, input.progress().1) } else { sources.place(number) };
            let chunk_len = pass::chunk_len(&plan);
            let mut cutter = Cutter::new(input, plan.dialect, plan.skip, chunk_len, plan.max_field)?;
            let (header, chunk) = Header::find(&mut cutter, &plan)?;
            if let Some(origins) = &self.work.origins {
                origins.check(&header)?;
            }
            if let Some(first) = &self.first {
                header.check_names(first)?;
            }
            let types = header.first_types();
            let shared = Shared::new(types, &header, self.problems.n);
            Ok((Paused::new(cutter, chunk, &header), header, shared, place))
        };
        let (paused, header, shared, place) =
            open(&mut self.sources).map_err(|error| in_text(error, named.as_ref()))?;
        self.total = place.1;
        Ok(Text { number, name, paused, header, shared, plan, n_all: 0, place })
    }

    /// Keeps the rows of a chunk for the next batches.
    fn hold(&mut self, text: usize, made: Pieces) -> Result<()> {
        let Pieces { mut pieces, n_rows, .. } = made;
        if n_rows == 0 {
            return Ok(());
        }
        let n = n_rows.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= n as u64;
        let mut found = Vec::with_capacity(self.work.shown.len());
        for shown in &self.work.shown {
            let piece = match (shown.place, &self.work.origins) {
                (Some(place), _) => pieces[place].take(),
                (None, Some(origins)) => Some(origins.piece(text, n_rows)?),
                (None, None) => None,
            };
            let piece = piece.ok_or_else(|| Error::argument("a column was not read"))?;
            found.push(if n < n_rows { piece.part(0..n, self.work.query.layout)? } else { piece });
        }
        self.held.push_back(Batch { n_rows: n, pieces: found });
        Ok(())
    }

    /// At most `most` of the rows that are held.
    fn table(&mut self, most: usize) -> Result<Table> {
        let mut columns: Vec<Column> = Vec::with_capacity(self.work.shown.len());
        for Shown { name, of, .. } in &self.work.shown {
            let (name, pieces, of) = (name.clone(), Vec::new(), *of);
            columns.push(Column {
                name,
                of,
                pieces,
                categories: None,
                facts: Facts::default(),
                format: None,
            });
        }
        let mut n_rows = 0;
        while n_rows < most
            && let Some(mut batch) = self.held.pop_front()
        {
            if batch.n_rows > most - n_rows {
                let at = most - n_rows;
                let some = |rows: Range<usize>| {
                    let pieces = batch.pieces.iter();
                    pieces
                        .map(|piece| piece.part(rows.clone(), self.work.query.layout))
                        .collect::<Result<_>>()
                };
                let (first, rest) = (some(0..at)?, some(at..batch.n_rows)?);
                self.held.push_front(Batch { n_rows: batch.n_rows - at, pieces: rest });
                batch = Batch { n_rows: at, pieces: first };
            }
            n_rows += batch.n_rows;
            for ((column, mut piece), categories) in
                columns.iter_mut().zip(batch.pieces).zip(&mut self.categories)
            {
                let is_of_text =
                    self.work.origins.as_ref().is_some_and(|origins| origins.name == column.name);
                if piece.of == Type::Categorical && !is_of_text {
                    categories.join(&mut piece)?;
                }
                column.facts.has_missing |= piece.of == Type::Null || piece.validity.is_some();
                column.pieces.push(piece);
            }
        }
        for (column, categories) in columns.iter_mut().zip(&self.categories) {
            if column.pieces.is_empty() {
                column.pieces.push(Piece::missing(column.of, 0, self.work.query.layout)?);
            }
            if column.of != Type::Categorical {
                continue;
            }
            let of_texts = self.work.origins.as_ref().filter(|origins| origins.name == column.name);
            column.categories = Some(match of_texts {
                Some(origins) => origins.names.part(0..origins.names.n, TextLayout::Offsets)?,
                None => categories.piece(0)?,
            });
        }
        let problems = Problems::default();
        Ok(Table {
            columns,
            n_rows: n_rows as u64,
            names: self.names.clone(),
            problems,
            warnings: Vec::new(),
        })
    }
}

impl Work {
    /// Converts the rows of a chunk, and keeps those that pass the condition.
    fn chunk(
        &self,
        part: Part<'_>,
        text: usize,
        header: &Header,
        shared: &Shared,
        plan: &Plan,
    ) -> Result<(Pieces, bool)> {
        let (mut found, goes_on) = convert(part, header, shared, plan, &self.meaning)?;
        if let Some(condition) = &self.query.condition
            && found.n_rows > 0
            && goes_on
        {
            let rows = self.passing(&found, text, header, &**condition)?;
            let n = rows.iter().map(Range::len).sum();
            if n < found.n_rows {
                for (i, piece) in found.pieces.iter_mut().enumerate() {
                    let is_shown = self.shown.iter().any(|shown| shown.place == Some(i));
                    *piece = match piece.take().filter(|_| is_shown) {
                        Some(piece) => Some(piece.rows(&rows, self.query.layout)?),
                        None => None,
                    };
                }
            }
            found.n_rows = n;
        }
        Ok((found, goes_on))
    }

    /// The rows that pass the condition.
    fn passing(
        &self,
        found: &Pieces,
        text: usize,
        header: &Header,
        condition: &dyn Condition,
    ) -> Result<Vec<Range<usize>>> {
        let n = found.n_rows;
        let piece_of = |name: &String| {
            let place = header.wanted.iter().position(|&column| header.names[column] == *name);
            place.and_then(|place| found.pieces[place].as_ref())
        };
        let of_text = self.origins.as_ref().map(|origins| origins.piece(text, n)).transpose()?;
        let mut categories = Vec::with_capacity(condition.columns().len());
        for name in condition.columns() {
            let piece = piece_of(name).filter(|piece| piece.of == Type::Categorical);
            categories.push(piece.map(categories::of_piece).transpose()?);
        }
        let mut tested = Vec::with_capacity(categories.len());
        for (name, own) in condition.columns().iter().zip(&categories) {
            let (piece, words) = match (piece_of(name), &self.origins, &of_text) {
                (Some(piece), ..) => (piece, own.as_ref()),
                (None, Some(origins), Some(of_text)) => (of_text, Some(&origins.names)),
                _ => return Err(Error::no_column(format!("there is no column '{name}'"))),
            };
            let categories = words.into_iter().map(Values::from).collect();
            tested.push(Lent { name, of: piece.of, pieces: vec![piece.into()], categories });
        }
        let bits = condition.test(&tested, n, self.query.layout)?;
        let mut rows: Vec<Range<usize>> = Vec::new();
        for (group, &bits) in bits.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let row = 64 * group + left.trailing_zeros() as usize;
                left &= left - 1;
                match rows.last_mut() {
                    Some(last) if last.end == row => last.end += 1,
                    _ => rows.push(row..row + 1),
                }
            }
        }
        Ok(rows)
    }
}
