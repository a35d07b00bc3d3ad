//! The C interface to missing numbers.

pub use entasis_convert::r::missing::*;

use entasis::Result;

use crate::guard::{self, Failure};

/// The C interface to [`first_na_of`]; -1 with an error.
///
/// # Safety
/// `values` must hold `n` doubles that do not change during the call; `failure` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_na_kind(values: *const f64, n: usize, failure: *mut *mut Failure) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let kind: Result<i32> = Ok(first_na_of(guard::slice(values, n)));
            kind
        })
    }
}
