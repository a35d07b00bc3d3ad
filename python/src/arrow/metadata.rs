//! Metadata in the interface's binary form: a count, then keys and values, each with its length before it.

/// The length of metadata, whose numbers `int` reads; none when there is a number that can't be.
pub fn walk(int: impl Fn(usize) -> Option<i32>) -> Option<usize> {
    let size = |at| usize::try_from(int(at)?).ok();
    let mut at = 4usize;
    for _ in 0..size(0)?.checked_mul(2)? {
        at = at.checked_add(4)?.checked_add(size(at)?)?;
    }
    Some(at)
}

/// Whether these bytes are metadata, exactly to their end.
pub fn is_whole(bytes: &[u8]) -> bool {
    let int = |at: usize| Some(i32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    walk(int) == Some(bytes.len())
}
