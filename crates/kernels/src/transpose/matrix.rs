//! Writes a row-major matrix column by column, from one or several threads.

use core::marker::PhantomData;

use bytemuck::Pod;
use entasis_platform::memory::Prefault;

use super::LINE;
#[cfg(target_arch = "x86_64")]
use super::tiles;

/// A writable part of a row-major matrix of words. Parts of one matrix never overlap, so each may
/// go to another thread.
#[derive(Debug)]
pub struct MatrixMut<'a> {
    start: *mut u8,
    n_rows: usize,
    n_columns: usize,
    /// Bytes of a word.
    width: usize,
    /// Bytes between rows.
    stride: usize,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: the words of a part belong to that part alone, like a `&mut [u8]`.
unsafe impl Send for MatrixMut<'_> {}

impl<'a> MatrixMut<'a> {
    /// A matrix that occupies all of `bytes`, with words of `width` bytes; `None` if the lengths do
    /// not fit.
    #[must_use]
    pub fn new(bytes: &'a mut [u8], n_rows: usize, n_columns: usize, width: usize) -> Option<Self> {
        let stride = n_columns.checked_mul(width)?;
        (stride.checked_mul(n_rows) == Some(bytes.len()) && width > 0).then_some(Self {
            start: bytes.as_mut_ptr(),
            n_rows,
            n_columns,
            width,
            stride,
            bytes: PhantomData,
        })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The memory of this part, for populating its pages while parts of it are written. The part
    /// must have whole rows.
    #[must_use]
    pub fn prefault(&self) -> Prefault<'a> {
        // SAFETY: the memory from the first row on is borrowed for `'a`.
        unsafe { Prefault::new(self.start, self.n_rows * self.n_columns * self.width) }
    }

    /// Splits off the columns from `at` on. If there are fewer, the second part is empty.
    #[must_use]
    pub fn split_columns(self, at: usize) -> (Self, Self) {
        let at = at.min(self.n_columns);
        let rest = Self {
            start: self.start.wrapping_add(at * self.width),
            n_columns: self.n_columns - at,
            bytes: PhantomData,
            ..self
        };
        (Self { n_columns: at, ..self }, rest)
    }

    /// Splits off the rows from `at` on. If there are fewer, the second part is empty.
    #[must_use]
    pub fn split_rows(self, at: usize) -> (Self, Self) {
        let at = at.min(self.n_rows);
        let rest = Self {
            start: self.start.wrapping_add(at * self.stride),
            n_rows: self.n_rows - at,
            bytes: PhantomData,
            ..self
        };
        (Self { n_rows: at, ..self }, rest)
    }

    /// Writes whole columns, `n` values of each, starting at row `row` and column `column`.
    /// `values` holds one column after the other.
    ///
    /// Returns false, writing nothing, if the columns do not lie inside or have another width.
    #[must_use]
    pub fn put<T: Pod>(&mut self, row: usize, column: usize, values: &[T], n: usize) -> bool {
        if n == 0 {
            return values.is_empty();
        }
        let k = values.len() / n;
        let inside = size_of::<T>() == self.width
            && values.len() == k * n
            && row.checked_add(n).is_some_and(|end| end <= self.n_rows)
            && column.checked_add(k).is_some_and(|end| end <= self.n_columns);
        if !inside {
            return false;
        }
        let first = self.start.wrapping_add(row * self.stride + column * self.width);
        let mut columns = values.chunks_exact(n);
        let mut at = 0;
        while columns.len() >= LINE {
            let of: [&[T]; LINE] = core::array::from_fn(|_| columns.next().unwrap_or_default());
            // Equal lengths let the compiler remove the bounds checks.
            let of = of.map(|column| &column[..n]);
            // SAFETY: `inside` says that rows below `n` and these columns lie in the part, whose
            // words belong to it alone.
            #[cfg(target_arch = "x86_64")]
            let done = unsafe { tiles::put(of, n, first.wrapping_add(at * self.width), self.stride) };
            #[cfg(not(target_arch = "x86_64"))]
            let done = 0;
            #[expect(clippy::needless_range_loop, reason = "eight columns go side by side")]
            for r in done..n {
                let line: [T; LINE] = core::array::from_fn(|c| of[c][r]);
                let to = first.wrapping_add(r * self.stride + at * self.width);
                // SAFETY: as above; the store is unaligned.
                unsafe { to.cast::<[T; LINE]>().write_unaligned(line) };
            }
            at += LINE;
        }
        for of in columns {
            for (r, &value) in of.iter().enumerate() {
                let to = first.wrapping_add(r * self.stride + at * self.width);
                // SAFETY: as above, for the column `at`.
                unsafe { to.cast::<T>().write_unaligned(value) };
            }
            at += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_matrix() {
        let (n_rows, n_columns) = (7, 21);
        let mut bytes = vec![0u8; n_rows * n_columns * 4];
        let value = |r: usize, c: usize| (r * 100 + c) as u32;
        let columns = |rows: core::ops::Range<usize>, columns: core::ops::Range<usize>| {
            columns.flat_map(|c| rows.clone().map(move |r| value(r, c))).collect::<Vec<u32>>()
        };
        let matrix = MatrixMut::new(&mut bytes, n_rows, n_columns, 4).unwrap();
        let (top, mut bottom) = matrix.split_rows(3);
        let (mut left, mut right) = top.split_columns(10);
        assert_eq!((left.n_rows(), left.n_columns(), right.n_columns()), (3, 10, 11));
        assert!(left.put(0, 0, &columns(0..3, 0..10), 3));
        assert!(right.put(0, 0, &columns(0..1, 10..21), 1));
        assert!(right.put(1, 0, &columns(1..3, 10..21), 2));
        assert!(bottom.put(0, 4, &columns(3..7, 4..21), 4));
        assert!(bottom.put(0, 0, &columns(3..7, 0..4), 4));
        let words: &[[u8; 4]] = bytemuck::cast_slice(&bytes);
        for (i, word) in words.iter().enumerate() {
            assert_eq!(u32::from_ne_bytes(*word), value(i / n_columns, i % n_columns));
        }
    }

    fn check_tiles<T: Pod + PartialEq + core::fmt::Debug>(value: fn(usize) -> T) {
        let (n_rows, n_columns, n) = (41, 35, 37);
        crate::dispatch::on_every_isa(|_| {
            let mut bytes = vec![0u8; n_rows * n_columns * size_of::<T>()];
            let mut matrix = MatrixMut::new(&mut bytes, n_rows, n_columns, size_of::<T>()).unwrap();
            let values: Vec<T> = (0..17 * n).map(value).collect();
            assert!(matrix.put(2, 3, &values, n));
            for (i, word) in bytes.chunks_exact(size_of::<T>()).enumerate() {
                let (row, column) = (i / n_columns, i % n_columns);
                let inside = (2..2 + n).contains(&row) && (3..20).contains(&column);
                let expected = inside.then(|| values[(column - 3) * n + row - 2]);
                assert_eq!(bytemuck::pod_read_unaligned::<T>(word), expected.unwrap_or(T::zeroed()));
            }
        });
    }

    #[test]
    fn tiles_are_turned() {
        check_tiles::<u64>(|i| i as u64 * 0x0101_0101_0101 + 1);
        check_tiles::<u32>(|i| i as u32 * 0x0101 + 1);
        check_tiles::<u16>(|i| i as u16 + 1);
        check_tiles::<u128>(|i| i as u128 + (1 << 99));
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        assert!(MatrixMut::new(&mut [0; 12], 2, 2, 4).is_none());
        assert!(MatrixMut::new(&mut [], 2, 2, 0).is_none());
        assert!(MatrixMut::new(&mut [], usize::MAX, 2, 8).is_none());
        let mut bytes = [0u8; 16];
        let mut matrix = MatrixMut::new(&mut bytes, 2, 2, 4).unwrap();
        assert!(!matrix.put(0, 0, &[1u64, 2], 2));
        assert!(!matrix.put(1, 0, &[1u32, 2], 2));
        assert!(!matrix.put(0, 2, &[1u32, 2], 2));
        assert!(!matrix.put(0, 1, &[1u32, 2, 3, 4], 2));
        assert!(!matrix.put(0, 0, &[1u32, 2, 3], 2));
        assert!(!matrix.put(usize::MAX, 0, &[1u32, 2], 2));
        assert!(matrix.put(0, 0, &[0u32; 0], 0));
        assert!(matrix.put(0, 1, &[1u32, 2], 2));
        let (all, none) = matrix.split_columns(9);
        assert_eq!((all.n_columns(), none.n_columns()), (2, 0));
        assert_eq!(bytes, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    }
}
