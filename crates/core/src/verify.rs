//! Verifies a whole file: every byte is zero or covered by a checksum that matches, and every value
//! decodes.

mod damage;
mod footer;
mod statistics;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis_format::{
    BlockRecord, Error, HEADER_LEN, Header, Kind, Layout, Logical, MAX_COLUMN_DEPTH, MAX_PAGE_VALUES,
    Physical, Result, SLOT_LEN, SLOT_PLACES, SlotState, Statistics, TRAILER_LEN, Trailer, Value, fallible,
    visit_parts,
};

use crate::cells::Cells;
use crate::file::{ColumnInfo, File};
use crate::monitor::{Control, Monitor};
use crate::read::{MissingTo, Output, Request, Text};
use crate::rows::Rows;
use crate::threads;
use damage::Found;
pub use damage::{Damage, MOST_DAMAGES, Survey};

/// Bundled columns that are read together.
const MEMBERS: usize = 64;

/// The result of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of columns, including labels, dictionaries and bundles.
    pub n_columns: u64,
    /// The number of blocks.
    pub n_blocks: u64,
    /// The number of values that were decoded.
    pub n_values: u64,
    /// Bytes of the file.
    pub checked_len: u64,
}

/// Verifies the checksums and the structure of a file, that no two parts overlap and that bytes
/// between them are zero. Decodes every value and compares the number of missing values with the
/// statistics.
///
/// Costs about as much as reading the file.
///
/// # Errors
/// *Corrupt* for the first damage, with its place; [`File::survey`] lists all damage. *Unsupported*
/// for the first column whose type this release does not know, unless another part is damaged.
/// Otherwise as for reading.
pub fn verify(path: &Path, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Report> {
    File::open(path)?.verify(threads, monitor)
}

/// The uses of memory, in messages.
const PARTS: &str = "the parts of the file";
const VALUES: &str = "the values of a block";

/// First byte and end of a part of the file.
type Span = (u64, u64);

impl File {
    /// Verifies the file; see [`verify`].
    ///
    /// # Errors
    /// As [`verify`].
    pub fn verify(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Report> {
        self.survey(threads, monitor)?.into_result()
    }

    /// Verifies the file as [`verify`] does, and goes on after damage.
    ///
    /// # Errors
    /// All but *corrupt*.
    pub fn survey(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Survey> {
        let survey = self.whole().survey_all(threads, monitor).map_err(|e| e.in_file(self.path()))?;
        let error = survey.error.map(|e| e.in_file(self.path()));
        Ok(Survey { error, ..survey })
    }

    fn survey_all(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Survey> {
        let mut report = Report { checked_len: self.slot().end, ..Report::default() };
        let (columns, problem) = match self.all_columns(0..self.n_columns_total()) {
            Ok(columns) => (columns, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let found = Found::new(&columns)?;
        found.check(self.verify_slots())?;
        found.check(self.verify_end())?;
        let mut spans = self.spans();
        // Whether all parts of the file are known.
        let mut is_whole = true;
        for section in self.sections() {
            let visited = visit_parts(section, self.room(), &mut |part| self.fetch(part), &mut |part| {
                fallible::push(&mut spans, (part.at, part.at + u64::from(part.stored_len)), PARTS)
            });
            is_whole &= found.check(visited.map_err(|e| e.in_section(section.name())))?.is_some();
        }
        if let Some(error) = problem {
            found.check(Err::<(), _>(error))?;
            report.n_columns = self.n_columns_total();
            return found.survey(self, report);
        }
        report.n_columns = columns.len() as u64;
        let mut stored = Vec::new();
        for column in &columns {
            let blocks = found.check_column(column, self.verify_record(column, &mut spans))?;
            is_whole &= blocks.is_some();
            let n_blocks = blocks.unwrap_or(0);
            report.n_blocks += n_blocks;
            if n_blocks > 0 && column.unknown.is_none() {
                fallible::push(&mut stored, column, PARTS)?;
            }
        }
        if is_whole && !self.verify_spans(spans, &found)? {
            // Blocks that share bytes would be decoded any number of times. No column is known to
            // be sound.
            let survey = found.survey(self, report)?;
            return Ok(Survey { n_sound: 0, ..survey });
        }
        found.check(self.verify_columns(&columns))?;
        let total = stored.iter().map(|c| c.record.n_values).sum();
        report.n_values = self.verify_values(&stored, total, &found, threads, monitor)?;
        self.verify_members(&columns, &found, monitor)?;
        self.verify_children(&columns, &found)?;
        self.verify_trees(&columns, &found, threads, monitor)?;
        let mut survey = found.survey(self, report)?;
        let unknown = columns.iter().filter(|column| column.unknown.is_some());
        if let (None, Some(error)) =
            (&survey.error, unknown.clone().find_map(|column| column.require_known().err()))
        {
            let (n, all) = (unknown.count(), columns.len());
            let advice = format!("all but {n} of {all} columns are sound; update Entasis");
            survey.error = Some(error.advise(advice));
        }
        Ok(survey)
    }

    /// The parts of the file outside of sections and columns.
    fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = vec![(0, HEADER_LEN as u64)];
        if self.header().has_slot_pages() {
            spans.extend(SLOT_PLACES.map(|at| (at, at + SLOT_LEN as u64)));
        }
        let slot = *self.slot();
        spans.push((slot.root_at, slot.root_at + u64::from(slot.root_len)));
        spans.push((slot.end - TRAILER_LEN as u64, slot.end));
        spans
    }

    /// Checks the record of a column against those of its blocks. Adds the parts of the blocks to
    /// `spans`, and returns the number of blocks.
    fn verify_record(&self, column: &ColumnInfo, spans: &mut Vec<Span>) -> Result<u64> {
        let blocks = self.read_blocks(column)?;
        for block in blocks.iter() {
            let pages = (block.pages_at, block.pages_at + u64::from(block.pages_len));
            let directory = (block.directory_at, block.directory_at + u64::from(block.directory_len));
            fallible::extend(spans, [pages, directory].into_iter(), PARTS)?;
        }
        if column.unknown.is_some() {
            return Ok(blocks.len() as u64);
        }
        if !blocks.is_empty() {
            let statistics = self.statistics(column.index)?;
            let n_missing: u64 = statistics.iter().map(|s| u64::from(s.n_missing)).sum();
            if n_missing != column.record.n_missing {
                return Err(Error::corrupt(
                    "the blocks have another number of missing values than their column",
                ));
            }
        }
        self.source(column.index)?;
        Ok(blocks.len() as u64)
    }

    /// Checks the value tree, the host maps and the cells.
    fn verify_trees(
        &self,
        columns: &[ColumnInfo],
        found: &Found<'_>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let are_cells_bad = self
            .cell_columns()
            .is_some_and(|cells| cells.numbers.iter().flatten().any(|&number| found.is_bad(number)));
        let cells = if are_cells_bad { None } else { found.check(self.cells())? };
        // Without sound cells their numbers cannot be checked.
        let n_cells = cells.as_ref().map_or(u64::MAX, |cells| cells.as_ref().map_or(0, Cells::n_cells));
        let (are_cells_bad, cells) = (cells.is_none(), cells.flatten());
        found.check(self.verify_nodes(&mut self.value().clone(), n_cells))?;
        for number in 0..self.n_tables() {
            found.check(self.table(number).and_then(|table| {
                table.verify_names()?;
                table.verify_nodes(&mut table.host()?, n_cells)?;
                self.verify_nodes(&mut self.node_value(table.sort_order_node())?, n_cells)
            }))?;
        }
        for column in columns {
            if !found.is_bad(column.index) {
                found.check_column(column, self.verify_column_values(column, n_cells))?;
            }
            let is_object = column.record.column_type.logical == Logical::Object && column.unknown.is_none();
            if is_object && !are_cells_bad && !found.is_bad(column.index) {
                let cells = cells
                    .as_ref()
                    .ok_or_else(|| Error::corrupt("the file has an object column but no cells"));
                let list = column.detail.as_ref().unwrap_or(&Value::Null);
                let objects = cells.and_then(|cells| cells.objects(list, column.record.n_values));
                found.check_column(column, objects)?;
            }
        }
        match cells {
            Some(cells) if !found.is_any_bad() => {
                found.check(cells.verify(threads, monitor))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the metadata and the detail of a column.
    fn verify_column_values(&self, column: &ColumnInfo, n_cells: u64) -> Result<()> {
        let mut metadata = self.node_value(column.record.metadata)?;
        if column.record.metadata.is_some() && !matches!(metadata, Value::Map(_)) {
            return Err(Error::corrupt("the metadata of a column are not a map"));
        }
        self.verify_nodes(&mut metadata, n_cells)?;
        column.detail.as_ref().map_or(Ok(()), |detail| self.verify_nodes(&mut detail.clone(), n_cells))
    }

    /// No slot is damaged, and the trailer equals the current one.
    fn verify_slots(&self) -> Result<()> {
        let [a, b] = self.slots();
        let [at_a, at_b] = SLOT_PLACES;
        for (state, at) in [(self.header().first, Header::FIRST_AT), (a, at_a), (b, at_b)] {
            if matches!(state, SlotState::Damaged) {
                return Err(Error::corrupt("a commit slot is damaged").in_section("header").at(at));
            }
        }
        if self.header().first == SlotState::Empty && !self.header().is_streamed() {
            return Err(Error::corrupt("the first slot is empty").in_section("header").at(Header::FIRST_AT));
        }
        if self.is_passed_over() {
            let message = "the last change of the file was not written completely";
            return Err(Error::corrupt(message).in_section("header").at(at_a));
        }
        let at = self.slot().end - TRAILER_LEN as u64;
        let trailer =
            Trailer::parse(&self.bytes_at(at, TRAILER_LEN)?).map_err(|e| e.in_section("trailer").at(at))?;
        if trailer != Trailer::from(*self.slot()) {
            return Err(Error::corrupt("the trailer differs from the slot").in_section("trailer").at(at));
        }
        Ok(())
    }

    /// The file ends where its generation ends. Readers ignore bytes after it, and no checksum
    /// covers them.
    fn verify_end(&self) -> Result<()> {
        let (end, len) = (self.slot().end, self.source_len());
        let bytes = match len.saturating_sub(end) {
            0 => return Ok(()),
            1 => "1 byte".to_owned(),
            n => format!("{n} bytes"),
        };
        let message = format!("{bytes} after the end of the file's content");
        if !self.header().has_slot_pages() {
            let advice = "readers ignore them: read the file and write it again, or restore it from a copy";
            return Err(Error::corrupt(message).at(end).advise(advice));
        }
        let message = format!("{message}: a change left them that was interrupted or still goes on");
        Err(Error::corrupt(message).at(end).advise("readers ignore them, and the next append removes them"))
    }

    /// No parts overlap, and the bytes between them are zero. Bytes that may belong to earlier
    /// generations are not looked at. Returns whether no parts overlap.
    fn verify_spans(&self, mut spans: Vec<Span>, found: &Found<'_>) -> Result<bool> {
        spans.retain(|span| span.1 > span.0);
        spans.sort_unstable();
        let room = self.room().start;
        let own = self.root().previous.map_or(room, |(at, len, _)| at + u64::from(len) + TRAILER_LEN as u64);
        let (mut end, mut is_apart) = (0, true);
        for (from, to) in spans {
            if from < end {
                found.check(Err::<(), _>(Error::corrupt("two parts of the file overlap").at(from)))?;
                is_apart = false;
            }
            found.check(self.verify_zeros(end, from.min(room)))?;
            found.check(self.verify_zeros(end.max(own), from))?;
            end = end.max(to);
        }
        Ok(is_apart)
    }

    /// The bytes from `at` to `end` are zero.
    fn verify_zeros(&self, mut at: u64, end: u64) -> Result<()> {
        while at < end {
            let len = usize::try_from((end - at).min(1 << 20)).unwrap_or(1 << 20);
            let bytes = self.bytes_at(at, len)?;
            if let Some(i) = bytes.iter().position(|&b| b != 0) {
                return Err(Error::corrupt("padding is not zero").at(at + i as u64));
            }
            at += len as u64;
        }
        Ok(())
    }

    /// Decodes all values block by block and compares the number of missing values with the
    /// statistics.
    fn verify_values(
        &self,
        stored: &[&ColumnInfo],
        total: u64,
        found: &Found<'_>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<u64> {
        let control = Control::new(monitor, total);
        let mut tasks = Vec::new();
        for column in stored {
            let statistics = self.statistics(column.index)?;
            let blocks = self.blocks(column.index)?;
            let pairs = blocks.iter().zip(statistics).enumerate();
            let of_column = pairs.map(|(i, (block, statistics))| (*column, i as u64, *block, statistics));
            fallible::extend(&mut tasks, of_column, PARTS)?;
        }
        let n_values = AtomicU64::new(0);
        threads::run(
            tasks,
            threads.unwrap_or_else(threads::default_threads),
            &control,
            || (),
            |(), (column, i, block, statistics)| {
                let verified = self
                    .verify_block(column, &block, &statistics)
                    .map_err(|e| e.in_block(i).in_column(&column.name));
                if found.check_block(column, block.first_value..block.end_value(), verified)?.is_some() {
                    n_values.fetch_add(u64::from(block.n_values), Ordering::Relaxed);
                }
                control.advance(u64::from(block.n_values));
                Ok(())
            },
        )?;
        Ok(n_values.into_inner())
    }

    fn verify_block(&self, column: &ColumnInfo, block: &BlockRecord, statistics: &Statistics) -> Result<()> {
        statistics.check(column.record.column_type.layout(), block.n_values)?;
        let mut array = Array::new(column.record.column_type.layout(), block.n_values as usize)?;
        let rows = Rows::Range(block.first_value..block.end_value());
        let request = Request { rows, ..array.request(column) };
        self.read(vec![request], Some(1), &crate::monitor::Silent)?;
        let n_missing = array.mask.iter().map(|&m| u32::from(m)).sum::<u32>();
        if n_missing != statistics.n_missing {
            let message = format!("a block has {n_missing} missing values, its statistics say otherwise");
            return Err(Error::corrupt(message));
        }
        array.check(statistics)
    }

    /// Reads bundled columns as such, some at a time, and compares the number of missing values
    /// with their records.
    fn verify_members(&self, columns: &[ColumnInfo], found: &Found<'_>, monitor: &dyn Monitor) -> Result<()> {
        let mut members: Vec<&ColumnInfo> = fallible::with_capacity(columns.len(), PARTS)?;
        members
            .extend(columns.iter().filter(|column| column.record.is_bundled && !found.is_bad(column.index)));
        for members in members.chunks(MEMBERS) {
            match self.verify_some_members(members, monitor) {
                Err(error) if error.kind() == Kind::Corrupt => {
                    for member in members {
                        found.check_column(member, self.verify_some_members(&[member], monitor))?;
                    }
                }
                verified => verified?,
            }
        }
        Ok(())
    }

    fn verify_some_members(&self, members: &[&ColumnInfo], monitor: &dyn Monitor) -> Result<()> {
        let mut arrays = fallible::try_collect(members.iter().map(|member| Array::of(member)), VALUES)?;
        let pairs = arrays.iter_mut().zip(members);
        let requests = pairs.map(|(array, member)| array.request(member));
        self.read(fallible::collect(requests, VALUES)?, Some(1), monitor)?;
        for (array, member) in arrays.iter().zip(members) {
            let n_missing = array.mask.iter().map(|&m| u64::from(m)).sum::<u64>();
            if n_missing != member.record.n_missing {
                let message =
                    format!("a bundled column has {n_missing} missing values, its record says otherwise");
                return Err(Error::corrupt(message).in_column(&member.name));
            }
        }
        Ok(())
    }

    /// Children belong to their parents, are not nested too deep, and have as many values as the
    /// structure values of their parents need.
    fn verify_children(&self, columns: &[ColumnInfo], found: &Found<'_>) -> Result<()> {
        // Children come after their parents, so that each depth is known before it is used.
        let mut depths: Vec<u32> = fallible::defaults(columns.len(), PARTS)?;
        for column in columns {
            found.check_column(column, verify_parent(columns, column))?;
        }
        for column in columns.iter().filter(|column| column.record.column_type.physical.is_nested()) {
            if found.is_bad(column.index) {
                continue;
            }
            let children = match self.children(column) {
                // A child has an unknown type.
                Err(error) if error.kind() == Kind::Unsupported => continue,
                children => found.check_column(column, children)?,
            };
            let Some(children) = children else { continue };
            let depth = depths[column.index as usize].max(1) + 1;
            if depth > MAX_COLUMN_DEPTH && !children.is_empty() {
                found.check_column(column, Err::<(), _>(Error::corrupt("a column is nested too deep")))?;
                continue;
            }
            children.iter().for_each(|child| depths[child.index as usize] = depth);
            let has_offsets = column.record.column_type.has_child_offsets();
            if has_offsets && children.last().is_some_and(|offsets| found.is_bad(offsets.index)) {
                continue;
            }
            let structure = self.check_structure(&Arc::new(column.clone()), &children);
            found.check_column(column, structure)?;
        }
        Ok(())
    }
}

/// A child is among the children of its parent.
fn verify_parent(columns: &[ColumnInfo], column: &ColumnInfo) -> Result<()> {
    let parent = column.record.parent.map(|parent| column_at(columns, parent)).transpose()?;
    let Some(parent) = parent.filter(|parent| parent.unknown.is_none()) else { return Ok(()) };
    let (first, n) = (parent.record.first_child, u64::from(parent.record.n_children));
    if first.is_some_and(|first| (first..first.saturating_add(n)).contains(&column.index)) {
        Ok(())
    } else {
        Err(Error::corrupt("a child is not among the children of its parent"))
    }
}

/// A column by its number.
fn column_at(columns: &[ColumnInfo], number: u64) -> Result<&ColumnInfo> {
    let found = usize::try_from(number).ok().and_then(|number| columns.get(number));
    found.ok_or_else(|| Error::corrupt("a column number is out of range").in_section("columns"))
}

/// Memory for decoded values and their missing mask.
struct Array {
    of: Layout,
    words: Vec<u64>,
    len: usize,
    mask: Vec<u8>,
    text: Text,
}

impl Array {
    fn new(of: Layout, n: usize) -> Result<Self> {
        let len = n * of.width().unwrap_or(1);
        let (words, mask) = (fallible::defaults(len.div_ceil(8), VALUES)?, fallible::defaults(n, VALUES)?);
        Ok(Self { of, words, len, mask, text: Text::default() })
    }

    /// Memory for a bundled column, which has fewer values than a page.
    fn of(column: &ColumnInfo) -> Result<Self> {
        match usize::try_from(column.record.n_values) {
            Ok(n) if n < MAX_PAGE_VALUES as usize => Self::new(column.record.column_type.layout(), n),
            _ => Err(Error::corrupt("a bundled column has too many values").in_column(&column.name)),
        }
    }

    /// Compares the values with their statistics.
    fn check(&self, statistics: &Statistics) -> Result<()> {
        let values = statistics::Values {
            words: &bytemuck::cast_slice::<u64, u8>(&self.words)[..self.len],
            offsets: bytemuck::cast_slice(&self.text.offsets),
            bytes: self.text.joined(),
            mask: &self.mask,
        };
        let width = if self.of.physical.is_var() { 0 } else { self.of.width().unwrap_or(1) };
        statistics::check(statistics, (self.of.physical, width), &values)
    }

    fn request(&mut self, column: &ColumnInfo) -> Request<'_> {
        let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[..self.len];
        let output = match self.of.physical {
            Physical::Bool | Physical::Null => Output::Bools(bytes),
            physical if physical.is_var() => Output::Text(&mut self.text),
            _ => Output::Words(bytes),
        };
        Request { column: column.index, rows: Rows::All, output, missing: MissingTo::Mask(&mut self.mask) }
    }
}
