//! Reads the bytes of blocks: in large reads for whole blocks, page by page otherwise.

mod chosen;
mod scattered;

use std::ops::Range;

pub use chosen::PageVisitor;
use entasis_encodings::{BlockDecoder, Codecs, PAGE, Page, PageScratch, TextScratch};
use entasis_format::{BlockRecord, Directory, Error, Result};

use super::request::Source;
use crate::file::{File, check_directory};

/// Neighbouring whole segments are read together up to this many bytes.
const READ: u64 = 256 << 10;
/// A short segment is read together with up to this many later wanted bytes, even if another thread
/// decodes those.
const AHEAD: u64 = 128 << 10;

/// One thread's view of the file: its scratch memory and codecs.
pub(crate) struct Reader<'f> {
    pub file: &'f File,
    codecs: Codecs,
    page: PageScratch,
    pub text: TextScratch,
    /// Whether FSST codes stay undecoded until the strings are written.
    pub leaves_symbols: bool,
    /// Whether pages that were verified earlier may be read in part.
    trusts_known_pages: bool,
    /// All bytes before this offset are wanted, so a short segment may be read with later bytes.
    ahead_to: u64,
    /// The last bytes read, and their offset in the file.
    window: (u64, Vec<u8>),
    /// The directory that was read last outside of the window, and its offset in the file.
    directory: (u64, Vec<u8>),
}

/// A page with its decoder.
pub struct OpenPage<'a> {
    /// Its block.
    pub block: &'a BlockRecord,
    /// The decoder of the block.
    pub decoder: &'a BlockDecoder<'a>,
    /// The page, verified.
    pub page: &'a Page<'a>,
    /// The wanted values, as indices in the page.
    pub range: Range<usize>,
    /// The position of the first value among all wanted values.
    pub at: usize,
}

/// A callback for each page.
type Visit<'v> = dyn FnMut(OpenPage<'_>, &mut TextScratch) -> Result<()> + 'v;

impl<'f> Reader<'f> {
    pub(crate) fn new(file: &'f File) -> Self {
        Self::ahead(file, 0)
    }

    /// A reader for a call that wants all bytes up to `ahead_to`.
    pub(crate) fn ahead(file: &'f File, ahead_to: u64) -> Self {
        Self {
            file,
            codecs: Codecs::new(),
            page: PageScratch::default(),
            text: TextScratch::default(),
            leaves_symbols: false,
            trusts_known_pages: false,
            ahead_to,
            window: (0, Vec::new()),
            directory: (0, Vec::new()),
        }
    }

    /// The same reader. If `trusts`, it may read earlier verified pages in part.
    pub(crate) fn trusting(self, trusts: bool) -> Self {
        Self { trusts_known_pages: trusts, ..self }
    }

    /// Visits every page that holds some of the `values` of the stored column, in order.
    pub(crate) fn pages(&mut self, source: &Source, values: Range<u64>, visit: &mut Visit<'_>) -> Result<()> {
        let blocks = &source.blocks;
        let first = blocks.partition_point(|block| block.end_value() <= values.start);
        let end = blocks.partition_point(|block| block.first_value < values.end);
        for i in first..end {
            let block = &blocks[i];
            let from = values.start.max(block.first_value) - block.first_value;
            let to = values.end.min(block.end_value()) - block.first_value;
            let inside = from as usize..to as usize;
            let at = (block.first_value + from - values.start) as usize;
            // If more than half of a block is wanted, or it has one page, it is read completely,
            // with the following whole blocks.
            let n_values = block.n_values as usize;
            let whole = inside.len() * 2 > n_values || n_values <= PAGE;
            if whole {
                let followers = blocks[i + 1..end].iter().take_while(|b| b.end_value() <= values.end);
                self.load(block, followers)?;
            }
            self.block(source, block, inside, at, whole, visit).map_err(|e| e.in_block(i as u64))?;
        }
        Ok(())
    }

    /// Fills the window with the segment of a block, and with as many of the next segments in the
    /// file as fit.
    fn load<'b>(
        &mut self,
        block: &BlockRecord,
        followers: impl Iterator<Item = &'b BlockRecord>,
    ) -> Result<()> {
        let (start, mut end) = extent(block);
        if self.has(start, end - start) {
            return Ok(());
        }
        for (from, to) in followers.map(extent) {
            if from != end || to - start > READ {
                break;
            }
            end = to;
        }
        end = end.max(self.ahead_to.min(start + AHEAD));
        let len = usize::try_from(end - start).map_err(|_| Error::out_of_memory(usize::MAX, "the pages"))?;
        self.window.0 = start;
        if block.directory_at >= start && block.directory_at + u64::from(block.directory_len) <= end {
            return self.file.read_bytes(start, len, &mut self.window.1);
        }
        let window = self.file.room_for(start, len, &mut self.window.1)?;
        let directory = room_for_directory(self.file, block, &mut self.directory)?;
        let done = self.file.read_many(&mut [(start, window), (block.directory_at, directory)]);
        done.inspect_err(|_| self.directory.1.clear())
    }

    /// Reads the pages of a block into `out`, together with its directory.
    pub(super) fn load_into(&mut self, block: &BlockRecord, out: &mut [u8]) -> Result<()> {
        if self.has(block.directory_at, block.directory_len.into()) {
            return self.file.read_into(block.pages_at, out);
        }
        let directory = room_for_directory(self.file, block, &mut self.directory)?;
        let done = self.file.read_many(&mut [(block.pages_at, out), (block.directory_at, directory)]);
        done.inspect_err(|_| self.directory.1.clear())
    }

    fn has(&self, at: u64, len: u64) -> bool {
        at >= self.window.0 && at + len <= self.window.0 + self.window.1.len() as u64
    }

    fn block(
        &mut self,
        source: &Source,
        block: &BlockRecord,
        inside: Range<usize>,
        at: usize,
        whole: bool,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let directory = self.directory(source, block)?;
        let dictionary_len = u64::from(directory.dictionary.stored_len);
        if !whole {
            // Reads only the dictionary, and the pages from the first to the last wanted one.
            let wanted = wanted_bytes(&directory, &inside);
            if dictionary_len > 0 && wanted.start > dictionary_len {
                self.ensure(block.pages_at, dictionary_len)?;
                let decoder = self.decoder(&directory, source, block.pages_at)?;
                self.ensure(block.pages_at + wanted.start, wanted.end - wanted.start)?;
                return self.visit_pages(&decoder, &directory, source, block, inside, at, visit);
            }
            let start = if dictionary_len > 0 { 0 } else { wanted.start };
            self.ensure(block.pages_at + start, wanted.end.max(dictionary_len) - start)?;
        }
        let decoder = self.decoder(&directory, source, block.pages_at)?;
        self.visit_pages(&decoder, &directory, source, block, inside, at, visit)
    }

    #[expect(clippy::too_many_arguments, reason = "the inner half of `block`")]
    fn visit_pages(
        &mut self,
        decoder: &BlockDecoder<'_>,
        directory: &Directory,
        source: &Source,
        block: &BlockRecord,
        inside: Range<usize>,
        at: usize,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        if directory.pages.is_empty() {
            let page = Page::constant(block.n_values as usize);
            return visit(OpenPage { block, decoder, page: &page, range: inside, at }, &mut self.text);
        }
        let mut first = 0;
        let mut page_at = block.pages_at + u64::from(directory.dictionary.stored_len);
        for (i, entry) in directory.pages.iter().enumerate() {
            let end = first + entry.n_values as usize;
            if end > inside.start && first < inside.end {
                let here = |e: Error| e.in_page(i as u64).at(page_at);
                let skip = (page_at - self.window.0) as usize;
                let stored = &self.window.1[skip..skip + entry.stored_len as usize];
                let open = if self.leaves_symbols { Page::open_packed } else { Page::open };
                let page = open(directory, source.of, i, stored, &mut self.codecs, &mut self.page);
                let page = page.map_err(here)?;
                let range = inside.start.max(first) - first..inside.end.min(end) - first;
                let at = at + (first + range.start - inside.start);
                visit(OpenPage { block, decoder, page: &page, range, at }, &mut self.text).map_err(here)?;
            }
            first = end;
            page_at += u64::from(entry.stored_len);
        }
        Ok(())
    }

    /// The directory of a block, verified.
    pub(crate) fn directory(&mut self, source: &Source, block: &BlockRecord) -> Result<Directory> {
        let len = block.directory_len as usize;
        let bytes = if self.has(block.directory_at, len as u64) {
            let skip = (block.directory_at - self.window.0) as usize;
            &self.window.1[skip..skip + len]
        } else {
            if (self.directory.0, self.directory.1.len()) != (block.directory_at, len) {
                let directory = room_for_directory(self.file, block, &mut self.directory)?;
                let done = self.file.read_into(block.directory_at, directory);
                done.inspect_err(|_| self.directory.1.clear())?;
            }
            &self.directory.1
        };
        check_directory(bytes, block)?;
        Directory::parse(bytes, block, source.of, self.file.limits()).map_err(|e| e.at(block.directory_at))
    }

    fn decoder<'d>(
        &mut self,
        directory: &'d Directory,
        source: &Source,
        pages_at: u64,
    ) -> Result<BlockDecoder<'d>> {
        let len = directory.dictionary.stored_len as usize;
        let skip = pages_at.wrapping_sub(self.window.0) as usize;
        let stored = if len == 0 { &[] } else { &self.window.1[skip..skip + len] };
        BlockDecoder::open(directory, source.of, stored, &mut self.codecs).map_err(|e| e.at(pages_at))
    }

    fn ensure(&mut self, at: u64, len: u64) -> Result<()> {
        if self.has(at, len) {
            return Ok(());
        }
        self.window.0 = at;
        let len = usize::try_from(len).map_err(|_| Error::out_of_memory(usize::MAX, "the pages"))?;
        self.file.read_bytes(at, len, &mut self.window.1)
    }
}

/// Memory for the directory of a block, which the caller reads next.
fn room_for_directory<'d>(
    file: &File,
    block: &BlockRecord,
    directory: &'d mut (u64, Vec<u8>),
) -> Result<&'d mut [u8]> {
    directory.0 = block.directory_at;
    file.room_for(block.directory_at, block.directory_len as usize, &mut directory.1)
}

/// The end of the segments of these columns, which are read completely; 0 if too many other bytes
/// lie between them.
pub(crate) fn ahead_to<'s>(sources: impl IntoIterator<Item = &'s Source>) -> u64 {
    let (mut len, mut from, mut to) = (0u64, u64::MAX, 0);
    for (start, end) in sources.into_iter().flat_map(|source| source.blocks.iter().map(extent)) {
        len = len.saturating_add(end - start);
        (from, to) = (from.min(start), to.max(end));
    }
    if len / 7 * 8 >= to.saturating_sub(from) { to } else { 0 }
}

/// The first byte and the end of a segment: its pages, and its directory if it directly follows.
pub(super) fn extent(block: &BlockRecord) -> (u64, u64) {
    let end = block.pages_at + u64::from(block.pages_len);
    if block.directory_at == end {
        (block.pages_at, end + u64::from(block.directory_len))
    } else {
        (block.pages_at, end)
    }
}

/// Where the pages with `inside` are, counted from the block's first byte.
fn wanted_bytes(directory: &Directory, inside: &Range<usize>) -> Range<u64> {
    let mut first = 0;
    let mut page_at = u64::from(directory.dictionary.stored_len);
    let mut wanted: Option<Range<u64>> = None;
    for entry in &directory.pages {
        let end = first + entry.n_values as usize;
        let after = page_at + u64::from(entry.stored_len);
        if end > inside.start && first < inside.end {
            wanted = Some(wanted.map_or(page_at, |w| w.start)..after);
        }
        (first, page_at) = (end, after);
    }
    wanted.unwrap_or(0..0)
}
