//! Copies columns out of a row-major matrix of a host.

use bytemuck::Pod;
use entasis_platform::HostRead;

use super::LINE;
#[cfg(target_arch = "x86_64")]
use super::tiles;

/// Narrow rows are prefetched this many rows before they are read.
const AHEAD: usize = 32;

/// Copies adjacent columns of rows: value `r` of column `c` is at byte `at + r * row_stride + c *
/// size_of::<T>()` and goes to `out[c * column_len + r]`. Eight rows are read together, so that
/// each cache line is fetched once.
///
/// Returns false, leaving `out` unchanged, if any byte lies outside or the columns do not fit
/// `out`.
#[must_use]
pub fn copy_columns<T: Pod>(
    host: HostRead,
    at: usize,
    row_stride: usize,
    (n_rows, n_columns): (usize, usize),
    out: &mut [T],
    column_len: usize,
) -> bool {
    let size = size_of::<T>();
    if n_rows == 0 || n_columns == 0 {
        return at <= host.len();
    }
    let Some(row_len) = n_columns.checked_mul(size) else { return false };
    let len = (n_rows - 1).checked_mul(row_stride).and_then(|walk| walk.checked_add(row_len));
    let Some(first) = len.and_then(|len| host.address(at, len)) else { return false };
    let end = (n_columns - 1).checked_mul(column_len).and_then(|last| last.checked_add(n_rows));
    if column_len < n_rows || end.is_none_or(|end| end > out.len()) {
        return false;
    }
    let row = |r: usize| first.wrapping_add(r * row_stride);
    // The hardware prefetcher does not follow large strides with narrow reads.
    let is_narrow = (1..=64).contains(&row_len) && row_stride > row_len;
    for r in (0..n_rows).step_by(LINE) {
        let n = LINE.min(n_rows - r);
        if is_narrow {
            for i in r + AHEAD..r + AHEAD + LINE {
                let begin = at.saturating_add(i.saturating_mul(row_stride));
                host.fetch(begin);
                host.fetch(begin.saturating_add(row_len - 1));
            }
        }
        #[cfg(target_arch = "x86_64")]
        let done = if n == LINE {
            let rows: [*const u8; LINE] = core::array::from_fn(|i| row(r + i));
            let to = out.as_mut_ptr().wrapping_add(r).cast();
            // SAFETY: `address` checked that each row has `n_columns` readable values; `end` was
            // checked, so each column has eight values of `out` from `r` on.
            unsafe { tiles::turn::<T>(rows, n_columns, to, column_len * size) }
        } else {
            0
        };
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        for c in done..n_columns {
            for i in r..r + n {
                // SAFETY: `address` checked that value `c` of row `i` is readable; any bytes are a
                // `T`, which is `Pod`.
                out[c * column_len + i] = unsafe { row(i).add(c * size).cast::<T>().read_unaligned() };
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lend(bytes: &[u8]) -> HostRead {
        // SAFETY: every test keeps `bytes` alive and unchanged while it reads.
        unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
    }

    fn check_columns<T: Pod + PartialEq + core::fmt::Debug>(value: fn(usize) -> T) {
        let (n_rows, n_columns, row) = (37, 21, 23);
        let words: Vec<T> = (0..n_rows * row).map(value).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let stride = row * size_of::<T>();
        crate::dispatch::on_every_isa(|_| {
            for (first, n, k, column_len) in [(0, 37, 23, 37), (25, 36, 21, 36), (3, 9, 8, 20), (1, 7, 3, 7)]
            {
                let mut out = vec![T::zeroed(); (k - 1) * column_len + n];
                let host = lend(bytes);
                let at = first * size_of::<T>();
                assert!(copy_columns(host, at, stride, (n, k), &mut out, column_len));
                for (i, found) in out.iter().enumerate() {
                    let (c, r) = (i / column_len, i % column_len);
                    let expected = if r < n { words[first + r * row + c] } else { T::zeroed() };
                    assert_eq!(*found, expected, "{first} {n} {k} {c} {r}");
                }
            }
        });
        let host = lend(bytes);
        let mut out = vec![T::zeroed(); n_rows * n_columns];
        assert!(!copy_columns(host, 3 * size_of::<T>(), stride, (n_rows, n_columns), &mut out, n_rows));
        assert!(!copy_columns(host, 0, stride, (n_rows + 1, 1), &mut out, n_rows + 1));
        assert!(!copy_columns(host, 0, stride, (n_rows, n_columns), &mut out[1..], n_rows));
        assert!(!copy_columns(host, 0, stride, (n_rows, 2), &mut out, n_rows - 1));
        assert!(!copy_columns(host, 0, usize::MAX, (n_rows, 2), &mut out, n_rows));
        assert!(!copy_columns(host, 0, stride, (n_rows, usize::MAX), &mut out, n_rows));
        assert!(copy_columns(host, 0, stride, (0, 2), &mut out, n_rows));
        assert!(out.iter().all(|value| *value == T::zeroed()));
    }

    #[test]
    fn columns_side_by_side() {
        check_columns::<u64>(|i| i as u64 * 0x0101_0101_0101 + 1);
        check_columns::<u32>(|i| i as u32 * 0x0101 + 1);
        check_columns::<u16>(|i| i as u16 + 1);
        check_columns::<u8>(|i| i as u8 | 1);
    }
}
