//! Turns the panics of scratch memory into errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use entasis_format::{Error, Result};
use entasis_platform::memory::Refused;

/// The error for the payload of a panic that scratch memory caused; `None` for others. Hosts call
/// this where they catch panics.
pub fn refusal(payload: &(dyn Any + Send)) -> Option<Error> {
    payload.downcast_ref::<Refused>().map(|refused| Error::out_of_memory(refused.len, "scratch memory"))
}

/// Does work whose scratch memory may be refused.
pub(crate) fn catch_refusal<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // The caller drops failed work, whatever its state.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match refusal(&*payload) {
        Some(error) => Err(error),
        None => resume_unwind(payload),
    })
}

#[cfg(test)]
mod tests {
    use entasis_format::Kind;
    use entasis_platform::memory::ScratchVec;

    use super::*;

    #[test]
    fn refused_memory_is_an_error_and_other_panics_pass() {
        let refused = catch_refusal(|| {
            ScratchVec::<u64>::new().reserve(usize::MAX / 16);
            Ok(())
        });
        assert_eq!(refused.unwrap_err().kind(), Kind::OutOfMemory);
        let other = catch_unwind(|| catch_refusal(|| -> Result<()> { resume_unwind(Box::new("another")) }));
        assert_eq!(other.unwrap_err().downcast_ref(), Some(&"another"));
    }
}
