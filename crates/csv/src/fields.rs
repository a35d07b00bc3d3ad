//! The places of all fields of a chunk.

use std::ops::Range;

use entasis_kernels::fields::{Marks, index};
use entasis_kernels::prefetch::prefetch;

use crate::cut::{Chunk, Rules};
use crate::dialect::{Blanks, Dialect};
use crate::strict::{Event, State};

/// Numbers from a field to the one below it from which on the processor does not foresee its place.
const FAR: usize = 32;

/// The use of rows with another number of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uneven {
    /// They are left out.
    Skip,
    /// Fields that a row lacks are missing. Rows with too many are left out.
    Fill,
}

/// A row with another number of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnevenRow {
    /// The number of the row in the chunk, with those that are left out.
    pub row: usize,
    /// The offset of its first byte in the chunk.
    pub at: usize,
    /// The offset after its last field.
    pub end: usize,
    /// The number of its fields.
    pub n_fields: usize,
}

/// The places of a chunk's fields, row by row.
///
/// A row has `stride` numbers. Field `i` begins at number `i`, and ends one byte before number
/// `i + 1`, which is the first number of the next row for the last field of a regular chunk. A
/// field that a row lacks ends before it begins. Where blanks between fields are left out, each
/// field has two numbers of its own.
#[derive(Debug, Default)]
pub struct Fields {
    starts: Vec<u32>,
    stride: usize,
    n_rows: usize,
    /// The number of rows with those that are left out.
    n_all: usize,
    n_columns: usize,
    /// Numbers of a field, apart from one at the end of a row: 1, or 2 with gaps between fields.
    step: usize,
    /// Whether the last field of a row may end with `\r`.
    has_returns: bool,
    /// Whether all bytes of the chunk are UTF-8.
    is_utf8: bool,
    /// Rows with another number of fields.
    pub uneven: Vec<UnevenRow>,
    /// For each row its number with those left out; empty if none was.
    numbers: Vec<u32>,
    /// Where the first field begins that is too long.
    pub too_long: Option<usize>,
}

/// The fields of one column.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    starts: &'a [u32],
    stride: usize,
    n: usize,
    strips_return: bool,
    /// The chunk, with its padding.
    pub text: &'a [u8],
    /// Whether all bytes of the chunk are UTF-8.
    pub is_utf8: bool,
}

impl Column<'_> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Asks for the text of some rows, if it is not in the cache anyway.
    #[inline(always)]
    pub fn prefetch(&self, rows: Range<usize>) {
        if self.stride >= FAR {
            let starts = self.starts.chunks(self.stride);
            let starts = starts.skip(rows.start).take(rows.end.min(self.n).saturating_sub(rows.start));
            starts.for_each(|row| prefetch(self.text, row[0] as usize));
        }
    }

    /// The start and the end of field `row`. The end is below the start for a field that its row
    /// lacks.
    #[inline(always)]
    pub fn get(&self, row: usize) -> (usize, usize) {
        let at = row * self.stride;
        let (start, next) = (self.starts[at] as usize, self.starts[at + 1] as usize);
        let end = next.wrapping_sub(1);
        if self.strips_return && end > start && self.text[end - 1] == b'\r' {
            return (start, end - 1);
        }
        (start, end)
    }
}

impl Fields {
    /// Finds the fields of a chunk, from byte `from` on, where a row begins. A field of more than
    /// `most` bytes is too long. Memory is used again.
    pub fn find(
        &mut self,
        chunk: &Chunk,
        from: usize,
        n_columns: usize,
        dialect: &Dialect,
        uneven: Uneven,
        most: usize,
    ) {
        self.too_long = None;
        self.starts.clear();
        self.uneven.clear();
        self.numbers.clear();
        self.n_columns = n_columns;
        self.step = 1;
        let rows = chunk.rows();
        self.is_utf8 = simdutf8::basic::from_utf8(rows).is_ok();
        if chunk.rules == Rules::Regular {
            self.starts.push(from as u32);
            let marks = Marks { separator: dialect.separator, quote: dialect.quote };
            self.n_rows = index(&rows[from..], marks, &mut self.starts);
            if from > 0 {
                for start in &mut self.starts[1..] {
                    *start += from as u32;
                }
            }
            if rows.len() > most {
                self.too_long = self.long_field(rows, most);
            }
            self.n_all = self.n_rows;
            self.stride = n_columns;
            self.has_returns = true;
            if !self.is_even(rows) {
                self.even_out(rows, uneven);
            }
        } else {
            self.step = if dialect.blanks == Blanks::Kept { 1 } else { 2 };
            let mut ends = Ends { step: self.step, ..Ends::new(n_columns, uneven, from, most) };
            let mut state = State::RowStart;
            for (i, &byte) in rows.iter().enumerate().skip(from) {
                let begins = state.is_row_start();
                match state.take(byte, dialect) {
                    Event::Inside if state == State::Comment => ends.skip_to(i + 1),
                    Event::Inside => {
                        if begins {
                            ends.skip_to(i);
                        }
                    }
                    event @ (Event::FieldEnd | Event::RowEnd) => {
                        if begins {
                            ends.skip_to(i);
                        }
                        ends.field(i, self);
                        if event == Event::RowEnd {
                            ends.row(i + 1, self);
                        }
                    }
                    Event::Nothing => ends.skip_to(i + 1),
                    Event::Gap => ends.start = i + 1,
                    Event::LineEnd => ends.row(i + 1, self),
                }
            }
            if ends.has_fields() || !(state.is_row_start() || state == State::Comment) {
                if state.has_field(dialect) {
                    ends.field(rows.len(), self);
                }
                ends.row(rows.len() + 1, self);
            }
            ends.finish(self);
        }
        if n_columns == 1 && chunk.is_last && self.n_rows > 0 {
            // A blank line at the end of the text is not a row.
            let (start, end) = self.column(chunk, 0).get(self.n_rows - 1);
            let is_end = matches!(rows.get(start..), Some(b"\n" | b"\r\n" | b"\r"));
            self.n_rows -= usize::from(start == end && is_end);
        }
    }

    /// Whether each row of a regular chunk has a field for each column.
    fn is_even(&self, rows: &[u8]) -> bool {
        let ends = &self.starts[1..];
        ends.len() == self.n_rows * self.n_columns
            && ends
                .chunks_exact(self.n_columns)
                .all(|row| rows[row[self.n_columns - 1] as usize - 1] == b'\n')
    }

    /// Where the first field of a regular chunk begins that has more than `most` bytes.
    fn long_field(&self, rows: &[u8], most: usize) -> Option<usize> {
        self.starts.windows(2).find_map(|pair| {
            let (start, end) = (pair[0] as usize, pair[1] as usize - 1);
            let is_return = end > start && rows[end] == b'\n' && rows[end - 1] == b'\r';
            (end - start > most + usize::from(is_return)).then_some(start)
        })
    }

    /// Sorts the rows of a regular chunk out.
    fn even_out(&mut self, rows: &[u8], uneven: Uneven) {
        let starts = std::mem::take(&mut self.starts);
        let mut ends = Ends::new(self.n_columns, uneven, starts[0] as usize, usize::MAX);
        for &next in &starts[1..] {
            let end = next as usize - 1;
            if rows[end] != b'\n' {
                ends.field(end, self);
                continue;
            }
            let is_return = end > ends.start && rows[end - 1] == b'\r';
            ends.field(end - usize::from(is_return), self);
            ends.row(end + 1, self);
        }
        ends.finish(self);
    }

    /// Keeps the rows of a range, which may go on after the chunk. A row that is left out has the
    /// place of the next row.
    pub fn limit(&mut self, rows: Range<usize>) {
        let numbers = std::mem::take(&mut self.numbers);
        self.uneven.retain(|row| {
            let place = if self.n_rows == self.n_all {
                row.row
            } else {
                numbers.partition_point(|&number| (number as usize) < row.row)
            };
            rows.contains(&place)
        });
        self.numbers = numbers;
        let start = rows.start.min(self.n_rows);
        let end = rows.end.clamp(start, self.n_rows);
        if self.numbers.is_empty() {
            self.numbers = (0..self.n_rows as u32).collect();
        }
        self.numbers.truncate(end);
        self.numbers.drain(..start);
        // Rows after the last one of the range do not matter.
        let goes_on = rows.end > self.n_rows;
        self.too_long = self.too_long.filter(|&at| goes_on || (end > 0 && at < self.row_end(end - 1)));
        // The number after the last row ends its last field.
        self.starts.truncate(end * self.stride + 1);
        self.starts.drain(..start * self.stride);
        self.n_rows = end - start;
    }

    /// Keeps the rows before the one with byte `at`.
    pub fn keep_before(&mut self, at: usize) {
        let (mut low, mut high) = (0, self.n_rows);
        while low < high {
            let middle = low.midpoint(high);
            (low, high) = if self.row_end(middle) <= at { (middle + 1, high) } else { (low, middle) };
        }
        self.n_rows = low;
        self.uneven.retain(|row| row.end < at);
    }

    /// Leaves rows out, which are in order.
    pub fn leave_out(&mut self, rows: &[usize]) {
        if rows.is_empty() {
            return;
        }
        let (mut starts, mut numbers) = (Vec::new(), Vec::new());
        let mut left_out = rows.iter().copied().peekable();
        let has_returns = self.has_returns;
        for row in 0..self.n_rows {
            if left_out.next_if_eq(&row).is_some() {
                continue;
            }
            numbers.push(self.number(row) as u32);
            let from = row * self.stride;
            starts.extend_from_slice(&self.starts[from..from + self.row_len()]);
        }
        self.stride = self.row_len();
        self.has_returns = has_returns;
        self.n_rows = numbers.len();
        (self.starts, self.numbers) = (starts, numbers);
    }

    /// Keeps the rows whose bit is 1.
    pub fn keep(&mut self, bits: &[u64]) {
        let (mut starts, mut numbers) = (Vec::new(), Vec::new());
        for (group, &bits) in bits.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let row = 64 * group + left.trailing_zeros() as usize;
                left &= left - 1;
                numbers.push(self.number(row) as u32);
                let from = row * self.stride;
                starts.extend_from_slice(&self.starts[from..][..self.row_len()]);
            }
        }
        self.stride = self.row_len();
        self.n_rows = numbers.len();
        (self.starts, self.numbers) = (starts, numbers);
    }

    /// The numbers of a row that has those of all its fields.
    fn row_len(&self) -> usize {
        if self.step == 1 { self.n_columns + 1 } else { self.step * self.n_columns }
    }

    /// The offset after the last field of a row, or after the row.
    fn row_end(&self, row: usize) -> usize {
        self.starts[row * self.stride + self.row_len() - 1] as usize
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of rows with those that are left out.
    pub fn n_all(&self) -> usize {
        self.n_all
    }

    /// The number of a row with those that are left out.
    pub fn number(&self, row: usize) -> usize {
        self.numbers.get(row).map_or(row, |&number| number as usize)
    }

    /// The fields of a column.
    pub fn column<'a>(&'a self, chunk: &'a Chunk, column: usize) -> Column<'a> {
        Column {
            starts: self.starts.get(self.step * column..).unwrap_or_default(),
            stride: self.stride,
            n: self.n_rows,
            strips_return: self.has_returns && column + 1 == self.n_columns,
            text: chunk.padded(),
            is_utf8: self.is_utf8,
        }
    }
}

/// Collects rows of any number of fields.
struct Ends {
    n_columns: usize,
    uneven: Uneven,
    /// Where the next field begins.
    start: usize,
    /// Where the row begins.
    row_start: usize,
    /// Numbers of the row so far.
    row: Vec<u32>,
    /// The number of the row.
    number: usize,
    n_rows: usize,
    /// The most bytes of a field.
    most: usize,
    /// Where the last field ended.
    end: usize,
    /// Numbers of a field.
    step: usize,
}

impl Ends {
    fn new(n_columns: usize, uneven: Uneven, from: usize, most: usize) -> Self {
        let row = Vec::with_capacity(n_columns + 1);
        Self {
            n_columns,
            uneven,
            start: from,
            row_start: from,
            row,
            number: 0,
            n_rows: 0,
            most,
            end: from,
            step: 1,
        }
    }

    fn has_fields(&self) -> bool {
        !self.row.is_empty()
    }

    /// The next row begins at `at`.
    fn skip_to(&mut self, at: usize) {
        self.start = at;
        self.row_start = at;
    }

    /// A field ends before byte `end`.
    fn field(&mut self, end: usize, fields: &mut Fields) {
        if end - self.start > self.most {
            fields.too_long.get_or_insert(self.start);
        }
        self.row.push(self.start as u32);
        self.end = end;
        self.start = end + 1;
        if self.step == 2 {
            self.row.push(self.start as u32);
        }
    }

    /// A row ends, and the next one begins at byte `next`.
    fn row(&mut self, next: usize, fields: &mut Fields) {
        let n_fields = self.row.len() / self.step;
        let end = self.end;
        let is_blank = n_fields == 1 && end == self.row_start;
        if !(is_blank && self.n_columns > 1) {
            let at = self.row_start;
            if n_fields != self.n_columns {
                fields.uneven.push(UnevenRow { row: self.number, at, end, n_fields });
            }
            if n_fields == self.n_columns || (n_fields < self.n_columns && self.uneven == Uneven::Fill) {
                fields.starts.extend_from_slice(&self.row);
                // Each field that the row lacks begins one byte after its end.
                let n_absent = self.n_columns - n_fields;
                let n = if self.step == 1 { n_absent + 1 } else { self.step * n_absent };
                fields.starts.resize(fields.starts.len() + n, self.end as u32 + 1);
                fields.numbers.push(self.number as u32);
                self.n_rows += 1;
            }
            self.number += 1;
        }
        self.row.clear();
        self.skip_to(next);
    }

    fn finish(self, fields: &mut Fields) {
        fields.n_rows = self.n_rows;
        fields.n_all = self.number;
        fields.stride = fields.row_len();
        fields.has_returns = false;
        if self.n_rows == self.number {
            fields.numbers.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use csv_core::{ReadFieldResult, ReaderBuilder};
    use proptest::prelude::*;

    use super::*;
    use crate::cut::Cutter;
    use crate::input::Bytes;
    use crate::strict::unquote;

    /// The rows of a text with their fields, `None` for fields that a row lacks, and the problems.
    fn rows(
        text: &[u8],
        n_columns: usize,
        chunk_len: usize,
        uneven: Uneven,
    ) -> (Vec<Vec<Option<Vec<u8>>>>, usize) {
        let dialect = Dialect::default();
        let mut input = Bytes::new(text);
        let mut cutter = Cutter::new(&mut input, dialect, 0, chunk_len, 1 << 20).unwrap();
        let (mut found, mut n_uneven) = (Vec::new(), 0);
        let mut fields = Fields::default();
        while let Some(chunk) = cutter.next(Vec::new()).unwrap() {
            fields.find(&chunk, 0, n_columns, &dialect, uneven, usize::MAX);
            n_uneven += fields.uneven.len();
            for row in 0..fields.n_rows() {
                let field = |column: usize| {
                    let (start, end) = fields.column(&chunk, column).get(row);
                    if end.wrapping_add(1) == start {
                        return None;
                    }
                    let mut text = Vec::new();
                    unquote(&chunk.padded()[start..end], &dialect, &mut text);
                    Some(text)
                };
                found.push((0..n_columns).map(field).collect());
            }
        }
        (found, n_uneven)
    }

    /// The rows that csv-core finds, without blank lines.
    fn oracle(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut reader = ReaderBuilder::new().build();
        let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = text;
        let mut output = [0; 64];
        loop {
            let (result, n_in, n_out) = reader.read_field(rest, &mut output);
            rest = &rest[n_in..];
            field.extend_from_slice(&output[..n_out]);
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end } => {
                    row.push(std::mem::take(&mut field));
                    if record_end {
                        rows.push(std::mem::take(&mut row));
                    }
                }
                ReadFieldResult::End => return rows,
            }
        }
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let part = prop::sample::select(
            &["a", "1", ",", ",", "\n", "\r\n", "\r", "\"", "\"\"", "\"b,c\"", ",\"d\ne\"", "é"][..],
        );
        prop::collection::vec(part, 0..120).prop_map(|parts| parts.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn fields_are_those_of_csv_core(text in text(), n_columns in 1usize..4, chunk_len in 1usize..200) {
            let open = {
                let mut rows = crate::strict::Rows::new(&text, Dialect::default());
                while rows.next(&mut Vec::new()) {}
                rows.is_open()
            };
            prop_assume!(!open);
            let expected = oracle(&text);
            let (found, n_uneven) = rows(&text, n_columns, chunk_len, Uneven::Fill);
            // csv-core has no blank lines, and a row `""` is blank for nobody.
            let even: Vec<Vec<Option<Vec<u8>>>> = expected
                .iter()
                .filter(|row| row.len() <= n_columns)
                .map(|row| (0..n_columns).map(|i| row.get(i).cloned()).collect())
                .collect();
            let found: Vec<_> = if n_columns == 1 {
                // Blank lines are rows of one column.
                let blank = vec![Some(Vec::new())];
                let quoted = even.iter().filter(|row| **row == blank).count();
                prop_assert!(found.iter().filter(|row| **row == blank).count() >= quoted);
                prop_assert_eq!(
                    found.iter().filter(|row| **row != blank).collect::<Vec<_>>(),
                    even.iter().filter(|row| **row != blank).collect::<Vec<_>>()
                );
                even.clone()
            } else {
                found
            };
            prop_assert_eq!(&found, &even);
            if n_columns > 1 {
                prop_assert_eq!(n_uneven, expected.iter().filter(|row| row.len() != n_columns).count());
            }
        }

        #[test]
        fn chunks_do_not_change_rows(text in text(), n_columns in 1usize..4) {
            let mut rows_of_text = crate::strict::Rows::new(&text, Dialect::default());
            while rows_of_text.next(&mut Vec::new()) {}
            prop_assume!(!rows_of_text.is_open());
            let whole = rows(&text, n_columns, 1 << 20, Uneven::Skip);
            for chunk_len in 1..text.len() {
                prop_assert_eq!(&rows(&text, n_columns, chunk_len, Uneven::Skip), &whole);
            }
        }
    }

    #[test]
    fn rows_of_other_lengths_are_told() {
        let text = b"1,2\n3\n\n4,5,6\n7,8\n";
        let dialect = Dialect::default();
        let mut input = Bytes::new(text);
        let chunk = Cutter::new(&mut input, dialect, 0, 100, 100).unwrap().next(Vec::new()).unwrap().unwrap();
        let mut fields = Fields::default();
        fields.find(&chunk, 0, 2, &dialect, Uneven::Skip, usize::MAX);
        assert_eq!(fields.n_rows(), 2);
        assert_eq!((fields.number(0), fields.number(1)), (0, 3));
        let [short, long] = fields.uneven[..] else { panic!() };
        assert_eq!(short, UnevenRow { row: 1, at: 4, end: 5, n_fields: 1 });
        assert_eq!(long, UnevenRow { row: 2, at: 7, end: 12, n_fields: 3 });
    }

    #[test]
    fn rows_are_left_out_and_limited() {
        for text in [&b"1,2\r\n3,4\r\n5,6\r\n7,8\r\n"[..], b"1,2\n3,4\n5\n5,6\n7,8\n"] {
            let dialect = Dialect::default();
            let mut input = Bytes::new(text);
            let chunk =
                Cutter::new(&mut input, dialect, 0, 100, 100).unwrap().next(Vec::new()).unwrap().unwrap();
            let mut fields = Fields::default();
            let second = |fields: &Fields| -> Vec<u8> {
                let column = fields.column(&chunk, 1);
                (0..fields.n_rows())
                    .map(|row| column.get(row))
                    .map(|(start, end)| {
                        assert_eq!(end, start + 1);
                        chunk.rows()[start]
                    })
                    .collect()
            };
            fields.find(&chunk, 0, 2, &dialect, Uneven::Skip, usize::MAX);
            fields.leave_out(&[0, 2]);
            assert_eq!(second(&fields), b"48");
            fields.find(&chunk, 0, 2, &dialect, Uneven::Skip, usize::MAX);
            fields.limit(1..3);
            assert_eq!(second(&fields), b"46");
            assert_eq!(fields.number(0), 1);
            fields.leave_out(&[0]);
            assert_eq!(second(&fields), b"6");
            fields.limit(1..9);
            assert_eq!(fields.n_rows(), 0);
        }
    }
}
