//! Printed fields of one column, and their way into rows.
//!
//! A column is printed by one loop for its type, each field with the separator or line end after
//! it. Then rows are put together by copies of a fixed length.

/// The most bytes of a field of another type than strings.
pub const SLOT: usize = 64;
/// Memory for such a field.
pub type Slot = [u8; SLOT];
/// Bytes that are copied at once.
const STEP: usize = 16;

/// Fields of consecutive rows of a column.
#[derive(Debug, Default)]
pub struct Cells {
    /// The fields, and room after them.
    bytes: Vec<u8>,
    len: usize,
    ends: Vec<usize>,
    /// Bytes that are in rows already.
    taken: usize,
}

/// The bytes after a field.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    bytes: [u8; 2],
    len: usize,
}

impl Ending {
    /// A separator.
    pub fn separator(byte: u8) -> Self {
        Self { bytes: [byte, 0], len: 1 }
    }

    /// A line end: `\r\n` or `\n`.
    pub fn line(has_return: bool) -> Self {
        if has_return { Self { bytes: *b"\r\n", len: 2 } } else { Self { bytes: *b"\n\0", len: 1 } }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Cells {
    /// Makes room for fields that take at most `most` bytes together, endings included, and for one
    /// more slot.
    pub fn clear(&mut self, most: usize) {
        (self.len, self.taken) = (0, 0);
        self.ends.clear();
        if self.bytes.len() < most + SLOT {
            self.bytes.resize(most + SLOT, 0);
        }
    }

    /// Makes room for a field of so many bytes, with its ending, and for one more slot.
    pub fn reserve(&mut self, len: usize) {
        let most = self.len + len + 2 * SLOT;
        if self.bytes.len() < most {
            self.bytes.resize(2 * most, 0);
        }
    }

    /// Adds a field that is printed in place. `print` returns its length.
    #[inline(always)]
    pub fn print(&mut self, ending: Ending, print: impl FnOnce(&mut Slot) -> usize) {
        let Some(slot) = self.bytes[self.len..].first_chunk_mut() else { unreachable!("room was made") };
        self.len += print(slot);
        self.end(ending);
    }

    /// Adds bytes to the field at hand.
    #[inline(always)]
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Adds `from[start..end]` to the field at hand.
    #[inline(always)]
    pub fn push_part(&mut self, from: &[u8], start: usize, end: usize) {
        self.len = copied(from, start..end, &mut self.bytes, self.len);
    }

    /// Ends the field at hand.
    #[inline(always)]
    pub fn end(&mut self, ending: Ending) {
        self.bytes[self.len..self.len + 2].copy_from_slice(&ending.bytes);
        self.len += ending.len;
        self.ends.push(self.len);
    }

    /// The number of bytes of all fields.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the last field has no bytes.
    pub fn ends_blank(&self, ending: Ending) -> bool {
        self.ends.len().checked_sub(1).is_some_and(|last| self.field(last, ending).is_empty())
    }

    /// The bytes of field `row`, without its ending.
    pub fn field(&self, row: usize, ending: Ending) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[row] - ending.len]
    }
}

/// Puts `n` rows together after the first `len` bytes of `out`, which grows as needed and keeps
/// some room. Returns the number of bytes with them.
pub fn join(columns: &mut [Cells], n: usize, out: &mut Vec<u8>, mut len: usize) -> usize {
    let more: usize = columns.iter().map(Cells::len).sum();
    if out.len() < len + more + SLOT {
        out.resize((len + more + SLOT).max(out.capacity()), 0);
    }
    for row in 0..n {
        for cells in &mut *columns {
            let end = cells.ends[row];
            len = copied(&cells.bytes, cells.taken..end, out, len);
            cells.taken = end;
        }
    }
    len
}

/// Copies a part of `from` to `to`, from `at` on, and returns the end. Bytes after it may change.
#[inline(always)]
fn copied(from: &[u8], part: std::ops::Range<usize>, to: &mut [u8], at: usize) -> usize {
    let len = part.len();
    // Copies of a fixed length are several times faster than those of any length.
    if len <= STEP
        && let Some(step) = from[part.start..].first_chunk::<STEP>()
        && let Some(place) = to[at..].first_chunk_mut::<STEP>()
    {
        *place = *step;
    } else if len <= 2 * STEP
        && let Some(step) = from[part.start..].first_chunk::<{ 2 * STEP }>()
        && let Some(place) = to[at..].first_chunk_mut::<{ 2 * STEP }>()
    {
        *place = *step;
    } else {
        to[at..at + len].copy_from_slice(&from[part]);
    }
    at + len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_together() {
        let (separator, line) = (Ending::separator(b';'), Ending::line(true));
        let long = "x".repeat(100);
        let mut columns = [Cells::default(), Cells::default()];
        let mut out = Vec::new();
        let mut len = 0;
        for _ in 0..2 {
            columns[0].clear(200);
            columns[1].clear(200);
            for field in ["a", "", "bcd"] {
                columns[0].print(separator, |slot| {
                    slot[..field.len()].copy_from_slice(field.as_bytes());
                    field.len()
                });
            }
            for field in [&long[..], "seventeen letters", "1"] {
                columns[1].push(&field.as_bytes()[..1]);
                columns[1].push_part(field.as_bytes(), 1, field.len());
                columns[1].end(line);
            }
            assert_eq!(columns[1].field(2, line), b"1");
            assert_eq!(columns[0].field(0, separator), b"a");
            len = join(&mut columns, 3, &mut out, len);
        }
        let rows = format!("a;{long}\r\n;seventeen letters\r\nbcd;1\r\n");
        assert_eq!(String::from_utf8_lossy(&out[..len]), rows.repeat(2));
    }
}
