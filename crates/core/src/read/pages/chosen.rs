//! Pages that a caller selects one by one.

use std::ops::Range;

use entasis_encodings::{BlockDecoder, Page, TextScratch};
use entasis_format::{BlockRecord, Error, Result};

use super::{OpenPage, Reader};
use crate::read::request::Source;

/// Selects the pages of a block, and takes them.
pub trait PageVisitor {
    /// Called with the block and its dictionary before any page. If false, no page of the block is
    /// read.
    ///
    /// # Errors
    /// Those of the visitor.
    fn block(&mut self, decoder: &BlockDecoder<'_>) -> Result<bool>;

    /// Whether to read the page with these values, counted from the first requested value.
    fn wants(&mut self, values: Range<usize>) -> bool;

    /// A page that is wanted.
    ///
    /// # Errors
    /// Those of the visitor.
    fn page(&mut self, opened: OpenPage<'_>, scratch: &mut TextScratch) -> Result<()>;
}

impl Reader<'_> {
    /// Visits the pages of a block that hold some values of `inside` and that the visitor wants.
    /// Reads the dictionary, then runs of neighbouring wanted pages.
    pub(crate) fn chosen(
        &mut self,
        source: &Source,
        block: &BlockRecord,
        inside: Range<usize>,
        visitor: &mut dyn PageVisitor,
    ) -> Result<()> {
        let directory = self.directory(source, block)?;
        let dictionary_len = u64::from(directory.dictionary.stored_len);
        if dictionary_len > 0 {
            self.ensure(block.pages_at, dictionary_len)?;
        }
        let decoder = self.decoder(&directory, source, block.pages_at)?;
        if !visitor.block(&decoder)? {
            return Ok(());
        }
        if directory.pages.is_empty() {
            let page = Page::constant(block.n_values as usize);
            let opened = OpenPage { block, decoder: &decoder, page: &page, range: inside, at: 0 };
            return visitor.page(opened, &mut self.text);
        }
        let mut wanted = Vec::with_capacity(directory.pages.len());
        let (mut first, mut page_at) = (0, block.pages_at + dictionary_len);
        for entry in &directory.pages {
            let end = first + entry.n_values as usize;
            let part = inside.start.max(first)..inside.end.min(end);
            let is_wanted =
                !part.is_empty() && visitor.wants(part.start - inside.start..part.end - inside.start);
            let after = page_at + u64::from(entry.stored_len);
            wanted.push(is_wanted.then_some((first, part, page_at..after)));
            (first, page_at) = (end, after);
        }
        let mut read_to = 0;
        for i in 0..wanted.len() {
            let Some((first, part, bytes)) = wanted[i].clone() else { continue };
            if bytes.start >= read_to {
                let following = wanted[i..].iter().map_while(|page| page.as_ref());
                read_to = following.last().map_or(bytes.end, |(.., bytes)| bytes.end);
                self.ensure(bytes.start, read_to - bytes.start)?;
            }
            let here = |e: Error| e.in_page(i as u64).at(bytes.start);
            let skip = (bytes.start - self.window.0) as usize;
            let stored = &self.window.1[skip..skip + (bytes.end - bytes.start) as usize];
            let page = Page::open(&directory, source.of, i, stored, &mut self.codecs, &mut self.page)
                .map_err(here)?;
            let (range, at) = (part.start - first..part.end - first, part.start - inside.start);
            let opened = OpenPage { block, decoder: &decoder, page: &page, range, at };
            visitor.page(opened, &mut self.text).map_err(here)?;
        }
        Ok(())
    }
}
