//! Verifies a whole file: every byte is zero or covered by a checksum that matches, and every value
//! decodes.

mod damage;
mod footer;
mod generations;
mod known;
mod statistics;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis_format::{
    BlockRecord, Error, HEADER_LEN, Header, KEY_PAGES_END, Kind, Layout, Logical, MAX_COLUMN_DEPTH,
    MAX_PAGE_VALUES, Physical, Result, SLOT_LEN, SLOT_OFFSETS, SLOT_PAGES_END, Section, SlotState,
    Statistics, TRAILER_LEN, Trailer, Value, Version, fallible, visit_parts,
};

use crate::cells::Cells;
use crate::file::{ColumnInfo, File, details};
use crate::monitor::{Control, Monitor, Quiet};
use crate::opening::Opening;
use crate::read::{MissingTo, Output, Request, Text};
use crate::rows::Rows;
use crate::threads;
use damage::Found;
pub use damage::{Damage, MOST_DAMAGES, Survey};
use known::{Known, Span, block_print, column_prints};

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
    /// Bytes of the file that belong to its generations.
    pub checked_len: u64,
    /// The number of generations that were checked. All other numbers describe the newest one.
    pub n_generations: u64,
    /// Bytes after the end of the newest generation, left by an interrupted or running change.
    /// Readers ignore them.
    pub leftover_len: u64,
}

/// Verifies the checksums and the structure of a file, that no two parts overlap and that bytes
/// between them are zero. Decodes every value and compares the number of missing values with the
/// statistics. Checks all readable generations. Parts that generations share are checked once.
///
/// Bytes of an interrupted or running change are not damage: see [`Report::leftover_len`].
///
/// Costs about as much as reading the file.
///
/// # Errors
/// *Corrupt* for the first damage, with its location and the [damaged
/// generations](Error::generations); [`File::survey`] lists all damage. *Unsupported* for the first
/// column of an unknown type, if no other part is damaged. Otherwise as for reading.
pub fn verify(path: &Path, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Report> {
    File::open_whole(path, Opening::default())?.verify(threads, monitor)
}

/// The uses of memory, in messages.
const PARTS: &str = "the parts of the file";
const VALUES: &str = "the values of a block";

/// How a file is verified.
#[derive(Clone, Copy)]
struct Work<'a> {
    threads: Option<usize>,
    monitor: &'a dyn Monitor,
    /// Bytes of blocks that were verified.
    done: &'a Cell<u64>,
    /// Bytes to verify. Those that generations share count once.
    total: u64,
}

/// The columns of a verified generation, and a checksum of each column's values.
struct Columns<'a> {
    all: &'a [ColumnInfo],
    prints: Vec<u64>,
}

impl Columns<'_> {
    /// The checksum of a column's values.
    fn print(&self, column: u64) -> u64 {
        usize::try_from(column).ok().and_then(|column| self.prints.get(column)).copied().unwrap_or(0)
    }
}

impl File {
    /// Verifies this generation alone. Skips the parts in `known`.
    fn survey_state(&self, known: &mut Known, work: Work<'_>) -> Result<Survey> {
        let mut report = Report { checked_len: self.slot().end, n_generations: 1, ..Report::default() };
        let (columns, problem) = match self.all_columns(0..self.n_columns_total()) {
            Ok(columns) => (columns, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let found = Found::new(self, &columns)?;
        if !self.is_earlier() {
            found.check(self.verify_slots())?;
            if let Some(sealed) = self.sealed() {
                found.check(sealed.verify(self.named_end(), &|| work.monitor.interrupted()))?;
            }
            report.leftover_len = found.check(self.leftover_len())?.unwrap_or(0);
        }
        found.check(self.verify_trailer())?;
        let mut spans = self.spans();
        // Whether all parts of the file are known.
        let mut is_whole = true;
        for section in self.sections().iter().filter(|section| section.is_known()) {
            let visited = visit_parts(section, self.room(), &mut |part| self.fetch(part), &mut |part| {
                fallible::push(&mut spans, Span::of_part(part), PARTS)
            });
            is_whole &= found.check(visited.map_err(|e| e.in_section(section.name())))?.is_some();
        }
        if let Some(error) = problem {
            found.check(Err::<(), _>(error))?;
            report.n_columns = self.n_columns_total();
            return found.survey(self, report);
        }
        report.n_columns = columns.len() as u64;
        let (mut stored, mut prints) = (Vec::new(), Vec::new());
        for column in &columns {
            let blocks = found.check_column(column, self.verify_record(column, &mut spans))?;
            is_whole &= blocks.is_some();
            let (n_blocks, print) = blocks.unwrap_or_default();
            report.n_blocks += n_blocks;
            fallible::push(&mut prints, print, PARTS)?;
            if n_blocks > 0 && column.unknown.is_none() {
                fallible::push(&mut stored, column, PARTS)?;
            }
        }
        // Columns with damaged pieces are bad already.
        let prints = column_prints(&columns, &prints, |column| self.pieces_of(column).ok().flatten())?;
        if is_whole && !self.verify_spans(spans, known, &found)? {
            // Stop here: blocks that share bytes could be decoded any number of times. No column
            // counts as sound.
            let survey = found.survey(self, report)?;
            return Ok(Survey { n_sound: 0, ..survey });
        }
        found.check(self.verify_columns(&columns))?;
        for number in 0..self.n_tables() {
            found.check(self.verify_pieces(number, &columns, &found))?;
        }
        let columns = Columns { all: &columns, prints };
        report.n_values = self.verify_values(&stored, &found, known, work)?;
        self.verify_members(&columns, &found, known, work)?;
        self.verify_children(&columns, &found, known)?;
        self.verify_trees(&columns, &found, known, work)?;
        let mut survey = found.survey(self, report)?;
        let unknown = columns.all.iter().filter(|column| column.unknown.is_some());
        if let (None, Some(error)) =
            (&survey.error, unknown.clone().find_map(|column| column.require_known().err()))
        {
            let (n, all) = (unknown.count(), columns.all.len());
            let advice = format!("all but {n} of {all} columns are sound; update Entasis");
            survey.error = Some(error.advise(advice));
        }
        Ok(survey)
    }

    /// The parts of the file outside of sections and columns.
    fn spans(&self) -> Vec<Span> {
        let mut spans = vec![Span::own(0, HEADER_LEN as u64)];
        if self.header().has_slot_pages() {
            spans.extend(SLOT_OFFSETS.map(|at| Span::own(at, SLOT_LEN as u64)));
        }
        if self.sealed().is_some() {
            spans.push(Span::own(SLOT_PAGES_END, KEY_PAGES_END - SLOT_PAGES_END));
        }
        let slot = *self.slot();
        spans.push(Span::own(slot.root_at, slot.root_len.into()));
        spans.push(Span::own(slot.end - TRAILER_LEN as u64, TRAILER_LEN as u64));
        spans
    }

    /// Checks the record of a column against its block records. Adds the parts of the blocks to
    /// `spans`. Returns the number of blocks and a checksum of their records.
    fn verify_record(&self, column: &ColumnInfo, spans: &mut Vec<Span>) -> Result<(u64, u64)> {
        let blocks = self.read_blocks(column)?;
        let is_known = column.unknown.is_none();
        let statistics =
            if is_known && !blocks.is_empty() { self.statistics_of(column)? } else { Vec::new() };
        let mut print = 0;
        for (i, block) in blocks.iter().enumerate() {
            let of_block = block_print(&column.record, block, statistics.get(i));
            fallible::extend(spans, Span::of_block(block, of_block).into_iter(), PARTS)?;
            print = Known::joined([print, of_block].into_iter());
        }
        if !is_known {
            return Ok((blocks.len() as u64, print));
        }
        if !blocks.is_empty() {
            let n_missing: u64 = statistics.iter().map(|s| u64::from(s.n_missing)).sum();
            if n_missing != column.record.n_missing {
                return Err(Error::corrupt(
                    "the blocks have another number of missing values than their column",
                ));
            }
        }
        self.source(column.index)?;
        Ok((blocks.len() as u64, print))
    }

    /// Checks the value tree, the host maps and the cells.
    fn verify_trees(
        &self,
        of: &Columns<'_>,
        found: &Found<'_>,
        known: &mut Known,
        work: Work<'_>,
    ) -> Result<()> {
        let columns = of.all;
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
                table.verify_nodes(&mut table.known_host()?, n_cells)?;
                self.verify_nodes(&mut self.node_value(table.sort_order_node())?, n_cells)?;
                self.verify_metadata(table.metadata_node(), "a table", n_cells)
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
            Some(cells) if !found.is_any_bad() => self.verify_cells(&cells, of, found, known, work),
            _ => Ok(()),
        }
    }

    /// Checks the cells, unless a newer generation has the same cells.
    fn verify_cells(
        &self,
        cells: &Cells,
        of: &Columns<'_>,
        found: &Found<'_>,
        known: &mut Known,
        work: Work<'_>,
    ) -> Result<()> {
        let Some(columns) = self.cell_columns() else { return Ok(()) };
        let numbers = columns.numbers.iter().map(|number| number.map_or(0, |number| of.print(number)));
        let pools =
            (columns.pools.0..columns.pools.0.saturating_add(columns.pools.1)).map(|pool| of.print(pool));
        let counts = [self.n_columns_total(), self.n_tables(), columns.pools.0];
        let print = Known::joined(numbers.chain(pools.take(of.all.len())).chain(counts));
        match known.other(print) {
            Some(true) => Ok(()),
            Some(false) => {
                found.share();
                Ok(())
            }
            None => {
                let is_sound = found.check(cells.verify(work.threads, &Quiet(work.monitor)))?.is_some();
                known.set_other(print, is_sound)
            }
        }
    }

    /// Checks the metadata and both details of a column.
    fn verify_column_values(&self, column: &ColumnInfo, n_cells: u64) -> Result<()> {
        self.verify_metadata(column.record.metadata, "a column", n_cells)?;
        for detail in [&column.detail, &column.host_detail].into_iter().flatten() {
            self.verify_nodes(&mut detail.clone(), n_cells)?;
        }
        match &column.detail {
            Some(detail) if self.root().version() > Version::OLDEST => details::check(&column.record, detail),
            _ => Ok(()),
        }
    }

    /// Checks the user's metadata of a table or column.
    fn verify_metadata(&self, node: Option<u64>, of: &str, n_cells: u64) -> Result<()> {
        let mut metadata = self.node_value(node)?;
        if node.is_some() && !matches!(metadata, Value::Map(_)) {
            return Err(Error::corrupt(format!("the metadata of {of} are not a map")));
        }
        self.verify_nodes(&mut metadata, n_cells)
    }

    /// No slot is damaged.
    fn verify_slots(&self) -> Result<()> {
        let [a, b] = self.slots();
        let [at_a, at_b] = SLOT_OFFSETS;
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
        Ok(())
    }

    /// The trailer equals the slot.
    fn verify_trailer(&self) -> Result<()> {
        if (self.header().version > Version::OLDEST) != (self.root().version() > Version::OLDEST) {
            let message = "the root follows the rules of another version than the header";
            return Err(Error::corrupt(message).in_section("root").at(self.slot().root_at));
        }
        let at = self.slot().end - TRAILER_LEN as u64;
        let trailer =
            Trailer::parse(&self.bytes_at(at, TRAILER_LEN)?).map_err(|e| e.in_section("trailer").at(at))?;
        if trailer != self.trailer() {
            return Err(Error::corrupt("the trailer differs from slot and header")
                .in_section("trailer")
                .at(at));
        }
        Ok(())
    }

    /// Bytes after the end of the newest generation, which only in-place changes leave. Readers
    /// ignore them, and no checksum covers them.
    fn leftover_len(&self) -> Result<u64> {
        let end = self.named_end();
        let len = self.source_len().saturating_sub(end);
        if len == 0 || self.header().has_slot_pages() {
            return Ok(len);
        }
        let bytes = if len == 1 { "1 byte".to_owned() } else { format!("{len} bytes") };
        let message = format!("{bytes} after the end of the file's content");
        let advice = "readers ignore them: read the file and write it again, or restore it from a copy";
        Err(Error::corrupt(message).at(end).advise(advice))
    }

    /// Checks that no parts overlap, and that bytes between them are zero. Skips bytes that may
    /// belong to earlier generations. Returns whether no parts overlap.
    fn verify_spans(&self, mut spans: Vec<Span>, known: &mut Known, found: &Found<'_>) -> Result<bool> {
        spans.retain(|span| span.to > span.from);
        spans.sort_unstable();
        let room = self.room().start;
        let own = self.root().previous.map_or(room, |(at, len, _)| at + u64::from(len) + TRAILER_LEN as u64);
        // Nothing says which bytes an unknown section has.
        let names_all = self.sections().iter().all(Section::is_known);
        let (mut end, mut is_apart) = (0, true);
        for &Span { from, to, .. } in &spans {
            if from < end {
                found.check(Err::<(), _>(Error::corrupt("two parts of the file overlap").at(from)))?;
                is_apart = false;
            }
            found.check(self.verify_zeros(end, from.min(room)))?;
            if names_all {
                found.check(self.verify_zeros(end.max(own), from))?;
            }
            end = end.max(to);
        }
        if is_apart {
            is_apart = found.check(known.add(&spans, self.generation(), self.slot().end))?.is_some();
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
        found: &Found<'_>,
        known: &mut Known,
        work: Work<'_>,
    ) -> Result<u64> {
        let mut tasks = Vec::new();
        for column in stored {
            let statistics = self.statistics_of(column)?;
            let blocks = self.blocks(column.index)?;
            for (i, (block, statistics)) in blocks.iter().zip(statistics).enumerate() {
                match known.block(block.directory_at) {
                    Some(true) => {}
                    Some(false) => found.share_block(column, block.first_value..block.end_value())?,
                    None => {
                        known.set_block(block.directory_at, true)?;
                        fallible::push(&mut tasks, (*column, i as u64, *block, statistics), PARTS)?;
                    }
                }
            }
        }
        let control = Control::after(work.monitor, work.done.get(), work.total);
        let n_values = AtomicU64::new(0);
        threads::run(
            tasks,
            work.threads.unwrap_or_else(threads::default_threads),
            &control,
            || (),
            |(), (column, i, block, statistics)| {
                let verified = self
                    .verify_block(column, &block, &statistics)
                    .map_err(|e| e.in_block(i).in_column(&column.name));
                if found.check_block(column, block.first_value..block.end_value(), verified)?.is_some() {
                    n_values.fetch_add(u64::from(block.n_values), Ordering::Relaxed);
                }
                control.advance(u64::from(block.pages_len) + u64::from(block.directory_len));
                Ok(())
            },
        )?;
        work.done.set(control.done());
        for (column, first_value) in found.blocks() {
            for block in self.blocks(column)?.iter().filter(|block| block.first_value == first_value) {
                known.set_block(block.directory_at, false)?;
            }
        }
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

    /// Reads bundled columns by themselves, some at a time, and compares the number of missing
    /// values with their records.
    fn verify_members(
        &self,
        columns: &Columns<'_>,
        found: &Found<'_>,
        known: &mut Known,
        work: Work<'_>,
    ) -> Result<()> {
        let mut members: Vec<&ColumnInfo> = fallible::with_capacity(columns.all.len(), PARTS)?;
        for column in
            columns.all.iter().filter(|column| column.record.is_bundled && !found.is_bad(column.index))
        {
            match known.other(columns.print(column.index)) {
                None => members.push(column),
                Some(true) => {}
                Some(false) => found.share_column(column),
            }
        }
        for some in members.chunks(MEMBERS) {
            match self.verify_some_members(some, &Quiet(work.monitor)) {
                Err(error) if error.kind() == Kind::Corrupt => {
                    for member in some {
                        found.check_column(
                            member,
                            self.verify_some_members(&[member], &Quiet(work.monitor)),
                        )?;
                    }
                }
                verified => verified?,
            }
        }
        members
            .iter()
            .try_for_each(|member| known.set_other(columns.print(member.index), !found.is_bad(member.index)))
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

    /// Checks that children belong to their parents, are not nested too deep, and have as many
    /// values as their parents' structure values need.
    fn verify_children(&self, of: &Columns<'_>, found: &Found<'_>, known: &mut Known) -> Result<()> {
        let columns = of.all;
        // Children come after their parents, so the parent's depth is known before it is used.
        let mut depths: Vec<u32> = fallible::defaults(columns.len(), PARTS)?;
        for column in columns {
            found.check_column(column, verify_parent(columns, column))?;
        }
        for column in columns.iter().filter(|column| column.record.column_type.physical.is_nested()) {
            if found.is_bad(column.index) {
                continue;
            }
            let children = match self.children(column) {
                // The type of a child is unknown.
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
            let print = of.print(column.index);
            match known.other(print) {
                Some(true) => {}
                Some(false) => found.share_column(column),
                None => {
                    let structure = self.check_structure(&Arc::new(column.clone()), &children);
                    let is_sound = found.check_column(column, structure)?.is_some();
                    known.set_other(print, is_sound)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks that a child is among the children of its parent.
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

    /// Memory for the values of a bundled column, which are fewer than a page holds.
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
