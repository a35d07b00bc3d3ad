//! Compares arrays of hosts.

use entasis_format::{Layout, Result};

use super::Scratch;
use crate::frame::Array;

/// Whether the first `n` values of two arrays are equal in their stored form.
pub(crate) fn have_equal_values(a: &Array, b: &Array, of: Layout, n: u64) -> Result<bool> {
    let mut scratch = [Scratch::default(), Scratch::default()];
    let mut at = 0;
    while at < n {
        let [of_a, of_b] = &mut scratch;
        // A block of strings may have fewer values than requested.
        let mut end = n;
        end = end.min(at + of_a.load(a, of, at..end)? as u64);
        end = end.min(at + of_b.load(b, of, at..end)? as u64);
        if end < n {
            of_a.load(a, of, at..end)?;
        }
        let n_loaded = (end - at) as usize;
        let (values_a, valid_a) = of_a.values(of, n_loaded);
        let (values_b, valid_b) = of_b.values(of, n_loaded);
        if values_a != values_b || valid_a != valid_b {
            return Ok(false);
        }
        at = end;
    }
    Ok(true)
}
