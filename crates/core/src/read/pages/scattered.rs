//! Reads values at any positions of a stored column. Opens each block, page and directory once.

use std::ops::Range;

use entasis_encodings::{BlockDecoder, PAGE, Page};
use entasis_format::{BlockRecord, Directory, Error, Result};

use super::{OpenPage, Reader, Visit};
use crate::file::KnownBlock;
use crate::read::request::Source;

impl Reader<'_> {
    /// Visits every page that holds some of `rows`, ascending numbers in the stored column.
    ///
    /// In each [`OpenPage`], `at` is the index of the page's first wanted row, and `range` spans
    /// the page's first to last wanted row.
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
        let known = if self.trusts_known_pages { self.file.known_block(block, source.of) } else { None };
        // If more than half of the pages must be read completely, one read covers the segment.
        let (n_whole, n) = match &known {
            Some(known) => (known.n_whole(rows), known.directory.pages.len()),
            None => (n_pages(rows, block.first_value), (block.n_values as usize).div_ceil(PAGE)),
        };
        if n_whole * 2 > n {
            self.load(block, std::iter::empty())?;
        }
        let own;
        let known = match known {
            None if self.trusts_known_pages => {
                let directory = self.directory(source, block)?;
                Some(self.file.add_known_block(block, source.of, directory)?)
            }
            known => known,
        };
        let directory = match &known {
            Some(known) => &known.directory,
            None => {
                own = self.directory(source, block)?;
                &own
            }
        };
        let dictionary_len = u64::from(directory.dictionary.stored_len);
        if dictionary_len > 0 {
            self.ensure(block.pages_at, dictionary_len)?;
        }
        let decoder = self.decoder(directory, source, block.pages_at)?;
        let inside = |k: usize| (rows[k] - block.first_value) as usize;
        if directory.pages.is_empty() {
            let page = Page::constant(block.n_values as usize);
            let range = inside(0)..inside(rows.len() - 1) + 1;
            let opened = OpenPage { block, decoder: &decoder, page: &page, range, at };
            return visit(opened, &mut self.text);
        }
        let (mut first, mut k) = (0, 0);
        let mut page_at = block.pages_at + dictionary_len;
        for (i, entry) in directory.pages.iter().enumerate() {
            let end = first + entry.n_values as usize;
            let n = rows[k..].partition_point(|&row| ((row - block.first_value) as usize) < end);
            if n > 0 {
                let range = inside(k) - first..inside(k + n - 1) - first + 1;
                let wanted = Wanted { block, decoder: &decoder, directory, i, page_at, range, at: at + k };
                self.rows_of_page(source, wanted, known.as_deref(), visit)
                    .map_err(|e| e.in_page(i as u64).at(page_at))?;
                k += n;
            }
            if k == rows.len() {
                break;
            }
            first = end;
            page_at += u64::from(entry.stored_len);
        }
        Ok(())
    }

    /// Visits a page. If it was verified earlier, reads only the bytes of the wanted values.
    fn rows_of_page(
        &mut self,
        source: &Source,
        wanted: Wanted<'_>,
        known: Option<&KnownBlock>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Wanted { block, decoder, directory, i, page_at, range, at } = wanted;
        let stored_len = u64::from(directory.pages[i].stored_len);
        if !self.has(page_at, stored_len) && known.is_some_and(|known| known.may_read_part(i, &range)) {
            let file = self.file;
            let mut read = |from: usize, out: &mut [u8]| file.read_into(page_at + from as u64, out);
            let range_in_page = range.clone();
            let part = Page::open_part(directory, source.of, i, range_in_page, &mut self.page, &mut read)?;
            if let Some(page) = part {
                return visit(OpenPage { block, decoder, page: &page, range, at }, &mut self.text);
            }
        }
        self.ensure(page_at, stored_len)?;
        let skip = (page_at - self.window.0) as usize;
        let stored = &self.window.1[skip..skip + stored_len as usize];
        let page = Page::open(directory, source.of, i, stored, &mut self.codecs, &mut self.page)?;
        if let Some(known) = known {
            known.set_verified(i);
        }
        visit(OpenPage { block, decoder, page: &page, range, at }, &mut self.text)
    }
}

/// The number of pages that hold these ascending rows, if pages are full.
fn n_pages(rows: &[u64], first_value: u64) -> usize {
    let page = |row: &u64| (row - first_value) / PAGE as u64;
    1 + rows.windows(2).filter(|pair| page(&pair[0]) != page(&pair[1])).count()
}

/// Some values of page `i` of a block.
struct Wanted<'w> {
    block: &'w BlockRecord,
    decoder: &'w BlockDecoder<'w>,
    directory: &'w Directory,
    i: usize,
    /// The offset of the page in the file.
    page_at: u64,
    /// The values, as indices in the page.
    range: Range<usize>,
    /// The position of the first value among all wanted values.
    at: usize,
}
