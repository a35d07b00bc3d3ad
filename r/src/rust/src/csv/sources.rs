//! The texts that R reads: files and vectors of bytes.

use std::sync::Arc;

use entasis::Result;
use entasis_csv::source::Origin;

use crate::build;
use crate::guard::Text;

/// A text as C passes it.
#[repr(C)]
pub struct From {
    /// The path, or the bytes.
    content: Text,
    /// The name in messages.
    name: Text,
    are_bytes: i32,
}

/// The origins of texts, each with its name.
///
/// # Safety
/// All texts must be valid.
pub unsafe fn origins(from: &[From]) -> Result<Vec<(String, Origin)>> {
    let origin = |from: &From| {
        // SAFETY: as the caller promises.
        let name = String::from_utf8_lossy(unsafe { from.name.bytes() }).into_owned();
        let origin = if from.are_bytes == 0 {
            // SAFETY: as the caller promises.
            Origin::Path(unsafe { build::path(from.content) }?)
        } else {
            // Threads may read the bytes until the table is made. A copy is safe if R jumps away.
            // SAFETY: as the caller promises.
            Origin::Bytes(Arc::new(unsafe { from.content.bytes() }.to_vec()))
        };
        Ok((name, origin))
    };
    from.iter().map(origin).collect()
}
