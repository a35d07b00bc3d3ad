//! Metadata in the binary form of the C data interface: a count, then keys and values, each after
//! its length.

/// The key of an extension type's name.
pub const EXTENSION_NAME: &[u8] = b"ARROW:extension:name";
/// The key of an extension type's parameters.
pub const EXTENSION_METADATA: &[u8] = b"ARROW:extension:metadata";

/// The length of metadata in bytes. `int` reads the number at an offset. None if a number is
/// negative or cannot be read.
pub fn walk(int: impl Fn(usize) -> Option<i32>) -> Option<usize> {
    let size = |at| usize::try_from(int(at)?).ok();
    let mut at = 4usize;
    for _ in 0..size(0)?.checked_mul(2)? {
        at = at.checked_add(4)?.checked_add(size(at)?)?;
    }
    Some(at)
}

/// Whether these bytes are valid metadata, without bytes after them.
pub fn is_whole(bytes: &[u8]) -> bool {
    let int = |at: usize| Some(i32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    walk(int) == Some(bytes.len())
}

/// The value of a key in valid metadata.
pub fn get<'a>(bytes: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    pairs(bytes).into_iter().find(|&(found, _)| found == key).map(|(_, value)| value)
}

/// The keys and values of valid metadata.
pub fn pairs(bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut rest = bytes;
    let mut take = |len: usize| {
        let (taken, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(taken)
    };
    let size = |bytes: &[u8]| usize::try_from(i32::from_ne_bytes(bytes.try_into().ok()?)).ok();
    let Some(n) = take(4).and_then(size) else { return Vec::new() };
    let mut next = || {
        let len = size(take(4)?)?;
        let key = take(len)?;
        let len = size(take(4)?)?;
        Some((key, take(len)?))
    };
    (0..n).map_while(|_| next()).collect()
}

/// Metadata with these keys and values. None if one is too long.
pub fn build(pairs: &[(&[u8], &[u8])]) -> Option<Vec<u8>> {
    let mut bytes = i32::try_from(pairs.len()).ok()?.to_ne_bytes().to_vec();
    for part in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend_from_slice(&i32::try_from(part.len()).ok()?.to_ne_bytes());
        bytes.extend_from_slice(part);
    }
    Some(bytes)
}
