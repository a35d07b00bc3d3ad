//! Errors of compressed bytes, and the bytes after them.

use entasis::{Error, Result};

use super::raw::RawInput;

/// Whether another member that begins with `magic` follows. Zeros up to the end are padding, as
/// tapes and block devices have it. Other bytes are an error.
pub(super) fn check_rest(input: &mut RawInput, name: &'static str, magic: &[u8]) -> Result<bool> {
    let rest = input.peek(magic.len())?;
    if rest.starts_with(magic) {
        return Ok(true);
    }
    if !rest.is_empty() && magic.starts_with(rest) {
        return Err(truncated(name, input.at()));
    }
    loop {
        let rest = input.fill()?;
        if rest.is_empty() {
            return Ok(false);
        }
        if let Some(n) = rest.iter().position(|&byte| byte != 0) {
            let at = input.at() + n as u64;
            let error = Error::corrupt(format!("other bytes follow after the end of the {name} data"));
            return Err(error.at(at).advise(format!(
                "if they do not belong to the text, decompress it with `{name} -d` and read the result"
            )));
        }
        let n = rest.len();
        input.consume(n);
    }
}

/// The compressed bytes end too early.
#[cold]
pub(super) fn truncated(name: &'static str, at: u64) -> Error {
    Error::corrupt(format!("the {name} data ends too early: the source is truncated"))
        .at(at)
        .advise("copy or download it again")
}

/// The compressed bytes are not what was written.
#[cold]
pub(super) fn damaged(name: &'static str, what: &str, at: u64) -> Error {
    Error::corrupt(format!("the {name} data is not valid: {what}"))
        .at(at)
        .advise("copy or download it again, or restore it from a copy")
}
