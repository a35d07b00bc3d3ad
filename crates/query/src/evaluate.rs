//! Evaluates bound predicates on rows.

use std::ops::Range;

use entasis::{Error, File, OpenPage, PageReader, PageVisitor, Physical, Result, RowsOfBlock};
use entasis_encodings::{BlockDecoder, TextScratch, Validity};
use entasis_kernels::{VECTOR, Word, bits, compare, gather};

use crate::key_set::KeySet;
use crate::mark_strings;
use crate::node::{Leaf, Node};
use crate::selection::Selection;
use crate::test::{Answers, Test, key_of};

/// Most rows of one task.
pub(crate) const TASK: u64 = 1 << 16;

/// The answers for `rows` by statistics alone.
pub(crate) fn by_statistics(node: &Node, rows: Range<u64>) -> Answers {
    match node {
        Node::Constant(value) => Answers::of(*value),
        Node::And(parts) => {
            let answers = parts.nodes().map(|part| by_statistics(part, rows.clone()));
            answers.fold(Answers::All, Answers::and)
        }
        Node::Or(parts) => {
            let answers = parts.iter().map(|part| by_statistics(part, rows.clone()));
            answers.fold(Answers::None, Answers::or)
        }
        Node::Leaf(leaf) => leaf.by_statistics(rows),
    }
}

impl Leaf {
    fn by_statistics(&self, rows: Range<u64>) -> Answers {
        if self.layout().physical == Physical::Null {
            return Answers::of(self.missing);
        }
        let (mut answers, mut next): (Option<Answers>, u64) = (None, rows.start);
        for part in self.column.blocks(rows.clone()) {
            let here = self.of_block(&part);
            answers = Some(answers.map_or(here, |before| before.joined(here)));
            if answers == Some(Answers::Some) {
                return Answers::Some;
            }
            next = part.rows.end;
        }
        // Some rows may have no block. The evaluation reports that.
        if next == rows.end { answers.unwrap_or(Answers::Some) } else { Answers::Some }
    }

    /// The answers for a part of a block by statistics alone.
    fn of_block(&self, part: &RowsOfBlock<'_>) -> Answers {
        self.test.by_statistics(self.layout(), part.statistics, part.n_values.into(), self.missing)
    }
}

/// Keeps the rows of `selection` for which the predicate is true. Bit i is row `rows.start + i`.
pub(crate) fn restrict(
    node: &Node,
    rows: &Range<u64>,
    selection: &mut Selection,
    reader: &mut PageReader<'_>,
) -> Result<()> {
    match node {
        Node::Constant(true) => {}
        Node::Constant(false) => *selection = Selection::none(selection.len()),
        Node::And(parts) => {
            parts.restrict(selection, |part, selection| restrict(part, rows, selection, reader))?;
        }
        Node::Or(parts) => {
            let mut passed = Selection::none(selection.len());
            for part in parts {
                if selection.is_empty() {
                    break;
                }
                let mut here = selection.clone();
                restrict(part, rows, &mut here, reader)?;
                selection.remove(&here);
                passed.add(&here);
            }
            *selection = passed;
        }
        Node::Leaf(leaf) => leaf.restrict(rows, selection, reader)?,
    }
    Ok(())
}

/// The rows of a whole column that pass a test, as ascending ranges.
pub(crate) fn ranges_of_leaf(file: &File, leaf: &Leaf, n_rows: u64) -> Result<Vec<Range<u64>>> {
    let mut reader = PageReader::new(file);
    let mut found: Vec<Range<u64>> = Vec::new();
    let mut add = |rows: Range<u64>| match found.last_mut() {
        Some(last) if last.end == rows.start => last.end = rows.end,
        _ => found.push(rows),
    };
    let mut start = 0;
    while start < n_rows {
        let rows = start..n_rows.min(start + TASK);
        match leaf.by_statistics(rows.clone()) {
            Answers::None => {}
            Answers::All => add(rows.clone()),
            Answers::Some => {
                let mut selection = Selection::all((rows.end - rows.start) as usize);
                leaf.restrict(&rows, &mut selection, &mut reader)?;
                selection.rows().for_each(|row| add(start + row as u64..start + row as u64 + 1));
            }
        }
        start = rows.end;
    }
    Ok(found)
}

impl Leaf {
    fn restrict(
        &self,
        rows: &Range<u64>,
        selection: &mut Selection,
        reader: &mut PageReader<'_>,
    ) -> Result<()> {
        if self.layout().physical == Physical::Null {
            if !self.missing {
                selection.clear(0, selection.len());
            }
            return Ok(());
        }
        let mut next = rows.start;
        for part in self.column.blocks(rows.clone()) {
            next = part.rows.end;
            let inside = (part.rows.start - rows.start) as usize..(part.rows.end - rows.start) as usize;
            if !selection.any(inside.start, inside.end) {
                continue;
            }
            match self.of_block(&part) {
                Answers::All => {}
                Answers::None => selection.clear(inside.start, inside.end),
                Answers::Some => {
                    let mut pages = Pages::new(self, selection, inside.start, inside.len());
                    reader.visit(&self.column, part.number, part.rows, &mut pages)?;
                }
            }
        }
        if next == rows.end {
            Ok(())
        } else {
            Err(Error::corrupt("a column has fewer values than rows").in_column(self.column.name()))
        }
    }
}

/// Tests the pages of a block.
struct Pages<'a> {
    leaf: &'a Leaf,
    selection: &'a mut Selection,
    /// The index of the first row in the selection, and the number of rows.
    first: usize,
    n: usize,
    /// The answer for each entry of the dictionary.
    entries: Vec<u8>,
    /// The answers of a vector: one byte and one bit each.
    marks: [u8; VECTOR],
    bits: Vec<u8>,
    words: Box<[u128; VECTOR]>,
}

impl<'a> Pages<'a> {
    fn new(leaf: &'a Leaf, selection: &'a mut Selection, first: usize, n: usize) -> Self {
        Self {
            leaf,
            selection,
            first,
            n,
            entries: Vec::new(),
            marks: [0; VECTOR],
            bits: Vec::with_capacity(VECTOR / 8),
            words: Box::new([0; VECTOR]),
        }
    }
}

impl PageVisitor for Pages<'_> {
    fn block(&mut self, decoder: &BlockDecoder<'_>) -> Result<bool> {
        self.entries.clear();
        if decoder.has_string_entries() {
            let (lengths, bytes) = decoder.entries()?;
            self.entries.resize(lengths.len(), 0);
            mark_strings::mark(&self.leaf.test, &lengths, bytes, &mut self.entries);
        } else if let Test::Keys(set) = &self.leaf.test {
            match self.leaf.layout().physical.width() {
                Some(1) => self.mark_entries::<u8>(decoder, set),
                Some(2) => self.mark_entries::<u16>(decoder, set),
                Some(4) => self.mark_entries::<u32>(decoder, set),
                Some(8) => self.mark_entries::<u64>(decoder, set),
                _ => {}
            }
        }
        // Without a passing entry only missing values can pass.
        let is_hopeless =
            !self.entries.is_empty() && !self.leaf.missing && self.entries.iter().all(|&e| e == 0);
        if is_hopeless {
            self.selection.clear(self.first, self.first + self.n);
        }
        Ok(!is_hopeless)
    }

    fn wants(&mut self, values: Range<usize>) -> bool {
        self.selection.any(self.first + values.start, self.first + values.end)
    }

    fn page(&mut self, opened: OpenPage<'_>, scratch: &mut TextScratch) -> Result<()> {
        let mut start = opened.range.start;
        while start < opened.range.end {
            let end = ((start / VECTOR + 1) * VECTOR).min(opened.range.end);
            let at = self.first + opened.at + (start - opened.range.start);
            if self.selection.any(at, at + (end - start)) {
                self.vector(&opened, start..end, at, scratch)?;
            }
            start = end;
        }
        Ok(())
    }
}

impl Pages<'_> {
    fn mark_entries<T: Word>(&mut self, decoder: &BlockDecoder<'_>, set: &KeySet) {
        if let Some(entries) = decoder.word_entries::<T>() {
            self.entries.resize(entries.len(), 0);
            mark(self.leaf.layout().physical, entries, set, &mut self.entries);
        }
    }

    /// Tests the values in `range` of a page, which lie in one vector. The first one is row `at` of
    /// the selection.
    fn vector(
        &mut self,
        opened: &OpenPage<'_>,
        range: Range<usize>,
        at: usize,
        scratch: &mut TextScratch,
    ) -> Result<()> {
        let n = range.len();
        let validity = opened.page.validity;
        self.marks[..n].fill(0);
        if !matches!(validity, Validity::AllMissing) {
            // One value answers for all of a constant page.
            let tested = if opened.page.is_constant() { range.start..range.start + 1 } else { range.clone() };
            let n_tested = tested.len();
            self.values(opened, tested, scratch)?;
            if n_tested < n {
                let mark = self.marks[0];
                self.marks[..n].fill(mark);
            }
        }
        self.bits.clear();
        bits::pack_bytes(&self.marks[..n], &mut self.bits);
        if !matches!(validity, Validity::AllValid) {
            let mut valid = [0u8; VECTOR / 8];
            if !validity.write_bits(range, &mut valid, 0) {
                return Err(Error::argument("the memory for missing values is too short"));
            }
            let missing = self.leaf.missing;
            self.bits.iter_mut().zip(valid).for_each(|(bits, valid)| {
                *bits = if missing { *bits | !valid } else { *bits & valid };
            });
        }
        self.selection.retain(at, n, &self.bits);
        Ok(())
    }

    /// Marks the values in `range` that pass. Missing values get unspecified marks.
    fn values(
        &mut self,
        opened: &OpenPage<'_>,
        range: Range<usize>,
        scratch: &mut TextScratch,
    ) -> Result<()> {
        let n = range.len();
        let layout = self.leaf.layout();
        if !self.entries.is_empty() {
            let codes = opened.decoder.codes(opened.page, range, scratch)?;
            if !gather::gather(&self.entries, codes, &mut self.marks[..n]) {
                return Err(unknown_code());
            }
            return Ok(());
        }
        match &self.leaf.test {
            Test::Constant(answer) => self.marks[..n].fill(u8::from(*answer)),
            Test::Keys(set) => match (layout.physical, layout.physical.width()) {
                (Physical::Bool, _) => {
                    let mut values = [0u8; VECTOR];
                    opened.decoder.decode_bools(opened.page, range, &mut values[..n])?;
                    mark(Physical::Bool, &values[..n], set, &mut self.marks[..n]);
                }
                (_, Some(1)) => self.words::<u8>(opened, range, set)?,
                (_, Some(2)) => self.words::<u16>(opened, range, set)?,
                (_, Some(4)) => self.words::<u32>(opened, range, set)?,
                (_, Some(8)) => self.words::<u64>(opened, range, set)?,
                (physical, _) => {
                    let values = &mut self.words[..n];
                    opened.decoder.decode_wide(opened.page, range, values)?;
                    for (mark, value) in self.marks.iter_mut().zip(values) {
                        let key = key_of(physical, &value.to_le_bytes());
                        *mark = u8::from(key.is_some_and(|key| set.contains(key)));
                    }
                }
            },
            test if layout.physical.is_var() => {
                let strings = opened.decoder.strings(opened.page, range, scratch)?;
                // A page with a dictionary gets here only if the dictionary is empty.
                let bytes = strings.contiguous().ok_or_else(unknown_code)?;
                mark_strings::mark(test, strings.lengths(), bytes, &mut self.marks[..n]);
            }
            test => {
                let width = layout.width().unwrap_or(0);
                let mut bytes = vec![0; n * width];
                opened.decoder.decode_bytes(opened.page, range, &mut bytes)?;
                for (i, mark) in self.marks[..n].iter_mut().enumerate() {
                    *mark = u8::from(test.passes(&bytes[i * width..(i + 1) * width]));
                }
            }
        }
        Ok(())
    }

    fn words<T: Word>(&mut self, opened: &OpenPage<'_>, range: Range<usize>, set: &KeySet) -> Result<()> {
        let n = range.len();
        let values = &mut bytemuck::cast_slice_mut::<u128, T>(&mut self.words[..])[..n];
        opened.decoder.decode(opened.page, range, values)?;
        mark(self.leaf.layout().physical, values, set, &mut self.marks[..n]);
        Ok(())
    }
}

fn unknown_code() -> Error {
    Error::corrupt("a code is not in the dictionary")
}

/// Marks the words whose keys are in the set.
fn mark<T: Word>(physical: Physical, words: &[T], set: &KeySet, marks: &mut [u8]) {
    /// Up to this many intervals are tested one after the other, each against all words. With more
    /// intervals, a search per word is faster.
    const FEW: usize = 64;
    let is_float = physical.is_float();
    if set.intervals().len() <= FEW {
        for &(low, high) in set.intervals() {
            let (low, span) = (T::from_u64(low as u64), T::from_u64((high - low) as u64));
            let is_marked = if is_float {
                compare::mark_float_interval(words, low, span, marks)
            } else {
                compare::mark_interval(words, low, span, marks)
            };
            debug_assert!(is_marked, "a mark per word");
        }
        return;
    }
    for (&word, mark) in words.iter().zip(marks) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&word.to_u64().to_le_bytes());
        *mark = u8::from(key_of(physical, &bytes).is_some_and(|key| set.contains(key)));
    }
}
