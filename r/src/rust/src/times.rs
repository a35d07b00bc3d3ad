//! The C interface to times as counts of a unit.

pub use entasis_convert::r::times::*;

use crate::guard::{self, Failure};
use crate::missing;

/// The code of the coarsest unit in which all doubles are exact counts, or of the finest one; 0 if
/// there is none.
///
/// # Safety
/// `values` must hold `n` doubles that do not change during the call; `failure` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_exact_unit(
    values: *const f64,
    n: usize,
    scale: i32,
    is_finest: i32,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let values = guard::slice(values, n);
            let unit_of = if is_finest == 0 { exact_unit } else { finest_unit };
            let unit = unit_of(values, scale_of(scale), missing::first_na(values));
            Ok(unit.map_or(0, |unit| i32::from(unit.code())))
        })
    }
}

/// The scale by its code in C: -1 days, 0 instants, else durations in units of that many seconds.
pub fn scale_of(code: i32) -> Scale {
    match u32::try_from(code) {
        Err(_) => Scale::Days,
        Ok(0) => Scale::Instant,
        Ok(seconds) => Scale::Span(seconds),
    }
}
