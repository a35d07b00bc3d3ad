//! Values at any places of a stored column. Each block, page and directory is opened once.

use entasis_encodings::{PAGE, Page};
use entasis_format::{BlockRecord, Error, Result};

use super::{OpenPage, Reader, Visit};
use crate::read::request::Source;

impl Reader<'_> {
    /// Visits every page that holds some of `rows`, which are ascending numbers in the stored
    /// column.
    ///
    /// In each [`OpenPage`], `at` is the index of the first of the page's rows, and `range` spans
    /// the first to the last of them.
    pub(crate) fn scattered(&mut self, source: &Source, rows: &[u64], visit: &mut Visit<'_>) -> Result<()> {
        let mut k = 0;
        while let Some(&row) = rows.get(k) {
            let i = source.blocks.partition_point(|block| block.end_value() <= row);
            let block = source.blocks.get(i).ok_or_else(|| Error::argument("a row is out of range"))?;
            let n = rows[k..].partition_point(|&row| row < block.end_value());
            self.rows_of_block(source, block, &rows[k..k + n], k, visit).map_err(|e| e.in_block(i as u64))?;
            k += n;
        }
        Ok(())
    }

    fn rows_of_block(
        &mut self,
        source: &Source,
        block: &BlockRecord,
        rows: &[u64],
        at: usize,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        // Enough rows to hit half of the pages: the segment is read as a whole.
        let is_whole = rows.len() * 2 > (block.n_values as usize).div_ceil(PAGE);
        if is_whole {
            self.load(block, std::iter::empty())?;
        }
        let directory = self.directory(source, block)?;
        let dictionary_len = u64::from(directory.dictionary.stored_len);
        if dictionary_len > 0 {
            self.ensure(block.pages_at, dictionary_len)?;
        }
        let decoder = self.decoder(&directory, source, block.pages_at)?;
        let inside = |k: usize| (rows[k] - block.first_value) as usize;
        if directory.pages.is_empty() {
            let page = Page::constant(block.n_values as usize);
            let range = inside(0)..inside(rows.len() - 1) + 1;
            let opened = OpenPage { block, decoder: &decoder, page: &page, range, at };
            return visit(opened, &mut self.text);
        }
        let (mut first, mut k) = (0, 0);
        let mut place = block.pages_at + dictionary_len;
        for (i, entry) in directory.pages.iter().enumerate() {
            let end = first + entry.n_values as usize;
            let n = rows[k..].partition_point(|&row| ((row - block.first_value) as usize) < end);
            if n > 0 {
                let here = |e: Error| e.in_page(i as u64).at(place);
                self.ensure(place, u64::from(entry.stored_len))?;
                let skip = (place - self.window.0) as usize;
                let stored = &self.window.1[skip..skip + entry.stored_len as usize];
                let page = Page::open(&directory, source.of, i, stored, &mut self.codecs, &mut self.page)
                    .map_err(here)?;
                let range = inside(k) - first..inside(k + n - 1) - first + 1;
                let opened = OpenPage { block, decoder: &decoder, page: &page, range, at: at + k };
                visit(opened, &mut self.text).map_err(here)?;
                k += n;
            }
            if k == rows.len() {
                break;
            }
            first = end;
            place += u64::from(entry.stored_len);
        }
        Ok(())
    }
}
